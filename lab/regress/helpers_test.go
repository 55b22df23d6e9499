package regress

import (
	"fmt"
	"math/rand/v2"
	"runtime"
	"testing"
	"unsafe"

	"github.com/boxsum/boxsum"
)

type size struct {
	name          string
	width, height int
}

var (
	tiny  = size{"8x8", 8, 8}
	small = size{"64x64", 64, 64}
	sd    = size{"480p", 640, 480}
	hd    = size{"1080p", 1920, 1080}
	large = size{"4096x4096", 4096, 4096}
)

var sizes = []size{tiny, small, sd, hd, large}

// forWorkers runs a benchmark for each size with 1, 2 and 16 workers, as far as there are processors. Throughput
// counts the bytes of pixels.
func forWorkers[P boxsum.Pixel](b *testing.B, sizes []size, prepare func(b *testing.B, s size) func(workers int) error) {
	for _, s := range sizes {
		var run func(workers int) error
		for _, workers := range []int{1, 2, 16} {
			if workers > runtime.NumCPU() {
				break
			}
			b.Run(fmt.Sprintf("%s/workers=%d", s.name, workers), func(b *testing.B) {
				if run == nil { // once per size, and only for sizes selected by -bench
					run = prepare(b, s)
				}
				b.SetBytes(int64(s.width*s.height) * int64(unsafe.Sizeof(*new(P))))
				b.ReportAllocs()
				for b.Loop() {
					if err := run(workers); err != nil {
						b.Fatal(err)
					}
				}
			})
		}
	}
}

// noise returns an image of random pixels that are the same every time: integers of the full range of uint8,
// floats in [0, 1).
func noise[P boxsum.Pixel](b *testing.B, s size) boxsum.Image[P] {
	b.Helper()
	img, err := boxsum.NewImage[P](s.width, s.height, 1)
	check(b, err)
	rng := rand.New(rand.NewPCG(1, uint64(s.width)))
	isFloat := P(3)/2 != 1
	for i := range img.Pix {
		if isFloat {
			img.Pix[i] = P(rng.Float32())
		} else {
			img.Pix[i] = P(rng.Uint32() & 255)
		}
	}
	return img
}

func check(b *testing.B, err error) {
	b.Helper()
	if err != nil {
		b.Fatal(err)
	}
}
