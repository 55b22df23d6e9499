package detection

import (
	"math"

	"github.com/boxsum/boxsum"
	"github.com/boxsum/boxsum/detect"
	"github.com/boxsum/boxsum/filter"
	"github.com/boxsum/boxsum/internal/y4m"
)

// A drawPlane is a set of samples to draw on: one channel of interleaved pixels, or a plane of a
// frame, in which a sample may cover several pixels.
type drawPlane struct {
	pix           []uint8
	step, stride  int // distance to the next sample, and to the next row
	width, height int
	across, down  float64 // pixels covered by a sample
}

// The color of boxes, Okabe and Ito's orange: red, green, blue and alpha, and luma and chroma.
var (
	boxColor    = [4]uint8{0xe6, 0x9f, 0x00, 0xff}
	boxColorYUV = [4]uint8{0x9b, 0x30, 0xab, 0xff}
)

// planesOf returns the planes of an image, with alpha last.
func planesOf(img boxsum.Image[uint8]) (planes []drawPlane) {
	for c := range img.Channels {
		planes = append(planes, drawPlane{img.Pix[c:], img.Channels, img.Stride, img.Width, img.Height, 1, 1})
	}
	return planes
}

func planesOfFrame(f *y4m.Frame) (planes []drawPlane) {
	first := f.Planes[0]
	for _, p := range f.Planes {
		// Chroma samples at the edge may cover fewer pixels, which does not matter here.
		across, down := math.Round(float64(first.Width)/float64(p.Width)), math.Round(float64(first.Height)/float64(p.Height))
		planes = append(planes, drawPlane{p.Pix, 1, p.Width, p.Width, p.Height, max(across, 1), max(down, 1)})
	}
	return planes
}

// inColor returns an image on which colored boxes can be drawn. If objects are to be hidden it
// returns the image unchanged.
func inColor(img boxsum.Image[uint8], blur bool) (boxsum.Image[uint8], error) {
	if img.Channels > 2 || blur {
		return img, nil
	}
	to, err := boxsum.NewImage[uint8](img.Width, img.Height, img.Channels+2)
	if err != nil {
		return to, err
	}
	for y := range img.Height {
		from, row := img.Row(y), to.Row(y)
		for x := range img.Width {
			p := row[x*to.Channels:][:to.Channels]
			p[0], p[1], p[2] = from[x*img.Channels], from[x*img.Channels], from[x*img.Channels]
			if img.Channels == 2 {
				p[3] = from[2*x+1]
			}
		}
	}
	return to, nil
}

// channelOf returns one channel of an image.
func channelOf(img boxsum.Image[uint8], channel int) (boxsum.Image[uint8], error) {
	to, err := boxsum.NewImage[uint8](img.Width, img.Height, 1)
	for y := range to.Height {
		from, row := img.Row(y), to.Row(y)
		for x := range row {
			row[x] = from[x*img.Channels+channel]
		}
	}
	return to, err
}

// mark draws the results, or hides them.
func mark(planes []drawPlane, results []detect.Result, hide bool, color []uint8) error {
	for _, r := range results {
		for i := range planes {
			if !hide {
				planes[i].outline(r, color[min(i, len(color)-1)])
			} else if err := planes[i].hide(r); err != nil {
				return err
			}
		}
	}
	return nil
}

// A frameOf is the coordinate system of a result: its center is (0, 0), and its edges are at plus
// and minus half its size.
type frameOf struct{ x, y, sin, cos, w, h float64 }

func newFrameOf(r detect.Result) frameOf {
	sin, cos := math.Sincos(r.Angle * math.Pi / 180)
	w, h := float64(r.Rect.Dx())/2, float64(r.Rect.Dy())/2
	return frameOf{float64(r.Rect.Min.X) + w, float64(r.Rect.Min.Y) + h, sin, cos, w, h}
}

// each calls do for all samples whose centers may lie within beyond pixels of a result, with their
// coordinates relative to it.
func (p *drawPlane) each(f frameOf, beyond float64, do func(at int, u, v float64)) {
	reachX := math.Abs(f.cos)*(f.w+beyond) + math.Abs(f.sin)*(f.h+beyond)
	reachY := math.Abs(f.sin)*(f.w+beyond) + math.Abs(f.cos)*(f.h+beyond)
	first := func(v, unit float64) int { return max(0, int(math.Floor(v/unit))) }
	for y := first(f.y-reachY, p.down); y < min(p.height, int(math.Ceil((f.y+reachY)/p.down))); y++ {
		for x := first(f.x-reachX, p.across); x < min(p.width, int(math.Ceil((f.x+reachX)/p.across))); x++ {
			dx, dy := (float64(x)+0.5)*p.across-f.x, (float64(y)+0.5)*p.down-f.y
			do(y*p.stride+x*p.step, dx*f.cos+dy*f.sin, dy*f.cos-dx*f.sin)
		}
	}
}

// outline draws the edges of a result, and a mark at the top of a rotated one.
func (p *drawPlane) outline(r detect.Result, value uint8) {
	f := newFrameOf(r)
	half := max(2, min(f.w, f.h)/20) / 2
	top := 0.0
	if r.Angle != 0 {
		top = f.h / 4
	}
	soft := max(p.across, p.down) / 2
	p.each(f, top+half+1, func(at int, u, v float64) {
		edge := math.Abs(max(math.Abs(u)-f.w, math.Abs(v)-f.h)) // distance from the edge
		if top > 0 {
			edge = min(edge, max(math.Abs(u), -f.h-top-v, v+f.h))
		}
		if share := (half-edge)/(2*soft) + 0.5; share > 0 {
			p.pix[at] = uint8(math.Round(float64(p.pix[at]) + min(share, 1)*(float64(value)-float64(p.pix[at]))))
		}
	})
}

// hide blurs a result and a margin around it until nothing in it can be recognized.
func (p *drawPlane) hide(r detect.Result) error {
	f := newFrameOf(r)
	margin := (f.w + f.h) / 10
	left, top, right, bottom := p.width, p.height, 0, 0
	within := func(u, v float64) bool { return math.Abs(u) <= f.w+margin && math.Abs(v) <= f.h+margin }
	p.each(f, margin, func(at int, u, v float64) {
		if within(u, v) {
			x, y := at%p.stride/p.step, at/p.stride
			left, right, top, bottom = min(left, x), max(right, x+1), min(top, y), max(bottom, y+1)
		}
	})
	if left >= right {
		return nil
	}
	part, err := boxsum.NewImage[uint8](right-left, bottom-top, 1)
	if err != nil {
		return err
	}
	for y := range part.Height {
		for x := range part.Width {
			part.Pix[y*part.Stride+x] = p.pix[(top+y)*p.stride+(left+x)*p.step]
		}
	}
	const share = 0.3 // of half the size: a few spots of color remain of a face
	soft, err := filter.Gaussian(part, filter.Sigma{X: share * (f.w + f.h) / 2 / p.across, Y: share * (f.w + f.h) / 2 / p.down}, &filter.Options{Border: filter.Clip})
	if err != nil {
		return err
	}
	p.each(f, margin, func(at int, u, v float64) {
		if within(u, v) {
			x, y := at%p.stride/p.step, at/p.stride
			p.pix[at] = soft.Pix[(y-top)*soft.Stride+x-left]
		}
	})
	return nil
}
