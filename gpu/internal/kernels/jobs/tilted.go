package jobs

// A Tilted is the job of the kernels of tilted tables: positions and sizes, in bytes. Each strip
// has a row of carries of each kind: the diagonals that fall and that rise to the right, and the
// sums.
type Tilted struct {
	InStart, InStride, InDistance                    int64
	OutStart, OutStride, OutDistance                 int64
	FallingStart, RisingStart, SumsStart             int64 // of the carries
	CarryStride                                      int64 // in values
	Width, Height, Channels                          int32
	TileChannels, ChannelGroups, TileChannelsInverse int32 // tiles that share their pixels; 2^16 / TileChannels, rounded up
	TilePixels, TilesAcross, Strips                  int32 // TilePixels excludes those that only feed their neighbors
	Squares                                          int32 // whether to sum the squares of the pixels
}

// Diagonals is the job of the kernels that propagate sums from strip to strip. A diagonal moves by
// Step values from each strip to the next, to the right or to the left.
type Diagonals struct {
	FallingStart, RisingStart, SumsStart, CarryStride int64
	Lines                                             int64 // diagonals of either kind, numbered by where they enter
	Values                                            int32 // of a row of carries
	Step, Strips, Channels                            int32
	LinesAcross, WindowsAcross, SumsAcross            uint32 // work-groups of a row
	_                                                 int32
}
