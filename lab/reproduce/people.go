package reproduce

import (
	"cmp"
	"context"
	"fmt"
	"image"
	"math"
	"math/rand/v2"
	"slices"
	"time"

	"github.com/boxsum/boxsum"
	"github.com/boxsum/boxsum/hog"
	"github.com/boxsum/boxsum/lab/measure"
)

// Bilgic, Horn and Masaki computed integral images for the detection of pedestrians by histograms of
// oriented gradients. This file compares histograms of fixed blocks (package hog's Descriptor) with
// those read from an integral histogram (its BoxDescriptor), on the same drawn pictures.

// People holds the measurements of both descriptors. Times are for one core.
type People struct {
	Size      Size          `json:"size"`       // of the picture whose blocks were timed
	TableTime float64       `json:"table_ms"`   // to make the integral histogram
	Blocks    []BlockTime   `json:"blocks"`     // by size
	Found     []PeopleFound `json:"found"`      // by descriptor
	Trained   [2]int        `json:"trained"`    // windows with and without people to train on
	Tested    [2]int        `json:"tested"`     // and others to test
	FalseRate float64       `json:"false_rate"` // share of the windows without people that are accepted
}

// BlockTime holds the time for a block of a given side in microseconds: all blocks of a picture that are 8
// pixels apart, with their gradients, and reading one from a table.
type BlockTime struct {
	Side   int     `json:"side"`
	Direct float64 `json:"direct_us"`
	Read   float64 `json:"read_us"`
}

// PeopleFound is the percentage of drawn people that a trained detector accepts.
type PeopleFound struct {
	Name   string  `json:"name"`
	Values int     `json:"values"` // of a window
	Found  float64 `json:"found"`
}

// AllDirect returns the time in milliseconds to compute the blocks of all sizes directly.
func (p *People) AllDirect() float64 { return p.all(func(b BlockTime) float64 { return b.Direct }) }

// AllRead returns the time in milliseconds to make the table and read the blocks of all sizes from
// it.
func (p *People) AllRead() float64 {
	return p.TableTime + p.all(func(b BlockTime) float64 { return b.Read })
}

func (p *People) all(time func(BlockTime) float64) (ms float64) {
	for _, b := range p.Blocks {
		ms += float64(len(blockGrid(p.Size, b.Side))) * time(b) / 1e3
	}
	return ms
}

const blockStep = 8 // pixels between blocks

// blockGrid returns the corners of the blocks of a picture, row by row.
func blockGrid(size Size, side int) []image.Point {
	return grid(size.Width-side, size.Height-side, blockStep)
}

// grid returns points from (0, 0) to (width, height), step apart.
func grid(width, height, step int) (all []image.Point) {
	for y := 0; y <= height; y += step {
		for x := 0; x <= width; x += step {
			all = append(all, image.Pt(x, y))
		}
	}
	return all
}

// A canvas is a picture that is being drawn, in shades of gray.
type canvas struct {
	width, height int
	shades        []float64
}

func newCanvas(width, height int, shade float64) *canvas {
	c := &canvas{width, height, make([]float64, width*height)}
	for i := range c.shades {
		c.shades[i] = shade
	}
	return c
}

// paint blends a shade into the pixels of a rectangle that a shape covers. inside returns how many pixels
// a point lies inside the shape.
func (c *canvas) paint(x0, y0, x1, y1, shade float64, inside func(x, y float64) float64) {
	for y := max(0, int(y0)-1); y < min(c.height, int(y1)+2); y++ {
		for x := max(0, int(x0)-1); x < min(c.width, int(x1)+2); x++ {
			cover := min(max(inside(float64(x)+0.5, float64(y)+0.5)+0.5, 0), 1)
			to := &c.shades[y*c.width+x]
			*to += cover * (shade - *to)
		}
	}
}

