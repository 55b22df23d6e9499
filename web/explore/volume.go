package explore

import (
	"bytes"
	"context"
	"fmt"
	"image"
	"math"
	"runtime"
	"slices"
	"sync"
	"time"

	"github.com/boxsum/boxsum/imgio"
	"github.com/boxsum/boxsum/internal/engine"
	"github.com/boxsum/boxsum/internal/filters"
	"github.com/boxsum/boxsum/internal/pixels"
	"github.com/boxsum/boxsum/internal/raster"
	"github.com/boxsum/boxsum/internal/stats"
	"github.com/boxsum/boxsum/internal/typed"
	"github.com/boxsum/boxsum/volume"
)

// A solid is a volume in memory, with its tables.
type solid struct {
	img         raster.Array
	extent      volume.Box
	table       typed.Volume
	sum, square raster.Type
	low, high   float64
	took        time.Duration
}

// newSolid computes the tables of a volume.
func newSolid(ctx context.Context, vol raster.Array) (*solid, error) {
	if !filters.TakesPixels(vol.Type) {
		return nil, refuse("voxels of %v cannot be summed, want integers of at most 32 bits or floats", vol.Type)
	}
	v := &solid{img: vol, extent: volume.NewBox(0, 0, 0, vol.Width, vol.Height, vol.Depth)}
	v.sum, v.square = sumTypes(vol.Type, int64(vol.Width)*int64(vol.Height)*int64(vol.Depth))
	if err := v.findRange(); err != nil {
		return nil, err
	}
	start := time.Now()
	job := engine.Job{Kind: engine.Volume, Src: vol, Options: engine.Options{Context: ctx}}
	job.Sums.Type, job.Squares.Type = v.sum, v.square
	err := job.Check()
	if err == nil {
		err = allocate(&job)
	}
	if err == nil {
		err = job.Run()
	}
	if err != nil {
		return nil, err
	}
	v.took = time.Since(start)
	v.table, err = typed.NewVolume(&job.Sums, &job.Squares)
	return v, err
}

// slice returns a slice as an image that shares its memory.
func (v *solid) slice(z int) raster.Array {
	e := &v.img.Extent
	return raster.Array{Data: v.img.From(z * e.SliceStride), Type: v.img.Type, Extent: raster.PlaneExtent(e.Width, e.Height, e.Channels, e.Stride)}
}

// entry returns an entry of the table of sums: the sum of the voxels before it.
func (v *solid) entry(x, y, z, channel int) stats.Sum {
	return v.table.Sum(volume.NewBox(0, 0, 0, x, y, z), channel)
}

func (v *solid) findRange() error {
	v.low, v.high = math.Inf(1), math.Inf(-1)
	for z := range v.extent.Z1 {
		low, high, missing := rangeOf(v.slice(z))
		if missing {
			return refuse("slice %d of the volume contains NaN, which sums do not support", z)
		}
		v.low, v.high = min(v.low, low), max(v.high, high)
	}
	return nil
}

func (v *solid) size() (int, int, int, int) {
	return v.extent.X1, v.extent.Y1, v.extent.Z1, v.img.Channels
}

func (v *solid) types() (string, string) { return v.img.Type.String(), v.sum.String() }

func (v *solid) bounds() (float64, float64) { return v.low, v.high }
func (v *solid) millis() float64            { return float64(v.took.Microseconds()) / 1000 }

func (v *solid) bytes() int64 {
	return int64(v.extent.Voxels()) * int64(v.img.Channels) * int64(v.img.Type.Bytes()+v.sum.Bytes()+v.square.Bytes())
}

// tile draws means of 2^level×2^level voxels of one slice.
func (v *solid) tile(dst []uint8, t tile, z, channel int) {
	src, n, c := v.slice(z), 1<<t.level, v.img.Channels
	var row []float64
	for y := range t.h {
		if n == 1 {
			row = src.Floats(row[:0], t.y+y, t.x*c+channel, (t.x+t.w)*c, c)
			for x, p := range row {
				dst[y*t.w+x] = shade(p, t)
			}
			continue
		}
		for x := range t.w {
			x0, y0 := (t.x+x)*n, (t.y+y)*n
			box := volume.NewBox(x0, y0, z, x0+n, y0+n, z+1).Intersect(v.extent)
			dst[y*t.w+x] = shade(v.table.Sum(box, channel).Float()/float64(box.Voxels()), t)
		}
	}
}

