package explore

import (
	"bytes"
	"context"
	"fmt"
	"image"
	"math"
	"sync"
	"time"
	"unsafe"

	"github.com/boxsum/boxsum"
	"github.com/boxsum/boxsum/filter"
	"github.com/boxsum/boxsum/haar"
	"github.com/boxsum/boxsum/imgio"
	"github.com/boxsum/boxsum/moments"
	"github.com/boxsum/boxsum/rotated"
)

// A plane is an image in memory with its tables, of one type of pixels.
type plane interface {
	size() (width, height, channels int)
	types() (pixel, sum string)
	bounds() (low, high float64, missing bool)
	millis() float64
	bytes() int64

	tile(dst []uint8, t tile, channel int)
	heat(dst []uint8, t tile, channel int)
	box(b image.Rectangle, channel int) answer
	histogram(b image.Rectangle, channel int) *counted
	rotated(ctx context.Context, rot rotated.Rotation, r *request, channel int) (*turned, error)
	feature(ctx context.Context, f haar.Feature, at image.Point, rot *rotated.Rotation, channel int) (*featured, error)
	moments(ctx context.Context, b image.Rectangle, channel int) (moments.Moments, error)
	filter(ctx context.Context, r *request) (*filtered, error)
	threshold(ctx context.Context, r *request) (*filtered, error)
	match(ctx context.Context, r *request) (*matched, error)
	gray() boxsum.Image[uint8]
	npy() ([]byte, error)
}

// A tile is a square of an image at 1:2^level.
type tile struct {
	x, y, w, h int // of its pixels at that level
	level      int
	low, scale float64 // value v is drawn as (v-low)*scale
}

// An answer is what a box has. Sums are text, for JSON's numbers have 53 bits.
type answer struct {
	Sum     string  `json:"sum"`
	Mean    any     `json:"mean"`
	Std     any     `json:"std"`
	Area    int64   `json:"area"`
	Entries []entry `json:"entries"`
}

// An entry is one of the table that counts in a sum.
type entry struct {
	At    []int  `json:"at"` // x, y, and z of a volume
	Value string `json:"value"`
	Sign  int    `json:"sign"`
}

// statistics is what tables with squares have, and those of valid pixels.
type statistics interface {
	Mean(box image.Rectangle, channel int) float64
	StdDev(box image.Rectangle, channel int) float64
}

type raster[P filter.Pixel, S boxsum.Sum, Q boxsum.Square] struct {
	img       boxsum.Image[P]
	sums      *boxsum.Table[S]
	stats     statistics
	valid     *boxsum.ValidTable[S, Q] // where some pixels are missing
	low, high float64
	took      time.Duration

	counts func() []*coarse[P] // of each channel

	mu    sync.Mutex
	turns map[rotated.Rotation]*rotated.SquaredTable[Q, Q] // sums of 64 bits: entries may be below 0
	order []rotated.Rotation
}

// newRaster makes the tables of an image.
func newRaster[P filter.Pixel, S boxsum.Sum, Q boxsum.Square](ctx context.Context, img boxsum.Image[P]) (plane, error) {
	r := &raster[P, S, Q]{img: img, turns: map[rotated.Rotation]*rotated.SquaredTable[Q, Q]{}}
	missing := false
	r.low, r.high, missing = rangeOf(img)
	opt := &boxsum.Options{Context: ctx}
	start := time.Now()
	if missing {
		t, err := boxsum.IntegrateValid[S, Q](img, boxsum.Valid{SkipNaN: true}, opt)
		if err != nil {
			return nil, err
		}
		r.sums, r.stats, r.valid = t.Sum, t, t
	} else {
		t, err := boxsum.IntegrateSquares[S, Q](img, opt)
		if err != nil {
			return nil, err
		}
		r.sums, r.stats = t.Sum, t
	}
	r.took = time.Since(start)
	r.counts = sync.OnceValue(func() (all []*coarse[P]) {
		for c := range img.Channels {
			all = append(all, newCoarse(img, c, r.low, r.high))
		}
		return all
	})
	return r, nil
}

// rangeOf is the least and the greatest value, and whether there are NaN.
func rangeOf[P filter.Pixel](img boxsum.Image[P]) (low, high float64, missing bool) {
	if unsafe.Sizeof(*new(P)) == 1 {
		return 0, 255, false
	}
	low, high = math.Inf(1), math.Inf(-1)
	for y := range img.Height {
		for _, p := range img.Row(y)[:img.Width*img.Channels] {
			v := float64(p)
			switch {
			case v != v:
				missing = true
			case math.IsInf(v, 0):
			default:
				low, high = min(low, v), max(high, v)
			}
		}
	}
	if low > high {
		return 0, 1, missing
	}
	if low == high {
		high = low + 1
	}
	return low, high, missing
}

