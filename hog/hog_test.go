package hog_test

import (
	"context"
	"errors"
	"fmt"
	"image"
	"math"
	"math/rand/v2"
	"slices"
	"strings"
	"sync"
	"testing"

	"github.com/boxsum/boxsum"
	"github.com/boxsum/boxsum/hog"
	"github.com/boxsum/boxsum/internal/ref"
)

// drawnPattern returns a picture with gradients in all directions.
func drawnPattern(width, height, channels int) boxsum.Image[uint8] {
	img := boxsum.Image[uint8]{Pix: make([]uint8, width*height*channels), Width: width, Height: height, Channels: channels, Stride: width * channels}
	for y := range height {
		for x := range width {
			for c := range channels {
				dx, dy := float64(x-width/3), float64(y-height/2)
				img.Pix[y*img.Stride+x*channels+c] = uint8(120 + 100*math.Sin(math.Hypot(dx, dy)/float64(4+c)) + float64((x*7+y*13)%16))
			}
		}
	}
	return img
}

// detector returns a descriptor with small windows and random coefficients.
func detector(t testing.TB) *hog.Descriptor {
	t.Helper()
	c := hog.Config{Window: image.Pt(32, 40)}
	d, err := hog.New(c)
	if err != nil {
		t.Fatal(err)
	}
	c.Coefficients = coefficients(rand.New(rand.NewPCG(40, 9)), d.Size(), true)
	c.Coefficients[d.Size()] = 0.3
	if d, err = hog.New(c); err != nil {
		t.Fatal(err)
	}
	return d
}

func TestConfig(t *testing.T) {
	d, err := hog.New(hog.Config{})
	if err != nil {
		t.Fatal(err)
	}
	want := hog.Config{Window: image.Pt(64, 128), Block: image.Pt(16, 16), Stride: image.Pt(8, 8), Cell: image.Pt(8, 8), Bins: 9, Sigma: 4, Clip: 0.2, Levels: 64}
	if got := d.Config(); fmt.Sprint(got) != fmt.Sprint(want) || d.Size() != 3780 {
		t.Errorf("%+v with %d numbers", got, d.Size())
	}
	p := image.Pt
	inf := math.Inf(1)
	for text, c := range map[string]hog.Config{
		"window is 0×8, want sides from 1 to 4096": {Window: p(0, 8)},
		"window is -1×8":   {Window: p(-1, 8)},
		"window is 5000×8": {Window: p(5000, 8)},
		"block is 65×16, want at least 1×1 and at most the window, 64×128": {Block: p(65, 16)},
		"block is 16×-16": {Block: p(16, -16)},
		"block is 1024×1024, want at most 262144 pixels":                         {Window: p(1024, 1024), Block: p(1024, 1024)},
		"block stride is 0×1":                                                    {Stride: p(0, 1)},
		"block stride is 9×8, want sizes that divide the window minus the block": {Stride: p(9, 8)},
		"cell is 7×8, want sizes that divide the block, 16×16":                   {Cell: p(7, 8)},
		"cell is -8×8":                   {Cell: p(-8, 8)},
		"cell is 32×32":                  {Cell: p(32, 32)},
		"bins is -1, want 1 to 256":      {Bins: -1},
		"bins is 257":                    {Bins: 257},
		"sigma is -1, want more than 0":  {Sigma: -1},
		"sigma is NaN":                   {Sigma: math.NaN()},
		"sigma is +Inf":                  {Sigma: inf},
		"clip is -0.2, want more than 0": {Clip: -0.2},
		"clip is NaN":                    {Clip: math.NaN()},
		"clip is 1e-300":                 {Clip: 1e-300},
		"levels is -1, want 1 to 4096":   {Levels: -1},
		"number of coefficients is 1, want 3780, or 3781 with a constant":         {Coefficients: make([]float32, 1)},
		"coefficient 0 is NaN, want a finite number":                              {Coefficients: slices.Repeat([]float32{float32(math.NaN())}, 3780)},
		"descriptor has 1019478585600 numbers, want at most 16777216":             {Window: p(4096, 4096), Block: p(32, 32), Stride: p(1, 1), Cell: p(2, 2), Bins: 241},
		"coefficient 3780 is +Inf":                                                {Coefficients: append(make([]float32, 3780), float32(inf))},
		"block is 17×8, want at least 1×1 and at most the window, 16×8":           {Window: p(16, 8), Block: p(17, 8)},
		"block stride is 5000×8, want sides from 1 to 4096":                       {Stride: p(5000, 8)},
		"block stride is 8×1000, want sizes that divide the window minus the blo": {Stride: p(8, 1000)},
	} {
		if d, err := hog.New(c); d != nil || !errors.Is(err, boxsum.ErrInvalid) || !strings.Contains(err.Error(), text) {
			t.Errorf("error is %v, want %s", err, text)
		}
	}
}

