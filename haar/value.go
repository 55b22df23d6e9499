package haar

import (
	"image"

	"github.com/boxsum/boxsum"
	"github.com/boxsum/boxsum/internal/raster"
)

// Value returns the value of a feature in the window whose top left pixel is
// at. It returns an error if a part of the feature lies outside the image.
func (p *Plane[V, S]) Value(f Feature, at image.Point) (V, error) {
	if err := p.viewOrNil().checkFeature(&f, at); err != nil {
		return 0, err
	}
	return p.value(&f, at), nil
}

// Corrected returns the value of a feature in the window whose top left pixel
// is at, corrected for uneven areas as described in the package documentation.
// The corrected value is 0 in a flat image. It is also 0 if the boxes with
// positive weights contain no pixel. Corrected returns an error if a part of
// the feature lies outside the image.
func (p *Plane[V, S]) Corrected(f Feature, at image.Point) (float64, error) {
	if err := p.viewOrNil().checkFeature(&f, at); err != nil {
		return 0, err
	}
	return p.corrected(&f, at), nil
}

// Areas returns the number of pixels in the boxes of a feature with positive
// weights and in those with negative weights, each multiplied by the magnitude
// of its box's weight, in the window whose top left pixel is at. It returns an
// error if a part of the feature lies outside the image.
func (p *Plane[V, S]) Areas(f Feature, at image.Point) (plus, minus int64, err error) {
	if err := p.viewOrNil().checkFeature(&f, at); err != nil {
		return 0, 0, err
	}
	plus, minus = p.view.areas(&f, at)
	return plus, minus, nil
}

func (p *view) checkFeature(f *Feature, at image.Point) error {
	if !f.kind.known() {
		return errNone
	}
	if p == nil || !p.upright && p.lattice == nil {
		return errNoPlane
	}
	if !p.inside(at, f.Bounds()) {
		return p.outside(*f, at)
	}
	return nil
}

// read returns the sums of the + and the − boxes, multiplied by their weights.
func (p *Plane[V, S]) read(f *Feature, at image.Point) (plus, minus V) {
	if p.view.lattice != nil {
		return readOwn[V](f, p.view.place(at), p.entry)
	}
	g := p.at(at)
	return read[V](&g, f)
}

func (p *view) areas(f *Feature, at image.Point) (plus, minus int64) {
	if p.lattice != nil {
		return readOwn[int64](f, p.place(at), p.areaEntry)
	}
	return f.areas()
}

// less returns the value of a feature, given the sums of its + and − boxes.
func (p *Plane[V, S]) less(f *Feature, plus, minus V) V {
	if p.table == nil || p.table.Offset == 0 {
		return plus - minus
	}
	plusArea, minusArea := f.areas()
	return plus - minus + p.putBack(plusArea-minusArea)
}

func (p *Plane[V, S]) valueOn(g *mesh[S], f *Feature) V {
	plus, minus := read[V](g, f)
	return p.less(f, plus, minus)
}

func (p *Plane[V, S]) value(f *Feature, at image.Point) V {
	plus, minus := p.read(f, at)
	return p.less(f, plus, minus)
}

func (p *Plane[V, S]) corrected(f *Feature, at image.Point) float64 {
	plus, minus := p.read(f, at)
	plusArea, minusArea := p.view.areas(f, at)
	return correct(plus, minus, plusArea, minusArea)
}

// putBack returns the amount by which a value changes because the table's
// offset was subtracted from every pixel. bias is the sum of the weights times
// areas.
func (p *Plane[V, S]) putBack(bias int64) V {
	return V(float64(p.table.Offset) * float64(bias))
}

// areas returns the number of cells in the + and the − boxes, multiplied by
// their weights. On an upright plane, cells are pixels.
func (f *Feature) areas() (plus, minus int64) {
	for _, p := range shapes[f.kind].boxes {
		area := int64(p.weight) * int64(f.x[p.x1]-f.x[p.x0]) * int64(f.y[p.y1]-f.y[p.y0])
		plus += max(area, 0)
		minus -= min(area, 0)
	}
	return plus, minus
}

