package threshold_test

import (
	"testing"

	"github.com/boxsum/boxsum"
	"github.com/boxsum/boxsum/internal/ref"
	"github.com/boxsum/boxsum/threshold"
)

// TestMemory tests that, in addition to the image and the result, a worker needs 64 KiB and as many rows as a window is
// high, however high the image is. Su needs three times as many, because it also keeps masks.
func TestMemory(t *testing.T) {
	if testing.Short() {
		t.Skip("binarizes large images: leave out -short")
	}
	const width, k = 3000, 31
	least := map[threshold.Method]int{}
	for _, height := range []int{200, 400} {
		img := strokesPage(width, height)
		dst, _ := boxsum.NewImage[uint8](width, height, 1)
		for _, m := range threshold.Methods() {
			for workers := 1; workers <= 2; workers++ {
				got := ref.Allocated(t, func() error {
					return threshold.BinarizeInto(dst, img, threshold.New(m, k), &threshold.Options{Workers: workers})
				})
				rows := k
				switch m {
				case threshold.Su:
					rows = 3 * k
				case threshold.ISauvola:
					rows = k + 10 // of the contrast
				}
				if most := workers * (64<<10 + rows*width); got > most {
					t.Errorf("%v of %d×%d with %d workers took %d bytes, %d at most", m, width, height, workers, got, most)
				}
				if workers == 1 && least[m] == 0 {
					least[m] = got
				} else if workers == 1 && got > least[m]+4<<10 {
					t.Errorf("%v took %d bytes, and %d for an image that is higher", m, least[m], got)
				}
			}
		}
	}
}
