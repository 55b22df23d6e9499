// Package gpu holds the benchmarks of a GPU: tables and filters of images on the device, in the device's time.
// They are skipped if there is none.
package gpu

import (
	"fmt"
	"slices"
	"testing"

	"github.com/boxsum/boxsum"
	"github.com/boxsum/boxsum/filter"
	"github.com/boxsum/boxsum/gpu"
	"github.com/boxsum/boxsum/internal/ref"
)

var sides = []int{256, 1024, 4096}

// timed reports the median time that the device takes for the work that launch queues.
func timed(b *testing.B, d *gpu.Device, launch func() error) {
	for b.Loop() {
		times, err := d.Time(20, launch)
		if err != nil {
			b.Fatal(err)
		}
		slices.Sort(times)
		b.ReportMetric(times[len(times)/2].Seconds(), "device-sec/op")
	}
}

func open(b *testing.B) *gpu.Device {
	d, err := gpu.OpenBest()
	if err != nil {
		ref.NoDevice(b, err)
	}
	b.Cleanup(func() { d.Close() })
	return d
}

func upload[P boxsum.Pixel](b *testing.B, d *gpu.Device, side int) *gpu.Image[P] {
	img, err := boxsum.NewImage[P](side, side, 1)
	if err != nil {
		b.Fatal(err)
	}
	for i := range img.Pix {
		img.Pix[i] = P(i * 7 % 251)
	}
	onDevice, err := gpu.Upload(d, img)
	if err != nil {
		b.Fatal(err)
	}
	b.Cleanup(func() { onDevice.Close() })
	return onDevice
}

func table[S boxsum.Sum, P boxsum.Pixel](b *testing.B, d *gpu.Device, side int) {
	img := upload[P](b, d, side)
	dst, err := gpu.Integrate[S](img, nil)
	if err != nil {
		b.Fatal(err)
	}
	defer dst.Close()
	timed(b, d, func() error { return gpu.IntegrateInto(dst, img, nil) })
}

func BenchmarkTable(b *testing.B) {
	d := open(b)
	for _, side := range sides {
		name := fmt.Sprintf("%dx%d", side, side)
		b.Run("u8-u32/"+name, func(b *testing.B) { table[uint32, uint8](b, d, side) })
		b.Run("f32-f32/"+name, func(b *testing.B) { table[float32, float32](b, d, side) })
		b.Run("f32-f64/"+name, func(b *testing.B) { table[float64, float32](b, d, side) })
	}
}

func BenchmarkBox(b *testing.B) {
	d := open(b)
	for _, side := range sides {
		b.Run(fmt.Sprintf("u8/%dx%d", side, side), func(b *testing.B) {
			img := upload[uint8](b, d, side)
			dst, err := gpu.Box(img, filter.Radius(7), nil)
			if err != nil {
				b.Fatal(err)
			}
			defer dst.Close()
			timed(b, d, func() error { return gpu.BoxInto(dst, img, filter.Radius(7), nil) })
		})
	}
}

// BenchmarkRoundTrip measures wall time: an image is copied to the device, and its table back.
func BenchmarkRoundTrip(b *testing.B) {
	d := open(b)
	for _, side := range sides {
		b.Run(fmt.Sprintf("%dx%d", side, side), func(b *testing.B) {
			host, err := boxsum.NewImage[uint8](side, side, 1)
			if err != nil {
				b.Fatal(err)
			}
			table, err := boxsum.NewTable[uint32](side, side, 1)
			if err != nil {
				b.Fatal(err)
			}
			img, err := gpu.Upload(d, host)
			if err != nil {
				b.Fatal(err)
			}
			defer img.Close()
			dst, err := gpu.Integrate[uint32](img, nil)
			if err != nil {
				b.Fatal(err)
			}
			defer dst.Close()
			for b.Loop() {
				if err := img.Set(0, host); err != nil {
					b.Fatal(err)
				}
				if err := gpu.IntegrateInto(dst, img, nil); err != nil {
					b.Fatal(err)
				}
				if err := dst.DownloadInto(0, table); err != nil {
					b.Fatal(err)
				}
			}
		})
	}
}