// TestErrors tests invalid options and images.
func TestErrors(t *testing.T) {
	d := detector(t)
	img := drawnPattern(60, 70, 1)
	done, cancel := context.WithCancel(context.Background())
	cancel()
	nan := math.NaN()
	for want, o := range map[string]hog.Options{
		"threshold is NaN":                              {Threshold: nan},
		"scale is 0.9, want more than 1":                {Scale: 0.9},
		"scale is NaN":                                  {Scale: nan},
		"scale is +Inf":                                 {Scale: math.Inf(1)},
		"step is 0×8, want 1 to 65536":                  {Step: image.Pt(0, 8)},
		"step is -8×8":                                  {Step: image.Pt(-8, 8)},
		"step is 8×100000":                              {Step: image.Pt(8, 100000)},
		"padding is -1×0, want 0 to 16384 pixels":       {Padding: image.Pt(-1, 0)},
		"padding is 0×1000000":                          {Padding: image.Pt(0, 1e6)},
		"neighbors is -1":                               {Neighbors: -1},
		"density is NaN":                                {Density: nan},
		"minimum size is (-1,0) and maximum size (0,0)": {Min: image.Pt(-1, 0)},
		"minimum size is (0,0) and maximum size (0,-1)": {Max: image.Pt(0, -1)},
		"limit is -1 windows":                           {Limit: -1},
		"more than 3 windows pass (raise the threshold": {Limit: 3, Threshold: -100},
		"workers is -1":                                 {Workers: -1},
		"stopped before the end":                        {Context: done},
	} {
		if all, err := d.Detect(img, &o); all != nil || err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%v, error is %v, want %s", all, err, want)
		} else if o.Context == nil && !errors.Is(err, boxsum.ErrInvalid) || o.Context != nil && !errors.Is(err, context.Canceled) {
			t.Errorf("error is %v", err)
		}
	}
	for want, o := range map[string]hog.WindowOptions{
		"step is 0×8":            {Step: image.Pt(0, 8)},
		"padding is -1×0":        {Padding: image.Pt(-1, 0)},
		"workers is -1":          {Workers: -1},
		"stopped before the end": {Context: done},
	} {
		if all, err := d.Compute(img, &o); all != nil || err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%v, error is %v, want %s", all, err, want)
		}
		if all, err := d.Scores(img, &o); all != nil || err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%v, error is %v, want %s", all, err, want)
		}
	}
	for _, bad := range []boxsum.Image[uint8]{
		{Pix: img.Pix[1:], Width: img.Width, Height: img.Height},
		{Pix: img.Pix, Width: -1, Height: 3},
		{Pix: img.Pix, Width: 50, Height: 40, Channels: 2},
		{Pix: img.Pix, Width: 60, Height: 50, Stride: 59},
	} {
		if _, err := d.Detect(bad, nil); !errors.Is(err, boxsum.ErrInvalid) {
			t.Errorf("error is %v", err)
		}
		if _, err := d.Compute(bad, nil); !errors.Is(err, boxsum.ErrInvalid) {
			t.Errorf("error is %v", err)
		}
	}
	bare, err := hog.New(hog.Config{})
	if err != nil {
		t.Fatal(err)
	}
	for _, none := range []*hog.Descriptor{nil, new(hog.Descriptor), bare} {
		if _, err := none.Detect(img, nil); !errors.Is(err, boxsum.ErrInvalid) {
			t.Errorf("error is %v", err)
		}
		if _, err := none.Scores(img, nil); !errors.Is(err, boxsum.ErrInvalid) {
			t.Errorf("error is %v", err)
		}
	}
	if all, err := d.DetectImage(nil, nil); err != nil || all != nil {
		t.Error(all, err)
	}
	ref.NoPanics(t, (*hog.Descriptor)(nil), new(hog.Descriptor))
}

