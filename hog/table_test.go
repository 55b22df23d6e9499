package hog_test

import (
	"context"
	"errors"
	"image"
	"math"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"github.com/boxsum/boxsum"
	"github.com/boxsum/boxsum/hog"
	"github.com/boxsum/boxsum/internal/ref"
)

// gradientVotes returns the votes of each pixel, as the documentation of hog.Table defines them, from
// histograms that Descriptor.Compute does not share: directions by math.Atan2. They may differ by a
// unit from those of the package, whose arctangent is OpenCV's.
func gradientVotes(img boxsum.Image[uint8], v hog.Votes, unit float64) []float64 {
	at := func(x, y int) float64 {
		mirror := func(i, n int) int {
			if n == 1 {
				return 0
			}
			if i < 0 {
				return -i
			}
			if i >= n {
				return 2*(n-1) - i
			}
			return i
		}
		p := float64(img.Pix[mirror(y, img.Height)*img.Stride+mirror(x, img.Width)])
		if !v.Linear {
			p = math.Sqrt(p)
		}
		return p
	}
	turn := math.Pi
	if v.Signed {
		turn *= 2
	}
	all := make([]float64, img.Width*img.Height*v.Bins)
	for y := range img.Height {
		for x := range img.Width {
			dx, dy := at(x+1, y)-at(x-1, y), at(x, y+1)-at(x, y-1)
			angle := math.Atan2(dy, dx)
			place := angle/turn*float64(v.Bins) - 0.5
			low := math.Floor(place)
			part := place - low
			bin := ((int(low) % v.Bins) + v.Bins) % v.Bins
			h := all[(y*img.Width+x)*v.Bins:]
			h[bin] += math.Hypot(dx, dy) * (1 - part) * unit
			h[(bin+1)%v.Bins] += math.Hypot(dx, dy) * part * unit
		}
	}
	return all
}

// spreadVotes spreads votes over neighbors by brute force. Votes outside the image are 0.
func spreadVotes(votes []float64, width, height, bins, reach int) []float64 {
	all := make([]float64, len(votes))
	total := math.Pow(float64(reach), 4)
	for y := range height {
		for x := range width {
			for b := range bins {
				sum := 0.0
				for j := max(0, y-reach); j < min(height, y+reach+1); j++ {
					for i := max(0, x-reach); i < min(width, x+reach+1); i++ {
						weight := float64((reach - abs(i-x)) * (reach - abs(j-y)))
						sum += weight * votes[(j*width+i)*bins+b]
					}
				}
				all[(y*width+x)*bins+b] = math.Floor(sum/total + 0.5)
			}
		}
	}
	return all
}

func abs(i int) int { return max(i, -i) }

// votesOf returns the votes of each pixel, unspread, that the table of an image contains.
func votesOf(t testing.TB, img boxsum.Image[uint8], v hog.Votes, o *hog.TableOptions) []float64 {
	t.Helper()
	v.Spread = 1
	table, err := hog.Integrate(img, v, o)
	if err != nil {
		t.Fatal(err)
	}
	var all []float64
	var h []uint32
	for y := range img.Height {
		for x := range img.Width {
			h = table.Histograms.Histogram(h[:0], image.Rect(x, y, x+1, y+1), 0)
			for _, n := range h {
				all = append(all, float64(n))
			}
		}
	}
	return all
}

// TestVotes tests that pixels vote as the documentation says, up to OpenCV's arctangent.
func TestVotes(t *testing.T) {
	for _, v := range []hog.Votes{{Bins: 9}, {Bins: 12, Linear: true}, {Bins: 18, Signed: true}, {Bins: 2}} {
		img := drawnPattern(61, 47, 1)
		table, err := hog.Integrate(img, v, nil)
		if err != nil {
			t.Fatal(err)
		}
		got, want := votesOf(t, img, v, nil), gradientVotes(img, v, table.Unit())
		turn := 180.0
		if v.Signed {
			turn = 360
		}
		if c := table.Histograms.Bins.Center(0); c != turn/float64(v.Bins)/2 {
			t.Errorf("%+v: the center of bin 0 is %v", v, c)
		}
		for k := range want {
			// OpenCV's arctangent errs by 0.01 degrees; a vote changes by that share of the gradient.
			if math.Abs(got[k]-want[k]) > 1.5+0.02/turn*float64(v.Bins)*360*table.Unit() || got[k] < 0 {
				t.Fatalf("%+v: vote %d is %v, want %v", v, k, got[k], want[k])
			}
		}
	}
}

