package gpu

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"image"
	"iter"
	"runtime"
	"slices"
	"sync"
	"sync/atomic"
	"testing"

	"github.com/boxsum/boxsum"
	"github.com/boxsum/boxsum/gpu/internal/devmem"
	"github.com/boxsum/boxsum/internal/fixture"
	"github.com/boxsum/boxsum/internal/launch"
	"github.com/boxsum/boxsum/internal/raster"
	"github.com/boxsum/boxsum/internal/ref"
	"pgregory.net/rapid"
)

// A frame is an image for a pipeline, and its table by the root package, or nil for an invalid
// image.
type frame struct {
	image boxsum.Image[uint8]
	want  *boxsum.Table[uint32]
}

func goodFrame(t rapid.TB, seed uint64, width, height, channels, pad int) frame {
	t.Helper()
	im := fixture.Noise[uint8](seed, width, height, channels, pad)
	want, err := boxsum.Integrate[uint32](im, nil)
	if err != nil {
		t.Fatal(err)
	}
	return frame{im, want}
}

func badFrame() frame {
	return frame{boxsum.Image[uint8]{Width: 5, Height: 4, Pix: make([]uint8, 19)}, nil}
}

// mixedFrames returns frames of many sizes, one of which is invalid.
func mixedFrames(t *testing.T, count int) []frame {
	t.Helper()
	frames := make([]frame, count)
	for i := range frames {
		frames[i] = goodFrame(t, uint64(i), 3+i*37%300, 1+i*53%90, 1+i%4, i%3)
	}
	frames[count/2] = badFrame()
	return frames
}

// each yields the images of frames, all in the same memory: a pipeline must be done with an image
// when it requests the next one.
func each(frames []frame) iter.Seq[boxsum.Image[uint8]] {
	return func(yield func(boxsum.Image[uint8]) bool) {
		var shared []uint8
		for _, f := range frames {
			im := f.image
			shared = append(shared[:0], im.Pix...)
			im.Pix = shared
			more := yield(im)
			for i := range shared {
				shared[i] = 0xEE
			}
			if !more {
				return
			}
		}
	}
}

// check compares the result of a pipeline for a frame with the expected one.
func (f frame) check(got *boxsum.Table[uint32], err error) error {
	switch {
	case f.want == nil && (got != nil || !errors.Is(err, boxsum.ErrInvalid)):
		return fmt.Errorf("a bad image gives %v, %v", got, err)
	case f.want == nil:
		return nil
	case err != nil:
		return err
	case got.Width != f.want.Width || got.Height != f.want.Height || got.Channels != f.want.Channels:
		return fmt.Errorf("a table of %d×%d×%d", got.Width, got.Height, got.Channels)
	}
	return fixture.SameTables(got, f.want)
}

// checkPipeline runs frames through a pipeline.
func checkPipeline(d *Device, frames []frame, opt *PipelineOptions) error {
	n := 0
	for got, err := range Pipeline[uint32](context.Background(), d, each(frames), opt) {
		if n == len(frames) {
			return fmt.Errorf("more than %d tables: %w", n, err)
		}
		if err := frames[n].check(got, err); err != nil {
			return fmt.Errorf("image %d: %w", n, err)
		}
		n++
	}
	if n != len(frames) {
		return fmt.Errorf("%d tables of %d images", n, len(frames))
	}
	return nil
}

func TestPipeline(t *testing.T) {
	frames := mixedFrames(t, 40)
	frames = append(frames, goodFrame(t, 1, 0, 7, 1, 0), goodFrame(t, 1, 7, 0, 2, 0), goodFrame(t, 1, 0, 0, 1, 0), goodFrame(t, 7, 1500, 900, 1, 0))
	eachDevice(t, func(t *testing.T, d *Device) {
		for _, opt := range []*PipelineOptions{
			nil,
			{Reuse: true},
			{InFlight: 1},
			{InFlight: 1, Reuse: true},
			{InFlight: 100, Reuse: true},
			{BandRows: 9},
			{BandRows: 9, Reuse: true},
			{Kernels: Portable, Reuse: true},
		} {
			for range 2 { // with new memory, and with that of the previous run
				if err := checkPipeline(d, frames, opt); err != nil {
					t.Errorf("%+v: %v", opt, err)
				}
			}
			if err := checkPipeline(d, nil, opt); err != nil {
				t.Errorf("%+v, no images: %v", opt, err)
			}
		}
	})
}

