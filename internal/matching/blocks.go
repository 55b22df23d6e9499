package matching

import (
	"math"
	"slices"

	"github.com/boxsum/boxsum/internal/engine"
	"github.com/boxsum/boxsum/internal/fourier"
	"github.com/boxsum/boxsum/internal/kernel/processor"
	"github.com/boxsum/boxsum/internal/kernel/transforms"
	"github.com/boxsum/boxsum/internal/kernel/windows"
	"github.com/boxsum/boxsum/internal/raster"
)

// A blockPlan divides the scores into blocks. The block of pixels for each is larger by the
// template's size less one.
type blockPlan struct {
	nx, ny         int // transform size, in pixels
	width, height  int // scores per block
	across, blocks int // blocks per row, and in total
}

// place returns the position of the first score of block i.
func (p *blockPlan) place(i int) (x, y int) { return i % p.across * p.width, i / p.across * p.height }

// minSide is the smallest side of a block. It is a whole number of vectors.
const minSide = 2 * fourier.MinSide

// planBlocks chooses the cheapest block size. It ignores the instruction set, so that all
// levels round alike.
func planBlocks(width, height, w, h, channels int) (best blockPlan) {
	cost := math.Inf(1)
	for nx := sideFor(w); ; nx *= 2 {
		for ny := sideFor(h); ; ny *= 2 {
			p := blockPlan{nx: nx, ny: ny, width: nx - w + 1, height: ny - h + 1}
			if p.width >= fourier.MinSide {
				p.width &^= fourier.MinSide - 1 // whole vectors of scores
			}
			p.across = engine.DivUp(width, p.width)
			p.blocks = p.across * engine.DivUp(height, p.height)
			bytes := float64(nx) * float64(ny) * 8
			each := bytes * (log2(nx) + log2(ny) + 6)
			if bytes > 1<<20 { // larger than the L2 cache: measured, and two workers would wait for memory
				each *= 2.5
			}
			if c := each * float64(engine.DivUp(p.blocks, 2)); c < cost {
				best, cost = p, c
			}
			if ny >= height+h-1 {
				break
			}
		}
		if nx >= width+w-1 {
			break
		}
	}
	return best
}

// sideFor returns the smallest side of a block for a template of n pixels.
func sideFor(n int) int {
	side := minSide
	for side < n {
		side *= 2
	}
	return side
}

func log2(n int) float64 { return math.Log2(float64(n)) }

// A scoring selects how blocks are scored.
type scoring uint8

const (
	fastScores    scoring = iota // dst holds factors, see factorLayer
	generalScores                // SSD, and all methods with a mask
)

// A precision holds a worker's buffers for transforms in one type.
type precision[T transforms.Real] struct {
	pixels  [maxChannels]fourier.Block[T]
	squared [maxChannels]fourier.Block[T] // for general scores
	results [3]fourier.Block[T]
	conv    fourier.Convolver[T]
	values  [64]float64 // pixels of a row
	sums    lineOfSums  // sums of squares
	factors *fourier.Factors[T]

	// Kernels for float32; nil for float64.
	fillLines  func(level processor.Level, lines []T, src []uint8, stride, rows int, center float32, energy *lineOfSums)
	scoreLines func(level processor.Level, dst []float32, stride int, lines []T, rows, n int, bias float32)
}

type lineOfSums = [raster.LineBytes / 4]float32

// resize allocates the blocks.
func (p *precision[T]) resize(plan *blockPlan, channels int, general bool) {
	for i := range channels {
		p.pixels[i].Resize(p.factors, plan.nx, plan.ny)
		if general {
			p.squared[i].Resize(p.factors, plan.nx, plan.ny)
		}
	}
	for i := 0; i < len(p.results) && general; i++ {
		p.results[i].Resize(p.factors, plan.nx, plan.ny)
	}
	p.conv.Resize(plan.nx)
}

func (p *precision[T]) bytes() (n int) {
	for i := range p.pixels {
		n += engine.Bytes(p.pixels[i].Lines) + engine.Bytes(p.squared[i].Lines)
	}
	for i := range p.results {
		n += engine.Bytes(p.results[i].Lines)
	}
	return n + p.conv.Bytes()
}

// blockLayer computes scores from transforms. A tile is two blocks.
type blockLayer struct {
	engine.Base
	job  Job
	kind scoring
	blockPlan

	center  [maxChannels]float64 // subtracted from the template
	rest    [maxChannels]float64 // subtracted too, for ZNCC: the mean is rarely a float
	sums    [maxChannels]float64 // sums of the template's values
	squares float64              // sum of squares over all channels
	count   int                  // number of pixels of the template

	scratch fourier.Block[float64]
	double  [maxChannels]fourier.Spectrum[float64]
	single  [maxChannels]fourier.Spectrum[float32]
	ones    fourier.Spectrum[float64] // spectrum of the mask
	peak    float64                   // largest magnitude of the spectra

	directly           bool // scores of bytes can be recomputed
	direct, sumsDirect direct

	workers []blockWorker
}

