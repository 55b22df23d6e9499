package jobs

// A VolumePass is the job of a one-pass kernel of volumes.
type VolumePass struct {
	In                   uint64 `c:"const char*"` // the first voxel
	Out                  uint64 `c:"char*"`       // entry (0, 0, 0) of the table
	Edges                uint64 `c:"uint4*"`      // the edges that tiles publish
	Tickets              uint64 `c:"u32*"`
	Planes               uint64 `c:"char*"` // the sums of each slab along z, in whole tiles, if there are several slabs
	InStride, InSlice    int64  // in bytes
	OutStride, OutSlice  int64
	Offset               float64
	Width, Height, Depth int32
	TilesX, TilesY       int32
	Epoch, Base          uint32
	Carry                int32 // slice 0 of the table is an input
	ColumnBytes          int32 // bytes up to the end of an entry (0, y, z) that may be set to zero: its own, or 32
	SlabDepth            int32 // slices of a slab; slabs are processed concurrently
}

// A VolumeShape is the content of the variable shape_NAME that a module has for each kernel.
type VolumeShape struct {
	Width, Height int32 // of a tile
	Threads       int32
	Shared        int32 // in bytes
	Words         int32 // 16-byte words that a tile publishes per slice
	JobBytes      int32
}
