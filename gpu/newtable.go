package gpu

import (
	"fmt"
	"unsafe"

	"github.com/boxsum/boxsum"
	hostmemory "github.com/boxsum/boxsum/internal/grid"
	"github.com/boxsum/boxsum/internal/kernel"
)

// largeTable is from where on the memory of a table is not cleared before it is
// written, and asked for in huge pages.
const largeTable = 4 << 20 // bytes

// shortRow is how many lines a row takes for a gap after it to be small.
const shortRow = 8

// newTable is a table of the host whose entries are all written next, and whose gaps
// are cleared by clearGaps then: to touch its memory takes time, which the copiers
// share. It is laid out like those of [boxsum.NewTable].
func newTable[S boxsum.Sum](width, height, channels int) (*boxsum.Table[S], error) {
	whole := array{element: elementOf[S](), width: width, height: height, channels: channels, count: 1, border: 1}
	if _, err := whole.lay(); err != nil {
		return nil, err
	}
	size := int64(whole.element.bytes())
	line := kernel.LineBytes / size
	stride := (int64(width) + 1) * int64(channels)
	if stride > shortRow*line {
		stride = roundUp(stride, line)
	}
	lead := (line - int64(channels)%line) % line // entry (1, 0) starts a line
	n := stride*(int64(height)+1) + lead + line
	if n*size < largeTable {
		return boxsum.NewTable[S](width, height, channels)
	}
	all, err := hostmemory.MakeDirty[S](int(n))
	if err != nil {
		return nil, fmt.Errorf("gpu: %w: %w", boxsum.ErrInvalid, err)
	}
	hostmemory.AdviseHugePages(unsafe.Slice((*byte)(unsafe.Pointer(unsafe.SliceData(all))), n*size))
	lead += -int64(uintptr(unsafe.Pointer(unsafe.SliceData(all)))) & (kernel.LineBytes - 1) / size
	return &boxsum.Table[S]{
		Sums:   all[lead:][:stride*(int64(height)+1)],
		Stride: int(stride),
		Width:  width, Height: height, Channels: channels,
	}, nil
}
