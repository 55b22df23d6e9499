package gpu

import (
	"cmp"
	"errors"
	"fmt"
	"image"
	"os"
	"runtime"
	"strconv"
	"strings"
	"sync"
	"testing"
	"unsafe"

	"github.com/boxsum/boxsum"
	"github.com/boxsum/boxsum/gpu/internal/devtest"
	"github.com/boxsum/boxsum/gpu/internal/driver"
	"github.com/boxsum/boxsum/histogram"
	"github.com/boxsum/boxsum/internal/fixture"
	"github.com/boxsum/boxsum/volume"
)

// A strict backend counts allocations and frees, limits memory, and fails on demand.
type strict struct {
	driver.Backend
	mu                    sync.Mutex
	pieces                map[driver.Memory]int64
	hosts                 map[unsafe.Pointer]int64
	queues                map[driver.Stream]bool
	events                map[driver.Event]bool
	used                  int64
	limit                 int64 // in bytes; 0 for no limit
	locked                int64 // page-locked memory in bytes
	hostLimit, mostLocked int64 // limit and greatest amount of page-locked memory; 0 for no limit
	fuse                  int   // number of the call that fails; 0 for none
	fault                 error // the error of that call; nil means errFuse
	calls                 int
	wrong                 []string
	sent                  func() // called for every copy to the device, if not nil
}

func newStrict(b driver.Backend) *strict {
	return &strict{Backend: b, pieces: map[driver.Memory]int64{}, hosts: map[unsafe.Pointer]int64{}, queues: map[driver.Stream]bool{}, events: map[driver.Event]bool{}}
}

// CUDA returns nil: the one-pass kernels would be launched behind the back of a strict backend.
func (s *strict) CUDA() *driver.CUDABackend { return nil }

var errFuse = errors.New("a fault for the test")

// burn counts a call that can fail, and returns an error if it is to fail.
func (s *strict) burn() error {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.calls++; s.calls == s.fuse {
		return cmp.Or(s.fault, errFuse)
	}
	return nil
}

// left returns an error if anything was not freed.
func (s *strict) left() error {
	if n := len(s.pieces) + len(s.hosts) + len(s.queues) + len(s.events); n > 0 || len(s.wrong) > 0 {
		return fmt.Errorf("%d pieces of device memory, %d of host memory, %d streams and %d events are left; %v",
			len(s.pieces), len(s.hosts), len(s.queues), len(s.events), s.wrong)
	}
	return nil
}

func taken[K comparable, V any](s *strict, all map[K]V, key K, v V, err error) (K, error) {
	if err == nil {
		s.mu.Lock()
		defer s.mu.Unlock()
		all[key] = v
	}
	return key, err
}

func given[K comparable, V any](s *strict, all map[K]V, key K) V {
	s.mu.Lock()
	defer s.mu.Unlock()
	v, ok := all[key]
	if !ok {
		s.wrong = append(s.wrong, fmt.Sprintf("%T %v freed twice", key, key))
	}
	delete(all, key)
	return v
}

func (s *strict) Alloc(bytes int64) (driver.Memory, error) {
	if err := s.burn(); err != nil {
		return 0, err
	}
	if err := s.count(&s.used, bytes, s.limit); err != nil {
		return 0, err
	}
	m, err := s.Backend.Alloc(bytes)
	if err != nil {
		s.count(&s.used, -bytes, 0)
	}
	return taken(s, s.pieces, m, bytes, err)
}

func (s *strict) Free(m driver.Memory) error {
	s.count(&s.used, -given(s, s.pieces, m), 0)
	return s.Backend.Free(m)
}

func (s *strict) AllocHost(bytes int64) (driver.HostMemory, error) {
	if err := s.burn(); err != nil {
		return driver.HostMemory{}, err
	}
	if err := s.count(&s.locked, bytes, s.hostLimit); err != nil {
		return driver.HostMemory{}, err
	}
	m, err := s.Backend.AllocHost(bytes)
	if err != nil {
		s.count(&s.locked, -bytes, 0)
	}
	taken(s, s.hosts, m.At, bytes, err)
	return m, err
}

// count adds to the memory in use, up to the limit.
func (s *strict) count(used *int64, bytes, limit int64) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	if limit > 0 && *used+bytes > limit {
		return fmt.Errorf("%w: %d of %d bytes are in use", boxsum.ErrMemory, *used, limit)
	}
	*used += bytes
	s.mostLocked = max(s.mostLocked, s.locked)
	return nil
}

func (s *strict) FreeHost(m driver.HostMemory) error {
	s.count(&s.locked, -given(s, s.hosts, m.At), 0)
	return s.Backend.FreeHost(m)
}

func (s *strict) NewStream() (driver.Stream, error) {
	if err := s.burn(); err != nil {
		return 0, err
	}
	made, err := s.Backend.NewStream()
	return taken(s, s.queues, made, true, err)
}

func (s *strict) FreeStream(old driver.Stream) error {
	given(s, s.queues, old)
	return s.Backend.FreeStream(old)
}

