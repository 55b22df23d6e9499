package hog_test

import (
	"encoding/binary"
	"encoding/json"
	"fmt"
	"image"
	"image/png"
	"io"
	"math"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"testing"

	"github.com/boxsum/boxsum"
	"github.com/boxsum/boxsum/hog"
	"github.com/boxsum/boxsum/internal/ref"
)

// A query is a question to OpenCV, see testdata/hog.py.
type query struct {
	Do        string    `json:"do"`
	Config    *config   `json:"config"`
	Size      [3]int    `json:"size"`
	Step      [2]int    `json:"step"`
	Padding   [2]int    `json:"padding"`
	At        [][2]int  `json:"at"`
	SVM       []float32 `json:"svm"`
	Threshold float64   `json:"threshold"`
	Scale     float64   `json:"scale"`
	Group     float64   `json:"group"`
	MeanShift bool      `json:"meanshift"`
	File      string    `json:"file"`
	Threads   int       `json:"threads"`
}

type config struct {
	Window [2]int  `json:"window"`
	Block  [2]int  `json:"block"`
	Stride [2]int  `json:"stride"`
	Cell   [2]int  `json:"cell"`
	Bins   int     `json:"bins"`
	Sigma  float64 `json:"sigma"`
	Clip   float64 `json:"clip"`
	Linear bool    `json:"linear"`
	Levels int     `json:"levels"`
	Signed bool    `json:"signed"`
}

func pair(p image.Point) [2]int { return [2]int{p.X, p.Y} }

func configOf(c hog.Config) *config {
	return &config{pair(c.Window), pair(c.Block), pair(c.Stride), pair(c.Cell), c.Bins, c.Sigma, c.Clip, c.Linear, c.Levels, c.Signed}
}

// ask returns OpenCV's answer: rows of width numbers.
func (q *query) ask(t testing.TB, py ref.Script, img boxsum.Image[uint8]) (all []float64, width int) {
	t.Helper()
	q.Size = [3]int{img.Width, img.Height, max(1, img.Channels)}
	line, err := json.Marshal(q)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := py.In.Write(append(append(line, '\n'), img.Pix...)); err != nil {
		t.Fatal(err)
	}
	n := 0
	if _, err := fmt.Fscanf(py.Out, "%d %d\n", &n, &width); err != nil {
		t.Fatal(err)
	}
	data := make([]byte, 8*n*width)
	if _, err := io.ReadFull(py.Out, data); err != nil {
		t.Fatal(err)
	}
	for ; len(data) > 0; data = data[8:] {
		all = append(all, math.Float64frombits(binary.NativeEndian.Uint64(data)))
	}
	return all, width
}

// fused reports whether OpenCV computes with AVX2 and fused multiply-adds here, so that
// results are equal bit for bit.
func fused(t testing.TB, py ref.Script) bool {
	q := query{Do: "fused"}
	answer, _ := q.ask(t, py, boxsum.Image[uint8]{})
	return answer[0] != 0
}

// photo returns scikit-image's photograph of an astronaut, in color.
var photo = sync.OnceValues(func() (img boxsum.Image[uint8], err error) {
	python := os.Getenv("BOXSUM_PEERS_PYTHON")
	dir, err := exec.Command(python, "-c", "import os, skimage; print(os.path.dirname(skimage.__file__))").Output()
	if err != nil {
		return img, fmt.Errorf("%s: %w", python, err)
	}
	f, err := os.Open(filepath.Join(strings.TrimSpace(string(dir)), "data", "astronaut.png"))
	if err != nil {
		return img, err
	}
	defer f.Close()
	decoded, err := png.Decode(f)
	if err != nil {
		return img, err
	}
	return boxsum.Color(decoded), nil
})

func astronaut(t testing.TB) boxsum.Image[uint8] {
	t.Helper()
	ref.Python(t)
	img, err := photo()
	if err != nil {
		t.Fatal(err)
	}
	return img
}

// drawn returns a random image: a part of the photograph, noise, both, or stripes.
func drawn(rng *rand.Rand, photo boxsum.Image[uint8], width, height, channels int) boxsum.Image[uint8] {
	img := boxsum.Image[uint8]{Pix: make([]uint8, width*height*channels), Width: width, Height: height, Channels: channels, Stride: width * channels}
	noise := []int{0, 0, 3, 40, 255}[rng.IntN(5)]
	grow := 0.3 + 2*rng.Float64()
	x0, y0 := rng.IntN(photo.Width), rng.IntN(photo.Height)
	stripes := rng.IntN(8) == 0
	for y := range height {
		for x := range width {
			px, py := (x0+int(float64(x)*grow))%photo.Width, (y0+int(float64(y)*grow))%photo.Height
			for c := range channels {
				v := int(photo.Pix[py*photo.Stride+px*photo.Channels+c])
				if stripes {
					v = (x + 2*y) / 5 * 40 % 256
				}
				if noise > 0 {
					v = min(255, max(0, v+rng.IntN(noise+1)-noise/2))
				}
				img.Pix[y*img.Stride+x*channels+c] = uint8(v)
			}
		}
	}
	return img
}

// randomConfig returns a random configuration for which OpenCV works.
func randomConfig(rng *rand.Rand) hog.Config {
	for {
		var c hog.Config
		one := func() int { return []int{1, 2, 3, 4, 5, 6, 7, 8, 8, 8, 12, 16}[rng.IntN(12)] }
		c.Cell = image.Pt(one(), one())
		c.Block = image.Pt(c.Cell.X*(1+rng.IntN(3)), c.Cell.Y*(1+rng.IntN(3)))
		c.Stride = image.Pt(one(), one())
		c.Window = image.Pt(c.Block.X+c.Stride.X*rng.IntN(6), c.Block.Y+c.Stride.Y*rng.IntN(6))
		c.Bins = []int{9, 9, 9, 2, 3, 4, 8, 12, 18, 31}[rng.IntN(10)] // OpenCV loses gradients in histograms of one bin
		c.Signed, c.Linear = rng.IntN(2) == 0, rng.IntN(3) == 0
		if rng.IntN(3) == 0 {
			c.Sigma = 0.3 + 8*rng.Float64()
		}
		if rng.IntN(3) == 0 {
			c = hog.Config{Signed: c.Signed, Linear: c.Linear, Sigma: c.Sigma}
			if rng.IntN(2) == 0 {
				c.Window = image.Pt(48, 96)
			}
		}
		c.Levels = []int{0, 0, 1, 3, 13}[rng.IntN(5)]
		d, err := hog.New(c)
		if err != nil {
			panic(err)
		}
		c = d.Config()
		// OpenCV crashes for fewer than four numbers, or reads memory of others.
		if n := c.Block.X / c.Cell.X * (c.Block.Y / c.Cell.Y) * c.Bins; n >= 4 && d.Size() <= 20000 {
			return c
		}
	}
}

// coefficients returns random coefficients that find a part of random windows.
func coefficients(rng *rand.Rand, n int, bias bool) []float32 {
	all := make([]float32, n)
	for i := range all {
		all[i] = float32(rng.NormFloat64()) * 0.1
	}
	if bias {
		all = append(all, float32(rng.NormFloat64()))
	}
	return all
}
