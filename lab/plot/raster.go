package plot

import (
	"image"
	"image/color"
	"image/draw"
	"math"

	"golang.org/x/image/font"
	"golang.org/x/image/math/fixed"
	"golang.org/x/image/vector"
)

// raster is a canvas of pixels.
type raster struct {
	image *image.RGBA
	fonts map[face]font.Face
}

func newRaster(width, height float64) *raster {
	r := &raster{image.NewRGBA(image.Rect(0, 0, int(math.Ceil(width*pngScale)), int(math.Ceil(height*pngScale)))), map[face]font.Face{}}
	draw.Draw(r.image, r.image.Rect, image.NewUniform(paper), image.Point{}, draw.Src)
	return r
}

// line fills a rectangle for every segment and a disc for every corner. All have the same winding
// direction, so overlapping parts are covered only once.
func (r *raster) line(points []point, width float64, dash []float64, c color.RGBA) {
	var outlines [][]point
	for _, piece := range cut(points, dash) {
		for i := range len(piece) - 1 {
			a, b := piece[i], piece[i+1]
			length := math.Hypot(b.x-a.x, b.y-a.y)
			if length == 0 {
				continue
			}
			nx, ny := -(b.y-a.y)/length*width/2, (b.x-a.x)/length*width/2
			outlines = append(outlines, []point{{a.x - nx, a.y - ny}, {b.x - nx, b.y - ny}, {b.x + nx, b.y + ny}, {a.x + nx, a.y + ny}})
			if i > 0 && width > 1.5 {
				outlines = append(outlines, placeShape(a, width/2, round))
			}
		}
	}
	r.fill(outlines, c)
}

func (r *raster) area(points []point, width float64, c color.RGBA) {
	if width > 0 {
		r.fill([][]point{points}, paper)
		// Append the first side again, so that every corner is round.
		r.line(append(append([]point(nil), points...), points[0], points[1]), width, nil, c)
		return
	}
	r.fill([][]point{points}, c)
}

// fill fills outlines, within their bounding box.
func (r *raster) fill(outlines [][]point, c color.RGBA) {
	x0, y0, x1, y1 := math.Inf(1), math.Inf(1), math.Inf(-1), math.Inf(-1)
	for _, outline := range outlines {
		for _, p := range outline {
			x0, y0, x1, y1 = min(x0, p.x), min(y0, p.y), max(x1, p.x), max(y1, p.y)
		}
	}
	if x0 > x1 {
		return
	}
	area := image.Rect(int(math.Floor(x0*pngScale)), int(math.Floor(y0*pngScale)), int(math.Ceil(x1*pngScale)), int(math.Ceil(y1*pngScale)))
	z := vector.NewRasterizer(area.Dx(), area.Dy())
	for _, outline := range outlines {
		for i, p := range outline {
			x, y := float32(p.x*pngScale-float64(area.Min.X)), float32(p.y*pngScale-float64(area.Min.Y))
			if i == 0 {
				z.MoveTo(x, y)
			} else {
				z.LineTo(x, y)
			}
		}
		z.ClosePath()
	}
	z.Draw(r.image, area, image.NewUniform(c), image.Point{})
}

func (r *raster) text(at point, anchor float64, s string, f face, c color.RGBA) {
	made, ok := r.fonts[f]
	if !ok {
		made = fontFace(f, pngScale)
		r.fonts[f] = made
	}
	width := float64(font.MeasureString(made, s)) / 64
	d := font.Drawer{Dst: r.image, Src: image.NewUniform(c), Face: made, Dot: fixed.Point26_6{
		X: fixed.Int26_6((at.x*pngScale - anchor*width) * 64), Y: fixed.Int26_6(at.y * pngScale * 64)}}
	d.DrawString(s)
}

// cut splits a line into its dashes.
func cut(points []point, dash []float64) [][]point {
	if dash == nil || len(points) == 0 {
		return [][]point{points}
	}
	var pieces [][]point
	piece := []point{points[0]}
	which, left := 0, dash[0]
	for i := range len(points) - 1 {
		a, b := points[i], points[i+1]
		length := math.Hypot(b.x-a.x, b.y-a.y)
		for done := 0.0; done < length; {
			step := min(left, length-done)
			done += step
			left -= step
			p := point{a.x + (b.x-a.x)*done/length, a.y + (b.y-a.y)*done/length}
			if which%2 == 0 {
				piece = append(piece, p)
			}
			if left > 0 {
				continue
			}
			if which%2 == 0 {
				pieces = append(pieces, piece)
			}
			which++
			left = dash[which%len(dash)]
			piece = []point{p}
		}
	}
	if which%2 == 0 && len(piece) > 1 {
		pieces = append(pieces, piece)
	}
	return pieces
}
