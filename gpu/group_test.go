package gpu

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"reflect"
	"runtime"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"
	"unsafe"

	"github.com/boxsum/boxsum"
	"github.com/boxsum/boxsum/gpu/internal/driver"
	"github.com/boxsum/boxsum/histogram"
	"github.com/boxsum/boxsum/internal/fixture"
	"github.com/boxsum/boxsum/internal/ref"
	"github.com/boxsum/boxsum/tilted"
	"github.com/boxsum/boxsum/volume"
)

// A mortal backend fails in every call from some call on, as after a fault that destroys a context.
// It still frees memory.
type mortal struct {
	*strict
	mu    sync.Mutex
	lives int // calls until it fails for good; negative for never
	calls int

	launches int // number of kernel launches
}

var errLost = errors.New("the device is lost")

func (m *mortal) live() error {
	m.mu.Lock()
	defer m.mu.Unlock()
	if m.calls++; m.lives >= 0 && m.calls > m.lives {
		return errLost
	}
	return nil
}

func (m *mortal) Alloc(bytes int64) (driver.Memory, error) {
	if err := m.live(); err != nil {
		return 0, err
	}
	return m.strict.Alloc(bytes)
}

func (m *mortal) AllocHost(bytes int64) (driver.HostMemory, error) {
	if err := m.live(); err != nil {
		return driver.HostMemory{}, err
	}
	return m.strict.AllocHost(bytes)
}

func (m *mortal) NewStream() (driver.Stream, error) {
	if err := m.live(); err != nil {
		return 0, err
	}
	return m.strict.NewStream()
}

func (m *mortal) Wait(s driver.Stream) error {
	return cmp.Or(m.strict.Wait(s), m.live())
}

func (m *mortal) WaitEvent(e driver.Event) error {
	return cmp.Or(m.strict.WaitEvent(e), m.live())
}

func (m *mortal) Record(s driver.Stream) (driver.Event, error) {
	if err := m.live(); err != nil {
		return 0, err
	}
	return m.strict.Record(s)
}

func (m *mortal) CopyOut(s driver.Stream, dst unsafe.Pointer, stride int64, src driver.Plane, rows driver.Rows) error {
	if err := m.live(); err != nil {
		return err
	}
	return m.strict.CopyOut(s, dst, stride, src, rows)
}

func (m *mortal) CopyIn(s driver.Stream, dst driver.Plane, src unsafe.Pointer, stride int64, rows driver.Rows) error {
	if err := m.live(); err != nil {
		return err
	}
	return m.strict.CopyIn(s, dst, src, stride, rows)
}

func (m *mortal) Launch(s driver.Stream, kernel string, groups, group int, args ...driver.Arg) error {
	if err := m.live(); err != nil {
		return err
	}
	m.mu.Lock()
	m.launches++
	m.mu.Unlock()
	return m.strict.Launch(s, kernel, groups, group, args...)
}

// several opens a device count times, and combines these devices into one.
func several(t *testing.T, real *Device, count int) (*Device, []*mortal) {
	t.Helper()
	var members []*Device
	var backends []*mortal
	for range count {
		b, err := driver.OpenContext(driver.Info(real.Info()))
		if err != nil {
			t.Fatal(err)
		}
		m := &mortal{strict: newStrict(b), lives: -1}
		d, err := newDevice(m)
		if err != nil {
			t.Fatal(err)
		}
		members, backends = append(members, d), append(backends, m)
	}
	d := combine(members)
	t.Cleanup(func() {
		_ = d.Close() // lost devices return errors
		for i, b := range backends {
			if err := b.left(); err != nil {
				t.Errorf("device %d: %v", i, err)
			}
		}
	})
	return d, backends
}

