package explore

import (
	"bytes"
	"cmp"
	"context"
	"fmt"
	"image"
	"math"
	"sync"
	"time"

	"github.com/boxsum/boxsum"
	"github.com/boxsum/boxsum/filter"
	"github.com/boxsum/boxsum/haar"
	"github.com/boxsum/boxsum/imgio"
	"github.com/boxsum/boxsum/internal/engine"
	"github.com/boxsum/boxsum/internal/pixels"
	"github.com/boxsum/boxsum/internal/raster"
	"github.com/boxsum/boxsum/internal/typed"
	"github.com/boxsum/boxsum/moments"
	"github.com/boxsum/boxsum/rotated"
)

// A plane is an image of any pixel type in memory, with its tables.
type plane interface {
	size() (width, height, channels int)
	types() (pixel, sum string)
	bounds() (low, high float64, missing bool)
	millis() float64
	bytes() int64

	tile(dst []uint8, t tile, channel int)
	heat(dst []uint8, t tile, channel int)
	turnedHeat(ctx context.Context, dst []uint8, t tile, rot rotated.Rotation, channel int) error
	box(b image.Rectangle, channel int) answer
	histogram(b image.Rectangle, channel int) *counted
	rotated(ctx context.Context, rot rotated.Rotation, r *request, channel int) (*turned, error)
	feature(ctx context.Context, f haar.Feature, at image.Point, rot *rotated.Rotation, channel int) (*featured, error)
	moments(ctx context.Context, b image.Rectangle, channel int) (moments.Moments, error)
	filter(ctx context.Context, r *request, s *screen, channels []int) (*filtered, error)
	threshold(ctx context.Context, r *request, s *screen, channel int) (*filtered, error)
	match(ctx context.Context, r *request) (*matched, error)
	gray() boxsum.Image[uint8]
	npy() ([]byte, error)
}

// A tile is a square of an image at 1:2^level.
type tile struct {
	x, y, w, h int // in pixels of that level
	level      int
	low, scale float64 // value v is drawn as (v-low)*scale
}

// An answer holds the statistics of a box. Sums are text because numbers in JSON have 53 bits.
type answer struct {
	Sum     string  `json:"sum"`
	Mean    any     `json:"mean"`
	Std     any     `json:"std"`
	Area    int64   `json:"area"`
	Entries []entry `json:"entries"`
}

// An entry is an entry of the table that contributes to a sum.
type entry struct {
	At    []int  `json:"at"` // x, y, and z of a volume
	Value string `json:"value"`
	Sign  int    `json:"sign"`
}

// statistics is the method set of tables with squares and of tables of valid pixels.
type statistics interface {
	Mean(box image.Rectangle, channel int) float64
	StdDev(box image.Rectangle, channel int) float64
}

// planeTables is an image and its tables, of any of the types in newPlane.
type planeTables struct {
	img                     any
	width, height, channels int
	sums, squares           any // of type *boxsum.Table; nil for a color image
	stats                   statistics
	valid                   interface {
		Area(box image.Rectangle, channel int) int
	} // nil unless pixels are missing
	pixel, sum, square raster.Type
	low, high          float64
	took               time.Duration

	counts func() []*coarse // of each channel

	mu    sync.Mutex
	turns map[rotated.Rotation]*turnedTable
	order []rotated.Rotation
	last  *reduced // the part that was filtered last
	owner *picture // the picture of a color image
}

// newPlaneTables computes the tables of an image.
func newPlaneTables[P filter.Pixel, S boxsum.Sum, Q boxsum.Square](ctx context.Context, img boxsum.Image[P]) (plane, error) {
	r := &planeTables{
		img: img, width: img.Width, height: img.Height, channels: img.Channels,
		pixel: raster.TypeOf[P](), sum: raster.TypeOf[S](), square: raster.TypeOf[Q](), turns: map[rotated.Rotation]*turnedTable{},
	}
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
		r.sums, r.squares, r.stats = t.Sum, t.Squares, t
	}
	r.took = time.Since(start)
	r.counts = sync.OnceValue(r.count)
	return r, nil
}

// newColor returns the color image of a picture, for filters. Its tables are computed when a filter needs them.
func newColor(owner *picture, img boxsum.Image[uint8]) *planeTables {
	return &planeTables{owner: owner, img: img, width: img.Width, height: img.Height, channels: img.Channels, pixel: raster.U8, low: 0, high: 255}
}

// colorTables holds the tables of the color image that was filtered last. They are large, so all pages share one pair.
var colorTables struct {
	sync.Mutex
	of            *planeTables
	sums, squares any
}

