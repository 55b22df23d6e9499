package jobs

// A CLAHE is the job of the kernels that equalize the contrast of tiles; see package enhance. The counts of the levels of
// tiles, and then their tables, are stored one image, channel and tile after the other.
type CLAHE struct {
	InStart, InStride, InDistance      int64
	OutStart, OutStride, OutDistance   int64
	TablesStart                        int64 // in bytes
	Width, Height, Channels, Images    int32
	Across, Down                       int32 // tiles
	TileWidth, TileHeight              int32
	Levels, Shift, Limit               int32 // of a table, low bits that are ignored, limit of a bin
	Parts, PartRows                    int32 // of a tile, which work-groups count
	Histograms                         int32 // of a tile, to be added
	Strips, Bands                      int32 // of a cell: the pixels between four tiles
	Scale, InverseWidth, InverseHeight float32
	InAligned, OutAligned              int32 // rows start at multiples of 16 bytes
}