// heat draws the entries that sum all slices up to and including the given one.
func (v *solid) heat(dst []uint8, t tile, z, channel int) {
	e := v.extent
	scale := 255 / math.Abs(v.entry(e.X1, e.Y1, e.Z1, channel).Float())
	for y := range t.h {
		for x := range t.w {
			f := math.Abs(v.entry(min((t.x+x)<<t.level, e.X1), min((t.y+y)<<t.level, e.Y1), z+1, channel).Float()) * scale
			if f != f {
				f = 0
			}
			dst[y*t.w+x] = uint8(min(f, 255))
		}
	}
}

func (v *solid) box(b volume.Box, channel int) answer {
	b = b.Intersect(v.extent)
	a := answer{Area: int64(b.Voxels()), Sum: v.table.Sum(b, channel).String(), Mean: finite(v.table.Mean(b, channel)), Std: finite(v.table.StdDev(b, channel))}
	for i := range 8 {
		at, sign := []int{b.X1, b.Y1, b.Z1}, 1
		for axis, low := range []int{b.X0, b.Y0, b.Z0} {
			if i>>axis&1 == 1 {
				at[axis], sign = low, -sign
			}
		}
		a.Entries = append(a.Entries, entry{at, fmt.Sprint(v.entry(at[0], at[1], at[2], channel)), sign})
	}
	return a
}

func (v *solid) histogram(ctx context.Context, b volume.Box, channel int) (*counted, error) {
	b = b.Intersect(v.extent)
	all := &counted{Counts: make([]uint32, bins), Exact: true}
	var values, row []float64
	var k, rank int
	for pass := range 2 {
		for z := b.Z0; z < b.Z1; z++ {
			if err := ctx.Err(); err != nil {
				return nil, err
			}
			c := coarseOf(v.slice(z), channel, v.low, v.high)
			all.Low, all.High = c.low, c.low+bins/c.scale
			if pass == 0 {
				c.add(all.Counts, image.Rect(b.X0, b.Y0, b.X1, b.Y1))
				continue
			}
			for y := b.Y0; y < b.Y1; y++ {
				row = c.values(row, y, b.X0, b.X1)
				for _, p := range row {
					if c.bin(p) == k {
						values = append(values, p)
					}
				}
			}
		}
		if k, rank = middle(all.Counts); k < 0 {
			return all, nil
		}
		if v.img.Type == raster.U8 {
			all.Median = k
			return all, nil
		}
	}
	slices.Sort(values)
	all.Median = values[rank]
	return all, nil
}

// npy returns the voxels as a .npy file.
func (v *solid) npy() ([]byte, error) {
	shape := []int{v.extent.Z1, v.extent.Y1, v.extent.X1}
	if v.img.Channels > 1 {
		shape = append(shape, v.img.Channels)
	}
	var b bytes.Buffer
	err := imgio.WriteNPYBytes(&b, v.img.Type.String(), shape, func(yield func([]byte) bool) {
		for z := range v.extent.Z1 {
			img := v.slice(z)
			for y := range img.Height {
				if !yield(img.Row(y)) {
					return
				}
			}
		}
	})
	return b.Bytes(), err
}

// A block is the document of a volume.
type block struct {
	info  Info
	solid *solid
	stack *imgio.Stack // owner of its memory, or nil

	mu  sync.Mutex
	cut *picture // the slice requested last
	at  int
}

// slice returns one slice as a picture.
func (d *block) slice(ctx context.Context, z int) (*picture, error) {
	d.mu.Lock()
	defer d.mu.Unlock()
	if d.cut != nil && d.at == z {
		return d.cut, nil
	}
	p, err := newPicture(ctx, d.info.Name, d.solid.slice(z))
	if err == nil {
		d.cut, d.at = p, z
	}
	return p, err
}

func newBlock(ctx context.Context, name, format string, vol raster.Array) (*block, error) {
	s, err := newSolid(ctx, vol)
	if err != nil {
		return nil, err
	}
	d := &block{solid: s, info: Info{Name: name, Kind: "volume", Table: true, Format: format, Millis: s.millis(), Workers: runtime.GOMAXPROCS(0), Level: best()}}
	d.info.Width, d.info.Height, d.info.Depth, d.info.Channels = s.size()
	d.info.Pixel, d.info.Sum = s.types()
	d.info.Low, d.info.High = s.bounds()
	return d, nil
}

// volumeOf returns the slices of a stack as a volume with pixels that filters take, too.
func volumeOf(s *imgio.Stack) (raster.Array, error) {
	first := pixels.Of(s.First)
	if whole := pixels.Of(s.Whole); whole.Type == first.Type && filters.TakesPixels(first.Type) {
		whole.Extent = raster.VolumeExtent(first.Width, first.Height, s.Depth, first.Channels, first.Stride, first.Stride*first.Height)
		return whole, nil
	}
	list := make([]raster.Array, s.Depth)
	for z := range list {
		img, err := s.Slice(z)
		if err != nil {
			return raster.Array{}, err
		}
		if list[z], err = summable(pixels.Of(img)); err != nil {
			return raster.Array{}, err
		}
	}
	return pile(list)
}

