package detect_test

import (
	"fmt"
	"image"
	_ "image/jpeg"
	_ "image/png"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"sync"
	"testing"

	"github.com/boxsum/boxsum"
	"github.com/boxsum/boxsum/detect"
	"github.com/boxsum/boxsum/internal/ref"
)

// cascadeFiles returns the files of Debian's opencv-data. Without them the test is skipped, or fails in CI jobs that
// have them.
func cascadeFiles(t testing.TB) []string {
	t.Helper()
	files, _ := filepath.Glob(filepath.Join(ref.CascadeFolder(t), "*cascades", "*.xml"))
	return files
}

// fileOf returns the file of a cascade, given a part of its name.
func fileOf(t testing.TB, name string) string {
	t.Helper()
	all := cascadeFiles(t)
	i := slices.IndexFunc(all, func(f string) bool { return strings.Contains(filepath.Base(f), name) })
	if i < 0 {
		t.Fatalf("no cascade is called %s", name)
	}
	return all[i]
}

var loaded sync.Map

func cascade(t testing.TB, file string) *detect.Cascade {
	t.Helper()
	if c, ok := loaded.Load(file); ok {
		return c.(*detect.Cascade)
	}
	c, err := detect.LoadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	loaded.Store(file, c)
	return c
}

// photos returns color photographs of scikit-image.
var photos = sync.OnceValues(func() (all []boxsum.Image[uint8], err error) {
	python := os.Getenv("BOXSUM_PEERS_PYTHON")
	dir, err := exec.Command(python, "-c", "import os, skimage; print(os.path.dirname(skimage.__file__))").Output()
	if err != nil {
		return nil, fmt.Errorf("%s: %w", python, err)
	}
	for _, name := range []string{"astronaut.png", "camera.png", "chelsea.png", "coffee.png", "rocket.jpg"} {
		f, err := os.Open(filepath.Join(strings.TrimSpace(string(dir)), "data", name))
		if err != nil {
			return nil, err
		}
		img, _, err := image.Decode(f)
		f.Close()
		if err != nil {
			return nil, err
		}
		all = append(all, boxsum.Color(img))
	}
	return all, nil
})

func photographs(t testing.TB) []boxsum.Image[uint8] {
	t.Helper()
	ref.Python(t)
	all, err := photos()
	if err != nil {
		t.Fatal(err)
	}
	return all
}

// part returns a crop of an image, scaled to width×height, with one or three channels.
func part(img boxsum.Image[uint8], crop image.Rectangle, width, height, channels int) boxsum.Image[uint8] {
	out := boxsum.Image[uint8]{Pix: make([]uint8, width*height*channels), Width: width, Height: height, Channels: channels, Stride: width * channels}
	for y := range height {
		for x := range width {
			fx, fy := float64(crop.Min.X)+(float64(x)+0.5)*float64(crop.Dx())/float64(width)-0.5, float64(crop.Min.Y)+(float64(y)+0.5)*float64(crop.Dy())/float64(height)-0.5
			at := func(dx, dy, c int) float64 {
				px, py := min(max(int(fx)+dx, 0), img.Width-1), min(max(int(fy)+dy, 0), img.Height-1)
				return float64(img.Pix[py*img.Stride+px*img.Channels+min(c, img.Channels-1)])
			}
			ax, ay := max(0, fx)-float64(int(max(0, fx))), max(0, fy)-float64(int(max(0, fy)))
			for c := range channels {
				v := at(0, 0, c)*(1-ax)*(1-ay) + at(1, 0, c)*ax*(1-ay) + at(0, 1, c)*(1-ax)*ay + at(1, 1, c)*ax*ay
				out.Pix[y*out.Stride+x*channels+c] = uint8(v + 0.5)
			}
		}
	}
	return out
}

