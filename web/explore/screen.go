package explore

import (
	"context"
	"fmt"
	"image"
	"math"
	"runtime"
	"sync"
	"time"

	"github.com/boxsum/boxsum/internal/filters"
	"github.com/boxsum/boxsum/internal/raster"
	"github.com/boxsum/boxsum/internal/thresholds"
	"github.com/boxsum/boxsum/internal/window"
)

// A screen is the part of an image that the page shows, and the size at which it shows it. While a slider moves, results
// are computed only for these pixels: if the tables suffice, in a time that depends neither on the image nor on the
// window.
type screen struct {
	image.Rectangle
	w, h int
}

// maxScreen is the greatest number of pixels of a screen.
const maxScreen = 16 << 20

// screenOf returns the screen of a request for an image of the given size, or nil if the request is
// for the whole image.
func screenOf(q *request, width, height int) (*screen, error) {
	if q.View == nil {
		return nil, nil
	}
	if len(q.View) != 4 {
		return nil, refuse("view has %d numbers, want 4", len(q.View))
	}
	b, err := inRange(q.View)
	if err != nil {
		return nil, err
	}
	s := &screen{image.Rect(b[0], b[1], b[2], b[3]).Intersect(image.Rect(0, 0, width, height)), q.Width, q.Height}
	if s.Empty() {
		return nil, refuse("view is %v, want a box that overlaps the image of %d×%d", q.View, width, height)
	}
	if s.w < 1 || s.h < 1 || s.w > maxScreen || s.h > maxScreen/s.w {
		return nil, refuse("the screen has %d×%d pixels, want 1 to %d megapixels", s.w, s.h, maxScreen>>20)
	}
	s.w, s.h = min(s.w, s.Dx()), min(s.h, s.Dy())
	return s, nil
}

// column and row return the pixel of the image that a pixel of the screen shows.
func (s *screen) column(i int) int { return s.Min.X + (2*i+1)*s.Dx()/(2*s.w) }
func (s *screen) row(j int) int    { return s.Min.Y + (2*j+1)*s.Dy()/(2*s.h) }

// A span is a run of columns or rows that a window covers. At mirrored edges, a window covers some
// of them more than once.
type span struct{ from, to, times int }

// spansOf appends the spans of the window from at−before to at+after in a line of n pixels.
func spansOf(spans []span, border window.Border, at, before, after, n int) []span {
	first, end := at-before, at+after+1
	if first >= 0 && end <= n || border == window.Clip {
		return append(spans, span{max(first, 0), min(end, n), 1})
	}
	if border == window.Replicate {
		if first < 0 {
			spans = append(spans, span{0, 1, -first})
		}
		if end > n {
			spans = append(spans, span{n - 1, n, end - n})
		}
		return append(spans, span{max(first, 0), min(end, n), 1})
	}
	if n == 1 {
		return append(spans, span{0, 1, end - first})
	}
	// Mirrored at the middle of the outermost pixels, the line repeats with the period 2(n−1):
	// it runs forwards and backwards in turns of n−1 pixels.
	for first < end {
		turn := int(math.Floor(float64(first) / float64(n-1)))
		start := turn * (n - 1)
		length := min(end, start+n-1) - first
		if turn%2 == 0 {
			spans = append(spans, span{first - start, first - start + length, 1})
		} else {
			last := start + n - 1 - first // of the line, counted backwards
			spans = append(spans, span{last - length + 1, last + 1, 1})
		}
		first += length
	}
	return spans
}

// A shape is a window around a pixel: how far it extends, and the border.
type shape struct {
	left, right, up, down int
	border                window.Border
}

// shapeOf returns the shape of a window of package filter or threshold.
func shapeOf(w filters.Window, border window.Border) shape {
	left, up := w.Width/2-w.Shift.X, w.Height/2-w.Shift.Y
	return shape{left, w.Width - 1 - left, up, w.Height - 1 - up, border}
}

// windows describes the windows around all columns of a screen.
type windows struct {
	spans  []span // times the number of channels
	starts []int  // of the spans of a column, with one more at the end
	counts []int  // of the pixels of a window in a row
}

