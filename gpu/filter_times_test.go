package gpu

import (
	"fmt"
	"math/rand/v2"
	"os"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/boxsum/boxsum"
	"github.com/boxsum/boxsum/filter"
	"github.com/boxsum/boxsum/gpu/internal/kernels"
	"github.com/boxsum/boxsum/gpu/internal/method"
	"github.com/boxsum/boxsum/internal/launch"
	"github.com/boxsum/boxsum/threshold"
)

// TestFilterShapes checks that every kernel of filters in one launch has the CPU's bits, with bands
// of any height.
func TestFilterShapes(t *testing.T) {
	was, way := method.FilterShape, filterWay
	defer func() { method.FilterShape, filterWay = was, way }()
	eachDevice(t, func(t *testing.T, d *Device) {
		if d.Info().Kind != CUDA {
			t.Skip("only CUDA has these kernels: run it on a machine with an NVIDIA GPU")
		}
		for kind, shapes := range kernels.FilterPassShapes {
			for _, s := range append(shapes, [2]int{}) { // the last one is by strips, if there are such kernels
				rng := rand.New(rand.NewPCG(uint64(s[0]), uint64(s[1])))
				for range 60 {
					c := randomCase(rng)
					if s[0] == 0 {
						c.height += rng.IntN(100)
						c.window.Width = min(c.window.Width, 80)
						c.window.Shift.X = 0
					}
					c.channels, c.gap = 1, 16-c.width%16
					if c.border == filter.Constant {
						c.border = filter.Clip
					}
					method.FilterShape.Columns, method.FilterShape.Blocks, method.FilterShape.Rows = s[0], s[1], []int{0, 7, 64}[rng.IntN(3)]
					method.FilterShape.Strips = rng.IntN(2) == 0
					if !checkFilterKind(t, d, c, method.FilterKind(kind)) {
						t.Errorf("%s %v", kind, method.FilterShape)
						break
					}
				}
			}
		}
	})
}

// checkFilterKind is checkFilters for one kind.
func checkFilterKind(t *testing.T, d *Device, c filterCase, kind method.FilterKind) bool {
	t.Helper()
	images := filterImages[uint8](c)
	src := guardedImages[uint8](t, d, c.width, c.height, 1, c.count, c.gap)
	var bytes []boxsum.Image[uint8]
	var mean, dev []boxsum.Image[float32]
	opt := &filter.Options{Border: c.border, Value: c.value}
	rule := threshold.New(threshold.Sauvola, 1)
	rule.Window, rule.Border, rule.K = c.window, c.border, c.k
	for i, im := range images {
		if err := src.view.Set(i, im); err != nil {
			t.Fatal(err)
		}
		var b boxsum.Image[uint8]
		var err error
		switch kind {
		case method.BoxFilter:
			b, err = filter.Box(im, c.window, opt)
			bytes = append(bytes, b)
		case method.SauvolaFilter:
			b, err = threshold.Binarize(im, rule, nil)
			bytes = append(bytes, b)
		default:
			m, s, e := filter.MeanStdDev[float32](im, c.window, opt)
			mean, dev, err = append(mean, m), append(dev, s), e
		}
		if err != nil {
			t.Fatal(err)
		}
	}
	name := fmt.Sprintf("%s of %+v", kind, c)
	if kind == method.StatsFilter {
		m := guardedImages[float32](t, d, c.width, c.height, 1, c.count, 4*c.gap)
		s := guardedImages[float32](t, d, c.width, c.height, 1, c.count, 4*c.gap)
		if err := MeanStdDevInto(m.view, s.view, src.view, c.window, opt); err != nil {
			t.Fatal(name, err)
		}
		return m.check(t, name, mean) && s.check(t, name, dev)
	}
	dst := guardedImages[uint8](t, d, c.width, c.height, 1, c.count, c.gap)
	err := BoxInto(dst.view, src.view, c.window, opt)
	if kind == method.SauvolaFilter {
		err = BinarizeInto(dst.view, src.view, rule, nil)
	}
	if err != nil {
		t.Fatal(name, err)
	}
	return dst.check(t, name, bytes)
}

