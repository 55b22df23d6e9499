package match_test

import (
	"fmt"
	"math/rand/v2"
	"os"
	"testing"
	"time"

	"github.com/boxsum/boxsum"
	"github.com/boxsum/boxsum/match"
)

func TestMin(t *testing.T) {
	if os.Getenv("MIN") == "" {
		t.Skip()
	}
	rng := rand.New(rand.NewPCG(1, 1))
	img := picture[uint8](rng, 1920, 1080, 1, 0)
	if os.Getenv("MIN") == "2" {
		img = picture[uint8](rng, 1920, 1080, 1, 2)
	}
	for _, size := range []int{8, 16, 32, 128} {
		template := part(img, 700, 300, size, size)
		scores, _ := boxsum.NewImage[float32](1920-size+1, 1080-size+1, 1)
		best := [3]time.Duration{1e12, 1e12, 1e12}
		for range 40 {
			for w := 1; w <= 2; w++ {
				start := time.Now()
				if err := match.MatchInto(scores, img, template, match.ZNCC, &match.Options{Workers: w}); err != nil {
					t.Fatal(err)
				}
				best[w] = min(best[w], time.Since(start))
			}
		}
		fmt.Println(size, best[1], best[2])
	}
}