func (s *screen) windows(w shape, width, channels int) *windows {
	c := &windows{starts: []int{0}}
	for i := range s.w {
		first := len(c.spans)
		c.spans = spansOf(c.spans, w.border, s.column(i), w.left, w.right, width)
		count := 0
		for k := first; k < len(c.spans); k++ {
			p := &c.spans[k]
			count += (p.to - p.from) * p.times
			p.from, p.to = p.from*channels, p.to*channels
		}
		c.starts, c.counts = append(c.starts, len(c.spans)), append(c.counts, count)
	}
	return c
}

// A rule computes a pixel from its value and the sums over its window of n pixels.
type rule struct {
	shape
	squares bool // the rule needs the sum of squares
	of      func(pixel, sum, squares, n float64) float64
	t       tile // the values that are drawn as black and white
}

// filterRule returns the rule of a filter that needs only window sums, or nil.
func filterRule(f *filtering, whole bool) *rule {
	r := &rule{shape: shapeOf(f.window, window.Reflect101), t: tile{low: f.low, scale: 255 / (f.high - f.low)}}
	deviation := func(sum, squares, n float64) float64 {
		return float64(float32(math.Sqrt(max(n*squares-sum*sum, 0)) / n))
	}
	switch f.Method {
	case "box":
		r.of = func(_, sum, _, n float64) float64 { return sum / n }
		if whole {
			r.of = func(_, sum, _, n float64) float64 { return math.Floor(sum/n + 0.5) }
		}
	case "mean":
		r.of = func(_, sum, _, n float64) float64 { return float64(float32(sum / n)) }
	case "std":
		r.squares = true
		r.t = tile{scale: 255 / ((f.high - f.low) / 2)}
		r.of = func(_, sum, squares, n float64) float64 { return deviation(sum, squares, n) }
	case "normalize":
		r.squares = true
		r.t = tile{low: -4, scale: 255.0 / 8}
		floor := (f.high - f.low) / 255
		r.of = func(pixel, sum, squares, n float64) float64 {
			return float64(float32((pixel - sum/n) / max(deviation(sum, squares, n), floor)))
		}
	default:
		return nil
	}
	return r
}

// thresholdRule returns the rule of a threshold that needs only window sums, or nil.
func thresholdRule(of thresholds.Rule, pixel raster.Type) *rule {
	at, err := thresholds.Pointwise(pixel, &of)
	if err != nil {
		return nil // an invalid rule is reported when the whole image is processed
	}
	r := &rule{shape: shapeOf(of.Window, of.Border), squares: true, t: tile{scale: 1}}
	r.of = func(pixel, sum, squares, n float64) float64 {
		inverse := 1 / n // as package threshold rounds
		mean := float64(sum * inverse)
		if of.Method == thresholds.MeanC {
			mean = sum / n
		}
		if pixel <= at(pixel, mean, float64(squares*inverse)-float64(mean*mean)) {
			return 0
		}
		return 255
	}
	return r
}

// byTables computes the pixels of a screen from tables. It returns nil if there are none.
func (r *plane) byTables(ctx context.Context, s *screen, by *rule, channels []int) (*filtered, error) {
	sums, squares, err := r.tables(ctx, by.squares)
	if sums == nil || err != nil {
		return nil, err
	}
	start := time.Now() // excludes making the tables, which happens once
	columns := s.windows(by.shape, r.img.Width, r.img.Channels)
	f := newFiltered(s.w, s.h, len(channels))
	workers := min(runtime.GOMAXPROCS(0), s.h)
	var group sync.WaitGroup
	for k := range workers {
		group.Go(func() {
			total, totalSquares := make([]float64, s.w), make([]float64, s.w)
			var rows []span
			var line []float64
			for j := k * s.h / workers; j < (k+1)*s.h/workers && ctx.Err() == nil; j++ {
				y := s.row(j)
				rows = spansOf(rows[:0], by.border, y, by.up, by.down, r.img.Height)
				down := 0
				for _, p := range rows {
					down += (p.to - p.from) * p.times
				}
				for i, c := range channels {
					windowSums[sums.Type](total, &sums.Array, columns, rows, c)
					if by.squares {
						windowSums[squares.Type](totalSquares, &squares.Array, columns, rows, c)
						line = r.img.Floats(line[:0], y, s.Min.X*r.img.Channels+c, s.Max.X*r.img.Channels, r.img.Channels)
					}
					for x, sum := range total {
						p := 0.0
						if by.squares {
							p = line[s.column(x)-s.Min.X]
						}
						f.set(x, j, i, shade(by.of(p, sum, totalSquares[x], float64(columns.counts[x]*down)), by.t))
					}
				}
			}
		})
	}
	group.Wait()
	f.took = time.Since(start)
	return f, ctx.Err()
}

