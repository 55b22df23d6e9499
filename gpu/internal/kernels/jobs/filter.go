package jobs

// A Filter is the job of the portable filter kernels: images, windows and results, in bytes. Column
// sums of some rows are stored between the two launches.
type Filter struct {
	InStart, InStride, InDistance    int64
	OutStart, OutStride, OutDistance int64
	DevStart, DevStride, DevDistance int64 // of deviations
	SquaresStart                     int64 // of the column sums of squares, which follow those of pixels
	Width, Height, Channels          int32
	Left, Right, Up, Down            int32 // reach of a window on each side of its pixel
	Border, Value                    int32 // see filter.h
	FirstRow, Rows                   int32 // rows whose columns are summed
	Bands, BandRows                  int32 // partition of these rows
	Segments, SegmentPixels          int32 // partition of a row of results
	Images, WantSquares, WantMean, _ int32 // which results to compute
}
