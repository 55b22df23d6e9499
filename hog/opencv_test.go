package hog_test

import (
	"image"
	"math"
	"math/rand/v2"
	"testing"

	"github.com/boxsum/boxsum"
	"github.com/boxsum/boxsum/hog"
	"github.com/boxsum/boxsum/internal/ref"
)

// TestOpenCV tests that descriptors, scores and rectangles equal OpenCV's, for random images and configurations.
func TestOpenCV(t *testing.T) {
	const script = "testdata/hog.py"
	photo := astronaut(t)
	clips := []float64{0.2, 0.07, 1.5}
	processes := []ref.Script{ref.StartCascades(t, script), ref.StartCascades(t, script), ref.StartCascades(t, script)}
	exact := fused(t, processes[0])
	people, _ := (&query{Do: "people"}).ask(t, processes[0], boxsum.Image[uint8]{})
	seed := ref.Seed(t, 40)
	t.Logf("seed %d, bit for bit: %v", seed, exact)
	rng := rand.New(rand.NewPCG(seed, 1))
	numbers, hits, rects, bad := 0, 0, 0, 0
	fail := func(format string, args ...any) {
		t.Helper()
		if bad++; bad < 6 {
			t.Errorf(format, args...)
		}
	}
	for i := range ref.Trials(t, 500) {
		c := randomConfig(rng)
		of := []int{0, 0, 0, 1, 2}[rng.IntN(5)]
		c.Clip = clips[of]
		py := processes[of]
		trained := rng.IntN(3) == 0
		if trained {
			c = hog.Config{Clip: c.Clip}
			for _, v := range people {
				c.Coefficients = append(c.Coefficients, float32(v))
			}
		}
		d, err := hog.New(c)
		if err != nil {
			t.Fatal(err)
		}
		if c = d.Config(); !trained {
			c.Coefficients = coefficients(rng, d.Size(), rng.IntN(2) == 0)
			if d, err = hog.New(c); err != nil {
				t.Fatal(err)
			}
		}
		channels := []int{1, 1, 3}[rng.IntN(3)]
		more := []int{10, 50, 120}[rng.IntN(3)]
		wide := c.Window.X + rng.IntN(more)
		if rng.IntN(20) == 0 { // one or two chunks of arctangents
			wide = 1020 + rng.IntN(30)
		}
		img := drawn(rng, photo, wide, c.Window.Y+rng.IntN(more), channels)
		step := image.Pt(c.Stride.X*(1+rng.IntN(2)), c.Stride.Y*(1+rng.IntN(2)))
		if rng.IntN(4) == 0 { // the greatest common divisor stays a power of two, which OpenCV's detect requires
			step = image.Pt(1<<rng.IntN(5), 1<<rng.IntN(5))
		}
		var padding image.Point
		if rng.IntN(3) == 0 {
			padding = image.Pt(rng.IntN(40), rng.IntN(40))
		}
		for img.Width*img.Height/(step.X*step.Y)*d.Size() > 1e6 {
			step = step.Mul(2)
		}
		q := query{Config: configOf(c), Step: pair(step), Padding: pair(padding), SVM: c.Coefficients}
		o := hog.WindowOptions{Step: step, Padding: padding, BGR: true, Workers: 1 + rng.IntN(3)}
		if rng.IntN(4) == 0 {
			o.At = []image.Point{}
			for range 1 + rng.IntN(5) {
				p := image.Pt(rng.IntN(img.Width-c.Window.X+9)-4, rng.IntN(img.Height-c.Window.Y+9)-4)
				o.At, q.At = append(o.At, p), append(q.At, pair(p))
			}
		}
		q.Do = "compute"
		want, _ := q.ask(t, py, img)
		got, err := d.Compute(img, &o)
		if err != nil {
			t.Fatal(err)
		}
		if i%5 == 0 {
			if n := differences(t, py, d, img, rand.New(rand.NewPCG(seed, uint64(i))), exact); n > 0 {
				fail("run %d: %d gradients differ: %+v, %d×%d×%d", i, n, *q.Config, img.Width, img.Height, channels)
			}
		}
		numbers += len(got)
		if len(got) != len(want) {
			fail("run %d: %d numbers, OpenCV has %d: %+v, %+v", i, len(got), len(want), *q.Config, o)
			continue
		}
		for k := range got {
			if !(exact && float64(got[k]) == want[k] || !exact && math.Abs(float64(got[k])-want[k]) <= 1e-5) {
				fail("run %d: number %d is %v, OpenCV has %v: %+v, %+v, %d×%d×%d", i, k, got[k], want[k], *q.Config, o, img.Width, img.Height, channels)
				break
			}
		}
		powers := func(c image.Point) bool { return c.X&(c.X-1) == 0 && c.Y&(c.Y-1) == 0 }
		if !exact || !powers(image.Pt(gcd(step.X, c.Stride.X), gcd(step.Y, c.Stride.Y))) {
			continue
		}
		q.Threshold = rng.NormFloat64() * 0.5
		q.Do = "detect"
		want, _ = q.ask(t, py, img)
		values, err := d.Scores(img, &o)
		if err != nil {
			t.Fatal(err)
		}
		found := []float64{}
		for k, at := range d.Windows(img.Width, img.Height, &o) {
			if values[k] >= q.Threshold {
				found = append(found, float64(at.X), float64(at.Y), values[k])
			}
		}
		hits += len(found) / 3
		if !equal(found, want) {
			fail("run %d: hits %v, OpenCV has %v: %+v, %+v", i, found, want, *q.Config, o)
		}

		q.Do, q.Scale, q.Group = "search", []float64{1.05, 1.1, 1.3, 1, 2}[rng.IntN(5)], float64(rng.IntN(5))
		q.At = nil
		q.MeanShift = rng.IntN(3) == 0
		opt := hog.Options{
			Threshold: q.Threshold, Scale: q.Scale, Step: step, Padding: padding, Neighbors: int(q.Group), Ungrouped: q.Group == 0,
			MeanShift: q.MeanShift, Density: q.Group, BGR: true, Workers: 1 + rng.IntN(3),
		}
		if q.MeanShift {
			// Negative weights would make the mean shift leave the image, and many hits take long.
			q.Threshold, opt.Threshold = max(q.Threshold, 0.5), max(q.Threshold, 0.5)
			if len(found) > 100 {
				continue
			}
			q.Group = max(q.Group, 0.01)
			opt.Ungrouped, opt.Density, opt.Limit = false, q.Group, 1<<20
		}
		want, width := q.ask(t, py, img)
		results, err := d.Detect(img, &opt)
		if err != nil {
			t.Fatal(err)
		}
		rects += len(results)
		found = found[:0]
		for k, r := range results {
			score := r.Score
			if q.MeanShift && width*k+4 < len(want) && math.Abs(score-want[width*k+4]) < 1e-9*math.Abs(score) {
				score = want[width*k+4]
			}
			found = append(found, float64(r.Rect.Min.X), float64(r.Rect.Min.Y), float64(r.Rect.Dx()), float64(r.Rect.Dy()), score)
		}
		if !equal(found, want) {
			fail("run %d: rectangles %v, OpenCV has %v: %+v, %+v, %d×%d×%d", i, found, want, *q.Config, opt, img.Width, img.Height, channels)
		}
	}
	t.Logf("%d numbers, %d hits, %d rectangles, %d differences", numbers, hits, rects, bad)
	if numbers == 0 || exact && (hits == 0 || rects == 0) {
		t.Error("nothing was found")
	}
}

