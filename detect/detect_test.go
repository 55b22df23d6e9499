package detect_test

import (
	"context"
	"errors"
	"fmt"
	"image"
	"math"
	"math/rand/v2"
	"runtime"
	"slices"
	"strings"
	"sync"
	"testing"

	"github.com/boxsum/boxsum"
	"github.com/boxsum/boxsum/detect"
	"github.com/boxsum/boxsum/internal/ref"
)

// astronaut returns the upper half of scikit-image's photograph in gray, with one face.
func astronaut(t testing.TB) boxsum.Image[uint8] {
	return part(photographs(t)[0], image.Rect(100, 0, 400, 300), 300, 300, 1)
}

func TestDetect(t *testing.T) {
	img := astronaut(t)
	face := image.Rect(70, 60, 190, 180)
	for _, name := range []string{"frontalface_default", "frontalface_alt2", "lbpcascade_frontalface.xml"} {
		c := cascade(t, fileOf(t, name))
		all, err := c.Detect(img, &detect.Options{Neighbors: 5})
		if err != nil {
			t.Fatal(err)
		}
		if len(all) != 1 || all[0].Rect.Intersect(face).Dx() < 70 || all[0].Neighbors <= 5 || all[0].Stage != c.Stages() || all[0].Angle != 0 {
			t.Errorf("%s: %+v", name, all)
		}
	}
}

// TestSame tests that results depend only on the image and the options.
func TestSame(t *testing.T) {
	rng := rand.New(rand.NewPCG(19, 3))
	photos := photographs(t)
	for i, name := range []string{"frontalface_default", "frontalface_alt2", "fullbody", "lbpcascade_frontalface.xml", "eye_tree", "licence_plate"} {
		c := cascade(t, fileOf(t, name))
		for range rounds(3) {
			img := drawn(rng, photos, 60+rng.IntN(100), 40+rng.IntN(80), 1)
			o := detect.Options{Ungrouped: i%2 == 0, NearMisses: rng.IntN(c.Stages() + 2), Contrast: []float64{0, 2, 30}[rng.IntN(3)], Compat: rng.IntN(2) == 0}
			var want []detect.Result
			for l, level := range boxsum.Levels() {
				for _, workers := range []int{1, 2, 5} {
					o.Level, o.Workers = level, workers
					got, err := c.Detect(img, &o)
					if err != nil {
						t.Fatal(err)
					}
					if l == 0 && workers == 1 {
						want = got
					} else if !slices.Equal(got, want) {
						t.Fatalf("%s, level %v, %d workers: %d results, and not the %d of one worker in portable Go", name, level, workers, len(got), len(want))
					}
				}
			}
		}
	}
}

// TestForms tests that strides, channels and types of package image make no difference.
func TestForms(t *testing.T) {
	ref.SkipRace(t)
	img := astronaut(t)
	c := cascade(t, fileOf(t, "frontalface_alt2"))
	want, err := c.Detect(img, nil)
	if err != nil || len(want) == 0 {
		t.Fatal(want, err)
	}
	check := func(what string, got []detect.Result, err error) {
		t.Helper()
		if err != nil || !slices.Equal(got, want) {
			t.Errorf("%s: %v, %v, want %v", what, got, err, want)
		}
	}
	wide := boxsum.Image[uint8]{Pix: make([]uint8, 400*img.Height), Stride: 400, Width: img.Width, Height: img.Height}
	for i := range wide.Pix {
		wide.Pix[i] = uint8(i * 77)
	}
	gray := image.NewGray(image.Rect(-3, 5, img.Width-3, img.Height+5))
	for y := range img.Height {
		copy(wide.Pix[y*400:], img.Row(y))
		copy(gray.Pix[y*gray.Stride:], img.Row(y))
	}
	got, err := c.Detect(wide, nil)
	check("with a stride", got, err)
	got, err = c.DetectImage(gray, nil)
	check("image.Gray", got, err)
	for _, channels := range []int{3, 4} {
		colored := boxsum.Image[uint8]{Pix: make([]uint8, channels*img.Width*img.Height), Width: img.Width, Height: img.Height, Channels: channels}
		for i, p := range img.Pix {
			for k := range channels {
				colored.Pix[i*channels+k] = p
			}
		}
		got, err = c.Detect(colored, nil)
		check(fmt.Sprint(channels, " channels"), got, err)
	}
	got, err = c.AppendDetect(want[:1:1], img, nil)
	if err != nil || !slices.Equal(got[1:], want) {
		t.Errorf("appended: %v, %v", got, err)
	}
	photo := part(photographs(t)[0], image.Rect(100, 0, 400, 300), 300, 300, 3)
	rgb, err1 := c.Detect(photo, nil)
	for i := 0; i < len(photo.Pix); i += 3 {
		photo.Pix[i], photo.Pix[i+2] = photo.Pix[i+2], photo.Pix[i]
	}
	bgr, err2 := c.Detect(photo, &detect.Options{BGR: true})
	if err1 != nil || err2 != nil || !slices.Equal(rgb, bgr) {
		t.Errorf("%v in RGB, %v in BGR, %v, %v", rgb, bgr, err1, err2)
	}
}