func (r *raster[P, S, Q]) size() (int, int, int) { return r.img.Width, r.img.Height, r.img.Channels }

func (r *raster[P, S, Q]) types() (string, string) {
	return fmt.Sprintf("%T", *new(P)), fmt.Sprintf("%T", *new(S))
}

func (r *raster[P, S, Q]) bounds() (float64, float64, bool) { return r.low, r.high, r.valid != nil }
func (r *raster[P, S, Q]) millis() float64                  { return float64(r.took.Microseconds()) / 1000 }

func (r *raster[P, S, Q]) bytes() int64 {
	n := int64(r.img.Width) * int64(r.img.Height) * int64(r.img.Channels)
	per := unsafe.Sizeof(*new(P)) + unsafe.Sizeof(*new(S)) + unsafe.Sizeof(*new(Q))
	return n * int64(per)
}

// tile draws means of 2^level pixels across and down, from the table: four reads each.
func (r *raster[P, S, Q]) tile(dst []uint8, t tile, channel int) {
	c, n := r.img.Channels, 1<<t.level
	for y := range t.h {
		out := dst[y*t.w:][:t.w]
		if t.level == 0 {
			row := r.img.Row(t.y + y)[t.x*c+channel:]
			for x := range out {
				out[x] = shade(float64(row[x*c]), t)
			}
			continue
		}
		y0, y1 := (t.y+y)*n, min((t.y+y+1)*n, r.img.Height)
		top, bottom := r.sums.Sums[y0*r.sums.Stride+channel:], r.sums.Sums[y1*r.sums.Stride+channel:]
		for x := range out {
			x0, x1 := (t.x+x)*n, min((t.x+x+1)*n, r.img.Width)
			sum := float64(bottom[x1*c] - bottom[x0*c] - top[x1*c] + top[x0*c])
			area := float64((x1 - x0) * (y1 - y0))
			if r.valid != nil {
				area = float64(r.valid.Area(image.Rect(x0, y0, x1, y1), channel))
			}
			out[x] = shade(sum/area, t)
		}
	}
}

// shade is a value between black and white; what is no number is in the middle.
func shade(v float64, t tile) uint8 {
	if v != v {
		return 128
	}
	return uint8(min(max((v-t.low)*t.scale, 0), 255) + 0.5)
}

// heat draws the table: 255 is its greatest entry.
func (r *raster[P, S, Q]) heat(dst []uint8, t tile, channel int) {
	c := r.img.Channels
	last := float64(r.sums.At(r.img.Width, r.img.Height, channel))
	scale := 255 / math.Abs(last)
	for y := range t.h {
		row := r.sums.Sums[min((t.y+y)<<t.level, r.img.Height)*r.sums.Stride+channel:]
		for x := range t.w {
			v := math.Abs(float64(row[min((t.x+x)<<t.level, r.img.Width)*c])) * scale
			if v != v {
				v = 0
			}
			dst[y*t.w+x] = uint8(min(v, 255))
		}
	}
}

func (r *raster[P, S, Q]) box(b image.Rectangle, channel int) answer {
	b = b.Intersect(image.Rect(0, 0, r.img.Width, r.img.Height))
	a := answer{Area: int64(b.Dx()) * int64(b.Dy())}
	if r.valid != nil {
		a.Area = int64(r.valid.Area(b, channel))
	}
	if b.Empty() {
		b = image.Rectangle{}
	}
	a.Sum, a.Mean, a.Std = fmt.Sprint(r.sums.SumChannel(b, channel)), finite(r.stats.Mean(b, channel)), finite(r.stats.StdDev(b, channel))
	for _, e := range []struct{ x, y, sign int }{{b.Max.X, b.Max.Y, 1}, {b.Min.X, b.Max.Y, -1}, {b.Max.X, b.Min.Y, -1}, {b.Min.X, b.Min.Y, 1}} {
		a.Entries = append(a.Entries, entry{[]int{e.x, e.y}, fmt.Sprint(r.sums.At(e.x, e.y, channel)), e.sign})
	}
	return a
}

// maxTurns is how many tables at an angle are kept: each is as large as an upright one.
const maxTurns = 2

func (r *raster[P, S, Q]) turn(ctx context.Context, rot rotated.Rotation) (*rotated.SquaredTable[Q, Q], error) {
	r.mu.Lock()
	defer r.mu.Unlock()
	if t := r.turns[rot]; t != nil {
		return t, nil
	}
	if n := int64(r.img.Width) * int64(r.img.Height); n > maxTurned {
		return nil, refuse("tables at an angle are made of up to %d megapixels, and this image has %d", maxTurned>>20, n>>20)
	}
	t, err := rotated.IntegrateSquares[Q, Q](r.img, rot, &rotated.Options{Context: ctx})
	if err != nil {
		return nil, err
	}
	if len(r.order) >= maxTurns {
		delete(r.turns, r.order[0])
		r.order = r.order[1:]
	}
	r.turns[rot], r.order = t, append(r.order, rot)
	return t, nil
}

