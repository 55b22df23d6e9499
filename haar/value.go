package haar

import "image"

// Value is the value of a feature of the window that starts at a pixel. The
// feature must lie inside of the image.
func (p *Plane[V, S]) Value(f Feature, at image.Point) (V, error) {
	if err := p.checkFeature(f, at); err != nil {
		return 0, err
	}
	return p.value(&f, p.start(at)), nil
}

// Corrected is the value of a feature corrected for uneven areas: 0 in a flat
// image.
func (p *Plane[V, S]) Corrected(f Feature, at image.Point) (float64, error) {
	if err := p.checkFeature(f, at); err != nil {
		return 0, err
	}
	return p.corrected(&f, p.start(at)), nil
}

func (p *Plane[V, S]) checkFeature(f Feature, at image.Point) error {
	if !f.kind.known() {
		return errNone
	}
	end := f.Bounds().Max
	return p.check(end.X, end.Y, at)
}

// value takes the place of the window's corner in the table.
func (p *Plane[V, S]) value(f *Feature, start int) V {
	plus, minus := p.parts(f, start)
	v := plus - minus
	if offset := p.table.Offset; offset != 0 {
		plusArea, minusArea := p.areas(f)
		v += p.putBack(plusArea - minusArea)
	}
	return v
}

// corrected scales the boxes that count for the feature to the area of those
// that count against it. With f and A of both that is A₋·f₊/A₊ − f₋, the same
// as Aα·fβ/Aβ − fα: where the boxes lie side by side, Aα is A₊+A₋ and fα is
// f₊+f₋; where one lies in the other, α is − and β is +. What was subtracted
// from every pixel, [boxsum.Table.Offset], cancels.
func (p *Plane[V, S]) corrected(f *Feature, start int) float64 {
	plus, minus := p.parts(f, start)
	plusArea, minusArea := p.areas(f)
	return float64(minusArea)*float64(plus)/float64(plusArea) - float64(minus)
}

// putBack is what the table's offset adds to a value whose weights times areas
// come to bias.
func (p *Plane[V, S]) putBack(bias int) V {
	return V(float64(p.table.Offset) * float64(bias))
}

// areas is the pixels for and against a feature, times their weights.
func (p *Plane[V, S]) areas(f *Feature) (plus, minus int) {
	for i := range shapes[f.kind].boxes {
		part := &shapes[f.kind].boxes[i]
		if area := p.area(f.box(part)); part.weight > 0 {
			plus += part.weight * area
		} else {
			minus -= part.weight * area
		}
	}
	return plus, minus
}

// parts is the sums for and against a feature, times their weights. Each box
// is taken in the type of the table, where it may wrap and come out right, and
// widened before it meets another. Of floats, that goes the same way as in the
// loops over all features: down first, then across.
func (p *Plane[V, S]) parts(f *Feature, start int) (plus, minus V) {
	switch f.kind {
	case EdgeX:
		top, bottom := p.row(start, f.y[0]), p.row(start, f.y[1])
		a, b, c := p.down(top, bottom, f.x[0]), p.down(top, bottom, f.x[1]), p.down(top, bottom, f.x[2])
		return V(c - b), V(b - a)
	case LineX, LineX4:
		top, bottom := p.row(start, f.y[0]), p.row(start, f.y[1])
		a, b := p.down(top, bottom, f.x[0]), p.down(top, bottom, f.x[1])
		c, d := p.down(top, bottom, f.x[2]), p.down(top, bottom, f.x[3])
		return V(c - b), V(b-a) + V(d-c)
	case EdgeY:
		l0, r0 := p.pair(start, f, 0)
		l1, r1 := p.pair(start, f, 1)
		l2, r2 := p.pair(start, f, 2)
		return V((r2 - r1) - (l2 - l1)), V((r1 - r0) - (l1 - l0))
	case LineY, LineY4:
		l0, r0 := p.pair(start, f, 0)
		l1, r1 := p.pair(start, f, 1)
		l2, r2 := p.pair(start, f, 2)
		l3, r3 := p.pair(start, f, 3)
		return V((r2 - r1) - (l2 - l1)), V((r1-r0)-(l1-l0)) + V((r3-r2)-(l3-l2))
	case Diagonal:
		var d [2][3]S
		top, middle, bottom := p.row(start, f.y[0]), p.row(start, f.y[1]), p.row(start, f.y[2])
		for i, x := range f.x[:3] {
			m := middle[int(x)*p.step]
			d[0][i], d[1][i] = m-top[int(x)*p.step], bottom[int(x)*p.step]-m
		}
		return V(d[0][2]-d[0][1]) + V(d[1][1]-d[1][0]), V(d[0][1]-d[0][0]) + V(d[1][2]-d[1][1])
	default: // CentreSurround
		top, bottom := p.row(start, f.y[0]), p.row(start, f.y[3])
		whole := p.down(top, bottom, f.x[3]) - p.down(top, bottom, f.x[0])
		top, bottom = p.row(start, f.y[1]), p.row(start, f.y[2])
		centre := p.down(top, bottom, f.x[2]) - p.down(top, bottom, f.x[1])
		return 2 * V(centre), V(whole)
	}
}

// row is the entries of a row of the table from the window's left edge on.
func (p *Plane[V, S]) row(start int, y int32) []S { return p.sums[start+int(y)*p.stride:] }

// down is the sum between two rows of the table left of a line.
func (p *Plane[V, S]) down(top, bottom []S, x int32) S {
	return bottom[int(x)*p.step] - top[int(x)*p.step]
}

// pair is the entries at both ends of line y of a feature of one column.
func (p *Plane[V, S]) pair(start int, f *Feature, y int) (left, right S) {
	row := p.row(start, f.y[y])
	return row[int(f.x[0])*p.step], row[int(f.x[1])*p.step]
}
