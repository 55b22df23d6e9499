package cli

import (
	"fmt"
	"strings"

	"github.com/boxsum/boxsum"
	"github.com/boxsum/boxsum/imgio"
	"github.com/boxsum/boxsum/store/sources"
	"github.com/boxsum/boxsum/zarr"
)

// pictureFlags say how pictures are read.
type pictureFlags struct {
	Color    string `enum:"auto,gray,keep" default:"${color}" help:"What to do with colour: gray makes one channel of it, keep keeps its channels. Unless told, pictures become gray, and arrays (.npy, stores) and mosaics keep theirs."`
	AsStored bool   `help:"Take rows and columns as the file has them. Unless told, a picture is turned as its orientation tag (EXIF) says, as viewers do; tiles of mosaics are not."`
	Page     int    `placeholder:"N" help:"Page of a TIFF file, or frame of a GIF file, from 1 on."`
	Large    bool   `help:"Read pictures of more than 2^30 pixels too. They are refused unless told, for a few bytes of a hostile file may promise as many."`

	wide bool // take 64-bit integers that fit no pixels as they are
}

func (f *pictureFlags) reading() imgio.Options {
	colors := map[string]imgio.ColorMode{"gray": imgio.ToGray, "keep": imgio.Keep}
	return imgio.Options{Color: colors[f.Color], AsStored: f.AsStored, Page: f.Page, Large: f.Large, Wide: f.wide}
}

// check refuses pages that cannot be.
func (f *pictureFlags) check(volume bool) error {
	switch {
	case f.Page < 0:
		return usage("--page %d: pages count from 1", f.Page)
	case f.Page > 0 && volume:
		return usage("--page is for images, and a volume has all pages: leave it out with --volume")
	}
	return nil
}

// checkStored refuses pages of what is read in parts, which has one.
func (f *pictureFlags) checkStored(path string) error {
	if err := f.check(false); err != nil {
		return err
	}
	if f.Page > 1 {
		return usage("--page %d: %s is read in parts, as one image: leave it out", f.Page, zarr.Redacted(path))
	}
	return nil
}

// weighed is an array that is read in parts, grey if that was asked for. It is closed if it has no colours.
func (f *pictureFlags) weighed(sh *shell, a *zarr.Array) (*zarr.Array, error) {
	if f.Color != "gray" {
		return a, nil
	}
	g, err := sources.Gray(sh.ctx, a)
	if err != nil {
		a.Close()
		return nil, err
	}
	return g, nil
}

// hint adds to an error of a picture that is too large what to do about it.
func (f *pictureFlags) hint(err error) error {
	if !f.Large && strings.Contains(err.Error(), fmt.Sprintf("more than the limit of %d", imgio.MaxPixels)) {
		return fmt.Errorf("%w; --large reads it all the same", err)
	}
	return err
}

// tell says on standard error which page was taken, where nobody chose.
func (f *pictureFlags) tell(sh *shell, path string, p *imgio.Picture) {
	if f.Page > 0 || p.Pages < 2 {
		return
	}
	parts, all := "pages", ", and --volume takes all"
	if p.Format == "gif" {
		parts, all = "frames", ""
	}
	sh.say(fmt.Sprintf("%s has %d %s, and this is the first: --page N takes another%s", nameOf(path), p.Pages, parts, all))
}

// checkChannels refuses an array whose last axis has more than the channels of colour,
// unless they were asked for.
func (f *pictureFlags) checkChannels(path string, p *imgio.Picture) error {
	if n := extentOf(p.Image).Channels; p.Format == "npy" && n > mostChannels && f.Color != "keep" {
		return fmt.Errorf("%s would be an image of %d channels: for a volume, add --volume; for so many channels, --color keep", path, n)
	}
	return nil
}

// asMask is 0 and 1 for the black and white of a file with one bit for a pixel, and
// other weights as they are.
func asMask(src *source) any {
	img, ok := src.image.(boxsum.Image[uint8])
	if !ok || src.bits != 1 {
		return src.image
	}
	const white = 255
	for y := range img.Height {
		for _, v := range img.Row(y) {
			if v != 0 && v != white { // a palette of two other colours
				return src.image
			}
		}
	}
	for y := range img.Height {
		row := img.Row(y)
		for x := range row {
			row[x] /= white
		}
	}
	return img
}
