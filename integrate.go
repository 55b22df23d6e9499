package boxsum

import (
	"fmt"
	"runtime"
	"unsafe"

	"github.com/boxsum/boxsum/internal/engine"
	"github.com/boxsum/boxsum/internal/kernel"
)

// Options says how to integrate; nil and the zero value mean the best for the
// machine.
type Options struct {
	// Workers is how many goroutines may work at once, at most. Zero stands
	// for GOMAXPROCS. Small images use fewer.
	Workers int

	// Level is the instruction set to use; [Auto] picks the best.
	Level Level

	// Offset is subtracted from every pixel before summing, and put back by
	// box queries. Taking the mean away keeps float32 sums small and so
	// nearly exact: it is for tables of float32, and an error with others.
	Offset float32
}

// Integrate makes the table of an image:
//
//	table, err := boxsum.Integrate[uint32](img, nil)
//
// The pairs of pixel and sum types are uint8 to uint32, uint64, float32 or
// float64; uint16 to uint64 or float64; uint32 to uint64 or uint32; int16 and
// int32 to int64; float32 to float64 or float32; float64 to float64. Any other
// is an [ErrTypes].
func Integrate[S Sum, P Pixel](src Image[P], opt *Options) (*Table[S], error) {
	src, err := src.checked()
	if err != nil {
		return nil, err
	}
	if err := pairError[S, P](kernel.Sums[P, S](kernel.Portable)); err != nil {
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

// IntegrateInto makes the table of an image in dst, which must have the
// image's size and must not overlap it. It does not allocate once an image of
// the same type has been through dst. A table of the caller's own memory works
// too, zero Channels and Stride standing for what they do in an [Image]; one
// from [NewTable] is laid out to be written faster.
func IntegrateInto[S Sum, P Pixel](dst *Table[S], src Image[P], opt *Options) error {
	opt, level, err := opt.checked()
	if err != nil {
		return err
	}
	if src, err = src.checked(); err != nil {
		return err
	}
	f := kernel.Sums[P, S](level)
	if err := pairError[S, P](f); err != nil {
		return err
	}
	if err := dst.accepts(src.Width, src.Height, src.Channels); err != nil {
		return err
	}
	if err := offsetError[S](opt.Offset); err != nil {
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
	dst.Offset = opt.Offset
	plan := opt.plan(src.Width, src.Height, src.Channels, int(unsafe.Sizeof(*new(P))), int(unsafe.Sizeof(*new(S))))
	layer(&run.sums, dst, src, f, plan)
	run.engine.Run(plan.Grid, plan.Workers)
	run.sums.Release()
	return nil
}

// sumRun is what integrating into a table needs again and again. A copy of the
// table is another table, and gets its own.
type sumRun[P Pixel, S Sum] struct {
	owner  *Table[S]
	engine engine.Engine
	sums   engine.Sums[P, S]
}

// layer points an engine layer at a table and an image.
func layer[P Pixel, S Sum](l *engine.Sums[P, S], dst *Table[S], src Image[P], f kernel.Func[P, S], plan engine.Plan) {
	l.Kernel = f
	l.Src, l.SrcStride = src.Pix, src.Stride
	l.Dst, l.DstStride = dst.Sums, dst.Stride
	l.Channels = src.Channels
	l.Offset = dst.Offset
	l.Writes = plan.Writes
	l.Prepare(plan.Grid, plan.Workers)
}

var defaults Options

// checked stands in for nil, finds the level, and says what is wrong.
func (o *Options) checked() (*Options, kernel.Level, error) {
	if o == nil {
		o = &defaults
	}
	if offset := float64(o.Offset); offset-offset != 0 {
		return nil, 0, fmt.Errorf("boxsum: %w: an offset of %v", ErrInvalid, offset)
	}
	if o.Workers < 0 {
		return nil, 0, fmt.Errorf("boxsum: %w: %d workers", ErrInvalid, o.Workers)
	}
	level, err := o.Level.kernelLevel()
	return o, level, err
}

// WorkersFor is how many workers make a table of this size: not more than
// asked for, and fewer where more would not help. With squares, sumBytes is
// that of both sums together.
func (o *Options) WorkersFor(width, height, channels, pixelBytes, sumBytes int) int {
	if o == nil {
		o = &defaults
	}
	if _, err := elements(width, height, channels); err != nil {
		return 0
	}
	return o.plan(width, height, channels, pixelBytes, sumBytes).Workers
}

// plan is how to cut an image whose pixels and sums take so many bytes a value.
func (o *Options) plan(width, height, channels, pixelBytes, sumBytes int) engine.Plan {
	workers := o.Workers
	if workers == 0 {
		workers = runtime.GOMAXPROCS(0)
	}
	return engine.Work{
		Rows: height, N: width * channels, Channels: channels,
		PixelBytes: pixelBytes, SumBytes: sumBytes,
		Workers: workers,
	}.Plan()
}

// accepts says whether the table can take the sums of an image of this size.
func (t *Table[S]) accepts(width, height, channels int) error {
	if t != nil {
		t.Channels = orOne(t.Channels)
		if t.Stride == 0 && t.checkSize() == nil {
			t.Stride = (t.Width + 1) * t.Channels
		}
	}
	if err := t.check(); err != nil {
		return err
	}
	if t.Width != width || t.Height != height || t.Channels != channels {
		return fmt.Errorf("boxsum: %w: a table for %d×%d with %d channels cannot take an image of %d×%d with %d",
			ErrInvalid, t.Width, t.Height, t.Channels, width, height, channels)
	}
	return nil
}

// apart says whether two buffers share no memory.
func apart[A, B any](a []A, b []B) error {
	if len(a) == 0 || len(b) == 0 {
		return nil
	}
	a0, b0 := uintptr(unsafe.Pointer(&a[0])), uintptr(unsafe.Pointer(&b[0]))
	a1, b1 := a0+uintptr(len(a))*unsafe.Sizeof(a[0]), b0+uintptr(len(b))*unsafe.Sizeof(b[0])
	if a0 < b1 && b0 < a1 {
		return fmt.Errorf("boxsum: %w: a table may not lie in the memory of its image or of another table", ErrInvalid)
	}
	return nil
}

func pairError[S Sum, P Pixel](f kernel.Func[P, S]) error {
	if f != nil {
		return nil
	}
	return fmt.Errorf("boxsum: %w: no table of %T from pixels of %T", ErrTypes, *new(S), *new(P))
}

func offsetError[S Sum](offset float32) error {
	if _, ok := any(*new(S)).(float32); offset != 0 && !ok {
		return fmt.Errorf("boxsum: %w: an offset is for tables of float32, not of %T", ErrTypes, *new(S))
	}
	return nil
}
