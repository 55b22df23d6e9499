package jobs

// A Rank is the job of the kernels of rank filters. Windows end at the edges of the images.
type Rank struct {
	InStart, InStride, InDistance    int64
	OutStart, OutStride, OutDistance int64
	Width, Height, Channels, Images  int32
	Left, Right, Up, Down            int32 // reach of a window on each side of its pixel
	Strips, StripItems, Skip         int32 // means: work-items with results in a strip, and before the first
	Bands, BandRows                  int32
	InAligned, OutAligned            int32 // rows start at multiples of 8 bytes
	Area                             int32 // of a window that is not clipped
	Inverse                          float32
}