func (c *canvas) oval(x, y, rx, ry, shade float64) {
	c.paint(x-rx, y-ry, x+rx, y+ry, shade, func(px, py float64) float64 {
		return (1 - math.Hypot((px-x)/rx, (py-y)/ry)) * min(rx, ry)
	})
}

// limb paints a line that is thick at its start and thin at its end.
func (c *canvas) limb(x0, y0, x1, y1, thick, thin, shade float64) {
	dx, dy := x1-x0, y1-y0
	most := max(thick, thin)
	c.paint(min(x0, x1)-most, min(y0, y1)-most, max(x0, x1)+most, max(y0, y1)+most, shade, func(px, py float64) float64 {
		t := min(max(((px-x0)*dx+(py-y0)*dy)/(dx*dx+dy*dy), 0), 1)
		return thick + (thin-thick)*t - math.Hypot(px-x0-t*dx, py-y0-t*dy)
	})
}

func (c *canvas) slab(x0, y0, x1, y1, shade float64) {
	c.paint(x0, y0, x1, y1, shade, func(x, y float64) float64 { return min(x-x0, x1-x, y-y0, y1-y) })
}

// person paints a standing person, whose feet are at (x, y), 96 pixels high.
func (c *canvas) person(rng *rand.Rand, x, y float64) {
	near := func(v, by float64) float64 { return v + by*(2*rng.Float64()-1) }
	s := near(0.96, 0.06) // pixels in a hundredth of the height
	ground := c.shades[min(max(int(y-50), 0), c.height-1)*c.width+min(max(int(x), 0), c.width-1)]
	unlike := func() float64 { // differs from the ground, if only a little
		v := 255 * rng.Float64()
		for math.Abs(v-ground) < 20 {
			v = 255 * rng.Float64()
		}
		return v
	}
	coat, legs, skin, hair := unlike(), unlike(), near(150, 60), near(60, 50)
	stride, swing, lean, hem := near(6, 4), near(4, 4), near(0, 2), near(48, 4)
	limb := func(x0, y0, x1, y1, thick, thin, shade float64) {
		c.limb(x+x0*s, y-y0*s, x+x1*s, y-y1*s, thick*s, thin*s, shade)
	}
	for _, side := range []float64{-1, 1} {
		limb(side*3.6, 50, side*(4+stride)/1.4, 26, 5.4, 4.2, legs)
		limb(side*(4+stride)/1.4, 26, side*stride, 3, 4.2, 2.8, legs)
		limb(side*11, 78, side*(14+swing/2), 62, 3.7, 3.2, 0.82*coat)
		limb(side*(14+swing/2), 62, side*(13.6+swing/2), 48, 3.2, 2.5, 0.82*coat)
	}
	limb(lean, 88, 0, 81, 3, 3.4, skin)
	limb(-6.6, 78, -4.4, hem, 5.6, 6, coat)
	limb(6.6, 78, 4.4, hem, 5.6, 6, coat)
	limb(0, 77, 0, hem, 8, 7, coat)
	c.oval(x+lean*s, y-93.4*s, 6.4*s, 7.2*s, hair)
	c.oval(x+lean*s, y-91.8*s, 5.2*s, 6.4*s, skin)
}

// things paints posts, branches, windows and ovals of the sizes of bodies and heads.
func (c *canvas) things(rng *rand.Rand, n int) {
	for range n {
		x, y, shade := rng.Float64()*float64(c.width), rng.Float64()*float64(c.height), 255*rng.Float64()
		switch rng.IntN(4) {
		case 0:
			c.oval(x, y, 3+15*rng.Float64(), 3+25*rng.Float64(), shade)
		case 1: // a post
			c.limb(x, y, x+6*rng.Float64()-3, y+20+90*rng.Float64(), 2+6*rng.Float64(), 2+6*rng.Float64(), shade)
		case 2: // a branch
			c.limb(x, y, x+80*rng.Float64()-40, y+80*rng.Float64()-40, 1+4*rng.Float64(), 1+4*rng.Float64(), shade)
		case 3:
			c.slab(x, y, x+5+40*rng.Float64(), y+5+60*rng.Float64(), shade)
		}
	}
}

