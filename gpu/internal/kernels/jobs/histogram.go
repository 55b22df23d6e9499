package jobs

// A Histogram is where things are, in bytes, and how large, for the kernels of integral
// histograms. What lies in the workspace is in whole tiles and bands: what sticks out
// is in no bin. A quad is four bins of a channel, and there are allQuads of them.
type Histogram struct {
	InStart, InStride, InDistance    int64
	OutStart, OutStride, OutDistance int64
	PlanesStart                      int64 // the bin of every pixel, a plane for each channel
	RowsStart                        int64 // per row, tile and quad: how many pixels, a byte for each bin
	ColumnsStart                     int64 // per band, column and quad: the same
	TotalsStart                      int64 // per band, tile and quad: four counts, first its own and then those of all bands above
	LeftStart                        int64 // per row, tile and quad: four counts of all tiles to the left
	AboveStart                       int64 // per band, column and quad: four counts, of 16 bits, of all bands above
	Width, Height, Channels, Bins    int32
	Limits                           int32 // how many there are
	Quads                            int32 // of a channel
	AllQuads                         int32
	GroupQuads                       int32 // of a tile in a team, a power of two; it has QUADS / groupQuads tiles side by side
	TilesAcross, Bands               int32 // multiples of ACROSS and of BANDS
	Bundles, QuadGroups              int32
	Count                            int32 // of images
	Carry                            int32 // row 0 of the table is an input
	QuadsIn                          int32 // four pixels can be read at once
	Wide                             int32 // four counts can be written at once
}
