package detect

import (
	"image"
	"math"
	"math/bits"
	"math/rand/v2"
	"path/filepath"
	"slices"
	"testing"

	"github.com/boxsum/boxsum"
	"github.com/boxsum/boxsum/internal/kernel/cascades"
	"github.com/boxsum/boxsum/internal/kernel/processor"
	"github.com/boxsum/boxsum/internal/ref"
)

// boxesOf returns a cascade of random boxes in a window.
func boxesOf(rng *rand.Rand, kind Kind, width, height, n int) *Cascade {
	c := &Cascade{kind: kind, size: image.Pt(width, height)}
	for range n {
		var f feature
		for k := range f.boxes {
			across, down := width, height
			if kind == LBP {
				across, down = width/3, height/3
			}
			w, h := 1+rng.IntN(across), 1+rng.IntN(down)
			b := &f.boxes[k]
			*b = box{w: int16(w), h: int16(h)}
			if kind == LBP {
				w, h = 3*w, 3*h
			}
			b.x, b.y = int16(rng.IntN(width-w+1)), int16(rng.IntN(height-h+1))
			f.weights[k] = 1
		}
		c.features = append(c.features, f)
	}
	return c
}

// TestQuarters tests that the boxes of a rotated cascade have the same sums in a rotated image, and its patterns the same
// bits.
func TestQuarters(t *testing.T) {
	rng := rand.New(rand.NewPCG(1, 2))
	for _, kind := range []Kind{Haar, LBP} {
		const width, height = 9, 12
		c := boxesOf(rng, kind, width, height, 50)
		if kind == LBP {
			for range c.features {
				var s [subsetWords]uint32
				for i := range s {
					s[i] = rng.Uint32()
				}
				c.subsets = append(c.subsets, s)
			}
		}
		img, w, h := make([]int, width*height), width, height
		for i := range img {
			img[i] = rng.IntN(256)
		}
		sum := func(pix []int, stride int, b box) (s int) {
			for y := b.y; y < b.y+b.h; y++ {
				for x := b.x; x < b.x+b.w; x++ {
					s += pix[int(y)*stride+int(x)]
				}
			}
			return s
		}
		left := func(c *Cascade, i int, pix []int, stride int) bool {
			b := c.features[i].boxes[0]
			at := func(x, y int16) int { return sum(pix, stride, box{b.x + x*b.w, b.y + y*b.h, b.w, b.h}) }
			code := 0
			for k, p := range [8][2]int16{{0, 0}, {1, 0}, {2, 0}, {2, 1}, {2, 2}, {1, 2}, {0, 2}, {0, 1}} {
				if at(p[0], p[1]) >= at(1, 1) {
					code |= 128 >> k
				}
			}
			return c.subsets[i][code>>5]>>(code&31)&1 != 0
		}
		pix := img
		for quarters := range 4 {
			turned := c.turn(direction{quarters: quarters})
			if turned.size != image.Pt(w, h) {
				t.Fatalf("%v, %d quarters: a window of %v", kind, quarters, turned.size)
			}
			for i := range c.features {
				for k, b := range c.features[i].boxes {
					if kind == LBP {
						break
					}
					if got, want := sum(pix, w, turned.features[i].boxes[k]), sum(img, width, b); got != want {
						t.Fatalf("%d quarters: box %v became %v, whose sum is %d, want %d", quarters, b, turned.features[i].boxes[k], got, want)
					}
				}
				if kind == LBP && left(turned, i, pix, w) != left(c, i, img, width) {
					t.Fatalf("%d quarters: pattern %d goes another way", quarters, i)
				}
			}
			next := make([]int, len(pix)) // rotated by 90° clockwise
			for y := range h {
				for x := range w {
					next[x*h+h-1-y] = pix[y*w+x]
				}
			}
			pix, w, h = next, h, w
		}
	}
}