// TestSmallImages tests images that hold no window, for which OpenCV reads memory outside the image.
func TestSmallImages(t *testing.T) {
	d := detector(t)
	for _, size := range []image.Point{{}, {1, 1}, {31, 200}, {200, 39}, {3, 0}, {0, 3}} {
		img := drawnPattern(size.X, size.Y, 1)
		all, err := d.Detect(img, nil)
		numbers, err1 := d.Compute(img, nil)
		if err != nil || err1 != nil || len(all) != 0 || len(numbers) != 0 {
			t.Errorf("%v: %v, %v, %v, %v", size, all, err, numbers, err1)
		}
	}
	// With padding, they hold some.
	one := drawnPattern(1, 1, 1)
	numbers, err := d.Compute(one, &hog.WindowOptions{Padding: image.Pt(32, 32)})
	if err != nil || len(numbers) != 5*4*d.Size() || slices.Max(numbers) != 0 {
		t.Errorf("%d numbers, %v", len(numbers), err)
	}
	values, err := d.Scores(one, &hog.WindowOptions{At: []image.Point{{}, {-1, 0}, {math.MaxInt, math.MinInt}}})
	if err != nil || !slices.Equal(values, []float64{math.Inf(-1), math.Inf(-1), math.Inf(-1)}) {
		t.Error(values, err)
	}
}

// TestBinsOfRamps tests the definition on images whose gradients all have one direction.
func TestBinsOfRamps(t *testing.T) {
	c := hog.Config{Window: image.Pt(16, 16), Linear: true, Bins: 8, Signed: true, Clip: 2}
	d, err := hog.New(c)
	if err != nil {
		t.Fatal(err)
	}
	for _, v := range []struct {
		dx, dy int
		low    int // the direction lies between this bin and the next
	}{{1, 0, 7}, {1, 1, 0}, {0, 1, 1}, {-1, 1, 2}, {-1, 0, 3}, {-1, -1, 4}, {0, -1, 5}, {1, -1, 6}} {
		img := boxsum.Image[uint8]{Pix: make([]uint8, 40*40), Width: 40, Height: 40}
		for i := range img.Pix {
			img.Pix[i] = uint8(128 + v.dx*(i%40-20)*3 + v.dy*(i/40-20)*3)
		}
		got, err := d.Compute(img, &hog.WindowOptions{At: []image.Point{{10, 10}}})
		if err != nil {
			t.Fatal(err)
		}
		for i, p := range got {
			if want := i%8 == v.low || i%8 == (v.low+1)%8; want != (p > 0.1) && (p < 1e-3) == want {
				t.Errorf("direction %d,%d: bin %d is %v", v.dx, v.dy, i%8, p)
			}
		}
		var sum float64
		for _, p := range got {
			sum += float64(p) * float64(p)
		}
		if math.Abs(sum-1) > 0.01 {
			t.Errorf("the length of a block is %v", math.Sqrt(sum))
		}
	}
}

