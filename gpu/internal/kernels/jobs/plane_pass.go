package jobs

// A PlanePass is the job of a one-pass kernel, and of one of small images.
type PlanePass struct {
	Map                         [128]byte `c:"alignas(64) u8"` // a tensor map of the pixels, for chips that take them
	In                          uint64    `c:"const char*"`    // the first pixel
	Out                         uint64    `c:"char*"`          // entry (0, 0) of the table
	Squares                     uint64    `c:"char*"`          // of the table of squares
	Status                      uint64    `c:"uint4*"`         // what tiles publish
	SquaresStatus               int64     // where that of the squares begins, in words of 16 bytes
	Tickets                     uint64    `c:"u32*"`
	InStride, InBatch           int64     // bytes
	OutStride, OutBatch         int64
	SquaresStride, SquaresBatch int64
	Offset                      float64
	Width, Height, Count        int32 // width in values: pixels times channels
	TilesX, TilesY              int32
	Strip                       int32  // tiles of a row that are worked on together, row by row; 0: all, along diagonals
	Lag                         int32  // the logarithm of how many tiles a row is ahead of the next, along diagonals
	Ahead                       int32  // how many tiles later comes the one to prefetch; 0: none
	Turn                        int32  // images that take turns, at least 1
	Epoch, Base                 uint32 // epoch is a multiple of 4
	InAligned, OutAligned       int32
	SquaresAligned              int32
	Carry                       int32  // row 0 of the table is an input
	TileCount                   int32  // of the list
	TileList                    uint64 `c:"const int4*"` // the tiles to work on, see listedPlace, or null: all of them
	_                           [16]byte
}

// A PlaneShape is what a module has of a kernel in the variable shape_ and its name.
type PlaneShape struct {
	Width, Height int32 // of a tile, in values
	Threads       int32
	Shared        int32 // bytes
	SumWords      int32 // of 16 bytes, which a tile publishes
	SquareWords   int32
	JobBytes      int32
	Strip         int32 // as in the job; 0: along diagonals
	Lag           int32 // the most that suits
	Ahead         int32
}