func TestPipelineOffset(t *testing.T) {
	eachDevice(t, func(t *testing.T, d *Device) {
		im := fixture.Noise[float32](1, 70, 50, 2, 0)
		pixels := arrayOfImage(im)
		want, err := boxsum.Integrate[float32](im, &boxsum.Options{Offset: 0.5})
		if err != nil {
			t.Fatal(err)
		}
		for _, opt := range []PipelineOptions{{}, {Reuse: true}, {BandRows: 9}} {
			opt.Offset = 0.5
			for got, err := range Pipeline[float32](t.Context(), d, slices.Values([]boxsum.Image[float32]{im}), &opt) {
				if err == nil {
					err = equals(tableOfSums(got), tableOfSums(want), &pixels, false)
				}
				if err != nil {
					t.Errorf("%+v: %v", opt, err)
				}
			}
		}
	})
}

func TestPipelineSquares(t *testing.T) {
	eachDevice(t, func(t *testing.T, d *Device) {
		var images []boxsum.Image[uint16]
		for i := range 12 {
			images = append(images, fixture.Noise[uint16](uint64(i), 9+i*31, 70-i*5, 1+i%3, i%2))
		}
		for _, opt := range []*PipelineOptions{nil, {Reuse: true}, {BandRows: 8, Reuse: true}} {
			n := 0
			for got, err := range PipelineSquares[uint64, uint64](t.Context(), d, slices.Values(images), opt) {
				if err != nil {
					t.Fatalf("%+v, image %d: %v", opt, n, err)
				}
				want, err := boxsum.IntegrateSquares[uint64, uint64](images[n], nil)
				if err != nil {
					t.Fatal(err)
				}
				if err := errors.Join(fixture.SameTables(got.Sum, want.Sum), fixture.SameTables(got.Squares, want.Squares)); err != nil {
					t.Errorf("%+v, image %d: %v", opt, n, err)
				}
				n++
			}
			if n != len(images) {
				t.Errorf("%+v: %d tables of %d images", opt, n, len(images))
			}
		}
	})
}

// TestPipelineProperty checks that for all inputs, and however the loop ends, tables are correct
// and in order, errors are in their place, and nothing is leaked.
func TestPipelineProperty(t *testing.T) {
	eachDevice(t, func(test *testing.T, real *Device) {
		rapid.Check(test, func(t *rapid.T) {
			d, s := strictly(test, real)
			free := func() error { return nil }
			frames := make([]frame, rapid.IntRange(0, 12).Draw(t, "images"))
			for i := range frames {
				width, height := rapid.IntRange(0, 80).Draw(t, "width"), rapid.IntRange(0, 40).Draw(t, "height")
				f := goodFrame(t, uint64(i), width, height, rapid.IntRange(1, 5).Draw(t, "channels"), rapid.IntRange(0, 2).Draw(t, "pad"))
				frames[i] = f
				switch rapid.IntRange(0, 5).Draw(t, "kind") {
				case 0:
					frames[i] = badFrame()
				case 1:
					im, release, err := NewHostImage[uint8](d, width, height, f.image.Channels)
					if err != nil {
						t.Fatal(err)
					}
					for y := range height {
						copy(im.Row(y), f.image.Row(y))
					}
					frames[i].image = im
					before := free
					free = func() error { return errors.Join(before(), release()) }
				}
			}
			opt := &PipelineOptions{InFlight: rapid.IntRange(0, 5).Draw(t, "in flight"), Reuse: rapid.Bool().Draw(t, "reuse")}
			opt.Kernels = Portable
			opt.BandRows = max(0, rapid.IntRange(-20, 20).Draw(t, "band rows"))
			leave := rapid.IntRange(0, 15).Draw(t, "break after")
			end := rapid.IntRange(0, 15).Draw(t, "cancel after")
			inside := rapid.Bool().Draw(t, "cancel inside of images")

			ctx, cancel := context.WithCancel(context.Background())
			defer cancel()
			images := func(yield func(boxsum.Image[uint8]) bool) {
				for i, f := range frames {
					if inside && i == end {
						cancel()
					}
					if !yield(f.image) {
						return
					}
				}
			}
			n, ended := 0, false
			for got, err := range Pipeline[uint32](ctx, d, images, opt) {
				if ended {
					t.Fatalf("something follows the context's error: %v, %v", got, err)
				}
				if errors.Is(err, context.Canceled) && ctx.Err() != nil {
					ended = true
					continue
				}
				if n == len(frames) {
					t.Fatalf("more tables than images: %v, %v", got, err)
				}
				if err := frames[n].check(got, err); err != nil {
					t.Fatalf("image %d: %v", n, err)
				}
				n++
				if !inside && n == end {
					cancel()
				}
				if n == leave {
					break
				}
			}
			if !ended && n != len(frames) && n != leave {
				t.Fatalf("%d tables of %d images", n, len(frames))
			}
			if !inside && n > end && end > 0 {
				t.Fatalf("%d tables after the context ended with %d", n, end)
			}
			if opt.BandRows == 0 && (ended || n == leave && n < len(frames)) {
				if got := len(s.pieces) + len(s.queues) + len(s.events); got != 1 { // the device's own stream
					t.Fatalf("the loop left something: %v", s.left())
				}
			}
			if err := errors.Join(d.Close(), free(), s.left()); err != nil {
				t.Fatal(err)
			}
		})
	})
}

