package transfer

import (
	"github.com/boxsum/boxsum"
	"github.com/boxsum/boxsum/gpu/internal/devmem"
	"github.com/boxsum/boxsum/internal/raster"
)

// NewTable returns a table on the host for the result of a device.
func NewTable[S boxsum.Sum](width, height, channels int) (*boxsum.Table[S], error) {
	whole := devmem.Array{Element: raster.TypeNamed[S](), Width: width, Height: height, Channels: channels, Count: 1, Border: 1}
	if _, err := whole.Layout(); err != nil {
		return nil, err
	}
	return boxsum.NewTable[S](width, height, channels)
}
