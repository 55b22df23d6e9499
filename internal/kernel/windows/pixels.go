package windows

import "github.com/boxsum/boxsum/internal/raster"

// pixelKernel holds the loops that read and write pixels of one type.
type pixelKernel struct {
	at     func(pix []byte, i int) float64
	floats func(dst []float64, pix []byte, step int)
	fill   func(dst []byte, v float64)
	store  func(dst []byte, values []float64)
}

// pixelKernels holds the loops by pixel type.
var pixelKernels = [raster.NumTypes]pixelKernel{
	raster.U8:  {elementAt[uint8], floats[uint8], fill[uint8], storeWhole[uint8]},
	raster.U16: {elementAt[uint16], floats[uint16], fill[uint16], storeWhole[uint16]},
	raster.U32: {elementAt[uint32], floats[uint32], fill[uint32], nil},
	raster.F32: {elementAt[float32], floats[float32], fill[float32], store[float32]},
	raster.F64: {elementAt[float64], floats[float64], fill[float64], store[float64]},
}

// At returns element i.
func At(t raster.Type, pix []byte, i int) float64 { return pixelKernels[t].at(pix, i) }

// Floats converts pixels to float64.
func Floats(t raster.Type, dst []float64, pix []byte) {
	pixelKernels[t].floats(dst[:len(pix)/t.Bytes()], pix, 1)
}

// FloatsOf converts pixels that are step elements apart to float64 until dst is full.
func FloatsOf(t raster.Type, dst []float64, pix []byte, step int) {
	pixelKernels[t].floats(dst, pix, step)
}

// Fill sets all elements to v.
func Fill(t raster.Type, dst []byte, v float64) { pixelKernels[t].fill(dst, v) }

// Store converts float64 to pixels. Integers are rounded to nearest and clamped, and NaN becomes 0.
func Store(t raster.Type, dst []byte, values []float64) { pixelKernels[t].store(dst, values) }

func elementAt[P raster.Number](pix []byte, i int) float64 { return float64(raster.Elems[P](pix)[i]) }

func floats[P raster.Number](dst []float64, pix []byte, step int) {
	src := raster.Elems[P](pix)
	if step == 1 {
		for i, v := range src[:len(dst)] {
			dst[i] = float64(v)
		}
		return
	}
	for i := range dst {
		dst[i] = float64(src[i*step])
	}
}

func fill[P raster.Number](dst []byte, v float64) {
	to := raster.Elems[P](dst)
	for i := range to {
		to[i] = P(v)
	}
}

func store[P float32 | float64](dst []byte, values []float64) {
	for i, to := 0, raster.Elems[P](dst); i < len(to); i++ {
		to[i] = P(values[i])
	}
}

func storeWhole[P uint8 | uint16](dst []byte, values []float64) {
	most := float64(^P(0))
	for i, to := 0, raster.Elems[P](dst); i < len(to); i++ {
		if v := values[i]; v > 0 {
			to[i] = P(min(v+0.5, most))
		} else {
			to[i] = 0
		}
	}
}
