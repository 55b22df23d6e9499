package jobs

// A FilterStrip is the job of the CUDA kernels that filter byte images in strips.
type FilterStrip struct {
	In, Out, Edge            uint64
	InStride, InDistance     int64
	OutStride, OutDistance   int64
	EdgeStride, EdgeDistance int64
	K, InverseR              float64 // of Sauvola's method
	Width, Height            int32
	Left, Right, Up, Down    int32
	Border, Count            int32
	Strips, Bands, BandRows  int32
	Skip                     int32   // lanes at the start of a strip that have no results
	EdgeLeft                 int32   // chunks to the left of the image
	Area                     int32   // of an unclipped window
	Half, Multiplier, Place  uint32  // rounding of means: Place is the byte of the product that holds the quotient
	Inverse, Bias            float32 // rounding of means of small windows
	N                        float32 // the area
	Alpha, Gamma, Margin     float32 // of thresholding in float32: Alpha is divided by the area, Gamma multiplied by it
}
