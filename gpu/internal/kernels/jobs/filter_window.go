package jobs

// A FilterWindow is images of bytes, the windows round their pixels, and where results go, for
// the kernels of CUDA that sum windows on tensor cores.
type FilterWindow struct {
	In, Out                  uint64
	InStride, InDistance     int64
	OutStride, OutDistance   int64
	K, InverseR              float64 // of Sauvola
	Width, Height            int32
	Left, Right, Up, Down    int32
	Border, Value            int32
	Strips, Bands, BandRows  int32
	EdgeBands, EdgeRows      int32   // those of the first strip and the last
	Slots                    int32   // rows of the image that a strip has at once
	Area                     int32   // of a whole window
	Half, Multiplier, Place  uint32  // of rounded means: their byte of the product
	Inverse, Bias            float32 // of those of small windows
	N, NBias, Center, Middle float32 // of variances in float32: 4n and more
	Alpha, Gamma             float32 // of thresholds, by 4n and 8n²
	Low, Range               uint32  // bits of floats that decide nothing
}
