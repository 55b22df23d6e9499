package jobs

// A FilterTensor is images of bytes, the windows round their pixels, and where results go, for
// the kernels of CUDA that sum windows on tensor cores.
type FilterTensor struct {
	In, Out, Edge            uint64
	InStride, InDistance     int64
	OutStride, OutDistance   int64
	EdgeStride, EdgeDistance int64
	K, InverseR              float64 // of Sauvola
	Width, Height            int32
	Left, Right, Up, Down    int32
	Border, Count            int32
	Strips, Bands, BandRows  int32
	Shift                    int32 // how many columns before the first window chunks begin
	EdgeLeft                 int32 // chunks before the image
	Area                     int32 // of a whole window
	N, Inverse, Bias         float32
	Alpha, Gamma, Margin     float32 // of decisions in float32: by the area, and times it
}
