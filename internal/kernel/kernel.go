// Package kernel holds the leaf loops: each turns one tile of pixels into one
// tile of table sums, without goroutines or allocation. The portable Go loop
// is the specification; the assembly gives the same bits.
//
// Pixels and sums are memory here. A kernel is registered under the two types that
// it is written for, and everything above finds it by them.
package kernel

// Pixel is the types of pixels that a portable loop is compiled for.
type Pixel interface {
	uint8 | uint16 | uint32 | uint64 | int16 | int32 | int64 | float32 | float64
}

// Sum is the types of sums that a portable loop is compiled for.
type Sum interface {
	uint32 | uint64 | int64 | float32 | float64
}

// A Tile is one rectangle of work. Widths and strides count elements: pixels
// times channels.
type Tile struct {
	Dst       []byte // from the tile's first sum on; rows are DstStride apart
	DstStride int
	Src       []byte // from the tile's first pixel on; rows are SrcStride apart
	SrcStride int

	// Above holds the N sums of the table row over the tile and, afterwards,
	// those of the tile's last row. It has Slack elements to spare at its end.
	Above []byte

	// Carry hands each row's sum from a tile to the one on its right. It is
	// zero at the left edge of the image, CarryLen elements a row, in a layout
	// private to the level. Only tiles a multiple of Align wide hand it on.
	Carry []byte

	Rows, N, Channels int

	Offset float32 // subtracted from every pixel, by float32 sums only
	Writes Writes
}

// Writes is how a kernel writes its sums. The result is the same.
type Writes uint8

const (
	// Ahead asks for the lines of a row before it comes to write them.
	Ahead Writes = iota
	// Mixed writes every other row past the caches and the rest as Ahead
	// does: the two take different ways out of the core, and together are
	// faster than either, as long as the last-level cache holds the table.
	// It needs Dst and DstStride on 64 bytes.
	Mixed
	// Stream writes past the caches. It too needs Dst and DstStride on 64
	// bytes.
	Stream
)

// A Func integrates one tile.
type Func func(*Tile)

// Slack is how many elements beyond N a kernel may touch in Above.
const Slack = 16

// CarryLen returns the number of Carry elements that a row of a tile needs.
func CarryLen(channels int) int { return max(16, channels) }

// Align returns what the width of a tile must be a multiple of, in elements, for
// another tile to follow on its right.
func Align(channels int) int { return 16 * channels }
