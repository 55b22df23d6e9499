// Code generated from the list of package pairs. DO NOT EDIT.

package main

var pixelTypes = []func(any) (pixels, bool){
	pixelsOf[uint8],
	pixelsOf[uint16],
	pixelsOf[uint32],
	pixelsOf[int16],
	pixelsOf[int32],
	pixelsOf[float32],
	pixelsOf[float64],
}
