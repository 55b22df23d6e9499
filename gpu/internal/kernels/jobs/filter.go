package jobs

// A Filter is images, the windows round their pixels, and where results go, in bytes, for
// the portable kernels of filters. The sums of columns of some rows lie between the two.
type Filter struct {
	InStart, InStride, InDistance    int64
	OutStart, OutStride, OutDistance int64
	DevStart, DevStride, DevDistance int64 // of deviations
	SquaresStart                     int64 // of the sums of columns, after those of pixels
	Width, Height, Channels          int32
	Left, Right, Up, Down            int32 // how far a window reaches
	Border, Value                    int32 // see filter.h
	FirstRow, Rows                   int32 // whose columns are summed
	Bands, BandRows                  int32 // that they are cut into
	Segments, SegmentPixels          int32 // that a row of results is cut into
	Images, WantSquares, WantMean, _ int32 // what is wanted
}
