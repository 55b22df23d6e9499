package match_test

import (
	"fmt"
	"math/rand/v2"
	"testing"

	"github.com/boxsum/boxsum"
	"github.com/boxsum/boxsum/match"
)

func BenchmarkMatch(b *testing.B) {
	rng := rand.New(rand.NewPCG(1, 1))
	img := picture[uint8](rng, 1920, 1080, 1, 2)
	for _, size := range []int{8, 16, 32, 128} {
		for _, workers := range []int{1, 2} {
			b.Run(fmt.Sprintf("%d/%d", size, workers), func(b *testing.B) {
				template := part(img, 700, 300, size, size)
				scores, _ := boxsum.NewImage[float32](1920-size+1, 1080-size+1, 1)
				b.SetBytes(1920 * 1080)
				for b.Loop() {
					if err := match.MatchInto(scores, img, template, match.ZNCC, &match.Options{Workers: workers}); err != nil {
						b.Fatal(err)
					}
				}
			})
		}
	}
}