// maxColorTables is the memory that color tables may take, in bytes: with squares, 17 megapixels of three channels.
const maxColorTables = 640 << 20

// tables returns the tables of the image, or nil if windows cannot be summed from tables.
func (r *planeTables) tables(ctx context.Context, squared bool) (sums, squares any, err error) {
	if r.valid != nil {
		return nil, nil, nil
	}
	if r.sums != nil {
		if t, ok := r.sums.(*boxsum.Table[float64]); ok && t.Offset != 0 {
			return nil, nil, nil
		}
		return r.sums, r.squares, nil
	}
	values := int64(r.width) * int64(r.height) * int64(r.channels)
	if squared && 12*values > maxColorTables || 4*values > maxColorTables {
		return nil, nil, nil
	}
	t := &colorTables
	t.Lock()
	defer t.Unlock()
	if t.of != r {
		t.of, t.sums, t.squares = r, nil, nil
	}
	img, opt := r.img.(boxsum.Image[uint8]), &boxsum.Options{Context: ctx}
	if squared && t.squares == nil {
		both, err := boxsum.IntegrateSquares[uint32, uint64](img, opt)
		if err != nil {
			return nil, nil, err
		}
		t.sums, t.squares = both.Sum, both.Squares
	}
	if t.sums == nil {
		// The sum of a window of up to maxWindow pixels a side fits, so the table may wrap.
		if t.sums, err = boxsum.Integrate[uint32](img, opt); err != nil {
			t.sums = nil
			return nil, nil, err
		}
	}
	return t.sums, t.squares, nil
}

// forgetColor drops the color tables of a picture.
func forgetColor(of *picture) {
	t := &colorTables
	t.Lock()
	defer t.Unlock()
	if t.of != nil && t.of.owner == of {
		t.of, t.sums, t.squares = nil, nil, nil
	}
}

// count computes the histograms of all channels.
func (r *planeTables) count() (all []*coarse) {
	for c := range r.channels {
		all = append(all, newCoarse(r.img, c, r.low, r.high))
	}
	return all
}

