package explore

import (
	"context"
	"image"
	"math"
	"math/bits"
	"strings"
	"sync"

	"github.com/boxsum/boxsum/internal/raster"
)

// An overview is a reduced version of an image in a store, in memory. Parts that are looked at are computed first, then
// the rest, so that a page that shows the whole store does not have to wait for it.
type overview struct {
	of           *stored
	z, channel   int
	shift        int // 1:2^shift
	w, h         int
	side         int // of a part, in pixels of the image
	across, down int

	mu      sync.Mutex
	pix     []uint8
	state   []uint8 // of each part
	wanted  []int   // parts to compute, the next one last
	next    int     // where to continue with parts that nobody looks at
	busy    bool
	begun   bool // the part in progress has begun
	stopped bool
	cancel  context.CancelFunc
	err     error // error that has not been reported yet
}

const (
	unmade uint8 = iota
	asked
	made
)

// maxWanted is the maximum number of parts in the queue.
const maxWanted = 1 << 16

func newOverview(d *stored, z, channel int) *overview {
	o := &overview{of: d, z: z, channel: channel, shift: 3}
	for o.w = maxOverview + 1; int64(o.w)*int64(max(o.h, 1)) > maxOverview; {
		o.shift++
		n := 1 << o.shift
		o.w, o.h = (d.info.Width+n-1)/n, (d.info.Height+n-1)/n
	}
	o.side = 2048
	if len(d.levels) > 0 {
		if c := d.levels[0].array.Chunk(); len(c) >= 2 {
			h, _, _ := planeOf(c)
			o.side = min(max(o.side, 1<<bits.Len(uint(max(h, 1)-1))), 4096)
		}
	}
	o.side = max(o.side, 1<<o.shift)
	o.across, o.down = (d.info.Width+o.side-1)/o.side, (d.info.Height+o.side-1)/o.side
	return o
}

func (o *overview) stop() {
	o.mu.Lock()
	defer o.mu.Unlock()
	if o.stopped = true; o.cancel != nil {
		o.cancel()
	}
}

// prioritize queues the parts under a rectangle of the image to be computed first, and returns the number of missing ones. An
// error is returned once, and the part is then tried again.
func (o *overview) prioritize(b image.Rectangle) (missing int, err error) {
	if o.pix == nil {
		o.pix, o.state = make([]uint8, o.w*o.h), make([]uint8, o.across*o.down)
		for i := range o.pix {
			o.pix[i] = 128
		}
	}
	for j := b.Min.Y / o.side; j < o.down && j*o.side < b.Max.Y; j++ {
		for i := b.Min.X / o.side; i < o.across && i*o.side < b.Max.X; i++ {
			switch k := j*o.across + i; o.state[k] {
			case unmade:
				if len(o.wanted) < maxWanted {
					o.state[k] = asked
					o.wanted = append(o.wanted, k)
				}
				missing++
			case asked:
				missing++
			}
		}
	}
	if missing > 0 {
		err, o.err = o.err, nil
	}
	if !o.busy && !o.stopped && (len(o.wanted) > 0 || o.next < len(o.state)) {
		o.busy = true
		ctx, cancel := context.WithCancel(context.Background())
		o.cancel = cancel
		go o.work(ctx)
	}
	return missing, err
}

// preview draws the means of whole blocks, which the lines of a table give. This is coarse but fast.
func (o *overview) preview(ctx context.Context) {
	if o.of.table == nil || o.of.info.Depth > 0 {
		return
	}
	block, c := o.of.table.Options().Block, o.of.info.Channels
	across, down := (o.of.info.Width-1)/block, (o.of.info.Height-1)/block // the last ones do not end at a line
	if across < 1 || down < 1 || across*down > maxOverview/16 {
		return
	}
	boxes := make([]image.Rectangle, 0, across*down)
	for j := range down {
		for i := range across {
			boxes = append(boxes, image.Rect(i*block, j*block, (i+1)*block, (j+1)*block))
		}
	}
	means := make([]float64, len(boxes)*c)
	if o.of.table.MeanBoxes(ctx, means, boxes) != nil {
		return // computing the parts reports the error
	}
	t := tile{low: o.of.info.Low, scale: 255 / (o.of.info.High - o.of.info.Low)}
	o.mu.Lock()
	defer o.mu.Unlock()
	for y := range o.h {
		for x := range o.w {
			i, j := min(x<<o.shift/block, across-1), min(y<<o.shift/block, down-1)
			if o.state[min(y<<o.shift/o.side, o.down-1)*o.across+min(x<<o.shift/o.side, o.across-1)] != made {
				o.pix[y*o.w+x] = shade(means[(j*across+i)*c+o.channel], t)
			}
		}
	}
}

// work computes parts until all are complete.
func (o *overview) work(ctx context.Context) {
	if !o.begun {
		o.begun = true
		o.preview(ctx)
	}
	for {
		o.mu.Lock()
		k := -1
		if n := len(o.wanted); n > 0 {
			k, o.wanted = o.wanted[n-1], o.wanted[:n-1]
		}
		for ; k < 0 && o.next < len(o.state); o.next++ {
			if o.state[o.next] == unmade {
				k, o.state[o.next] = o.next, asked
			}
		}
		if k < 0 || ctx.Err() != nil {
			o.busy = false
			o.mu.Unlock()
			return
		}
		o.mu.Unlock()
		i, j := k%o.across, k/o.across
		b := image.Rect(i*o.side, j*o.side, min((i+1)*o.side, o.of.info.Width), min((j+1)*o.side, o.of.info.Height))
		n := 1 << o.shift
		t := tile{w: (b.Dx() + n - 1) / n, h: (b.Dy() + n - 1) / n, low: o.of.info.Low, scale: 255 / (o.of.info.High - o.of.info.Low)}
		dst := make([]uint8, t.w*t.h)
		err := o.part(ctx, dst, t, b, n)
		o.mu.Lock()
		if err != nil {
			o.err, o.busy = err, false
			for _, k := range append(o.wanted, k) {
				o.state[k] = unmade
			}
			o.wanted = nil
			o.mu.Unlock()
			return
		}
		for y := range t.h {
			copy(o.pix[(b.Min.Y/n+y)*o.w+b.Min.X/n:][:t.w], dst[y*t.w:][:t.w])
		}
		o.state[k] = made
		o.mu.Unlock()
	}
}

