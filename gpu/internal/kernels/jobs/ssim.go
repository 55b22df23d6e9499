package jobs

// An SSIM is the job of the kernels that compare two images, for the windows of some rows. Their sums of scores by
// blocks are stored one image and channel after the other.
type SSIM struct {
	AStart, AStride, ADistance       int64 // of row 0 of the whole image
	BStart, BStride, BDistance       int64
	MapStart, MapStride, MapDistance int64
	SumsStart                        int64   // in bytes
	C1, C2, Factor                   float64 // constants times the square of a window's pixels; see package quality
	Width, Height, Channels, Images  int32   // of the whole images
	From, To                         int32   // rows, the first of which is a multiple of the rows of a block
	Radius, Pixels                   int32   // of a window
	Strips, StripItems, Skip         int32   // work-items with results in a strip, and before the first
	Bands, BandRows                  int32
	MapBytes                         int32 // of a score; 0 for no map
	Aligned, MapAligned              int32 // rows of images start at multiples of 8 bytes; those of the map, of 16
}

// An SSIMTotal is the job of the kernel that adds sums of blocks, some at a time.
type SSIMTotal struct {
	InStart, OutStart int64 // in bytes
	Lists             int64
	Count, Sums       int32 // of a list, before and after
}