// TestPipelinesAtOnce runs pipelines that share a device with each other.
func TestPipelinesAtOnce(t *testing.T) {
	frames := mixedFrames(t, 20)
	eachDevice(t, func(t *testing.T, d *Device) {
		var wg sync.WaitGroup
		for n := range 4 {
			wg.Go(func() {
				if err := checkPipeline(d, frames, &PipelineOptions{Reuse: n%2 == 0, InFlight: n}); err != nil {
					t.Errorf("pipeline %d: %v", n, err)
				}
			})
			wg.Go(func() {
				pair{raster.U8, raster.U32, 0}.check(t, d, shape{width: 50 + n, height: 40, channels: 1, count: 2, seed: uint64(n), bandRows: 7})
			})
		}
		wg.Wait()
		// One inside the loop of another.
		for got, err := range Pipeline[uint32](t.Context(), d, each(frames[:3]), &PipelineOptions{Reuse: true}) {
			if err != nil || got == nil {
				t.Fatal(err)
			}
			if err := checkPipeline(d, frames[:5], &PipelineOptions{Reuse: true}); err != nil {
				t.Error(err)
			}
		}
	})
}

// TestPipelineLittleMemory checks that less memory means fewer images in flight, down to bands of
// one, and that every image returns an error only if these do not fit either.
func TestPipelineLittleMemory(t *testing.T) {
	frames := []frame{goodFrame(t, 1, 200, 150, 2, 0), goodFrame(t, 2, 20, 30, 2, 0), goodFrame(t, 3, 200, 150, 2, 0), goodFrame(t, 4, 210, 170, 2, 0), goodFrame(t, 5, 10, 10, 1, 0)}
	eachDevice(t, func(t *testing.T, real *Device) {
		for _, reuse := range []bool{false, true} {
			worked, failed := 0, 0
			for limit := int64(4 << 20); limit > 1<<10; limit = limit * 3 / 4 {
				d, s := strictly(t, real)
				s.limit = limit
				opt := &PipelineOptions{Reuse: reuse}
				opt.Kernels = Portable
				for range 2 {
					switch err := checkPipeline(d, frames, opt); {
					case errors.Is(err, boxsum.ErrMemory):
						failed++
					case err != nil:
						t.Errorf("%d bytes: %v", limit, err)
					default:
						worked++
					}
				}
				if _, err := boxsum.Integrate[uint32](frames[0].image, &boxsum.Options{On: d, Level: levelOf(opt.Kernels), BandRows: opt.BandRows}); err != nil && !errors.Is(err, boxsum.ErrMemory) {
					t.Errorf("%d bytes: %v", limit, err)
				}
				if err := errors.Join(d.Close(), s.left()); err != nil {
					t.Errorf("%d bytes: %v", limit, err)
				}
			}
			if worked < 10 || failed == 0 {
				t.Errorf("%d limits were enough and %d too little", worked, failed)
			}
		}
	})
}

// TestPipelineKeepsMemory checks that the memory of a pipeline is reused by the next one, and freed
// if it is needed elsewhere.
func TestPipelineKeepsMemory(t *testing.T) {
	frames := []frame{goodFrame(t, 1, 200, 150, 1, 0), goodFrame(t, 2, 200, 150, 1, 0), goodFrame(t, 3, 100, 50, 1, 0)}
	eachDevice(t, func(t *testing.T, real *Device) {
		d, s := strictly(t, real)
		opt := &PipelineOptions{Reuse: true, InFlight: 1, Kernels: Portable}
		if err := checkPipeline(d, frames, opt); err != nil {
			t.Fatal(err)
		}
		pieces, hosts := len(s.pieces), len(s.hosts)
		if pieces == 0 || hosts == 0 {
			t.Error("nothing was kept")
		}
		for range 3 {
			if err := checkPipeline(d, frames, opt); err != nil {
				t.Fatal(err)
			}
		}
		if len(s.pieces) != pieces || len(s.hosts) != hosts {
			t.Errorf("%d pieces on the device and %d on the host became %d and %d", pieces, hosts, len(s.pieces), len(s.hosts))
		}
		s.limit = s.used
		im, err := NewImage[uint8](d, 100, 100, 1, 1)
		if err != nil {
			t.Errorf("an image in the place of what was kept: %v", err)
		}
		if err := errors.Join(im.Close(), d.Close(), s.left()); err != nil {
			t.Error(err)
		}
	})
}

