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
	"github.com/boxsum/boxsum/haar"
	"github.com/boxsum/boxsum/imgio"
	"github.com/boxsum/boxsum/internal/engine"
	"github.com/boxsum/boxsum/internal/filters"
	"github.com/boxsum/boxsum/internal/moment"
	"github.com/boxsum/boxsum/internal/pixels"
	"github.com/boxsum/boxsum/internal/raster"
	"github.com/boxsum/boxsum/internal/stats"
	"github.com/boxsum/boxsum/internal/typed"
	"github.com/boxsum/boxsum/moments"
	"github.com/boxsum/boxsum/rotated"
)

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

// A plane is an image in memory, with its tables.
type plane struct {
	img           raster.Array
	sums, squares engine.Table  // without types for a color image
	table         typed.Upright // answers queries from the tables
	missing       bool          // some pixels are NaN, and table counts the others
	low, high     float64
	took          time.Duration

	counts func() []*coarse // of each channel

	mu    sync.Mutex
	turns map[rotated.Rotation]*turnedTable
	order []rotated.Rotation
	last  *reduced // the part that was filtered last
	owner *picture // the picture of a color image
}

// newPlane computes the tables of an image.
func newPlane(ctx context.Context, img raster.Array) (*plane, error) {
	img, err := summable(img)
	if err != nil {
		return nil, err
	}
	r := &plane{img: img, turns: map[rotated.Rotation]*turnedTable{}}
	r.low, r.high, r.missing = rangeOf(img)
	start := time.Now()
	if err := r.integrate(engine.Options{Context: ctx}); err != nil {
		return nil, err
	}
	r.took = time.Since(start)
	r.counts = sync.OnceValue(r.count)
	return r, nil
}

// summable returns an image with pixels that filters take, too: other integers become float64, which holds all of
// their values.
func summable(img raster.Array) (raster.Array, error) {
	switch {
	case filters.TakesPixels(img.Type):
		return img, nil
	case raster.SumPairs.For(raster.Tilted).Default(img.Type) != 0:
		return floats(img), nil
	}
	return img, refuse("pixels of %v cannot be summed, want integers of at most 32 bits or floats", img.Type)
}

// floats converts an image to float64.
func floats(img raster.Array) raster.Array {
	n := img.Width * img.Channels
	f := raster.ArrayOf(make([]float64, n*img.Height), raster.PlaneExtent(img.Width, img.Height, img.Channels, n))
	for y := range img.Height {
		img.Floats(raster.Elems[float64](f.Row(y))[:0], y, 0, n, 1)
	}
	return f
}

// sumTypes returns the types of the sums and of the squares of n pixels.
func sumTypes(pixel raster.Type, n int64) (sum, square raster.Type) {
	switch {
	case pixel.Float():
		return raster.F64, raster.F64
	case pixel == raster.U8 && n*255 < 1<<32:
		return raster.U32, raster.U64
	}
	return raster.U64, raster.U64
}

// integrate computes the tables.
func (r *plane) integrate(opt engine.Options) (err error) {
	job := engine.ValidJob{Job: engine.Job{Kind: engine.Upright, Src: r.img, Options: opt}, NaN: true}
	job.Sums.Type, job.Squares.Type = sumTypes(r.img.Type, int64(r.img.Width)*int64(r.img.Height))
	if err := allocate(&job.Job); err != nil {
		return err
	}
	var count *engine.Table
	if r.missing {
		if err = job.Check(); err == nil {
			job.Count.Array, err = raster.NewTable(raster.U32, r.img.Extent)
		}
		if count = &job.Count; err == nil {
			err = job.Run()
		}
	} else if err = job.Job.Check(); err == nil {
		err = job.Job.Run()
	}
	if err != nil {
		return err
	}
	r.sums, r.squares = job.Sums, job.Squares
	r.table, err = typed.NewUpright(&r.sums, &r.squares, count)
	return err
}

