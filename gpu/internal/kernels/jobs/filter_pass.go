package jobs

// A FilterPass is the job of the CUDA kernels that filter byte images in one launch. Out or Dev may
// be 0.
type FilterPass struct {
	In, Out, Dev                  uint64
	InStride, InDistance          int64
	OutStride, OutDistance        int64
	DevStride, DevDistance        int64
	K, InverseR                   float64 // of Sauvola's method
	Width, Height                 int32
	Left, Right, Up, Down         int32
	Border, Count                 int32
	Strips, Bands, BandRows, Skip int32
	Area                          int32  // of an unclipped window
	Half, Multiplier, Place       uint32 // rounding of means: Place is the byte of the product that holds the quotient
	Inverse, Inverse2             float32
	Alpha, Gamma, Margin          float32 // of thresholding in float32
}