// ofAllKinds computes tables of every kind from host to host.
func ofAllKinds(d *Device, opt *boxsum.Options) (tables [5]any, err error) {
	pixels := fixture.Noise[uint8](1, 70, 61, 2, 3)
	solid := randomVolume[uint8](solidShape{width: 9, height: 8, depth: 23, channels: 1, pad: 2})
	for i, make := range []func() (any, error){
		func() (any, error) { return boxsum.Integrate[uint32](pixels, boxsumOn(d, opt)) },
		func() (any, error) {
			return boxsum.IntegrateSquares[float32, float64](fixture.Noise[float32](2, 90, 47, 1, 0), boxsumOn(d, opt))
		},
		func() (any, error) { return volume.Integrate[uint32](solid, boxsumOn(d, opt)) },
		func() (any, error) { return histogram.Integrate(pixels, histogram.Bins{N: 4}, histogramOn(d, opt)) },
		func() (any, error) { return tilted.Integrate[uint32](pixels, tiltedOn(d, opt)) },
	} {
		var failed error
		if tables[i], failed = make(); failed != nil {
			return tables, fmt.Errorf("number %d: %w", i, failed)
		}
	}
	return tables, nil
}

// bandSizes lists heights of bands: the whole image, bands that are combined into pieces, and the
// whole image again.
var bandSizes = []int{0, 1, 3, 7, 61}

// alone computes tables of every kind on one device, for each height of bands.
func alone(t *testing.T, d *Device) map[int][5]any {
	t.Helper()
	want := map[int][5]any{}
	for _, rows := range bandSizes {
		tables, err := ofAllKinds(d, &boxsum.Options{BandRows: rows, Level: portable})
		if err != nil {
			t.Fatal(err)
		}
		want[rows] = tables
	}
	return want
}

// TestSeveralDevices checks that several devices compute the same bits as one for every kind of
// table, and leak nothing.
func TestSeveralDevices(t *testing.T) {
	eachDevice(t, func(t *testing.T, real *Device) {
		want := alone(t, real)
		for _, count := range []int{1, 2, 3, 5} {
			d, _ := several(t, real, count)
			for _, rows := range bandSizes {
				var progress []float64
				got, err := ofAllKinds(d, &boxsum.Options{BandRows: rows, Level: portable, Progress: func(done float64) { progress = append(progress, done) }})
				if err != nil {
					t.Fatalf("%d devices, bands of %d: %v", count, rows, err)
				}
				if !reflect.DeepEqual(got, want[rows]) {
					t.Errorf("%d devices, bands of %d: the tables differ", count, rows)
				}
				if ones := len(progress) - len(slices.DeleteFunc(progress, func(done float64) bool { return done == 1 })); ones != len(got) {
					t.Errorf("%d devices, bands of %d: 1 was told %d times", count, rows, ones)
				}
			}
			if failed := d.Failed(); failed != nil {
				t.Error(failed)
			}
			if n := len(d.Members()); n != count {
				t.Errorf("%d members", n)
			}
		}
	})
}

// TestSeveralDevicesPageLocked distributes page-locked pixels and tables over several devices,
// whether only the first can copy them directly or all can, as with CUDA.
func TestSeveralDevicesPageLocked(t *testing.T) {
	eachDevice(t, func(t *testing.T, real *Device) {
		d, _ := several(t, real, 3)
		pageLocked(t, d)
		for _, m := range d.group.members {
			m.inner.About.Kind = CUDA
		}
		pageLocked(t, d)
		for i, m := range d.group.members {
			if n := len(m.inner.Blocks); n != 0 {
				t.Errorf("device %d still knows of %d", i, n)
			}
		}
	})
}

func pageLocked(t *testing.T, d *Device) {
	t.Helper()
	src, free, err := NewHostImage[uint8](d, 60, 50, 3)
	if err != nil {
		t.Fatal(err)
	}
	dst, freeTable, err := NewHostTable[uint32](d, 60, 50, 3)
	if err != nil {
		t.Fatal(err)
	}
	copyImage(src, fixture.Noise[uint8](4, 60, 50, 3, 0))
	want, err := boxsum.Integrate[uint32](src, nil)
	if err != nil {
		t.Fatal(err)
	}
	for _, rows := range []int{0, 1, 4} {
		clear(dst.Sums)
		if err := boxsum.IntegrateInto(dst, src, &boxsum.Options{On: d, BandRows: rows, Level: portable}); err != nil {
			t.Fatal(err)
		}
		if err := fixture.SameTables(dst, want); err != nil {
			t.Errorf("bands of %d: %v", rows, err)
		}
	}
	for range 3 {
		clear(dst.Sums)
		in := func(yield func(*boxsum.Table[uint32], boxsum.Image[uint8]) bool) { yield(dst, src) }
		for got, err := range PipelineInto(context.Background(), d, in, nil) {
			if err := cmp.Or(err, fixture.SameTables(got, want)); err != nil {
				t.Error(err)
			}
		}
	}
	if err := errors.Join(free(), freeTable()); err != nil {
		t.Error(err)
	}
}

