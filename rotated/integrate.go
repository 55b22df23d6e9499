package rotated

import (
	"fmt"
	"slices"
	"unsafe"

	"github.com/boxsum/boxsum"
	"github.com/boxsum/boxsum/internal/engine"
	"github.com/boxsum/boxsum/internal/kernel"
)

// Integrate makes the table of an image along the lines of a rotation, with
// the pairs of pixel and sum types of [boxsum.Integrate]:
//
//	table, err := rotated.Integrate[uint32](img, rotated.Rotation{A: 1, B: 2}, nil)
//
// Options are as there, but that rotated tables have no Offset: float32 pixels
// are best summed in float64.
func Integrate[S boxsum.Sum, P boxsum.Pixel](img boxsum.Image[P], rot Rotation, opt *boxsum.Options) (*Table[S], error) {
	if _, err := levelFor[S, P](opt); err != nil {
		return nil, err
	}
	img, err := checked(img)
	if err != nil {
		return nil, err
	}
	t, err := NewTable[S](img.Width, img.Height, img.Channels, rot)
	if err != nil {
		return nil, err
	}
	if err := IntegrateInto(t, img, opt); err != nil {
		return nil, err
	}
	return t, nil
}

// IntegrateInto makes the table of an image in dst, which must come from [NewTable]
// or [Integrate] and have the image's size. It allocates next to nothing once
// an image of the same type has been through dst.
func IntegrateInto[S boxsum.Sum, P boxsum.Pixel](dst *Table[S], img boxsum.Image[P], opt *boxsum.Options) error {
	level, err := levelFor[S, P](opt)
	if err != nil {
		return err
	}
	if img, err = checked(img); err != nil {
		return err
	}
	if dst == nil || dst.Lattice == nil {
		return fmt.Errorf("rotated: %w: no table", boxsum.ErrInvalid)
	}
	w := &dst.view
	if w.width != img.Width || w.height != img.Height || dst.channels != img.Channels {
		return fmt.Errorf("rotated: %w: a table for %d×%d with %d channels cannot take an image of %d×%d with %d",
			boxsum.ErrInvalid, w.width, w.height, dst.channels, img.Width, img.Height, img.Channels)
	}
	if w.nu == 0 || w.nv == 0 {
		return nil
	}
	run, ok := dst.scratch.(*layer[P, S])
	if !ok || run.table != dst {
		run = &layer[P, S]{table: dst}
		run.engine.Layers = []engine.Layer{run}
		dst.scratch = run
	}
	workers := opt.WorkersFor(img.Width, img.Height, img.Channels, int(unsafe.Sizeof(*new(P))), int(unsafe.Sizeof(*new(S))))
	if err := run.prepare(level, img, workers); err != nil {
		return err
	}
	run.engine.Run(run.grid, run.workers)
	run.release()
	dst.finish(run.lastRows())
	return nil
}

// levelFor checks the options and that there is a kernel for a pair of types.
func levelFor[S boxsum.Sum, P boxsum.Pixel](opt *boxsum.Options) (kernel.Level, error) {
	level := kernel.Best()
	if opt != nil {
		if opt.Workers < 0 {
			return 0, fmt.Errorf("rotated: %w: %d workers", boxsum.ErrInvalid, opt.Workers)
		}
		if opt.Offset != 0 {
			return 0, fmt.Errorf("rotated: %w: rotated tables take no offset: sum in float64 instead", boxsum.ErrTypes)
		}
		if opt.Level != boxsum.Auto {
			i := slices.Index(boxsum.Levels(), opt.Level)
			if i < 0 {
				return 0, fmt.Errorf("rotated: this machine has no %v: use one of %v", opt.Level, boxsum.Levels())
			}
			level = kernel.Level(i)
		}
	}
	if kernel.Sums[P, S](kernel.Portable) == nil {
		return 0, fmt.Errorf("rotated: %w: no table of %T from pixels of %T", boxsum.ErrTypes, *new(S), *new(P))
	}
	return level, nil
}

// checked fills in the defaults of an image and says what is wrong with the
// rest.
func checked[P boxsum.Pixel](img boxsum.Image[P]) (boxsum.Image[P], error) {
	if img.Channels == 0 {
		img.Channels = 1
	}
	if img.Width < 0 || img.Height < 0 || img.Width > maxSide || img.Height > maxSide || img.Channels < 0 || img.Channels > maxSide {
		return img, fmt.Errorf("rotated: %w: an image of %d×%d with %d channels: each is 0 to %d", boxsum.ErrInvalid, img.Width, img.Height, img.Channels, maxSide)
	}
	row := img.Width * img.Channels
	if img.Stride == 0 {
		img.Stride = row
	}
	if img.Height == 0 || row == 0 {
		return img, nil
	}
	short := img.Height > 1 && img.Stride < row
	// Divided rather than multiplied, for the product may be more than an int.
	if short || len(img.Pix) < row || img.Height > 1 && (len(img.Pix)-row)/(img.Height-1) < img.Stride {
		return img, fmt.Errorf("rotated: %w: %d elements, rows %d apart, are too few for an image of %d×%d with %d channels",
			boxsum.ErrInvalid, len(img.Pix), img.Stride, img.Width, img.Height, img.Channels)
	}
	return img, nil
}

// finish fills in the sums of whole rows and columns from those at the edges of
// the image.
func (t *Table[S]) finish(last []S) {
	f, n := &t.frame, t.channels
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