// TestScores tests that scores are the products of descriptors and coefficients, and that Detect finds those that suffice.
func TestScores(t *testing.T) {
	d := detector(t)
	rng := rand.New(rand.NewPCG(40, 5))
	c := d.Config()
	for range 20 {
		img := drawnPattern(32+rng.IntN(60), 40+rng.IntN(50), []int{1, 3}[rng.IntN(2)])
		o := hog.WindowOptions{Step: image.Pt(1+rng.IntN(12), 1+rng.IntN(12)), Padding: image.Pt(rng.IntN(20), rng.IntN(20))}
		numbers, err := d.Compute(img, &o)
		if err != nil {
			t.Fatal(err)
		}
		values, err := d.Scores(img, &o)
		windows := d.Windows(img.Width, img.Height, &o)
		if err != nil || len(numbers) != len(windows)*d.Size() || len(values) != len(windows) {
			t.Fatal(len(numbers), len(windows), len(values), err)
		}
		single := o
		single.At = windows
		again, err := d.Compute(img, &single)
		if err != nil || !slices.Equal(numbers, again) {
			t.Fatalf("windows one by one have other descriptors, %v", err)
		}
		if again, err := d.Scores(img, &single); err != nil || !slices.Equal(values, again) {
			t.Fatalf("windows one by one have other scores, %v", err)
		}
		var want []image.Rectangle
		bounds := image.Rect(0, 0, img.Width, img.Height)
		for i, at := range windows {
			sum := float64(c.Coefficients[d.Size()])
			for k, v := range numbers[i*d.Size():][:d.Size()] {
				sum += float64(v) * float64(c.Coefficients[k])
			}
			if math.Abs(sum-values[i]) > 1e-4 {
				t.Fatalf("score is %v, want %v", values[i], sum)
			}
			if inside := (image.Rectangle{at, at.Add(c.Window)}).Intersect(bounds); values[i] >= 0.5 && !inside.Empty() {
				want = append(want, inside)
			}
		}
		found, err := d.Detect(img, &hog.Options{Scale: 1, Ungrouped: true, Threshold: 0.5, Step: o.Step, Padding: o.Padding})
		if err != nil || len(found) != len(want) {
			t.Fatalf("%d found, want %d, %v", len(found), len(want), err)
		}
		for i, r := range want {
			if found[i].Rect != r {
				t.Fatalf("%v, want %v", found[i], r)
			}
		}
	}
}

// TestSame tests that results depend only on the image and the options.
func TestSame(t *testing.T) {
	d := detector(t)
	img := drawnPattern(150, 130, 3)
	for _, o := range []hog.Options{{Ungrouped: true}, {Neighbors: 1, Padding: image.Pt(16, 8)}, {MeanShift: true, Threshold: 0.5, Step: image.Pt(4, 12), Limit: 1 << 20}} {
		var want []hog.Result
		for l, level := range boxsum.Levels() {
			for _, workers := range []int{1, 2, 5} {
				o.Level, o.Workers = level, workers
				got, err := d.Detect(img, &o)
				if err != nil {
					t.Fatal(err)
				}
				if l == 0 && workers == 1 {
					want = got
				} else if !slices.Equal(got, want) {
					t.Fatalf("level %v, %d workers: %d results, and not the %d of one worker in portable Go", level, workers, len(got), len(want))
				}
			}
		}
		if len(want) == 0 {
			t.Error("nothing was found")
		}
	}
}

