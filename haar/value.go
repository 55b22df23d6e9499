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

func (p *Plane[V, S]) value(f *Feature, at image.Point) V {
	if p.lattice == nil {
		g := p.at(at)
		return p.valueOn(&g, f)
	}
	plus, minus := p.readLattice(f, at)
	return plus - minus
}

func (p *Plane[V, S]) valueOn(g *mesh[S], f *Feature) V {
	plus, minus := read[V](g, f)
	v := plus - minus
	if p.table != nil && p.table.Offset != 0 {
		plusArea, minusArea := f.areas()
		v += p.putBack(plusArea - minusArea)
	}
	return v
}

func (p *Plane[V, S]) corrected(f *Feature, at image.Point) float64 {
	var plus, minus V
	if p.lattice == nil {
		g := p.at(at)
		plus, minus = read[V](&g, f)
	} else {
		plus, minus = p.readLattice(f, at)
	}
	plusArea, minusArea := p.areas(f, at)
	return correct(plus, minus, plusArea, minusArea)
}

func (p *Plane[V, S]) areas(f *Feature, at image.Point) (plus, minus int64) {
	if p.lattice == nil {
		return f.areas()
	}
	return p.latticeAreas(f, at)
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