type blockWorker struct {
	single precision[float32]
	double precision[float64]
	most   lineOfSums // greatest factors
	again  again
	_      [raster.LineBytes]byte
}

// blockRuns keeps the engines and scratch memory of the layer for later calls.
var blockRuns engine.Runs[blockLayer]

// correlate computes the scores, which hold factors if kind is fastScores.
func correlate(t *Job, kind scoring) error {
	run := blockRuns.Take()
	l := &run.Layer
	l.job, l.kind = *t, kind
	l.blockPlan = planBlocks(t.width, t.height, t.Template.Width, t.Template.Height, t.Src.Channels)
	pairs := engine.DivUp(l.blocks, 2)
	p := engine.Plan{Grid: engine.Grid{Rows: pairs, N: 1, BandRows: 1, TileWidth: 1, Lead: -1}}
	p.Workers = max(1, min(t.set.Workers(), pairs))
	return run.Fill(&t.set, &p, l)
}

// Prepare implements [engine.Layer].
func (l *blockLayer) Prepare(p *engine.Plan) error {
	l.workers = engine.Workers(l.workers, p.Workers)
	c := l.job.Src.Channels
	for i := range l.workers[:p.Workers] { // allocate for all workers, whichever run this time
		w := &l.workers[i]
		w.single.factors, w.double.factors = &fourier.Singles, &fourier.Doubles
		w.single.fillLines, w.single.scoreLines = transforms.FillLines, transforms.ScoreLines
		if l.kind == fastScores {
			w.single.resize(&l.blockPlan, c, false)
		} else {
			w.double.resize(&l.blockPlan, c, true)
		}
	}
	l.prepareTemplate()
	if l.directly = l.kind == fastScores && l.job.plainBytes() && l.count <= againArea; l.directly {
		t := &l.job
		l.direct.set(t.set.Level, &t.Template)
		l.sumsDirect.ones(t.set.Level, t.Template.Width, t.Template.Height)
		for i := range l.workers[:p.Workers] {
			l.workers[i].again.resize(&l.direct, 0)
		}
	}
	return nil
}

// Release implements [engine.Layer].
func (l *blockLayer) Release() int {
	l.job = Job{}
	n := engine.Bytes(l.scratch.Lines) + engine.Bytes(l.ones.Lines)
	for i := range l.double {
		n += engine.Bytes(l.double[i].Lines) + engine.Bytes(l.single[i].Lines)
	}
	for i := range l.workers {
		w := &l.workers[i]
		n += w.single.bytes() + w.double.bytes() + w.again.bytes() + engine.Bytes(w.again.groups) + engine.Bytes(w.again.factors)
	}
	return n
}

// prepareTemplate computes the spectra of the template.
func (l *blockLayer) prepareTemplate() {
	t := &l.job
	c, w, h := t.Template.Channels, t.Template.Width, t.Template.Height
	l.count, l.squares, l.peak = 0, 0, 0
	for y := range h {
		for x := range w {
			if t.counts(x, y) {
				l.count++
			}
		}
	}
	l.center, l.rest, l.sums = [maxChannels]float64{}, [maxChannels]float64{}, [maxChannels]float64{}
	value := func(ch, x, y int) float64 {
		if !t.counts(x, y) {
			return 0
		}
		return windows.At(t.Template.Type, t.Template.Data, y*t.Template.Stride+x*c+ch) - l.center[ch] - l.rest[ch]
	}
	each := func(ch int, do func(v float64)) {
		for y := range h {
			for x := range w {
				if t.counts(x, y) {
					do(value(ch, x, y))
				}
			}
		}
	}
	for ch := range c {
		if t.Method != NCC {
			sum := 0.0
			each(ch, func(v float64) { sum += v })
			l.center[ch] = sum / float64(l.count)
			if t.Method == SSD && t.whole() {
				l.center[ch] = math.Round(l.center[ch]) // keeps differences integral
			}
			if t.Method == ZNCC { // otherwise the level of a window far from zero would add to its score
				sum = 0
				each(ch, func(v float64) { sum += v })
				l.rest[ch] = sum / float64(l.count)
			}
		}
		each(ch, func(v float64) {
			l.sums[ch] += v
			l.squares += float64(v * v)
		})
	}
	scale := 1 / math.Sqrt(l.squares)
	if t.Method == SSD {
		scale = -2
	}
	for ch := range c {
		l.sums[ch] *= scale
		l.transform(&l.double[ch], func(x, y int) float64 { return value(ch, x, y) * scale })
		l.peak = max(l.peak, l.double[ch].Peak())
		if l.kind == fastScores {
			fourier.Single(&l.single[ch], &l.double[ch])
		}
	}
	if l.kind == generalScores {
		l.transform(&l.ones, func(x, y int) float64 {
			if t.counts(x, y) {
				return 1
			}
			return 0
		})
	}
}