// TestTable tests that the histogram of any box is the sum of votes that brute force spreads, at every
// level and for any number of workers.
func TestTable(t *testing.T) {
	seed := ref.Seed(t, 40)
	rng := rand.New(rand.NewPCG(seed, 2))
	for range ref.Trials(t, 40) {
		channels := []int{1, 1, 3, 4}[rng.IntN(4)]
		img := drawnPattern(1+rng.IntN(70), 1+rng.IntN(70), channels)
		v := hog.Votes{Bins: 2 + rng.IntN(12), Signed: rng.IntN(2) == 0, Linear: rng.IntN(2) == 0, Spread: []int{1, 2, 4, 8, 16}[rng.IntN(5)]}
		o := hog.TableOptions{Workers: 1 + rng.IntN(3), Level: boxsum.Levels()[rng.IntN(len(boxsum.Levels()))], BGR: rng.IntN(2) == 0}
		table, err := hog.Integrate(img, v, &o)
		if err != nil {
			t.Fatal(err)
		}
		votes := spreadVotes(votesOf(t, img, v, &hog.TableOptions{BGR: o.BGR, Level: boxsum.Levels()[0], Workers: 1}), img.Width, img.Height, v.Bins, v.Spread)
		for range 20 {
			box := image.Rect(rng.IntN(80)-5, rng.IntN(80)-5, rng.IntN(80)-5, rng.IntN(80)-5)
			want := make([]float64, 1+v.Bins)
			for y := max(0, box.Min.Y); y < min(img.Height, box.Max.Y); y++ {
				for x := max(0, box.Min.X); x < min(img.Width, box.Max.X); x++ {
					for b := range v.Bins {
						want[1+b] += votes[(y*img.Width+x)*v.Bins+b] / table.Unit()
					}
				}
			}
			want[0] = 7
			if got := table.Histogram([]float64{7}, box); !slices.Equal(got, want) {
				t.Fatalf("seed %d: %+v, %+v of %d×%d×%d, box %v:\n%v\nwant\n%v", seed, v, o, img.Width, img.Height, channels, box, got, want)
			}
		}
	}
}

// TestTableLarge tests that histograms of boxes whose sums exceed 32 bits are exact.
func TestTableLarge(t *testing.T) {
	const side = 1200
	img, err := boxsum.NewImage[uint8](side, side, 1)
	if err != nil {
		t.Fatal(err)
	}
	for i := range img.Pix { // stripes, two columns each: every gradient is 255
		if i%img.Stride/2%2 == 0 {
			img.Pix[i] = 255
		}
	}
	table, err := hog.Integrate(img, hog.Votes{Bins: 2, Linear: true, Spread: 1}, nil)
	if err != nil {
		t.Fatal(err)
	}
	// The direction, 0° or 180°, lies between the centers of the bins.
	want := 255.0 * (side - 2) * side / 2 // the columns at the edges have no gradient
	if got := table.Histogram(nil, image.Rect(0, 0, side, side)); math.Abs(got[0]-want) > 1e-3*want || math.Abs(got[1]-want) > 1e-3*want {
		t.Errorf("%v, want %v twice", got, want)
	}
	sums := make([]float64, 2)
	for y := range side {
		for i, v := range table.Histogram(nil, image.Rect(0, y, side, y+1)) {
			sums[i] += v
		}
	}
	if got := table.Histogram(nil, table.Histograms.Bounds()); !slices.Equal(got, sums) {
		t.Errorf("%v, want the sum of rows, %v", got, sums)
	}
}

