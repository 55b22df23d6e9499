package measure

import (
	"errors"
	"io"
	"unsafe"

	"github.com/boxsum/boxsum"
	"github.com/boxsum/boxsum/histogram"
	"github.com/boxsum/boxsum/internal/anytable"
	"github.com/boxsum/boxsum/internal/pixels"
	"github.com/boxsum/boxsum/internal/raster"
	"github.com/boxsum/boxsum/rotated"
	"github.com/boxsum/boxsum/tilted"
	"github.com/boxsum/boxsum/volume"
)

// otherOptions is options as other packages than boxsum have them.
func otherOptions(o Options) tilted.Options {
	return tilted.Options{Workers: o.Workers, Level: o.Level, Context: o.Context}
}

// newWork is a work without tables: of some images, all of which but the first are for
// a device.
func newWork(images ...any) *Work {
	return &Work{Pixels: pixels.Of(images[0]).Data, images: len(images)}
}

// Each of these is the work of one kind of table, of images of any type, and the table.

func uprightWork(sum raster.Type, images ...any) (*Work, any, error) {
	w, img := newWork(images...), images[0]
	src := pixels.Of(img)
	sums, err := anytable.NewTable(sum, src.Width, src.Height, src.Channels)
	if err != nil {
		return nil, nil, err
	}
	switch t := sums.(type) {
	case *boxsum.Table[uint32]:
		w.Tables = []Table{uprightTable[uint32](t, images, false)}
	case *boxsum.Table[uint64]:
		w.Tables = []Table{uprightTable[uint64](t, images, false)}
	case *boxsum.Table[int64]:
		w.Tables = []Table{uprightTable[int64](t, images, false)}
	case *boxsum.Table[float32]:
		w.Tables = []Table{uprightTable[float32](t, images, false)}
	case *boxsum.Table[float64]:
		w.Tables = []Table{uprightTable[float64](t, images, false)}
	}
	w.Run = func(opt Options) error { return anytable.Integrate(sums, img, &opt) }
	return w, sums, nil
}

func squaredWork(images ...any) (*Work, *boxsum.SquaredTable[uint32, uint64], error) {
	w, img := newWork(images...), images[0].(boxsum.Image[uint8])
	both, err := boxsum.NewSquaredTable[uint32, uint64](img.Width, img.Height, img.Channels)
	if err != nil {
		return nil, nil, err
	}
	w.Tables = []Table{
		uprightTable[uint32](both.Sum, images, false),
		uprightTable[float64](both.Squares, images, true), // OpenCV keeps squares in float64
	}
	w.Run = func(opt Options) error { return boxsum.IntegrateSquaresInto(both, img, &opt) }
	return w, both, nil
}

// uprightTable wraps a table whose peers hold D.
func uprightTable[D, S boxsum.Sum](t *boxsum.Table[S], images []any, square bool) Table {
	verify := func(i int) error { return verifyImage(t.Exclusive(), images[i], square) }
	return newTable(t.Exclusive(), verify, func(r io.Reader, inclusive bool) error {
		if inclusive {
			return equal[D](r, t.Inclusive())
		}
		return equal[D](r, t.Exclusive())
	})
}

func tiltedWork(sum raster.Type, images ...any) (*Work, any, error) {
	w, img := newWork(images...), images[0]
	src := pixels.Of(img)
	sums, err := anytable.NewTilted(sum, src.Width, src.Height, src.Channels)
	if err != nil {
		return nil, nil, err
	}
	switch t := sums.(type) {
	case *tilted.Table[uint32]:
		w.Tables = []Table{tiltedTable(t, images)}
	case *tilted.Table[uint64]:
		w.Tables = []Table{tiltedTable(t, images)}
	case *tilted.Table[int64]:
		w.Tables = []Table{tiltedTable(t, images)}
	case *tilted.Table[float32]:
		w.Tables = []Table{tiltedTable(t, images)}
	case *tilted.Table[float64]:
		w.Tables = []Table{tiltedTable(t, images)}
	}
	w.Run = func(opt Options) error { o := otherOptions(opt); return anytable.IntegrateTilted(sums, img, &o) }
	return w, sums, nil
}

func tiltedTable[S boxsum.Sum](t *tilted.Table[S], images []any) Table {
	return newTable(t.View(), func(i int) error { return verifyTilted(t.View(), images[i]) },
		func(r io.Reader, _ bool) error { return equal[S](r, t.View()) })
}