// part draws one part from its pixels or, if there are none, from boxes of the table.
func (o *overview) part(ctx context.Context, dst []uint8, t tile, b image.Rectangle, n int) error {
	if len(o.of.levels) > 0 {
		k, scale := o.of.coarsest(n)
		h, w, _ := planeOf(o.of.levels[k].array.Shape())
		small := image.Rect(b.Min.X/scale, b.Min.Y/scale, (b.Max.X+scale-1)/scale, (b.Max.Y+scale-1)/scale).Intersect(image.Rect(0, 0, w, h))
		if small.Empty() { // a level may be smaller than the image
			return nil
		}
		img, err := o.of.read(ctx, k, small, o.z)
		if err != nil {
			return err
		}
		shrink(dst, t, img, n/scale, o.channel)
		return nil
	}
	var boxes []image.Rectangle
	for y := range t.h {
		for x := range t.w {
			boxes = append(boxes, image.Rect(b.Min.X+x*n, b.Min.Y+y*n, min(b.Min.X+(x+1)*n, b.Max.X), min(b.Min.Y+(y+1)*n, b.Max.Y)))
		}
	}
	c := o.of.info.Channels
	means := make([]float64, len(boxes)*c)
	if err := o.of.table.MeanBoxes(ctx, means, boxes); err != nil {
		return err
	}
	for i := range boxes {
		dst[i] = shade(means[i*c+o.channel], t)
	}
	return nil
}

// tile returns a tile of the overview, and the number of its parts that are missing.
func (o *overview) tile(t tile) ([]uint8, int, error) {
	o.mu.Lock()
	defer o.mu.Unlock()
	missing, err := o.prioritize(image.Rect(t.x<<t.level, t.y<<t.level, (t.x+t.w)<<t.level, (t.y+t.h)<<t.level))
	if err != nil {
		return nil, missing, err
	}
	dst := make([]uint8, t.w*t.h)
	for y := range t.h {
		for x := range t.w {
			if t.level < o.shift { // finer than the overview
				up := o.shift - t.level
				dst[y*t.w+x] = o.pix[min((t.y+y)>>up, o.h-1)*o.w+min((t.x+x)>>up, o.w-1)]
				continue
			}
			down := t.level - o.shift
			sum, n := 0, 0
			for v := (t.y + y) << down; v < (t.y+y+1)<<down && v < o.h; v++ {
				for u := (t.x + x) << down; u < (t.x+x+1)<<down && u < o.w; u++ {
					sum += int(o.pix[v*o.w+u])
					n++
				}
			}
			if n > 0 {
				dst[y*t.w+x] = uint8((sum + n/2) / n)
			}
		}
	}
	return dst, missing, nil
}

// histogram returns the histogram of the overview in a box.
func (o *overview) histogram(b image.Rectangle) (*counted, error) {
	o.mu.Lock()
	defer o.mu.Unlock()
	missing, err := o.prioritize(b)
	if err != nil {
		return nil, err
	}
	if missing > 0 {
		return nil, refuse("the overview is not ready yet: %d of its parts in this box are still being computed", missing)
	}
	n := 1 << o.shift
	h := &counted{Low: o.of.info.Low, High: o.of.info.High, Counts: make([]uint32, bins), Of: "means of " + strings.TrimSpace(sides(n)) + " pixels"}
	for y := b.Min.Y / n; y < min((b.Max.Y+n-1)/n, o.h); y++ {
		for x := b.Min.X / n; x < min((b.Max.X+n-1)/n, o.w); x++ {
			h.Counts[o.pix[y*o.w+x]]++
		}
	}
	if k, _ := middle(h.Counts); k >= 0 {
		h.Median = h.Low + (float64(k)+0.5)*(h.High-h.Low)/256
	}
	return h, nil
}

// shrink draws means of f×f pixels of an image.
func shrink(dst []uint8, t tile, m raster.Array, f, channel int) {
	c := m.Channels
	sums := make([]float64, t.w)
	var row []float64
	for y := range t.h {
		y0, y1 := y*f, min((y+1)*f, m.Height)
		clear(sums)
		for v := y0; v < y1; v++ {
			if m.Type == raster.U8 && c == 1 {
				b := m.Row(v)
				for x := range sums {
					n := 0
					for _, p := range b[min(x*f, m.Width):min((x+1)*f, m.Width)] {
						n += int(p)
					}
					sums[x] += float64(n)
				}
				continue
			}
			row = m.Floats(row[:0], v, channel, m.Width*c, c)
			for x := range sums {
				sum := sums[x]
				for _, p := range row[min(x*f, m.Width):min((x+1)*f, m.Width)] {
					sum += p
				}
				sums[x] = sum
			}
		}
		for x, s := range sums {
			n := (y1 - y0) * (min((x+1)*f, m.Width) - x*f)
			if n <= 0 {
				s, n = math.NaN(), 1
			}
			dst[y*t.w+x] = shade(s/float64(n), t)
		}
	}
}
