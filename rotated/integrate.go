package rotated

import (
	"github.com/boxsum/boxsum"
	"github.com/boxsum/boxsum/internal/device"
	"github.com/boxsum/boxsum/internal/engine"
	"github.com/boxsum/boxsum/internal/raster"
	"github.com/boxsum/boxsum/internal/stats"
)

// Integrate returns the table of an image along the lines of a rotation. The
// supported pairs of pixel and sum types are those of [boxsum.Integrate]. For
// example:
//
//	table, err := rotated.Integrate[uint32](img, rotated.Rotation{A: 1, B: 2}, nil)
func Integrate[S boxsum.Sum, P boxsum.Pixel](img boxsum.Image[P], rot Rotation, opt *Options) (*Table[S], error) {
	src := arrayOf(&img)
	set, err := check(&src, raster.TypeOf[S](), opt.engine())
	if err != nil {
		return nil, err
	}
	t, err := NewTable[S](img.Width, img.Height, img.Channels, rot)
	if err != nil {
		return nil, err
	}
	return raster.OrNil(t, t.fill(set, src))
}

// IntegrateInto computes the table of an image and stores it in dst, which must
// come from [NewTable] or [Integrate] and have the size of the image. The
// rotation is that of dst. Repeated calls with images of the same type and size
// allocate only a few small objects.
func IntegrateInto[S boxsum.Sum, P boxsum.Pixel](dst *Table[S], img boxsum.Image[P], opt *Options) error {
	return dst.integrate(arrayOf(&img), opt.engine())
}

func arrayOf[P boxsum.Pixel](img *boxsum.Image[P]) raster.Array {
	return raster.ArrayOf(img.Pix, raster.PlaneExtent(img.Width, img.Height, img.Channels, img.Stride))
}

// A receiver is a table for callers that learn the type of the pixels at run time.
type receiver[S boxsum.Sum] struct{ table *Table[S] }

// Planes implements [engine.Receiver].
func (r receiver[S]) Planes() device.RotatedTable { return r.table.planes() }

// Integrate implements [engine.Receiver].
func (r receiver[S]) Integrate(src raster.Array, opt engine.Options) error {
	return r.table.integrate(src, opt)
}

// integrate makes the table of an image.
func (t *Table[S]) integrate(src raster.Array, opt engine.Options) error {
	set, err := check(&src, raster.TypeOf[S](), opt)
	if err != nil {
		return err
	}
	return t.fill(set, src)
}

var pairs = raster.SumPairs.For(raster.Rotated)

// check returns an error if the options, the types or the image are invalid.
func check(src *raster.Array, sum raster.Type, opt engine.Options) (set engine.Settings, err error) {
	if set, err = opt.Check(); err != nil {
		return set, err
	}
	if !pairs.Has(src.Type, sum) {
		return set, engine.NoPair(src.Type, sum)
	}
	return set, src.Check()
}

// fill makes the table of a checked image.
func (t *Table[S]) fill(set engine.Settings, src raster.Array) error {
	if t == nil || t.Lattice == nil {
		return raster.NoTable()
	}
	e := raster.PlaneExtent(t.Width, t.Height, t.Channels, 0)
	if err := e.Same(&src.Extent); err != nil {
		return err
	}
	t.Bound = stats.Typical(src.Type, false).Bound
	if on := set.On(); on != nil {
		return t.fillOn(on, src, set.OnDevice())
	}
	dst := target{
		sum: raster.TypeOf[S](), rotation: t.rot, frame: &t.frame, channels: t.Channels,
		corners: t.corners.memory(), empty: t.empty.memory(), rows: raster.Bytes(t.rows),
	}
	if err := fill(&dst, &src, set); err != nil {
		return err
	}
	if t.Width > 0 && t.Height > 0 {
		t.finish()
	}
	return nil
}

// fillOn makes the table on a device.
func (t *Table[S]) fillOn(d device.Runner, src raster.Array, opt device.Options) error {
	return d.Rotated(&device.Rotated{Src: src, Sum: raster.TypeOf[S](), A: t.rot.A, B: t.rot.B, Dst: t.planes(), Options: opt})
}

// planes describes the memory of the table.
func (t *Table[S]) planes() device.RotatedTable {
	if t.Width == 0 || t.Height == 0 {
		return device.RotatedTable{}
	}
	p := device.RotatedTable{
		Corners: t.corners.array(t.Width, t.Height, t.Channels),
		Rows:    raster.Bytes(t.rows), Columns: raster.Bytes(t.columns),
	}
	if t.empty.sums != nil {
		p.Empty = t.empty.array(t.frame.runs, int(t.frame.overs[t.Height-1]), t.Channels)
	}
	return p
}

// finish sets the sums of whole rows and columns from those at the edges of the
// image, and from the sums that the layer leaves for rows that end in the last
// line.
func (t *Table[S]) finish() {
	f, n := &t.frame, t.Channels
	bottom := f.height - 1
	for ch := range n {
		corner := func(x, y int) S { return t.corners.line(y, 0)[f.memory(x)*n+ch] }
		for y := range f.height { // no pixels are left of the first
			t.rows[y*n+ch] = corner(0, y)
		}
		for row := bottom + 1; row < bottom+f.runs; row++ { // rows that end in the last line
			t.rows[row*n+ch] = t.rows[(row-1)*n+ch] + t.rows[row*n+ch]
		}
		total := t.rows[(f.rows-1)*n+ch]
		first := f.first()
		for y := range bottom { // columns that end in the last pixel of a line
			t.columns[(f.width-1-int(f.overs[y])-first)*n+ch] = corner(f.width-1, y)
		}
		for x := range f.width { // and those that end in the last line
			row := bottom + int(f.downs[beside+x])
			t.columns[x*n+ch] = corner(x, bottom) + (total - t.rows[row*n+ch])
		}
	}
}