// TestBatch checks that a batch has the results of its images, in one progress.
func TestBatch(t *testing.T) {
	c := cascade(t, fileOf(t, "frontalface_alt2"))
	img := astronaut(t)
	images := []boxsum.Image[uint8]{img, {Pix: make([]uint8, img.Width*img.Height), Width: img.Width, Height: img.Height}, img}
	last := 0.0
	for _, o := range []*detect.Options{nil, {Neighbors: 1, Progress: func(done float64) {
		if done < last || done > 1 {
			t.Errorf("%v after %v", done, last)
		}
		last = done
	}}} {
		alone := detect.Options{}
		if o != nil {
			alone.Neighbors = o.Neighbors
		}
		want, err := c.Detect(img, &alone)
		if err != nil || len(want) == 0 {
			t.Fatal(want, err)
		}
		got, err := c.DetectBatch(images, o)
		if err != nil || len(got) != 3 || !slices.Equal(got[0], want) || len(got[1]) != 0 || !slices.Equal(got[2], want) {
			t.Errorf("%v, %v, want %v", got, err, want)
		}
	}
	if last != 1 {
		t.Errorf("the last progress is %v", last)
	}
	if got, err := c.DetectBatch(nil, nil); err != nil || len(got) != 0 {
		t.Errorf("no images: %v, %v", got, err)
	}
	for name, images := range map[string][]boxsum.Image[uint8]{
		"two sizes":  {img, {Pix: img.Pix, Width: 20, Height: 30}},
		"channels":   {{Pix: img.Pix, Width: 20, Height: 30}, {Pix: img.Pix, Width: 20, Height: 30, Channels: 3}},
		"too short":  {img, {Pix: img.Pix[1:], Width: img.Width, Height: img.Height}},
		"2 channels": {{Pix: img.Pix, Width: 20, Height: 30, Channels: 2}},
	} {
		if _, err := c.DetectBatch(images, nil); !errors.Is(err, boxsum.ErrInvalid) {
			t.Errorf("%s: %v", name, err)
		}
	}
}

// TestNearMisses tests that near misses do not change the other results, and report how far they came.
func TestNearMisses(t *testing.T) {
	ref.SkipRace(t)
	img := part(photographs(t)[0], image.Rect(150, 40, 300, 190), 80, 80, 1)
	for _, name := range []string{"frontalface_alt2", "lbpcascade_frontalface.xml"} {
		c := cascade(t, fileOf(t, name))
		for _, ungrouped := range []bool{false, true} {
			o := detect.Options{Ungrouped: ungrouped}
			want, err := c.Detect(img, &o)
			if err != nil {
				t.Fatal(err)
			}
			before := 0
			for _, stages := range []int{1, 3, c.Stages()} {
				o.NearMisses = stages
				got, err := c.Detect(img, &o)
				if err != nil || len(got) < len(want) || !slices.Equal(got[:len(want)], want) {
					t.Fatalf("%s: %v", name, err)
				}
				for _, r := range got[len(want):] {
					if r.Stage >= c.Stages() || r.Stage < c.Stages()-stages {
						t.Errorf("%s: a near miss %+v in the last %d of %d stages", name, r, stages, c.Stages())
					}
				}
				if ungrouped && len(got)-len(want) <= before {
					t.Errorf("%s: %d near misses in the last %d stages", name, len(got)-len(want), stages)
				}
				before = len(got) - len(want)
			}
		}
	}
}

