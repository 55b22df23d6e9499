package gpu

import (
	"errors"
	"math"
	"sync"
	"sync/atomic"
	"testing"

	"github.com/boxsum/boxsum"
	"github.com/boxsum/boxsum/gpu/internal/driver"
	"github.com/boxsum/boxsum/histogram"
	"github.com/boxsum/boxsum/internal/fixture"
	"github.com/boxsum/boxsum/rotated"
)

// TestNoDevice checks that the zero Device and a nil device return errors.
func TestNoDevice(t *testing.T) {
	for _, d := range []*Device{nil, {}} {
		_, _, memory := d.Memory()
		_, _, locked := NewHostImage[uint8](d, 1, 1, 1)
		for name, err := range map[string]error{
			"Wait":         d.Wait(),
			"Memory":       memory,
			"NewHostImage": locked,
			"OnStream":     second(onStream(d, 0)),
			"Take":         second(take(d, 1)),
			"Give":         give(d, 1),
			"NewImage":     second(NewImage[uint8](d, 1, 1, 1, 1)),
			"NewHistogram": second(NewHistogram[uint8](d, 1, 1, 1, 1, histogram.Bins{N: 2})),
			"Host":         second(boxsum.Integrate[uint32](fixture.Noise[uint8](1, 5, 4, 1, 0), &boxsum.Options{On: d})),
		} {
			if !errors.Is(err, ErrNoDevice) {
				t.Errorf("%s: %v", name, err)
			}
		}
		if err := d.Close(); err != nil {
			t.Error(err)
		}
	}
}

// An idleBackend does nothing except count what is freed, and when it is closed.
type idleBackend struct {
	driver.Backend
	freed, closed *atomic.Int32
}

func (b idleBackend) Info() driver.Info { return driver.Info{} }

func (b idleBackend) CUDA() *driver.CUDABackend { return nil }

func (b idleBackend) CheckStream(driver.Stream) error { return nil }

func (b idleBackend) NewStream() (driver.Stream, error) { return 1, nil }

func (b idleBackend) FreeStream(driver.Stream) error { return nil }

func (b idleBackend) Wait(driver.Stream) error { return nil }

func (b idleBackend) Alloc(int64) (driver.Memory, error) { return 1, nil }

func (b idleBackend) Free(driver.Memory) error { b.freed.Add(1); return nil }

func (b idleBackend) Close() error { b.closed.Add(1); return nil }

// TestOnStreamBesideClose checks that a view created while its owner closes does not keep the
// driver open forever.
func TestOnStreamBesideClose(t *testing.T) {
	const rounds = 3000
	var closed atomic.Int32
	for range rounds {
		d, err := newDevice(idleBackend{closed: &closed})
		if err != nil {
			t.Fatal(err)
		}
		var wg sync.WaitGroup
		for i := range uintptr(4) {
			wg.Go(func() {
				if _, err := onStream(d, i%3); err != nil && !errors.Is(err, boxsum.ErrClosed) {
					t.Error(err)
				}
			})
		}
		if err := d.Close(); err != nil {
			t.Error(err)
		}
		wg.Wait()
	}
	if n := closed.Load(); n != rounds {
		t.Errorf("%d of %d devices went away", n, rounds)
	}
}

// TestOnStreamAfterClose checks that a closed view with a running pipeline is not returned again.
func TestOnStreamAfterClose(t *testing.T) {
	var closed atomic.Int32
	d, err := newDevice(idleBackend{closed: &closed})
	if err != nil {
		t.Fatal(err)
	}
	g, err := onStream(d, 5)
	if err != nil {
		t.Fatal(err)
	}
	if err := errors.Join(g.inner.Retain(), g.Close()); err != nil {
		t.Fatal(err)
	}
	again, err := onStream(d, 5)
	if err != nil || again == g {
		t.Errorf("a closed guest again: %v", err)
	}
	if err := d.Close(); err != nil || closed.Load() != 0 {
		t.Errorf("closed with a hold: %v", err)
	}
	if err := g.inner.Release(); err != nil || closed.Load() != 1 {
		t.Errorf("not closed with the last hold: %v", err)
	}
}

// TestGiveAtOnce checks that only one of several concurrent calls frees the same memory.
func TestGiveAtOnce(t *testing.T) {
	const rounds, givers = 5000, 4
	var freed, closed, given atomic.Int32
	d, err := newDevice(idleBackend{freed: &freed, closed: &closed})
	if err != nil {
		t.Fatal(err)
	}
	for range rounds {
		handle, err := take(d, 4096)
		if err != nil {
			t.Fatal(err)
		}
		start := make(chan struct{})
		var wg sync.WaitGroup
		for range givers {
			wg.Go(func() {
				<-start
				switch err := give(d, handle); {
				case err == nil:
					given.Add(1)
				case !errors.Is(err, boxsum.ErrInvalid):
					t.Error(err)
				}
			})
		}
		close(start)
		wg.Wait()
	}
	if err := d.Close(); err != nil || freed.Load() != rounds || given.Load() != rounds {
		t.Errorf("%d of %d freed, and %d told so: %v", freed.Load(), rounds, given.Load(), err)
	}
}

