// Command tracker follows a region through pictures by the covariance of its pixels' features, after Tuzel,
// Porikli and Meer (Region Covariance, 2006): position, brightness, and differences between neighbors. The
// covariance of any box comes from one table with 20 channels.
//
//	go run ./examples/tracker -box 40,30,80,70 frame1.png frame2.png frame3.png …
package main

import (
	"flag"
	"fmt"
	"image"
	"math"
	"os"

	"github.com/boxsum/boxsum"
	"github.com/boxsum/boxsum/imgio"
)

func main() {
	var box image.Rectangle
	flag.Func("box", "`x0,y0,x1,y1` of the region in the first picture", func(text string) error {
		_, err := fmt.Sscanf(text, "%d,%d,%d,%d", &box.Min.X, &box.Min.Y, &box.Max.X, &box.Max.Y)
		return err
	})
	flag.Parse()
	var follow *tracker
	for _, name := range flag.Args() {
		frame, file, err := imgio.OpenImage[uint8](name, imgio.Options{Color: imgio.ToGray})
		if err == nil {
			if follow == nil {
				follow, err = newTracker(frame, box)
			} else {
				err = follow.next(frame)
			}
			file.Close()
		}
		if err != nil {
			fmt.Fprintf(os.Stderr, "tracker: %s: %v\n", name, err)
			os.Exit(1)
		}
		b := follow.box
		fmt.Printf("%s %d,%d,%d,%d %.3f\n", name, b.Min.X, b.Min.Y, b.Max.X, b.Max.Y, follow.distance)
	}
}

// Number of features of a pixel, and of their n·(n+1)/2 products.
const (
	n        = 5
	products = n * (n + 1) / 2
)

type matrix [n][n]float64

type tracker struct {
	model    matrix          // of the region in the first picture
	box      image.Rectangle // its current position
	distance float64         // its distance from the model
	table    *boxsum.Table[float64]
}

func newTracker(frame boxsum.Image[uint8], box image.Rectangle) (*tracker, error) {
	if box.Dx() < 4 || box.Dy() < 4 || !box.In(image.Rect(0, 0, frame.Width, frame.Height)) {
		return nil, fmt.Errorf("region is %v, want at least 4×4 pixels inside the picture of %d×%d", box, frame.Width, frame.Height)
	}
	t := &tracker{box: box}
	if err := t.look(frame); err != nil {
		return nil, err
	}
	t.model = t.covariance(box)
	return t, nil
}

// look makes the table of a picture: the sums of features and of their products.
func (t *tracker) look(frame boxsum.Image[uint8]) error {
	w, h := frame.Width, frame.Height
	features := boxsum.Image[float64]{Pix: make([]float64, 0, w*h*(n+products)), Width: w, Height: h, Channels: n + products}
	for y := range h {
		row, above, below := frame.Row(y), frame.Row(max(y-1, 0)), frame.Row(min(y+1, h-1))
		for x, v := range row {
			// Count from the center: sums stay small, and the covariance is the same.
			f := [n]float64{float64(x - w/2), float64(y - h/2), float64(v) - 128,
				math.Abs(float64(row[min(x+1, w-1)]) - float64(row[max(x-1, 0)])), math.Abs(float64(below[x]) - float64(above[x]))}
			features.Pix = append(features.Pix, f[:]...)
			for i := range n {
				for j := i; j < n; j++ {
					features.Pix = append(features.Pix, f[i]*f[j])
				}
			}
		}
	}
	var err error
	t.table, err = boxsum.Integrate[float64](features, nil)
	return err
}

