package sketch

import (
	"image"
	"image/color"
	"math"

	"golang.org/x/image/vector"
)

// Colors. Blue and orange are the most distinguishable colors of Okabe and Ito's palette.
var (
	plusColor    = color.RGBA{0x00, 0x72, 0xb2, 0xff}
	minusColor   = color.RGBA{0xe6, 0x8a, 0x00, 0xff}
	neitherColor = color.RGBA{0x80, 0x70, 0x90, 0xff}
	paper        = color.RGBA{0xff, 0xff, 0xff, 0xff}
	shaded       = color.RGBA{0xea, 0xee, 0xf2, 0xff}
	ink          = color.RGBA{0x16, 0x1a, 0x20, 0xff}
)

const (
	gridScale = 6  // minimum scale for lines between pixels
	signScale = 14 // minimum scale for signs
)

// Draw draws a figure.
func Draw(f Figure) (*image.RGBA, error) {
	if err := f.check(); err != nil {
		return nil, err
	}
	dst := image.NewRGBA(image.Rect(0, 0, f.View.Dx()*f.Scale+border(f.Scale), f.View.Dy()*f.Scale+border(f.Scale)))
	for y := f.View.Min.Y; y < f.View.Max.Y; y++ {
		for x := f.View.Min.X; x < f.View.Max.X; x++ {
			f.pixel(dst, x, y)
		}
	}
	pen := pen{dst, f.View.Min, float64(f.Scale), float64(border(f.Scale)) / 2}
	width := max(1.5, min(float64(f.Scale)/7, 4))
	for _, b := range f.Boxes {
		if !b.Empty() {
			pen.closed(Corners(f.Lattice, b.Box), width, 0)
		}
	}
	for _, r := range f.Outlines {
		pen.closed(rectangleCorners(r), width*0.75, 3*width)
	}
	return dst, nil
}

// border returns the width of the grid's last line.
func border(scale int) int {
	if scale < gridScale {
		return 0
	}
	return 1
}

// pixel draws one pixel of the image: its color or that of its box, a line on its left and top, and its sign.
func (f *Figure) pixel(dst *image.RGBA, x, y int) {
	c, r := f.Lattice.Cell(x, y)
	under := paper
	if f.Image != nil {
		b := f.Image.Bounds()
		under = color.RGBAModel.Convert(f.Image.At(b.Min.X+x, b.Min.Y+y)).(color.RGBA)
		under.A = 0xff
	} else if r&4 != 0 {
		under = shaded
	}
	weight, covered := weigh(f.Boxes, c, r)
	fill := under
	if covered {
		fill = tinted(under, weight, f.Image != nil)
	}
	line := fill
	if f.Scale >= gridScale {
		line = mix(fill, inkOn(fill, 80), 0.2)
	}
	s := f.Scale
	left, top := (x-f.View.Min.X)*s, (y-f.View.Min.Y)*s
	end := border(s)
	for j := range s + end {
		for i := range s + end {
			at := fill
			if i%s == 0 || j%s == 0 {
				at = line
			}
			if covered && s >= signScale && onSign(i, j, s, weight) {
				at = inkOn(fill, 150)
			}
			dst.SetRGBA(left+i, top+j, at)
		}
	}
}

// tinted returns the color of a covered pixel. Over an image its brightness remains visible.
func tinted(under color.RGBA, weight int, image bool) color.RGBA {
	tint := neitherColor
	switch {
	case weight > 0:
		tint = plusColor
	case weight < 0:
		tint = minusColor
	}
	if !image {
		return mix(under, tint, 0.78)
	}
	return mix(under, tint, 0.52)
}

// onSign reports whether a position in a square of s pixels belongs to its plus or minus.
func onSign(i, j, s, weight int) bool {
	middle := float64(s) / 2
	dx, dy := math.Abs(float64(i)-middle), math.Abs(float64(j)-middle)
	arm, half := float64(s)/5, max(0.5, float64(s)/28)
	return weight != 0 && dx <= arm && dy <= half || weight > 0 && dy <= arm && dx <= half
}

// inkOn returns ink on colors brighter than a gray level, and white on darker ones.
func inkOn(fill color.RGBA, grey int) color.RGBA {
	if 2*int(fill.R)+5*int(fill.G)+int(fill.B) > 8*grey {
		return ink
	}
	return paper
}

func mix(a, b color.RGBA, share float64) color.RGBA {
	one := func(a, b uint8) uint8 { return uint8(math.Round(float64(a)*(1-share) + float64(b)*share)) }
	return color.RGBA{one(a.R, b.R), one(a.G, b.G), one(a.B, b.B), 0xff}
}

// A pen draws lines in the plane of the image.
type pen struct {
	dst    *image.RGBA
	origin image.Point // the pixel in the corner of the picture
	scale  float64
	shift  float64 // for the lines between pixels
}

// closed draws the outline of a rectangle in ink with a white edge, which is visible on any color. Dashes are dash
// pixels long; 0 means a solid line.
func (p *pen) closed(corners [4]Point, width, dash float64) {
	for _, stroke := range []struct {
		color color.RGBA
		width float64
	}{{paper, width + 2}, {ink, width}} {
		bounds := p.dst.Bounds()
		z := vector.NewRasterizer(bounds.Dx(), bounds.Dy())
		for i, from := range corners {
			p.line(z, from, corners[(i+1)%4], stroke.width, dash)
		}
		z.Draw(p.dst, bounds, image.NewUniform(stroke.color), image.Point{})
	}
}

// line adds a line to the shapes that a rasterizer fills.
func (p *pen) line(z *vector.Rasterizer, from, to Point, width, dash float64) {
	ax, ay := p.place(from)
	bx, by := p.place(to)
	length := math.Hypot(bx-ax, by-ay)
	if length == 0 || length > 1<<20 {
		return
	}
	dx, dy := (bx-ax)/length, (by-ay)/length
	step := length
	if dash > 0 {
		step = length / math.Max(1, math.Round(length/(2*dash)))
	}
	h := width / 2
	for at := 0.0; at < length-0.5; at += step {
		end, over := at+step, h // solid lines are extended to meet in corners
		if dash > 0 {
			end, over = at+step*0.6, 0
		}
		for i, q := range [4][2]float64{{at - over, -h}, {end + over, -h}, {end + over, h}, {at - over, h}} {
			x, y := float32(ax+dx*q[0]-dy*q[1]), float32(ay+dy*q[0]+dx*q[1])
			if i == 0 {
				z.MoveTo(x, y)
			} else {
				z.LineTo(x, y)
			}
		}
		z.ClosePath()
	}
}

// place returns the position of a point of the image in the picture.
func (p *pen) place(q Point) (x, y float64) {
	return (q.X-float64(p.origin.X))*p.scale + p.shift, (q.Y-float64(p.origin.Y))*p.scale + p.shift
}
