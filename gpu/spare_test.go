package gpu

import (
	"errors"
	"fmt"
	"image"
	"sync"
	"testing"

	"github.com/boxsum/boxsum"
	"github.com/boxsum/boxsum/gpu/internal/driver"
	"github.com/boxsum/boxsum/internal/fixture"
)

// TestIdleWorkspacesMakeRoom checks that unused workspaces are freed if memory is needed, and are
// zero when they are allocated again.
func TestIdleWorkspacesMakeRoom(t *testing.T) {
	const piece = 1 << 20
	// keep leaves a workspace behind on a stream.
	keep := func(t *testing.T, d *Device, name string) {
		t.Helper()
		if err := d.inner.Use(func() error {
			_, state, err := d.inner.Workspace(d.inner.Stream, name, piece)
			if err == nil {
				state.Epoch = 8
			}
			return err
		}); err != nil {
			t.Fatal(err)
		}
	}
	eachDevice(t, func(t *testing.T, real *Device) {
		d, s := strictly(t, real)
		defer func() {
			if err := errors.Join(d.Close(), s.left()); err != nil {
				t.Error(err)
			}
		}()
		theirs, err := s.NewStream()
		if err != nil {
			t.Fatal(err)
		}
		g, err := onStream(d, uintptr(theirs))
		if err != nil {
			t.Fatal(err)
		}
		s.limit = 2 * piece
		for _, c := range []struct{ keeps, asks *Device }{{d, d}, {g, g}, {d, g}, {g, d}} {
			keep(t, c.keeps, "first")
			keep(t, c.keeps, "second")
			keep(t, c.keeps, "third") // replaces the others
			handle, err := take(c.asks, 2*piece)
			if err != nil {
				t.Fatal(err)
			}
			if err := give(c.asks, handle); err != nil {
				t.Error(err)
			}
			if s.used != 0 {
				t.Errorf("%d bytes are kept", s.used)
			}
		}
		// Workspaces of the current call stay, all others are freed.
		for _, own := range []*Device{d, g} {
			keep(t, own, "old")
			if err := own.inner.Use(func() error {
				at, _, err := own.inner.Workspace(own.inner.Stream, "first", piece)
				if err != nil {
					return err
				}
				if _, state, err := own.inner.Workspace(own.inner.Stream, "second", piece); err != nil || state.Epoch != 0 {
					return fmt.Errorf("the old one stays: %w", err)
				}
				if _, _, err := own.inner.Workspace(own.inner.Stream, "third", piece); !errors.Is(err, boxsum.ErrMemory) {
					t.Errorf("room for a third: %v", err)
				}
				if _, err := own.inner.NewBuffer(1); !errors.Is(err, boxsum.ErrMemory) {
					t.Errorf("room for more: %v", err)
				}
				if again, _, err := own.inner.Workspace(own.inner.Stream, "first", piece); err != nil || again != at {
					t.Errorf("the first one went away: %v", err)
				}
				return nil
			}); err != nil {
				t.Error(err)
			}
			keep(t, own, "old")
			handle, err := take(d, 2*piece)
			if err != nil {
				t.Fatal(err)
			}
			if err := give(d, handle); err != nil {
				t.Error(err)
			}
		}
		// The stream of a view may have been destroyed.
		keep(t, g, "first")
		keep(t, g, "second")
		if err := driver.FirstError(s.Wait(theirs), s.FreeStream(theirs)); err != nil {
			t.Fatal(err)
		}
		if _, err := take(d, 2*piece); err != nil {
			t.Error(err)
		}
	})
}

// TestMakeRoomBesideCalls checks sums while other goroutines request more memory than there is, and
// close what they work on.
func TestMakeRoomBesideCalls(t *testing.T) {
	eachDevice(t, func(t *testing.T, real *Device) {
		d, s := strictly(t, real)
		theirs, err := s.NewStream()
		if err != nil {
			t.Fatal(err)
		}
		src := fixture.Noise[uint8](3, 200, 100, 1, 0)
		boxes := make([]image.Rectangle, 3000)
		sum := uint32(0)
		for i := range boxes {
			boxes[i] = image.Rect(0, 0, 200, 100)
		}
		for y := range src.Height {
			for _, p := range src.Row(y) {
				sum += uint32(p)
			}
		}
		// ask computes a new table and queries it.
		ask := func(d *Device) error {
			im, err := Upload(d, src)
			if err != nil {
				return err
			}
			defer im.Close()
			table, err := Integrate[uint32](im, &Options{Kernels: Portable})
			if err != nil {
				return err
			}
			defer table.Close()
			sums := make([]uint32, len(boxes))
			if err := table.SumBoxes(0, sums, boxes); err != nil {
				return err
			}
			for i, got := range sums {
				if got != sum {
					return fmt.Errorf("box %d is %d, not %d", i, got, sum)
				}
			}
			return nil
		}
		if err := ask(d); err != nil {
			t.Fatal(err)
		}
		s.limit = 1 << 20
		var wg sync.WaitGroup
		for range 2 {
			wg.Go(func() {
				for range 30 {
					if err := ask(d); err != nil && !errors.Is(err, boxsum.ErrMemory) {
						t.Error(err)
					}
				}
			})
			wg.Go(func() {
				for range 30 {
					g, err := onStream(d, uintptr(theirs))
					if err == nil {
						err = ask(g)
					}
					if err != nil && !errors.Is(err, boxsum.ErrMemory) && !errors.Is(err, boxsum.ErrClosed) {
						t.Error(err)
					}
				}
			})
		}
		wg.Go(func() {
			for range 30 {
				if handle, err := take(d, 1<<19); err == nil {
					if err := give(d, handle); err != nil {
						t.Error(err)
					}
				} else if !errors.Is(err, boxsum.ErrMemory) {
					t.Error(err)
				}
			}
		})
		wg.Go(func() {
			for range 10 {
				g, err := onStream(d, uintptr(theirs))
				if err := driver.FirstError(err, g.Close()); err != nil {
					t.Error(err)
				}
			}
		})
		wg.Wait()
		if err := ask(d); err != nil {
			t.Error(err)
		}
		if err := errors.Join(d.Close(), s.FreeStream(theirs), s.left()); err != nil {
			t.Error(err)
		}
	})
}
