package filter

import (
	"github.com/boxsum/boxsum/internal/engine"
	"github.com/boxsum/boxsum/internal/grid"
	"github.com/boxsum/boxsum/internal/kernel"
	"github.com/boxsum/boxsum/internal/window"
)

// triple is the layer of three boxes of bytes, first all along the rows and then all down
// the columns: see [kernel.Triple]. That is the same as box by box where the border mirrors
// or repeats the image, as it then does so with what each box makes of it.
type triple struct {
	task         task
	frame        window.Frame
	image        window.Image
	across, down kernel.Triple
	toWords      float32 // factors of sums
	toBytes      float32

	bandRows int
	saved    []uint8 // in place: the rows beyond each band, which others write over
	workers  []tripleWorker
}

type tripleWorker struct {
	ring    []uint16 // rows after the boxes across
	zeros   []uint16
	state   []uint32
	from, y int // rows [from, y) of results are done, one after the other
	across  int // rows after the boxes across that there are, from that many above the first on
	scratch kernel.TripleScratch
	_       [kernel.LineBytes]byte
}

const (
	// tripleBlock is how many rows are made at a time.
	tripleBlock = 16
	// tripleShare is how many rows a band has at least.
	tripleShare = 64
)

// newTriple reports whether three boxes can go this way.
func newTriple(t *task, shapes []window.Shape) (l triple, ok bool) {
	switch t.shape.Border {
	case window.Reflect101, window.Reflect, window.Wrap:
	default:
		return l, false
	}
	if len(shapes) != 3 || t.src.Channels > kernel.FastChannels {
		return l, false
	}
	for i, s := range shapes {
		l.across.Sizes[i], l.down.Sizes[i] = s.Width(), s.Height()
	}
	if !l.across.Fits(255) {
		return l, false
	}
	for bits := 7; bits >= 5; bits-- { // more of a pixel between rows and columns
		if l.down.Fits(255 << bits) {
			l.toWords = float32(float64(int(1)<<bits) / float64(l.across.Count()))
			l.toBytes = float32(2 / (float64(int(1)<<bits) * float64(l.down.Count())))
			return l, true
		}
	}
	return l, false
}

func runTriple(t *task, with *triple) error {
	run := engine.Take[engine.Run[triple]]()
	l := &run.Layer
	l.task, l.across, l.down, l.toWords, l.toBytes = *t, with.across, with.down, with.toWords, with.toBytes
	l.frame = t.frame()
	l.image.Src, l.image.Border = t.src, t.shape.Border
	p := window.ChainPlan(&t.set, &l.frame, 2, 2*l.down.Reach(), 1)
	if !t.same { // a worker goes on from band to band: this is for who has none left
		rows := max(tripleShare, 4*l.down.Reach())
		p.BandRows = min(p.BandRows, grid.RoundUp(engine.DivUp(p.Rows, max(p.Workers, p.Rows/rows)), tripleBlock))
	}
	return run.Fill(t.set, p, l)
}

func (l *triple) Prepare(p *engine.Plan) error {
	l.workers = engine.Workers(l.workers, p.Workers)
	for i := range l.workers {
		l.workers[i].y = -1
	}
	l.bandRows = p.BandRows
	if !l.task.same {
		return nil
	}
	n, reach, bands := l.frame.Width*l.frame.Channels, l.down.Reach(), engine.DivUp(p.Rows, p.BandRows)
	l.saved = engine.AtLeast(l.saved, 2*reach*n*bands)
	to := l.saved
	for b := range bands {
		for i := range 2 * reach {
			copy(to[:n], l.image.Row(l.beyond(b, i)))
			to = to[n:]
		}
	}
	return nil
}

// beyond is row i of those beyond a band: first the ones above it.
func (l *triple) beyond(band, i int) int {
	if reach := l.down.Reach(); i >= reach {
		return min(l.frame.Height, (band+1)*l.bandRows) + i - reach
	}
	return band*l.bandRows - l.down.Reach() + i
}

// row is that at a place, as it was before any was written over: those of a band are read
// before they are written.
func (l *triple) row(band, place int) []uint8 {
	from, to := band*l.bandRows, min(l.frame.Height, (band+1)*l.bandRows)
	if !l.task.same || place >= from && place < to {
		return l.image.Row(place)
	}
	n, reach := l.frame.Width*l.frame.Channels, l.down.Reach()
	i := place - from + reach
	if place >= to {
		i = place - to + reach
	}
	return l.saved[(band*2*reach+i)*n:][:n]
}

// Tile implements [engine.Layer]: a band at a time, which may go on from the one above it.
func (l *triple) Tile(worker, _, y, width, rows int) {
	w, c, f := &l.workers[worker], l.frame.Channels, &l.frame
	n, reach, band := width*c, l.down.Reach(), y/l.bandRows
	size := grid.RoundUp(l.down.Span()+1, tripleBlock) + tripleBlock
	done, end := 0, rows+2*reach // of the rows from that many above the first on
	if w.y == y && !l.task.same {
		done, end = y-w.from+2*reach, y-w.from+rows+2*reach
	} else {
		w.ring = engine.AtLeast(w.ring, size*n)
		w.zeros = engine.Zeros(w.zeros, n)
		w.state = engine.Zeros(w.state, 3*grid.RoundUp(n, tripleBlock))
		w.from, w.across = y, 0
	}
	w.y = y + rows
	there := end // rows that can be had
	if !l.task.same {
		there = f.Height - w.from + 2*reach
	}
	beside := func(place int) int { return f.Border.Index(place, f.Width) }
	at := func(i int) []uint16 { return w.ring[i%size*n:][:n] }
	taps := l.down.Taps()
	var src [tripleBlock][]uint8
	var dst [tripleBlock][]uint16
	for i := done; i < end; i++ {
		if i == w.across {
			some := min(tripleBlock, there-i)
			for j := range some {
				src[j], dst[j] = l.row(band, w.from-reach+i+j), at(i+j)
			}
			l.across.Across(f.Level, dst[:some], src[:some], c, l.toWords, beside, &w.scratch)
			w.across += some
		}
		var back [8][]uint16
		for j, by := range taps {
			if back[j] = w.zeros[:n]; i >= by {
				back[j] = at(i - by)
			}
		}
		var to []uint8
		if i >= 2*reach {
			to = l.task.dst[0].Row(0, w.from+i-2*reach, width)
		}
		l.down.Down(f.Level, to, w.state, &back, l.toBytes, &w.scratch)
	}
}

func (l *triple) Finish() {}

func (l *triple) Release() int {
	l.task, l.image.Src = task{}, window.Pixels{}
	bytes := engine.Bytes(l.saved)
	for i := range l.workers {
		w := &l.workers[i]
		w.scratch.Forget()
		bytes += engine.Bytes(w.ring) + engine.Bytes(w.zeros) + engine.Bytes(w.state) + w.scratch.Bytes()
	}
	return bytes
}
