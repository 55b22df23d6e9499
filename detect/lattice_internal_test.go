package detect

import (
	"image"
	"math"
	"math/rand/v2"
	"path/filepath"
	"testing"

	"github.com/boxsum/boxsum"
	"github.com/boxsum/boxsum/internal/ref"
	"github.com/boxsum/boxsum/rotated"
)

// ratios returns all ratios along which windows may lie.
func ratios() (all []ratio) {
	for b := 2; b <= mostRatio; b++ {
		for a := 1; a < b; a++ {
			if r := (ratio{a, b}); ratioOf(r.degrees()) == r {
				all = append(all, r)
			}
		}
	}
	return all
}

// TestLatticeBoxes compares boxes along digital lines with sums over their pixels and with package rotated: sums,
// squares and areas, in windows at every position that is searched.
func TestLatticeBoxes(t *testing.T) {
	rng := rand.New(rand.NewPCG(11, 12))
	if n := len(ratios()); n != 9 {
		t.Fatalf("%d ratios", n)
	}
	for _, r := range ratios() {
		size := image.Pt(3+rng.IntN(12), 3+rng.IntN(12))
		up := boxesOf(rng, Haar, size.X, size.Y, 8)
		up.nodes = make([]node, len(up.features))
		for i := range up.nodes {
			up.nodes[i].feature = int32(i)
		}
		c := up.posed(pose{ratio: r, mirrored: rng.IntN(2) == 0, direction: direction{quarters: rng.IntN(4)}})
		l := c.lattice
		width, height := c.size.X+l.step+rng.IntN(7), c.size.Y+l.step
		img, _ := boxsum.NewImage[uint8](width, height, 1)
		for i := range img.Pix {
			img.Pix[i] = uint8(rng.Uint32())
		}
		oracle, err := rotated.IntegrateSquares[uint32, uint64](img, rotated.Rotation{A: r.a, B: r.b}, nil)
		if err != nil {
			t.Fatal(err)
		}
		for k := range 9 {
			var p program
			p.aim(c, width, l.step, l.neighborDistance(k%3), l.neighborDistance(k/3))
			table := make([]uint32, p.tables(4))
			var lines [2]digital
			for i := range lines {
				lines[i].start(width)
				for y := range height {
					at := func(i int) []uint32 { return table[(i*p.rows+y+1)*p.stride:] }
					lines[i].row(r, y, img.Row(y), i == 1, at(sumTable+i), at(overSums+i), &p.layout)
				}
			}
			check := func(places [4]int32, u, v, w, h float64) (pixels int) {
				left, top := c.cell(p.odd, p.down, u, v)
				right, bottom := c.cell(p.odd, p.down, u+w, v+h)
				var want, squares uint32
				for y := range height {
					for x := range width {
						column, row := x-r.slope(y), y+r.slope(x)
						if column < left || column >= right || row < top || row >= bottom {
							continue
						}
						p8 := uint32(img.Row(y)[x])
						want, squares, pixels = want+p8, squares+p8*p8, pixels+1
						// Position in the rotated box, accurate to a pixel and a half.
						dx, dy := float64(x)+0.5-float64(p.odd)-l.left, float64(y)+0.5-float64(p.down)-l.top
						along, down := dx*l.cos-dy*l.sin, dx*l.sin+dy*l.cos
						if g := c.grow(); along < u*g-1.5 || down < v*g-1.5 || along > (u+w)*g+1.5 || down > (v+h)*g+1.5 {
							t.Fatalf("%v: pixel (%d, %d) at (%v, %v) is far from its box (%v, %v, %v, %v)", r, x, y, along, down, u, v, w, h)
						}
					}
				}
				sum := func(places [4]int32) uint32 {
					here := table[p.down*p.stride:] // the position of a window is in its own row
					return here[places[0]] - here[places[1]] - here[places[2]] + here[places[3]]
				}
				if got := sum(places); got != want {
					t.Fatalf("%v, windows %d: a sum of %d, want %d", r, k, got, want)
				}
				for i, s := range c.spots(p.odd, p.down, u, v, w, h) {
					places[i] = p.at(squareTable, int(s.x), int(s.y))
					if s.over {
						places[i] = p.at(overSquares, int(s.x), int(s.y))
					}
				}
				if got := sum(places); got != squares {
					t.Fatalf("%v, windows %d: a sum of squares of %d, want %d", r, k, got, squares)
				}
				b := rotated.Box{C0: left, R0: top, C1: right, R1: bottom}
				if oracle.Sum.Sum(b) != want || oracle.Sum.Area(b) != int64(pixels) || oracle.Squares.Sum(b) != uint64(squares) {
					t.Fatalf("%v: package rotated has %d, %d and %d, and it is %d, %d and %d", r, oracle.Sum.Sum(b), oracle.Sum.Area(b), oracle.Squares.Sum(b), want, pixels, squares)
				}
				return pixels
			}
			w, h := float64(c.upright.X-2), float64(c.upright.Y-2)
			middle := check(p.norm.Sum, 1, 1, w, h)
			if float64(middle) != p.norm.Area {
				t.Fatalf("%v: the middle of windows %d has %d pixels, want %v", r, k, middle, p.norm.Area)
			}
			for i, f := range c.features {
				for j, b := range f.boxes {
					u, v, across, down := float64(b.x), float64(b.y), float64(b.w), float64(b.h)
					n := check([4]int32(p.haar[i].Corners[4*j:]), u, v, across, down)
					if want := across * down / float64(n) * float64(middle) / (w * h); math.Abs(float64(p.haar[i].Weights[j])-want) > 1e-6*want {
						t.Fatalf("%v: a box of %d pixels weighs %v, want %v", r, n, p.haar[i].Weights[j], want)
					}
				}
			}
		}
	}
}

