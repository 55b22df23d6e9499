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

	"github.com/boxsum/boxsum"
	"github.com/boxsum/boxsum/filter"
	"github.com/boxsum/boxsum/imgio"
	"github.com/boxsum/boxsum/internal/engine"
	"github.com/boxsum/boxsum/internal/pixels"
	"github.com/boxsum/boxsum/internal/raster"
	"github.com/boxsum/boxsum/internal/typed"
	"github.com/boxsum/boxsum/volume"
)

// A solid is a volume of any type in memory, with its tables.
type solid interface {
	size() (width, height, depth, channels int)
	types() (pixel, sum string)
	bounds() (low, high float64)
	millis() float64
	bytes() int64
	tile(dst []uint8, t tile, z, channel int)
	heat(dst []uint8, t tile, z, channel int)
	box(b volume.Box, channel int) answer
	histogram(ctx context.Context, b volume.Box, channel int) (*counted, error)
	npy() ([]byte, error)
	slice(z int) any // an image
}

// voxels is a volume and its tables, of any of the types in newSolid.
type voxels struct {
	extent             volume.Box
	channels           int
	slices             func(z int) any // images
	table              typed.Volume
	pixel, sum, square raster.Type
	low, high          float64
	took               time.Duration
}

// newVoxels computes the tables of a volume.
func newVoxels[P filter.Pixel](ctx context.Context, vol volume.Volume[P], sum, square raster.Type) (solid, error) {
	v := &voxels{
		extent: vol.Bounds(), channels: max(vol.Channels, 1), slices: func(z int) any { return vol.Slice(z) },
		pixel: raster.TypeOf[P](), sum: sum, square: square,
	}
	return v, v.integrate(ctx, raster.ArrayOf(vol.Pix, raster.VolumeExtent(vol.Width, vol.Height, vol.Depth, vol.Channels, vol.Stride, vol.SliceStride)))
}

func (v *voxels) integrate(ctx context.Context, src raster.Array) error {
	if err := v.findRange(); err != nil {
		return err
	}
	start := time.Now()
	job := engine.Job{Kind: engine.Volume, Src: src, Options: engine.Options{Context: ctx}}
	job.Sums.Type, job.Squares.Type = v.sum, v.square
	err := job.Check()
	for _, t := range []*engine.Table{&job.Sums, &job.Squares} {
		if err == nil {
			t.Array, err = raster.NewTable(t.Type, src.Extent)
		}
	}
	if err == nil {
		err = job.Run()
	}
	if err != nil {
		return err
	}
	v.took = time.Since(start)
	v.table, err = typed.NewVolume(&job.Sums, &job.Squares)
	return err
}

// entry returns an entry of the table of sums: the sum of the voxels before it.
func (v *voxels) entry(x, y, z, channel int) any {
	return v.table.Sum(volume.NewBox(0, 0, 0, x, y, z), channel)
}

func (v *voxels) findRange() error {
	v.low, v.high = math.Inf(1), math.Inf(-1)
	for z := range v.extent.Z1 {
		low, high, missing := rangeOf(v.slices(z))
		if missing {
			return refuse("the volume contains NaN and has no sums")
		}
		v.low, v.high = min(v.low, low), max(v.high, high)
	}
	return nil
}

func (v *voxels) size() (int, int, int, int) {
	return v.extent.X1, v.extent.Y1, v.extent.Z1, v.channels
}

func (v *voxels) types() (string, string) { return v.pixel.String(), v.sum.String() }

func (v *voxels) bounds() (float64, float64) { return v.low, v.high }
func (v *voxels) millis() float64            { return float64(v.took.Microseconds()) / 1000 }

func (v *voxels) bytes() int64 {
	n := int64(v.extent.X1) * int64(v.extent.Y1) * int64(v.extent.Z1) * int64(v.channels)
	return n * int64(v.pixel.Bytes()+v.sum.Bytes()+v.square.Bytes())
}

// number returns a sum as a float.
func number(sum any) float64 {
	switch n := sum.(type) {
	case uint32:
		return float64(n)
	case uint64:
		return float64(n)
	}
	return sum.(float64)
}

// tile draws means of 2^level×2^level voxels of one slice.
func (v *voxels) tile(dst []uint8, t tile, z, channel int) {
	src, n, c := pixels.Of(v.slices(z)), 1<<t.level, v.channels
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
			dst[y*t.w+x] = shade(number(v.table.Sum(box, channel))/float64(box.Voxels()), t)
		}
	}
}

// heat draws the entries that sum all slices up to and including the given one.
func (v *voxels) heat(dst []uint8, t tile, z, channel int) {
	e := v.extent
	scale := 255 / math.Abs(number(v.entry(e.X1, e.Y1, e.Z1, channel)))
	for y := range t.h {
		for x := range t.w {
			f := math.Abs(number(v.entry(min((t.x+x)<<t.level, e.X1), min((t.y+y)<<t.level, e.Y1), z+1, channel))) * scale
			if f != f {
				f = 0
			}
			dst[y*t.w+x] = uint8(min(f, 255))
		}
	}
}

