package haar

import (
	"github.com/boxsum/boxsum"
)

// Features of one kind that start in the same row of the window share their
// strips. A strip holds the differences of two rows of the table, the upper and
// lower edge of a row of boxes; there are strips for each height of a cell. The
// sum of a box is then the difference of two neighbors in memory, and a feature
// takes only one or two reads for each of its boxes.

func (p *Plane[V, S]) block(out []V, scratch []S, g *mesh[S], s *Set, t tile) {
	z := s.sizes(t.kind, t.y)
	sh, left, heights, across := &shapes[t.kind], int(z.widest.lo), int(z.heights), int(z.across)
	entries := int(z.widest.len()) + 1
	if heights == 0 {
		return
	}
	g.strips(scratch, sh, int(z.widest.lo), int(t.y), entries, heights)
	rest, line := out, len(sh.strips)*entries
	for x := left; x+across <= int(z.widest.hi); x++ {
		for i := range heights {
			n := int(z.widths(int32(x), int32(i)+1))
			if n == 0 {
				continue
			}
			if z.skip && i == 0 { // rows start with cells of 1×1
				for dx := 2; dx <= n; dx++ {
					f := newFeature(t.kind, int32(x), t.y, int32(dx), 1)
					rest[dx-2] = p.valueOn(g, &f)
				}
				rest = rest[n-1:]
				continue
			}
			row(t.kind, rest[:n], scratch[i*line+x-left:(i+1)*line], entries)
			rest = rest[n:]
		}
	}
	if p.table != nil && p.table.Offset != 0 && sh.bias != 0 {
		p.putBackAll(out, sh, int(s.window.width), heights)
	}
}

// strips computes the strips of a kind for all heights of a cell, one height
// after the other. The features start in row y, from line x on.
func (g *mesh[S]) strips(dst []S, sh *shape, x, y, entries, heights int) {
	start := g.origin + y*g.stride + x*g.step
	for dy := 1; dy <= heights; dy++ {
		for _, strip := range sh.strips {
			top := g.sums[start+int(strip[0])*dy*g.stride:]
			bottom := g.sums[start+int(strip[1])*dy*g.stride:]
			for i := range entries {
				dst[i] = bottom[i*g.step] - top[i*g.step]
			}
			dst = dst[entries:]
		}
	}
}

// stripsLen returns the maximum length of the strips of a set.
func (s *Set) stripsLen() int {
	if s.kinds == nil {
		return 0
	}
	// No kind has more strips than rows of cells.
	bounds := s.window.bounds()
	return bounds.Dy() * (bounds.Dx() + 1)
}

// putBackAll is like putBack for the values of a block of features of a plain
// window.
func (p *Plane[V, S]) putBackAll(out []V, sh *shape, width, heights int) {
	for x := range width {
		for dy := 1; dy <= heights; dy++ {
			n := (width - x) / int(sh.across())
			for i := range n {
				out[i] += p.putBack(int64(sh.bias) * int64(i+1) * int64(dy))
			}
			out = out[n:]
		}
	}
}

// row evaluates the features of a kind that have their corner at the same place
// and cells of the same height, for cell widths from 1 up. The strips begin at
// that place, and are next elements apart.
func row[V Number, S boxsum.Sum](k Kind, out []V, strips []S, next int) {
	switch k {
	case EdgeX:
		d := strips[:2*len(out)+1]
		for i := range out {
			b := d[i+1]
			out[i] = V(d[2*i+2]-b) - V(b-d[0])
		}
	case LineX:
		d := strips[:3*len(out)+1]
		for i := range out {
			b, c := d[i+1], d[2*i+2]
			out[i] = V(c-b) - (V(b-d[0]) + V(d[3*i+3]-c))
		}
	case LineX4:
		d := strips[:4*len(out)+1]
		for i := range out {
			b, c := d[i+1], d[3*i+3]
			out[i] = V(c-b) - (V(b-d[0]) + V(d[4*i+4]-c))
		}
	case EdgeY:
		top, bottom := strips[:len(out)+1], strips[next:][:len(out)+1]
		for i := range out {
			out[i] = V(bottom[i+1]-bottom[0]) - V(top[i+1]-top[0])
		}
	case LineY, LineY4:
		top, middle, bottom := strips[:len(out)+1], strips[next:][:len(out)+1], strips[2*next:][:len(out)+1]
		for i := range out {
			out[i] = V(middle[i+1]-middle[0]) - (V(top[i+1]-top[0]) + V(bottom[i+1]-bottom[0]))
		}
	case Diagonal:
		top, bottom := strips[:2*len(out)+1], strips[next:][:2*len(out)+1]
		for i := range out {
			t, b := top[i+1], bottom[i+1]
			out[i] = (V(top[2*i+2]-t) + V(b-bottom[0])) - (V(t-top[0]) + V(bottom[2*i+2]-b))
		}
	case CenterSurround:
		whole, center := strips[:3*len(out)+1], strips[next:][:2*len(out)+1]
		for i := range out {
			out[i] = 2*V(center[2*i+2]-center[i+1]) - V(whole[3*i+3]-whole[0])
		}
	}
}
