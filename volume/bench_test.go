package volume_test

import (
	"fmt"
	"math"
	"math/rand/v2"
	"sync"
	"testing"
	"time"
	"unsafe"

	"github.com/boxsum/boxsum"
	"github.com/boxsum/boxsum/internal/kernel/processor"
	"github.com/boxsum/boxsum/internal/raster"
	"github.com/boxsum/boxsum/volume"
)

// BenchmarkIntegrate alternates between making a table and a streaming fill and
// read of the memory of the table and the volume, and reports the best times of
// both.
func BenchmarkIntegrate(b *testing.B) {
	for _, side := range []int{64, 128, 256, 512} {
		for _, workers := range []int{1, 2} {
			benchmark[uint8, uint32](b, side, workers)
		}
	}
	benchmark[float32, float32](b, 256, 2)
	benchmark[float32, float64](b, 256, 2)
	benchmark[uint16, uint64](b, 256, 2)
}

func benchmark[P boxsum.Pixel, S boxsum.Sum](b *testing.B, side, workers int) {
	for _, level := range boxsum.Levels()[1:] {
		b.Run(fmt.Sprintf("%T-%T/%d³/%d-workers/%v", *new(P), *new(S), side, workers, level), func(b *testing.B) {
			vol, err := volume.New[P](side, side, side, 1)
			if err != nil {
				b.Fatal(err)
			}
			rng := rand.New(rand.NewPCG(1, 2))
			for i := range vol.Pix {
				vol.Pix[i] = P(rng.Uint32() & 255)
			}
			table, err := volume.NewTable[S](side, side, side, 1)
			if err != nil {
				b.Fatal(err)
			}
			opt := &volume.Options{Workers: workers, Level: level}
			limit, made := time.Duration(math.MaxInt64), time.Duration(math.MaxInt64)
			pixels, sums := bytesOf(vol.Pix), bytesOf(table.Sums)
			b.SetBytes(int64(len(pixels) + len(sums)))
			for b.Loop() {
				start := time.Now()
				fillRead(sums, pixels, workers)
				half := time.Now()
				if err := volume.IntegrateInto(table, vol, opt); err != nil {
					b.Fatal(err)
				}
				limit, made = min(limit, half.Sub(start)), min(made, time.Since(half))
			}
			b.ReportMetric(limit.Seconds()*1e3, "limit-ms")
			b.ReportMetric(made.Seconds()*1e3, "table-ms")
			b.ReportMetric(100*float64(limit)/float64(made), "%-of-limit")
		})
	}
}

func bytesOf[T any](s []T) []byte {
	return unsafe.Slice((*byte)(unsafe.Pointer(unsafe.SliceData(s))), len(s)*int(unsafe.Sizeof(*new(T))))
}

// fillRead writes and reads every byte once, with the given number of workers.
func fillRead(dst, src []byte, workers int) {
	var others sync.WaitGroup
	part := func(b []byte, i int) []byte {
		lines := len(b) / raster.LineBytes
		return b[lines*i/workers*raster.LineBytes : lines*(i+1)/workers*raster.LineBytes]
	}
	for i := range workers {
		others.Go(func() { processor.StreamFillRead(part(dst, i), part(src, i)) })
	}
	others.Wait()
}
