package reproduce

import (
	"fmt"
	"image"
	"math"
	"math/rand/v2"
	"slices"

	"github.com/boxsum/boxsum"
	"github.com/boxsum/boxsum/rotated"
)

// Messom and Barczak conclude with the claim that rotated tables turn a classifier trained on
// upright images to any direction. This file trains one on drawn faces, and rotates it to 1/2 in
// several ways.

// Turned holds the percentages of rotated faces that are detected at a false positive rate of 1%,
// in several ways.
type Turned struct {
	Picture float64 `json:"picture"` // the picture is rotated back
	Plain   float64 `json:"plain"`   // tables along 1/2, without correction of areas
	Exact   float64 `json:"exact"`   // corrected for exact areas
	Finer   float64 `json:"finer"`   // also with layers 2.5 times finer
}

// Score returns 1 if rotated tables without corrections do as well as rotated pictures, 0.5 if they
// do with exact areas and finer layers, and 0 otherwise.
func (t *Turned) Score() float64 {
	const asGood = 0.97
	switch {
	case t == nil:
		return math.NaN()
	case t.Plain >= asGood*t.Picture:
		return 1
	case t.Finer >= asGood*t.Picture:
		return 0.5
	}
	return 0
}

func (t *Turned) String() string {
	if t == nil {
		return "–"
	}
	return fmt.Sprintf("A classifier trained here on upright drawn faces finds %.0f%% of the faces rotated along 1-2 if the pictures are rotated back. With rotated tables it finds %.0f%%, with sums corrected for exact areas %.0f%%, and with a pyramid that also has 2.5 times finer steps %.0f%%, each at 1%% false positives.", t.Picture, t.Plain, t.Exact, t.Finer)
}

const (
	windowUnits = 20 // side of a window
	classified  = 200
	rejected    = 800
)

// A scene returns the brightness at a point around a window, in units from its center.
type scene func(x, y float64) float64

// soft returns a value that falls from 1 inside an ellipse to 0 outside it.
func soft(x, y, cx, cy, rx, ry float64) float64 {
	x, y = (x-cx)/rx, (y-cy)/ry
	d := float64(x*x) + float64(y*y)
	d *= d
	return 1 / (1 + d*d)
}

// drawnFace returns a bright oval with dark eyes and a dark mouth, randomly varied.
func drawnFace(rng *rand.Rand) scene {
	near := func(v, by float64) float64 { return v + by*(2*rng.Float64()-1) }
	back := clutter(rng)
	skin, dark := near(150, 40), near(-60, 15)
	ex, ey, er := near(3.8, 0.5), near(-2.5, 0.7), near(1.7, 0.3)
	my, mw := near(5, 0.8), near(3.4, 0.7)
	light := near(0, 2) // brighter on one side
	return func(x, y float64) float64 {
		oval := soft(x, y, 0, 0.5, 8, 10)
		v := skin + light*x
		v += dark * (soft(x, y, -ex, ey, er, er*0.8) + soft(x, y, ex, ey, er, er*0.8) + 0.8*soft(x, y, 0, my, mw, 0.9))
		v += 15 * soft(x, y, 0, 1, 0.9, 3)
		return oval*v + (1-oval)*back(x, y)
	}
}

// clutter returns random ovals.
func clutter(rng *rand.Rand) scene {
	type oval struct{ x, y, rx, ry, v, sin, cos float64 }
	var all []oval
	for range 8 {
		sin, cos := math.Sincos(rng.Float64() * math.Pi)
		all = append(all, oval{24*rng.Float64() - 12, 24*rng.Float64() - 12, 1 + 6*rng.Float64(), 1 + 6*rng.Float64(), 160*rng.Float64() - 80, sin, cos})
	}
	base := 60 + 120*rng.Float64()
	return func(x, y float64) float64 {
		v := base
		for _, o := range all {
			dx, dy := x-o.x, y-o.y
			v += o.v * soft(dx*o.cos+dy*o.sin, dy*o.cos-dx*o.sin, 0, 0, o.rx, o.ry)
		}
		return v
	}
}

// drawn draws a scene, rotated counterclockwise, with noise. unit is the size of a unit in pixels.
func drawn(rng *rand.Rand, s scene, side int, unit, degrees float64) boxsum.Image[uint8] {
	img, _ := boxsum.NewImage[uint8](side, side, 1)
	sin, cos := math.Sincos(degrees * math.Pi / 180)
	for y := range side {
		for x := range side {
			dx, dy := (float64(x)+0.5-float64(side)/2)/unit, (float64(y)+0.5-float64(side)/2)/unit
			v := s(float64(dx*cos)-float64(dy*sin), float64(dx*sin)+float64(dy*cos)) + 6*rng.NormFloat64()
			img.Pix[y*img.Stride+x] = uint8(min(max(v, 0), 255))
		}
	}
	return img
}

