package jobs

// A FilterWindow is the job of the CUDA kernels that sum windows of byte images on tensor cores.
type FilterWindow struct {
	In, Out                  uint64
	InStride, InDistance     int64
	OutStride, OutDistance   int64
	K, InverseR              float64 // of Sauvola's method
	Width, Height            int32
	Left, Right, Up, Down    int32
	Border, Value            int32
	Strips, Bands, BandRows  int32
	EdgeBands, EdgeRows      int32   // of the first and the last strip
	Slots                    int32   // rows of the image that a strip holds at once
	Area                     int32   // of an unclipped window
	Half, Multiplier, Place  uint32  // rounding of means: Place is the byte of the product that holds the quotient
	Inverse, Bias            float32 // rounding of means of small windows
	N, NBias, Center, Middle float32 // of variances in float32: 4n and terms derived from it
	Alpha, Gamma             float32 // of thresholds: by 4n and 8n²
	Low, Range               uint32  // range of the float bits that leave a decision uncertain
}
