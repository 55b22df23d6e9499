package detect

import (
	"image"
	"math"

	"github.com/boxsum/boxsum/internal/raster"
)

// A layer is the image at one scale, at which windows have the cascade's size.
type layer struct {
	scale         float32
	width, height int // size of the layer in pixels
	columns, rows int // number of windows, which are step pixels apart
	step          int
	refine        bool // also search the windows next to those that pass
	first         int  // index of its first position in search.places, and of its fractions
	window        image.Point
	level         int // the level of marks for its windows
}

func round32(v float32) int { return int(math.RoundToEven(float64(v))) }

// windowAt returns the window size at a scale.
func (c *Cascade) windowAt(scale float32) image.Point {
	return image.Pt(round32(float32(c.size.X)*scale), round32(float32(c.size.Y)*scale))
}

// layersOf appends the layers of an image, largest first. If coarse is set, windows of
// all layers are two pixels apart, and the windows between them are searched only next to
// one that passes.
func (c *Cascade) layersOf(layers []layer, width, height int, o *Options, coarse bool) ([]layer, error) {
	if least := c.leastScale(); float64(width) < float64(c.size.X)*least || float64(height) < float64(c.size.Y)*least {
		return layers, nil
	}
	largest := o.Max
	if largest.X == 0 || largest.Y == 0 {
		if largest = image.Pt(width, height); c.diagonal || c.lattice != nil {
			largest = image.Pt(math.MaxInt, math.MaxInt) // a side may exceed that of the image
		}
	}
	layers, err := c.scales(layers, width, height, largest, o)
	if err != nil {
		return layers, err
	}
	// Like OpenCV, divide every layer into as many stripes of whole steps as the first
	// layer needs.
	stripes := 0
	used := layers[:0]
	for i := range layers {
		l := layers[i]
		c.setWindows(&l, width, height, coarse)
		columns, rows := l.width+1-c.size.X, l.height+1-c.size.Y
		if i == 0 {
			stripes = (max(columns, 0) + 31) / 32
		}
		if o.Compat && stripes > 0 {
			rows = min(rows, stripes*l.step*max((rows/l.step+stripes-1)/stripes, 1))
		} else if o.Compat {
			rows = 0
		}
		if columns > 0 && rows > 0 {
			l.columns, l.rows = (columns+l.step-1)/l.step, (rows+l.step-1)/l.step
			used = append(used, l)
		}
	}
	return used, nil
}

// scales appends a layer for each scale at which windows have a size from o.Min to largest,
// or one for the scale nearest to o.Min if there is none.
func (c *Cascade) scales(layers []layer, width, height int, largest image.Point, o *Options) ([]layer, error) {
	best, nearest, count, stop := float32(c.leastScale()), math.Inf(1), 0, false
	for f := c.leastScale(); ; f *= o.Scale {
		if math.RoundToEven(float64(c.size.X)*f) > float64(width) || math.RoundToEven(float64(c.size.Y)*f) > float64(height) {
			break
		}
		if count++; count > maxScales {
			return layers, raster.Invalid("scale is %v, which gives more than %d window sizes (use a larger scale)", o.Scale, maxScales)
		}
		s := float32(f)
		size := c.sizeAt(s)
		if size.X > largest.X || size.Y > largest.Y {
			stop = true
		}
		if !stop && size.X >= o.Min.X && size.Y >= o.Min.Y {
			layers = append(layers, layer{scale: s})
		}
		dx, dy := float64(o.Min.X-size.X), float64(o.Min.Y-size.Y)
		d := float64(dx*dx) + float64(dy*dy)
		if o.Compat { // OpenCV computes in int32, which may overflow
			dx, dy := int32(o.Min.X-size.X), int32(o.Min.Y-size.Y)
			d = float64(dx*dx + dy*dy)
		}
		if d < nearest {
			best, nearest = s, d
		}
	}
	if len(layers) == 0 {
		layers = append(layers, layer{scale: best})
	}
	return layers, nil
}

// setWindows sets the sizes of a layer and the distance of its windows.
func (c *Cascade) setWindows(l *layer, width, height int, coarse bool) {
	l.window = c.windowAt(l.scale)
	l.width, l.height = round32(float32(width)/l.scale), round32(float32(height)/l.scale)
	l.step = 2
	if c.lattice != nil {
		l.step, l.refine = c.lattice.step, float64(l.scale)*c.grow() >= 2
	} else if l.scale >= 2 {
		if l.refine = coarse; !coarse {
			l.step = 1
		}
	}
}

// leastScale returns the scale of the largest layer. On a lattice, a unit of the cascade
// covers several pixels, so the largest layers exceed the image.
func (c *Cascade) leastScale() float64 {
	if c.lattice != nil {
		return 1 / c.grow()
	}
	return 1
}

// rect returns the window at (x, y) of the layer, in pixels of the image.
func (l *layer) rect(x, y int) image.Rectangle {
	at := image.Pt(round32(float32(x)*l.scale), round32(float32(y)*l.scale))
	return image.Rectangle{at, at.Add(l.window)}
}