// TestDiagonals tests that boxes along diagonals sum exactly the pixels of their cells, two per cell, and that these lie
// in the rotated box.
func TestDiagonals(t *testing.T) {
	rng := rand.New(rand.NewPCG(3, 4))
	for range 20 {
		size := image.Pt(3+rng.IntN(12), 3+rng.IntN(12))
		up := boxesOf(rng, Haar, size.X, size.Y, 20)
		c := up.turn(direction{diagonal: true})
		n := size.X + size.Y
		if c.size != image.Pt(n, n) {
			t.Fatalf("a window of %v for %v", c.size, size)
		}
		width := n + 1 + rng.IntN(5)
		pix := make([]uint8, width*(n+1))
		for i := range pix {
			pix[i] = uint8(rng.Uint32())
		}
		for _, step := range []int{1, 2} {
			level := processor.Levels()[rng.IntN(len(processor.Levels()))]
			l := layoutOf(width, n, step)
			tables := make([]uint32, l.tables(2))
			var lines [4][]uint32
			for i := range lines {
				lines[i] = make([]uint32, width+n+2)
			}
			sums, squares := tables, tables[l.rows*l.stride:]
			for y := range n {
				row := pix[y*width:][:width]
				above, here := y*l.stride, (y+1)*l.stride
				cascades.TiltedRow(level, sums[here:], sums[above:], lines[0][n-y:], lines[1][y:], row, l.half, false)
				cascades.TiltedRow(level, squares[here:], squares[above:], lines[2][n-y:], lines[3][y:], row, l.half, true)
			}
			for _, f := range c.features {
				node := l.haarNode(c, &f, 0)
				for k, b := range f.boxes {
					sum := func(from []uint32) uint32 {
						at := node.Corners[4*k:]
						return from[at[0]] - from[at[1]] - from[at[2]] + from[at[3]]
					}
					var want, square uint32
					pixels := 0
					for y := range n {
						for x := range width {
							// The cell of a pixel: columns descend to the right, rows to the left.
							across, down := x+1-size.Y, y
							if (across+down)%2 != 0 {
								down--
							}
							i, j := (across+down)/2, (down-across)/2
							if down < across || down+across < 0 || i < int(b.x) || j < int(b.y) || i >= int(b.x+b.w) || j >= int(b.y+b.h) {
								continue
							}
							p := uint32(pix[y*width+x])
							want, square, pixels = want+p, square+p*p, pixels+1
							// Position in the rotated window, whose top corner is half a pixel to the left.
							dx, dy := float64(x)+0.5-(float64(size.Y)-0.5), float64(y)+0.5
							u, v := (dx+dy)/2, (dy-dx)/2
							if u < float64(b.x)-0.5 || v < float64(b.y)-0.5 || u > float64(b.x+b.w)+0.5 || v > float64(b.y+b.h)+0.5 {
								t.Fatalf("pixel (%d, %d) at (%v, %v) is far from box %v", x, y, u, v, b)
							}
						}
					}
					if pixels != 2*int(b.w)*int(b.h) {
						t.Fatalf("box %v has %d pixels", b, pixels)
					}
					if got := sum(sums); got != want {
						t.Fatalf("window %v, step %d: box %v has a sum of %d, want %d", size, step, b, got, want)
					}
					if got := sum(squares); got != square {
						t.Fatalf("window %v, step %d: box %v has a sum of squares of %d, want %d", size, step, b, got, square)
					}
				}
			}
		}
	}
}

func TestSplit(t *testing.T) {
	for _, a := range append(AllAngles(), 0, 360, -360, 44.9, 45, 89, -1, -45, 359.5, math.Nextafter(0, -1)) {
		turn, d := split(a)
		got := turn + 90*float64(d.quarters)
		if d.diagonal {
			got += 45
		}
		if turn < 0 || turn >= 45 || math.Abs(math.Remainder(got-a, 360)) > 1e-9 {
			t.Errorf("%v is turned by %v and %v", a, turn, d)
		}
	}
	if bits.OnesCount(uint(len(AllAngles()))) != 1 {
		t.Error("angles are not spread evenly")
	}
}

// TestLargeDiagonals tests rotations by 45° of windows that are too large for 32-bit tilted tables.
func TestLargeDiagonals(t *testing.T) {
	c := &Cascade{ // detects windows that are darker on the left
		kind: Haar, size: image.Pt(200, 200), leaves: []float32{-1, 1}, nodes: []node{{left: ^0, right: ^1}}, trees: []tree{{span{0, 1}, span{0, 2}}},
		stages:   []stage{{trees: span{0, 1}, stumps: true, threshold: 0.5}},
		features: []feature{{boxes: [3]box{{0, 0, 200, 200}, {0, 0, 100, 200}}, weights: [3]float32{1, -2}}},
	}
	img, _ := boxsum.NewImage[uint8](320, 320, 1)
	for i := range img.Pix {
		if img.Pix[i] = 255; i%320+i/320 < 320 {
			img.Pix[i] = 215
		}
	}
	for _, one := range []struct {
		angle float64
		found bool
	}{{45, true}, {40, true}, {-135, false}, {-140, false}} {
		all, err := c.Detect(img, &Options{Angles: []float64{one.angle}, Ungrouped: true})
		if err != nil || (len(all) > 0) != one.found {
			t.Errorf("%v°: %v, %v", one.angle, all, err)
		}
		for _, r := range all {
			if r.Angle != one.angle {
				t.Errorf("%v°: %v", one.angle, r)
			}
		}
	}
}

