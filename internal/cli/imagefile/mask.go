package imagefile

import (
	"errors"
	"fmt"

	"github.com/boxsum/boxsum"
	"github.com/boxsum/boxsum/imgio"
	"github.com/boxsum/boxsum/internal/cli/console"
	"github.com/boxsum/boxsum/internal/pixels"
)

// ReadMask reads an image as a mask, which is 1 where the image is not zero.
func ReadMask(sh *console.Shell, path string, how *Flags) (mask boxsum.Image[uint8], err error) {
	picture, err := console.Await(sh.Ctx, func() (*imgio.Picture, error) { return Read(sh, path, how) })
	if err != nil {
		return mask, fmt.Errorf("--mask: %w", err)
	}
	defer func() { err = errors.Join(err, picture.Close()) }()
	src := pixels.Of(picture.Image)
	if !IsImage(src.Type) {
		return mask, fmt.Errorf("--mask: pixels of %s are not supported, want integers of at most 32 bits or floats", picture.Element)
	}
	if mask, err = boxsum.NewImage[uint8](src.Width, src.Height, src.Channels); err != nil {
		return mask, fmt.Errorf("--mask: %w", err)
	}
	var row []float64
	for y := range mask.Height {
		to := mask.Row(y)
		row = src.Floats(row[:0], y, 0, len(to), 1)
		for i, v := range row {
			if v != 0 {
				to[i] = 1
			}
		}
	}
	return mask, nil
}