func copyImage(dst, src boxsum.Image[uint8]) {
	for y := range src.Height {
		copy(dst.Row(y), src.Row(y))
	}
}

// TestSeveralDevicesFaults checks that if a device fails, at any call, for good or once, the others
// take over its work.
func TestSeveralDevicesFaults(t *testing.T) {
	eachDevice(t, func(t *testing.T, real *Device) {
		opt := &boxsum.Options{BandRows: 2, Level: portable}
		want, err := ofAllKinds(real, opt)
		if err != nil {
			t.Fatal(err)
		}
		last, step := 250, 17
		if testing.Short() {
			step = 89
		}
		for lives := 1; lives < last; lives += step {
			d, backends := several(t, real, 3)
			backends[0].lives, backends[2].lives = lives, lives*3
			backends[1].fuse = lives + 5 // one call fails
			got, err := ofAllKinds(d, opt)
			if err != nil {
				// A single fault in addition to two lost devices may hit the last one.
				if errors.Is(err, errLost) || errors.Is(err, errFuse) {
					backends[1].fuse = 0
					got, err = ofAllKinds(d, opt)
				}
			}
			if err != nil {
				t.Fatalf("after %d calls: %v", lives, err)
			}
			if !reflect.DeepEqual(got, want) {
				t.Errorf("after %d calls: the tables differ", lives)
			}
			if failed := d.Failed(); len(failed) == 0 && lives < 120 { // with more calls, the others may have finished the work before
				t.Errorf("after %d calls no device failed", lives)
			}
		}
		d, backends := several(t, real, 2)
		for _, b := range backends {
			b.lives = 40
		}
		if _, err := ofAllKinds(d, opt); !errors.Is(err, errLost) {
			t.Errorf("when all are lost: %v", err)
		}
	})
}

// TestSeveralDevicesLittleMemory checks that a device with too little memory takes fewer pieces or
// none, and smaller ones if all have too little.
func TestSeveralDevicesLittleMemory(t *testing.T) {
	eachDevice(t, func(t *testing.T, real *Device) {
		im := fixture.Noise[uint16](5, 200, 150, 2, 0)
		want, err := boxsum.Integrate[uint64](im, nil)
		if err != nil {
			t.Fatal(err)
		}
		worked := 0
		for limit := int64(4 << 20); limit > 1<<10; limit = limit * 2 / 3 {
			for _, second := range []int64{0, limit, limit * 2} {
				d, backends := several(t, real, 2)
				backends[0].limit, backends[1].limit = limit, second
				got, err := boxsum.Integrate[uint64](im, &boxsum.Options{On: d, Level: portable})
				_ = d.Close() // contexts need memory of their own
				switch {
				case errors.Is(err, boxsum.ErrMemory) && second > 0:
				case err != nil:
					t.Errorf("%d and %d bytes: %v", limit, second, err)
				default:
					worked++
					if err := fixture.SameTables(got, want); err != nil {
						t.Errorf("%d and %d bytes: %v", limit, second, err)
					}
				}
			}
		}
		if worked < 20 {
			t.Errorf("%d limits were enough", worked)
		}
	})
}