// pile combines images of the same size and type to a volume.
func pile(list []raster.Array) (raster.Array, error) {
	first := list[0]
	v, err := raster.NewPixelArray(first.Type, raster.VolumeExtent(first.Width, first.Height, len(list), first.Channels, 0, 0))
	if err != nil {
		return v, err
	}
	row := first.Width * first.Channels * first.Type.Bytes()
	for z, m := range list {
		if m.Type != first.Type || m.Width != first.Width || m.Height != first.Height || m.Channels != first.Channels {
			return v, refuse("slice %d is %v of %v, want %v of %v like the first", z, m.Extent, m.Type, first.Extent, first.Type)
		}
		for y := range m.Height {
			copy(v.From(z*v.SliceStride + y*v.Stride)[:row], m.Row(y))
		}
	}
	return v, nil
}

// blockOf returns the document of a stack, which takes ownership of the stack.
func blockOf(ctx context.Context, name string, s *imgio.Stack) (Document, error) {
	vol, err := volumeOf(s)
	if err == nil {
		var d *block
		if d, err = newBlock(ctx, name, s.Format, vol); err == nil {
			d.stack = s
			return d, nil
		}
	}
	s.Close()
	return nil, err
}

// decodeVolume decodes a file in memory as a volume. It returns nil if the file is an image.
func decodeVolume(ctx context.Context, name string, data []byte) (Document, error) {
	switch {
	case bytes.HasPrefix(data, []byte("\x93NUMPY")):
		a, err := imgio.ReadNPY(bytes.NewReader(data))
		if err != nil || !isVolume(a.Shape) {
			return nil, err
		}
	case bytes.HasPrefix(data, []byte("II*\x00")), bytes.HasPrefix(data, []byte("MM\x00*")):
	default:
		return nil, nil
	}
	s, err := imgio.DecodeStack(bytes.NewReader(data), imgio.ToGray)
	if err != nil || s.Depth < 2 {
		return nil, nil // opening it as an image reports the error
	}
	return blockOf(ctx, name, s)
}

// isVolume reports whether a shape is that of a volume, not of an image with up to 4 channels.
func isVolume(shape []int) bool { return len(shape) == 4 || len(shape) == 3 && shape[2] > 4 }

func (d *block) Info() *Info  { return &d.info }
func (d *block) bytes() int64 { return d.solid.bytes() }

func (d *block) Close() error {
	if d.stack != nil {
		return d.stack.Close()
	}
	return nil
}

func (d *block) answer(ctx context.Context, r *request) (any, []byte, error) {
	if r.Channel < 0 || r.Channel >= d.info.Channels {
		return nil, nil, refuse("channel is %d, want 0 to %d", r.Channel, d.info.Channels-1)
	}
	switch r.Do {
	case "tile":
		if r.Z < 0 || r.Z >= d.info.Depth {
			return nil, nil, refuse("slice is %d, want 0 to %d", r.Z, d.info.Depth-1)
		}
		t, err := tileOf(&d.info, r)
		if err != nil {
			return nil, nil, err
		}
		dst := make([]uint8, t.w*t.h)
		if r.Kind == "heat" {
			d.solid.heat(dst, t, r.Z, r.Channel)
		} else {
			d.solid.tile(dst, t, r.Z, r.Channel)
		}
		return t.reply("gray"), dst, nil
	case "boxes":
		return answerBoxes(r, 6, func(b []int) (answer, error) {
			return d.solid.box(volume.NewBox(b[0], b[1], b[2], b[3], b[4], b[5]), r.Channel), nil
		})
	case "histogram":
		b, err := oneBox(r, 6)
		if err != nil {
			return nil, nil, err
		}
		h, err := d.solid.histogram(ctx, volume.NewBox(b[0], b[1], b[2], b[3], b[4], b[5]), r.Channel)
		return h, nil, err
	}
	if r.Do == "save" && r.Kind != "slice" {
		data, err := d.solid.npy()
		return map[string]int{"size": len(data)}, data, err
	}
	if r.Z < 0 || r.Z >= d.info.Depth {
		return nil, nil, refuse("slice is %d, want 0 to %d", r.Z, d.info.Depth-1)
	}
	p, err := d.slice(ctx, r.Z)
	if err != nil {
		return nil, nil, err
	}
	return p.answer(ctx, r)
}
