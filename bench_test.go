package boxsum_test

import (
	"fmt"
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

func BenchmarkU8U32(b *testing.B)  { benchmark[uint32, uint8](b, 1) }
func BenchmarkU8F64(b *testing.B)  { benchmark[float64, uint8](b, 1) }
func BenchmarkF32F64(b *testing.B) { benchmark[float64, float32](b, 1) }
func BenchmarkF32F32(b *testing.B) { benchmark[float32, float32](b, 1) }
func BenchmarkRGB(b *testing.B)    { benchmark[uint32, uint8](b, 3) }