// TestUnlikeDevices checks that float sums of different devices are the same in every run.
func TestUnlikeDevices(t *testing.T) {
	eachDevice(t, func(t *testing.T, real *Device) {
		d, backends := several(t, real, 2)
		d.group.members[1].inner.About.Name = "another"
		opt := &boxsum.Options{BandRows: 2, Level: portable}
		var counts [2][]int
		for range 3 {
			before := [2]int{backends[0].launches, backends[1].launches}
			if _, err := boxsum.Integrate[float32](fixture.Noise[float32](3, 50, 64, 1, 0), boxsumOn(d, opt)); err != nil {
				t.Fatal(err)
			}
			for i := range counts {
				counts[i] = append(counts[i], backends[i].launches-before[i])
			}
		}
		for i, launches := range counts {
			if launches[0] == 0 || launches[0] != launches[1] || launches[0] != launches[2] {
				t.Errorf("device %d launched %v kernels in three runs", i, launches)
			}
		}
		backends[1].lives = 0
		if _, err := boxsum.Integrate[float32](fixture.Noise[float32](3, 50, 64, 1, 0), boxsumOn(d, opt)); err != nil {
			t.Errorf("without the other: %v", err)
		}
	})
}

// TestSeveralDevicesPipeline distributes the frames of a pipeline over several devices, and checks
// that they arrive in order, even if devices fail.
func TestSeveralDevicesPipeline(t *testing.T) {
	eachDevice(t, func(t *testing.T, real *Device) {
		frames := mixedFrames(t, 40)
		for _, c := range []struct {
			name  string
			lives []int
			opt   PipelineOptions
		}{
			{name: "new tables", lives: []int{-1, -1}},
			{name: "reuse", lives: []int{-1, -1, -1}, opt: PipelineOptions{Reuse: true}},
			{name: "one in flight", lives: []int{-1, -1}, opt: PipelineOptions{InFlight: 1, Reuse: true}},
			{name: "bands", lives: []int{-1, -1}, opt: PipelineOptions{BandRows: 7}},
			{name: "one is lost", lives: []int{90, -1}},
			{name: "two are lost", lives: []int{60, -1, 140}, opt: PipelineOptions{Reuse: true}},
			{name: "none begins but one", lives: []int{0, 0, -1}, opt: PipelineOptions{InFlight: 3}},
			{name: "lost in bands", lives: []int{-1, 100}, opt: PipelineOptions{BandRows: 7}},
		} {
			d, backends := several(t, real, len(c.lives))
			lost := false
			for i, lives := range c.lives {
				backends[i].lives, lost = lives, lost || lives >= 0
			}
			c.opt.Kernels = Portable
			n := 0
			for got, err := range Pipeline[uint32](context.Background(), d, each(frames), &c.opt) {
				if err := frames[n].check(got, err); err != nil {
					t.Errorf("%s: frame %d: %v", c.name, n, err)
				}
				n++
			}
			if n != len(frames) {
				t.Errorf("%s: %d of %d tables", c.name, n, len(frames))
			}
			if failed := d.Failed(); (len(failed) > 0) != lost {
				t.Errorf("%s: failed are %v", c.name, failed)
			}
			if lost {
				continue
			}
			for i, b := range backends {
				if b.launches == 0 {
					t.Errorf("%s: device %d had nothing to do", c.name, i)
				}
			}
		}
	})
}

// TestPipelineAllLost checks that every image returns an error if all devices are lost, and that
// the loop continues.
func TestPipelineAllLost(t *testing.T) {
	eachDevice(t, func(t *testing.T, real *Device) {
		frames := mixedFrames(t, 12)
		d, backends := several(t, real, 2)
		for _, b := range backends {
			b.lives = 70
		}
		n, wrong := 0, 0
		for got, err := range Pipeline[uint32](context.Background(), d, each(frames), &PipelineOptions{Kernels: Portable}) {
			if errors.Is(err, errLost) {
				wrong++
			} else if err := frames[n].check(got, err); err != nil {
				t.Error(err)
			}
			n++
		}
		if n != len(frames) || wrong == 0 {
			t.Errorf("%d of %d tables, %d lost", n, len(frames), wrong)
		}
	})
}