// transform computes the spectrum of a function of the template's pixels.
func (l *blockLayer) transform(s *fourier.Spectrum[float64], value func(x, y int) float64) {
	b := &l.scratch
	b.Resize(&fourier.Doubles, l.nx, l.ny)
	const lanes = raster.LineBytes / 8
	w, h := l.job.Template.Width, l.job.Template.Height
	for x := 0; x < w; x += lanes {
		g := b.Group(x)
		clear(g)
		for y := range h {
			for i := range min(lanes, w-x) {
				g[y*2*lanes+i] = value(x+i, y)
			}
		}
	}
	s.Transform(l.job.set.Level, b, w)
}

// Tile implements [engine.Layer].
func (l *blockLayer) Tile(worker, _, pair, _, _ int) {
	w := &l.workers[worker]
	blocks := [2]int{2 * pair, 2*pair + 1}
	if l.kind == generalScores {
		l.general(&w.double, blocks)
		return
	}
	clear(w.most[:])
	l.mostFactors(&w.most, blocks[0])
	if blocks[1] < l.blocks {
		l.mostFactors(&w.most, blocks[1])
	}
	most := slices.Max(w.most[:])
	if correlateFast(l, &w.single, l.single[:], blocks, most, &w.again) {
		return
	}
	correlateFast(l, &w.double, l.double[:], blocks, most, nil)
}

// scores returns the part of a row of scores that belongs to a block, or nil past its end.
func (l *blockLayer) scores(block, row int) []float32 {
	x, y := l.place(block)
	if row += y; row >= l.job.height || row >= y+l.height {
		return nil
	}
	return l.job.dst[row*l.job.stride+x:][:min(l.width, l.job.width-x)]
}

// mostFactors updates most with the largest factors of a block.
func (l *blockLayer) mostFactors(most *lineOfSums, block int) {
	for row := 0; ; row++ {
		scores := l.scores(block, row)
		if scores == nil {
			return
		}
		transforms.UpdateMax(l.job.set.Level, most, scores)
	}
}

const (
	// tolerance is the largest rounding error of a score.
	tolerance = 8e-6
	// roundings estimates the greatest error for each doubling of a block's side, in units
	// of the rounding of a typical number. TestLarge and FuzzMatch catch scores that are
	// off by more.
	roundings = 1.5

	epsilon32, epsilon64 = 0x1p-24, 0x1p-53
)

// correlateFast multiplies factors by numerators. It reports whether the scores are
// accurate enough, including those recomputed by a. If not, it leaves dst unchanged.
func correlateFast[T transforms.Real](l *blockLayer, w *precision[T], spectra []fourier.Spectrum[T], blocks [2]int, most float32, a *again) bool {
	t, c, lanes := &l.job, l.job.Src.Channels, transforms.Lanes[T]()
	var in [maxChannels]*fourier.Block[T]
	var kernels [maxChannels]*fourier.Spectrum[T]
	var bias [2]float64
	energy := 0.0
	w.resize(&l.blockPlan, c, false)
	for ch := range c {
		b := &w.pixels[ch]
		in[ch], kernels[ch] = b, &spectra[ch]
		centers := [2]float64{l.centerOf(blocks[0], ch), l.centerOf(blocks[1], ch)}
		energy += fill(l, w, b, blocks, ch, centers)
		bias[0] += float64(centers[0] * l.sums[ch])
		bias[1] += float64(centers[1] * l.sums[ch])
	}
	if t.Method == ZNCC {
		bias = [2]float64{}
	}
	size := math.Sqrt(energy / (float64(l.nx) * float64(l.ny)))
	single, epsilon := w.scoreLines != nil, epsilon64
	if single {
		epsilon = epsilon32
	}
	bound := l.rounding(size, l.peak, epsilon)
	if single && size != 0 && !(size > 1e-15 && size < 1e15) {
		return false
	}
	redo := single && !(bound*float64(most) <= tolerance)
	if redo && !l.collect(a, blocks, tolerance/bound) {
		return false
	}
	for ch := range c {
		for x := 0; x < l.nx; x += lanes {
			in[ch].Columns(t.set.Level, x)
		}
	}
	b := in[0]
	w.conv.Convolve(t.set.Level, b, in[:c], kernels[:c])
	for x := 0; x < l.width; x += lanes {
		b.InverseColumns(t.set.Level, x)
		g := b.Group(x)
		for i, block := range blocks {
			if block >= l.blocks {
				continue
			}
			x0, y0 := l.place(block)
			if single {
				rows, n := min(l.height, t.height-y0), min(lanes, l.width-x, t.width-x0-x)
				if rows > 0 && n > 0 {
					w.scoreLines(t.set.Level, t.dst[y0*t.stride+x0+x:], t.stride, g[i*lanes:], rows, n, float32(bias[i]))
				}
				continue
			}
			for row := 0; ; row++ {
				scores := l.scores(block, row)
				if len(scores) <= x {
					break
				}
				scores = scores[x:min(x+lanes, len(scores))]
				numerators := g[(2*row+i)*lanes:][:len(scores)]
				for k, v := range numerators {
					if f := float64(scores[k]); bound*f > tolerance {
						scores[k] = float32(t.exactly(x0+x+k, y0+row))
					} else {
						scores[k] = clamped((float64(v) + bias[i]) * f)
					}
				}
			}
		}
	}
	if redo {
		l.makeAgain(a, 1/math.Sqrt(l.squares))
	}
	return true
}

