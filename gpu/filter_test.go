package gpu

import (
	"context"
	"errors"
	"fmt"
	"image"
	"math/rand/v2"
	"os"
	"slices"
	"testing"

	"github.com/boxsum/boxsum"
	"github.com/boxsum/boxsum/filter"
	"github.com/boxsum/boxsum/gpu/internal/devmem"
	"github.com/boxsum/boxsum/gpu/internal/devtest"
	"github.com/boxsum/boxsum/gpu/internal/inside"
	"github.com/boxsum/boxsum/gpu/internal/method"
	"github.com/boxsum/boxsum/internal/raster"
	"github.com/boxsum/boxsum/threshold"
)

// fence is the guard value between rows of images in a test.
const fence = 0xA5

// A fenced holds images in memory with guard values between and around their rows.
type fenced[P boxsum.Pixel] struct {
	all  *Image[uint8] // one row of bytes
	view *Image[P]
}

// guardedImages returns count images whose rows have gap bytes between them.
func guardedImages[P boxsum.Pixel](t *testing.T, d *Device, width, height, channels, count, gap int) fenced[P] {
	t.Helper()
	a := devmem.Array{Device: d.mem(), Element: raster.TypeNamed[P](), Width: width, Height: height, Channels: channels, Count: count}
	a.At.Offset, a.At.Stride = int64(16+gap), a.RowBytes()+int64(gap)
	a.At.Distance = a.At.Stride*int64(height) + int64(gap)
	bytes := a.At.Offset + a.At.Distance*int64(count) + 64
	all := filledWith(t, d, int(bytes))
	a.At.Memory = all.inner().At.Memory
	a.At.Offset += all.inner().At.Offset
	return fenced[P]{all, &Image[P]{inside.NewArray(a)}}
}

// filledWith returns bytes guard values.
func filledWith(t *testing.T, d *Device, bytes int) *Image[uint8] {
	t.Helper()
	im, err := Upload(d, boxsum.Image[uint8]{Pix: slices.Repeat([]uint8{fence}, bytes), Width: bytes, Height: 1})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { im.Close() })
	return im
}

// check compares the images with the expected ones, and checks the guard values.
func (g fenced[P]) check(t *testing.T, name string, want []boxsum.Image[P]) bool {
	t.Helper()
	a := g.view.inner()
	for i, w := range want {
		got, err := g.view.Download(i)
		if err != nil {
			t.Errorf("%s: %v", name, err)
			return false
		}
		for k := range w.Pix {
			if got.Pix[k] != w.Pix[k] {
				t.Errorf("%s: image %d has %v at %d, %d, want %v", name, i, got.Pix[k], k/a.Channels%a.Width, k/a.Channels/a.Width, w.Pix[k])
				return false
			}
		}
	}
	all, err := g.all.Download(0)
	if err != nil {
		t.Error(err)
		return false
	}
	from := int(a.At.Offset - g.all.inner().At.Offset)
	for i := range a.Count {
		for y := range a.Height { // only guard values remain
			clear(all.Pix[from+i*int(a.At.Distance)+y*int(a.At.Stride):][:a.RowBytes()])
		}
	}
	for k, v := range all.Pix {
		if v != fence && v != 0 {
			t.Errorf("%s: byte %d beside the images is %d", name, k, v)
			return false
		}
	}
	return true
}

// A filterCase describes what to filter.
type filterCase struct {
	width, height, channels, count, gap int
	window                              filter.Window
	border                              filter.Border
	value                               float64
	k                                   float64 // of Sauvola
	contrast                            int     // of the pixels
	seed                                uint64
}

