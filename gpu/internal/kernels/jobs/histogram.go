package jobs

// A Histogram is the job of the kernels of integral histograms: positions and sizes, in bytes.
// Arrays in the workspace consist of whole tiles and bands; the part outside of the image is in no
// bin. A quad is four bins of a channel, and there are AllQuads of them.
type Histogram struct {
	InStart, InStride, InDistance    int64
	OutStart, OutStride, OutDistance int64
	PlanesStart                      int64 // the bin of every pixel, a plane for each channel
	RowsStart                        int64 // per row, tile and quad: the counts, a byte for each bin
	ColumnsStart                     int64 // per band, column and quad: the same
	TotalsStart                      int64 // per band, tile and quad: four counts, first its own and then those of all bands above
	LeftStart                        int64 // per row, tile and quad: four counts of all tiles to the left
	AboveStart                       int64 // per band, column and quad: four counts, of 16 bits, of all bands above
	Width, Height, Channels, Bins    int32
	Limits                           int32 // number of limits
	Quads                            int32 // of a channel
	AllQuads                         int32
	GroupQuads                       int32 // of a tile in a team, a power of two; the team has QUADS / GroupQuads tiles side by side
	TilesAcross, Bands               int32 // multiples of ACROSS and of BANDS
	Bundles, QuadGroups              int32
	Count                            int32 // of images
	Carry                            int32 // row 0 of the table is an input
	QuadsIn                          int32 // four pixels can be read at once
	Wide                             int32 // four counts can be written at once
}