// TestSlots checks that slots of an earlier pipeline are freed for an image that needs their
// memory, and that pipelines do not allocate so much that the host would suffer.
func TestSlots(t *testing.T) {
	small, large := goodFrame(t, 1, 100, 100, 1, 0), goodFrame(t, 2, 300, 200, 1, 0)
	eachDevice(t, func(t *testing.T, real *Device) {
		d, s := strictly(t, real)
		opt := &PipelineOptions{InFlight: 6, Kernels: Portable}
		if err := checkPipeline(d, slices.Repeat([]frame{small}, 20), opt); err != nil {
			t.Fatal(err)
		}
		s.limit = s.used + 1000
		opt.InFlight = 1
		if err := checkPipeline(d, []frame{large}, opt); err != nil {
			t.Fatal(err)
		}
		image := devmem.Array{Element: raster.U8, Width: 300, Height: 200, Count: 1}
		table := devmem.Array{Element: raster.U32, Width: 300, Height: 200, Count: 1, Border: 1}
		imageBytes, err1 := image.Layout()
		tableBytes, err2 := table.Layout()
		if room := roomOfImages(d); room != imageBytes+tableBytes || err1 != nil || err2 != nil {
			t.Errorf("slots have %d bytes, want %d", room, imageBytes+tableBytes)
		}
		if err := errors.Join(d.Close(), s.left()); err != nil {
			t.Error(err)
		}
	})
}

// TestPipelineFaults checks that whichever call of the driver fails, some image returns the error
// or the run continues without it, nothing is leaked, and the next run works.
func TestPipelineFaults(t *testing.T) {
	frames := []frame{goodFrame(t, 1, 20, 10, 3, 1), goodFrame(t, 2, 30, 10, 1, 0), goodFrame(t, 3, 25, 15, 2, 0)}
	opt := &PipelineOptions{InFlight: 1, Kernels: Portable}
	eachDevice(t, func(t *testing.T, real *Device) {
		for _, reuse := range []bool{false, true} {
			opt := *opt
			opt.Reuse = reuse
			d, s := strictly(t, real)
			if err := checkPipeline(d, frames, &opt); err != nil {
				t.Fatal(err)
			}
			calls := s.calls
			if err := errors.Join(d.Close(), s.left()); err != nil {
				t.Fatal(err)
			}
			for fuse := 2; fuse <= calls; fuse++ {
				d, s := strictly(t, real)
				s.fuse = fuse
				if err := checkPipeline(d, frames, &opt); !errors.Is(err, errFuse) {
					t.Errorf("call %d of %d failed without an error: %v", fuse, calls, err)
				}
				if err := checkPipeline(d, frames, &opt); err != nil {
					t.Errorf("after call %d of %d failed: %v", fuse, calls, err)
				}
				if err := errors.Join(d.Close(), s.left()); err != nil {
					t.Errorf("call %d of %d: %v", fuse, calls, err)
				}
			}
		}
	})
}

// TestPipelineFaultsSideBySide does the same with equal images, one of which is staged while the
// work of another is queued. The others must have their tables.
func TestPipelineFaultsSideBySide(t *testing.T) {
	var frames []frame
	for i := range 6 {
		frames = append(frames, goodFrame(t, uint64(i), 20, 10, 1, i%2))
	}
	eachDevice(t, func(t *testing.T, real *Device) {
		for _, reuse := range []bool{false, true} {
			opt := &PipelineOptions{InFlight: 3, Reuse: reuse, Kernels: Portable}
			for fuse := 2; ; fuse += 3 {
				d, s := strictly(t, real)
				s.fuse = fuse
				n, failed := 0, 0
				for got, err := range Pipeline[uint32](t.Context(), d, each(frames), opt) {
					if errors.Is(err, errFuse) {
						failed++
					} else if err := frames[n].check(got, err); err != nil {
						t.Errorf("image %d after call %d failed: %v", n, fuse, err)
					}
					n++
				}
				if burnt := s.calls >= fuse; burnt != (failed == 1) {
					t.Errorf("call %d failed, %d images said so", fuse, failed)
				}
				done := s.calls < fuse
				s.fuse = 0
				if err := errors.Join(checkPipeline(d, frames, opt), d.Close(), s.left()); err != nil {
					t.Errorf("after call %d failed: %v", fuse, err)
				}
				if done {
					break
				}
			}
		}
	})
}

// TestPipelineShortSideBySide checks that no image returns an error if memory runs out while equal
// images are staged and queued concurrently.
func TestPipelineShortSideBySide(t *testing.T) {
	var frames []frame
	for i := range 6 {
		frames = append(frames, goodFrame(t, uint64(i), 20, 10, 1, i%2))
	}
	eachDevice(t, func(t *testing.T, real *Device) {
		for _, reuse := range []bool{false, true} {
			opt := &PipelineOptions{InFlight: 3, Reuse: reuse, Kernels: Portable}
			const streams = 4 // created first; they must not fail
			for fuse := streams + 1; ; fuse += 2 {
				d, s := strictly(t, real)
				s.fuse, s.fault = fuse, boxsum.ErrMemory
				err := checkPipeline(d, frames, opt)
				done := s.calls < fuse
				s.fuse = 0
				if err := errors.Join(err, checkPipeline(d, frames, opt), d.Close(), s.left()); err != nil {
					t.Errorf("no memory for call %d: %v", fuse, err)
				}
				if done {
					break
				}
			}
		}
	})
}

