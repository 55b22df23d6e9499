package boxsum_test

import (
	"errors"
	"io"
	"math"
	"slices"
	"testing"

	"github.com/boxsum/boxsum"
)

// TestReadImage tests images of rows that come one by one, of any number.
func TestReadImage(t *testing.T) {
	for _, height := range []int{0, 1, 15, 16, 17, 100} {
		for _, width := range []int{0, 1, 7} {
			for _, channels := range []int{0, 1, 3} {
				var want []uint16
				y := 0
				img, err := boxsum.ReadImage(width, channels, func(row []uint16) error {
					if len(row) != width*max(channels, 1) || cap(row) != len(row) {
						t.Fatalf("a row of %d has %d of %d elements", width, len(row), cap(row))
					}
					if y == height {
						return io.EOF
					}
					for x := range row {
						row[x] = uint16(y*31 + x)
					}
					want = append(want, row...)
					y++
					return nil
				})
				if err != nil || img.Width != width || img.Height != height || img.Channels != max(channels, 1) || !slices.Equal(img.Pix, want) {
					t.Fatalf("%d×%d×%d: %d×%d×%d, %v", width, height, channels, img.Width, img.Height, img.Channels, err)
				}
				if _, err := boxsum.Integrate[uint64](img, nil); err != nil {
					t.Errorf("%d×%d×%d: %v", width, height, channels, err)
				}
			}
		}
	}
	_, err := boxsum.ReadImage(3, 1, func([]uint8) error { return io.ErrUnexpectedEOF })
	if !errors.Is(err, io.ErrUnexpectedEOF) {
		t.Errorf("a truncated row gives %v", err)
	}
	for _, size := range [][2]int{{-1, 1}, {1, -1}, {math.MaxInt, math.MaxInt}} {
		if _, err := boxsum.ReadImage(size[0], size[1], func([]uint8) error { return io.EOF }); !errors.Is(err, boxsum.ErrInvalid) {
			t.Errorf("%v gives %v", size, err)
		}
	}
}