// rangeOf returns the smallest and largest values, and whether there are NaNs.
func rangeOf(img any) (low, high float64, missing bool) {
	src := pixels.Of(img)
	if src.Type == raster.U8 {
		return 0, 255, false
	}
	low, high = math.Inf(1), math.Inf(-1)
	var row []float64
	for y := range src.Height {
		row = src.Floats(row[:0], y, 0, src.Width*src.Channels, 1)
		for _, v := range row {
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

func (r *planeTables) size() (int, int, int) { return r.width, r.height, r.channels }

func (r *planeTables) types() (string, string) { return r.pixel.String(), r.sum.String() }

func (r *planeTables) bounds() (float64, float64, bool) { return r.low, r.high, r.valid != nil }
func (r *planeTables) millis() float64                  { return float64(r.took.Microseconds()) / 1000 }

func (r *planeTables) bytes() int64 {
	n := int64(r.width) * int64(r.height) * int64(r.channels)
	return n * int64(r.pixel.Bytes()+r.sum.Bytes()+r.square.Bytes())
}

// tile draws means of 2^level×2^level pixels from the table, with four reads each.
func (r *planeTables) tile(dst []uint8, t tile, channel int) {
	c, n, src := r.channels, 1<<t.level, pixels.Of(r.img)
	means := make([]float64, t.w)
	for y := range t.h {
		if t.level == 0 {
			means = src.Floats(means[:0], t.y+y, t.x*c+channel, (t.x+t.w)*c, c)
		} else {
			box := image.Rect(t.x*n, (t.y+y)*n, min((t.x+t.w)*n, r.width), min((t.y+y+1)*n, r.height))
			switch sums := r.sums.(type) {
			case *boxsum.Table[uint32]:
				sumsAlong(means, sums, box, n, channel)
			case *boxsum.Table[uint64]:
				sumsAlong(means, sums, box, n, channel)
			case *boxsum.Table[float64]:
				sumsAlong(means, sums, box, n, channel)
			}
			for x := range means {
				one := image.Rect(box.Min.X+x*n, box.Min.Y, min(box.Min.X+(x+1)*n, box.Max.X), box.Max.Y)
				area := one.Dx() * one.Dy()
				if r.valid != nil {
					area = r.valid.Area(one, channel)
				}
				means[x] /= float64(area)
			}
		}
		for x, mean := range means {
			dst[y*t.w+x] = shade(mean, t)
		}
	}
}

// sumsAlong writes the sums of the parts of a box, each n pixels wide.
func sumsAlong[S boxsum.Sum](to []float64, t *boxsum.Table[S], box image.Rectangle, n, channel int) {
	c := t.Channels
	top, bottom := t.Sums[box.Min.Y*t.Stride+channel:], t.Sums[box.Max.Y*t.Stride+channel:]
	for x := range to {
		x0, x1 := box.Min.X+x*n, min(box.Min.X+(x+1)*n, box.Max.X)
		to[x] = float64(bottom[x1*c] - bottom[x0*c] - top[x1*c] + top[x0*c])
	}
}

// shade maps a value to a gray level between black and white; NaN is in the middle.
func shade(v float64, t tile) uint8 {
	if v != v {
		return 128
	}
	return uint8(min(max((v-t.low)*t.scale, 0), 255) + 0.5)
}

// heat draws the table; its largest entry is 255.
func (r *planeTables) heat(dst []uint8, t tile, channel int) {
	switch sums := r.sums.(type) {
	case *boxsum.Table[uint32]:
		drawEntries(dst, t, sums, channel)
	case *boxsum.Table[uint64]:
		drawEntries(dst, t, sums, channel)
	case *boxsum.Table[float64]:
		drawEntries(dst, t, sums, channel)
	}
}

// turnedHeat draws the table at an angle: each pixel shows its entry, and 255 is the sum of all pixels.
func (r *planeTables) turnedHeat(ctx context.Context, dst []uint8, t tile, rot rotated.Rotation, channel int) error {
	table, err := r.turn(ctx, rot)
	if err != nil {
		return err
	}
	all := math.Abs(float64(r.total(channel)))
	for y := range t.h {
		for x := range t.w {
			c, row := table.Cell((t.x+x)<<t.level, (t.y+y)<<t.level)
			v := 255 * math.Abs(table.entry(c, row, channel)) / all
			if v != v {
				v = 0
			}
			dst[y*t.w+x] = uint8(min(v, 255))
		}
	}
	return nil
}

// total returns the sum of all pixels.
func (r *planeTables) total(channel int) float64 {
	switch t := r.sums.(type) {
	case *boxsum.Table[uint32]:
		return float64(t.At(t.Width, t.Height, channel))
	case *boxsum.Table[uint64]:
		return float64(t.At(t.Width, t.Height, channel))
	case *boxsum.Table[float64]:
		return t.At(t.Width, t.Height, channel)
	}
	return 0
}

func drawEntries[S boxsum.Sum](dst []uint8, t tile, sums *boxsum.Table[S], channel int) {
	scale := 255 / math.Abs(float64(sums.At(sums.Width, sums.Height, channel)))
	for y := range t.h {
		row := sums.Sums[min((t.y+y)<<t.level, sums.Height)*sums.Stride+channel:]
		for x := range t.w {
			v := math.Abs(float64(row[min((t.x+x)<<t.level, sums.Width)*sums.Channels])) * scale
			if v != v {
				v = 0
			}
			dst[y*t.w+x] = uint8(min(v, 255))
		}
	}
}

func (r *planeTables) box(b image.Rectangle, channel int) answer {
	b = b.Intersect(image.Rect(0, 0, r.width, r.height))
	a := answer{Area: int64(b.Dx()) * int64(b.Dy())}
	if r.valid != nil {
		a.Area = int64(r.valid.Area(b, channel))
	}
	if b.Empty() {
		b = image.Rectangle{}
	}
	var sum any
	var at func(x, y int) any
	switch t := r.sums.(type) {
	case *boxsum.Table[uint32]:
		sum, at = t.SumChannel(b, channel), func(x, y int) any { return t.At(x, y, channel) }
	case *boxsum.Table[uint64]:
		sum, at = t.SumChannel(b, channel), func(x, y int) any { return t.At(x, y, channel) }
	case *boxsum.Table[float64]:
		sum, at = t.SumChannel(b, channel), func(x, y int) any { return t.At(x, y, channel) }
	}
	a.Sum, a.Mean, a.Std = fmt.Sprint(sum), finite(r.stats.Mean(b, channel)), finite(r.stats.StdDev(b, channel))
	for _, e := range []struct{ x, y, sign int }{{b.Max.X, b.Max.Y, 1}, {b.Min.X, b.Max.Y, -1}, {b.Max.X, b.Min.Y, -1}, {b.Min.X, b.Min.Y, 1}} {
		a.Entries = append(a.Entries, entry{[]int{e.x, e.y}, fmt.Sprint(at(e.x, e.y)), e.sign})
	}
	return a
}

// maxTurns is the number of tables at an angle that are kept; each is as large as an upright one.
const maxTurns = 2

// A turnedTable is a table at an angle, with 64-bit sums; entries may be negative.
type turnedTable struct {
	*rotated.Lattice
	table typed.Rotated // of uint64 or float64
}

func (r *planeTables) turn(ctx context.Context, rot rotated.Rotation) (*turnedTable, error) {
	r.mu.Lock()
	defer r.mu.Unlock()
	if t := r.turns[rot]; t != nil {
		return t, nil
	}
	if n := int64(r.width) * int64(r.height); n > maxTurned {
		return nil, refuse("rotated tables on this page are limited to %d megapixels, and the image has %d", maxTurned>>20, n>>20)
	}
	t, err := turnedOf(r.img, rot, &rotated.Options{Context: ctx})
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

func turnedOf(img any, rot rotated.Rotation, opt *rotated.Options) (*turnedTable, error) {
	src, sum := pixels.Of(img), raster.U64
	if src.Type.Float() {
		sum = raster.F64
	}
	t, err := typed.IntegrateRotated(src, sum, sum, rot, opt)
	if err != nil {
		return nil, err
	}
	return &turnedTable{t.Lattice(), t}, nil
}

// sum returns the sum of a box as text.
func (t *turnedTable) sum(b rotated.Box, channel int) string {
	return fmt.Sprint(t.table.Sum(b, channel))
}

// entry returns the entry of a corner. Its sign depends on the direction of the lines.
func (t *turnedTable) entry(c, r, channel int) float64 {
	switch v := t.table.Corner(c, r, channel).(type) {
	case uint64:
		return float64(int64(v))
	default:
		return v.(float64)
	}
}

// corner returns the magnitude of a corner's entry, and the sign with which it contributes to the sum of a box.
func (t *turnedTable) corner(c, r, channel, sign int) (string, int) {
	if t.entry(c, r, channel) < 0 {
		sign = -sign
	}
	switch v := t.table.Corner(c, r, channel).(type) {
	case uint64:
		return fmt.Sprint(max(int64(v), -int64(v))), sign
	default:
		return fmt.Sprint(math.Abs(v.(float64))), sign
	}
}

const maxTurned = 64 << 20

// turned holds the answer for a box at an angle.
type turned struct {
	answer
	Ratio   string   `json:"ratio"`
	Degrees float64  `json:"degrees"`
	Cells   []int    `json:"cells"` // c0, r0, c1, r1
	Spans   [][3]int `json:"spans"` // y, first x, end x
	Counts  *counted `json:"histogram"`
}

func (r *planeTables) rotated(ctx context.Context, rot rotated.Rotation, q *request, channel int) (*turned, error) {
	t, err := r.turn(ctx, rot)
	if err != nil {
		return nil, err
	}
	b, err := t.FromRectangle(rotated.Rectangle{X: q.Rect[0], Y: q.Rect[1], Width: q.Rect[2], Height: q.Rect[3], Degrees: q.Rect[4]})
	if err != nil {
		return nil, err
	}
	a := &turned{Ratio: rot.String(), Degrees: rot.Degrees(), Cells: []int{b.C0, b.R0, b.C1, b.R1}}
	a.Sum, a.Area = t.sum(b, channel), t.Area(b)
	a.Mean, a.Std = finite(t.table.Mean(b, channel)), finite(t.table.StdDev(b, channel))
	a.Spans = spans(t.Lattice, b, r.width, r.height)
	a.Counts = r.counts()[channel].ofSpans(a.Spans)
	for _, e := range []struct{ c, r, sign int }{{b.C1, b.R1, 1}, {b.C0, b.R1, -1}, {b.C1, b.R0, -1}, {b.C0, b.R0, 1}} {
		x, y, _ := t.Point(e.c, e.r)
		value, sign := t.corner(e.c, e.r, channel, e.sign)
		a.Entries = append(a.Entries, entry{[]int{x, y}, value, sign})
	}
	return a, nil
}

// spans returns the pixels of a box, row by row.
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

// featured holds the value of a Haar-like feature.
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

// move shifts the parts of a feature from the coordinates of a cut-out to those of the image.
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

func (r *planeTables) feature(ctx context.Context, f haar.Feature, at image.Point, rot *rotated.Rotation, channel int) (*featured, error) {
	a := &featured{Kind: f.Kind().String()}
	for _, b := range f.Boxes() {
		p := part{Box: []int{b.Bounds.Min.X + at.X, b.Bounds.Min.Y + at.Y, b.Bounds.Max.X + at.X, b.Bounds.Max.Y + at.Y}, Weight: b.Weight}
		a.Parts = append(a.Parts, p)
	}
	var table interface {
		Features(channel int, values raster.Type) (*typed.Features, error)
	}
	if rot != nil {
		t, err := r.turn(ctx, *rot)
		if err != nil {
			return nil, err
		}
		a.Ratio = rot.String()
		for i, b := range f.Boxes() {
			a.Parts[i].Spans = spans(t.Lattice, haar.Cells(t.Lattice, b.Bounds, at), r.width, r.height)
		}
		table = t.table
	} else {
		t, err := r.typed()
		if err != nil {
			return nil, err
		}
		table = t
	}
	plane, err := table.Features(channel, typed.Values(r.sum))
	if err != nil {
		return nil, err
	}
	value, err1 := plane.Value(f, at)
	corrected, err2 := plane.Corrected(f, at)
	plus, minus, err3 := plane.Areas(f, at)
	if err := cmp.Or(err1, err2, err3); err != nil {
		return nil, err
	}
	a.Value, a.Corrected, a.Plus, a.Minus = fmt.Sprint(value), finite(corrected), plus, minus
	return a, nil
}

// typed returns the table of sums for queries that do not depend on its type.
func (r *planeTables) typed() (typed.Upright, error) {
	switch t := r.sums.(type) {
	case *boxsum.Table[uint32]:
		return typedOf(t)
	case *boxsum.Table[uint64]:
		return typedOf(t)
	}
	return typedOf(r.sums.(*boxsum.Table[float64]))
}

func typedOf[S boxsum.Sum](t *boxsum.Table[S]) (typed.Upright, error) {
	sums := engine.Table{Array: raster.ArrayOf(t.Sums, raster.PlaneExtent(t.Width, t.Height, t.Channels, t.Stride)), Offset: t.Offset}
	sums.Known.Bound, sums.Known.Signed = t.Bound, t.Signed
	return typed.NewUpright(&sums, nil, nil)
}

// maxMoments is the maximum memory for the moments of one box.
const maxMoments = 1 << 30

func (r *planeTables) moments(ctx context.Context, b image.Rectangle, channel int) (m moments.Moments, err error) {
	b = b.Intersect(image.Rect(0, 0, r.width, r.height))
	if b.Empty() {
		return m, nil
	}
	opt := &moments.Options{Context: ctx}
	var t *moments.Table
	switch img := r.img.(type) {
	case boxsum.Image[uint8]:
		t, err = momentsIn(img, b, opt)
	case boxsum.Image[uint16]:
		t, err = momentsIn(img, b, opt)
	case boxsum.Image[float32]:
		t, err = momentsIn(img, b, opt)
	case boxsum.Image[float64]:
		t, err = momentsIn(img, b, opt)
	}
	if err != nil {
		return m, err
	}
	return t.Moments(image.Rect(0, 0, b.Dx(), b.Dy()), channel), nil
}

func momentsIn[P filter.Pixel](img boxsum.Image[P], b image.Rectangle, opt *moments.Options) (*moments.Table, error) {
	if n, err := moments.Bytes[P](b.Dx(), b.Dy(), img.Channels); err != nil || n > maxMoments {
		return nil, refuse("the moments of %d×%d pixels need %s (use a smaller box)", b.Dx(), b.Dy(), size(n))
	}
	img.Width, img.Height = b.Dx(), b.Dy()
	img.Pix = img.Pix[b.Min.Y*img.Stride+b.Min.X*img.Channels:]
	return moments.Integrate(img, opt)
}

// gray returns the image in the form that cascades need.
func (r *planeTables) gray() boxsum.Image[uint8] {
	if img, ok := r.img.(boxsum.Image[uint8]); ok {
		return img
	}
	g := boxsum.Image[uint8]{Pix: make([]uint8, r.width*r.height), Stride: r.width, Width: r.width, Height: r.height, Channels: 1}
	t := tile{w: r.width, h: r.height, low: r.low, scale: 255 / (r.high - r.low)}
	r.tile(g.Pix, t, 0)
	return g
}

// npy returns the pixels as a .npy file.
func (r *planeTables) npy() ([]byte, error) { return npy(r.img) }

func npy(img any) ([]byte, error) {
	var b bytes.Buffer
	err := imgio.Encode(&b, "npy", img)
	return b.Bytes(), err
}