func rotatedWork(sum raster.Type, rot rotated.Rotation, images ...any) (*Work, any, error) {
	w, img := newWork(images...), images[0]
	src := pixels.Of(img)
	sums, err := anytable.NewRotated(sum, src.Width, src.Height, src.Channels, rot)
	if err != nil {
		return nil, nil, err
	}
	switch t := sums.(type) {
	case *rotated.Table[uint32]:
		w.Tables = []Table{rotatedTable(t, rot, images)}
	case *rotated.Table[uint64]:
		w.Tables = []Table{rotatedTable(t, rot, images)}
	case *rotated.Table[int64]:
		w.Tables = []Table{rotatedTable(t, rot, images)}
	case *rotated.Table[float32]:
		w.Tables = []Table{rotatedTable(t, rot, images)}
	case *rotated.Table[float64]:
		w.Tables = []Table{rotatedTable(t, rot, images)}
	}
	w.Run = func(opt Options) error {
		o := rotated.Options(otherOptions(opt))
		return anytable.IntegrateRotated(sums, img, &o)
	}
	return w, sums, nil
}

// rotatedTable wraps a rotated table.
func rotatedTable[S boxsum.Sum](t *rotated.Table[S], rot rotated.Rotation, images []any) Table {
	src := pixels.Of(images[0])
	channels := src.Channels
	// The limits write as many bytes; where a rotated table has them is its own.
	output := make([]byte, rotatedCells(rot, Size{Width: src.Width, Height: src.Height})*int64(channels)*int64(unsafe.Sizeof(*new(S))))
	spoil := func() {
		t.Fill(func(dst []S, boxes []rotated.Box) {
			for i := range dst {
				box := boxes[i/channels]
				dst[i] = S(3*(box.C1-box.C0) + 5*box.R1 + 1)
			}
		})
	}
	spoil()
	verify := func(i int) error {
		defer spoil() // for the next time
		return verifyRotated(t, images[i])
	}
	return Table{nil, output, verify, func(io.Reader, bool) error { return errors.New("rotated tables have no peers") }}
}

// volumeWork takes all slices as one image, one under another.
func volumeWork(sum raster.Type, img any, size Size) (*Work, any, error) {
	all := pixels.Of(img)
	sums, err := anytable.NewVolume(sum, all.Width, size.Height, size.Depth, all.Channels)
	if err != nil {
		return nil, nil, err
	}
	w := newWork(img)
	switch t := sums.(type) {
	case *volume.Table[uint32]:
		w.Tables = []Table{volumeTable(t, img)}
	case *volume.Table[uint64]:
		w.Tables = []Table{volumeTable(t, img)}
	case *volume.Table[int64]:
		w.Tables = []Table{volumeTable(t, img)}
	case *volume.Table[float32]:
		w.Tables = []Table{volumeTable(t, img)}
	case *volume.Table[float64]:
		w.Tables = []Table{volumeTable(t, img)}
	}
	src := anytable.Volume(img, size.Height, size.Depth)
	w.Run = func(opt Options) error { return anytable.IntegrateVolume(sums, src, &opt) }
	return w, sums, nil
}

func volumeTable[S boxsum.Sum](t *volume.Table[S], img any) Table {
	// All slices one under another.
	entries := boxsum.View[S]{Sums: t.Sums, Stride: t.Stride, Width: t.Width + 1, Height: (t.Height + 1) * (t.Depth + 1), Channels: t.Channels}
	return newTable(entries, func(int) error { return verifyVolume(t, img) },
		func(r io.Reader, inclusive bool) error { return equalVolume(r, t, inclusive) })
}

func histogramWork(bins histogram.Bins, images ...any) (*Work, *histogram.Table[uint32], error) {
	w, img := newWork(images...), images[0].(boxsum.Image[uint8])
	t, err := histogram.NewTable[uint32](img.Width, img.Height, img.Channels, bins)
	if err != nil {
		return nil, nil, err
	}
	entries := countsOf(t)
	w.Tables = []Table{newTable(entries, func(i int) error { return verifyHistogram(entries, images[i].(boxsum.Image[uint8])) },
		func(r io.Reader, _ bool) error { return equal[uint32](r, entries) })}
	w.Run = func(opt Options) error {
		o := histogram.Options{Workers: opt.Workers, Level: opt.Level, Context: opt.Context}
		return histogram.IntegrateInto(t, img, &o)
	}
	return w, t, nil
}

// countsOf is the counts of a histogram as a table of a channel for every bin.
func countsOf(t *histogram.Table[uint32]) boxsum.View[uint32] {
	n := t.Channels * t.Bins.N
	return boxsum.View[uint32]{Sums: t.Counts, Stride: (t.Width + 1) * n, Width: t.Width + 1, Height: t.Height + 1, Channels: n}
}
