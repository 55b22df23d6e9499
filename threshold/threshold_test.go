package threshold_test

import (
	"fmt"
	"math"
	"math/rand/v2"
	"testing"

	"github.com/boxsum/boxsum"
	"github.com/boxsum/boxsum/internal/ref"
	"github.com/boxsum/boxsum/threshold"
)

// drawn returns an image of the given kind: noise, one value, two values, little noise, or a page lit from one side.
func drawn(rng *rand.Rand, width, height, kind int) boxsum.Image[uint8] {
	pix := make([]uint8, width*height)
	a, b := rng.IntN(256), rng.IntN(256)
	for i := range pix {
		var v float64
		switch kind % 5 {
		case 0:
			v = float64(rng.IntN(256))
		case 1:
			v = float64(a)
		case 2:
			v = float64([]int{a, b}[rng.IntN(2)])
		case 3:
			v = 128 + 3*rng.NormFloat64()
		default:
			v = 200 - 2*float64(i%width) + 5*rng.NormFloat64()
			if rng.IntN(10) == 0 {
				v -= 120
			}
		}
		pix[i] = uint8(max(0, min(255, v)))
	}
	return boxsum.Image[uint8]{Pix: pix, Width: width, Height: height}
}

// ruleFor returns a rule with random parameters.
func ruleFor(rng *rand.Rand, m threshold.Method, size int) threshold.Rule {
	r := threshold.New(m, size)
	if k := []float64{0.2, 0.34, -0.2, 0.5, 0, -1.5}[rng.IntN(6)]; rng.IntN(3) > 0 {
		r.K = k
	}
	if rng.IntN(3) == 0 {
		r.T, r.C = float64(rng.IntN(80)-20), float64(rng.IntN(41)-20)/2
	}
	return r
}

// TestBruteForce compares every decision with the formulas, computed pixel by pixel in float64.
func TestBruteForce(t *testing.T) {
	rng := rand.New(rand.NewPCG(ref.Seed(t, 18), 1))
	for i := range ref.Trials(t, 60) {
		img := drawn(rng, 1+rng.IntN(70), 1+rng.IntN(30), i)
		for _, m := range threshold.Methods() {
			if i >= 60 && i%4 != int(m)%4 { // from image 60 on, each has only a quarter of the methods
				continue
			}
			size := 1 + rng.IntN(40)
			if i%7 == 0 {
				size = 60 + rng.IntN(300)
			}
			r := ruleFor(rng, m, size)
			name := fmt.Sprintf("image %d, %v, %d×%d, window %d, k %v", i, m, img.Width, img.Height, size, r.K)
			want := brute(img, r)
			got, err := threshold.Binarize(img, r, nil)
			if err != nil {
				t.Fatal(name, err)
			}
			same(t, name, got, want)
		}
	}
}

func same(t *testing.T, name string, got boxsum.Image[uint8], want []uint8) {
	t.Helper()
	for y := range got.Height {
		for x, v := range got.Row(y) {
			if w := want[y*got.Width+x]; v != w {
				t.Fatalf("%s: pixel (%d, %d) is %d, want %d", name, x, y, v, w)
			}
		}
	}
}