func (s *strict) Record(on driver.Stream) (driver.Event, error) {
	if err := s.burn(); err != nil {
		return 0, err
	}
	e, err := s.Backend.Record(on)
	return taken(s, s.events, e, true, err)
}

func (s *strict) MoveEvent(e driver.Event, on driver.Stream) (driver.Event, error) {
	if e == 0 {
		return s.Record(on)
	}
	if err := s.burn(); err != nil {
		return e, err
	}
	moved, err := s.Backend.MoveEvent(e, on)
	if moved != e {
		given(s, s.events, e)
		taken(s, s.events, moved, true, nil)
	}
	return moved, err
}

func (s *strict) FreeEvent(e driver.Event) error {
	given(s, s.events, e)
	return s.Backend.FreeEvent(e)
}

func (s *strict) Follow(on driver.Stream, e driver.Event) (bool, error) {
	if err := s.burn(); err != nil {
		return false, err
	}
	return s.Backend.Follow(on, e)
}

func (s *strict) WaitFor(on driver.Stream, e driver.Event) error {
	return errors.Join(s.burn(), s.Backend.WaitFor(on, e))
}

func (s *strict) CopyIn(on driver.Stream, dst driver.Plane, src unsafe.Pointer, hostStride int64, rows driver.Rows) error {
	if err := s.burn(); err != nil {
		return err
	}
	if s.sent != nil {
		s.sent()
	}
	return s.Backend.CopyIn(on, dst, src, hostStride, rows)
}

func (s *strict) CopyOut(on driver.Stream, dst unsafe.Pointer, hostStride int64, src driver.Plane, rows driver.Rows) error {
	if err := s.burn(); err != nil {
		return err
	}
	return s.Backend.CopyOut(on, dst, hostStride, src, rows)
}

func (s *strict) CopyWithin(on driver.Stream, dst, src driver.Plane, rows driver.Rows) error {
	if err := s.burn(); err != nil {
		return err
	}
	return s.Backend.CopyWithin(on, dst, src, rows)
}

func (s *strict) Fill(on driver.Stream, dst driver.Plane, value byte, bytes int64) error {
	if err := s.burn(); err != nil {
		return err
	}
	return s.Backend.Fill(on, dst, value, bytes)
}

func (s *strict) Launch(on driver.Stream, kernel string, groups, group int, args ...driver.Arg) error {
	if err := s.burn(); err != nil {
		return err
	}
	return s.Backend.Launch(on, kernel, groups, group, args...)
}

// strictly opens the device d again, with a strict backend.
func strictly(t *testing.T, d *Device) (*Device, *strict) {
	t.Helper()
	b, err := driver.Open(driver.Info(d.Info()))
	if err != nil {
		t.Fatal(err)
	}
	s := newStrict(b)
	d, err = newDevice(s)
	if err != nil {
		t.Fatal(err)
	}
	return d, s
}

// everything uses all features of a device with the portable kernels, which are the only ones that
// run on a backend other than the driver's own.
func everything(d *Device) error {
	opt := &Options{Kernels: Portable}
	pixels := fixture.Noise[uint8](1, 20, 10, 3, 1)
	im, err := Upload(d, pixels, pixels)
	if err != nil {
		return err
	}
	defer im.Close()
	table, err := IntegrateSquares[uint32, uint64](im, opt)
	if err != nil {
		return err
	}
	defer table.Close()
	if err := table.Sum.SumBoxes(1, make([]uint32, 3), []image.Rectangle{image.Rect(1, 2, 9, 9)}); err != nil {
		return err
	}
	if _, err := table.Download(0); err != nil {
		return err
	}
	if _, err = boxsum.IntegrateSquares[uint32, uint64](pixels, &boxsum.Options{On: d, Level: portable, BandRows: 3}); err != nil {
		return err
	}
	return solidsAndHistograms(d, im, pixels)
}

// solidsAndHistograms is the part of everything for volumes and histograms.
func solidsAndHistograms(d *Device, im *Image[uint8], pixels boxsum.Image[uint8]) error {
	src := randomVolume[uint8](solidShape{width: 5, height: 40, depth: 3, channels: 1})
	vol, err := UploadVolume(d, src)
	if err != nil {
		return err
	}
	defer vol.Close()
	table, err := IntegrateVolume[uint32](vol, &Options{Kernels: Portable})
	if err != nil {
		return err
	}
	defer table.Close()
	if err := table.SumBoxes(make([]uint32, 1), []volume.Box{{X1: 2, Y1: 3, Z1: 1}}); err != nil {
		return err
	}
	if _, err := table.Download(); err != nil {
		return err
	}
	if _, err := volume.Integrate[uint32](src, &volume.Options{On: d, BandRows: 2}); err != nil {
		return err
	}
	bins := histogram.Bins{N: 4}
	h, err := IntegrateHistogram(im, bins, nil)
	if err != nil {
		return err
	}
	defer h.Close()
	if _, err := h.Download(1); err != nil {
		return err
	}
	_, err = histogram.Integrate(pixels, bins, &histogram.Options{On: d, BandRows: 6})
	return err
}