// picture returns the canvas with noise.
func (c *canvas) picture(rng *rand.Rand) boxsum.Image[uint8] {
	img, _ := boxsum.NewImage[uint8](c.width, c.height, 1)
	noise := 2 + 10*rng.Float64()
	for y := range c.height {
		for x, v := range c.shades[y*c.width:][:c.width] {
			img.Pix[y*img.Stride+x] = uint8(min(max(v+noise*rng.NormFloat64(), 0), 255))
		}
	}
	return img
}

// drawnStreet draws things, and a person with their feet in the middle of the lower part if there is to be one.
func drawnStreet(rng *rand.Rand, width, height int, person bool) boxsum.Image[uint8] {
	c := newCanvas(width, height, 255*rng.Float64())
	c.slab(-2, float64(height)*(0.6+0.3*rng.Float64()), float64(width)+2, float64(height)+2, 255*rng.Float64())
	c.things(rng, 3+width*height/2000)
	if person {
		c.person(rng, float64(width)/2+4*rng.Float64()-2, float64(height)/2+48+4*rng.Float64()-2)
		if rng.IntN(3) == 0 { // something stands in front
			x := float64(width)/2 + 60*rng.Float64() - 30
			c.limb(x, float64(height)*rng.Float64(), x, float64(height), 2+5*rng.Float64(), 2+5*rng.Float64(), 255*rng.Float64())
		}
	}
	return c.picture(rng)
}

// trainSVM returns the coefficients of a linear classifier, followed by a constant: those that minimize
// |w|²/2 + c·Σ max(0, 1−y·w·x)² over the rows x, the first of which are positive. It is the dual coordinate
// descent of Hsieh and others ("A dual coordinate descent method for large-scale linear SVM", ICML 2008).
func trainSVM(rng *rand.Rand, rows [][]float32, positive int, c float64) []float32 {
	const rounds = 30
	n := len(rows[0])
	weights, alphas, squares := make([]float64, n+1), make([]float64, len(rows)), make([]float64, len(rows))
	order := make([]int, len(rows))
	for i, row := range rows {
		order[i], squares[i] = i, 1+1/(2*c) // 1 is the constant's
		for _, v := range row {
			squares[i] += float64(v) * float64(v)
		}
	}
	for range rounds {
		rng.Shuffle(len(order), func(i, k int) { order[i], order[k] = order[k], order[i] })
		for _, i := range order {
			side, sum := 1.0, weights[n]
			if i >= positive {
				side = -1
			}
			for k, v := range rows[i] {
				sum += weights[k] * float64(v)
			}
			alpha := max(0, alphas[i]-(side*sum-1+alphas[i]/(2*c))/squares[i])
			if step := side * (alpha - alphas[i]); step != 0 {
				for k, v := range rows[i] {
					weights[k] += step * float64(v)
				}
				weights[n] += step
			}
			alphas[i] = alpha
		}
	}
	coefficients := make([]float32, n+1)
	for k, w := range weights {
		coefficients[k] = float32(w)
	}
	return coefficients
}

var peopleWindow = image.Pt(64, 128)

// manyBlocks returns as many blocks as the usual windows have, of sizes and places chosen at random, in the
// proportions of Zhu and others.
func manyBlocks() (blocks []hog.Block) {
	rng := rand.New(rand.NewPCG(40, 3))
	for len(blocks) < 105 {
		side := 12 + 4*rng.IntN(14)
		size := []image.Point{{side, side}, {side, 2 * side}, {2 * side, side}}[rng.IntN(3)]
		if size.X > peopleWindow.X || size.Y > peopleWindow.Y {
			continue
		}
		corner := image.Pt(4*rng.IntN((peopleWindow.X-size.X)/4+1), 4*rng.IntN((peopleWindow.Y-size.Y)/4+1))
		blocks = append(blocks, hog.Block{Rect: image.Rectangle{Min: corner, Max: corner.Add(size)}})
	}
	return blocks
}

