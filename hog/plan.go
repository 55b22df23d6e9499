package hog

import (
	"image"
	"math"
)

// A level is the image at one scale, padded.
type level struct {
	scale         float64
	width, height int // without padding
	padding       image.Point
	padded        image.Point // size
	count         image.Point // number of windows
	window        image.Point // in pixels of the image
	sources       int         // index in search.sources of the source of column -1
	places        int         // index in search.places; -1 if the image is not resized
}

// at returns the top left pixel of a window, without padding.
func (l *level) at(step image.Point, x, y int) image.Point {
	return image.Pt(x*step.X-l.padding.X, y*step.Y-l.padding.Y)
}

// rect returns a window in pixels of the image.
func (l *level) rect(step image.Point, x, y int) image.Rectangle {
	p := l.at(step, x, y)
	p = image.Pt(round(float64(p.X)*l.scale), round(float64(p.Y)*l.scale))
	return image.Rectangle{p, p.Add(l.window)}
}

func round(v float64) int { return int(math.RoundToEven(v)) }

// set prepares the level for an image of the given size.
func (l *level) set(d *Descriptor, step, padding image.Point, width, height int) {
	l.width, l.height, l.padding = width, height, padding
	l.padded = image.Pt(width+2*padding.X, height+2*padding.Y)
	l.count = image.Point{}
	if w := d.config.Window; width > 0 && height > 0 && l.padded.X >= w.X && l.padded.Y >= w.Y {
		l.count = image.Pt((l.padded.X-w.X)/step.X+1, (l.padded.Y-w.Y)/step.Y+1)
	}
}

// levelsOf appends the levels in which Detect searches an image, largest first.
func (d *Descriptor) levelsOf(all []level, width, height int, o *Options) []level {
	largest := o.Max
	if largest.X == 0 || largest.Y == 0 {
		largest = image.Pt(math.MaxInt, math.MaxInt)
	}
	window := d.config.Window
	scale := 1.0
	for i := range d.config.Levels {
		w, h := round(float64(width)/scale), round(float64(height)/scale)
		if i > 0 && (w < window.X || h < window.Y) {
			break
		}
		l := level{scale: scale}
		l.window = image.Pt(round(float64(window.X)*scale), round(float64(window.Y)*scale))
		l.set(d, o.Step, o.Padding, w, h)
		if l.count.X > 0 && l.window.X >= o.Min.X && l.window.Y >= o.Min.Y && l.window.X <= largest.X && l.window.Y <= largest.Y {
			all = append(all, l)
		}
		if o.Scale == 1 {
			break
		}
		scale *= o.Scale
	}
	return all
}

// mirrored returns the pixel of n that pixel i stands for outside the image: the border
// mirrors the others without repeating the one at the edge.
func mirrored(i, n int) int {
	if n == 1 {
		return 0
	}
	period := 2 * (n - 1)
	if i %= period; i < 0 {
		i += period
	}
	return min(i, period-i)
}
