//go:build unix

package detect_test

import (
	"fmt"
	"image"
	"math"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"github.com/boxsum/boxsum"
	"github.com/boxsum/boxsum/detect"
	"github.com/boxsum/boxsum/internal/ref"
)

// scene returns gray photographs of many sizes side by side.
func scene(t testing.TB, width, height int) boxsum.Image[uint8] {
	photos := photographs(t)
	out := boxsum.Image[uint8]{Pix: make([]uint8, width*height), Width: width, Height: height, Stride: width}
	k := 0
	for y := 0; y < height; {
		h := min([]int{270, 540, 180}[k%3], height-y)
		for x := 0; x < width; k++ {
			p := photos[k%len(photos)]
			w := min(p.Width*h/p.Height, width-x)
			img := part(p, image.Rect(0, 0, w*p.Height/h, p.Height), w, h, 1)
			for r := range h {
				copy(out.Pix[(y+r)*width+x:], img.Row(r))
			}
			x += w
		}
		y += h
	}
	return out
}

// clock returns seconds: processor time for one thread, which other programs hardly affect, and wall time for several.
func clock(threads int) float64 {
	if threads > 1 {
		return time.Since(started).Seconds()
	}
	var r syscall.Rusage
	syscall.Getrusage(syscall.RUSAGE_SELF, &r)
	return time.Duration(r.Utime.Nano() + r.Stime.Nano()).Seconds()
}

var started = time.Now()

// TestSpeed prints the speed in turns with OpenCV: BOXSUM_SPEED=1920x1080,3840x2160.
func TestSpeed(t *testing.T) {
	sizes := os.Getenv("BOXSUM_SPEED")
	if sizes == "" {
		t.Skip("set BOXSUM_SPEED to a list of sizes, such as 1920x1080,3840x2160, to measure")
	}
	py := ref.StartCascades(t, "testdata/cascades.py")
	turns, err := strconv.Atoi(os.Getenv("BOXSUM_SPEED_TURNS"))
	if err != nil {
		turns = 7
	}
	for size := range strings.SplitSeq(sizes, ",") {
		ws, hs, _ := strings.Cut(size, "x")
		w, err1 := strconv.Atoi(ws)
		h, err2 := strconv.Atoi(hs)
		if err1 != nil || err2 != nil {
			t.Fatalf("BOXSUM_SPEED has %q", size)
		}
		img := scene(t, w, h)
		for _, name := range []string{"frontalface_default", "frontalface_alt2", "profileface.xml", "lbpcascade_frontalface.xml"} {
			file := fileOf(t, name)
			c := cascade(t, file)
			for threads := 1; threads <= max(1, speedThreads()); threads++ {
				q := query{file: file, threads: threads, opt: detect.Options{Compat: true, Scale: 1.1, Neighbors: 3, Min: image.Pt(24, 24), Workers: threads}}
				ours, theirs := math.Inf(1), math.Inf(1)
				var found, want []detect.Result
				for range turns {
					var seconds float64
					want, seconds = q.ask(t, py, img)
					theirs = min(theirs, seconds)
					for range 3 {
						start := clock(threads)
						if found, err = c.AppendDetect(found[:0], img, &q.opt); err != nil {
							t.Fatal(err)
						}
						ours = min(ours, clock(threads)-start)
					}
				}
				if !same(found, want, false) {
					t.Errorf("%s: %d results, and OpenCV has %d others", name, len(found), len(want))
				}
				t.Logf("%-34s %s, %d threads: %7.1f ms, OpenCV %7.1f ms: %4.1f times", strings.TrimSuffix(filepath.Base(file), ".xml"), size, threads, 1e3*ours, 1e3*theirs, theirs/ours)
			}
		}
	}
}

func BenchmarkDetect(b *testing.B) {
	img := scene(b, 1920, 1080)
	for _, name := range []string{"frontalface_default", "frontalface_alt2", "profileface.xml", "lbpcascade_frontalface.xml"} {
		c := cascade(b, fileOf(b, name))
		b.Run(strings.TrimSuffix(name, ".xml"), func(b *testing.B) {
			var found []detect.Result
			var err error
			b.SetBytes(int64(len(img.Pix)))
			for b.Loop() {
				if found, err = c.AppendDetect(found[:0], img, &detect.Options{Min: image.Pt(24, 24), Workers: 1}); err != nil {
					b.Fatal(err)
				}
			}
		})
	}
}

// speedThreads returns the largest number of threads to measure: BOXSUM_SPEED_THREADS, or 2.
func speedThreads() int {
	if n, err := strconv.Atoi(os.Getenv("BOXSUM_SPEED_THREADS")); err == nil {
		return n
	}
	return 2
}