// TestPipelineClose closes the device inside the loop. Tables in progress may still arrive,
// followed by one error, and the table that the loop holds remains readable.
func TestPipelineClose(t *testing.T) {
	frames := mixedFrames(t, 30)[:15]
	eachDevice(t, func(t *testing.T, real *Device) {
		for _, reuse := range []bool{false, true} {
			d, s := strictly(t, real)
			n, ends := 0, 0
			opt := &PipelineOptions{InFlight: 2, Reuse: reuse, Kernels: Portable}
			for got, err := range Pipeline[uint32](t.Context(), d, each(frames), opt) {
				if errors.Is(err, boxsum.ErrClosed) {
					ends++
					continue
				}
				if n == 3 {
					if err := d.Close(); err != nil {
						t.Error(err)
					}
				}
				if err := frames[n].check(got, err); err != nil || ends > 0 {
					t.Errorf("image %d: %v after %d ends", n, err, ends)
				}
				n++
			}
			if ends != 1 || n < 4 || n == len(frames) {
				t.Errorf("%d tables and %d ends", n, ends)
			}
			if err := s.left(); err != nil {
				t.Error(err)
			}
			for got, err := range Pipeline[uint32](t.Context(), d, each(frames), opt) {
				if got != nil || !errors.Is(err, boxsum.ErrClosed) {
					t.Errorf("a closed device gives %v, %v", got, err)
				}
			}
		}
	})
}

// TestPipelineCancelInBands checks that a loop which has ended does not wait for all bands of an
// image.
func TestPipelineCancelInBands(t *testing.T) {
	const height = 3000
	tall := goodFrame(t, 1, 3, height, 1, 0)
	eachDevice(t, func(t *testing.T, real *Device) {
		d, s := strictly(t, real)
		ctx, cancel := context.WithCancel(t.Context())
		defer cancel()
		var sent atomic.Int64
		s.sent = func() {
			if sent.Add(1) == 3 {
				cancel()
			}
		}
		opt := &PipelineOptions{Kernels: Portable, BandRows: 1}
		for got, err := range Pipeline[uint32](ctx, d, each([]frame{tall, tall}), opt) {
			if got != nil || !errors.Is(err, context.Canceled) {
				t.Errorf("a canceled pipeline gives %v, %v", got, err)
			}
		}
		if n := sent.Load(); n < 3 || n >= height {
			t.Errorf("%d of %d bands went to the device", n, height)
		}
		s.sent = nil
		if err := errors.Join(checkPipeline(d, []frame{tall}, &PipelineOptions{Kernels: Portable}), d.Close(), s.left()); err != nil {
			t.Error(err)
		}
	})
}

// TestPipelineReuseEmpties checks that a reused table is empty once the next one arrives.
func TestPipelineReuseEmpties(t *testing.T) {
	frames := mixedFrames(t, 10)
	eachDevice(t, func(t *testing.T, d *Device) {
		var tables []*boxsum.Table[uint32]
		for got, err := range Pipeline[uint32](t.Context(), d, each(frames), &PipelineOptions{Reuse: true}) {
			for _, old := range tables {
				if old.Sums != nil || old.At(0, 0, 0) != 0 || old.Sum(image.Rect(0, 0, 2, 2)) != 0 {
					t.Error("a table outlives its turn")
				}
			}
			if err == nil {
				tables = append(tables, got)
			}
		}
	})
}

// TestPipelinePanics checks that a panic or runtime.Goexit of images ends the loop in the same way.
func TestPipelinePanics(t *testing.T) {
	twice := []frame{goodFrame(t, 1, 20, 10, 1, 0), goodFrame(t, 2, 20, 10, 1, 0)}
	broken := errors.New("broken")
	eachDevice(t, func(t *testing.T, real *Device) {
		d, s := strictly(t, real)
		loop := func(last func()) {
			images := func(yield func(boxsum.Image[uint8]) bool) {
				yield(twice[0].image)
				last()
			}
			for got, err := range Pipeline[uint32](t.Context(), d, images, &PipelineOptions{Kernels: Portable}) {
				if err := twice[0].check(got, err); err != nil {
					t.Error(err)
				}
			}
		}
		func() {
			defer func() {
				if got := recover(); got != broken {
					t.Errorf("a panic of images becomes %v", got)
				}
			}()
			loop(func() { panic(broken) })
			t.Error("the loop went on after a panic of images")
		}()
		done := make(chan struct{})
		go func() {
			defer close(done)
			loop(runtime.Goexit)
			t.Error("the loop went on after images ended its goroutine")
		}()
		<-done
		func() {
			defer func() { recover() }()
			for range Pipeline[uint32](t.Context(), d, each(twice), &PipelineOptions{Kernels: Portable}) {
				panic(broken)
			}
		}()
		if err := errors.Join(d.Close(), s.left()); err != nil {
			t.Error(err)
		}
	})
}

