package regress

import (
	"image"
	"math/rand/v2"
	"testing"

	"github.com/boxsum/boxsum"
	"github.com/boxsum/boxsum/histogram"
	"github.com/boxsum/boxsum/moments"
	"github.com/boxsum/boxsum/rotated"
	"github.com/boxsum/boxsum/tilted"
	"github.com/boxsum/boxsum/volume"
)

func BenchmarkTable(b *testing.B) {
	b.Run("u8-u32", integrate[uint32, uint8])
	b.Run("u8-f64", integrate[float64, uint8])
	b.Run("u16-u64", integrate[uint64, uint16])
	b.Run("f32-f32", integrate[float32, float32])
	b.Run("f32-f64", integrate[float64, float32])
}

func integrate[S boxsum.Sum, P boxsum.Pixel](b *testing.B) {
	forWorkers[P](b, sizes, func(b *testing.B, s size) func(int) error {
		img := noise[P](b, s)
		table, err := boxsum.NewTable[S](s.width, s.height, 1)
		check(b, err)
		return func(workers int) error {
			return boxsum.IntegrateInto(table, img, &boxsum.Options{Workers: workers})
		}
	})
}

// BenchmarkNewTable includes the allocation of the table.
func BenchmarkNewTable(b *testing.B) {
	forWorkers[uint8](b, []size{tiny, small, hd}, func(b *testing.B, s size) func(int) error {
		img := noise[uint8](b, s)
		return func(workers int) error {
			_, err := boxsum.Integrate[uint32](img, &boxsum.Options{Workers: workers})
			return err
		}
	})
}

func BenchmarkSquares(b *testing.B) {
	b.Run("u8-u32-u64", squares[uint32, uint64, uint8])
	b.Run("f32-f64-f64", squares[float64, float64, float32])
}

func squares[S boxsum.Sum, Q boxsum.Square, P boxsum.Pixel](b *testing.B) {
	forWorkers[P](b, sizes, func(b *testing.B, s size) func(int) error {
		img := noise[P](b, s)
		sums, err := boxsum.NewTable[S](s.width, s.height, 1)
		check(b, err)
		squares, err := boxsum.NewTable[Q](s.width, s.height, 1)
		check(b, err)
		table := &boxsum.SquaredTable[S, Q]{Sum: sums, Squares: squares}
		return func(workers int) error {
			return boxsum.IntegrateSquaresInto(table, img, &boxsum.Options{Workers: workers})
		}
	})
}

func BenchmarkTilted(b *testing.B) {
	forWorkers[uint8](b, sizes, func(b *testing.B, s size) func(int) error {
		img := noise[uint8](b, s)
		table, err := tilted.NewTable[uint32](s.width, s.height, 1)
		check(b, err)
		return func(workers int) error {
			return tilted.IntegrateInto(table, img, &tilted.Options{Workers: workers})
		}
	})
}

func BenchmarkRotated(b *testing.B) {
	forWorkers[uint8](b, sizes, func(b *testing.B, s size) func(int) error {
		img := noise[uint8](b, s)
		table, err := rotated.NewTable[uint32](s.width, s.height, 1, rotated.Rotation{A: 1, B: 2})
		check(b, err)
		return func(workers int) error {
			return rotated.IntegrateInto(table, img, &rotated.Options{Workers: workers})
		}
	})
}

// BenchmarkVolume divides the pixels of an image into eight slices or fewer.
func BenchmarkVolume(b *testing.B) {
	forWorkers[uint8](b, sizes, func(b *testing.B, s size) func(int) error {
		depth := 8
		vol, err := volume.New[uint8](s.width, s.height/depth, depth, 1)
		check(b, err)
		copy(vol.Pix, noise[uint8](b, s).Pix)
		table, err := volume.NewTable[uint32](s.width, s.height/depth, depth, 1)
		check(b, err)
		return func(workers int) error {
			return volume.IntegrateInto(table, vol, &volume.Options{Workers: workers})
		}
	})
}

func BenchmarkHistogram(b *testing.B) {
	forWorkers[uint8](b, []size{tiny, small, sd, hd}, func(b *testing.B, s size) func(int) error {
		img := noise[uint8](b, s)
		table, err := histogram.NewTable[uint32](s.width, s.height, 1, histogram.Bins{N: 16})
		check(b, err)
		return func(workers int) error {
			return histogram.IntegrateInto(table, img, &histogram.Options{Workers: workers})
		}
	})
}

func BenchmarkMoments(b *testing.B) {
	forWorkers[uint8](b, []size{tiny, small, sd, hd}, func(b *testing.B, s size) func(int) error {
		img := noise[uint8](b, s)
		table, err := moments.NewTable[uint8](s.width, s.height, 1)
		check(b, err)
		return func(workers int) error {
			return moments.IntegrateInto(table, img, &moments.Options{Workers: workers})
		}
	})
}

// BenchmarkBoxes queries 10,000 boxes spread over a table.
func BenchmarkBoxes(b *testing.B) {
	img := noise[uint8](b, hd)
	table, err := boxsum.IntegrateSquares[uint32, uint64](img, nil)
	check(b, err)
	rng := rand.New(rand.NewPCG(1, 2))
	boxes := make([]image.Rectangle, 10_000)
	for i := range boxes {
		boxes[i] = image.Rect(rng.IntN(hd.width), rng.IntN(hd.height), rng.IntN(hd.width), rng.IntN(hd.height))
	}
	b.Run("sum", func(b *testing.B) {
		sums := make([]uint32, len(boxes))
		for b.Loop() {
			check(b, table.Sum.SumBoxes(sums, boxes))
		}
	})
	b.Run("sum-single", func(b *testing.B) {
		var all uint32
		for b.Loop() {
			for _, box := range boxes {
				all += table.Sum.Sum(box)
			}
		}
		sink = all
	})
	b.Run("stddev", func(b *testing.B) {
		deviations := make([]float64, len(boxes))
		for b.Loop() {
			check(b, table.StdDevBoxes(deviations, boxes))
		}
	})
}

var sink uint32 // keeps sums from being optimized away