// TestBoxes tests descriptors and scores of random blocks against brute force.
func TestBoxes(t *testing.T) {
	seed := ref.Seed(t, 41)
	rng := rand.New(rand.NewPCG(seed, 3))
	for range ref.Trials(t, 60) {
		c := hog.BoxConfig{Window: image.Pt(8+rng.IntN(60), 8+rng.IntN(60)), Votes: hog.Votes{Bins: 2 + rng.IntN(10), Spread: 1 << rng.IntN(4)}, Clip: []float64{0, 0.1, 2}[rng.IntN(3)]}
		for range 1 + rng.IntN(5) {
			min := image.Pt(rng.IntN(c.Window.X-2), rng.IntN(c.Window.Y-2))
			size := image.Pt(2+rng.IntN(c.Window.X-min.X-1), 2+rng.IntN(c.Window.Y-min.Y-1))
			c.Blocks = append(c.Blocks, hog.Block{Rect: image.Rectangle{min, min.Add(size)}, Cells: image.Pt(1+rng.IntN(2), 1+rng.IntN(2))})
		}
		d, err := hog.NewBoxes(c)
		if err != nil {
			t.Fatal(err)
		}
		c = d.Config()
		c.Coefficients = coefficients(rng, d.Size(), rng.IntN(2) == 0)
		if d, err = hog.NewBoxes(c); err != nil {
			t.Fatal(err)
		}
		img := drawnPattern(50+rng.IntN(60), 50+rng.IntN(60), 1)
		table, err := hog.Integrate(img, c.Votes, nil)
		if err != nil {
			t.Fatal(err)
		}
		at := []image.Point{{rng.IntN(60) - 10, rng.IntN(60) - 10}, {rng.IntN(200) - 100, 3}, {1 << 29, 0}}
		got, err := d.AppendCompute(nil, table, at...)
		if err != nil {
			t.Fatal(err)
		}
		scores, err := d.AppendScores(nil, table, at...)
		if err != nil {
			t.Fatal(err)
		}
		if len(got) != len(at)*d.Size() || len(scores) != len(at) {
			t.Fatalf("%d numbers and %d scores of %d windows", len(got), len(scores), len(at))
		}
		for w, p := range at {
			score := 0.0
			if len(c.Coefficients) > d.Size() {
				score = float64(c.Coefficients[d.Size()])
			}
			row := got[w*d.Size():][:d.Size()]
			for k, v := range row {
				score += float64(v) * float64(c.Coefficients[k])
			}
			if math.Abs(score-scores[w]) > 1e-9 {
				t.Errorf("the score is %v, want %v", scores[w], score)
			}
			for _, b := range c.Blocks {
				var h []float64
				for x := range b.Cells.X {
					for y := range b.Cells.Y {
						cell := image.Rect(x*b.Rect.Dx()/b.Cells.X, y*b.Rect.Dy()/b.Cells.Y, (x+1)*b.Rect.Dx()/b.Cells.X, (y+1)*b.Rect.Dy()/b.Cells.Y)
						h = table.Histogram(h, cell.Add(b.Rect.Min).Add(p))
					}
				}
				for k, want := range normalized(h, c.Clip) {
					if math.Abs(float64(row[k])-want) > 1e-6 {
						t.Fatalf("seed %d: number %d of %+v at %v is %v, want %v", seed, k, b, p, row[k], want)
					}
				}
				row = row[len(h):]
			}
		}
	}
}

// normalized returns numbers normalized by L2-Hys.
func normalized(h []float64, clip float64) []float64 {
	length := func() (sum float64) {
		for _, v := range h {
			sum += v * v
		}
		return math.Sqrt(sum)
	}
	n := length() + 0.1*float64(len(h))
	for i := range h {
		h[i] = math.Min(h[i]/n, clip)
	}
	n = length() + 1e-3
	for i := range h {
		h[i] /= n
	}
	return h
}

// TestBoxesAlike tests that the usual blocks resemble those of a Descriptor, which differ by the
// Gaussian only.
func TestBoxesAlike(t *testing.T) {
	img := drawnPattern(64, 128, 1)
	d, err := hog.New(hog.Config{Sigma: 1e6})
	if err != nil {
		t.Fatal(err)
	}
	b, err := hog.NewBoxes(hog.BoxConfig{})
	if err != nil {
		t.Fatal(err)
	}
	table, err := hog.Integrate(img, hog.Votes{}, nil)
	if err != nil {
		t.Fatal(err)
	}
	want, err := d.Compute(img, nil)
	if err != nil {
		t.Fatal(err)
	}
	got, err := b.AppendCompute(nil, table, image.Point{})
	if err != nil || len(got) != len(want) {
		t.Fatalf("%d numbers, want %d: %v", len(got), len(want), err)
	}
	both, ours, theirs := 0.0, 0.0, 0.0
	for i := range got {
		both += float64(got[i]) * float64(want[i])
		ours += float64(got[i]) * float64(got[i])
		theirs += float64(want[i]) * float64(want[i])
	}
	if c := both / math.Sqrt(ours*theirs); c < 0.95 {
		t.Errorf("the correlation is %v", c)
	}
}