func TestIgnore(t *testing.T) {
	img := astronaut(t)
	c := cascade(t, fileOf(t, "frontalface_alt2"))
	all, err := c.Detect(img, &detect.Options{Ungrouped: true})
	if err != nil || len(all) < 5 {
		t.Fatal(all, err)
	}
	regions := []image.Rectangle{image.Rect(0, 0, 125, 120), image.Rect(0, 120, 90, 300)}
	got, err := c.Detect(img, &detect.Options{Ungrouped: true, Ignore: regions})
	want := slices.DeleteFunc(slices.Clone(all), func(r detect.Result) bool {
		middle := r.Rect.Min.Add(r.Rect.Max).Div(2)
		return middle.In(regions[0]) || middle.In(regions[1])
	})
	if err != nil || !slices.Equal(got, want) || len(got) == len(all) {
		t.Errorf("%d of %d are left, want %d: %v", len(got), len(all), len(want), err)
	}
	// Rotated windows next to an ignored one are found, too.
	opt := detect.Options{Ungrouped: true, Angles: []float64{0, 10}, Min: image.Pt(60, 60), Scale: 1.2}
	if all, err = c.Detect(img, &opt); err != nil || len(all) < 20 {
		t.Fatal(all, err)
	}
	step := 1
	if testing.Short() {
		step = len(all)/5 + 1
	}
	for i := 0; i < len(all); i += step {
		middle := all[i].Rect.Min.Add(all[i].Rect.Max).Div(2)
		opt.Ignore = []image.Rectangle{{middle, middle.Add(image.Pt(1, 1))}}
		got, err := c.Detect(img, &opt)
		want := slices.DeleteFunc(slices.Clone(all), func(r detect.Result) bool { return r.Rect.Min.Add(r.Rect.Max).Div(2) == middle })
		if err != nil || !slices.Equal(got, want) {
			t.Fatalf("%d are left without %v, want %d: %v", len(got), middle, len(want), err)
		}
	}
}

// TestSizes tests that windows have the requested sizes.
func TestSizes(t *testing.T) {
	img := astronaut(t)
	c := cascade(t, fileOf(t, "frontalface_alt2"))
	for _, o := range []detect.Options{
		{Min: image.Pt(80, 80)}, {Max: image.Pt(100, 100)}, {Min: image.Pt(90, 90), Max: image.Pt(120, 120)},
	} {
		o.Ungrouped = true
		all, err := c.Detect(img, &o)
		if err != nil || len(all) == 0 {
			t.Fatal(all, err)
		}
		for _, r := range all {
			if r.Rect.Dx() < o.Min.X || o.Max.X > 0 && r.Rect.Dx() > o.Max.X {
				t.Errorf("%v where windows are from %v to %v", r.Rect, o.Min, o.Max)
			}
		}
	}
	if all, err := c.Detect(part(img, image.Rect(0, 0, 30, 30), 19, 30, 1), nil); err != nil || len(all) != 0 {
		t.Errorf("%v in an image smaller than the window, %v", all, err)
	}
	if all, err := c.Detect(boxsum.Image[uint8]{}, nil); err != nil || len(all) != 0 {
		t.Errorf("%v in an empty image, %v", all, err)
	}
}

func TestErrors(t *testing.T) {
	img := astronaut(t)
	c := cascade(t, fileOf(t, "frontalface_alt2"))
	done, cancel := context.WithCancel(context.Background())
	cancel()
	for want, o := range map[string]detect.Options{
		"scale is 1, want a finite number greater than 1": {Scale: 1},
		"scale is NaN":                                  {Scale: math.NaN()},
		"scale is +Inf":                                 {Scale: math.Inf(1)},
		"gives more than 4096 window sizes":             {Scale: 1.00001},
		"neighbors is -1":                               {Neighbors: -1},
		"minimum size is (-1,0) and maximum size (0,0)": {Min: image.Pt(-1, 0)},
		"minimum size is (0,0) and maximum size (0,-1)": {Max: image.Pt(0, -1)},
		"near misses is -1 stages":                      {NearMisses: -1},
		"contrast is -1":                                {Contrast: -1},
		"contrast is NaN":                               {Contrast: math.NaN()},
		"limit is -1 windows":                           {Limit: -1},
		"more than 3 windows pass":                      {Limit: 3, Neighbors: 1},
		"workers is -1":                                 {Workers: -1},
		"angle is NaN":                                  {Angles: []float64{math.NaN()}},
		"stopped before the end":                        {Context: done},
	} {
		if all, err := c.Detect(img, &o); all != nil || err == nil || !strings.Contains(err.Error(), strings.TrimSpace(want)) {
			t.Errorf("%v, error is %v, want %s", all, err, want)
		} else if o.Context == nil && !errors.Is(err, boxsum.ErrInvalid) || o.Context != nil && !errors.Is(err, context.Canceled) {
			t.Errorf("error is %v", err)
		}
	}
	for _, bad := range []boxsum.Image[uint8]{
		{Pix: img.Pix[1:], Width: img.Width, Height: img.Height},
		{Pix: img.Pix, Width: -1, Height: 3},
		{Pix: img.Pix, Width: 100, Height: 50, Channels: 2},
		{Pix: img.Pix, Width: 100, Height: 50, Stride: 99},
	} {
		if _, err := c.Detect(bad, nil); !errors.Is(err, boxsum.ErrInvalid) {
			t.Errorf("error is %v", err)
		}
	}
	for _, none := range []*detect.Cascade{nil, new(detect.Cascade)} {
		if _, err := none.Detect(img, nil); !errors.Is(err, boxsum.ErrInvalid) {
			t.Errorf("error is %v", err)
		}
	}
	if all, err := c.DetectImage(nil, nil); err != nil || all != nil {
		t.Error(all, err)
	}
	broken := &image.Gray{Pix: make([]uint8, 10), Stride: 100, Rect: image.Rect(0, 0, 100, 100)}
	if _, err := c.DetectImage(broken, nil); !errors.Is(err, boxsum.ErrInvalid) {
		t.Errorf("error is %v", err)
	}
}