// randomCase returns a small case, with windows up to and beyond the size of the image.
func randomCase(rng *rand.Rand) filterCase {
	c := filterCase{
		width: 1 + rng.IntN(90), height: 1 + rng.IntN(60), channels: 1, count: 1 + rng.IntN(3), gap: rng.IntN(9),
		border: filter.Border(rng.IntN(6)), k: []float64{0.2, 0.34, 0, -0.2, 0.05, 1.5}[rng.IntN(6)], contrast: 1 + rng.IntN(256), seed: rng.Uint64(),
	}
	if rng.IntN(2) == 0 {
		c.width = 1 + rng.IntN(800)
	}
	if rng.IntN(4) == 0 {
		c.channels = 2 + rng.IntN(3)
	}
	if c.channels == 1 && rng.IntN(2) == 0 {
		c.gap = 16 - c.width%16 // where fast kernels can be used
	}
	most := []int{9, 40, 200}[rng.IntN(3)]
	c.window = filter.Window{Width: 1 + rng.IntN(most), Height: 1 + rng.IntN(most)}
	if rng.IntN(3) == 0 {
		c.window.Shift = image.Pt(-rng.IntN((c.window.Width+1)/2), rng.IntN(c.window.Height/2+1))
	}
	if c.border == filter.Constant {
		c.value = float64(rng.IntN(256))
	}
	return c
}

func filterImages[P FilterPixel](c filterCase) []boxsum.Image[P] {
	rng := rand.New(rand.NewPCG(c.seed, 2))
	images := make([]boxsum.Image[P], c.count)
	for i := range images {
		images[i], _ = boxsum.NewImage[P](c.width, c.height, c.channels)
		base := rng.Uint64()
		for k := range images[i].Pix {
			images[i].Pix[k] = P(base + uint64(rng.IntN(c.contrast)))
			if x := k / c.channels % c.width; x/20%3 == 0 { // flat parts
				images[i].Pix[k] = P(base)
			}
		}
	}
	return images
}

// checkFilters computes all filters of a case and compares them with the CPU's.
func checkFilters[P FilterPixel](t *testing.T, d *Device, c filterCase) bool {
	t.Helper()
	images := filterImages[P](c)
	src := guardedImages[P](t, d, c.width, c.height, c.channels, c.count, c.gap*raster.TypeNamed[P]().Bytes())
	for i, im := range images {
		if err := src.view.Set(i, im); err != nil {
			t.Fatal(err)
		}
	}
	opt := &filter.Options{Border: c.border, Value: c.value}
	rule := threshold.New(threshold.Sauvola, 1)
	rule.Window, rule.Border, rule.Value, rule.K = c.window, c.border, c.value, c.k
	var box []boxsum.Image[P]
	var mean, dev []boxsum.Image[float32]
	var bin []boxsum.Image[uint8]
	for _, im := range images {
		b, err := filter.Box(im, c.window, opt)
		if err != nil {
			t.Fatal(err)
		}
		m, s, err := filter.MeanStdDev[float32](im, c.window, opt)
		if err != nil {
			t.Fatal(err)
		}
		box, mean, dev = append(box, b), append(mean, m), append(dev, s)
		if c.channels == 1 {
			t0, err := threshold.Binarize(im, rule, nil)
			if err != nil {
				t.Fatal(err)
			}
			bin = append(bin, t0)
		}
	}
	gap := c.gap
	gotBox := guardedImages[P](t, d, c.width, c.height, c.channels, c.count, gap*raster.TypeNamed[P]().Bytes())
	gotMean := guardedImages[float32](t, d, c.width, c.height, c.channels, c.count, 4*gap)
	gotDev := guardedImages[float32](t, d, c.width, c.height, c.channels, c.count, 4*gap)
	if err := BoxInto(gotBox.view, src.view, c.window, opt); err != nil {
		t.Fatal(c, err)
	}
	ok := gotBox.check(t, fmt.Sprintf("box of %+v", c), box)
	if err := MeanStdDevInto(gotMean.view, gotDev.view, src.view, c.window, opt); err != nil {
		t.Fatal(c, err)
	}
	ok = gotMean.check(t, fmt.Sprintf("mean of %+v", c), mean) && gotDev.check(t, fmt.Sprintf("deviation of %+v", c), dev) && ok
	if c.seed%4 == 0 {
		one := guardedImages[float32](t, d, c.width, c.height, c.channels, c.count, 4*gap)
		if err := MeanStdDevInto(nil, one.view, src.view, c.window, opt); err != nil {
			t.Fatal(c, err)
		}
		ok = one.check(t, fmt.Sprintf("only the deviation of %+v", c), dev) && ok
		if err := MeanStdDevInto(one.view, nil, src.view, c.window, opt); err != nil {
			t.Fatal(c, err)
		}
		ok = one.check(t, fmt.Sprintf("only the mean of %+v", c), mean) && ok
	}
	if c.channels == 1 {
		gotBin := guardedImages[uint8](t, d, c.width, c.height, 1, c.count, gap)
		if err := BinarizeInto(gotBin.view, src.view, rule, nil); err != nil {
			t.Fatal(c, err)
		}
		ok = gotBin.check(t, fmt.Sprintf("sauvola of %+v", c), bin) && ok
	}
	return ok
}