// TestWorkers prints frames per second by number of workers: BOXSUM_SPEED_WORKERS=1,2,16. Scenes are read from files such
// as 1920x1080.gray in the folder BOXSUM_SCENE, and drawn if they do not exist.
func TestWorkers(t *testing.T) {
	workers, dir := os.Getenv("BOXSUM_SPEED_WORKERS"), os.Getenv("BOXSUM_SCENE")
	if workers == "" || dir == "" {
		t.Skip("set BOXSUM_SPEED_WORKERS to numbers, such as 1,2,16, and BOXSUM_SCENE to a folder, to measure")
	}
	for _, size := range []image.Point{{1920, 1080}, {3840, 2160}} {
		img := boxsum.Image[uint8]{Width: size.X, Height: size.Y, Channels: 1, Stride: size.X}
		file := filepath.Join(dir, fmt.Sprintf("%dx%d.gray", size.X, size.Y))
		var err error
		if img.Pix, err = os.ReadFile(file); err != nil {
			img.Pix = scene(t, size.X, size.Y).Pix
			if err := os.WriteFile(file, img.Pix, 0o644); err != nil {
				t.Fatal(err)
			}
		}
		for _, name := range []string{"frontalface_default", "frontalface_alt2", "profileface.xml", "lbpcascade_frontalface.xml"} {
			c := cascade(t, fileOf(t, name))
			for word := range strings.SplitSeq(workers, ",") {
				n, err := strconv.Atoi(word)
				if err != nil {
					t.Fatal(err)
				}
				var found []detect.Result
				best, first := math.Inf(1), time.Now()
				for i := 0; i < 3 || i < 25 && time.Since(first) < 1500*time.Millisecond; i++ {
					start := time.Now()
					if found, err = c.AppendDetect(found[:0], img, &detect.Options{Min: image.Pt(24, 24), Workers: n}); err != nil {
						t.Fatal(err)
					}
					best = min(best, time.Since(start).Seconds())
				}
				// Several frames at a time, as in a stream.
				lanes, frames := min(max(n/4, 1), 4), 6
				var all sync.WaitGroup
				start := time.Now()
				for range lanes {
					all.Go(func() {
						var found []detect.Result
						for range frames {
							found, _ = c.AppendDetect(found[:0], img, &detect.Options{Min: image.Pt(24, 24), Workers: n / lanes})
						}
					})
				}
				all.Wait()
				many := float64(lanes*frames) / time.Since(start).Seconds()
				t.Logf("%-30s %4d×%d, %2d workers: %7.1f ms, %6.1f frames a second, %6.1f by %d at a time, %d found", strings.TrimSuffix(name, ".xml"), size.X, size.Y, n, 1e3*best, 1/best, many, lanes, len(found))
				if name != "frontalface_alt2" {
					continue
				}
				best = math.Inf(1)
				for range 3 {
					start := time.Now()
					if found, err = c.AppendDetect(found[:0], img, &detect.Options{Min: image.Pt(24, 24), Workers: n, Angles: detect.AllAngles()}); err != nil {
						t.Fatal(err)
					}
					best = min(best, time.Since(start).Seconds())
				}
				t.Logf("%-30s %4d×%d, %2d workers: %7.1f ms, %6.1f frames a second, %d found", "  at all angles", size.X, size.Y, n, 1e3*best, 1/best, len(found))
			}
		}
	}
}

// TestAnglesSpeed prints the time for all angles compared with OpenCV on sixteen rotated pictures, on one core: BOXSUM_SPEED_ANGLES=1.
func TestAnglesSpeed(t *testing.T) {
	if os.Getenv("BOXSUM_SPEED_ANGLES") == "" {
		t.Skip("set BOXSUM_SPEED_ANGLES=1 to measure")
	}
	py := ref.StartCascades(t, "testdata/cascades.py")
	img := scene(t, 1920, 1080)
	file := fileOf(t, "frontalface_alt2")
	c := cascade(t, file)
	var times [3]float64 // by turns
	for i := range 5 {
		for k, opt := range []detect.Options{{}, {EachAngle: true}, {Turn: detect.TurnTables}} {
			opt.Min, opt.Workers, opt.Angles = image.Pt(24, 24), 1, detect.AllAngles()
			start := clock(1)
			if _, err := c.Detect(img, &opt); err != nil {
				t.Fatal(err)
			}
			if seconds := clock(1) - start; i == 0 || seconds < times[k] {
				times[k] = seconds
			}
		}
	}
	ours := times[0]
	t.Logf("all angles: %.0f ms, each by itself %.0f ms, on rotated tables %.0f ms", 1e3*ours, 1e3*times[1], 1e3*times[2])
	if os.Getenv("BOXSUM_SPEED_ANGLES") == "alone" {
		return
	}
	// Pictures 90° apart take equally long.
	theirs := 0.0
	for _, degrees := range []float64{0, 22.5, 45, 67.5} {
		sin, cos := math.Sincos(degrees * math.Pi / 180)
		w, h := int(1920*cos+1080*sin+0.5), int(1920*sin+1080*cos+0.5)
		canvas := boxsum.Image[uint8]{Pix: make([]uint8, w*h), Width: w, Height: h, Channels: 1, Stride: w}
		for y := range h {
			for x := range w {
				dx, dy := float64(x)-float64(w)/2, float64(y)-float64(h)/2
				i, j := int(math.Floor(960+dx*cos+dy*sin)), int(math.Floor(540+dy*cos-dx*sin))
				if i >= 0 && j >= 0 && i < 1920 && j < 1080 {
					canvas.Pix[y*w+x] = img.Pix[j*img.Stride+i]
				}
			}
		}
		q := query{file: file, threads: 1, opt: detect.Options{Scale: 1.1, Neighbors: 3, Min: image.Pt(24, 24)}}
		_, seconds := q.ask(t, py, canvas)
		theirs += 4 * seconds
	}
	t.Logf("all angles: %.0f ms, OpenCV in 16 pictures %.0f ms: %.1f times", 1e3*ours, 1e3*theirs, theirs/ours)
}