// allocate allocates the tables of a job that have a type.
func allocate(job *engine.Job) error {
	err := raster.Fit(job.Src.Extent, job.Sums.Type.Bytes()+job.Squares.Type.Bytes())
	for _, t := range []*engine.Table{&job.Sums, &job.Squares} {
		if t.Type != 0 && err == nil {
			t.Array, err = raster.NewTable(t.Type, job.Src.Extent)
		}
	}
	return err
}

// newColor returns the color image of a picture, for filters. Its tables are computed when a filter needs them.
func newColor(owner *picture, img boxsum.Image[uint8]) *plane {
	return &plane{owner: owner, img: pixels.Of(img), low: 0, high: 255}
}

// colorTables holds the tables of the color image that was filtered last. They are large, so all pages share one pair.
var colorTables struct {
	sync.Mutex
	of            *plane
	sums, squares *engine.Table // nil if there are none yet
}

// maxColorTables is the memory that color tables may take, in bytes: with squares, 17 megapixels of three channels.
const maxColorTables = 640 << 20

// tables returns the tables of the image, or nil if windows cannot be summed from tables.
func (r *plane) tables(ctx context.Context, squared bool) (sums, squares *engine.Table, err error) {
	if r.table != nil {
		if r.missing || r.sums.Offset != 0 {
			return nil, nil, nil
		}
		return &r.sums, &r.squares, nil
	}
	values := int64(r.img.Width) * int64(r.img.Height) * int64(r.img.Channels)
	if squared && 12*values > maxColorTables || 4*values > maxColorTables {
		return nil, nil, nil
	}
	t := &colorTables
	t.Lock()
	defer t.Unlock()
	if t.of != r {
		t.of, t.sums, t.squares = r, nil, nil
	}
	if t.sums == nil || squared && t.squares == nil {
		// The sum of a window of up to maxWindow pixels a side fits, so the table may wrap.
		job := engine.Job{Kind: engine.Upright, Src: r.img, Options: engine.Options{Context: ctx}}
		if job.Sums.Type = raster.U32; squared {
			job.Squares.Type = raster.U64
		}
		err := job.Check()
		if err == nil {
			err = allocate(&job)
		}
		if err == nil {
			err = job.Run()
		}
		if err != nil {
			return nil, nil, err
		}
		if t.sums = &job.Sums; squared {
			t.squares = &job.Squares
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
func (r *plane) count() (all []*coarse) {
	for c := range r.img.Channels {
		all = append(all, newCoarse(r.img, c, r.low, r.high))
	}
	return all
}

// rangeOf returns the smallest and largest values, and whether there are NaNs.
func rangeOf(src raster.Array) (low, high float64, missing bool) {
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

func (r *plane) size() (int, int, int) { return r.img.Width, r.img.Height, r.img.Channels }

func (r *plane) types() (string, string) { return r.img.Type.String(), r.sums.Type.String() }

func (r *plane) bounds() (float64, float64, bool) { return r.low, r.high, r.missing }
func (r *plane) millis() float64                  { return float64(r.took.Microseconds()) / 1000 }

func (r *plane) bytes() int64 {
	n := int64(r.img.Width) * int64(r.img.Height) * int64(r.img.Channels)
	return n * int64(r.img.Type.Bytes()+r.sums.Type.Bytes()+r.squares.Type.Bytes())
}

// area returns the number of pixels that are summed in a box, which must lie in the image.
func (r *plane) area(b image.Rectangle, channel int) int {
	if r.missing {
		return r.table.Area(b, channel)
	}
	return b.Dx() * b.Dy()
}

// tile draws means of 2^level×2^level pixels from the table, with four reads each.
func (r *plane) tile(dst []uint8, t tile, channel int) {
	c, n, src := r.img.Channels, 1<<t.level, &r.img
	means := make([]float64, t.w)
	for y := range t.h {
		if t.level == 0 {
			means = src.Floats(means[:0], t.y+y, t.x*c+channel, (t.x+t.w)*c, c)
		} else {
			box := image.Rect(t.x*n, (t.y+y)*n, min((t.x+t.w)*n, src.Width), min((t.y+y+1)*n, src.Height))
			sumsAlong[r.sums.Type](means, &r.sums.Array, box, n, channel)
			for x := range means {
				one := image.Rect(box.Min.X+x*n, box.Min.Y, min(box.Min.X+(x+1)*n, box.Max.X), box.Max.Y)
				means[x] = float64(r.sums.Offset) + means[x]/float64(r.area(one, channel))
			}
		}
		for x, mean := range means {
			dst[y*t.w+x] = shade(mean, t)
		}
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
func (r *plane) heat(dst []uint8, t tile, channel int) {
	c, step := r.img.Channels, 1<<t.level
	scale := 255 / math.Abs(r.total(channel))
	var row []float64
	for y := range t.h {
		at := (t.y + y) * step
		row = r.sums.Floats(row[:0], at, t.x*step*c+channel, (t.x+t.w-1)*step*c+channel+1, step*c)
		for x, v := range row {
			if r.sums.Offset != 0 {
				v += float64(r.sums.Offset) * float64(r.area(image.Rect(0, 0, (t.x+x)*step, at), channel))
			}
			if v = math.Abs(v) * scale; v != v {
				v = 0
			}
			dst[y*t.w+x] = uint8(min(v, 255))
		}
	}
}

// turnedHeat draws the table at an angle: each pixel shows its entry, and 255 is the sum of all pixels.
func (r *plane) turnedHeat(ctx context.Context, dst []uint8, t tile, rot rotated.Rotation, channel int) error {
	table, err := r.turn(ctx, rot)
	if err != nil {
		return err
	}
	all := math.Abs(r.total(channel))
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
func (r *plane) total(channel int) float64 {
	return r.table.Sum(image.Rect(0, 0, r.img.Width, r.img.Height), channel).Float()
}

func (r *plane) box(b image.Rectangle, channel int) answer {
	if b = b.Intersect(image.Rect(0, 0, r.img.Width, r.img.Height)); b.Empty() {
		b = image.Rectangle{}
	}
	a := answer{
		Area: int64(r.area(b, channel)), Sum: r.table.Sum(b, channel).String(),
		Mean: finite(r.table.Mean(b, channel)), Std: finite(r.table.StdDev(b, channel)),
	}
	for _, e := range []struct{ x, y, sign int }{{b.Max.X, b.Max.Y, 1}, {b.Min.X, b.Max.Y, -1}, {b.Max.X, b.Min.Y, -1}, {b.Min.X, b.Min.Y, 1}} {
		value := r.table.Sum(image.Rect(0, 0, e.x, e.y), channel)
		a.Entries = append(a.Entries, entry{[]int{e.x, e.y}, value.String(), e.sign})
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

func (r *plane) turn(ctx context.Context, rot rotated.Rotation) (*turnedTable, error) {
	r.mu.Lock()
	defer r.mu.Unlock()
	if t := r.turns[rot]; t != nil {
		return t, nil
	}
	if n := int64(r.img.Width) * int64(r.img.Height); n > maxTurned {
		return nil, refuse("the image has %d megapixels, want at most %d for rotated tables on this page (use boxsum integrate --rotate)", n>>20, maxTurned>>20)
	}
	t, err := turnedOf(r.img, rot, engine.Options{Context: ctx})
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

func turnedOf(src raster.Array, rot rotated.Rotation, opt engine.Options) (*turnedTable, error) {
	sum := raster.U64
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
	return t.table.Sum(b, channel).String()
}

// entry returns the entry of a corner. Its sign depends on the direction of the lines.
func (t *turnedTable) entry(c, r, channel int) float64 {
	e := t.table.Corner(c, r, channel)
	if e.Type().Float() {
		return e.Float()
	}
	return float64(stats.NumberOf[int64](e))
}

// corner returns the magnitude of a corner's entry, and the sign with which it contributes to the sum of a box.
func (t *turnedTable) corner(c, r, channel, sign int) (string, int) {
	if t.entry(c, r, channel) < 0 {
		sign = -sign
	}
	e := t.table.Corner(c, r, channel)
	if e.Type().Float() {
		return fmt.Sprint(math.Abs(e.Float())), sign
	}
	v := stats.NumberOf[int64](e)
	return fmt.Sprint(max(v, -v)), sign
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

func (r *plane) rotated(ctx context.Context, rot rotated.Rotation, q *request, channel int) (*turned, error) {
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
	a.Spans = spans(t.Lattice, b, r.img.Width, r.img.Height)
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

func (r *plane) feature(ctx context.Context, f haar.Feature, at image.Point, rot *rotated.Rotation, channel int) (*featured, error) {
	a := &featured{Kind: f.Kind().String()}
	for _, b := range f.Boxes() {
		p := part{Box: []int{b.Bounds.Min.X + at.X, b.Bounds.Min.Y + at.Y, b.Bounds.Max.X + at.X, b.Bounds.Max.Y + at.Y}, Weight: b.Weight}
		a.Parts = append(a.Parts, p)
	}
	var table interface {
		Features(channel int, values raster.Type) (typed.Features, error)
	}
	if rot != nil {
		t, err := r.turn(ctx, *rot)
		if err != nil {
			return nil, err
		}
		a.Ratio = rot.String()
		for i, b := range f.Boxes() {
			a.Parts[i].Spans = spans(t.Lattice, haar.Cells(t.Lattice, b.Bounds, at), r.img.Width, r.img.Height)
		}
		table = t.table
	} else {
		t, err := typed.NewUpright(&r.sums, nil, nil)
		if err != nil {
			return nil, err
		}
		table = t
	}
	features, err := table.Features(channel, typed.Values(r.sums.Type))
	if err != nil {
		return nil, err
	}
	value, err1 := features.Value(f, at)
	corrected, err2 := features.Corrected(f, at)
	plus, minus, err3 := features.Areas(f, at)
	if err := cmp.Or(err1, err2, err3); err != nil {
		return nil, err
	}
	a.Value, a.Corrected, a.Plus, a.Minus = value.String(), finite(corrected), plus, minus
	return a, nil
}

// maxMoments is the maximum memory for the moments of one box.
const maxMoments = 1 << 30

func (r *plane) moments(ctx context.Context, b image.Rectangle, channel int) (m moments.Moments, err error) {
	if b = b.Intersect(image.Rect(0, 0, r.img.Width, r.img.Height)); b.Empty() {
		return m, nil
	}
	if n, err := moment.Bytes(r.img.Type, b.Dx(), b.Dy(), r.img.Channels); err != nil || n > maxMoments {
		return m, refuse("the moments of %d×%d pixels need %s, want at most %s (use a smaller box)", b.Dx(), b.Dy(), size(n), size(maxMoments))
	}
	t, err := moment.Integrate(cutOut(r.img, b), engine.Options{Context: ctx})
	if err != nil {
		return m, err
	}
	return moments.Moments(t.Moments(image.Rect(0, 0, b.Dx(), b.Dy()), channel)), nil
}

// gray returns the image in the form that cascades need.
func (r *plane) gray() boxsum.Image[uint8] {
	if m := &r.img; m.Type == raster.U8 {
		return boxsum.Image[uint8]{Pix: m.Data, Stride: m.Stride, Width: m.Width, Height: m.Height, Channels: m.Channels}
	}
	g := boxsum.Image[uint8]{Pix: make([]uint8, r.img.Width*r.img.Height), Stride: r.img.Width, Width: r.img.Width, Height: r.img.Height, Channels: 1}
	t := tile{w: g.Width, h: g.Height, low: r.low, scale: 255 / (r.high - r.low)}
	r.tile(g.Pix, t, 0)
	return g
}

// npy returns an image as a .npy file.
func npy(a raster.Array) ([]byte, error) {
	img, err := pixels.Image(a)
	if err != nil {
		return nil, err
	}
	var b bytes.Buffer
	err = imgio.Encode(&b, "npy", img)
	return b.Bytes(), err
}