// TestForms tests that strides, channels and types of package image make no difference.
func TestForms(t *testing.T) {
	d := detector(t)
	img := drawnPattern(100, 90, 3)
	o := &hog.Options{Neighbors: 1, Threshold: 0.5}
	want, err := d.Detect(img, o)
	if err != nil || len(want) == 0 {
		t.Fatal(want, err)
	}
	check := func(what string, got []hog.Result, err error) {
		t.Helper()
		if err != nil || !slices.Equal(got, want) {
			t.Errorf("%s: %v, %v, want %v", what, got, err, want)
		}
	}
	wide := boxsum.Image[uint8]{Pix: make([]uint8, 437*img.Height), Stride: 437, Width: img.Width, Height: img.Height, Channels: 4}
	rgba := image.NewNRGBA(image.Rect(-3, 5, img.Width-3, img.Height+5))
	bgr := boxsum.Image[uint8]{Pix: slices.Clone(img.Pix), Width: img.Width, Height: img.Height, Channels: 3}
	for i := range wide.Pix {
		wide.Pix[i] = uint8(i * 77)
	}
	for y := range img.Height {
		for x := range img.Width {
			p := img.Pix[y*img.Stride+3*x:][:3]
			copy(wide.Pix[y*437+4*x:], p)
			copy(rgba.Pix[y*rgba.Stride+4*x:], append(slices.Clone(p), 255))
			q := bgr.Pix[y*img.Stride+3*x:]
			q[0], q[2] = p[2], p[0]
		}
	}
	got, err := d.Detect(wide, o)
	check("4 channels with a stride", got, err)
	got, err = d.DetectImage(rgba, o)
	check("image.NRGBA", got, err)
	blue := *o
	blue.BGR = true
	got, err = d.Detect(bgr, &blue)
	check("BGR", got, err)
	got, err = d.AppendDetect(want[:1:1], img, o)
	check("appended", got[1:], err)

	gray := drawnPattern(100, 90, 1)
	want, err = d.Detect(gray, o)
	if err != nil {
		t.Fatal(err)
	}
	color := boxsum.Image[uint8]{Pix: make([]uint8, 3*100*90), Width: 100, Height: 90, Channels: 3}
	for i, p := range gray.Pix {
		color.Pix[3*i], color.Pix[3*i+1], color.Pix[3*i+2] = p, p, p
	}
	got, err = d.Detect(color, o)
	check("gray in color", got, err)
}

func TestLimits(t *testing.T) {
	d := detector(t)
	img := drawnPattern(150, 130, 1)
	all, err := d.Detect(img, &hog.Options{Ungrouped: true})
	if err != nil || len(all) < 10 {
		t.Fatal(all, err)
	}
	area := image.Rect(0, 0, 80, 60)
	got, err := d.Detect(img, &hog.Options{Ungrouped: true, Ignore: []image.Rectangle{area}})
	want := slices.DeleteFunc(slices.Clone(all), func(r hog.Result) bool { return r.Rect.Min.Add(r.Rect.Max).Div(2).In(area) })
	if err != nil || !slices.Equal(got, want) || len(got) == len(all) {
		t.Errorf("%d of %d are left, want %d: %v", len(got), len(all), len(want), err)
	}
	got, err = d.Detect(img, &hog.Options{Ungrouped: true, Min: image.Pt(36, 36), Max: image.Pt(60, 70)})
	want = slices.DeleteFunc(slices.Clone(all), func(r hog.Result) bool {
		s := r.Rect.Size()
		return s.X < 36 || s.X > 60 || s.Y > 70
	})
	if err != nil || !slices.Equal(got, want) || len(got) == 0 || len(got) == len(all) {
		t.Errorf("%d of %d have the size, want %d: %v", len(got), len(all), len(want), err)
	}
}

func TestContext(t *testing.T) {
	d := detector(t)
	img := drawnPattern(600, 540, 1) // large enough for several reports
	want, err := d.Detect(img, nil)
	if err != nil {
		t.Fatal(err)
	}
	for _, workers := range []int{1, 3} {
		ctx, cancel := context.WithCancel(context.Background())
		reports := 0
		o := hog.Options{Workers: workers, Context: ctx, Progress: func(float64) {
			if reports++; reports == 2 {
				cancel()
			}
		}}
		if all, err := d.Detect(img, &o); !errors.Is(err, context.Canceled) || all != nil {
			t.Errorf("%v, %v", all, err)
		}
		if got, err := d.Detect(img, &hog.Options{Workers: workers}); err != nil || !slices.Equal(got, want) {
			t.Errorf("%v, %v", got, err)
		}
	}
	last := 0.0
	if _, err := d.Detect(img, &hog.Options{Progress: func(done float64) {
		if done < last || done > 1 {
			t.Errorf("%v after %v", done, last)
		}
		last = done
	}}); err != nil || last != 1 {
		t.Error(last, err)
	}
}

