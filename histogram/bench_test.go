package histogram_test

import (
	"fmt"
	"image"
	"math"
	"math/rand/v2"
	"sync"
	"testing"
	"time"
	"unsafe"

	"github.com/boxsum/boxsum"
	"github.com/boxsum/boxsum/histogram"
	"github.com/boxsum/boxsum/internal/kernel/processor"
)

// BenchmarkIntegrate alternates between making a table and a streaming fill of its
// memory, and reports the best times of both.
func BenchmarkIntegrate(b *testing.B) {
	img := random[uint8](rand.New(rand.NewPCG(1, 2)), 1920, 1080, 1)
	for _, level := range boxsum.Levels() {
		for _, workers := range []int{1, 2} {
			for _, bins := range []int{8, 10, 16, 32, 100, 256} {
				b.Run(fmt.Sprintf("%v/%d-workers/%d-bins", level, workers, bins), func(b *testing.B) {
					opt := &histogram.Options{Workers: workers, Level: level}
					table, err := histogram.NewTable[uint32](img.Width, img.Height, 1, histogram.Bins{N: bins})
					if err != nil {
						b.Fatal(err)
					}
					fill, made := time.Duration(math.MaxInt64), time.Duration(math.MaxInt64)
					bytes := unsafe.Slice((*byte)(unsafe.Pointer(&table.Counts[0])), len(table.Counts)*4)
					b.SetBytes(int64(len(bytes)))
					for b.Loop() {
						start := time.Now()
						streamFill(bytes, workers)
						half := time.Now()
						if err := histogram.IntegrateInto(table, img, opt); err != nil {
							b.Fatal(err)
						}
						fill, made = min(fill, half.Sub(start)), min(made, time.Since(half))
					}
					b.ReportMetric(fill.Seconds()*1e3, "fill-ms")
					b.ReportMetric(made.Seconds()*1e3, "table-ms")
					b.ReportMetric(100*float64(fill)/float64(made), "%-of-fill")
				})
			}
		}
	}
}

// streamFill writes every byte past the caches, with the given number of workers.
func streamFill(bytes []byte, workers int) {
	var others sync.WaitGroup
	for part := range workers {
		lo, hi := len(bytes)/64*part/workers*64, len(bytes)/64*(part+1)/workers*64
		others.Go(func() { processor.StreamFill(bytes[lo:hi]) })
	}
	others.Wait()
}

// BenchmarkHistogram computes the histograms of boxes spread over a table.
func BenchmarkHistogram(b *testing.B) {
	rng := rand.New(rand.NewPCG(1, 2))
	for _, bins := range []int{16, 32, 256} {
		b.Run(fmt.Sprintf("%d-bins", bins), func(b *testing.B) {
			table, err := histogram.Integrate(random[uint8](rng, 640, 480, 1), histogram.Bins{N: bins}, nil)
			if err != nil {
				b.Fatal(err)
			}
			boxes := make([]image.Rectangle, 1<<12)
			for i := range boxes {
				boxes[i] = image.Rect(rng.IntN(640), rng.IntN(480), rng.IntN(640), rng.IntN(480))
			}
			h := make([]uint32, 0, bins)
			for i := 0; b.Loop(); i++ {
				h = table.Histogram(h[:0], boxes[i%len(boxes)], 0)
			}
		})
	}
}
