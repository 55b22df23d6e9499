package jobs

// A HistogramPass is the job of the kernels that compute integral histograms in two launches. Bins
// are in groups of up to 32, one to a lane; a part is a group of a channel. If a group has 16 bins
// or fewer, a column has as many slots as the next power of two, and a warp processes several
// columns at a time.
type HistogramPass struct {
	In, Out, Limits         uint64
	Table                   uint64 // for bytes: the bin of every value
	Plane                   uint64 // for other pixels, per image, channel and row: the bin of every pixel, in whole tiles
	Left                    uint64 // per image, row, tile, part and slot: the count to the left of the tile
	Written                 uint64 // per cohort and batch of rows: number of strips that have written it
	InStride, InDistance    int64  // in bytes
	OutStride, OutDistance  int64
	Width, Height, Channels int32
	Count                   int32
	Bins, LimitCount        int32
	GroupBins, Groups       int32 // bins of a group; groups of a channel
	Slots                   int32
	Tiles, Strips           int32 // number in a row
	Carry                   int32 // row 0 of the table is an input
	QuadsIn                 int32 // four pixels can be read at once
	Cohort                  int32 // blocks that write and wait for each other
	Batches                 int32 // of all cohorts
	_                       int32
}