func TestAllocations(t *testing.T) {
	d := detector(t)
	var found []hog.Result
	var numbers []float32
	var values []float64
	for _, workers := range []int{1, 2} {
		for _, img := range []boxsum.Image[uint8]{drawnPattern(90, 80, 1), drawnPattern(80, 70, 3)} {
			for _, o := range []*hog.Options{{Workers: workers}, {Workers: workers, MeanShift: true, Threshold: 0.5, Padding: image.Pt(8, 8)}} {
				ref.AllocatesNothing(t, "Detect", func() (err error) {
					found, err = d.AppendDetect(found[:0], img, o)
					return err
				})
			}
			for _, o := range []*hog.WindowOptions{{Workers: workers}, {Workers: workers, At: []image.Point{{3, 4}, {5, 6}}}} {
				ref.AllocatesNothing(t, "Compute", func() (err error) {
					numbers, err = d.AppendCompute(numbers[:0], img, o)
					return err
				})
				ref.AllocatesNothing(t, "Scores", func() (err error) {
					values, err = d.AppendScores(values[:0], img, o)
					return err
				})
			}
		}
	}
}

// TestConcurrent tests that a descriptor can be used by any number of goroutines.
func TestConcurrent(t *testing.T) {
	d := detector(t)
	var all sync.WaitGroup
	for i := range 4 {
		img := drawnPattern(90+10*i, 80, 1+i%2*2)
		all.Go(func() {
			want, err := d.Detect(img, &hog.Options{Ungrouped: true, Workers: 1})
			if err != nil {
				t.Error(err)
			}
			for range 3 {
				if got, err := d.Detect(img, &hog.Options{Ungrouped: true, Workers: 2}); err != nil || !slices.Equal(got, want) {
					t.Error(err, len(got), len(want))
				}
			}
		})
	}
	all.Wait()
}

// TestInvariance tests that descriptors do not change with brightness or, nearly, with contrast.
func TestInvariance(t *testing.T) {
	d, err := hog.New(hog.Config{Window: image.Pt(32, 32), Linear: true})
	if err != nil {
		t.Fatal(err)
	}
	img := drawnPattern(50, 50, 1)
	for i := range img.Pix {
		img.Pix[i] /= 4
	}
	a, err1 := d.Compute(img, nil)
	for i := range img.Pix {
		img.Pix[i] += 100
	}
	b, err2 := d.Compute(img, nil)
	if err1 != nil || err2 != nil || !slices.Equal(a, b) {
		t.Errorf("descriptors depend on brightness, %v, %v", err1, err2)
	}
	for i := range img.Pix {
		img.Pix[i] = (img.Pix[i] - 100) * 3
	}
	b, err = d.Compute(img, nil)
	if err != nil {
		t.Fatal(err)
	}
	for i := range a {
		if math.Abs(float64(a[i]-b[i])) > 0.01 {
			t.Fatalf("number %d is %v with little contrast, and %v with more", i, a[i], b[i])
		}
	}
}

// TestFarAway tests windows in wide padding, which have no pixel of the image itself: they equal those of the whole row.
func TestFarAway(t *testing.T) {
	d, err := hog.New(hog.Config{Window: image.Pt(16, 16)})
	if err != nil {
		t.Fatal(err)
	}
	for _, channels := range []int{1, 3} {
		img := drawnPattern(21, 17, channels)
		o := hog.WindowOptions{Padding: image.Pt(64, 40)}
		all, err := d.Compute(img, &o)
		if err != nil {
			t.Fatal(err)
		}
		at := o
		at.At = d.Windows(img.Width, img.Height, &o)
		if got, err := d.Compute(img, &at); err != nil || !slices.Equal(got, all) {
			t.Errorf("%d channels: single windows differ, %v", channels, err)
		}
	}
}

