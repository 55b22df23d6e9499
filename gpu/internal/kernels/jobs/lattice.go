package jobs

// A Lattice is how the cells of a rotation are laid out.
//
// Pixels of a line are counted as x, from the left or, where mirrored, from the
// right, so that x of line y is the cell in row y + down(x) and column
// width-1-x + over[y], and both down and over grow by 0 or 1 at a time. edges[d] is
// the first x whose down is d, and starts[o] the first line whose over is o.
// downs has down(x) in the order of memory, and is as long as a multiple of eight.
//
// The pixels lie in a region of the lattice, which is cut into pieces of REGION_COLUMNS
// by REGION_ROWS cells: across has the first and the last piece of each row of pieces.
// All these are in one buffer, from downsAt and so on.
type Lattice struct {
	InStart, InStride, InDistance                    int64 // in bytes
	OutStart, OutStride, OutDistance                 int64
	DownsAt, OverAt, EdgesAt, StartsAt, AcrossAt     int32
	Width, Height, Channels                          int32 // of the image
	Rows, Columns                                    int32 // of a lattice as it is written
	Split                                            int32 // 1 where even and odd rows make two lattices, see lattice.cl
	Runs, Overs, Mirrored                            int32 // overs is over of the last line
	Everywhere                                       int32 // whether to write cells outside of the region too
	TileChannels, ChannelGroups, TileChannelsInverse int32 // tiles that share their cells; 2^16 / tileChannels, rounded up
	TileCells, TilesAcross, TilesDown                int32 // tileCells of a row
	Wide                                             int32 // whether 16 bytes of a tile can be written at once
	Tangent                                          float32
}

// LatticeBoxes is where a table and its region are, and how many boxes there are.
// across has the first and the last piece of each row of pieces, and down those of
// each column.
type LatticeBoxes struct {
	Start, Stride                              int64 // of the table, in bytes
	Channels, Count                            int64
	Columns, Rows                              int32
	AcrossAt, DownAt, PiecesAcross, PiecesDown int32
}
