// Package kernel holds the leaf loops: each turns one tile of pixels into one
// tile of table sums, without goroutines or allocation. The portable Go loop
// is the specification; the assembly gives the same bits.
package kernel

import "unsafe"

// Pixel is what images hold.
type Pixel interface {
	uint8 | uint16 | uint32 | int16 | int32 | float32 | float64
}

// Sum is what tables hold.
type Sum interface {
	uint32 | uint64 | int64 | float32 | float64
}

// A Tile is one rectangle of work. Widths and strides count elements: pixels
// times channels. Pixels are bytes, for only a kernel need know their type.
type Tile[S Sum] struct {
	Dst        []S // the tile's first sum; rows are DstStride apart
	DstStride  int
	Src        []byte // from the tile's first pixel on; rows are SrcStride apart
	SrcStride  int
	PixelBytes int // of an element of Src

	// Above holds the N sums of the table row over the tile and, afterwards,
	// those of the tile's last row. It has Slack elements to spare at its end.
	Above []S

	// Carry hands each row's sum from a tile to the one on its right. It is
	// zero at the left edge of the image, CarryLen elements a row, in a layout
	// private to the level. Only tiles a multiple of Align wide hand it on.
	Carry []S

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
type Func[S Sum] func(*Tile[S])

// Bytes is the memory of pixels.
func Bytes[P any](pix []P) []byte {
	return unsafe.Slice((*byte)(unsafe.Pointer(unsafe.SliceData(pix))), len(pix)*int(unsafe.Sizeof(*new(P))))
}

// Of is the pixels in memory.
func Of[P any](memory []byte) []P {
	return unsafe.Slice((*P)(unsafe.Pointer(unsafe.SliceData(memory))), len(memory)/int(unsafe.Sizeof(*new(P))))
}

const (
	// LineBytes is a cache line, and the widest vector.
	LineBytes = 64
	// FastChannels is the most interleaved channels that the assembly takes.
	FastChannels = 4
	// Slack is how many elements beyond N a kernel may touch in Above.
	Slack = 16
)

// CarryLen is the number of Carry elements that a row of a tile needs.
func CarryLen(channels int) int { return max(16, channels) }

// Align is what the width of a tile must be a multiple of, in elements, for
// another tile to follow on its right.
func Align(channels int) int { return 16 * channels }
