package gpu

import (
	"bytes"
	"errors"
	"fmt"
	"image"
	"math"
	"math/rand/v2"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"testing"
	"time"

	"github.com/boxsum/boxsum"
	"github.com/boxsum/boxsum/detect"
	"github.com/boxsum/boxsum/internal/ref"
)

var stageThreshold = regexp.MustCompile(`<(stageThreshold|stage_threshold)>([^<]*)</`)

// cascadesOf returns Debian's cascades, unchanged or with lower thresholds, so that windows of any
// image pass some or all of the stages.
func cascadesOf(t testing.TB, names string) (all []*detect.Cascade, files []string) {
	t.Helper()
	files, _ = filepath.Glob(filepath.Join(ref.CascadeFolder(t), "*cascades", names))
	for i, file := range files {
		text, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		lower := []float64{0.1, 0.5, 1}[i%3]
		text = stageThreshold.ReplaceAllFunc(text, func(m []byte) []byte {
			parts := stageThreshold.FindSubmatch(m)
			v, err := strconv.ParseFloat(string(bytes.TrimSpace(parts[2])), 64)
			if err != nil {
				t.Fatal(err)
			}
			return fmt.Appendf(nil, "<%s>%v</", parts[1], v-lower*math.Abs(v)-lower)
		})
		c, err := detect.Load(bytes.NewReader(text))
		if err != nil {
			t.Fatal(err)
		}
		all = append(all, c)
	}
	return all, files
}

// blotches returns an image of dark and bright spots of many sizes, with some noise.
func blotches(rng *rand.Rand, width, height, channels int) boxsum.Image[uint8] {
	img, _ := boxsum.NewImage[uint8](width, height, channels)
	for range 30 {
		r := image.Rect(rng.IntN(width), rng.IntN(height), rng.IntN(width+1), rng.IntN(height+1))
		add := rng.IntN(160) - 80
		for y := r.Min.Y; y < r.Max.Y; y++ {
			for i := r.Min.X * channels; i < r.Max.X*channels; i++ {
				p := &img.Pix[y*img.Stride+i]
				*p = uint8(min(255, max(0, int(*p)+add)))
			}
		}
	}
	noise := 1 + rng.IntN(60)
	for i := range img.Pix {
		img.Pix[i] = uint8(min(255, int(img.Pix[i])+rng.IntN(noise)))
	}
	return img
}

// TestDetect compares results and scores with the CPU's, for every cascade, gray and color images,
// and batches. BOXSUM_GPU_DETECTIONS sets the number of runs.
func TestDetect(t *testing.T) {
	cascades, files := cascadesOf(t, "*.xml")
	rounds, err := strconv.Atoi(os.Getenv("BOXSUM_GPU_DETECTIONS"))
	if err != nil {
		rounds = len(files)
		if testing.Short() {
			rounds = 3
		}
	}
	eachDevice(t, func(t *testing.T, d *Device) {
		rng := rand.New(rand.NewPCG(19, 7))
		total := 0
		for i := range rounds {
			c := cascades[i%len(files)]
			size := c.Window()
			channels, count := []int{1, 1, 3, 4}[rng.IntN(4)], 1+rng.IntN(3)
			w, h := max(1, size.X-2+rng.IntN(4*size.X)), max(1, size.Y-2+rng.IntN(4*size.Y))
			var images []boxsum.Image[uint8]
			for range count {
				images = append(images, blotches(rng, w, h, channels))
			}
			src, err := Upload(d, images...)
			if err != nil {
				t.Fatal(err)
			}
			o := &detect.Options{Scale: 1.05 + rng.Float64()/2, Neighbors: 1 + rng.IntN(3), Ungrouped: rng.IntN(2) == 0, Compat: rng.IntN(2) == 0, BGR: rng.IntN(2) == 0}
			if rng.IntN(3) == 0 {
				o.Min = image.Pt(rng.IntN(2*size.X), rng.IntN(2*size.Y))
			}
			if rng.IntN(4) == 0 {
				o.Contrast, o.Ignore = 1+rng.Float64()*20, []image.Rectangle{image.Rect(0, 0, w/2, h/2)}
			}
			got, err := Detect(src, c, o)
			if err != nil {
				t.Fatal(err)
			}
			on := *o
			on.On = d
			again, err := c.DetectBatch(images, &on)
			if err != nil || !slices.EqualFunc(again, got, slices.Equal) {
				t.Errorf("run %d, images of the host: %v, %.300v\nwant %.300v", i, err, fmt.Sprint(again), fmt.Sprint(got))
			}
			for k, img := range images {
				want, err := c.Detect(img, o)
				if err != nil {
					t.Fatal(err)
				}
				total += len(want)
				if !slices.Equal(got[k], want) {
					t.Errorf("run %d, %s in image %d of %d×%d×%d, %+v: %d results\n%.300v\nthe processor has %d\n%.300v", i, filepath.Base(files[i%len(files)]), k, w, h, channels, *o, len(got[k]), fmt.Sprint(got[k]), len(want), fmt.Sprint(want))
				}
			}
			if err := src.Close(); err != nil {
				t.Fatal(err)
			}
			if t.Failed() {
				return
			}
		}
		t.Logf("%d results in %d runs", total, rounds)
		if total == 0 {
			t.Error("nothing was found")
		}
	})
}