// TestSeveralDevicesCancel checks that a canceled context ends the work on all devices, and that
// nothing continues afterwards.
func TestSeveralDevicesCancel(t *testing.T) {
	eachDevice(t, func(t *testing.T, real *Device) {
		d, _ := several(t, real, 3)
		im := fixture.Noise[uint8](4, 300, 200, 1, 0)
		if _, err := boxsum.Integrate[uint32](im, &boxsum.Options{On: d, Level: portable}); err != nil { // compiles the kernels
			t.Fatal(err)
		}
		before := runtime.NumGoroutine()
		for after := range 5 {
			ctx, cancel := context.WithCancel(context.Background())
			told := 0
			_, err := boxsum.Integrate[uint32](im, &boxsum.Options{On: d, BandRows: 1, Level: portable, Context: ctx, Progress: func(float64) {
				if told++; told > after*10 {
					cancel()
				}
			}})
			if !errors.Is(err, context.Canceled) {
				t.Errorf("after %d: %v", after, err)
			}
			cancel()
			ctx, cancel = context.WithCancel(context.Background())
			n := 0
			for _, err = range Pipeline[uint32](ctx, d, each(mixedFrames(t, 30)), nil) {
				if n++; n > after {
					cancel()
				}
			}
			if !errors.Is(err, context.Canceled) {
				t.Errorf("a pipeline after %d: %v", after, err)
			}
			cancel()
		}
		if failed := d.Failed(); failed != nil {
			t.Error(failed)
		}
		for range 100 {
			if runtime.NumGoroutine() <= before {
				return
			}
			runtime.Gosched()
			time.Sleep(10 * time.Millisecond)
		}
		t.Errorf("%d goroutines, %d before", runtime.NumGoroutine(), before)
	})
}

// TestSeveralDevicesClosed checks that a group continues without one of its devices, and is closed
// without all of them.
func TestSeveralDevicesClosed(t *testing.T) {
	eachDevice(t, func(t *testing.T, real *Device) {
		d, _ := several(t, real, 2)
		frames := mixedFrames(t, 10)
		for _, m := range d.Members() {
			if err := d.Err(); err != nil {
				t.Error(err)
			}
			if _, err := boxsum.Integrate[uint32](frames[0].image, &boxsum.Options{On: d}); err != nil {
				t.Error(err)
			}
			n := 0
			for got, err := range Pipeline[uint32](context.Background(), d, each(frames), nil) {
				if err := frames[n].check(got, err); err != nil {
					t.Error(err)
				}
				n++
			}
			if err := m.Close(); err != nil {
				t.Error(err)
			}
		}
		if err := d.Err(); !errors.Is(err, boxsum.ErrClosed) {
			t.Error(err)
		}
		if _, err := boxsum.Integrate[uint32](frames[0].image, &boxsum.Options{On: d}); !errors.Is(err, boxsum.ErrClosed) {
			t.Error(err)
		}
		if _, err := tilted.Integrate[uint32](frames[0].image, &tilted.Options{On: d}); !errors.Is(err, boxsum.ErrClosed) {
			t.Error(err)
		}
		for _, err := range Pipeline[uint32](context.Background(), d, each(frames), nil) {
			if !errors.Is(err, boxsum.ErrClosed) {
				t.Error(err)
			}
		}
	})
}

// TestEveryGPU checks that every GPU is opened once, and processors only if there is no GPU.
func TestEveryGPU(t *testing.T) {
	h200 := driver.Info{Kind: CUDA, Name: "H200", Vendor: "NVIDIA"}
	twin := driver.Info{Kind: OpenCL, Name: "H200", Vendor: "NVIDIA Corporation"}
	radeon := driver.Info{Kind: OpenCL, Name: "MI300", Vendor: "AMD"}
	cpu := driver.Info{Kind: OpenCL, Name: "pthread", Vendor: "Intel", CPU: true}
	for _, c := range [][2][]driver.Info{
		{{h200, twin, radeon, cpu}, {h200, radeon}},
		{{twin, radeon, cpu}, {twin, radeon}},
		{{cpu, cpu}, {cpu, cpu}},
		{{}, {}},
	} {
		if got := everyGPU(c[0]); !slices.Equal(got, c[1]) {
			t.Errorf("of %v: %v", c[0], got)
		}
	}
}