// TestBatch tests that a batch has the results of its images, for any number of workers.
func TestBatch(t *testing.T) {
	d := detector(t)
	images := []boxsum.Image[uint8]{drawnPattern(90, 70, 3), {Pix: make([]uint8, 90*70*3), Width: 90, Height: 70, Channels: 3}, drawnPattern(90, 70, 3)}
	for i := range images[2].Pix {
		images[2].Pix[i] ^= 0x50
	}
	for _, workers := range []int{1, 2, 3, 8} {
		last := 0.0
		got, err := d.DetectBatch(images, &hog.Options{Workers: workers, Neighbors: 1, Progress: func(done float64) {
			if done < last || done > 1 {
				t.Errorf("%v after %v", done, last)
			}
			last = done
		}})
		if err != nil || len(got) != len(images) || last != 1 {
			t.Fatalf("%d results, %v, progress %v", len(got), err, last)
		}
		for i, img := range images {
			want, err := d.Detect(img, &hog.Options{Neighbors: 1})
			if err != nil || !slices.Equal(got[i], want) || i != 1 && len(want) == 0 {
				t.Errorf("image %d: %v, want %v: %v", i, got[i], want, err)
			}
		}
	}
	if got, err := d.DetectBatch(nil, nil); err != nil || got != nil {
		t.Errorf("%v, %v", got, err)
	}
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if _, err := d.DetectBatch(images, &hog.Options{Context: ctx}); !errors.Is(err, context.Canceled) {
		t.Error(err)
	}
	for want, images := range map[string][]boxsum.Image[uint8]{
		"image 1 of the batch is 20×30 with 3 channels, want 90×70 with 3": {images[0], {Pix: images[0].Pix, Width: 20, Height: 30, Channels: 3}},
		"image 1 of the batch is 90×70 with 1 channels":                    {images[0], {Pix: images[0].Pix, Width: 90, Height: 70}},
		"image 1: ": {images[0], {Width: 90, Height: 70, Channels: 3}},
	} {
		if _, err := d.DetectBatch(images, nil); !errors.Is(err, boxsum.ErrInvalid) || !strings.Contains(err.Error(), want) {
			t.Errorf("%v, want %s", err, want)
		}
	}
	if _, err := (*hog.Descriptor)(nil).DetectBatch(images, nil); !errors.Is(err, boxsum.ErrInvalid) {
		t.Error(err)
	}
	if _, err := d.DetectBatch(images, &hog.Options{Scale: -1}); !errors.Is(err, boxsum.ErrInvalid) {
		t.Error(err)
	}
}

// BenchmarkDetect searches pictures for people with made-up coefficients, which find nothing.
func BenchmarkDetect(b *testing.B) {
	c := hog.Config{}
	d, err := hog.New(c)
	if err != nil {
		b.Fatal(err)
	}
	c.Coefficients = coefficients(rand.New(rand.NewPCG(40, 9)), d.Size(), false)
	if d, err = hog.New(c); err != nil {
		b.Fatal(err)
	}
	for _, size := range []image.Point{{640, 480}, {1920, 1080}} {
		for _, channels := range []int{1, 3} {
			img := drawnPattern(size.X, size.Y, channels)
			for _, workers := range []int{1, 2, 4, 8} {
				b.Run(fmt.Sprintf("batch/%dx%dx%d/workers=%d", size.X, size.Y, channels, workers), func(b *testing.B) {
					for b.Loop() {
						if _, err := d.DetectBatch([]boxsum.Image[uint8]{img, img, img, img, img, img, img, img}, &hog.Options{Workers: workers, Threshold: 100}); err != nil {
							b.Fatal(err)
						}
					}
					b.ReportMetric(float64(b.Elapsed().Milliseconds())/float64(8*b.N), "ms/image")
				})
				b.Run(fmt.Sprintf("%dx%dx%d/workers=%d", size.X, size.Y, channels, workers), func(b *testing.B) {
					var found []hog.Result
					for b.Loop() {
						if found, err = d.AppendDetect(found[:0], img, &hog.Options{Workers: workers, Threshold: 100}); err != nil {
							b.Fatal(err)
						}
					}
				})
			}
		}
	}
}