const maxTurned = 64 << 20

// A turned is a box at an angle.
type turned struct {
	answer
	Ratio   string   `json:"ratio"`
	Degrees float64  `json:"degrees"`
	Cells   []int    `json:"cells"` // c0, r0, c1, r1
	Spans   [][3]int `json:"spans"` // y, and from which x to which
	Counts  *counted `json:"histogram"`
}

func (r *raster[P, S, Q]) rotated(ctx context.Context, rot rotated.Rotation, q *request, channel int) (*turned, error) {
	t, err := r.turn(ctx, rot)
	if err != nil {
		return nil, err
	}
	b, err := t.Sum.FromRectangle(rotated.Rectangle{X: q.Rect[0], Y: q.Rect[1], Width: q.Rect[2], Height: q.Rect[3], Degrees: q.Rect[4]})
	if err != nil {
		return nil, err
	}
	a := &turned{Ratio: rot.String(), Degrees: rot.Degrees(), Cells: []int{b.C0, b.R0, b.C1, b.R1}}
	a.Sum, a.Area = fmt.Sprint(t.Sum.SumChannel(b, channel)), t.Sum.Area(b)
	a.Mean, a.Std = finite(t.Mean(b, channel)), finite(t.StdDev(b, channel))
	a.Spans = spans(t.Sum.Lattice, b, r.img.Width, r.img.Height)
	a.Counts = r.counts()[channel].ofSpans(a.Spans)
	for _, e := range []struct{ c, r, sign int }{{b.C1, b.R1, 1}, {b.C0, b.R1, -1}, {b.C1, b.R0, -1}, {b.C0, b.R0, 1}} {
		x, y, _ := t.Sum.Point(e.c, e.r)
		a.Entries = append(a.Entries, entry{[]int{x, y}, signed(t.Sum.Corner(e.c, e.r, channel)), e.sign})
	}
	return a, nil
}

// signed is an entry at an angle, which may be below 0.
func signed[Q boxsum.Square](v Q) string {
	if n, ok := any(v).(uint64); ok {
		return fmt.Sprint(int64(n))
	}
	return fmt.Sprint(v)
}

// spans are the pixels of a box, row by row.
func spans(l *rotated.Lattice, b rotated.Box, width, height int) (list [][3]int) {
	list = [][3]int{}
	inside := func(x, y int) bool {
		c, r := l.Cell(x, y)
		return c >= b.C0 && c < b.C1 && r >= b.R0 && r < b.R1
	}
	top, bottom := height, -1
	left, right := width, -1
	for _, p := range [][2]int{{b.C0, b.R0}, {b.C1, b.R0}, {b.C0, b.R1}, {b.C1, b.R1}} {
		x, y, _ := l.Point(p[0], p[1])
		top, bottom, left, right = min(top, y-3), max(bottom, y+3), min(left, x-3), max(right, x+3)
	}
	top, bottom, left, right = max(top, 0), min(bottom, height-1), max(left, 0), min(right, width-1)
	for y := top; y <= bottom; y++ {
		from := -1
		for x := left; x <= right; x++ {
			if inside(x, y) {
				if from < 0 {
					from = x
				}
			} else if from >= 0 {
				list = append(list, [3]int{y, from, x})
				from = -1
			}
		}
		if from >= 0 {
			list = append(list, [3]int{y, from, right + 1})
		}
	}
	return list
}

// A featured is the value of a Haar-like feature.
type featured struct {
	Kind      string `json:"kind"`
	Value     string `json:"value"`
	Corrected any    `json:"corrected"`
	Plus      int64  `json:"plus"` // areas
	Minus     int64  `json:"minus"`
	Ratio     string `json:"ratio,omitempty"`
	Parts     []part `json:"parts"`
}

// A part is a weighted box of a feature.
type part struct {
	Box    []int    `json:"box"`
	Weight int      `json:"weight"`
	Spans  [][3]int `json:"spans,omitempty"` // at an angle
}

// move has the parts of a feature lie in the image that its pixels were cut out of.
func (a *featured) move(x, y int) {
	for _, p := range a.Parts {
		for i := range p.Box {
			p.Box[i] += []int{x, y}[i%2]
		}
		for i, s := range p.Spans {
			p.Spans[i] = [3]int{s[0] + y, s[1] + x, s[2] + x}
		}
	}
}