// resized returns a picture scaled and rotated clockwise about its center, with bilinear interpolation.
func resized(img boxsum.Image[uint8], side int, scale, degrees float64) boxsum.Image[uint8] {
	to, _ := boxsum.NewImage[uint8](side, side, 1)
	sin, cos := math.Sincos(degrees * math.Pi / 180)
	half := float64(img.Width) / 2
	for y := range side {
		for x := range side {
			dx, dy := (float64(x)+0.5-float64(side)/2)*scale, (float64(y)+0.5-float64(side)/2)*scale
			fx := min(max(half+float64(dx*cos)+float64(dy*sin)-0.5, 0), float64(img.Width-1))
			fy := min(max(half-float64(dx*sin)+float64(dy*cos)-0.5, 0), float64(img.Height-1))
			i, j := int(fx), int(fy)
			k, l := min(i+1, img.Width-1), min(j+1, img.Height-1)
			ax, ay := fx-float64(i), fy-float64(j)
			at := func(i, j int) float64 { return float64(img.Pix[j*img.Stride+i]) }
			to.Pix[y*to.Stride+x] = uint8((at(i, j)*(1-ax)+at(k, j)*ax)*(1-ay) + (at(i, l)*(1-ax)+at(k, l)*ax)*ay + 0.5)
		}
	}
	return to
}

// A unitBox is a box in a window, in units. A stump is a decision on the sum of a box minus the
// weighted sum of its middle or second half, relative to the deviation of the window.
type (
	unitBox struct{ x, y, w, h int }
	stump   struct {
		whole, part unitBox
		weight      float64 // of the part
		threshold   float64
		side, alpha float64
	}
)

func randomStump(rng *rand.Rand) (s stump) {
	n := 2 + rng.IntN(2) // number of parts; the last is weighted, or the middle one of three
	w, h := n*(1+rng.IntN(windowUnits/n)), 2+rng.IntN(windowUnits-2)
	s.whole = unitBox{rng.IntN(windowUnits - w + 1), rng.IntN(windowUnits - h + 1), w, h}
	s.part, s.weight = unitBox{s.whole.x + w/n, s.whole.y, w / n, h}, float64(n)
	if rng.IntN(2) == 0 {
		flip := func(b unitBox) unitBox { return unitBox{b.y, b.x, b.h, b.w} }
		s.whole, s.part = flip(s.whole), flip(s.part)
	}
	return s
}

// A window is a position of the classifier: it returns sums of boxes, and norm is 1/(area·deviation).
type window struct {
	sum  func(unitBox) float64
	norm float64
}

func (s *stump) value(w *window) float64 {
	return (s.weight*w.sum(s.part) - w.sum(s.whole)) * w.norm
}

func score(stumps []stump, w *window) (sum float64) {
	for i := range stumps {
		if s := &stumps[i]; s.side*(s.value(w)-s.threshold) > 0 {
			sum += s.alpha
		}
	}
	return sum
}

// normed sets the norm of a window from the sums of its inner part.
func normed(w window, pixels, sum, squares float64) *window {
	const inner = (windowUnits - 2) * (windowUnits - 2)
	w.norm = 1 / (inner * math.Sqrt(max(1, squares/pixels-sum/pixels*sum/pixels)))
	return &w
}

var middleBox = unitBox{1, 1, windowUnits - 2, windowUnits - 2}

// upright returns a window of exactly the image's size.
func upright(img boxsum.Image[uint8]) *window {
	t, err := boxsum.IntegrateSquares[uint32, uint64](img, nil)
	if err != nil {
		panic(err)
	}
	rect := func(b unitBox) image.Rectangle { return image.Rect(b.x, b.y, b.x+b.w, b.y+b.h) }
	w := window{sum: func(b unitBox) float64 { return float64(t.Sum.Sum(rect(b))) }}
	return normed(w, (windowUnits-2)*(windowUnits-2), w.sum(middleBox), float64(t.Squares.Sum(rect(middleBox))))
}

// onTable returns a window in the center of an image, on tables along 1/2. lines is the number of lines per unit.
func onTable(img boxsum.Image[uint8], lines float64, areas bool) *window {
	t, err := rotated.IntegrateSquares[uint32, uint64](img, rotated.Rotation{A: 1, B: 2}, nil)
	if err != nil {
		panic(err)
	}
	line := 1 / math.Hypot(1, 0.5) // distance between lines in pixels
	// The corner of the window, whose rows climb to the right.
	half := windowUnits * lines * line / 2
	cos, sin := 2/math.Sqrt(5), 1/math.Sqrt(5)
	x, y := float64(img.Width)/2-half*(cos+sin), float64(img.Height)/2-half*(cos-sin)
	c0, r0 := t.Sum.Cell(int(math.Round(x)), int(math.Round(y)))
	at := func(v int) int { return int(math.Floor(float64(v)*lines + 0.5)) }
	cells := func(b unitBox) rotated.Box {
		return rotated.Box{C0: c0 + at(b.x), C1: c0 + at(b.x+b.w), R0: r0 + at(b.y), R1: r0 + at(b.y+b.h)}
	}
	w := window{sum: func(b unitBox) float64 {
		box := cells(b)
		if areas {
			return float64(t.Sum.Sum(box)) * float64(b.w*b.h) / float64(max(1, t.Sum.Area(box)))
		}
		return float64(t.Sum.Sum(box)) / (lines * lines * line * line)
	}}
	middle := cells(middleBox)
	return normed(w, float64(t.Sum.Area(middle)), float64(t.Sum.Sum(middle)), float64(t.Squares.Sum(middle)))
}