var errNone = raster.Invalid("zero Feature (use New)")

// A mesh holds the entries of a summed-area table relative to a window.
// Features are read from a mesh on all planes.
type mesh[S boxsum.Sum] struct {
	sums         []S
	stride, step int // distance to the next entry down, and to the next one to the right
	origin       int // index of the entry at the corner of the window
}

// row returns the entries of line y starting at line x.
func (g *mesh[S]) row(x, y int32) []S { return g.sums[g.origin+int(y)*g.stride+int(x)*g.step:] }

// read returns the sums of the + and the − boxes, multiplied by their weights.
// Each box is summed in the type of the table, in which the sum is exact even
// if entries have wrapped, and converted before it is added to another one.
// Floats are added in the same order as in the loops over all features: down
// first, then across.
func read[V Number, S boxsum.Sum](g *mesh[S], f *Feature) (plus, minus V) {
	left := f.x[0]
	at := func(i int) int { return int(f.x[i]-left) * g.step }
	switch f.kind {
	case EdgeX:
		top, bottom := g.row(left, f.y[0]), g.row(left, f.y[1])
		a, b, c := bottom[0]-top[0], bottom[at(1)]-top[at(1)], bottom[at(2)]-top[at(2)]
		return V(c - b), V(b - a)
	case LineX, LineX4:
		top, bottom := g.row(left, f.y[0]), g.row(left, f.y[1])
		a, b := bottom[0]-top[0], bottom[at(1)]-top[at(1)]
		c, d := bottom[at(2)]-top[at(2)], bottom[at(3)]-top[at(3)]
		return V(c - b), V(b-a) + V(d-c)
	case EdgeY:
		r0, r1, r2 := g.row(left, f.y[0]), g.row(left, f.y[1]), g.row(left, f.y[2])
		x := at(1)
		return V((r2[x] - r1[x]) - (r2[0] - r1[0])), V((r1[x] - r0[x]) - (r1[0] - r0[0]))
	case LineY, LineY4:
		r0, r1, r2, r3 := g.row(left, f.y[0]), g.row(left, f.y[1]), g.row(left, f.y[2]), g.row(left, f.y[3])
		x := at(1)
		return V((r2[x] - r1[x]) - (r2[0] - r1[0])),
			V((r1[x]-r0[x])-(r1[0]-r0[0])) + V((r3[x]-r2[x])-(r3[0]-r2[0]))
	case Diagonal:
		var d [2][3]S
		top, middle, bottom := g.row(left, f.y[0]), g.row(left, f.y[1]), g.row(left, f.y[2])
		for i := range 3 {
			x := at(i)
			d[0][i], d[1][i] = middle[x]-top[x], bottom[x]-middle[x]
		}
		return V(d[0][2]-d[0][1]) + V(d[1][1]-d[1][0]), V(d[0][1]-d[0][0]) + V(d[1][2]-d[1][1])
	default: // CenterSurround
		top, bottom := g.row(left, f.y[0]), g.row(left, f.y[3])
		whole := (bottom[at(3)] - top[at(3)]) - (bottom[0] - top[0])
		top, bottom = g.row(left, f.y[1]), g.row(left, f.y[2])
		center := (bottom[at(2)] - top[at(2)]) - (bottom[at(1)] - top[at(1)])
		return 2 * V(center), V(whole)
	}
}

// correct scales the sum of the + boxes to the area of the − boxes. With the
// sums f and the areas A it returns A₋·f₊/A₊ − f₋, which equals Aα·fβ/Aβ − fα:
// if the boxes lie side by side, Aα is A₊+A₋ and fα is f₊+f₋; if one lies in
// the other, α is − and β is +. The offset subtracted from every pixel,
// [boxsum.Table.Offset], cancels.
func correct[V Number](plus, minus V, plusArea, minusArea int64) float64 {
	if plusArea == 0 {
		return 0 // without pixels, there is nothing to compare
	}
	return float64(minusArea)*float64(plus)/float64(plusArea) - float64(minus)
}
