package jobs

// A PlanePass is the job of a one-pass kernel, including those of small images.
type PlanePass struct {
	Map                         [128]byte `c:"alignas(64) u8"` // a tensor map of the pixels, for chips that support them
	In                          uint64    `c:"const char*"`    // the first pixel
	Out                         uint64    `c:"char*"`          // entry (0, 0) of the table
	Squares                     uint64    `c:"char*"`          // of the table of squares
	Status                      uint64    `c:"uint4*"`         // the statuses of tiles
	SquaresStatus               int64     // where the statuses of squares begin, in 16-byte words
	Tickets                     uint64    `c:"u32*"`
	InStride, InBatch           int64     // in bytes
	OutStride, OutBatch         int64
	SquaresStride, SquaresBatch int64
	Offset                      float64
	Width, Height, Count        int32 // Width counts values: pixels times channels
	TilesX, TilesY              int32
	Strip                       int32  // tiles of a row that are processed together, row by row; 0: all, along diagonals
	Lag                         int32  // along diagonals, log2 of the number of tiles that a row is ahead of the next
	Ahead                       int32  // distance of the tile to prefetch, in tickets; 0: none
	Turn                        int32  // number of interleaved images, at least 1
	Epoch, Base                 uint32 // Epoch is a multiple of 4
	InAligned, OutAligned       int32
	SquaresAligned              int32
	Carry                       int32  // row 0 of the table is an input
	TileCount                   int32  // of the list
	TileList                    uint64 `c:"const int4*"` // the tiles to process, see listedPlace; null means all
	_                           [16]byte
}

// A PlaneShape is the content of the variable shape_NAME that a module has for each kernel.
type PlaneShape struct {
	Width, Height int32 // of a tile, in values
	Threads       int32
	Shared        int32 // in bytes
	SumWords      int32 // 16-byte words that a tile publishes
	SquareWords   int32
	JobBytes      int32
	Strip         int32 // as in PlanePass; 0: along diagonals
	Lag           int32 // the maximum
	Ahead         int32
}
