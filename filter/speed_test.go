package filter_test

import (
	"fmt"
	"os"
	"testing"
	"time"

	"github.com/boxsum/boxsum"
	"github.com/boxsum/boxsum/filter"
)

// TestSpeed prints the least time of each, for who works on it.
func TestSpeed(t *testing.T) {
	if os.Getenv("BOXSUM_SPEED") == "" {
		t.Skip("set BOXSUM_SPEED to print times")
	}
	img, img16, img32, rgb := photo[uint8](1920, 1080, 1), photo[uint16](1920, 1080, 1), photo[float32](1920, 1080, 1), photo[uint8](1920, 1080, 3)
	dst, dst16, dst32, dstRGB := photo[uint8](1920, 1080, 1), photo[uint16](1920, 1080, 1), photo[float32](1920, 1080, 1), photo[uint8](1920, 1080, 3)
	dev := photo[float32](1920, 1080, 1)
	opt := &filter.Options{Workers: 1}
	if l := os.Getenv("BOXSUM_LEVEL"); l != "" {
		opt.Level, _ = boxsum.ParseLevel(l)
	}
	clip := *opt
	clip.Border = filter.Clip
	type job struct {
		name string
		do   func() error
	}
	jobs := []job{
		{"copy", func() error { copy(dst.Pix, img.Pix); return nil }},
		{"u16 15", func() error { return filter.BoxInto(dst16, img16, filter.Square(15), opt) }},
		{"f32 15", func() error { return filter.BoxInto(dst32, img32, filter.Square(15), opt) }},
		{"rgb 15", func() error { return filter.BoxInto(dstRGB, rgb, filter.Square(15), opt) }},
		{"clip 15", func() error { return filter.BoxInto(dst, img, filter.Square(15), &clip) }},
		{"mean+std 15", func() error { return filter.MeanStdDevInto(dst32, dev, img, filter.Square(15), opt) }},
		{"gauss 20", func() error { return filter.GaussianInto(dst, img, filter.Sigma{X: 20, Y: 20}, opt) }},
		{"gauss 20, 3", func() error { return filter.GaussianInto(dst, img, filter.Sigma{X: 20, Y: 20, Passes: 3}, opt) }},
		{"guided 16", func() error { return filter.GuidedInto(dst, img, img, filter.Radius(16), 100, opt) }},
		{"median 5", func() error { return filter.MedianInto(dst, img, filter.Square(5), opt) }},
		{"half", func() error { _, err := filter.Downsample(img, 2, 2, opt); return err }},
	}
	for _, k := range []int{3, 5, 9, 15, 31, 63, 127, 255} {
		jobs = append(jobs, job{fmt.Sprint("u8 ", k), func() error { return filter.BoxInto(dst, img, filter.Square(k), opt) }})
	}
	best := make([]time.Duration, len(jobs))
	for round := range 60 {
		for i, j := range jobs {
			if round > 4 && best[i] > 30*time.Millisecond {
				continue
			}
			start := time.Now()
			if err := j.do(); err != nil {
				t.Fatal(err)
			}
			if d := time.Since(start); round == 0 || d < best[i] {
				best[i] = d
			}
		}
	}
	for i, j := range jobs {
		t.Logf("%-12s %7.3f ms", j.name, best[i].Seconds()*1e3)
	}
}
