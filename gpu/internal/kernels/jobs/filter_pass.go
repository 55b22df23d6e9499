package jobs

// A FilterPass is images of bytes, the windows round their pixels, and where results go, for
// the kernels of CUDA that do it in one launch. Out or Dev may be 0.
type FilterPass struct {
	In, Out, Dev                  uint64
	InStride, InDistance          int64
	OutStride, OutDistance        int64
	DevStride, DevDistance        int64
	K, InverseR                   float64 // of Sauvola
	Width, Height                 int32
	Left, Right, Up, Down         int32
	Border, Count                 int32
	Strips, Bands, BandRows, Skip int32
	Area                          int32  // of a whole window
	Half, Multiplier, Place       uint32 // of rounded means: their byte of the product
	Inverse, Inverse2             float32
	Alpha, Gamma, Margin          float32 // of decisions in float32
}
