package window

import (
	"github.com/boxsum/boxsum/internal/engine"
	"github.com/boxsum/boxsum/internal/kernel"
)

// A prefixer sums along a row. Floats are summed in the order of tables, which is the same
// at every level.
type prefixer[A kernel.Number] struct {
	words  rowTable[uint32]
	floats rowTable[float64]
}

// rowTable makes a table of one row.
type rowTable[S interface{ uint32 | float64 }] struct {
	kernel kernel.Func[S, S]
	level  kernel.Level
	tile   kernel.Tile[S, S]
}

func (p *prefixer[A]) find(level kernel.Level, n int) {
	switch any(*new(A)).(type) {
	case uint32:
		p.words.find(level, n)
	case float64:
		p.floats.find(level, n)
	}
}

// run is dst[i+channels] = dst[i] + src[i], for all of dst, whose first channels are zero.
func (p *prefixer[A]) run(dst, src []A, channels int) {
	switch dst := any(dst).(type) {
	case []uint32:
		p.words.run(dst[channels:], any(src).([]uint32), channels)
		return
	case []float64:
		p.floats.run(dst[channels:], any(src).([]float64), channels)
		return
	}
	src = src[:len(dst)-channels]
	to := dst[channels:]
	for i, v := range src {
		to[i] = dst[i] + v
	}
}

func (t *rowTable[S]) find(level kernel.Level, n int) {
	if t.kernel == nil || t.level != level {
		t.kernel, t.level = kernel.Sums[S, S](level), level
	}
	t.tile.Above = engine.AtLeast(t.tile.Above, n+kernel.Slack)
}

func (t *rowTable[S]) run(dst, src []S, channels int) {
	t.tile.Carry = engine.Zeros(t.tile.Carry, kernel.CarryLen(channels))
	clear(t.tile.Above[:len(dst)])
	t.tile.Dst, t.tile.Src, t.tile.N, t.tile.Rows, t.tile.Channels = dst, src, len(dst), 1, channels
	t.tile.DstStride, t.tile.SrcStride = len(dst), len(src)
	t.kernel(&t.tile)
}