// train boosts stumps on windows, the first of which are faces.
func train(rng *rand.Rand, windows []*window, faces int) (chosen []stump) {
	const candidates, rounds = 300, 40
	weights := make([]float64, len(windows))
	for i := range weights {
		weights[i] = 0.5 / float64(len(windows)-faces)
		if i < faces {
			weights[i] = 0.5 / float64(faces)
		}
	}
	stumps, values, order := make([]stump, candidates), make([][]float64, candidates), make([][]int, candidates)
	for k := range stumps {
		stumps[k] = randomStump(rng)
		values[k], order[k] = make([]float64, len(windows)), make([]int, len(windows))
		for i, w := range windows {
			values[k][i], order[k][i] = stumps[k].value(w), i
		}
		slices.SortStableFunc(order[k], func(a, b int) int {
			switch va, vb := values[k][a], values[k][b]; {
			case va < vb:
				return -1
			case va > vb:
				return 1
			}
			return 0
		})
	}
	for range rounds {
		total := 0.0
		for _, w := range weights {
			total += w
		}
		best, least := stump{}, math.Inf(1)
		bestOf := 0
		for k := range stumps {
			// wrong is the total weight of errors if everything above the threshold is called a face.
			wrong := 0.0
			for i := faces; i < len(weights); i++ {
				wrong += weights[i]
			}
			for j, i := range order[k] {
				if i < faces {
					wrong += weights[i]
				} else {
					wrong -= weights[i]
				}
				next := values[k][i]
				if j+1 < len(order[k]) {
					next = (next + values[k][order[k][j+1]]) / 2
				}
				for _, side := range []float64{1, -1} {
					e := wrong
					if side < 0 {
						e = total - wrong
					}
					if e < least {
						least, best, bestOf = e, stumps[k], k
						best.side, best.threshold = side, next
					}
				}
			}
		}
		e := min(max(least/total, 1e-6), 0.5)
		best.alpha = math.Log((1 - e) / e)
		chosen = append(chosen, best)
		for i := range weights {
			if hit := best.side*(values[bestOf][i]-best.threshold) > 0; hit == (i < faces) {
				weights[i] *= e / (1 - e)
			}
		}
	}
	return chosen
}

// turnedFaces trains a classifier and detects rotated faces in each way.
func turnedFaces() *Turned {
	var t Turned
	const finer = 2.5
	line := 1 / math.Hypot(1, 0.5)
	angle := math.Atan(0.5) * 180 / math.Pi
	unit := finer * line // size of a unit in pictures, in pixels
	const side = 64
	rng := rand.New(rand.NewPCG(2, 1))
	draw := func(i int, degrees float64) boxsum.Image[uint8] {
		s := clutter(rng)
		if i < classified {
			s = drawnFace(rng)
		}
		return drawn(rng, s, side, unit, degrees)
	}
	var windows []*window
	for i := range classified + rejected {
		windows = append(windows, upright(resized(draw(i, 8*(2*rng.Float64()-1)), windowUnits, unit, 0)))
	}
	stumps := train(rng, windows, classified)
	ways := []struct {
		found  *float64
		window func(img boxsum.Image[uint8]) *window
		scores []float64
	}{
		{found: &t.Picture, window: func(img boxsum.Image[uint8]) *window { return upright(resized(img, windowUnits, unit, angle)) }},
		{found: &t.Plain, window: func(img boxsum.Image[uint8]) *window { return onTable(resized(img, side/2, finer, 0), 1, false) }},
		{found: &t.Exact, window: func(img boxsum.Image[uint8]) *window { return onTable(resized(img, side/2, finer, 0), 1, true) }},
		{found: &t.Finer, window: func(img boxsum.Image[uint8]) *window { return onTable(img, finer, true) }},
	}
	for i := range classified + rejected {
		img := draw(i, angle+8*(2*rng.Float64()-1))
		for k := range ways {
			ways[k].scores = append(ways[k].scores, score(stumps, ways[k].window(img)))
		}
	}
	for _, w := range ways {
		others := slices.Sorted(slices.Values(w.scores[classified:]))
		least, found := others[len(others)-1-rejected/100], 0
		for _, s := range w.scores[:classified] {
			if s > least {
				found++
			}
		}
		*w.found = 100 * float64(found) / classified
	}
	return &t
}