func (r *raster[P, S, Q]) feature(ctx context.Context, f haar.Feature, at image.Point, rot *rotated.Rotation, channel int) (*featured, error) {
	a := &featured{Kind: f.Kind().String()}
	for _, b := range f.Boxes() {
		p := part{Box: []int{b.Bounds.Min.X + at.X, b.Bounds.Min.Y + at.Y, b.Bounds.Max.X + at.X, b.Bounds.Max.Y + at.Y}, Weight: b.Weight}
		a.Parts = append(a.Parts, p)
	}
	if rot == nil {
		return a, a.evaluate(f, at, func() (evaluator, error) { return orNone(haar.Upright[float64](r.sums, channel)) },
			func() (evaluator64, error) { return orNone64(haar.Upright[int64](r.sums, channel)) }, S(1)/2 == 0)
	}
	t, err := r.turn(ctx, *rot)
	if err != nil {
		return nil, err
	}
	a.Ratio = rot.String()
	for i, b := range f.Boxes() {
		a.Parts[i].Spans = spans(t.Sum.Lattice, haar.Cells(t.Sum.Lattice, b.Bounds, at), r.img.Width, r.img.Height)
	}
	return a, a.evaluate(f, at, func() (evaluator, error) { return orNone(haar.Rotated[float64](t.Sum, channel)) },
		func() (evaluator64, error) { return orNone64(haar.Rotated[int64](t.Sum, channel)) }, S(1)/2 == 0)
}

// An evaluator is a plane of package haar, of any type of sums, and evaluator64 one of whole numbers.
type evaluator interface {
	Value(f haar.Feature, at image.Point) (float64, error)
	Corrected(f haar.Feature, at image.Point) (float64, error)
	Areas(f haar.Feature, at image.Point) (plus, minus int64, err error)
}

type evaluator64 interface {
	Value(f haar.Feature, at image.Point) (int64, error)
}

func orNone[S boxsum.Sum](p *haar.Plane[float64, S], err error) (evaluator, error)   { return p, err }
func orNone64[S boxsum.Sum](p *haar.Plane[int64, S], err error) (evaluator64, error) { return p, err }

// evaluate fills in the values of a feature.
func (a *featured) evaluate(f haar.Feature, at image.Point, plane func() (evaluator, error), exact func() (evaluator64, error), whole bool) error {
	p, err := plane()
	if err != nil {
		return err
	}
	v, err := p.Value(f, at)
	if err != nil {
		return err
	}
	a.Value = fmt.Sprint(v)
	if whole {
		e, err := exact()
		if err != nil {
			return err
		}
		n, err := e.Value(f, at)
		if err != nil {
			return err
		}
		a.Value = fmt.Sprint(n)
	}
	corrected, err := p.Corrected(f, at)
	if err != nil {
		return err
	}
	a.Corrected = finite(corrected)
	a.Plus, a.Minus, err = p.Areas(f, at)
	return err
}

// maxMoments is how much memory the moments of one box may take.
const maxMoments = 1 << 30

func (r *raster[P, S, Q]) moments(ctx context.Context, b image.Rectangle, channel int) (m moments.Moments, err error) {
	b = b.Intersect(image.Rect(0, 0, r.img.Width, r.img.Height))
	if b.Empty() {
		return m, nil
	}
	if n, err := moments.Bytes[P](b.Dx(), b.Dy(), r.img.Channels); err != nil || n > maxMoments {
		return m, refuse("the moments of %d×%d pixels take %s: take a smaller box", b.Dx(), b.Dy(), size(n))
	}
	one := r.img
	one.Width, one.Height = b.Dx(), b.Dy()
	one.Pix = r.img.Pix[b.Min.Y*r.img.Stride+b.Min.X*r.img.Channels:]
	t, err := moments.Integrate(one, &moments.Options{Context: ctx})
	if err != nil {
		return m, err
	}
	return t.Moments(image.Rect(0, 0, b.Dx(), b.Dy()), channel), nil
}

// gray is the image as cascades take it.
func (r *raster[P, S, Q]) gray() boxsum.Image[uint8] {
	if img, ok := any(r.img).(boxsum.Image[uint8]); ok {
		return img
	}
	g := boxsum.Image[uint8]{Pix: make([]uint8, r.img.Width*r.img.Height), Stride: r.img.Width, Width: r.img.Width, Height: r.img.Height, Channels: 1}
	t := tile{w: r.img.Width, h: r.img.Height, low: r.low, scale: 255 / (r.high - r.low)}
	r.tile(g.Pix, t, 0)
	return g
}

// npy is the pixels as a file.
func (r *raster[P, S, Q]) npy() ([]byte, error) {
	shape := []int{r.img.Height, r.img.Width}
	if r.img.Channels > 1 {
		shape = append(shape, r.img.Channels)
	}
	var b bytes.Buffer
	err := imgio.WriteNPY(&b, shape, func(yield func([]P) bool) {
		for y := range r.img.Height {
			if !yield(r.img.Row(y)[:r.img.Width*r.img.Channels]) {
				return
			}
		}
	})
	return b.Bytes(), err
}