// centerOf estimates the mean of a block's pixels from a few samples.
func (l *blockLayer) centerOf(block, ch int) float64 {
	if block >= l.blocks {
		return 0
	}
	const samples = 16
	t := &l.job
	x0, y0 := l.place(block)
	w, h := min(l.nx, t.Src.Width-x0), min(l.ny, t.Src.Height-y0)
	sum, count := 0.0, 0
	for j := range min(samples, h) {
		row := (y0 + j*h/min(samples, h)) * t.Src.Stride
		for i := range min(samples, w) {
			if p := windows.At(t.Src.Type, t.Src.Data, row+(x0+i*w/min(samples, w))*t.Src.Channels+ch); finite(p) {
				sum += p
				count++
			}
		}
	}
	if count == 0 || !finite(sum) {
		return 0
	}
	if m := sum / float64(count); t.whole() {
		return math.Round(m)
	} else {
		return float64(float32(m))
	}
}

// fill writes the pixels of two blocks, less their centers, to the two halves of b and
// returns the sum of their squares. Pixels that are not finite become 0.
func fill[T transforms.Real](l *blockLayer, w *precision[T], b *fourier.Block[T], blocks [2]int, ch int, centers [2]float64) (energy float64) {
	sums := &w.sums
	t, lanes := &l.job, transforms.Lanes[T]()
	c := t.Src.Channels
	bytes := t.Src.Data // if Type is U8
	fast := t.Src.Type == raster.U8 && c == 1 && w.fillLines != nil
	clear(sums[:])
	pixels := w.values[:]
	for x := 0; x < l.nx; x += lanes {
		g := b.Group(x)
		for part, block := range blocks {
			x0, y0 := l.place(block)
			n := max(0, min(lanes, t.Src.Width-x0-x))
			h := min(l.ny, t.Src.Height-y0)
			if block >= l.blocks || n == 0 {
				h = 0
			}
			center := centers[part]
			if fast && n == lanes && h > 0 {
				w.fillLines(t.set.Level, g[part*lanes:], bytes[y0*t.Src.Stride+x0+x:], t.Src.Stride, h, float32(center), sums)
				clearLines(g[part*lanes:], h, l.ny)
				continue
			}
			for y := range h {
				line := g[(2*y+part)*lanes:][:lanes]
				windows.FloatsOf(t.Src.Type, pixels[:n], t.Src.From((y0+y)*t.Src.Stride+(x0+x)*c+ch), c)
				for i, v := range pixels[:n] {
					v -= center
					if v-v != 0 {
						v = 0
					}
					line[i] = T(v)
					energy += float64(v * v)
				}
				clear(line[n:])
			}
			clearLines(g[part*lanes:], h, l.ny)
		}
	}
	for _, v := range sums {
		energy += float64(v)
	}
	return energy
}

// clearLines zeroes lines [from, to) of one of the two blocks.
func clearLines[T transforms.Real](lines []T, from, to int) {
	lanes := transforms.Lanes[T]()
	for y := from; y < to; y++ {
		clear(lines[2*y*lanes:][:lanes])
	}
}