// drawn returns a random image: a part of a photograph, noise, both, or a nearly flat one.
func drawn(rng *rand.Rand, all []boxsum.Image[uint8], width, height, channels int) boxsum.Image[uint8] {
	img := all[rng.IntN(len(all))]
	side := rng.Float64()*0.9 + 0.1
	w, h := max(1, int(side*float64(img.Width))), max(1, int(side*float64(img.Height)))
	x, y := rng.IntN(img.Width-w+1), rng.IntN(img.Height-h+1)
	if rng.IntN(2) == 0 && img.Width == 512 && len(all) > 0 { // often the astronaut's face
		img = all[0]
		w = 90 + rng.IntN(200)
		h = w * height / max(1, width)
		x, y = min(170+rng.IntN(40), img.Width-w), max(0, 50-rng.IntN(50))
	}
	out := part(img, image.Rect(x, y, x+w, y+h), width, height, channels)
	noise := []int{0, 0, 0, 4, 40, 255}[rng.IntN(6)]
	flat := rng.IntN(12) == 0
	for i := range out.Pix {
		v := int(out.Pix[i])
		if flat {
			v = v/16 + 100
		}
		if noise > 0 {
			v = min(255, max(0, v+rng.IntN(noise+1)-noise/2))
		}
		out.Pix[i] = uint8(v)
	}
	return out
}

// rounds returns the number of random runs: fewer with -short and under the race detector.
func rounds(few int) int {
	if testing.Short() || ref.Race {
		return max(1, few/8)
	}
	return few
}

// query is a search to run with OpenCV.
type query struct {
	file            string
	opt             detect.Options
	levels          bool
	repeat, threads int
}

// ask runs the search with OpenCV and returns its results and the seconds that it took.
func (q *query) ask(t testing.TB, py ref.Script, img boxsum.Image[uint8]) (all []detect.Result, seconds float64) {
	t.Helper()
	o := q.opt
	neighbors := o.Neighbors
	if o.Ungrouped {
		neighbors = 0
	}
	levels := 0
	if q.levels {
		levels = 1
	}
	fmt.Fprintf(py.In, "%s\t%d\t%d\t%d\t%v\t%d\t%d\t%d\t%d\t%d\t%d\t%d\t%d\n", q.file, img.Width, img.Height, max(1, img.Channels), o.Scale, neighbors,
		o.Min.X, o.Min.Y, o.Max.X, o.Max.Y, levels, max(1, q.repeat), max(1, q.threads))
	if _, err := py.In.Write(img.Pix); err != nil {
		t.Fatal(err)
	}
	n := 0
	if _, err := fmt.Fscanln(py.Out, &n); err != nil {
		t.Fatal(err)
	}
	for range n {
		var x, y, w, h, neighbors int
		var score string
		if _, err := fmt.Fscanln(py.Out, &x, &y, &w, &h, &neighbors, &score); err != nil {
			t.Fatal(err)
		}
		v, err := strconv.ParseFloat(hexFloat(score), 64)
		if err != nil {
			t.Fatal(err)
		}
		r := detect.Result{Rect: image.Rect(x, y, x+w, y+h), Neighbors: neighbors, Score: v}
		if q.levels {
			r.Stage, r.Neighbors = neighbors, 0
		}
		all = append(all, r)
	}
	if _, err := fmt.Fscanln(py.Out, &seconds); err != nil {
		t.Fatal(err)
	}
	return all, seconds
}

// hexFloat converts Python's hexadecimal form to that of Go.
func hexFloat(s string) string {
	if strings.Contains(s, "p") || !strings.Contains(s, "x") {
		return s
	}
	return s + "p0"
}

// same compares results as sets, without what OpenCV does not report.
func same(got, want []detect.Result, levels bool) bool {
	got, want = slices.Clone(got), slices.Clone(want)
	for i := range got {
		if levels {
			got[i].Neighbors = 0
		} else {
			got[i].Score, got[i].Stage = 0, 0
		}
	}
	for _, all := range [][]detect.Result{got, want} {
		slices.SortFunc(all, func(a, b detect.Result) int { return strings.Compare(fmt.Sprint(a), fmt.Sprint(b)) })
	}
	return slices.Equal(got, want)
}
