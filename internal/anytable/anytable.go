// Package anytable is the library for programs that learn the types of pixels and sums as they run: images, volumes and
// tables are of any type. It has switches over the types, which are a tenth of what generic functions of a program would be.
package anytable

import (
	"fmt"

	"github.com/boxsum/boxsum"
	"github.com/boxsum/boxsum/volume"
)

//go:generate go run github.com/boxsum/boxsum/internal/raster/expand -out pairs.go -template anytable.tmpl

func noPair(dst, src any) error {
	return fmt.Errorf("%w: there is no way from %T to %T", boxsum.ErrTypes, src, dst)
}

func volumeOf[P boxsum.Pixel](img boxsum.Image[P], height, depth int) volume.Volume[P] {
	return volume.Volume[P]{Pix: img.Pix, Stride: img.Stride, Width: img.Width, Height: height, Depth: depth, Channels: img.Channels}
}
