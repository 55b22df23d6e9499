package boxsum_test

import (
	"context"
	"errors"
	"fmt"
	"image"
	"math"
	"math/big"
	"math/rand/v2"
	"testing"

	"github.com/boxsum/boxsum"
)

// TestWidePixels tests that every box of an image of 64-bit integers has the correct
// sum modulo 2^64, and the correct mean without any modulus.
func TestWidePixels(t *testing.T) {
	testWide[int64](t)
	testWide[uint64](t)
}

func testWide[T int64 | uint64](t *testing.T) {
	rng := rand.New(rand.NewPCG(1, 64))
	for _, size := range [][3]int{{0, 3, 1}, {3, 0, 2}, {1, 1, 1}, {5, 7, 1}, {9, 4, 3}, {17, 13, 1}, {6, 21, 2}} {
		for _, shift := range []int{0, 10, 40} { // how large values are
			width, height, channels := size[0], size[1], size[2]
			img := boxsum.Image[T]{Stride: width*channels + 2, Width: width, Height: height, Channels: channels}
			img.Pix = make([]T, img.Stride*height)
			for i := range img.Pix {
				img.Pix[i] = T(rng.Uint64()) >> shift
			}
			what := fmt.Sprintf("%T %v >> %d", *new(T), size, shift)
			table, err := boxsum.Integrate[T](img, nil)
			if err != nil {
				t.Fatal(what, err)
			}
			stream, err := boxsum.NewStream[T, T](width, channels, nil)
			if err != nil {
				t.Fatal(what, err)
			}
			for y := range height {
				row, err := stream.Push(img.Row(y))
				if width == 0 {
					row, err = stream.Push(nil)
				}
				for i, s := range row {
					if s != table.Sums[(y+1)*table.Stride+i] {
						t.Fatalf("%s: the stream differs in row %d", what, y)
					}
				}
				if err != nil {
					t.Fatal(what, err)
				}
			}
			for range 30 {
				box := image.Rect(rng.IntN(width+1), rng.IntN(height+1), rng.IntN(width+1), rng.IntN(height+1))
				c := rng.IntN(channels)
				var sum T
				whole := new(big.Int)
				for y := box.Min.Y; y < box.Max.Y; y++ {
					for x := box.Min.X; x < box.Max.X; x++ {
						p := img.Pix[y*img.Stride+x*channels+c]
						sum += p
						whole.Add(whole, bigOf(p))
					}
				}
				mean := 0.0
				if n := box.Dx() * box.Dy(); n > 0 {
					mean, _ = new(big.Rat).SetFrac(whole, big.NewInt(int64(n))).Float64()
				}
				if got := table.SumChannel(box, c); got != sum {
					t.Errorf("%s: %v sums to %d, want %d", what, box, got, sum)
				}
				if got := table.Mean(box, c); math.Abs(got-mean) > 0x1p-52*math.Abs(mean) {
					t.Errorf("%s: %v has a mean of %v, want %v", what, box, got, mean)
				}
			}
		}
	}
}

func bigOf[T int64 | uint64](p T) *big.Int {
	if p < 0 {
		return big.NewInt(int64(p))
	}
	return new(big.Int).SetUint64(uint64(p))
}

func TestWideErrors(t *testing.T) {
	img := boxsum.Image[int64]{Pix: []int64{math.MinInt64, 1, 2, 3}, Width: 2, Height: 2}
	done, cancel := context.WithCancel(context.Background())
	cancel()
	into := func(dst *boxsum.Table[int64], src boxsum.Image[int64], opt *boxsum.Options) error {
		return boxsum.IntegrateInto(dst, src, opt)
	}
	own := &boxsum.Table[int64]{Sums: make([]int64, 9), Width: 2, Height: 2}
	if err := into(own, img, nil); err != nil || own.Sum(image.Rect(0, 0, 2, 2)) != math.MinInt64+6 || own.Channels != 1 || own.Stride != 3 {
		t.Errorf("a table of one's own memory: %v, %v", own, err)
	}
	var none *boxsum.Stream[int64, int64]
	_, push := none.Push(nil)
	_, width := boxsum.NewStream[int64, int64](-1, 1, nil)
	for name, tc := range map[string]struct{ err, want error }{
		"no table":   {into(nil, img, nil), boxsum.ErrInvalid},
		"size":       {into(&boxsum.Table[int64]{Sums: make([]int64, 9), Width: 3, Height: 2}, img, nil), boxsum.ErrInvalid},
		"short":      {into(own, boxsum.Image[int64]{Pix: img.Pix, Width: 2, Height: 3}, nil), boxsum.ErrInvalid},
		"overlap":    {into(own, boxsum.Image[int64]{Pix: own.Sums, Width: 2, Height: 2}, nil), boxsum.ErrOverlap},
		"offset":     {into(own, img, &boxsum.Options{Offset: 1}), boxsum.ErrTypes},
		"workers":    {into(own, img, &boxsum.Options{Workers: -1}), boxsum.ErrInvalid},
		"context":    {into(own, img, &boxsum.Options{Context: done}), context.Canceled},
		"nil stream": {push, boxsum.ErrInvalid},
		"width":      {width, boxsum.ErrInvalid},
	} {
		if !errors.Is(tc.err, tc.want) {
			t.Errorf("%s: error %v, want %v", name, tc.err, tc.want)
		}
	}
}
