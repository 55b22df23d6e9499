package tilted

import (
	"fmt"
	"runtime"
	"slices"
	"unsafe"

	"github.com/boxsum/boxsum"
	"github.com/boxsum/boxsum/internal/engine"
	"github.com/boxsum/boxsum/internal/kernel"
)

// Integrate makes the 45° table of an image, with the pairs of pixel and sum
// types of [boxsum.Integrate]:
//
//	table, err := tilted.Integrate[uint32](img, nil)
//
// Options are as there, but that there is no Offset: float32 pixels are best
// summed in float64.
func Integrate[S boxsum.Sum, P boxsum.Pixel](src boxsum.Image[P], opt *boxsum.Options) (*Table[S], error) {
	if _, err := sumKernel[S, P](opt); err != nil {
		return nil, err
	}
	src, err := checked(src)
	if err != nil {
		return nil, err
	}
	t, err := NewTable[S](src.Width, src.Height, src.Channels)
	if err != nil {
		return nil, err
	}
	if err := IntegrateInto(t, src, opt); err != nil {
		return nil, err
	}
	return t, nil
}

// IntegrateInto makes the table of an image in dst, which must have the image's
// size and must not overlap it. It does not allocate once an image of the same
// type has been through dst. A table of the caller's own memory works too, zero
// Channels and Stride standing for what they do in a [boxsum.Image]; one from
// [NewTable] is laid out to be written faster.
func IntegrateInto[S boxsum.Sum, P boxsum.Pixel](dst *Table[S], src boxsum.Image[P], opt *boxsum.Options) error {
	f, err := sumKernel[S, P](opt)
	if err != nil {
		return err
	}
	if src, err = checked(src); err != nil {
		return err
	}
	if err := dst.accepts(src.Width, src.Height, src.Channels); err != nil {
		return err
	}
	if err := apart(src.Pix, dst.Sums); err != nil {
		return err
	}
	run, ok := dst.scratch.(*sumRun[P, S])
	if !ok || run.owner != dst {
		run = &sumRun[P, S]{owner: dst}
		run.engine.Layers = []engine.Layer{&run.sums}
		dst.scratch = run
	}
	p := plan(src, opt, unsafe.Sizeof(*new(S)))
	layer(&run.sums, dst, src, f, p)
	run.engine.Run(p.Grid, p.Workers)
	run.sums.Release()
	return nil
}

// sumRun is what integrating into a table needs again and again. A copy of the
// table is another table, and gets its own.
type sumRun[P boxsum.Pixel, S boxsum.Sum] struct {
	owner  *Table[S]
	engine engine.Engine
	sums   engine.Tilted[P, S]
}

// layer points an engine layer at a table and an image.
func layer[P boxsum.Pixel, S boxsum.Sum](l *engine.Tilted[P, S], dst *Table[S], src boxsum.Image[P], f kernel.TiltedFunc[P, S], p engine.Plan) {
	l.Kernel = f
	l.Src, l.SrcStride = src.Pix, src.Stride
	l.Dst, l.DstStride = dst.Sums, dst.Stride
	l.N, l.Channels = src.Width*src.Channels, src.Channels
	l.Writes = p.Writes
	l.Prepare(p.Grid, p.Workers)
}

// plan is how to cut an image whose sums take so many bytes a value.
func plan[P boxsum.Pixel](src boxsum.Image[P], opt *boxsum.Options, sumBytes uintptr) engine.Plan {
	workers := runtime.GOMAXPROCS(0)
	if opt != nil && opt.Workers != 0 {
		workers = opt.Workers
	}
	return engine.Work{
		Rows: src.Height, N: src.Width * src.Channels, Channels: src.Channels,
		PixelBytes: int(unsafe.Sizeof(*new(P))), SumBytes: int(sumBytes),
		Workers: workers,
	}.PlanTilted()
}

// sumKernel is the kernel for a pair of types, if the options are good.
func sumKernel[S boxsum.Sum, P boxsum.Pixel](opt *boxsum.Options) (kernel.TiltedFunc[P, S], error) {
	level, err := levelOf(opt)
	if err != nil {
		return nil, err
	}
	f := kernel.TiltedSums[P, S](level)
	if f == nil {
		return nil, fmt.Errorf("tilted: %w: no table of %T from pixels of %T", boxsum.ErrTypes, *new(S), *new(P))
	}
	return f, nil
}

// levelOf is the level that the options ask for.
func levelOf(opt *boxsum.Options) (kernel.Level, error) {
	switch {
	case opt == nil:
		return kernel.Best(), nil
	case opt.Workers < 0:
		return 0, fmt.Errorf("tilted: %w: %d workers", boxsum.ErrInvalid, opt.Workers)
	case opt.Offset != 0:
		return 0, fmt.Errorf("tilted: %w: tilted tables take no offset: sum in float64 instead", boxsum.ErrTypes)
	case opt.Level == boxsum.Auto:
		return kernel.Best(), nil
	}
	i := slices.Index(boxsum.Levels(), opt.Level)
	if i < 0 {
		return 0, fmt.Errorf("tilted: this machine has no %v: use one of %v", opt.Level, boxsum.Levels())
	}
	return kernel.Level(i), nil
}