func TestTableRefuses(t *testing.T) {
	img := drawnPattern(30, 20, 1)
	table, err := hog.Integrate(img, hog.Votes{}, nil)
	if err != nil {
		t.Fatal(err)
	}
	if v := table.Votes(); v != (hog.Votes{Bins: 9, Spread: 4}) {
		t.Errorf("%+v", v)
	}
	check := func(want string, err error) {
		t.Helper()
		if err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%v, want %q", err, want)
		}
	}
	for want, v := range map[string]hog.Votes{"bins is 1, want 2 to 256": {Bins: 1}, "bins is -9": {Bins: -9}, "bins is 257": {Bins: 257}, "spread is 3, want 1, 2, 4, 8 or 16": {Spread: 3}, "spread is 32": {Spread: 32}, "spread is -4": {Spread: -4}} {
		_, err := hog.Integrate(img, v, nil)
		check(want, err)
	}
	_, err = hog.Integrate(boxsum.Image[uint8]{}, hog.Votes{}, nil)
	check("", err)
	_, err = hog.Integrate(drawnPattern(30, 20, 2), hog.Votes{}, nil)
	check("2 channels", err)
	_, err = hog.NewTable(1<<30, 1<<30, hog.Votes{})
	check("", err)
	check("image is 31×20, want 30×20", hog.IntegrateInto(table, drawnPattern(31, 20, 1), nil))
	check("nil or empty Table", hog.IntegrateInto(nil, img, nil))
	check("nil or empty Table", hog.IntegrateInto(&hog.Table{}, img, nil))
	check("workers is -1", hog.IntegrateInto(table, img, &hog.TableOptions{Workers: -1}))
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if err := hog.IntegrateInto(table, img, &hog.TableOptions{Context: ctx}); !errors.Is(err, context.Canceled) {
		t.Error(err)
	}
	var none *hog.Table
	if h := none.Histogram(nil, image.Rect(0, 0, 5, 5)); h != nil || none.Unit() != 0 || none.Votes() != (hog.Votes{}) {
		t.Error("a nil table has a histogram")
	}

	p, r := image.Pt, image.Rect
	for want, c := range map[string]hog.BoxConfig{
		"window is 0×8, want sides from 1 to 4096": {Window: p(0, 8)},
		"window is 8×5000":                         {Window: p(8, 5000)},
		"list of blocks is empty, want at least one block in the window of 15×90": {Window: p(15, 90)},
		"block 1 is (0,0)-(65,8), want a rectangle in the window, 64×128":         {Blocks: []hog.Block{{Rect: r(0, 0, 8, 8)}, {Rect: r(0, 0, 65, 8)}}},
		"block 0 is (-1,0)-(8,8)":                                         {Blocks: []hog.Block{{Rect: r(-1, 0, 8, 8)}}},
		"block 0 is (3,0)-(3,8)":                                          {Blocks: []hog.Block{{Rect: r(3, 0, 3, 8)}}},
		"block 0 has 3×1 cells, want 1×1 to 2×8":                          {Blocks: []hog.Block{{Rect: r(0, 0, 2, 8), Cells: p(3, 1)}}},
		"block 0 has -1×1 cells":                                          {Blocks: []hog.Block{{Rect: r(0, 0, 2, 8), Cells: p(-1, 1)}}},
		"block 0 has 2×2 cells, want 1×1 to 1×8":                          {Blocks: []hog.Block{{Rect: r(0, 0, 1, 8)}}},
		"want at most 16777216 (use fewer blocks":                         {Window: p(4096, 4096), Blocks: []hog.Block{{Rect: r(0, 0, 4096, 4096), Cells: p(4096, 4096)}}},
		"number of coefficients is 5, want 3780, or 3781 with a constant": {Coefficients: make([]float32, 5)},
		"clip is NaN":  {Clip: math.NaN()},
		"clip is -1":   {Clip: -1},
		"spread is 5":  {Votes: hog.Votes{Spread: 5}},
		"bins is 1000": {Votes: hog.Votes{Bins: 1000}},
		"coefficient 3779 is NaN, want a finite number": {Coefficients: append(make([]float32, 3779), float32(math.NaN()))},
	} {
		_, err := hog.NewBoxes(c)
		check(want, err)
	}
	d, err := hog.NewBoxes(hog.BoxConfig{})
	if err != nil {
		t.Fatal(err)
	}
	_, err = d.AppendScores(nil, table, p(0, 0))
	check("no coefficients", err)
	_, err = d.AppendCompute(nil, table, p(0, 0), p(1<<31-1, 0))
	check("window 1 is at (2147483647,0)", err)
	_, err = d.AppendCompute(nil, nil)
	check("nil or empty Table", err)
	signed, err := hog.Integrate(img, hog.Votes{Signed: true}, nil)
	if err != nil {
		t.Fatal(err)
	}
	_, err = d.AppendCompute(nil, signed)
	check("Signed:true", err)
	var zero hog.BoxDescriptor
	_, err = zero.AppendCompute(nil, table)
	check("nil or empty BoxDescriptor", err)
	if (*hog.BoxDescriptor)(nil).Size() != 0 {
		t.Error("a nil descriptor has a size")
	}
}