// TestRefine tests windows next to those found two pixels apart: each is searched, and has the same score as alone.
func TestRefine(t *testing.T) {
	dir := ref.CascadeFolder(t)
	for _, name := range []string{"haarcascades/haarcascade_frontalface_alt2.xml", "lbpcascades/lbpcascade_frontalface.xml"} {
		c, err := LoadFile(filepath.Join(dir, name))
		if err != nil {
			t.Fatal(err)
		}
		// Few stages, so that there are many detections.
		c.stages = c.stages[:min(len(c.stages), 9)]
		rng := rand.New(rand.NewPCG(7, 8))
		img, _ := boxsum.NewImage[uint8](190, 330, 1)
		for y := range img.Height {
			for x := range img.Width {
				img.Row(y)[x] = uint8(128 + 60*math.Sin(float64(x)/9+2*math.Sin(float64(y)/20)) + 50*math.Cos(float64(y)/7) + float64(rng.IntN(12)))
			}
		}
		s := new(search)
		s.turn = turning{search: s, image: img, bounds: image.Rect(0, 0, img.Width, img.Height)}
		s.resetViews(c)
		s.turning, s.coarse = &s.turn, true
		if err := s.prepare(&img, &Options{Min: image.Pt(45, 45), Scale: 1.3, Workers: 1}); err != nil {
			t.Fatal(err)
		}
		if err := s.run(); err != nil {
			t.Fatal(err)
		}
		scores := map[[3]int32]float64{}
		for _, f := range s.candidates {
			scores[[3]int32{f.layer, f.x, f.y}] = f.score
		}
		if len(scores) != len(s.candidates) {
			t.Errorf("%d windows of %d are twice there", len(s.candidates)-len(scores), len(s.candidates))
		}
		layers := slices.Clone(s.layers)
		between := 0
		for i := range layers {
			l := &layers[i]
			if l.step != 2 || !l.refine {
				t.Fatalf("%+v", l)
			}
			layer, _ := boxsum.NewImage[uint8](l.width, l.height, 1)
			for y := range l.height {
				w := &s.workers[0]
				w.layer = l
				copy(layer.Row(y), w.pixels(y))
			}
			for y := int32(0); int(y)+c.size.Y <= l.height; y++ {
				for x := int32(0); int(x)+c.size.X <= l.width; x++ {
					score, got := scores[[3]int32{int32(i), x, y}]
					beside := false // next to a window found at even positions
					for dy := int32(-1); dy <= 1; dy++ {
						for dx := int32(-1); dx <= 1; dx++ {
							_, hit := scores[[3]int32{int32(i), x + dx, y + dy}]
							beside = beside || hit && (x+dx)%2 == 0 && (y+dy)%2 == 0
						}
					}
					if !beside && !got || x%2 == 0 && y%2 == 0 && !got {
						continue
					}
					window, _ := boxsum.NewImage[uint8](c.size.X, c.size.Y, 1)
					for r := range c.size.Y {
						copy(window.Row(r), layer.Row(int(y) + r)[x:])
					}
					alone, err := c.Detect(window, &Options{Ungrouped: true})
					if err != nil {
						t.Fatal(err)
					}
					if !beside || got != (len(alone) == 1) || got && alone[0].Score != score {
						t.Fatalf("layer %d, %d, %d: %v with %v, beside others %v; alone %v", i, x, y, got, score, beside, alone)
					}
					if x%2 != 0 || y%2 != 0 {
						between++
					}
				}
			}
		}
		t.Logf("%d windows are found in %d layers, %d between places", len(scores), len(layers), between)
		if between < 100 {
			t.Errorf("only %d windows between places", between)
		}
	}
}