// Maximum number of values to filter if the tables do not suffice: fewer while a slider moves.
const (
	maxValues = 4 << 20
	maxQuick  = 1 << 20
)

// A reduced image is a part of an image at 1:n, with some of its channels.
type reduced struct {
	image.Rectangle
	n        int
	channels string
	img      raster.Array
}

// screenPart returns the part of the image that a screen needs for windows that extend by margin, reduced by a power of 2 if
// it is large.
func (r *plane) screenPart(ctx context.Context, s *screen, margin int, channels []int, quick bool) (*reduced, error) {
	b := s.Inset(-margin).Intersect(image.Rect(0, 0, r.img.Width, r.img.Height))
	most := maxValues
	if quick {
		most = maxQuick
	}
	p := &reduced{n: 1, channels: fmt.Sprint(channels)}
	for int64(b.Dx()/p.n+1)*int64(b.Dy()/p.n+1)*int64(len(channels)) > int64(most) {
		p.n *= 2
	}
	p.Rectangle = image.Rect(b.Min.X/p.n*p.n, b.Min.Y/p.n*p.n, min((b.Max.X+p.n-1)/p.n*p.n, r.img.Width), min((b.Max.Y+p.n-1)/p.n*p.n, r.img.Height))
	r.mu.Lock()
	defer r.mu.Unlock()
	if last := r.last; last != nil && last.Rectangle == p.Rectangle && last.n == p.n && last.channels == p.channels {
		return last, nil
	}
	var err error
	p.img, err = reduce(ctx, r.img, p, channels)
	if err == nil {
		r.last = p
	}
	return p, err
}

func reduce(ctx context.Context, img raster.Array, p *reduced, channels []int) (raster.Array, error) {
	part := cutOut(img, p.Rectangle)
	if p.n == 1 {
		return pick(part, channels), nil
	}
	j := filters.Job{Kind: filters.Downsampled, Src: part, FactorX: p.n, FactorY: p.n}
	j.Options.Context = ctx
	small, err := j.Make(part.Type)
	if err != nil {
		return small, err
	}
	return pick(small, channels), nil
}

// cutOut returns a part of an image, sharing its memory.
func cutOut(img raster.Array, b image.Rectangle) raster.Array {
	img.Data = img.From(b.Min.Y*img.Stride + b.Min.X*img.Channels)
	img.Width, img.Height = b.Dx(), b.Dy()
	return img
}

// pick returns some channels of an image, copied unless they are all channels.
func pick(img raster.Array, channels []int) raster.Array {
	n := len(channels)
	if n == img.Channels {
		return img
	}
	size := img.Type.Bytes()
	to := raster.Array{Data: make([]byte, img.Width*img.Height*n*size), Type: img.Type, Extent: raster.PlaneExtent(img.Width, img.Height, n, img.Width*n)}
	for y := range img.Height {
		from, row := img.Row(y), to.Row(y)
		for i, c := range channels {
			for x := range img.Width {
				copy(row[(x*n+i)*size:][:size], from[(x*img.Channels+c)*size:])
			}
		}
	}
	return to
}

// show draws the pixels of a screen from a filtered part of the image.
func (s *screen) show(p *reduced, src raster.Array, t tile, channels int, took time.Duration) *filtered {
	f := newFiltered(s.w, s.h, channels)
	f.scale, f.took = p.n, took
	var row []float64
	for j := range s.h {
		row = src.Floats(row[:0], (s.row(j)-p.Min.Y)/p.n, 0, src.Width*src.Channels, 1)
		for x := range s.w {
			at := (s.column(x) - p.Min.X) / p.n * src.Channels
			for c := range channels {
				f.set(x, j, c, shade(row[at+c], t))
			}
		}
	}
	return f
}

// reduceBy returns a radius, or another length, at 1:n, and at least 1.
func reduceBy(length, n int) int { return max(1, (length+n/2)/n) }
