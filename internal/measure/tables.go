package measure

import (
	"errors"
	"io"
	"unsafe"

	"github.com/boxsum/boxsum"
	"github.com/boxsum/boxsum/histogram"
	"github.com/boxsum/boxsum/rotated"
	"github.com/boxsum/boxsum/tilted"
	"github.com/boxsum/boxsum/volume"
)

func (o Options) cpu() *boxsum.Options { return &boxsum.Options{Workers: o.Workers, Level: o.Level} }

// Upright is the upright table of an image.
func Upright[S boxsum.Sum, P boxsum.Pixel](img boxsum.Image[P]) (*Work, error) {
	sums, err := boxsum.NewTable[S](img.Width, img.Height, img.Channels)
	if err != nil {
		return nil, err
	}
	return &Work{
		Pixels: bytesOf(img.Pix),
		Tables: []Table{uprightTable[S](sums, img, false)},
		Run:    func(opt Options) error { return boxsum.IntegrateInto(sums, img, opt.cpu()) },
	}, nil
}

// Squared is an upright table and that of squares.
func Squared[S boxsum.Sum, Q boxsum.Square, P boxsum.Pixel](img boxsum.Image[P]) (*Work, error) {
	both, err := boxsum.NewSquaredTable[S, Q](img.Width, img.Height, img.Channels)
	if err != nil {
		return nil, err
	}
	return &Work{
		Pixels: bytesOf(img.Pix),
		Tables: []Table{
			uprightTable[S](both.Sum, img, false),
			uprightTable[float64](both.Squares, img, true), // OpenCV keeps squares in float64
		},
		Run: func(opt Options) error { return boxsum.IntegrateSquaresInto(both, img, opt.cpu()) },
	}, nil
}

// uprightTable wraps a table whose peers hold D.
func uprightTable[D, S boxsum.Sum, P boxsum.Pixel](t *boxsum.Table[S], img boxsum.Image[P], square bool) Table {
	verify := func() error { return verify(t, img, square) }
	return newTable(t.Exclusive(), verify, func(r io.Reader, inclusive bool) error {
		if inclusive {
			return equal[D](r, t.Inclusive())
		}
		return equal[D](r, t.Exclusive())
	})
}

// Tilted is the 45° table of an image.
func Tilted[S boxsum.Sum, P boxsum.Pixel](img boxsum.Image[P]) (*Work, error) {
	sums, err := tilted.NewTable[S](img.Width, img.Height, img.Channels)
	if err != nil {
		return nil, err
	}
	return &Work{
		Pixels: bytesOf(img.Pix),
		Tables: []Table{newTable(sums.View(), func() error { return verifyTilted(sums.View(), img) },
			func(r io.Reader, _ bool) error { return equal[S](r, sums.View()) })},
		Run: func(opt Options) error {
			return tilted.IntegrateInto(sums, img, &tilted.Options{Workers: opt.Workers, Level: opt.Level})
		},
	}, nil
}

// Rotated is the table of an image along the lines of a rotation.
func Rotated[S boxsum.Sum, P boxsum.Pixel](img boxsum.Image[P], rot rotated.Rotation) (*Work, error) {
	sums, err := rotated.NewTable[S](img.Width, img.Height, img.Channels, rot)
	if err != nil {
		return nil, err
	}
	// The limits write as many bytes; where a rotated table has them is its own.
	output := make([]byte, rotatedCells(rot, Size{Width: img.Width, Height: img.Height})*int64(img.Channels)*int64(unsafe.Sizeof(*new(S))))
	spoil := func() { sums.Fill(func(c, r, channel int) S { return S(3*c + 5*r + 1) }) }
	spoil()
	return &Work{
		Pixels: bytesOf(img.Pix),
		Tables: []Table{{
			output: output,
			verify: func() error {
				defer spoil() // for the next time
				return verifyRotated(sums, img)
			},
			equal: func(io.Reader, bool) error { return errors.New("rotated tables have no peers") },
		}},
		Run: func(opt Options) error {
			return rotated.IntegrateInto(sums, img, &rotated.Options{Workers: opt.Workers, Level: opt.Level})
		},
	}, nil
}

// Solid is the table of a volume.
func Solid[S boxsum.Sum, P boxsum.Pixel](src volume.Volume[P]) (*Work, error) {
	sums, err := volume.NewTable[S](src.Width, src.Height, src.Depth, src.Channels)
	if err != nil {
		return nil, err
	}
	// All slices one under another.
	entries := boxsum.View[S]{Sums: sums.Sums, Stride: sums.Stride, Width: src.Width + 1, Height: (src.Height + 1) * (src.Depth + 1), Channels: src.Channels}
	return &Work{
		Pixels: bytesOf(src.Pix),
		Tables: []Table{newTable(entries, func() error { return verifyVolume(sums, src) },
			func(r io.Reader, inclusive bool) error { return equalVolume(r, sums, inclusive) })},
		Run: func(opt Options) error { return volume.IntegrateInto(sums, src, opt.cpu()) },
	}, nil
}

// Histogram is the integral histogram of an image.
func Histogram(img boxsum.Image[uint8], bins histogram.Bins) (*Work, error) {
	t, err := histogram.NewTable[uint32](img.Width, img.Height, img.Channels, bins)
	if err != nil {
		return nil, err
	}
	n := img.Channels * bins.N
	entries := boxsum.View[uint32]{Sums: t.Counts, Stride: (img.Width + 1) * n, Width: img.Width + 1, Height: img.Height + 1, Channels: n}
	return &Work{
		Pixels: bytesOf(img.Pix),
		Tables: []Table{newTable(entries, func() error { return verifyHistogram(t, img) },
			func(r io.Reader, _ bool) error { return equal[uint32](r, entries) })},
		Run: func(opt Options) error {
			return histogram.IntegrateInto(t, img, &histogram.Options{Workers: opt.Workers, Level: opt.Level})
		},
	}, nil
}

// beside adds the upright table of the same image to a work.
func beside[S boxsum.Sum, P boxsum.Pixel](w *Work, err error, img boxsum.Image[P]) (*Work, error) {
	if err != nil {
		return nil, err
	}
	w.Upright, err = Upright[S](img)
	return w, err
}
