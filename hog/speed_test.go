//go:build unix

package hog_test

import (
	"cmp"
	"fmt"
	"math"
	"os"
	"slices"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/boxsum/boxsum"
	"github.com/boxsum/boxsum/hog"
	"github.com/boxsum/boxsum/internal/ref"
)

// TestSpeed prints the speed in turns with OpenCV: BOXSUM_SPEED=640x480,1920x1080. With one thread it is processor time,
// with more it is wall time. BOXSUM_SPEED_LEVEL lists instruction sets, such as avx512,avx2, which take turns too.
func TestSpeed(t *testing.T) {
	sizes := os.Getenv("BOXSUM_SPEED")
	if sizes == "" {
		t.Skip("set BOXSUM_SPEED to a list of sizes, such as 640x480,1920x1080, to measure")
	}
	turns, err := strconv.Atoi(os.Getenv("BOXSUM_SPEED_TURNS"))
	if err != nil {
		turns = 7
	}
	var levels []boxsum.Level
	for name := range strings.SplitSeq(cmp.Or(os.Getenv("BOXSUM_SPEED_LEVEL"), "auto"), ",") {
		level, err := boxsum.ParseLevel(name)
		if err != nil {
			t.Fatal(err)
		}
		levels = append(levels, level)
	}
	py := ref.StartCascades(t, "testdata/hog.py")
	people, _ := (&query{Do: "people"}).ask(t, py, boxsum.Image[uint8]{})
	c := hog.Config{}
	for _, v := range people {
		c.Coefficients = append(c.Coefficients, float32(v))
	}
	d, err := hog.New(c)
	if err != nil {
		t.Fatal(err)
	}
	photo := astronaut(t)
	for size := range strings.SplitSeq(sizes, ",") {
		var w, h int
		if _, err := fmt.Sscanf(size, "%dx%d", &w, &h); err != nil {
			t.Fatalf("BOXSUM_SPEED has %q", size)
		}
		for _, channels := range []int{1, 3} {
			img := tiled(photo, w, h, channels)
			for threads := 1; threads <= 2; threads++ {
				ours, theirs := make([][]float64, len(levels)), []float64{}
				var found []hog.Result
				q := query{Do: "time", Config: configOf(d.Config()), SVM: d.Config().Coefficients, Threads: threads, Step: [2]int{8, 8}, Scale: 1.05, Group: 2}
				for range turns {
					answer, _ := q.ask(t, py, img)
					theirs = append(theirs, answer[0])
					for k, level := range levels {
						start := clock(threads)
						if found, err = d.AppendDetect(found[:0], img, &hog.Options{Workers: threads, BGR: true, Level: level}); err != nil {
							t.Fatal(err)
						}
						ours[k] = append(ours[k], clock(threads)-start)
					}
				}
				slices.Sort(theirs)
				mid := turns / 2
				for k, level := range levels {
					mine := ours[k]
					slices.Sort(mine)
					t.Logf("%s, %d channels, %d threads, %v: best %7.1f ms, median %7.1f ms; OpenCV %7.1f ms, %7.1f ms: %4.2f and %4.2f times",
						size, channels, threads, level, 1e3*mine[0], 1e3*mine[mid], 1e3*theirs[0], 1e3*theirs[mid], theirs[0]/mine[0], theirs[mid]/mine[mid])
				}
			}
		}
	}
}

// tiled returns copies of a photograph side by side.
func tiled(photo boxsum.Image[uint8], w, h, channels int) boxsum.Image[uint8] {
	img := boxsum.Image[uint8]{Pix: make([]uint8, w*h*channels), Width: w, Height: h, Channels: channels, Stride: w * channels}
	for y := range h {
		for x := range w {
			for c := range channels {
				img.Pix[(y*w+x)*channels+c] = photo.Pix[y%photo.Height*photo.Stride+x%photo.Width*photo.Channels+(c+1)%photo.Channels]
			}
		}
	}
	return img
}

// clock returns seconds: processor time for one thread, which other programs hardly affect, and wall time for several.
func clock(threads int) float64 {
	if threads > 1 {
		return time.Since(started).Seconds()
	}
	var r syscall.Rusage
	if syscall.Getrusage(syscall.RUSAGE_SELF, &r) != nil {
		return math.NaN()
	}
	return time.Duration(r.Utime.Nano() + r.Stime.Nano()).Seconds()
}

var started = time.Now()