func TestPipelineErrors(t *testing.T) {
	eachDevice(t, func(t *testing.T, d *Device) {
		one := slices.Values([]boxsum.Image[uint8]{fixture.Noise[uint8](1, 6, 5, 1, 0)})
		ended, cancel := context.WithCancel(t.Context())
		cancel()
		first := func(seq iter.Seq2[*boxsum.Table[uint32], error]) (err error) {
			n := 0
			for _, e := range seq {
				err = e
				n++
			}
			if n != 1 {
				return fmt.Errorf("%d results, the last %v", n, err)
			}
			return err
		}
		for _, test := range []struct {
			name string
			err  error
			want error
		}{
			{"nil device", first(Pipeline[uint32](t.Context(), nil, one, nil)), ErrNoDevice},
			{"ended context", first(Pipeline[uint32](ended, d, one, nil)), context.Canceled},
			{"types", first(Pipeline[uint32](t.Context(), d, slices.Values([]boxsum.Image[float64]{}), nil)), boxsum.ErrTypes},
			{"negative bands", first(Pipeline[uint32](t.Context(), d, one, &PipelineOptions{BandRows: -1})), boxsum.ErrInvalid},
			{"fewer than none in flight", first(Pipeline[uint32](t.Context(), d, one, &PipelineOptions{InFlight: -1})), boxsum.ErrInvalid},
			{"too many in flight", first(Pipeline[uint32](t.Context(), d, one, &PipelineOptions{InFlight: 1 << 30})), boxsum.ErrInvalid},
			{"fast kernels for six channels", first(Pipeline[uint32](t.Context(), d, slices.Values([]boxsum.Image[uint8]{fixture.Noise[uint8](1, 4, 4, 6, 0)}), &PipelineOptions{Kernels: Fast})), boxsum.ErrTypes},
			{"host image without device", third(NewHostImage[uint8](nil, 1, 1, 1)), ErrNoDevice},
			{"host image of negative size", third(NewHostImage[uint8](d, 1, -1, 1)), boxsum.ErrInvalid},
			{"host table without device", third(NewHostTable[uint32](nil, 1, 1, 1)), ErrNoDevice},
			{"host table of negative size", third(NewHostTable[uint32](d, -1, 1, 1)), boxsum.ErrInvalid},
		} {
			if !errors.Is(test.err, test.want) {
				t.Errorf("%s: %v, want %v", test.name, test.err, test.want)
			}
		}
		for range Pipeline[uint32, uint8](t.Context(), d, nil, nil) {
			t.Error("no images have a table")
		}
	})
}

func third[A, B any](_ A, _ B, err error) error { return err }

// TestHostImage passes page-locked images and parts of them through a pipeline. An image that is
// released too early remains valid until the device has read it, and one that is released late
// outlives its device.
func TestHostImage(t *testing.T) {
	eachDevice(t, func(t *testing.T, real *Device) {
		d, s := strictly(t, real)
		whole, release, err := NewHostImage[uint16](d, 301, 203, 3)
		if err != nil {
			t.Fatal(err)
		}
		for y := range whole.Height {
			for i, p := range whole.Row(y) {
				if p != 0 {
					t.Fatalf("value %d of row %d is %d", i, y, p)
				}
				whole.Row(y)[i] = uint16(y*y + 7*i)
			}
		}
		part := whole
		part.Pix, part.Width, part.Height = whole.Pix[5*whole.Stride+9:], 100, 44
		var wants []*boxsum.Table[uint64]
		images := []boxsum.Image[uint16]{whole, part, {Pix: whole.Pix, Stride: 2 * whole.Stride, Width: 301, Height: 101, Channels: 3}}
		for _, im := range images {
			want, err := boxsum.Integrate[uint64](im, nil)
			if err != nil {
				t.Fatal(err)
			}
			wants = append(wants, want)
		}
		in := func(yield func(boxsum.Image[uint16]) bool) {
			for _, im := range images {
				if !yield(im) {
					return
				}
			}
			if err := errors.Join(release(), release()); err != nil {
				t.Error(err)
			}
		}
		n := 0
		for got, err := range Pipeline[uint64](t.Context(), d, in, &PipelineOptions{Kernels: Portable}) {
			if err == nil {
				err = fixture.SameTables(got, wants[n])
			}
			if err != nil {
				t.Errorf("image %d: %v", n, err)
			}
			n++
		}
		if len(d.inner.Blocks) != 0 {
			t.Error("page-locked memory is left")
		}
		late, release, err := NewHostImage[uint16](d, 10, 10, 1)
		if err := errors.Join(err, d.Close()); err != nil {
			t.Fatal(err)
		}
		late.Pix[99] = 1
		if err := errors.Join(release(), s.left()); err != nil {
			t.Error(err)
		}
	})
}