// TestFilters checks that filters have the same bits as on the CPU.
func TestFilters(t *testing.T) {
	eachDevice(t, func(t *testing.T, d *Device) {
		rng := rand.New(rand.NewPCG(7, 5))
		count := 60
		if testing.Short() {
			count = 10
		}
		count = devtest.Count(t, "BOXSUM_GPU_FILTERS", count)
		for range count {
			c := randomCase(rng)
			if !checkFilters[uint8](t, d, c) {
				return
			}
			if c.seed%3 == 0 && !checkFilters[uint16](t, d, c) {
				return
			}
		}
		// Bands and strips of larger images, and large windows.
		for _, c := range []filterCase{
			{width: 1023, height: 300, channels: 1, count: 2, gap: 1, window: filter.Square(15), k: 0.2, contrast: 256},
			{width: 640, height: 480, channels: 1, count: 1, window: filter.Square(15), border: filter.Clip, k: 0.2, contrast: 90},
			{width: 1024, height: 310, channels: 1, count: 2, window: filter.Square(31), k: 0.2, contrast: 256},
			{width: 1040, height: 190, channels: 1, count: 1, window: filter.Window{Width: 20, Height: 33}, border: filter.Wrap, k: 0.2, contrast: 256},
			{width: 909, height: 190, channels: 1, count: 1, gap: 3, window: filter.Square(79), border: filter.Reflect, k: 0.2, contrast: 256},
			{width: 509, height: 201, channels: 1, count: 1, gap: 3, window: filter.Square(75), border: filter.Clip, k: 0.2, contrast: 90},
			{width: 700, height: 310, channels: 1, count: 1, gap: 4, window: filter.Window{Width: 300, Height: 200}, border: filter.Replicate, k: 0.2, contrast: 200},
			{width: 640, height: 60, channels: 1, count: 1, window: filter.Window{Width: 251, Height: 9}, border: filter.Replicate, k: 0.2, contrast: 200},
			{width: 64, height: 64, channels: 1, count: 1, window: filter.Window{Width: 5000, Height: 9}, border: filter.Clip, k: 0.2, contrast: 200},
		} {
			checkFilters[uint8](t, d, c)
		}
	})
}

// TestPortableFilters checks the portable kernels in the same way.
func TestPortableFilters(t *testing.T) {
	defer func(was method.Way) { filterWay = was }(filterWay)
	filterWay = method.Portable
	eachDevice(t, func(t *testing.T, d *Device) {
		count := 30
		if d.Info().Kind == OpenCL && os.Getenv("BOXSUM_GPU_PAIRS") != "all" {
			count = 2 // TestFilters runs the same kernels
		}
		rng := rand.New(rand.NewPCG(7, 9))
		for range count {
			c := randomCase(rng)
			checkFilters[uint8](t, d, c)
			checkFilters[uint16](t, d, c)
		}
	})
}