// differences returns how many gradients differ from OpenCV's, with a random padding.
func differences(t *testing.T, py ref.Script, d *hog.Descriptor, img boxsum.Image[uint8], rng *rand.Rand, exact bool) (n int) {
	before, after := image.Pt(rng.IntN(20), rng.IntN(20)), image.Pt(rng.IntN(20), rng.IntN(20))
	want, _ := (&query{Do: "gradients", Config: configOf(d.Config()), Padding: pair(before), Step: pair(after)}).ask(t, py, img)
	votes, bins, err := d.Gradients(img, &hog.GradientOptions{Before: before, After: after, BGR: true, Workers: 1 + rng.IntN(3)})
	if err != nil {
		t.Fatal(err)
	}
	if size := image.Pt(img.Width, img.Height).Add(before).Add(after); votes.Width != size.X || votes.Height != size.Y || len(want) != 4*size.X*size.Y {
		t.Fatalf("%d×%d gradients, want %v", votes.Width, votes.Height, size)
	}
	for ; len(want) > 0; want = want[4:] {
		for c := range 2 {
			vote, bin := float64(votes.Pix[c]), float64(bins.Pix[c])
			if exact && (vote != want[c] || bin != want[2+c]) || !exact && bin == want[2+c] && math.Abs(vote-want[c]) > 1e-2 {
				n++
			}
		}
		votes.Pix, bins.Pix = votes.Pix[2:], bins.Pix[2:]
	}
	return n
}

func gcd(a, b int) int {
	for b > 0 {
		a, b = b, a%b
	}
	return a
}

func equal(a, b []float64) bool {
	if len(a) != len(b) {
		return false
	}
	for i := range a {
		if a[i] != b[i] {
			return false
		}
	}
	return true
}
