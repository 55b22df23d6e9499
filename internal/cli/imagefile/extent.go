package imagefile

import (
	"fmt"

	"github.com/boxsum/boxsum/internal/raster"
)

// An Extent is the size of an image, or of a volume, whose Depth is not 0.
type Extent struct {
	Width    int `json:"width"`
	Height   int `json:"height"`
	Depth    int `json:"depth,omitempty"`
	Channels int `json:"channels"`
}

// String returns the size, such as 1920×1080×3.
func (e Extent) String() string {
	s := fmt.Sprintf("%d×%d", e.Width, e.Height)
	if e.Depth > 0 {
		s += fmt.Sprintf("×%d", e.Depth)
	}
	if e.Channels > 1 {
		s += fmt.Sprintf("×%d", e.Channels)
	}
	return s
}

// Values returns the number of values of all pixels together.
func (e Extent) Values() float64 {
	return float64(e.Width) * float64(e.Height) * float64(max(e.Depth, 1)) * float64(e.Channels)
}

// Entries returns the number of entries of a table.
func (e Extent) Entries() float64 {
	n := float64(e.Width+1) * float64(e.Height+1) * float64(e.Channels)
	if e.Depth > 0 {
		n *= float64(e.Depth + 1)
	}
	return n
}

// Shape returns the shape of a table as an array.
func (e Extent) Shape() []int {
	shape := []int{e.Height + 1, e.Width + 1}
	if e.Depth > 0 {
		shape = append([]int{e.Depth + 1}, shape...)
	}
	if e.Channels > 1 {
		shape = append(shape, e.Channels)
	}
	return shape
}

// What returns "image" or "volume".
func (e Extent) What() string { return map[bool]string{false: "image", true: "volume"}[e.Depth > 0] }

// Part returns "row" or "slice", the unit in which an image or a volume is streamed.
func (e Extent) Part() string { return map[bool]string{false: "row", true: "slice"}[e.Depth > 0] }

// MostChannels is the maximum number of channels of a color image. An array with more is
// probably a volume.
const MostChannels = 4

// Fits reports whether a number of slices of this size has at most the given number of
// pixels.
func (e Extent) Fits(slices int, most uint64) bool {
	return uint64(e.Width)*uint64(e.Height)*uint64(slices) <= most
}

// IsImage reports whether tables are made of images with pixels of a type.
func IsImage(pixel raster.Type) bool {
	return pixel != 0 && pixel != raster.I64 && pixel != raster.U64
}

// ExtentOf returns the size of an image.
func ExtentOf(src raster.Array) Extent {
	return Extent{Width: src.Width, Height: src.Height, Channels: max(src.Channels, 1)}
}