// A contender describes windows in one way, and is trained to tell people.
type contender struct {
	name         string
	describe     func(img boxsum.Image[uint8], at []image.Point) ([]float32, error)
	coefficients []float32
}

// throughTable returns a contender that reads blocks from a table.
func throughTable(name string, blocks []hog.Block) (contender, error) {
	d, err := hog.NewBoxes(hog.BoxConfig{Window: peopleWindow, Blocks: blocks})
	return contender{name: name, describe: func(img boxsum.Image[uint8], at []image.Point) ([]float32, error) {
		t, err := hog.Integrate(img, d.Config().Votes, nil)
		if err != nil {
			return nil, err
		}
		return d.AppendCompute(nil, t, at...)
	}}, err
}

// score returns what the classifier thinks of a window.
func (c *contender) score(window []float32) float64 {
	sum := float64(c.coefficients[len(window)])
	for k, v := range window {
		sum += float64(v) * float64(c.coefficients[k])
	}
	return sum
}

// streets holds drawn pictures: some with a person in the middle, others without any.
type streets struct{ people, empty []boxsum.Image[uint8] }

func drawnStreets(rng *rand.Rand, people, empty int) (s streets) {
	for range people {
		s.people = append(s.people, drawnStreet(rng, peopleWindow.X+2*peopleMargin, peopleWindow.Y+2*peopleMargin, true))
	}
	for range empty {
		s.empty = append(s.empty, drawnStreet(rng, 256, 256, false))
	}
	return s
}

const peopleMargin = 16 // around the window of a person

// windows calls use for the descriptor of each window: those of people first.
func (s *streets) windows(ctx context.Context, c *contender, use func(window []float32, person bool)) error {
	middle, all := []image.Point{{X: peopleMargin, Y: peopleMargin}}, grid(256-peopleWindow.X, 256-peopleWindow.Y, 24)
	for i, img := range slices.Concat(s.people, s.empty) {
		at := all
		if i < len(s.people) {
			at = middle
		}
		numbers, err := c.describe(img, at)
		if err == nil {
			err = ctx.Err()
		}
		if err != nil {
			return err
		}
		for window := range slices.Chunk(numbers, len(numbers)/len(at)) {
			use(window, i < len(s.people))
		}
	}
	return nil
}

// comparePeople trains and tests both descriptors on drawn pictures, and times their blocks.
func comparePeople(ctx context.Context, quick bool) (*People, error) {
	train, test, size, runs := [2]int{400, 120}, [2]int{500, 250}, sized(640, 480), 7 // pictures with and without people
	if quick {
		train, test, size, runs = [2]int{60, 8}, [2]int{60, 20}, sized(320, 240), 3
	}
	p := &People{Size: size, FalseRate: 0.001}
	direct, err := hog.New(hog.Config{Window: peopleWindow})
	if err != nil {
		return nil, err
	}
	usual, err := throughTable("the same blocks, from a table", nil)
	if err != nil {
		return nil, err
	}
	many, err := throughTable("105 blocks of 12×12 to 64×128, from a table", manyBlocks())
	if err != nil {
		return nil, err
	}
	contenders := []contender{{name: "105 blocks of 16×16, weighted by a Gaussian", describe: func(img boxsum.Image[uint8], at []image.Point) ([]float32, error) {
		return direct.Compute(img, &hog.WindowOptions{At: at})
	}}, usual, many}
	rng := rand.New(rand.NewPCG(40, 1))
	known, others := drawnStreets(rng, train[0], train[1]), drawnStreets(rng, test[0], test[1])
	for _, c := range contenders {
		var rows [][]float32
		people := 0
		err := known.windows(ctx, &c, func(window []float32, person bool) {
			if rows = append(rows, window); person {
				people++
			}
		})
		if err != nil {
			return nil, err
		}
		c.coefficients = trainSVM(rand.New(rand.NewPCG(40, 2)), rows, people, 0.01)
		var right, wrong []float64
		err = others.windows(ctx, &c, func(window []float32, person bool) {
			if person {
				right = append(right, c.score(window))
			} else {
				wrong = append(wrong, c.score(window))
			}
		})
		if err != nil {
			return nil, err
		}
		slices.Sort(wrong)
		least, found := wrong[len(wrong)-1-int(p.FalseRate*float64(len(wrong)))], 0
		for _, score := range right {
			if score > least {
				found++
			}
		}
		p.Found = append(p.Found, PeopleFound{c.name, len(rows[0]), 100 * float64(found) / float64(len(right))})
		p.Trained, p.Tested = [2]int{people, len(rows) - people}, [2]int{len(right), len(wrong)}
	}
	return p, p.time(ctx, drawnStreet(rng, size.Width, size.Height, true), runs)
}