// TestContext tests that a context stops work in progress, without effect on later calls.
func TestContext(t *testing.T) {
	img := astronaut(t)
	c := cascade(t, fileOf(t, "frontalface_alt2"))
	want, err := c.Detect(img, nil)
	if err != nil {
		t.Fatal(err)
	}
	for _, workers := range []int{1, 3} {
		ctx, cancel := context.WithCancel(context.Background())
		reports := 0
		o := detect.Options{Workers: workers, Context: ctx, Progress: func(done float64) {
			if reports++; reports == 2 {
				cancel()
			}
		}}
		if all, err := c.Detect(img, &o); !errors.Is(err, context.Canceled) || all != nil {
			t.Errorf("%v, %v", all, err)
		}
		if got, err := c.Detect(img, &detect.Options{Workers: workers}); err != nil || !slices.Equal(got, want) {
			t.Errorf("%v, %v", got, err)
		}
	}
	last := 0.0
	if _, err := c.Detect(img, &detect.Options{Progress: func(done float64) {
		if done < last || done > 1 {
			t.Errorf("%v after %v", done, last)
		}
		last = done
	}}); err != nil || last != 1 {
		t.Error(last, err)
	}
}

func TestAllocations(t *testing.T) {
	photo := photographs(t)[0]
	img, colored := part(photo, image.Rect(150, 40, 300, 190), 80, 80, 1), part(photo, image.Rect(100, 0, 300, 150), 90, 60, 3)
	for _, name := range []string{"frontalface_alt2", "fullbody", "lbpcascade_frontalface.xml"} {
		c := cascade(t, fileOf(t, name))
		var found []detect.Result
		for _, workers := range []int{1, 2} {
			o := &detect.Options{Workers: workers, Neighbors: 1, NearMisses: 1, Scale: 1.3, Ignore: []image.Rectangle{image.Rect(0, 0, 5, 5)}}
			for _, img := range []boxsum.Image[uint8]{img, colored} {
				ref.AllocatesNothing(t, name, func() (err error) {
					found, err = c.AppendDetect(found[:0], img, o)
					return err
				})
			}
		}
	}
}

// TestConcurrent tests that a cascade can be used by any number of goroutines.
func TestConcurrent(t *testing.T) {
	photos := photographs(t)
	c := cascade(t, fileOf(t, "frontalface_alt2"))
	var all sync.WaitGroup
	for i := range 4 {
		img := part(photos[i], image.Rect(0, 0, 300, 200), 150+20*i, 100+10*i, 1)
		all.Go(func() {
			want, err := c.Detect(img, &detect.Options{Ungrouped: true, Workers: 1})
			if err != nil {
				t.Error(err)
			}
			for range 3 {
				if got, err := c.Detect(img, &detect.Options{Ungrouped: true, Workers: 2}); err != nil || !slices.Equal(got, want) {
					t.Error(err, len(got), len(want))
				}
			}
		})
	}
	all.Wait()
}