// TestWorkspaceState checks that the state of a workspace lives as long as its memory, and starts
// as zeros like it.
func TestWorkspaceState(t *testing.T) {
	eachDevice(t, func(t *testing.T, d *Device) {
		s, err := d.inner.Backend.NewStream()
		if err != nil {
			t.Fatal(err)
		}
		defer func() {
			if err := d.inner.Backend.FreeStream(s); err != nil {
				t.Error(err)
			}
		}()
		const use, small, large = "a test", 1 << 16, 1 << 17
		// check requests a workspace, and changes its state.
		check := func(d *Device, bytes int64, epoch uint32) {
			t.Helper()
			_, state, err := d.inner.Workspace(s, use, bytes)
			if err != nil {
				t.Fatal(err)
			}
			if state.Epoch != epoch || state.Base != epoch {
				t.Errorf("the state is %d, %d: not %d", state.Epoch, state.Base, epoch)
			}
			state.Epoch, state.Base = 8, 8
		}
		check(d, small, 0)
		check(d, small, 8)
		check(d, large, 0)
		if _, _, err := d.inner.Workspace(s, use, math.MaxInt64/2); err == nil {
			t.Fatal("more memory than there is")
		}
		check(d, small, 0) // the old one was freed in vain
		if err := d.inner.ClearSpace(s, use); err != nil {
			t.Fatal(err)
		}
		check(d, small, 0)

		first, err := onStream(d, uintptr(s))
		if err != nil {
			t.Fatal(err)
		}
		check(first, small, 0)
		if err := first.Close(); err != nil {
			t.Fatal(err)
		}
		next, err := onStream(d, uintptr(s))
		if err != nil {
			t.Fatal(err)
		}
		check(next, small, 0)
		check(next, small, 8)
		check(d, small, 8)
		if err := errors.Join(next.Close(), d.inner.Backend.Wait(s)); err != nil {
			t.Error(err)
		}
	})
}

// TestHistogramClosedBeside checks that calls concurrent with Close of a histogram succeed or
// return that it is closed.
func TestHistogramClosedBeside(t *testing.T) {
	eachDevice(t, func(t *testing.T, d *Device) {
		im := upload(t, d, fixture.Noise[uint8](3, 40, 30, 1, 0))
		for range 30 {
			h, err := NewHistogram[uint8](d, 40, 30, 1, 1, histogram.Bins{N: 8})
			if err != nil {
				t.Fatal(err)
			}
			var wg sync.WaitGroup
			for range 6 {
				wg.Go(func() {
					if err := IntegrateHistogramInto(h, im, nil); err != nil && !errors.Is(err, boxsum.ErrClosed) {
						t.Error(err)
					}
				})
			}
			if err := h.Close(); err != nil {
				t.Error(err)
			}
			wg.Wait()
			if err := IntegrateHistogramInto(h, im, nil); !errors.Is(err, boxsum.ErrClosed) {
				t.Errorf("into a closed histogram: %v", err)
			}
			if err := h.Close(); err != nil {
				t.Errorf("closed twice: %v", err)
			}
		}
		if err := im.Close(); err != nil {
			t.Error(err)
		}
		if n := len(d.inner.Held); n != 0 {
			t.Errorf("%d pieces of memory are left", n)
		}
	})
}

// TestRotatedClosedBeside closes a rotated table while others query it.
func TestRotatedClosedBeside(t *testing.T) {
	eachDevice(t, func(t *testing.T, d *Device) {
		im := upload(t, d, fixture.Noise[uint8](3, 40, 30, 1, 0))
		defer im.Close()
		rot := rotated.Rotation{A: 1, B: 2}
		for range 10 {
			table, err := IntegrateRotated[uint32](im, rot, nil)
			if err != nil {
				t.Fatal(err)
			}
			boxes := []rotated.Box{table.Lattice().Bounds()}
			closing, err := IntegrateRotated[uint32](im, rot, nil)
			if err != nil {
				t.Fatal(err)
			}
			if err := d.inner.Use(func() error { return closing.lattice.Free(d.inner) }); err != nil { // as in the middle of Close
				t.Error(err)
			}
			if err := closing.SumBoxes(0, make([]uint32, 1), boxes); !errors.Is(err, boxsum.ErrClosed) {
				t.Errorf("of a table that closes: %v", err)
			}
			if err := closing.Close(); err != nil {
				t.Error(err)
			}
			var wg sync.WaitGroup
			for range 4 {
				wg.Go(func() {
					for range 3 {
						if err := table.SumBoxes(0, make([]uint32, 1), boxes); err != nil && !errors.Is(err, boxsum.ErrClosed) {
							t.Error(err)
						}
					}
				})
			}
			if err := table.Close(); err != nil {
				t.Error(err)
			}
			wg.Wait()
		}
	})
}