// TestFilterTimes prints the times of filters relative to a copy on the device.
// BOXSUM_GPU_FILTER_TIMES enables it, and may list heights of bands, such as 48,96,128.
func TestFilterTimes(t *testing.T) {
	if os.Getenv("BOXSUM_GPU_FILTER_TIMES") == "" {
		t.Skip("set BOXSUM_GPU_FILTER_TIMES to 1, or to heights of bands such as 48,96,128, to measure")
	}
	was := method.FilterShape
	defer func() { method.FilterShape = was }()
	eachDevice(t, func(t *testing.T, d *Device) {
		l, err := launch.Open(d)
		if err != nil {
			t.Fatal(err)
		}
		for _, size := range [][2]int{{16384, 16384}, {8192, 8192}, {4096, 4096}, {1920, 1080}} {
			timeFilters(t, d, l, size[0], size[1])
		}
	})
}

func timeFilters(t *testing.T, d *Device, l launch.Device, width, height int) {
	best := func(queue func() error) time.Duration {
		times, err := d.Time(25, queue)
		if err != nil {
			t.Fatal(err)
		}
		slices.Sort(times)
		return times[len(times)/4]
	}
	img, _ := boxsum.NewImage[uint8](width, height, 1)
	rng := rand.New(rand.NewPCG(1, 2))
	for i := range img.Pix { // a page: noise on paper, and lines of dark words
		x, y := i%width, i/width
		v := 200 + rng.IntN(24)
		if y%48 < 20 && x/9%5 != 0 && rng.IntN(3) > 0 {
			v = 40 + rng.IntN(60)
		}
		img.Pix[i] = uint8(v)
	}
	src, err := Upload(d, img)
	if err != nil {
		t.Fatal(err)
	}
	defer src.Close()
	dst, err := NewImage[uint8](d, width, height, 1, 1)
	if err != nil {
		t.Fatal(err)
	}
	defer dst.Close()
	mean, err := NewImage[float32](d, width, height, 1, 1)
	if err != nil {
		t.Fatal(err)
	}
	defer mean.Close()
	dev, err := NewImage[float32](d, width, height, 1, 1)
	if err != nil {
		t.Fatal(err)
	}
	defer dev.Close()
	limit, err := l.NewCopy(int64(width) * int64(height))
	if err != nil {
		t.Fatal(err)
	}
	defer limit.Close()
	copied := best(limit.Run)
	t.Logf("%d×%d: a copy of 2 bytes a pixel takes %.1f µs", width, height, copied.Seconds()*1e6)
	for _, k := range []int{9, 15, 21, 25, 31, 75} {
		for _, kind := range kernels.FilterKernels[1:] {
			var queue func() error
			switch kind {
			case "box":
				queue = func() error { return BoxInto(dst, src, filter.Square(k), nil) }
			case "stats":
				queue = func() error { return MeanStdDevInto(mean, dev, src, filter.Square(k), nil) }
			case "sauvola":
				queue = func() error { return BinarizeInto(dst, src, threshold.New(threshold.Sauvola, k), nil) }
			}
			shapes, rows := kernels.FilterPassShapes[kind], []int{0, 16, 32, 64, 128}
			if width < 8192 {
				rows = []int{0, 16, 48}
			}
			if list := strings.Split(os.Getenv("BOXSUM_GPU_FILTER_TIMES"), ","); len(list) > 1 {
				shapes, rows = nil, []int{0}
				for _, text := range list {
					n, _ := strconv.Atoi(text)
					rows = append(rows, n)
				}
			}
			for _, s := range append(shapes, [2]int{}) { // the last one is the default
				line := fmt.Sprintf("k %d %-8s %2d columns %2d blocks:", k, kind, s[0], s[1])
				for _, r := range rows {
					method.FilterShape.Columns, method.FilterShape.Blocks, method.FilterShape.Rows = s[0], s[1], r
					took := best(queue)
					line += fmt.Sprintf("  rows %d %.1f µs (%.2f)", r, took.Seconds()*1e6, took.Seconds()/copied.Seconds())
				}
				t.Log(line)
			}
			method.FilterShape.Columns = 0
		}
	}
}
