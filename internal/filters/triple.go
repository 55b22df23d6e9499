package filters

import (
	"github.com/boxsum/boxsum/internal/engine"
	"github.com/boxsum/boxsum/internal/kernel/processor"
	"github.com/boxsum/boxsum/internal/kernel/windows"
	"github.com/boxsum/boxsum/internal/raster"
	"github.com/boxsum/boxsum/internal/window"
)

// triple is the layer for three boxes of bytes, first all along the rows and then all down
// the columns: see [windows.Triple].
type triple struct {
	engine.Base
	job          Job
	frame        window.Frame
	image        window.Image
	across, down windows.Triple
	toWords      float32 // factors of sums
	toBytes      float32

	bandRows int
	saved    []uint8 // in place: the rows beyond each band, which other bands overwrite
	workers  []tripleWorker
}

type tripleWorker struct {
	ring    []uint16 // rows after the horizontal boxes
	zeros   []uint16
	state   []uint32
	from, y int // rows [from, y) of results are complete
	across  int // number of rows after the horizontal boxes, starting that many above the first
	scratch windows.TripleScratch
	_       [raster.LineBytes]byte
}

const (
	// tripleBlock is the number of rows computed at a time.
	tripleBlock = 16
	// tripleShare is the minimum number of rows in a band.
	tripleShare = 64
)

// newTriple reports whether triple can do three boxes.
func newTriple(j *Job, shapes []window.Shape) (l triple, ok bool) {
	switch j.shape.Border {
	case window.Reflect101, window.Reflect, window.Wrap, window.Replicate:
	default:
		return l, false
	}
	if len(shapes) != 3 || j.Src.Channels > processor.FastChannels {
		return l, false
	}
	for i, s := range shapes {
		l.across.Sizes[i], l.down.Sizes[i] = s.Width(), s.Height()
	}
	if !l.across.Fits(255) {
		return l, false
	}
	for bits := 7; bits >= 5; bits-- { // additional bits of a pixel between rows and columns
		if l.down.Fits(255 << bits) {
			l.toWords = float32(float64(int(1)<<bits) / float64(l.across.Count()))
			l.toBytes = float32(2 / (float64(int(1)<<bits) * float64(l.down.Count())))
			return l, true
		}
	}
	return l, false
}

// tripleRuns keeps the engines and scratch memory of the layer for later calls.
var tripleRuns engine.Runs[triple]

func runTriple(j *Job, with *triple) error {
	run := tripleRuns.Take()
	l := &run.Layer
	l.job, l.across, l.down, l.toWords, l.toBytes = *j, with.across, with.down, with.toWords, with.toBytes
	l.frame = j.frame(raster.U32, 0)
	l.image.Src, l.image.Border = j.Src, j.shape.Border
	p := window.ChainPlan(&j.set, &l.frame, 2, 2*l.down.Reach(), 1)
	if !j.same { // smaller bands, for workers that finish early to take over
		rows := max(tripleShare, 4*l.down.Reach())
		p.BandRows = min(p.BandRows, raster.RoundUp(engine.DivUp(p.Rows, max(p.Workers, p.Rows/rows)), tripleBlock))
	}
	return run.Fill(&j.set, &p, l)
}

func (l *triple) Prepare(p *engine.Plan) error {
	l.workers = engine.Workers(l.workers, p.Workers)
	for i := range l.workers {
		l.workers[i].y = -1
	}
	l.bandRows = p.BandRows
	if !l.job.same {
		return nil
	}
	n, reach, bands := l.frame.Width*l.frame.Channels, l.down.Reach(), engine.DivUp(p.Rows, p.BandRows)
	l.saved = engine.AtLeast(l.saved, 2*reach*n*bands)
	to := l.saved
	for b := range bands {
		for i := range 2 * reach {
			copy(to[:n], l.image.Row(l.outsideRow(b, i)))
			to = to[n:]
		}
	}
	return nil
}

// outsideRow returns row i of those beyond a band, of which the ones above it come first.
func (l *triple) outsideRow(band, i int) int {
	if reach := l.down.Reach(); i >= reach {
		return min(l.frame.Height, (band+1)*l.bandRows) + i - reach
	}
	return band*l.bandRows - l.down.Reach() + i
}

// row returns a row as it was before it was overwritten. Rows of a band are read before
// they are written.
func (l *triple) row(band, place int) []uint8 {
	from, to := band*l.bandRows, min(l.frame.Height, (band+1)*l.bandRows)
	if !l.job.same || place >= from && place < to {
		return l.image.Row(place)
	}
	n, reach := l.frame.Width*l.frame.Channels, l.down.Reach()
	i := place - from + reach
	if place >= to {
		i = place - to + reach
	}
	return l.saved[(band*2*reach+i)*n:][:n]
}

// Tile implements [engine.Layer] for one band, which may continue the one above it.
func (l *triple) Tile(worker, _, y, width, rows int) {
	w, c, f := &l.workers[worker], l.frame.Channels, &l.frame
	n, reach, band := width*c, l.down.Reach(), y/l.bandRows
	size := raster.RoundUp(l.down.Span()+1, tripleBlock) + tripleBlock
	done, end := 0, rows+2*reach // rows, starting that many above the first
	if w.y == y && !l.job.same {
		done, end = y-w.from+2*reach, y-w.from+rows+2*reach
	} else {
		w.ring = engine.AtLeast(w.ring, size*n)
		w.zeros = engine.Zeros(w.zeros, n)
		w.state = engine.Zeros(w.state, 3*raster.RoundUp(n, tripleBlock))
		w.from, w.across = y, 0
	}
	w.y = y + rows
	there := end // available rows
	if !l.job.same {
		there = f.Height - w.from + 2*reach
	}
	beside := func(place int) int { return f.Border.Index(place, f.Width) }
	at := func(i int) []uint16 { return w.ring[i%size*n:][:n] }
	taps := l.down.Taps()
	var src [tripleBlock][]uint8
	var dst [tripleBlock][]uint16
	for i := done; i < end; i++ {
		if i == w.across {
			count := min(tripleBlock, there-i)
			for j := range count {
				src[j], dst[j] = l.row(band, w.from-reach+i+j), at(i+j)
			}
			l.across.Across(f.Level, dst[:count], src[:count], c, l.toWords, beside, &w.scratch)
			w.across += count
		}
		var back [8][]uint16
		for j, by := range taps {
			if back[j] = w.zeros[:n]; i >= by {
				back[j] = at(i - by)
			}
		}
		var to []uint8
		if i >= 2*reach {
			to = l.job.Dst.Span(0, w.from+i-2*reach, width)
		}
		l.down.Down(f.Level, to, w.state, &back, l.toBytes, &w.scratch)
	}
}

func (l *triple) Release() int {
	l.job, l.image.Src = Job{}, raster.Array{}
	bytes := engine.Bytes(l.saved)
	for i := range l.workers {
		w := &l.workers[i]
		w.scratch.Forget()
		bytes += engine.Bytes(w.ring) + engine.Bytes(w.zeros) + engine.Bytes(w.state) + w.scratch.Bytes()
	}
	return bytes
}
