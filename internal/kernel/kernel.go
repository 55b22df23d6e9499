// Package kernel holds the inner loops of tables: each computes one tile of table sums from one
// tile of pixels, without goroutines or allocation. The portable Go loop is the specification; the
// assembly returns the same bits.
//
// Pixels and sums are bytes here. A kernel is registered by its pixel type and its sum type, and
// callers look it up by them.
package kernel

// Pixel lists the pixel types that portable loops are compiled for.
type Pixel interface {
	uint8 | uint16 | uint32 | uint64 | int16 | int32 | int64 | float32 | float64
}

// Sum lists the sum types that portable loops are compiled for.
type Sum interface {
	uint32 | uint64 | int64 | float32 | float64
}

// A Tile is one rectangle of work. Widths and strides count elements: pixels times channels.
type Tile struct {
	Dst       []byte // starts at the tile's first sum; rows are DstStride apart
	DstStride int
	Src       []byte // starts at the tile's first pixel; rows are SrcStride apart
	SrcStride int

	// Above holds the N sums of the table row above the tile. The kernel replaces them by those of
	// the tile's last row. It has Slack additional elements at the end.
	Above []byte

	// Carry passes each row's sum from a tile to the one on its right: CarryLen elements for each
	// row, in a layout private to the level, all zero at the left edge of the image. Only tiles
	// whose width is a multiple of Align can pass it on.
	Carry []byte

	Rows, N, Channels int

	Offset float32 // subtracted from every pixel; float32 sums only
	Writes Writes
}

// Writes selects how a kernel writes its sums. The result is the same.
type Writes uint8

const (
	// Ahead prefetches the lines of a row before it writes them.
	Ahead Writes = iota
	// Mixed writes every other row with non-temporal stores, and the rest as Ahead does. The two
	// kinds of stores leave the core by different paths, and are faster together than either alone
	// if the last-level cache holds the table. Dst and DstStride must be aligned to 64 bytes.
	Mixed
	// Stream writes with non-temporal stores. Dst and DstStride must be aligned to 64 bytes.
	Stream
)

// A Func integrates one tile.
type Func func(*Tile)

// Slack is the number of elements beyond N that a kernel may read and write in Above.
const Slack = 16

// CarryLen returns the number of elements in Carry for each row of a tile.
func CarryLen(channels int) int { return max(16, channels) }

// Align returns the number of elements of which the width of a tile must be a multiple if another
// tile follows to its right.
func Align(channels int) int { return 16 * channels }
