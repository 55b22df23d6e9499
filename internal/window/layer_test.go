package window

import (
	"math/rand/v2"
	"testing"

	"github.com/boxsum/boxsum/internal/engine"
	"github.com/boxsum/boxsum/internal/kernel/processor"
	"github.com/boxsum/boxsum/internal/raster"
)

// counting is a layer that checks every window of every row.
type counting struct {
	Layer
	t    *testing.T
	rows []int // how often each pixel was visited
}

func (l *counting) Tile(worker, x, y, n, rows int) {
	s, src := l.Start(worker, x, y, n)
	for end := y + rows; y < end; y++ {
		s.Down(src, y)
		l.row(x, y, l.Src.Span(x, y, n), s)
	}
}

func (l *counting) row(x, y int, pix []uint8, s *Sums) {
	r := s.Windows()
	hi, lo := raster.Elems[uint32](r.Sums.Hi), raster.Elems[uint32](r.Sums.Lo)
	hi2, lo2 := raster.Elems[uint32](r.Squares.Hi), raster.Elems[uint32](r.Squares.Lo)
	f := &l.Frame
	for i := range pix {
		px, ch := x+i/f.Channels, i%f.Channels
		l.rows[y*f.Width+px]++
		var sum, squares uint32
		var count int64
		for v := y - f.Up; v <= y+f.Down; v++ {
			for u := px - f.Left; u <= px+f.Right; u++ {
				a, b := f.Border.Index(u, f.Width), f.Border.Index(v, f.Height)
				if a == outside || b == outside {
					continue
				}
				p := uint32(l.Src.Data[b*l.Src.Stride+a*f.Channels+ch])
				sum, squares, count = sum+p, squares+p*p, count+1
			}
		}
		if hi[i]-lo[i] != sum || hi2[i]-lo2[i] != squares || r.Count(i/f.Channels) != count {
			l.t.Fatalf("%+v: window (%d, %d) has %d, %d and %d, want %d, %d and %d", f.Shape, px, y, hi[i]-lo[i], hi2[i]-lo2[i], r.Count(i/f.Channels), sum, squares, count)
		}
	}
}

// TestLayer tests the sums, squares and counts of all windows, and that each pixel is
// visited once, in bands and strips.
func TestLayer(t *testing.T) {
	rng := rand.New(rand.NewPCG(1, 18))
	for i := range 12 {
		w, h, c := 40+rng.IntN(60), 100+rng.IntN(200), 1+i%3
		if i == 0 {
			w, h, c = 9000, 3, 1 // strips
		}
		pix := make([]uint8, w*h*c)
		for i := range pix {
			pix[i] = uint8(rng.Uint32())
		}
		l := &counting{t: t, rows: make([]int, w*h)}
		l.Frame = Frame{Width: w, Height: h, Channels: c, Pixel: raster.U8, Sum: raster.U32, Square: raster.U32, Level: processor.Best(),
			Shape: Shape{Left: rng.IntN(6), Right: rng.IntN(6), Up: rng.IntN(6), Down: rng.IntN(6), Border: []Border{Clip, Reflect, Reflect101, Replicate}[i%4]}}
		l.Src = raster.ArrayOf(pix, raster.PlaneExtent(w, h, c, w*c))
		set, err := (&engine.Options{Workers: 2}).Check()
		if err != nil {
			t.Fatal(err)
		}
		var e engine.Engine
		p := l.Plan(&set, 1)
		if err := e.Fill(&set, &p, l); err != nil {
			t.Fatal(err)
		}
		for at, n := range l.rows {
			if n != c {
				t.Fatalf("pixel %d came %d times", at, n)
			}
		}
	}
}
