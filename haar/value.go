package haar

import (
	"image"

	"github.com/boxsum/boxsum/internal/grid"
)

// Value is the value of a feature of the window that starts at a pixel. The
// feature must lie inside of the image.
func (p *Plane[V, S]) Value(f Feature, at image.Point) (V, error) {
	if err := p.checkFeature(&f, at); err != nil {
		return 0, err
	}
	return p.value(&f, at), nil
}

// Corrected is the value of a feature corrected for uneven areas: 0 in a flat
// image, and where no pixel counts for the feature.
func (p *Plane[V, S]) Corrected(f Feature, at image.Point) (float64, error) {
	if err := p.checkFeature(&f, at); err != nil {
		return 0, err
	}
	return p.corrected(&f, at), nil
}

// Areas is how many pixels count for a feature of the window that starts at a
// pixel, and how many against it, each as often as its weight says.
func (p *Plane[V, S]) Areas(f Feature, at image.Point) (plus, minus int64, err error) {
	if err := p.checkFeature(&f, at); err != nil {
		return 0, 0, err
	}
	plus, minus = p.areas(&f, at)
	return plus, minus, nil
}

func (p *Plane[V, S]) checkFeature(f *Feature, at image.Point) error {
	if !f.kind.known() {
		return errNone
	}
	if p == nil || p.table == nil && p.lattice == nil {
		return errNoPlane
	}
	if !p.inside(at, f.Bounds()) {
		return p.outside(*f, at)
	}
	return nil
}

// read is the sums for and against a feature, times their weights.
func (p *Plane[V, S]) read(f *Feature, at image.Point) (plus, minus V) {
	if p.lattice != nil {
		return readOwn[V](f, p.place(at), p.entry)
	}
	g := p.at(at)
	return read[V](&g, f)
}

func (p *Plane[V, S]) areas(f *Feature, at image.Point) (plus, minus int64) {
	if p.lattice != nil {
		return readOwn[int64](f, p.place(at), p.areaEntry)
	}
	return f.areas()
}

// less is the value that sums for and against a feature make.
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
	plusArea, minusArea := p.areas(f, at)
	return correct(plus, minus, plusArea, minusArea)
}

// putBack is what the table's offset adds to a value whose weights times areas
// come to bias.
func (p *Plane[V, S]) putBack(bias int64) V {
	return V(float64(p.table.Offset) * float64(bias))
}

// areas is the cells for and against a feature, times their weights: pixels on
// an upright plane.
func (f *Feature) areas() (plus, minus int64) {
	for _, p := range shapes[f.kind].boxes {
		area := int64(p.weight) * int64(f.x[p.x1]-f.x[p.x0]) * int64(f.y[p.y1]-f.y[p.y0])
		plus += max(area, 0)
		minus -= min(area, 0)
	}
	return plus, minus
}

var errNone = grid.Invalid("the zero Feature is none; New makes one")
