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
	if _, err := prepare[S, P](opt); err != nil {
		return nil, err
	}
	img, err := checked(img)
	if err != nil {
		return nil, err
	}
	t, err := New[S](img.Width, img.Height, img.Channels, rot)
	if err != nil {
		return nil, err
	}
	if err := IntegrateInto(t, img, opt); err != nil {
		return nil, err
	}
	return t, nil
}

// IntegrateInto makes the table of an image in dst, which must come from [New]
// or [Integrate] and have the image's size. It allocates next to nothing once
// an image of the same type has been through dst.
func IntegrateInto[S boxsum.Sum, P boxsum.Pixel](dst *Table[S], img boxsum.Image[P], opt *boxsum.Options) error {
	f, err := prepare[S, P](opt)
	if err != nil {
		return err
	}
	if img, err = checked(img); err != nil {
		return err
	}
	if dst == nil || dst.Lattice == nil {
		return fmt.Errorf("rotated: %w: no table", boxsum.ErrSize)
	}
	w := &dst.view
	if w.width != img.Width || w.height != img.Height || dst.channels != img.Channels {
		return fmt.Errorf("rotated: %w: a table for %d×%d with %d channels cannot take an image of %d×%d with %d",
			boxsum.ErrSize, w.width, w.height, dst.channels, img.Width, img.Height, img.Channels)
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
	grid, err := run.prepare(f, img, workers)
	if err != nil {
		return err
	}
	run.engine.Run(grid, workers)
	run.release()
	dst.finish()
	return nil
}

// prepare checks the options and finds the kernel for a pair of types.
func prepare[S boxsum.Sum, P boxsum.Pixel](opt *boxsum.Options) (kernel.Func[P, S], error) {
	level := kernel.Best()
	if opt != nil {
		if opt.Workers < 0 {
			return nil, fmt.Errorf("rotated: %w: %d workers", boxsum.ErrSize, opt.Workers)
		}
		if opt.Offset != 0 {
			return nil, fmt.Errorf("rotated: %w: rotated tables take no offset: sum in float64 instead", boxsum.ErrTypes)
		}
		if opt.Level != boxsum.Auto {
			i := slices.Index(boxsum.Levels(), opt.Level)
			if i < 0 {
				return nil, fmt.Errorf("rotated: this machine has no %v: use one of %v", opt.Level, boxsum.Levels())
			}
			level = kernel.Level(i)
		}
	}
	f := kernel.Sums[P, S](level)
	if f == nil {
		return nil, fmt.Errorf("rotated: %w: no table of %T from pixels of %T", boxsum.ErrTypes, *new(S), *new(P))
	}
	return f, nil
}

// checked fills in the defaults of an image and says what is wrong with the
// rest.
func checked[P boxsum.Pixel](img boxsum.Image[P]) (boxsum.Image[P], error) {
	if img.Channels == 0 {
		img.Channels = 1
	}
	if img.Width < 0 || img.Height < 0 || img.Width > maxSide || img.Height > maxSide || img.Channels < 0 || img.Channels > maxSide {
		return img, fmt.Errorf("rotated: %w: an image of %d×%d with %d channels: each is 0 to %d", boxsum.ErrSize, img.Width, img.Height, img.Channels, maxSide)
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
			boxsum.ErrSize, len(img.Pix), img.Stride, img.Width, img.Height, img.Channels)
	}
	return img, nil
}

// finish fills in the sums of whole rows and columns from those of the cells.
func (t *Table[S]) finish() {
	n, rows := t.channels, t.frame.rows
	list := t.bands.list
	for i, b := range list {
		first := i * bandRows
		for row := first; row < min(first+bandRows, rows); row++ {
			for ch := range n {
				s := t.at(b.hi-1, row, ch)
				if first > t.frame.rightTurn() { // columns on the right have left
					s = t.rows[(first-1)*n+ch] + (s - t.at(b.hi-1, first-1, ch))
				}
				t.rows[row*n+ch] = s
			}
		}
	}
	total := t.rows[(rows-1)*n:]
	for i, b := range list {
		next := band{lo: b.hi, hi: b.hi}
		if i+1 < len(list) {
			next = list[i+1]
		}
		row := min((i+1)*bandRows, rows) - 1
		for ch := range n {
			for c := b.lo; c < min(next.lo, b.hi); c++ { // left on the left: so have all before
				t.columns[c*n+ch] = t.at(c, row, ch)
			}
			for c := max(next.hi, b.lo); c < b.hi; c++ { // left on the right: the rows to come count in full
				t.columns[c*n+ch] = t.at(c, row, ch) + (total[ch] - t.rows[row*n+ch])
			}
		}
	}
}