// TestLatticeSearch compares detections on rotated tables, and their scores, with package rotated, window by window.
func TestLatticeSearch(t *testing.T) {
	dir := ref.CascadeFolder(t)
	for _, name := range []string{"haarcascades/haarcascade_frontalface_alt2.xml", "lbpcascades/lbpcascade_frontalface.xml", "lbpcascades/lbpcascade_profileface.xml"} {
		c, err := LoadFile(filepath.Join(dir, name))
		if err != nil {
			t.Fatal(err)
		}
		c.stages = c.stages[:3] // so that there are many detections
		rng := rand.New(rand.NewPCG(7, 8))
		img, _ := boxsum.NewImage[uint8](150, 140, 1)
		for y := range img.Height {
			for x := range img.Width {
				img.Row(y)[x] = uint8(128 + 60*math.Sin(float64(x)/9+2*math.Sin(float64(y)/20)) + 50*math.Cos(float64(y)/7) + float64(rng.IntN(12)))
			}
		}
		for i, angle := range []float64{26.57, -22, 150} {
			if testing.Short() && (i != 1 || c.kind != Haar) {
				continue
			}
			p := c.pose(angle, TurnTables, false)
			s := new(search)
			s.turn = turning{search: s, image: img, bounds: image.Rect(0, 0, img.Width, img.Height), mirrored: p.mirrored, ratio: p.ratio}
			s.resetViews(c.posed(p))
			s.turning, s.coarse = &s.turn, true
			s.views[0].direction, s.views[0].angle = p.direction, p.angle()
			if math.Abs(math.Remainder(p.angle()-angle, 360)) > 1.5 {
				t.Fatalf("%v became %v", angle, p.angle())
			}
			if err := s.prepare(&img, &Options{Min: image.Pt(1, 1), Scale: 1.35, Workers: 1}); err != nil {
				t.Fatal(err)
			}
			if err := s.run(); err != nil {
				t.Fatal(err)
			}
			along := c.posed(p)
			l := along.lattice
			scores := map[[3]int32]float64{}
			for _, f := range s.candidates {
				scores[[3]int32{f.layer, f.x, f.y}] = f.score
			}
			if len(scores) != len(s.candidates) {
				t.Errorf("%d windows of %d are twice there", len(s.candidates)-len(scores), len(s.candidates))
			}
			found, between, skipped := 0, 0, 0
			for i := range s.layers {
				ly := &s.layers[i]
				layer, _ := boxsum.NewImage[uint8](ly.width, ly.height, 1)
				for y := range ly.height {
					w := &s.workers[0]
					w.layer = ly
					copy(layer.Row(y), w.pixels(y))
				}
				tables, err := rotated.IntegrateSquares[uint32, uint64](layer, rotated.Rotation{A: l.a, B: l.b}, nil)
				if err != nil {
					t.Fatal(err)
				}
				places := [3]int{0, l.step / 2, l.step - l.step/2}
				for y := 0; y+along.size.Y <= ly.height; y++ {
					for x := 0; x+along.size.X <= ly.width; x++ {
						if at := y % l.step; at != places[0] && at != places[1] && at != places[2] {
							continue
						}
						if at := x % l.step; at != places[0] && at != places[1] && at != places[2] {
							continue
						}
						score, got := scores[[3]int32{int32(i), int32(x), int32(y)}]
						main := x%l.step == 0 && y%l.step == 0
						if !main && !got {
							continue
						}
						want, stage := judged(along, tables, x, y)
						if got != (stage == len(along.stages)) || got && score != want {
							if main && !got && x > 0 {
								if _, before := judged(along, tables, x-l.step, y); before == 0 {
									skipped++
									continue
								}
							}
							t.Fatalf("%s at %v, layer %d, (%d, %d): %v with %v; it passes %d stages with %v", name, p, i, x, y, got, score, stage, want)
						}
						if found++; !main {
							between++
						}
					}
				}
			}
			t.Logf("%s at %.2f°: %d of %d windows pass in %d layers, %d of them between steps; %d are skipped", filepath.Base(name), p.angle(), len(scores), found, len(s.layers), between, skipped)
			if len(scores) < 20 {
				t.Errorf("%s at %v: only %d windows", name, p, len(scores))
			}
		}
	}
}

