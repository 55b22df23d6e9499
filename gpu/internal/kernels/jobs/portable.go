// Package jobs holds the structs that the host passes to kernels, which Go and C share byte for
// byte.
//
// Each file is the source of a header of the same name, which "go test -update" writes: a field has
// the same name in C, starting with a lower-case letter. The tag c overrides the C type.
package jobs

// A Job is the job of the portable kernels: positions and sizes, in bytes.
type Job struct {
	InStart, InStride, InDistance                                int64
	OutStart, OutStride, OutDistance                             int64
	SquaresStart, SquaresStride, SquaresDistance                 int64
	ColumnsStart, RowsStart, SquareColumnsStart, SquareRowsStart int64 // of the carries
	Width, Height, Channels                                      int32
	TileChannels, ChannelGroups                                  int32 // tiles that share their pixels
	TilePixels, TileRows, TilesAcross, TilesDown                 int32
	Carry                                                        int32 // row 0 of the table is an input
	Offset                                                       float32
	TileChannelsInverse                                          int32 // 2^16 / TileChannels, rounded up
}

// A Carry is an array of carries: steps of Length values, image after image. Groups is the number
// of all work-groups, GroupsAcross that of one image.
type Carry struct {
	Start                int64 // in bytes
	Length               int64
	Steps, _             int32
	Groups, GroupsAcross uint32
}

// A Climb is the row carries of a table, to be accumulated over the rows of tiles.
type Climb struct {
	Start                            int64 // in bytes
	Height, Channels, TilesAcross, _ int32
}

// Boxes is the position of a table, in bytes, and the number of boxes.
type Boxes struct {
	Start, Stride   int64
	Channels, Count int64
}