// time measures the times of blocks in a picture, in turns.
func (p *People) time(ctx context.Context, img boxsum.Image[uint8], runs int) error {
	table, err := hog.Integrate(img, hog.Votes{}, nil)
	if err == nil {
		err = verifyHistograms(table)
	}
	if err != nil {
		return err
	}
	median := func(work func() error) (float64, error) { // in milliseconds
		var times []time.Duration
		for range runs {
			start := time.Now()
			if err := cmp.Or(work(), ctx.Err()); err != nil {
				return 0, err
			}
			times = append(times, time.Since(start))
		}
		return measure.Median(times), nil
	}
	if p.TableTime, err = median(func() error { return hog.IntegrateInto(table, img, &hog.TableOptions{Workers: 1}) }); err != nil {
		return err
	}
	for _, side := range []int{16, 32, 64, 128} {
		square, half := image.Pt(side, side), image.Pt(side/2, side/2)
		direct, err := hog.New(hog.Config{Window: square, Block: square, Cell: half, Stride: image.Pt(blockStep, blockStep)})
		if err != nil {
			return err
		}
		read, err := hog.NewBoxes(hog.BoxConfig{Window: square, Blocks: []hog.Block{{Rect: image.Rectangle{Max: square}}}})
		if err != nil {
			return err
		}
		at := blockGrid(p.Size, side)
		var numbers []float32
		one, err := median(func() (err error) {
			numbers, err = direct.AppendCompute(numbers[:0], img, &hog.WindowOptions{Workers: 1})
			return err
		})
		if err != nil {
			return err
		}
		other, err := median(func() (err error) {
			numbers, err = read.AppendCompute(numbers[:0], table, at...)
			return err
		})
		if err != nil {
			return err
		}
		n := float64(len(at)) / 1e3
		p.Blocks = append(p.Blocks, BlockTime{side, one / n, other / n})
	}
	return nil
}

// verifyHistograms compares histograms of boxes with the sums of those of their pixels.
func verifyHistograms(t *hog.Table) error {
	rng := rand.New(rand.NewPCG(40, 4))
	bounds := t.Histograms.Bounds()
	for range 50 {
		corner := image.Pt(rng.IntN(bounds.Dx()), rng.IntN(bounds.Dy()))
		box := image.Rectangle{Min: corner, Max: corner.Add(image.Pt(1+rng.IntN(40), 1+rng.IntN(40)))}.Intersect(bounds)
		want := make([]float64, t.Votes().Bins)
		for y := box.Min.Y; y < box.Max.Y; y++ {
			for x := box.Min.X; x < box.Max.X; x++ {
				for i, v := range t.Histogram(nil, image.Rect(x, y, x+1, y+1)) {
					want[i] += v
				}
			}
		}
		if got := t.Histogram(nil, box); !slices.Equal(got, want) {
			return fmt.Errorf("the histogram of %v is %v, want %v", box, got, want)
		}
	}
	return nil
}
