package gradients_test

import (
	"math"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/boxsum/boxsum/internal/kernel/gradients"
	"github.com/boxsum/boxsum/internal/kernel/processor"
)

// guard is the number of elements before and after those that a kernel may write.
const guard = 16

// levels calls f with every level but the portable one.
func levels(t *testing.T, f func(t *testing.T, level processor.Level)) {
	for _, level := range processor.Levels()[1:] {
		t.Run(level.String(), func(t *testing.T) { f(t, level) })
	}
}

func floats(rng *rand.Rand, n int) []float32 {
	all := make([]float32, n)
	for i := range all {
		all[i] = rng.Float32()
	}
	return all
}

// TestPolar compares gradients of every pair of roots of bytes, and others, bit for bit.
func TestPolar(t *testing.T) {
	rng := rand.New(rand.NewPCG(40, 8))
	levels(t, func(t *testing.T, level processor.Level) {
		for i := range 600 {
			n := 1 + rng.IntN(100)
			dx, dy := make([]float32, n), make([]float32, n)
			for k := range n {
				side := func() float32 {
					if i%2 == 0 {
						return float32(rng.IntN(256) - rng.IntN(256))
					}
					return float32(math.Sqrt(float64(rng.IntN(256)))) - float32(math.Sqrt(float64(rng.IntN(256))))
				}
				dx[k], dy[k] = side(), side()
				switch rng.IntN(8) {
				case 0:
					dx[k] = 0
				case 1:
					dy[k] = 0
				case 2:
					dy[k] = dx[k]
				case 3:
					dx[k] = float32(math.Copysign(0, -1))
				}
			}
			bins := 1 + rng.IntN(gradients.MaxBins)
			b := gradients.NewBins(bins, rng.IntN(2) == 0)
			run := func(level processor.Level) (first, second []float32, places []gradients.Place) {
				first, second, places = floats(rng, n+2*guard), floats(rng, n+2*guard), make([]gradients.Place, n+2*guard)
				clear(first[:guard])
				clear(first[guard+n:])
				clear(second[:guard])
				clear(second[guard+n:])
				gradients.Polar(level, first[guard:][:n], second[guard:][:n], places[guard:][:n], dx, dy, b, false)
				return first, second, places
			}
			first, second, places := run(level)
			wantFirst, wantSecond, wantPlaces := run(processor.Portable)
			if !slices.Equal(first, wantFirst) || !slices.Equal(second, wantSecond) || !slices.Equal(places, wantPlaces) {
				t.Fatalf("%d bins: gradients\n%v\n%v are\n%v\n%v\n%v, want\n%v\n%v\n%v", bins, dx, dy, first, second, places, wantFirst, wantSecond, wantPlaces)
			}
		}
	})
}

// TestDifferences compares brightness and gradients of one channel and of three.
func TestDifferences(t *testing.T) {
	rng := rand.New(rand.NewPCG(40, 11))
	levels(t, func(t *testing.T, level processor.Level) {
		for range 300 {
			n := 1 + rng.IntN(70)
			pitch := n + 2 + rng.IntN(3)
			pix := make([]uint8, 9*pitch)
			for i := range pix {
				pix[i] = uint8(rng.IntN(1 << rng.IntN(9)))
			}
			linear := rng.IntN(2) == 0
			run := func(level processor.Level) (bright, dx, dy, ax, ay []float32) {
				bright = make([]float32, len(pix)+2*guard)
				dx, dy, ax, ay = make([]float32, n+2*guard), make([]float32, n+2*guard), make([]float32, n+2*guard), make([]float32, n+2*guard)
				gradients.Brightness(level, bright[guard:][:len(pix)], pix, linear)
				rows := bright[guard:]
				gradients.Differences(level, dx[guard:][:n], dy[guard:][:n], rows[:n+2], rows[pitch:][:n+2], rows[2*pitch:][:n+2])
				gradients.Strongest(level, ax[guard:][:n], ay[guard:][:n], rows, rows[3*pitch:], rows[6*pitch:], pitch)
				return bright, dx, dy, ax, ay
			}
			bright, dx, dy, ax, ay := run(level)
			wantBright, wantX, wantY, wantAX, wantAY := run(processor.Portable)
			if !slices.Equal(bright, wantBright) || !slices.Equal(dx, wantX) || !slices.Equal(dy, wantY) || !slices.Equal(ax, wantAX) || !slices.Equal(ay, wantAY) {
				t.Fatalf("%d pixels, linear %v, differ", n, linear)
			}
		}
	})
}

