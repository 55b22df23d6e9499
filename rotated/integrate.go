package rotated

import (
	"github.com/boxsum/boxsum"
	"github.com/boxsum/boxsum/internal/engine"
	"github.com/boxsum/boxsum/internal/grid"
	"github.com/boxsum/boxsum/internal/pairs"
)

// Integrate makes the table of an image along the lines of a rotation, with
// the pairs of pixel and sum types of [boxsum.Integrate]:
//
//	table, err := rotated.Integrate[uint32](img, rotated.Rotation{A: 1, B: 2}, nil)
func Integrate[S boxsum.Sum, P boxsum.Pixel](img boxsum.Image[P], rot Rotation, opt *Options) (*Table[S], error) {
	return integrate[S](rawOf(&img), rot, opt)
}

func integrate[S boxsum.Sum](img engine.Raw, rot Rotation, opt *Options) (*Table[S], error) {
	set, src, err := check[S](img, opt)
	if err != nil {
		return nil, err
	}
	t, err := NewTable[S](img.Width, img.Height, img.Channels, rot)
	if err == nil {
		err = fillOnce(t, set, src)
	}
	return grid.OrNil(t, err)
}

// IntegrateInto makes the table of an image in dst, which must come from [NewTable]
// or [Integrate] and have the image's size. It allocates next to nothing once
// an image of the same type and size has been integrated.
func IntegrateInto[S boxsum.Sum, P boxsum.Pixel](dst *Table[S], img boxsum.Image[P], opt *Options) error {
	return integrateInto(dst, rawOf(&img), opt)
}

func integrateInto[S boxsum.Sum](dst *Table[S], img engine.Raw, opt *Options) error {
	set, src, err := check[S](img, opt)
	if err != nil {
		return err
	}
	return fillOnce(dst, set, src)
}

// rawOf is an image as bytes. Inlined it would be there for every pair of types.
//
//go:noinline
func rawOf[P boxsum.Pixel](img *boxsum.Image[P]) engine.Raw {
	return engine.RawOf(img.Pix, grid.Plane(img.Width, img.Height, img.Channels, img.Stride))
}

func check[S boxsum.Sum](img engine.Raw, opt *Options) (set engine.Settings, src engine.Raw, err error) {
	if set, err = engineOptions(opt).Check(); err != nil {
		return set, img, err
	}
	if !pairs.Sums.Has(img.Type, pairs.TypeOf[S]()) {
		return set, img, engine.NoPair[S](img.Type)
	}
	return set, img, img.Pixels(img.Len())
}

// fillOnce is fill, as this package has compiled it.
func fillOnce[S boxsum.Sum](dst *Table[S], set engine.Settings, src engine.Raw) error {
	return fills[pairs.TypeOf[S]()].(func(*Table[S], engine.Settings, engine.Raw) error)(dst, set, src)
}

func fill[S boxsum.Sum](dst *Table[S], set engine.Settings, src engine.Raw) error {
	if dst == nil || dst.Lattice == nil {
		return grid.NoTable()
	}
	e := grid.Plane(dst.Width, dst.Height, dst.Channels, 0)
	if err := e.Same(&src.Extent); err != nil {
		return err
	}
	dst.pixels = engine.Pixels[S](&src, false, false)
	run := engine.Take[engine.Run[layer[S]]]()
	l := &run.Layer
	l.table, l.src, l.level = dst, src, set.Level
	l.plan = newPlan(&dst.frame, dst.Channels, src.Type.Bytes(), grid.SizeOf[S](), set.Workers())
	return run.Fill(set, l.plan.Plan, l)
}

// finish fills in the sums of whole rows and columns from those at the edges of
// the image.
func (t *Table[S]) finish(last []S) {
	f, n := &t.frame, t.Channels
	bottom := f.height - 1
	for ch := range n {
		corner := func(x, y int) S { return t.corners.line(y, 0)[f.memory(x)*n+ch] }
		for y := range f.height { // nothing is left of the first pixel
			t.rows[y*n+ch] = corner(0, y)
		}
		for down := 1; down < f.runs; down++ { // rows that end in the last line
			run := down
			if f.falling {
				run = f.runs - 1 - down
			}
			t.rows[(bottom+down)*n+ch] = t.rows[(bottom+down-1)*n+ch] + last[run*n+ch]
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
