package boxsum_test

import (
	"fmt"
	"image"
	"math/rand/v2"
	"testing"
	"unsafe"

	"github.com/boxsum/boxsum"
)

var benchSizes = []struct {
	name          string
	width, height int
}{
	{"480p", 854, 480}, {"1080p", 1920, 1080}, {"2160p", 3840, 2160}, {"4096", 4096, 4096}, {"8192", 8192, 8192},
}

func benchmark[S boxsum.Sum, P boxsum.Pixel](b *testing.B, channels int) {
	for _, size := range benchSizes {
		for _, level := range boxsum.Levels() {
			for _, workers := range []int{1, 2} {
				b.Run(fmt.Sprintf("%s/%v/workers=%d", size.name, level, workers), func(b *testing.B) {
					img, err := boxsum.NewImage[P](size.width, size.height, channels)
					if err != nil {
						b.Fatal(err)
					}
					for i := range img.Pix {
						img.Pix[i] = P(i % 251)
					}
					table, err := boxsum.NewTable[S](size.width, size.height, channels)
					if err != nil {
						b.Fatal(err)
					}
					opt := &boxsum.Options{Workers: workers, Level: level}
					b.SetBytes(int64(len(img.Pix)) * int64(unsafe.Sizeof(*new(P))+unsafe.Sizeof(*new(S))))
					for b.Loop() {
						if err := boxsum.IntegrateInto(table, img, opt); err != nil {
							b.Fatal(err)
						}
					}
				})
			}
		}
	}
}

// BenchmarkSumBoxes sums a million boxes spread over a large table.
func BenchmarkSumBoxes(b *testing.B) {
	const side = 4096
	img, err := boxsum.NewImage[uint8](side, side, 1)
	if err != nil {
		b.Fatal(err)
	}
	table, err := boxsum.Integrate[uint32](img, nil)
	if err != nil {
		b.Fatal(err)
	}
	rng := rand.New(rand.NewPCG(1, 2))
	boxes := make([]image.Rectangle, 1_000_000)
	for i := range boxes {
		boxes[i] = image.Rect(rng.IntN(side), rng.IntN(side), rng.IntN(side), rng.IntN(side))
	}
	sums := make([]uint32, len(boxes))
	for b.Loop() {
		if err := table.SumBoxes(sums, boxes); err != nil {
			b.Fatal(err)
		}
	}
	b.ReportMetric(float64(b.Elapsed().Nanoseconds())/float64(b.N)/float64(len(boxes)), "ns/box")
}

func BenchmarkU8U32(b *testing.B)  { benchmark[uint32, uint8](b, 1) }
func BenchmarkU8F64(b *testing.B)  { benchmark[float64, uint8](b, 1) }
func BenchmarkU32U32(b *testing.B) { benchmark[uint32, uint32](b, 1) }
func BenchmarkF32F64(b *testing.B) { benchmark[float64, float32](b, 1) }
func BenchmarkF32F32(b *testing.B) { benchmark[float32, float32](b, 1) }
func BenchmarkRGB(b *testing.B)    { benchmark[uint32, uint8](b, 3) }