// next finds the region in the next picture, near its last position, and up to a fifth smaller or larger.
func (t *tracker) next(frame boxsum.Image[uint8]) error {
	if err := t.look(frame); err != nil {
		return err
	}
	all := image.Rect(0, 0, frame.Width, frame.Height)
	was, best := t.box, math.Inf(1)
	try := func(b image.Rectangle) {
		if b.In(all) {
			if d := distance(t.model, t.covariance(b)); d < best {
				best, t.box = d, b
			}
		}
	}
	reach := max(was.Dx(), was.Dy()) / 2
	for _, grow := range []int{-was.Dx() / 10, 0, was.Dx() / 10} {
		for dy := -reach; dy <= reach; dy += 2 {
			for dx := -reach; dx <= reach; dx += 2 {
				try(was.Inset(-grow).Add(image.Pt(dx, dy)))
			}
		}
	}
	for _, step := range []image.Point{{-1, -1}, {0, -1}, {1, -1}, {-1, 0}, {1, 0}, {-1, 1}, {0, 1}, {1, 1}} {
		try(t.box.Add(step))
	}
	if t.distance = best; math.IsInf(best, 1) {
		return fmt.Errorf("the region has left the picture")
	}
	return nil
}

// covariance returns the covariance of the features in a box, from the corners of the table.
func (t *tracker) covariance(box image.Rectangle) (c matrix) {
	var sums [n + products]float64
	t.table.SumChannels(sums[:0], box)
	area := float64(box.Dx() * box.Dy())
	k := n
	for i := range n {
		for j := i; j < n; j++ {
			c[i][j] = (sums[k] - sums[i]*sums[j]/area) / (area - 1)
			c[j][i] = c[i][j]
			k++
		}
		c[i][i] += 1e-3 // makes the matrix of a flat region invertible
	}
	return c
}

// distance returns Förstner's distance: the root of the sum of ln²λ over the eigenvalues λ of b relative to a.
func distance(a, b matrix) float64 {
	l := cholesky(a)
	// m = L⁻¹·B·L⁻ᵀ has these eigenvalues.
	m := solve(l, transposed(solve(l, b)))
	sum := 0.0
	for _, lambda := range eigenvalues(m) {
		log := math.Log(max(lambda, 1e-12))
		sum += log * log
	}
	return math.Sqrt(sum)
}

// cholesky returns the lower triangular matrix L with L·Lᵀ = a.
func cholesky(a matrix) (l matrix) {
	for i := range n {
		for j := 0; j <= i; j++ {
			sum := a[i][j]
			for k := range j {
				sum -= l[i][k] * l[j][k]
			}
			if i == j {
				l[i][i] = math.Sqrt(max(sum, 1e-12))
			} else {
				l[i][j] = sum / l[j][j]
			}
		}
	}
	return l
}

// solve returns L⁻¹·b.
func solve(l, b matrix) (x matrix) {
	for c := range n {
		for i := range n {
			sum := b[i][c]
			for k := range i {
				sum -= l[i][k] * x[k][c]
			}
			x[i][c] = sum / l[i][i]
		}
	}
	return x
}

func transposed(a matrix) (t matrix) {
	for i := range n {
		for j := range n {
			t[j][i] = a[i][j]
		}
	}
	return t
}

// eigenvalues returns the eigenvalues of a symmetric matrix, by Jacobi rotations.
func eigenvalues(a matrix) (values [n]float64) {
	for range 12 {
		for p := range n {
			for q := p + 1; q < n; q++ {
				if math.Abs(a[p][q]) < 1e-15 {
					continue
				}
				theta := (a[q][q] - a[p][p]) / (2 * a[p][q])
				t := math.Copysign(1, theta) / (math.Abs(theta) + math.Sqrt(theta*theta+1))
				c := 1 / math.Sqrt(t*t+1)
				s := t * c
				for k := range n {
					a[k][p], a[k][q] = c*a[k][p]-s*a[k][q], s*a[k][p]+c*a[k][q]
				}
				for k := range n {
					a[p][k], a[q][k] = c*a[p][k]-s*a[q][k], s*a[p][k]+c*a[q][k]
				}
			}
		}
	}
	for i := range n {
		values[i] = a[i][i]
	}
	return values
}
