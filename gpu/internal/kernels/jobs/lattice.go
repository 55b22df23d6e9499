package jobs

// A Lattice is the job of the kernels that place pixels in the cells of a rotated lattice.
//
// Pixels of a line have indices x, from the left or, if Mirrored is set, from the right, such that pixel x of line y is the
// cell in row y + down(x) and column width-1-x + over[y]. Both down and over grow by 0 or 1 at a time. edges[d] is the first x
// whose down is d, and starts[o] the first line whose over is o. downs holds down(x) in memory order, padded to a multiple of
// eight values.
//
// The pixels are in a region of the lattice, which is cut into pieces of REGION_COLUMNS by REGION_ROWS cells. across holds the
// first and the last piece of each row of pieces. All these arrays are in one buffer, at DownsAt and so on.
type Lattice struct {
	InStart, InStride, InDistance                    int64 // in bytes
	OutStart, OutStride, OutDistance                 int64
	DownsAt, OverAt, EdgesAt, StartsAt, AcrossAt     int32
	Width, Height, Channels                          int32 // of the image
	Rows, Columns                                    int32 // of a lattice as written
	Split                                            int32 // 1 if even and odd rows make two lattices, see lattice.cl
	Runs, Overs, Mirrored                            int32 // Overs is over of the last line
	Everywhere                                       int32 // whether to write cells outside of the region too
	TileChannels, ChannelGroups, TileChannelsInverse int32 // tiles that share their cells; 2^16 / TileChannels, rounded up
	TileCells, TilesAcross, TilesDown                int32 // TileCells of a row
	Wide                                             int32 // whether 16 bytes of a tile can be written at once
	Tangent                                          float32
}

// LatticeBoxes is a table, its region, and the number of boxes. across holds the first and the last
// piece of each row of pieces, and down those of each column.
type LatticeBoxes struct {
	Start, Stride                              int64 // of the table, in bytes
	Channels, Count                            int64
	Columns, Rows                              int32
	AcrossAt, DownAt, PiecesAcross, PiecesDown int32
}

// LatticeLines describes the entries of a rotated table on the host, which are laid out line by line. It extends LatticeBoxes;
// see Lattice for the arrays.
type LatticeLines struct {
	CornersStride, EmptyStride             int64 // bytes of a line; EmptyStride is 0 if entries of empty cells are not wanted
	Width, Height                          int32 // of the image
	Rows, Columns                          int32 // of the whole lattice
	DownsAt, OverAt, Runs, Mirrored        int32
	Split, OddColumns, OddRows, Accumulate int32 // parity of the columns and rows of a part of a split lattice; whether to add to what is there
}
