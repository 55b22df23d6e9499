// Package anyimage is images whose type of pixels is known when a program runs: each is a boxsum.Image, as any value.
package anyimage

import (
	"unsafe"

	"github.com/boxsum/boxsum"
)

//go:generate go run github.com/boxsum/boxsum/internal/pairs/expand -out pixels.go -template anyimage.tmpl

func copyRows[P boxsum.Pixel](dst boxsum.Image[P], y int, src boxsum.Image[P]) {
	for i := range src.Height {
		copy(dst.Row(y+i), src.Row(i))
	}
}

func floats[P boxsum.Pixel](to []float64, row []P, step int) []float64 {
	for i := 0; i < len(row); i += step {
		to = append(to, float64(row[i]))
	}
	return to
}

func bytesOf[P boxsum.Pixel](pix []P) []byte {
	return unsafe.Slice((*byte)(unsafe.Pointer(unsafe.SliceData(pix))), len(pix)*int(unsafe.Sizeof(*new(P))))
}