// TestFilterErrors checks the errors of invalid filters, and that nothing is left on the device.
func TestFilterErrors(t *testing.T) {
	eachDevice(t, func(t *testing.T, d *Device) {
		img, _ := boxsum.NewImage[uint8](20, 10, 1)
		src, err := Upload(d, img, img)
		if err != nil {
			t.Fatal(err)
		}
		colored, err := NewImage[uint8](d, 20, 10, 3, 2)
		if err != nil {
			t.Fatal(err)
		}
		other, err := NewImage[uint8](d, 21, 10, 1, 2)
		if err != nil {
			t.Fatal(err)
		}
		floats, err := NewImage[float32](d, 20, 10, 1, 2)
		if err != nil {
			t.Fatal(err)
		}
		closed, err := NewImage[uint8](d, 20, 10, 1, 2)
		if err != nil {
			t.Fatal(err)
		}
		if err := closed.Close(); err != nil {
			t.Fatal(err)
		}
		done, stop := context.WithCancel(context.Background())
		stop()
		sauvola := threshold.New(threshold.Sauvola, 5)
		bad := func(change func(*threshold.Rule)) error {
			r := sauvola
			change(&r)
			_, err := Binarize(src, r, nil)
			return err
		}
		held := len(d.mem().Held)
		box := func(w filter.Window, opt *filter.Options) error { _, err := Box(src, w, opt); return err }
		_, ofColored := Binarize(colored, sauvola, nil)
		_, noImage := Box[uint8](nil, filter.Square(3), nil)
		_, noImages := (*Image[uint8])(nil).Download(0)
		_, third := src.Download(2)
		zero := 0.0
		for i, c := range []struct{ err, want error }{
			{box(filter.Square(0), nil), boxsum.ErrInvalid},
			{box(filter.Window{Width: 3, Height: -1}, nil), boxsum.ErrInvalid},
			{box(filter.Window{Width: 3, Height: 3, Shift: image.Pt(2, 0)}, nil), boxsum.ErrInvalid},
			{box(filter.Square(1<<17), nil), boxsum.ErrInvalid},
			{box(filter.Square(5000), nil), boxsum.ErrInvalid},
			{box(filter.Square(3), &filter.Options{Border: 77}), boxsum.ErrInvalid},
			{box(filter.Square(3), &filter.Options{Border: filter.Constant, Value: 256}), boxsum.ErrInvalid},
			{box(filter.Square(3), &filter.Options{Border: filter.Constant, Value: 0.5}), boxsum.ErrInvalid},
			{box(filter.Square(3), &filter.Options{Border: filter.Constant, Value: zero / zero}), boxsum.ErrInvalid},
			{box(filter.Square(3), &filter.Options{Context: done}), context.Canceled},
			{BoxInto(src, src, filter.Square(3), nil), boxsum.ErrOverlap},
			{BoxInto(other, src, filter.Square(3), nil), boxsum.ErrInvalid},
			{BoxInto(colored, src, filter.Square(3), nil), boxsum.ErrInvalid},
			{BoxInto(closed, src, filter.Square(3), nil), boxsum.ErrClosed},
			{BoxInto(src, closed, filter.Square(3), nil), boxsum.ErrClosed},
			{BoxInto(nil, src, filter.Square(3), nil), boxsum.ErrInvalid},
			{MeanStdDevInto(nil, nil, src, filter.Square(3), nil), boxsum.ErrInvalid},
			{MeanStdDevInto(floats, floats, src, filter.Square(3), nil), boxsum.ErrOverlap},
			{bad(func(r *threshold.Rule) { r.Method = threshold.Wolf }), boxsum.ErrTypes},
			{bad(func(r *threshold.Rule) { r.K = zero / zero }), boxsum.ErrInvalid},
			{bad(func(r *threshold.Rule) { r.R = -1 }), boxsum.ErrInvalid},
			{ofColored, boxsum.ErrInvalid},
			{noImage, boxsum.ErrInvalid},
			{noImages, boxsum.ErrInvalid},
			{third, boxsum.ErrInvalid},
			{src.DownloadInto(0, boxsum.Image[uint8]{Pix: make([]uint8, 9), Width: 3, Height: 3}), boxsum.ErrInvalid},
		} {
			if !errors.Is(c.err, c.want) {
				t.Errorf("%d: %v, want %v", i, c.err, c.want)
			}
		}
		if len(d.mem().Held) != held {
			t.Errorf("%d arrays are left on the device", len(d.mem().Held)-held)
		}
		empty, err := NewImage[uint8](d, 0, 10, 1, 1)
		if err != nil {
			t.Fatal(err)
		}
		if _, err := Box(empty, filter.Square(3), nil); err != nil {
			t.Errorf("an empty image: %v", err)
		}
		if im, err := empty.Download(0); err != nil || im.Width != 0 || im.Height != 10 {
			t.Errorf("an empty image comes back as %v, %v", im, err)
		}
	})
}