func (v *voxels) box(b volume.Box, channel int) answer {
	b = b.Intersect(v.extent)
	a := answer{Area: int64(b.Voxels()), Sum: fmt.Sprint(v.table.Sum(b, channel)), Mean: finite(v.table.Mean(b, channel)), Std: finite(v.table.StdDev(b, channel))}
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

func (v *voxels) histogram(ctx context.Context, b volume.Box, channel int) (*counted, error) {
	b = b.Intersect(v.extent)
	all := &counted{Counts: make([]uint32, bins), Exact: true}
	var values, row []float64
	var k, rank int
	for pass := range 2 {
		for z := b.Z0; z < b.Z1; z++ {
			if err := ctx.Err(); err != nil {
				return nil, err
			}
			c := coarseOf(v.slices(z), channel, v.low, v.high)
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
		if v.pixel == raster.U8 {
			all.Median = k
			return all, nil
		}
	}
	slices.Sort(values)
	all.Median = values[rank]
	return all, nil
}

func (v *voxels) slice(z int) any { return v.slices(z) }

// npy returns the voxels as a .npy file.
func (v *voxels) npy() ([]byte, error) {
	var b bytes.Buffer
	var err error
	switch v.pixel {
	case raster.U8:
		err = writeVoxels[uint8](&b, v)
	case raster.U16:
		err = writeVoxels[uint16](&b, v)
	case raster.F32:
		err = writeVoxels[float32](&b, v)
	default:
		err = writeVoxels[float64](&b, v)
	}
	return b.Bytes(), err
}

func writeVoxels[P filter.Pixel](b *bytes.Buffer, v *voxels) error {
	shape := []int{v.extent.Z1, v.extent.Y1, v.extent.X1}
	if v.channels > 1 {
		shape = append(shape, v.channels)
	}
	return imgio.WriteNPY(b, shape, func(yield func([]P) bool) {
		for z := range v.extent.Z1 {
			img := v.slices(z).(boxsum.Image[P])
			for y := range img.Height {
				if !yield(img.Row(y)[:img.Width*img.Channels]) {
					return
				}
			}
		}
	})
}

// A block is the document of a volume.
type block struct {
	info  Info
	solid solid
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

func newBlock(ctx context.Context, name, format string, vol any) (*block, error) {
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

func newSolid(ctx context.Context, vol any) (solid, error) {
	switch v := vol.(type) {
	case volume.Volume[uint8]:
		if int64(v.Width)*int64(v.Height)*int64(v.Depth)*255 < 1<<32 {
			return newVoxels(ctx, v, raster.U32, raster.U64)
		}
		return newVoxels(ctx, v, raster.U64, raster.U64)
	case volume.Volume[uint16]:
		return newVoxels(ctx, v, raster.U64, raster.U64)
	case volume.Volume[float32]:
		return newVoxels(ctx, v, raster.F64, raster.F64)
	case volume.Volume[float64]:
		return newVoxels(ctx, v, raster.F64, raster.F64)
	}
	return nil, refuse("volumes of this type have no tables")
}

// volumeOf returns the slices of a stack as a volume of one of the four types.
func volumeOf(s *imgio.Stack) (any, error) {
	switch s.First.(type) {
	case boxsum.Image[uint8]:
		return stacked[uint8](s)
	case boxsum.Image[uint16]:
		return stacked[uint16](s)
	case boxsum.Image[float32]:
		return stacked[float32](s)
	case boxsum.Image[float64]:
		return stacked[float64](s)
	}
	return stackedFloats(s)
}

func stacked[P filter.Pixel](s *imgio.Stack) (any, error) {
	first := s.First.(boxsum.Image[P])
	if whole, ok := s.Whole.(boxsum.Image[P]); ok {
		return volume.Volume[P]{Pix: whole.Pix, Stride: first.Stride, SliceStride: first.Stride * first.Height, Width: first.Width, Height: first.Height, Depth: s.Depth, Channels: first.Channels}, nil
	}
	v, err := volume.New[P](first.Width, first.Height, s.Depth, first.Channels)
	if err != nil {
		return nil, err
	}
	for z := range s.Depth {
		img, err := s.Slice(z)
		if err != nil {
			return nil, err
		}
		from, to := img.(boxsum.Image[P]), v.Slice(z)
		for y := range first.Height {
			copy(to.Row(y), from.Row(y)[:first.Width*first.Channels])
		}
	}
	return v, nil
}

func stackedFloats(s *imgio.Stack) (any, error) {
	var v volume.Volume[float64]
	for z := range s.Depth {
		img, err := s.Slice(z)
		if err != nil {
			return nil, err
		}
		var f boxsum.Image[float64]
		switch m := img.(type) {
		case boxsum.Image[uint32]:
			f = floats(m)
		case boxsum.Image[int16]:
			f = floats(m)
		case boxsum.Image[int32]:
			f = floats(m)
		default:
			return nil, refuse("volumes of this type are not supported")
		}
		if z == 0 {
			if v, err = volume.New[float64](f.Width, f.Height, s.Depth, f.Channels); err != nil {
				return nil, err
			}
		}
		to := v.Slice(z)
		for y := range f.Height {
			copy(to.Row(y), f.Row(y)[:f.Width*f.Channels])
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
		return nil, nil, refuse("channel is %d, want one of %d", r.Channel, d.info.Channels)
	}
	switch r.Do {
	case "tile":
		if r.Z < 0 || r.Z >= d.info.Depth {
			return nil, nil, refuse("slice is %d, but there are %d", r.Z, d.info.Depth)
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
		return nil, nil, refuse("slice is %d, but there are %d", r.Z, d.info.Depth)
	}
	p, err := d.slice(ctx, r.Z)
	if err != nil {
		return nil, nil, err
	}
	return p.answer(ctx, r)
}