func TestTableAllocations(t *testing.T) {
	img := drawnPattern(200, 150, 1)
	table, err := hog.NewTable(200, 150, hog.Votes{})
	if err != nil {
		t.Fatal(err)
	}
	d, err := hog.NewBoxes(hog.BoxConfig{Coefficients: make([]float32, 3780)})
	if err != nil {
		t.Fatal(err)
	}
	at := []image.Point{{0, 0}, {8, 16}}
	var numbers []float32
	var scores, h []float64
	for _, workers := range []int{1, 2} {
		ref.AllocatesNothing(t, "Integrate", func() error { return hog.IntegrateInto(table, img, &hog.TableOptions{Workers: workers}) })
	}
	ref.AllocatesNothing(t, "blocks", func() (err error) {
		h = table.Histogram(h[:0], image.Rect(5, 5, 50, 50))
		if numbers, err = d.AppendCompute(numbers[:0], table, at...); err == nil {
			scores, err = d.AppendScores(scores[:0], table, at...)
		}
		return err
	})
}

func BenchmarkIntegrate(b *testing.B) {
	img := drawnPattern(640, 480, 1)
	table, err := hog.NewTable(640, 480, hog.Votes{})
	if err != nil {
		b.Fatal(err)
	}
	for b.Loop() {
		if err := hog.IntegrateInto(table, img, &hog.TableOptions{Workers: 1}); err != nil {
			b.Fatal(err)
		}
	}
}

func BenchmarkBoxes(b *testing.B) {
	table, err := hog.Integrate(drawnPattern(640, 480, 1), hog.Votes{}, nil)
	if err != nil {
		b.Fatal(err)
	}
	d, err := hog.NewBoxes(hog.BoxConfig{})
	if err != nil {
		b.Fatal(err)
	}
	var numbers []float32
	for b.Loop() {
		if numbers, err = d.AppendCompute(numbers[:0], table, image.Pt(100, 100)); err != nil {
			b.Fatal(err)
		}
	}
	b.ReportMetric(float64(b.Elapsed().Nanoseconds())/float64(b.N)/105, "ns/block")
}

// TestTableLocal tests that votes depend on the neighbors of a pixel only, and not on the size of the image.
func TestTableLocal(t *testing.T) {
	for _, channels := range []int{1, 3} {
		all := drawnPattern(1047, 40, channels)
		table, err := hog.Integrate(all, hog.Votes{}, nil)
		if err != nil {
			t.Fatal(err)
		}
		for x0 := 0; x0 < all.Width-30; x0 += 13 {
			part := boxsum.Image[uint8]{Pix: all.Pix[x0*channels:], Width: 30, Height: 40, Channels: channels, Stride: all.Stride}
			small, err := hog.Integrate(part, hog.Votes{}, nil)
			if err != nil {
				t.Fatal(err)
			}
			inner := image.Rect(5, 0, 25, 40)
			if got, want := small.Histogram(nil, inner), table.Histogram(nil, inner.Add(image.Pt(x0, 0))); !slices.Equal(got, want) {
				t.Fatalf("%d channels: %v at column %d, want %v", channels, got, x0, want)
			}
		}
	}
}
