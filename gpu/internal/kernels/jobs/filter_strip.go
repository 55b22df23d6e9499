package jobs

// A FilterStrip is images of bytes, the windows round their pixels, and where results go, for
// the kernels of CUDA that work by strips.
type FilterStrip struct {
	In, Out, Edge            uint64
	InStride, InDistance     int64
	OutStride, OutDistance   int64
	EdgeStride, EdgeDistance int64
	K, InverseR              float64 // of Sauvola
	Width, Height            int32
	Left, Right, Up, Down    int32
	Border, Count            int32
	Strips, Bands, BandRows  int32
	Skip                     int32   // lanes at the start of a strip without results
	EdgeLeft                 int32   // chunks before the image
	Area                     int32   // of a whole window
	Half, Multiplier, Place  uint32  // of rounded means: their byte of the product
	Inverse, Bias            float32 // of those of small windows
	N                        float32 // the area
	Alpha, Gamma, Margin     float32 // of decisions in float32: by the area, and times it
}
