package jobs

// A VolumePass is the job of a one-pass kernel of volumes.
type VolumePass struct {
	In                   uint64 `c:"const char*"` // the first voxel
	Out                  uint64 `c:"char*"`       // entry (0, 0, 0) of the table
	Edges                uint64 `c:"uint4*"`      // what tiles publish
	Tickets              uint64 `c:"u32*"`
	Planes               uint64 `c:"char*"` // the sums of each slab along z, in whole tiles, where there are several
	InStride, InSlice    int64  // bytes
	OutStride, OutSlice  int64
	Offset               float64
	Width, Height, Depth int32
	TilesX, TilesY       int32
	Epoch, Base          uint32
	Carry                int32 // slice 0 of the table is an input
	ColumnBytes          int32 // that may be zeros up to the end of an entry (0, y, z): its own, or 32
	SlabDepth            int32 // slices of a slab: slabs are worked on side by side
}

// A VolumeShape is what a module has of a kernel in the variable shape_ and its name.
type VolumeShape struct {
	Width, Height int32 // of a tile
	Threads       int32
	Shared        int32 // bytes
	Words         int32 // of 16 bytes, which a tile publishes of a slice
	JobBytes      int32
}