// TestBlocks compares histograms and their norms.
func TestBlocks(t *testing.T) {
	rng := rand.New(rand.NewPCG(40, 9))
	levels(t, func(t *testing.T, level processor.Level) {
		for range 200 {
			across, bins, cells, lattice := 1+rng.IntN(30), 1+rng.IntN(20), 1+rng.IntN(6), 1+rng.IntN(9)
			if rng.IntN(20) == 0 {
				bins = gradients.MaxBins
			}
			side := 2 + rng.IntN(7)
			columns := (across-1)*lattice + side
			g := &gradients.Gradient{First: floats(rng, columns*side), Second: floats(rng, columns*side), Places: make([]gradients.Place, columns*side)}
			dx, dy := floats(rng, len(g.First)), floats(rng, len(g.First))
			for i := range dx {
				dx[i], dy[i] = dx[i]-0.5, dy[i]-0.5
			}
			gradients.Polar(processor.Portable, g.First, g.Second, g.Places, dx, dy, gradients.NewBins(bins, false), false)
			var pixels []gradients.Pixel
			var offsets []int32
			for y := range side {
				for x := range side {
					p := gradients.Pixel{X: int32(x), Y: int32(y)}
					for c := range cells {
						if p.N < 4 && rng.IntN(2) == 0 {
							p.Cells[p.N], p.Weights[p.N] = int32(c), rng.Float32()
							if c < gradients.BlockCells {
								p.Spread[c] = p.Weights[p.N]
							}
							p.N++
						}
					}
					pixels, offsets = append(pixels, p), append(offsets, int32(y*columns+x))
				}
			}
			stride := (across+gradients.Lanes-1)&^(gradients.Lanes-1) + gradients.Lanes
			length := cells * bins
			from := rng.IntN(across)
			run := func(level processor.Level) []float32 {
				all := make([]float32, length*stride+2*guard)
				r := gradients.BlockRow{Pixels: pixels, Offsets: offsets, Lattice: lattice, Bins: bins, Cells: cells, Planes: all[guard:][:length*stride], Stride: stride}
				r.Fill(level, g, 0, from)
				r.Fill(level, g, from, across)
				return all
			}
			got, want := run(level), run(processor.Portable)
			if !slices.Equal(got, want) {
				t.Fatalf("%d blocks of %d cells of %d bins, %d apart, differ", across, cells, bins, lattice)
			}
			clip := 0.05 + rng.Float32()
			gradients.Normalize(level, got[guard:][:length*stride], stride, length, across, clip)
			gradients.Normalize(processor.Portable, want[guard:][:length*stride], stride, length, across, clip)
			for k := range length {
				for x := range across {
					if i := guard + k*stride + x; got[i] != want[i] {
						t.Fatalf("%d blocks of %d numbers: number %d of block %d is %v, want %v", across, length, k, x, got[i], want[i])
					}
				}
			}
			if !slices.Equal(got[:guard], make([]float32, guard)) || !slices.Equal(got[len(got)-guard:], make([]float32, guard)) {
				t.Fatal("numbers outside of the planes are overwritten")
			}
		}
	})
}

// TestScores compares scores of windows.
func TestScores(t *testing.T) {
	rng := rand.New(rand.NewPCG(40, 10))
	levels(t, func(t *testing.T, level processor.Level) {
		for range 300 {
			windows, pace, step := 1+rng.IntN(50), 1+rng.IntN(2)*rng.IntN(3), 1+rng.IntN(3)
			length, across, down := 1+rng.IntN(40), 1+rng.IntN(6), 1+rng.IntN(6)
			blocks := (windows-1)*pace + (across-1)*step + 1
			stride := (blocks+gradients.Lanes-1)&^(gradients.Lanes-1) + gradients.Lanes
			w := &gradients.Windows{Planes: floats(rng, down*length*stride), Stride: stride, Length: length, Across: across, Step: step, Pace: pace, Coefficients: floats(rng, across*down*length)}
			for y := range down {
				w.Rows = append(w.Rows, (y+1)%down*length*stride)
			}
			run := func(level processor.Level) []float64 {
				scores := make([]float64, (windows+gradients.Lanes-1)&^(gradients.Lanes-1)+guard)
				for i := range windows {
					scores[i] = float64(i) / 7
				}
				w.Scores(level, scores, windows)
				return scores
			}
			got, want := run(level), run(processor.Portable)
			if !slices.Equal(got[:windows], want[:windows]) || !slices.Equal(got[len(got)-guard:], want[len(want)-guard:]) {
				t.Fatalf("%d windows of %d by %d blocks of %d numbers: scores are\n%v, want\n%v", windows, across, down, length, got, want)
			}
		}
	})
}
