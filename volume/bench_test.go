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
	"github.com/boxsum/boxsum/internal/kernel"
	"github.com/boxsum/boxsum/volume"
)

// BenchmarkIntegrate takes turns between a streaming fill and read of a table's
// and a volume's memory, and the table, on the same memory, and reports the best
// times of both.
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

// fillRead writes and reads every byte once, as so many workers at once.
func fillRead(dst, src []byte, workers int) {
	var others sync.WaitGroup
	part := func(b []byte, i int) []byte {
		lines := len(b) / kernel.LineBytes
		return b[lines*i/workers*kernel.LineBytes : lines*(i+1)/workers*kernel.LineBytes]
	}
	for i := range workers {
		others.Go(func() { kernel.StreamFillRead(part(dst, i), part(src, i)) })
	}
	others.Wait()
}
