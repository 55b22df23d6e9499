package explore

import (
	"image"
	"math"
	"slices"

	"github.com/boxsum/boxsum/internal/raster"
)

// cell is the side of the squares of a coarse histogram, in pixels.
const cell = 64

// bins is the number of bins of every histogram.
const bins = 256

// A coarse is an integral histogram with an entry per square of pixels instead of per pixel. The squares inside a box
// take four reads per bin, and the pixels along its edges are counted one by one: exact, in a fraction of the memory.
type coarse struct {
	img          raster.Array
	channels     int
	exact        bool // every value has its own bin
	channel      int
	low, scale   float64
	across, down int
	counts       []uint32 // (down+1)×(across+1)×bins
}

func newCoarse(img raster.Array, channel int, low, high float64) *coarse {
	c := coarseOf(img, channel, low, high)
	c.across, c.down = c.img.Width/cell, c.img.Height/cell
	c.counts = make([]uint32, (c.across+1)*(c.down+1)*bins)
	for j := range c.down {
		for i := range c.across {
			to := c.at(i+1, j+1)
			c.add(to, image.Rect(i*cell, j*cell, (i+1)*cell, (j+1)*cell))
			left, top, corner := c.at(i, j+1), c.at(i+1, j), c.at(i, j)
			for k := range to {
				to[k] += left[k] + top[k] - corner[k]
			}
		}
	}
	return c
}

// coarseOf returns a coarse histogram without its counts.
func coarseOf(src raster.Array, channel int, low, high float64) *coarse {
	c := &coarse{img: src, channels: src.Channels, channel: channel, low: low, scale: bins / (high - low), exact: src.Type == raster.U8}
	if c.exact {
		c.low, c.scale = 0, 1
	}
	return c
}

func (c *coarse) at(i, j int) []uint32 { return c.counts[(j*(c.across+1)+i)*bins:][:bins] }

// bin returns the bin of a value, or -1 for NaN and values out of range. The last bin includes its upper edge.
func (c *coarse) bin(p float64) int {
	v := (p - c.low) * c.scale
	if v != v || v < 0 || math.IsInf(v, 0) {
		return -1
	}
	return min(int(v), bins-1)
}

// values returns the pixels of a row from x0 to x1, valid until the next call.
func (c *coarse) values(row []float64, y, x0, x1 int) []float64 {
	return c.img.Floats(row[:0], y, x0*c.channels+c.channel, x1*c.channels, c.channels)
}

// add counts the pixels of a box, which must lie in the image.
func (c *coarse) add(to []uint32, b image.Rectangle) {
	var row []float64
	for y := b.Min.Y; y < b.Max.Y && b.Min.X < b.Max.X; y++ {
		if c.exact && c.channels == 1 {
			for _, p := range c.img.Row(y)[b.Min.X:b.Max.X] {
				to[p]++
			}
			continue
		}
		row = c.values(row, y, b.Min.X, b.Max.X)
		for _, v := range row {
			if k := c.bin(v); k >= 0 {
				to[k]++
			}
		}
	}
}

// counted is the histogram of a box.
type counted struct {
	Low    float64  `json:"low"`
	High   float64  `json:"high"`
	Counts []uint32 `json:"counts"`
	Median any      `json:"median"` // the lower median
	Exact  bool     `json:"exact"`
	Of     string   `json:"of,omitempty"` // what was counted, if not the pixels
}

func (c *coarse) histogram(b image.Rectangle) *counted {
	b = b.Intersect(image.Rect(0, 0, c.img.Width, c.img.Height))
	h := &counted{Counts: make([]uint32, bins), Low: c.low, High: c.low + bins/c.scale, Exact: true}
	if b.Empty() {
		return h
	}
	inner := image.Rectangle{image.Pt((b.Min.X+cell-1)/cell, (b.Min.Y+cell-1)/cell), image.Pt(min(b.Max.X/cell, c.across), min(b.Max.Y/cell, c.down))} // may be empty
	if inner.Empty() {
		c.add(h.Counts, b)
	} else {
		p, q, r, s := c.at(inner.Max.X, inner.Max.Y), c.at(inner.Min.X, inner.Max.Y), c.at(inner.Max.X, inner.Min.Y), c.at(inner.Min.X, inner.Min.Y)
		for k := range h.Counts {
			h.Counts[k] = p[k] - q[k] - r[k] + s[k]
		}
		in := image.Rect(inner.Min.X*cell, inner.Min.Y*cell, inner.Max.X*cell, inner.Max.Y*cell)
		c.add(h.Counts, image.Rect(b.Min.X, b.Min.Y, b.Max.X, in.Min.Y))
		c.add(h.Counts, image.Rect(b.Min.X, in.Max.Y, b.Max.X, b.Max.Y))
		c.add(h.Counts, image.Rect(b.Min.X, in.Min.Y, in.Min.X, in.Max.Y))
		c.add(h.Counts, image.Rect(in.Max.X, in.Min.Y, b.Max.X, in.Max.Y))
	}
	c.median(h, func(visit func(y, x0, x1 int)) {
		for y := b.Min.Y; y < b.Max.Y; y++ {
			visit(y, b.Min.X, b.Max.X)
		}
	})
	return h
}

// ofSpans returns the histogram of runs of pixels, each a row and a range of columns.
func (c *coarse) ofSpans(spans [][3]int) *counted {
	h := &counted{Counts: make([]uint32, bins), Low: c.low, High: c.low + bins/c.scale, Exact: true}
	for _, s := range spans {
		c.add(h.Counts, image.Rect(s[1], s[0], s[2], s[0]+1))
	}
	c.median(h, func(visit func(y, x0, x1 int)) {
		for _, s := range spans {
			visit(s[0], s[1], s[2])
		}
	})
	return h
}

// median finds the lower median of the counted pixels by examining the values in its bin.
func (c *coarse) median(h *counted, rows func(visit func(y, x0, x1 int))) {
	k, rank := middle(h.Counts)
	switch {
	case k < 0:
	case c.exact:
		h.Median = k
	default:
		var values, row []float64
		rows(func(y, x0, x1 int) {
			row = c.values(row, y, x0, x1)
			for _, v := range row {
				if c.bin(v) == k {
					values = append(values, v)
				}
			}
		})
		slices.Sort(values)
		if rank < len(values) {
			h.Median = values[rank]
		}
	}
}

// middle returns the bin of the lower median, and its rank among the values of that bin.
func middle(counts []uint32) (bin, rank int) {
	all := 0
	for _, n := range counts {
		all += int(n)
	}
	if all == 0 {
		return -1, 0
	}
	left := (all - 1) / 2
	for k, n := range counts {
		if left < int(n) {
			return k, left
		}
		left -= int(n)
	}
	return -1, 0
}

func (r *plane) histogram(b image.Rectangle, channel int) *counted {
	return r.counts()[channel].histogram(b)
}