// TestPipelineInto checks that given tables are returned in order, each with the sums of its image
// or with its error, and can be used again. It makes no difference whether they are page-locked,
// and the gaps between and around their rows do not change.
func TestPipelineInto(t *testing.T) {
	const width, height, channels = 61, 37, 2
	var frames []frame
	for i := range 30 {
		frames = append(frames, goodFrame(t, uint64(i), width, height, channels, i%3))
	}
	frames[7] = badFrame()
	eachDevice(t, func(t *testing.T, real *Device) {
		d, s := strictly(t, real)
		locked, release, err := NewHostTable[uint32](d, width, height, channels)
		if err != nil {
			t.Fatal(err)
		}
		atlas, releaseAtlas, err := NewHostTable[uint32](d, 2*width, 2*height, channels)
		if err != nil {
			t.Fatal(err)
		}
		for i := range atlas.Sums {
			atlas.Sums[i] = 0xEEEEEEEE
		}
		part := &boxsum.Table[uint32]{Sums: atlas.Sums[3*atlas.Stride+5:], Stride: atlas.Stride, Width: width, Height: height, Channels: channels}
		plain, err := boxsum.NewTable[uint32](width, height, channels)
		if err != nil {
			t.Fatal(err)
		}
		for _, opt := range []PipelineOptions{{}, {InFlight: 1}, {Reuse: true}, {BandRows: 5}} {
			opt.Kernels = Portable
			pool := []*boxsum.Table[uint32]{locked, part, plain, {Width: width, Height: height, Channels: channels, Stride: 200, Sums: make([]uint32, 200*(height+1))}}
			out := map[*boxsum.Table[uint32]]int{} // the image in each table
			images := func(yield func(*boxsum.Table[uint32], boxsum.Image[uint8]) bool) {
				for i, f := range frames {
					if len(pool) == 0 {
						t.Error("more tables are out than images may be in flight")
						return
					}
					table := pool[0]
					pool = pool[1:]
					out[table] = i
					if !yield(table, f.image) {
						return
					}
				}
			}
			opt.InFlight = cmp.Or(opt.InFlight, 3)
			n := 0
			for got, err := range PipelineInto(t.Context(), d, images, &opt) {
				if i, ok := out[got]; !ok || i != n {
					t.Fatalf("%+v: table of image %d comes for image %d", opt, i, n)
				}
				table := got
				if frames[n].want == nil {
					table = nil
				}
				if err := frames[n].check(table, err); err != nil {
					t.Fatalf("%+v: image %d: %v", opt, n, err)
				}
				n++
				delete(out, got)
				pool = append(pool, got)
			}
			if n != len(frames) || len(pool) != 4 {
				t.Errorf("%+v: %d images came out, %d tables are there", opt, n, len(pool))
			}
		}
		row := (width + 1) * channels
		for i, v := range atlas.Sums {
			y, x := (i-5)/atlas.Stride-3, (i-5)%atlas.Stride
			if inside := i >= 3*atlas.Stride+5 && y <= height && x < row; !inside && v != 0xEEEEEEEE {
				t.Fatalf("entry %d outside of the table is %#x", i, v)
			}
		}
		if len(d.inner.Blocks) != 2 || d.inner.Blocks[0].Users+d.inner.Blocks[1].Users != 2 {
			t.Error("page-locked tables are still in use")
		}
		if err := errors.Join(release(), releaseAtlas(), d.Close(), s.left()); err != nil {
			t.Error(err)
		}
	})
}

// TestPipelineIntoErrors checks that tables which cannot hold an image return an error for that
// image, and are handed back.
func TestPipelineIntoErrors(t *testing.T) {
	im := fixture.Noise[uint16](1, 20, 10, 1, 0)
	want, err := boxsum.IntegrateSquares[uint64, uint64](im, nil)
	if err != nil {
		t.Fatal(err)
	}
	good, err := boxsum.NewSquaredTable[uint64, uint64](20, 10, 1)
	if err != nil {
		t.Fatal(err)
	}
	wrong, err := boxsum.NewSquaredTable[uint64, uint64](20, 11, 1)
	if err != nil {
		t.Fatal(err)
	}
	in := []*boxsum.SquaredTable[uint64, uint64]{good, wrong, nil, {Sum: good.Sum}, {Sum: good.Sum, Squares: wrong.Squares}, good}
	eachDevice(t, func(t *testing.T, d *Device) {
		images := func(yield func(*boxsum.SquaredTable[uint64, uint64], boxsum.Image[uint16]) bool) {
			for _, table := range in {
				if !yield(table, im) {
					return
				}
			}
		}
		n := 0
		for got, err := range PipelineSquaresInto(t.Context(), d, images, &PipelineOptions{InFlight: 2}) {
			switch {
			case got != in[n]:
				t.Errorf("image %d comes with another table", n)
			case got != good && !errors.Is(err, boxsum.ErrInvalid):
				t.Errorf("image %d: %v", n, err)
			case got == good:
				if err := errors.Join(err, fixture.SameTables(got.Sum, want.Sum), fixture.SameTables(got.Squares, want.Squares)); err != nil {
					t.Errorf("image %d: %v", n, err)
				}
			}
			n++
		}
		if n != len(in) {
			t.Errorf("%d of %d images came out", n, len(in))
		}
	})
}