// brute binarizes an image without running sums.
func brute(img boxsum.Image[uint8], r threshold.Rule) []uint8 {
	w, h := img.Width, img.Height
	out := make([]uint8, w*h)
	put := func(x, y int, at float64) {
		out[y*w+x] = 255
		if float64(img.Pix[y*w+x]) <= at {
			out[y*w+x] = 0
		}
	}
	switch r.Method {
	case threshold.Otsu:
		level := float64(bruteOtsu(img.Pix))
		for y := range h {
			for x := range w {
				put(x, y, level)
			}
		}
		return out
	case threshold.Su:
		contrast := bruteContrast(img)
		level := bruteOtsu(contrast)
		size, least := r.Window.Width|1, r.Window.Width
		for y := range h {
			for x := range w {
				s, q, n := 0, 0, 0
				each(img, x, y, size, func(i int) {
					if p := int(img.Pix[i]); contrast[i] > level {
						s, q, n = s+p, q+p*p, n+1
					}
				})
				at := -1.0
				if n >= least {
					m := float64(s) / float64(n)
					at = m
					if v := float64(q)/float64(n) - float64(m*m); v > 0 {
						at += math.Sqrt(v) / 2
					}
				}
				put(x, y, at)
			}
		}
		return out
	}
	f := func(p, m, v float64) float64 {
		s := math.Sqrt(v)
		switch r.Method {
		case threshold.Sauvola, threshold.ISauvola:
			return m * (1 + float64(r.K*(s/128-1)))
		case threshold.Niblack:
			return m + float64(r.K*s)
		case threshold.NICK:
			return m + float64(r.K*math.Sqrt(v+float64(m*m)))
		case threshold.Phansalkar:
			return m * (1 + float64(3*math.Exp(-(10.0/255)*m)) + float64(r.K*(s/128-1)))
		case threshold.TRSingh:
			d := min(math.Abs(p-m), 254)
			return m * (1 + float64(r.K*(d/(255-d)-1)))
		}
		return m * ((100 - r.T) / 100)
	}
	means, variances := make([]float64, w*h), make([]float64, w*h)
	darkest, most := 255.0, 0x1p-1022
	for y := range h {
		for x := range w {
			s, q, n := 0, 0, 0
			each(img, x, y, r.Window.Width, func(i int) {
				p := int(img.Pix[i])
				s, q, n = s+p, q+p*p, n+1
			})
			inverse := 1 / float64(n)
			m := float64(s) * inverse
			v := float64(float64(q)*inverse) - float64(m*m)
			means[y*w+x], variances[y*w+x] = m, v
			if v > most {
				most = v
			}
			darkest = min(darkest, float64(img.Pix[y*w+x]))
		}
	}
	for i := range out {
		x, y, m, v := i%w, i/w, means[i], variances[i]
		switch r.Method {
		case threshold.Wolf:
			put(x, y, m-float64(r.K*(1-math.Sqrt(v)/math.Sqrt(most))*(m-darkest)))
		case threshold.MeanC:
			put(x, y, float64(bruteRounded(img, x, y, r.Window.Width))-math.Ceil(r.C))
		default:
			put(x, y, f(float64(img.Pix[i]), m, v))
		}
	}
	if r.Method == threshold.ISauvola {
		return bruteConnected(img, out)
	}
	return out
}

// each calls visit for the pixels of a window that are inside the image.
func each(img boxsum.Image[uint8], x, y, size int, visit func(i int)) {
	before := (size + 1) / 2
	after := size - before
	for j := max(0, y-before+1); j <= min(img.Height-1, y+after); j++ {
		for i := max(0, x-before+1); i <= min(img.Width-1, x+after); i++ {
			visit(j*img.Width + i)
		}
	}
}

// bruteRounded returns the rounded mean of a window whose border replicates the outermost pixels.
func bruteRounded(img boxsum.Image[uint8], x, y, size int) int {
	before := (size + 1) / 2
	s := 0
	for j := y - before + 1; j <= y+size-before; j++ {
		for i := x - before + 1; i <= x+size-before; i++ {
			s += int(img.Pix[min(max(j, 0), img.Height-1)*img.Width+min(max(i, 0), img.Width-1)])
		}
	}
	return (2*s + size*size) / (2 * size * size)
}

func bruteContrast(img boxsum.Image[uint8]) []uint8 {
	out := make([]uint8, len(img.Pix))
	for i := range out {
		least, most := 255, 0
		each(img, i%img.Width, i/img.Width, 3, func(j int) {
			least, most = min(least, int(img.Pix[j])), max(most, int(img.Pix[j]))
		})
		out[i] = uint8(255 * (float64(most-least) / (0.0001 + float64(most) + float64(least))))
	}
	return out
}

func bruteOtsu(pix []uint8) uint8 {
	var count [256]int
	sum := 0
	for _, p := range pix {
		count[p]++
		sum += int(p)
	}
	best, level, n, s := 0.0, 0, 0, 0
	for v := range count {
		if n += count[v]; n == 0 {
			continue
		}
		rest := len(pix) - n
		if rest == 0 {
			break
		}
		s += v * count[v]
		d := float64(s)/float64(n) - float64(sum-s)/float64(rest)
		if b := d * d * float64(n) * float64(rest); b > best {
			best, level = b, v
		}
	}
	return uint8(level)
}

// bruteConnected returns the black pixels that are connected to black pixels of high contrast.
func bruteConnected(img boxsum.Image[uint8], in []uint8) []uint8 {
	contrast := bruteContrast(img)
	level := bruteOtsu(contrast)
	out := make([]uint8, len(in))
	var todo []int
	for i := range out {
		out[i] = 255
		if in[i] == 0 && contrast[i] > level {
			out[i] = 0
			todo = append(todo, i)
		}
	}
	for len(todo) > 0 {
		i := todo[len(todo)-1]
		todo = todo[:len(todo)-1]
		each(img, i%img.Width, i/img.Width, 3, func(j int) {
			if in[j] == 0 && out[j] != 0 {
				out[j] = 0
				todo = append(todo, j)
			}
		})
	}
	return out
}