// TestCompat tests that without Compat the results are OpenCV's plus those in the last row, which OpenCV skips.
func TestCompat(t *testing.T) {
	rng := rand.New(rand.NewPCG(19, 4))
	photos := photographs(t)
	more := 0
	for range rounds(60) {
		c := cascade(t, fileOf(t, []string{"frontalface_alt2", "lbpcascade_frontalface.xml"}[rng.IntN(2)]))
		img := drawn(rng, photos, 30+rng.IntN(100), 30+rng.IntN(100), 1)
		o := detect.Options{Ungrouped: true, Compat: true, NearMisses: c.Stages()}
		theirs, err1 := c.Detect(img, &o)
		o.Compat = false
		ours, err2 := c.Detect(img, &o)
		if err1 != nil || err2 != nil {
			t.Fatal(err1, err2)
		}
		count := map[detect.Result]int{}
		for _, r := range ours {
			count[r]++
		}
		for _, r := range theirs {
			if count[r]--; count[r] < 0 {
				t.Fatalf("%+v is not there", r)
			}
		}
		more += len(ours) - len(theirs)
	}
	if more == 0 {
		t.Error("no image has a last row that OpenCV loses")
	}
}

// TestContrast tests that poor light requires a smaller contrast.
func TestContrast(t *testing.T) {
	ref.SkipRace(t)
	img := astronaut(t)
	for i, p := range img.Pix {
		img.Pix[i] = p/12 + 100
	}
	c := cascade(t, fileOf(t, "frontalface_alt2"))
	for contrast, want := range map[float64]int{0: 0, 10: 0, 1: 1} {
		if got, err := c.Detect(img, &detect.Options{Contrast: contrast}); err != nil || len(got) != want {
			t.Errorf("contrast %v: %v, %v", contrast, got, err)
		}
	}
}

func TestResult(t *testing.T) {
	r := detect.Result{Rect: image.Rect(10, 20, 30, 60)}
	if got, want := r.Corners(), [4][2]float64{{10, 20}, {30, 20}, {30, 60}, {10, 60}}; got != want || r.Bounds() != r.Rect {
		t.Errorf("%v, %v", got, r.Bounds())
	}
	r.Angle = 90 // the top is on the right
	if got, want := r.Corners(), [4][2]float64{{40, 30}, {40, 50}, {0, 50}, {0, 30}}; got != want || r.Bounds() != image.Rect(0, 30, 40, 50) {
		t.Errorf("%v, %v", got, r.Bounds())
	}
	r.Angle = 45
	if got := r.Corners()[0]; math.Abs(got[0]-(20-(10-20)*math.Sqrt2/2)) > 1e-9 && math.Abs(got[1]-(40-30*math.Sqrt2/2)) > 1e-9 {
		t.Errorf("%v", got)
	}
	if detect.Haar.String() != "HAAR" || detect.LBP.String() != "LBP" {
		t.Error("kinds have other names")
	}
}

// TestMemory tests that a search takes at most 24 bytes per pixel, including the image's layers and the tables of
// all workers, upright and at all angles.
func TestMemory(t *testing.T) {
	if testing.Short() {
		t.Skip("searches a large image, which takes a second: leave out -short")
	}
	c := cascade(t, fileOf(t, "frontalface_alt2"))
	img, err := boxsum.NewImage[uint8](1920, 1080, 1)
	if err != nil {
		t.Fatal(err)
	}
	for i := range img.Pix {
		img.Pix[i] = uint8(i * i >> 7) // stripes, in which nothing is found
	}
	for _, workers := range []int{1, 16} {
		for name, angles := range map[string][]float64{"upright": nil, "turned": {0, 45, 22.5, 67.5}, "tables": {0, 45, 22.5, 67.5}} {
			turn := detect.TurnImage
			if name == "tables" {
				turn = detect.TurnTables
			}

			runtime.GC() // frees what earlier searches keep
			runtime.GC()
			var before, after runtime.MemStats
			runtime.ReadMemStats(&before)
			if _, err := c.Detect(img, &detect.Options{Workers: workers, Angles: angles, Turn: turn, Min: image.Pt(40, 40)}); err != nil {
				t.Fatal(err)
			}
			runtime.ReadMemStats(&after)
			bytes := float64(after.TotalAlloc-before.TotalAlloc) / float64(len(img.Pix))
			t.Logf("%s, %d workers: %.1f bytes for a pixel", name, workers, bytes)
			if bytes > 24 {
				t.Errorf("%s, %d workers: %.1f bytes for a pixel", name, workers, bytes)
			}
		}
	}
}