// TestIntegrateHostLocked checks that IntegrateInto reads and writes page-locked memory in place,
// and does not touch the memory around it.
func TestIntegrateHostLocked(t *testing.T) {
	const width, height, channels = 130, 71, 3
	eachDevice(t, func(t *testing.T, real *Device) {
		d, s := strictly(t, real)
		whole, releaseImage, err := NewHostImage[uint8](d, width+9, height+5, channels)
		if err != nil {
			t.Fatal(err)
		}
		for i := range whole.Pix {
			whole.Pix[i] = uint8(i * i >> 3)
		}
		im := boxsum.Image[uint8]{Pix: whole.Pix[2*whole.Stride+4:], Stride: whole.Stride, Width: width, Height: height, Channels: channels}
		want, err := boxsum.IntegrateSquares[uint64, uint64](im, nil)
		if err != nil {
			t.Fatal(err)
		}
		sums, releaseSums, err := NewHostTable[uint64](d, width, height, channels)
		if err != nil {
			t.Fatal(err)
		}
		squares, err := boxsum.NewTable[uint64](width, height, channels)
		if err != nil {
			t.Fatal(err)
		}
		row := (width + 1) * channels
		for _, rows := range []int{0, 1, 7, 100} {
			for i := range sums.Sums {
				sums.Sums[i] = 0xEEEEEEEE
			}
			clear(squares.Sums)
			got := &boxsum.SquaredTable[uint64, uint64]{Sum: sums, Squares: squares}
			if err := boxsum.IntegrateSquaresInto(got, im, &boxsum.Options{On: d, Level: portable, BandRows: rows}); err != nil {
				t.Fatal(err)
			}
			if err := errors.Join(fixture.SameTables(got.Sum, want.Sum), fixture.SameTables(got.Squares, want.Squares)); err != nil {
				t.Errorf("bands of %d: %v", rows, err)
			}
			for i, v := range sums.Sums {
				if i%sums.Stride >= row && v != 0xEEEEEEEE {
					t.Fatalf("bands of %d: entry %d between the rows is %#x", rows, i, v)
				}
			}
		}
		if err := errors.Join(releaseImage(), releaseSums(), d.Close(), s.left()); err != nil {
			t.Error(err)
		}
	})
}

// BenchmarkPipeline helps to choose the number of images in flight. Images are 2160p, and
// "of-copies" is the fraction of the time that the copies alone take.
func BenchmarkPipeline(b *testing.B) {
	d, err := OpenBest(CUDA, OpenCL)
	if err != nil {
		ref.NoDevice(b, err)
	}
	defer d.Close()
	const width, height = 3840, 2160
	plain := fixture.Noise[uint8](1, width, height, 1, 0)
	locked, release, err := NewHostImage[uint8](d, width, height, 1)
	if err != nil {
		b.Fatal(err)
	}
	defer release()
	for _, way := range []struct {
		name  string
		image boxsum.Image[uint8]
		reuse bool
	}{{"reused", plain, true}, {"locked", locked, true}, {"new", plain, false}} {
		for _, n := range []int{2, 3, 4, 6, 8, 12, 16} {
			b.Run(fmt.Sprintf("%s/%d", way.name, n), func(b *testing.B) {
				run := func(count int) {
					images := func(yield func(boxsum.Image[uint8]) bool) {
						for i := 0; i < count && yield(way.image); i++ {
						}
					}
					for _, err := range Pipeline[uint32](b.Context(), d, images, &PipelineOptions{InFlight: n, Reuse: way.reuse}) {
						if err != nil {
							b.Fatal(err)
						}
					}
				}
				run(2 * n) // allocates memory
				copies, err := launch.TransferTime(d, width*height, 4*(width+1)*(height+1), b.N)
				if err != nil {
					b.Fatal(err)
				}
				b.ResetTimer()
				run(b.N)
				b.StopTimer()
				b.ReportMetric(copies.Seconds()/b.Elapsed().Seconds(), "of-copies")
			})
		}
	}
}