// judged returns the number of stages that a window passes and the sum of the last, computed with tables of package
// rotated. A flat window passes -1 stages.
func judged(c *Cascade, tables *rotated.SquaredTable[uint32, uint64], x, y int) (sum float64, stage int) {
	boxOf := func(u, v, w, h float64) rotated.Box {
		left, top := c.cell(x, y, u, v)
		right, bottom := c.cell(x, y, u+w, v+h)
		return rotated.Box{C0: left, R0: top, C1: right, R1: bottom}
	}
	w, h := float64(c.upright.X-2), float64(c.upright.Y-2)
	middle := boxOf(1, 1, w, h)
	area, s, q := float64(tables.Sum.Area(middle)), float64(tables.Sum.Sum(middle)), float64(tables.Squares.Sum(middle))
	norm := float32(1 / math.Sqrt(area*q-s*s))
	if c.kind == Haar && !(math.Sqrt(area*q-s*s) > 10*area) {
		return 0, -1
	}
	for k := range c.stages {
		st := &c.stages[k]
		sum = 0
		for _, tr := range c.trees[st.trees.first:st.trees.end] {
			j := int32(0)
			for j >= 0 {
				nd := &c.nodes[tr.nodes.first+j]
				f := &c.features[nd.feature]
				left := false
				if c.kind == LBP {
					b := f.boxes[0]
					block := func(i int) (sum, area int64) {
						box := boxOf(float64(b.x)+float64(i%3)*float64(b.w), float64(b.y)+float64(i/3)*float64(b.h), float64(b.w), float64(b.h))
						return int64(tables.Sum.Sum(box)), tables.Sum.Area(box)
					}
					center, middle := block(4)
					code := 0
					for bit, i := range [8]int{3, 6, 7, 8, 5, 2, 1, 0} {
						if sum, area := block(i); sum*middle >= center*area {
							code |= 1 << bit
						}
					}
					left = c.subsets[tr.nodes.first+j][code>>5]>>(code&31)&1 != 0
				} else {
					v := float32(0)
					for i, b := range f.boxes {
						if f.weights[i] == 0 {
							continue
						}
						box := boxOf(float64(b.x), float64(b.y), float64(b.w), float64(b.h))
						weight := float32(float64(f.weights[i]) * (float64(b.w) * float64(b.h) / float64(tables.Sum.Area(box))) * (area / (w * h)))
						v += float32(weight * float32(tables.Sum.Sum(box)))
					}
					left = v*norm < nd.threshold
				}
				if j = nd.right; left {
					j = nd.left
				}
			}
			sum += float64(c.leaves[tr.leaves.first+^j])
		}
		if sum < float64(st.threshold) {
			return sum, k
		}
	}
	return sum, len(c.stages)
}

// TestMirror tests that a mirrored cascade has the same results in a mirrored image.
func TestMirror(t *testing.T) {
	rng := rand.New(rand.NewPCG(13, 14))
	for code := range 256 {
		if mirrored(mirrored(code)) != code {
			t.Fatalf("%x is mirrored to %x", code, mirrored(code))
		}
	}
	for _, want := range [][2]int{{1 << 7, 1 << 5}, {1 << 6, 1 << 6}, {1 << 4, 1 << 0}, {1 << 3, 1 << 1}, {1 << 2, 1 << 2}} {
		if mirrored(want[0]) != want[1] {
			t.Errorf("%x is mirrored to %x, want %x", want[0], mirrored(want[0]), want[1])
		}
	}
	c := boxesOf(rng, LBP, 12, 9, 30)
	before := append([]feature(nil), c.features...)
	c.mirror()
	for i, f := range c.features {
		for k, b := range f.boxes {
			if a := before[i].boxes[k]; b.x != 12-a.x-3*a.w || b.y != a.y || b.w != a.w || b.h != a.h {
				t.Fatalf("%v became %v", a, b)
			}
		}
	}
}