// TestFaults checks that whichever call of the driver fails, the caller gets an error, nothing is
// leaked, and the device still works.
func TestFaults(t *testing.T) {
	eachDevice(t, func(t *testing.T, real *Device) {
		d, s := strictly(t, real)
		if err := everything(d); err != nil {
			t.Fatal(err)
		}
		calls := s.calls
		if err := errors.Join(d.Close(), s.left()); err != nil {
			t.Fatal(err)
		}
		for fuse := 2; fuse <= calls; fuse++ {
			if testing.Short() && fuse%5 != 0 {
				continue
			}
			d, s := strictly(t, real)
			s.fuse = fuse
			if err := everything(d); !errors.Is(err, errFuse) {
				t.Errorf("call %d of %d failed without an error: %v", fuse, calls, err)
			}
			if err := everything(d); err != nil {
				t.Errorf("after call %d of %d failed: %v", fuse, calls, err)
			}
			if err := errors.Join(d.Close(), s.left()); err != nil {
				t.Errorf("call %d of %d: %v", fuse, calls, err)
			}
		}
	})
}

// TestLittleMemory checks that bands shrink down to one row if memory is short, and that only then
// an error is returned.
func TestLittleMemory(t *testing.T) {
	eachDevice(t, func(t *testing.T, real *Device) {
		im := fixture.Noise[uint16](5, 200, 150, 2, 0)
		want, err := boxsum.Integrate[uint64](im, nil)
		if err != nil {
			t.Fatal(err)
		}
		worked, failed := 0, 0
		for limit := int64(4 << 20); limit > 1<<10; limit = limit * 3 / 4 {
			d, s := strictly(t, real)
			s.limit = limit
			got, err := boxsum.Integrate[uint64](im, &boxsum.Options{On: d, Level: portable})
			switch {
			case errors.Is(err, boxsum.ErrMemory):
				failed++
			case err != nil:
				t.Errorf("%d bytes: %v", limit, err)
			default:
				worked++
				if failed > 0 {
					t.Errorf("%d bytes are enough where more were not", limit)
				}
				if err := fixture.SameTables(got, want); err != nil {
					t.Errorf("%d bytes: %v", limit, err)
				}
			}
			if _, err := NewTable[uint64](d, 200, 15000, 2, 1); !errors.Is(err, boxsum.ErrMemory) {
				t.Errorf("%d bytes: a table that does not fit: %v", limit, err)
			}
			if err := errors.Join(d.Close(), s.left()); err != nil {
				t.Errorf("%d bytes: %v", limit, err)
			}
		}
		if worked < 3 || failed == 0 {
			t.Errorf("%d limits were enough and %d too little", worked, failed)
		}
	})
}

// TestRounds checks that ten thousand rounds leak no memory, on the device or on the host.
func TestRounds(t *testing.T) {
	rounds := 3_000
	if testing.Short() {
		rounds = 500
	}
	rounds = devtest.Count(t, "BOXSUM_GPU_ROUNDS", rounds)
	eachDevice(t, func(t *testing.T, d *Device) {
		pixels := fixture.Noise[uint8](1, 64, 48, 1, 0)
		boxes := []image.Rectangle{image.Rect(3, 3, 40, 40)}
		round := func(n int) {
			im := upload(t, d, pixels)
			table, err := Integrate[uint32](im, nil)
			if err != nil {
				t.Fatal(err)
			}
			if err := table.SumBoxes(0, make([]uint32, 1), boxes); err != nil {
				t.Fatal(err)
			}
			if n%10 == 0 {
				if _, err := boxsum.Integrate[uint32](pixels, &boxsum.Options{On: d, BandRows: 20}); err != nil {
					t.Fatal(err)
				}
			}
			if err := errors.Join(table.Close(), im.Close()); err != nil {
				t.Fatal(err)
			}
		}
		for n := range 200 {
			round(n)
		}
		free, _, err := d.Memory()
		if err != nil {
			t.Fatal(err)
		}
		resident := residentBytes()
		for n := range rounds {
			round(n)
		}
		after, _, err := d.Memory()
		if err != nil {
			t.Fatal(err)
		}
		grown := residentBytes() - resident
		t.Logf("%d rounds: %d bytes of device memory and %d of host memory more", rounds, free-after, grown)
		if len(d.inner.Held) > 0 {
			t.Errorf("%d pieces of memory are left", len(d.inner.Held))
		}
		// Other processes may use the device meanwhile; a leak of one table per round would be
		// eighteen times larger.
		if free-after > 2<<20 {
			t.Errorf("%d bytes of device memory are gone", free-after)
		}
		if grown > 32<<20 {
			t.Errorf("the host's memory grew by %d bytes", grown)
		}
	})
}

// residentBytes returns the resident memory of the process, or 0 if the system does not report it.
func residentBytes() int {
	runtime.GC()
	text, err := os.ReadFile("/proc/self/statm")
	if err != nil {
		return 0
	}
	fields := strings.Fields(string(text))
	if len(fields) < 2 {
		return 0
	}
	pages, _ := strconv.Atoi(fields[1])
	return pages * os.Getpagesize()
}