// TestOpenAll opens devices as one: all devices of the machine, and one of them twice, in separate
// contexts.
func TestOpenAll(t *testing.T) {
	infos := devices(t)
	for _, c := range []struct {
		name  string
		infos []Info
		count int // 0 for any number
	}{
		{"all", nil, 0},
		{"all, listed", infos, len(infos)},
		{"the first, twice", []Info{infos[0], infos[0]}, 2},
		{"the last, three times", []Info{infos[len(infos)-1], infos[len(infos)-1], infos[len(infos)-1]}, 3},
	} {
		t.Run(c.name, func(t *testing.T) {
			d, err := OpenAll(c.infos...)
			if err != nil {
				t.Fatal(err)
			}
			defer d.Close()
			count := len(d.Members())
			if c.count > 0 && count != c.count {
				t.Errorf("%d devices, want %d", count, c.count)
			}
			if want := os.Getenv(wantDevices); c.infos == nil && want != "" && want != fmt.Sprint(count) {
				t.Errorf("%d devices, want %s", count, want)
			}
			im := fixture.Noise[uint8](7, 301, 500, 3, 1)
			want, err := boxsum.IntegrateSquares[uint32, uint64](im, nil)
			if err != nil {
				t.Fatal(err)
			}
			for _, rows := range []int{0, 9} {
				got, err := boxsum.IntegrateSquares[uint32, uint64](im, &boxsum.Options{On: d, BandRows: rows})
				if err != nil {
					t.Fatal(err)
				}
				if err := cmp.Or(fixture.SameTables(got.Sum, want.Sum), fixture.SameTables(got.Squares, want.Squares)); err != nil {
					t.Errorf("bands of %d: %v", rows, err)
				}
			}
			floats := fixture.Noise[float32](7, 301, 500, 1, 1)
			one, err := boxsum.Integrate[float32](floats, &boxsum.Options{On: d.Members()[0], BandRows: 9})
			if err != nil {
				t.Fatal(err)
			}
			several, err := boxsum.Integrate[float32](floats, &boxsum.Options{On: d, BandRows: 9})
			if err != nil {
				t.Fatal(err)
			}
			if err := fixture.SameTables(several, one); err != nil && d.shared().SameModel() {
				t.Errorf("floats: %v", err)
			}
			frames, n := mixedFrames(t, 30), 0
			for got, err := range Pipeline[uint32](context.Background(), d, each(frames), nil) {
				if err := frames[n].check(got, err); err != nil {
					t.Errorf("frame %d: %v", n, err)
				}
				n++
			}
			if failed := d.Failed(); failed != nil || n != len(frames) {
				t.Error(n, failed)
			}
			if _, err := Upload(d, im); err != nil {
				t.Errorf("an image on the first: %v", err)
			}
			if err := errors.Join(d.Wait(), d.Close()); err != nil {
				t.Error(err)
			}
		})
	}
}

// wantDevices is the environment variable that sets the number of devices that [OpenAll] must find.
const wantDevices = "BOXSUM_WANT_DEVICES"

// TestTwoDevices uses both devices if PoCL is configured to show one processor as two.
func TestTwoDevices(t *testing.T) {
	infos := devices(t)
	if !slices.ContainsFunc(infos, func(info Info) bool {
		return strings.HasPrefix(info.Name, "pthread") || strings.HasPrefix(info.Name, "cpu")
	}) {
		ref.Missing(t, "no processor under OpenCL: install PoCL, Debian's pocl-opencl-icd")
	}
	test := exec.Command(os.Args[0], "-test.run=^TestOpenAll$", "-test.v")
	test.Env = append(os.Environ(), "POCL_DEVICES=pthread pthread", "BOXSUM_GPU_KIND=opencl")
	if all := everyGPU(driverInfos(infos)); len(all) == 1 && all[0].CPU { // there is no GPU, which would be preferred
		test.Env = append(test.Env, wantDevices+"=2")
	}
	out, err := test.CombinedOutput()
	if err != nil || !strings.Contains(string(out), "--- PASS: TestOpenAll/all,_listed") {
		t.Errorf("%v\n%s", err, out)
	}
}

func driverInfos(infos []Info) (all []driver.Info) {
	for _, info := range infos {
		all = append(all, driver.Info(info))
	}
	return all
}