func TestDetectErrors(t *testing.T) {
	cascades, _ := cascadesOf(t, "haarcascade_eye.xml")
	eachDevice(t, func(t *testing.T, d *Device) {
		src, err := Upload(d, blotches(rand.New(rand.NewPCG(1, 2)), 60, 50, 1), blotches(rand.New(rand.NewPCG(1, 3)), 60, 50, 1))
		if err != nil {
			t.Fatal(err)
		}
		two, err := NewImage[uint8](d, 40, 40, 2, 1)
		if err != nil {
			t.Fatal(err)
		}
		for name, call := range map[string]func() error{
			"no image":    func() error { _, err := Detect(nil, cascades[0], nil); return err },
			"no cascade":  func() error { _, err := Detect(src, nil, nil); return err },
			"empty":       func() error { _, err := Detect(src, new(detect.Cascade), nil); return err },
			"channels":    func() error { _, err := Detect(two, cascades[0], nil); return err },
			"angles":      func() error { _, err := Detect(src, cascades[0], &detect.Options{Angles: []float64{30}}); return err },
			"mirror":      func() error { _, err := Detect(src, cascades[0], &detect.Options{Mirror: true}); return err },
			"near misses": func() error { _, err := Detect(src, cascades[0], &detect.Options{NearMisses: 2}); return err },
			"scale":       func() error { _, err := Detect(src, cascades[0], &detect.Options{Scale: 0.5}); return err },
		} {
			if err := call(); !errors.Is(err, boxsum.ErrInvalid) {
				t.Errorf("%s: %v", name, err)
			}
		}
		small, err := NewImage[uint8](d, 5, 5, 1, 3)
		if err != nil {
			t.Fatal(err)
		}
		if found, err := Detect(small, cascades[0], nil); err != nil || len(found) != 3 || len(found[0]) != 0 {
			t.Errorf("in images smaller than the window: %v, %v", found, err)
		}
		for _, c := range []interface{ Close() error }{src, two, small} {
			if err := c.Close(); err != nil {
				t.Fatal(err)
			}
		}
		if _, err := Detect(src, cascades[0], nil); !errors.Is(err, boxsum.ErrClosed) {
			t.Errorf("closed: %v", err)
		}
	})
}

// TestDetectSpeed prints frames per second for sizes such as BOXSUM_GPU_SPEED=1920x1080,3840x2160.
// BOXSUM_SCENE is a directory with the pixels of scenes of these sizes, in files such as
// 1920x1080.gray.
func TestDetectSpeed(t *testing.T) {
	sizes, scenes := os.Getenv("BOXSUM_GPU_SPEED"), os.Getenv("BOXSUM_SCENE")
	if sizes == "" || scenes == "" {
		t.Skip("set BOXSUM_GPU_SPEED to sizes, such as 1920x1080, and BOXSUM_SCENE to a folder with files such as 1920x1080.gray")
	}
	dir := ref.CascadeFolder(t)
	eachDevice(t, func(t *testing.T, d *Device) {
		for _, size := range regexp.MustCompile(`\d+x\d+`).FindAllString(sizes, -1) {
			var w, h int
			fmt.Sscanf(size, "%dx%d", &w, &h)
			pix, err := os.ReadFile(filepath.Join(scenes, size+".gray"))
			if err != nil {
				t.Fatal(err)
			}
			img := boxsum.Image[uint8]{Pix: pix, Width: w, Height: h, Channels: 1, Stride: w}
			for _, name := range []string{"haarcascades/haarcascade_frontalface_alt2.xml", "haarcascades/haarcascade_frontalface_default.xml", "lbpcascades/lbpcascade_frontalface.xml"} {
				c, err := detect.LoadFile(filepath.Join(dir, name))
				if err != nil {
					t.Fatal(err)
				}
				o := &detect.Options{Min: image.Pt(24, 24)}
				want, err := c.Detect(img, o)
				if err != nil {
					t.Fatal(err)
				}
				for _, count := range []int{1, 4, 16} {
					src, err := Upload(d, slices.Repeat([]boxsum.Image[uint8]{img}, count)...)
					if err != nil {
						t.Fatal(err)
					}
					best := time.Hour
					for range 6 {
						start := time.Now()
						got, err := Detect(src, c, o)
						if err != nil {
							t.Fatal(err)
						}
						best = min(best, time.Since(start))
						if !slices.Equal(got[count-1], want) {
							t.Fatalf("%d results, and the processor has %d others", len(got[count-1]), len(want))
						}
					}
					t.Logf("%s %s, %d frames at a time: %.0f frames a second, %d found", filepath.Base(name), size, count, float64(count)/best.Seconds(), len(want))
					if err := src.Close(); err != nil {
						t.Fatal(err)
					}
				}
			}
		}
	})
}
