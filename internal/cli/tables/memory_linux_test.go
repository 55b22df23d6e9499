//go:build amd64 || arm64

package tables

import (
	"strings"
	"testing"

	"github.com/boxsum/boxsum"
	"github.com/boxsum/boxsum/internal/pixels"
)

// TestNoMemory asks for tables of 2^50 bytes and more, of images that take none.
func TestNoMemory(t *testing.T) {
	for _, img := range []boxsum.Image[float64]{
		{Width: 1 << 47, Channels: 1},
		{Height: 1 << 44, Channels: 1},
		{Width: 1 << 27, Channels: 1 << 20},
	} {
		for _, squares := range []bool{false, true} {
			_, err := newPlane(pairOf[float64, float64, float64](), pixels.Of(img), tableChoice{squares: squares})
			if err == nil || !strings.Contains(err.Error(), "GB of memory") {
				t.Errorf("%d×%d, squares %v: error is %v", img.Width, img.Height, squares, err)
			}
		}
	}
}
