package driver

import (
	"errors"
	"fmt"
	"os"
	"os/exec"
	"strings"
	"sync"
	"testing"

	"github.com/boxsum/boxsum"
	"github.com/boxsum/boxsum/gpu/internal/opencl"
	"github.com/boxsum/boxsum/internal/ref"
)

// openCLInfos lists the OpenCL devices. ref.NoDevice skips the test if there are none. The
// test is also skipped if BOXSUM_GPU_KIND names another kind.
func openCLInfos(t *testing.T) []Info {
	t.Helper()
	if kind := os.Getenv("BOXSUM_GPU_KIND"); kind != "" && !strings.EqualFold(kind, OpenCL.String()) {
		t.Skipf("BOXSUM_GPU_KIND is %s, and this test needs OpenCL: leave it out", kind)
	}
	infos, reasons := List(OpenCL)
	if len(infos) == 0 {
		ref.NoDevice(t, NoDevice(reasons))
	}
	return infos
}

// eachOpenCLDevice runs a test for every OpenCL device.
func eachOpenCLDevice(t *testing.T, body func(t *testing.T, info Info)) {
	t.Helper()
	for _, info := range openCLInfos(t) {
		t.Run(fmt.Sprintf("%s%d", info.Kind, info.Index), func(t *testing.T) { body(t, info) })
	}
}

// eachOpenCLBackend runs a test for every OpenCL device, on a backend that it may modify.
func eachOpenCLBackend(t *testing.T, body func(t *testing.T, b *OpenCLBackend)) {
	eachOpenCLDevice(t, func(t *testing.T, info Info) {
		opened, err := openOpenCL(info)
		if err != nil {
			t.Fatal(err)
		}
		defer func() {
			if err := opened.Close(); err != nil {
				t.Error(err)
			}
		}()
		body(t, opened.(*OpenCLBackend))
	})
}

func TestOpenCLMemory(t *testing.T) {
	eachOpenCLBackend(t, func(t *testing.T, b *OpenCLBackend) {
		before, total, err := b.Memory()
		if err != nil || before != total {
			t.Fatalf("%d of %d bytes are free at first, %v", before, total, err)
		}
		for _, bytes := range []int64{0, 1, 2 * lazyBytes} {
			m, err := b.Alloc(bytes)
			if err != nil {
				t.Fatal(err)
			}
			if free, _, _ := b.Memory(); before-free != max(bytes, 1) {
				t.Errorf("%d bytes took %d", bytes, before-free)
			}
			if err := b.Free(m); err != nil {
				t.Error(err)
			}
		}
		if _, err := b.Alloc(b.maxAlloc + 1); !errors.Is(err, boxsum.ErrMemory) {
			t.Errorf("more than one buffer may have gives %v", err)
		}
		b.about.Memory = 1000
		if _, err := b.Alloc(1001); !errors.Is(err, boxsum.ErrMemory) {
			t.Errorf("more than the device has gives %v", err)
		}
		b.about.Memory = total
		if free, _, _ := b.Memory(); free != total {
			t.Errorf("%d of %d bytes are free in the end", free, total)
		}
	})
}

// TestOpenCLLimits checks that devices with small work-groups get kernels compiled for them, and
// that devices without 64-bit floats return an error for kernels that need these.
func TestOpenCLLimits(t *testing.T) {
	eachOpenCLBackend(t, func(t *testing.T, b *OpenCLBackend) {
		names := []string{"portable_boxes_u32", "portable_carry_u32"}
		b.maxGroup = 33
		if group, err := b.LargestGroup(names, 256); group != 32 || err != nil {
			t.Errorf("at most %d work-items give groups of %d, %v", b.maxGroup, group, err)
		}
		// A limit for some kernels does not apply to others, or to smaller groups.
		b.maxGroup = 256
		for _, c := range []struct {
			names       []string
			limit, most int
			want        int
		}{{names[:1], 256, 128, 128}, {names[:1], 256, 64, 64}, {names, 32, 128, 32}, {names[:1], 32, 128, 128}} {
			b.maxGroup = c.limit
			if group, err := b.LargestGroup(c.names, c.most); group != c.want || err != nil {
				t.Errorf("%v of at most %d give groups of %d, %v", c.names, c.most, group, err)
			}
		}
		b.programs.groups = map[groupKey]int{}
		for _, b.maxGroup = range []int{SmallestGroup - 1, 1, 0, -1} {
			group, err := b.LargestGroup(names, 256)
			want := fmt.Sprintf("runs portable_boxes_u32 and portable_carry_u32 in work-groups of at most %d work-items, but it needs 16", b.maxGroup)
			if !errors.Is(err, ErrNoDevice) || !strings.Contains(err.Error(), want) {
				t.Errorf("at most %d work-items give groups of %d, %v", b.maxGroup, group, err)
			}
		}
		b.maxGroup, b.float64 = 256, false
		if _, err := b.LargestGroup([]string{"portable_boxes_f64"}, 128); !errors.Is(err, boxsum.ErrTypes) {
			t.Errorf("floats that the device lacks give %v", err)
		}
	})
}

// TestQueuesOfOthers checks that work goes to queues of the device's own context only.
func TestQueuesOfOthers(t *testing.T) {
	eachOpenCLBackend(t, func(t *testing.T, b *OpenCLBackend) {
		context, err := b.driver.CreateContext(b.device)
		if err != nil {
			t.Fatal(err)
		}
		for _, c := range []struct {
			in    opencl.Context
			works bool
		}{{context, false}, {b.context, true}} {
			queue, err := b.driver.CreateQueue(c.in, b.device, 0)
			if err != nil {
				t.Fatal(err)
			}
			if err := b.CheckStream(Stream(queue)); (err == nil) != c.works || !c.works && !errors.Is(err, ErrNoDevice) {
				t.Errorf("a queue in another context gives %v", err)
			}
			if err := b.driver.ReleaseQueue(queue); err != nil {
				t.Error(err)
			}
		}
		if err := b.CheckStream(0); err == nil {
			t.Error("no queue is one")
		}
		if err := b.driver.ReleaseContext(context); err != nil {
			t.Error(err)
		}
	})
}

func TestOpenCLNoSuchDevice(t *testing.T) {
	if _, err := openOpenCL(Info{Kind: OpenCL, Index: 1000}); !errors.Is(err, ErrNoDevice) {
		t.Errorf("device 1000 gives %v", err)
	}
}

// TestListConcurrently lists devices from several goroutines. Drivers initialize when they are
// first queried, so each round is a process of its own.
func TestListConcurrently(t *testing.T) {
	const round = "BOXSUM_TEST_ROUND"
	if os.Getenv(round) != "" {
		listConcurrently(t)
		return
	}
	openCLInfos(t)
	self, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	for range 5 {
		cmd := exec.Command(self, "-test.run=^TestListConcurrently$")
		cmd.Env = append(os.Environ(), round+"=1")
		if out, err := cmd.CombinedOutput(); err != nil {
			t.Fatalf("%v\n%s", err, out)
		}
	}
}

func listConcurrently(t *testing.T) {
	var wg sync.WaitGroup
	for range 8 {
		wg.Go(func() {
			for range 3 {
				infos, reasons := List()
				if len(infos) == 0 {
					t.Error(reasons)
				}
				for _, info := range infos {
					d, err := Open(info)
					if err != nil {
						t.Error(err)
						continue
					}
					if err := d.Close(); err != nil {
						t.Error(err)
					}
				}
			}
		})
	}
	wg.Wait()
}
