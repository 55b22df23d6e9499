package detect

import (
	"bytes"
	"encoding/binary"
	"fmt"
	"image"
	_ "image/jpeg"
	_ "image/png"
	"math"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/boxsum/boxsum"
	"github.com/boxsum/boxsum/internal/ref"
	"github.com/boxsum/boxsum/lab/plot"
	"github.com/boxsum/boxsum/rotated"
)

// The figures on rotated objects in notes/detect.md come from here. TestRecall and TestRecallLattice measure the ways to
// find them with the faces in scikit-image's lfw_subset, and draw the curves into the folder BOXSUM_RECALL. They take
// minutes.

const (
	tileSide = 112 // side of a tile with one face, in pixels
	faceSide = 46  // side of the face in it
)

// skimageData returns scikit-image's folder of pictures.
func skimageData(t *testing.T) string {
	t.Helper()
	out, err := exec.Command(ref.Python(t), "-c", "import os, skimage; print(os.path.join(os.path.dirname(skimage.__file__), 'data'))").Output()
	if err != nil {
		t.Fatal(err)
	}
	return strings.TrimSpace(string(out))
}

// facesOf returns n faces of 25×25 pixels.
func facesOf(t *testing.T, dir string, n int) (all []boxsum.Image[uint8]) {
	data, err := os.ReadFile(filepath.Join(dir, "lfw_subset.npy"))
	if err != nil {
		t.Fatal(err)
	}
	data = data[10+int(binary.LittleEndian.Uint16(data[8:])):]
	size := len(data) / (200 * 25 * 25) // of a float32 or float64
	for k := range n {
		img, _ := boxsum.NewImage[uint8](25, 25, 1)
		for i := range img.Pix {
			at := data[(k*625+i)*size:]
			v := 0.0
			if size == 8 {
				v = math.Float64frombits(binary.LittleEndian.Uint64(at))
			} else {
				v = float64(math.Float32frombits(binary.LittleEndian.Uint32(at)))
			}
			img.Pix[i] = uint8(255*v + 0.5)
		}
		all = append(all, img)
	}
	return all
}

// sampled interpolates between pixels and replicates the edges.
func sampled(img boxsum.Image[uint8], x, y float64) float64 {
	x, y = min(max(x, 0), float64(img.Width-1)), min(max(y, 0), float64(img.Height-1))
	i, j := int(x), int(y)
	k, l := min(i+1, img.Width-1), min(j+1, img.Height-1)
	ax, ay := x-float64(i), y-float64(j)
	at := func(i, j int) float64 { return float64(img.Pix[j*img.Stride+i]) }
	return (at(i, j)*(1-ax)+at(k, j)*ax)*(1-ay) + (at(i, l)*(1-ax)+at(k, l)*ax)*ay
}

// tile returns a face rotated clockwise in the center of an image.
func tile(face boxsum.Image[uint8], degrees float64) boxsum.Image[uint8] {
	img, _ := boxsum.NewImage[uint8](tileSide, tileSide, 1)
	sin, cos := math.Sincos(degrees * math.Pi / 180)
	scale := float64(face.Width) / faceSide
	for j := range tileSide {
		for i := range tileSide {
			dx, dy := float64(i)+0.5-tileSide/2, float64(j)+0.5-tileSide/2
			x, y := (dx*cos+dy*sin)*scale+float64(face.Width)/2-0.5, (dy*cos-dx*sin)*scale+float64(face.Height)/2-0.5
			img.Pix[j*img.Stride+i] = uint8(sampled(face, x, y) + 0.5)
		}
	}
	return img
}

// scaled returns an image scaled like the layers of a search.
func scaled(img boxsum.Image[uint8], width, height int) boxsum.Image[uint8] {
	to, _ := boxsum.NewImage[uint8](width, height, 1)
	for j := range height {
		for i := range width {
			to.Pix[j*to.Stride+i] = uint8(sampled(img, (float64(i)+0.5)*float64(img.Width)/float64(width)-0.5, (float64(j)+0.5)*float64(img.Height)/float64(height)-0.5) + 0.5)
		}
	}
	return to
}

// onLattice finds objects rotated by -26.57° on tables along 1/2, where a unit of the cascade is the given number of
// digital lines. With areas, boxes are weighted as if they had their nominal number of pixels.
func onLattice(c *Cascade, img boxsum.Image[uint8], lines float64, areas bool, factor float64) []candidate {
	rot := rotated.Rotation{A: 1, B: 2}
	line := 1 / math.Hypot(1, 0.5) // distance between lines in pixels
	var all []candidate
	w, h := float64(c.size.X), float64(c.size.Y)
	half := func(v float64) int { return int(math.Floor(v*lines + 0.5)) }
	for f := 40 / (lines * line * w); ; f *= factor { // starting with faces of 40 pixels
		unit := lines * line * f // in pixels of the image
		if unit*(w+h)*0.75 > float64(img.Width) || unit*w > 80 {
			break
		}
		layer := scaled(img, int(float64(img.Width)/f+0.5), int(float64(img.Height)/f+0.5))
		t, err := rotated.IntegrateSquares[uint32, uint64](layer, rot, nil)
		if err != nil {
			panic(err)
		}
		step := max(1, int(lines*line+0.5))
		if unit < 2 {
			step = max(step, int(2*lines*line+0.5))
		}
		for y := 0; y < layer.Height; y += step {
			for x := 0; x < layer.Width; x += step {
				// Corners of the window, along (cos, -sin) and (sin, cos).
				cos, sin := 2/math.Sqrt(5), 1/math.Sqrt(5)
				px, py := lines*line*w, lines*line*h
				inside := true
				for _, p := range [3][2]float64{{px * cos, -px * sin}, {py * sin, py * cos}, {px*cos + py*sin, py*cos - px*sin}} {
					qx, qy := float64(x)+p[0], float64(y)+p[1]
					inside = inside && qx >= 0 && qy >= 0 && qx < float64(layer.Width) && qy < float64(layer.Height)
				}
				if !inside {
					continue
				}
				c0, r0 := t.Sum.Cell(x, y)
				boxOf := func(bx, by, bw, bh int) rotated.Box {
					return rotated.Box{C0: c0 + half(float64(bx)), C1: c0 + half(float64(bx+bw)), R0: r0 + half(float64(by)), R1: r0 + half(float64(by+bh))}
				}
				middle := boxOf(1, 1, c.size.X-2, c.size.Y-2)
				n, s, q := float64(t.Sum.Area(middle)), float64(t.Sum.Sum(middle)), float64(t.Squares.Sum(middle))
				sigma := math.Sqrt(max(0, q/n-s/n*s/n))
				if sigma <= 10 {
					continue
				}
				norm := 1 / (float64((c.size.X-2)*(c.size.Y-2)) * sigma)
				score, passed := 0.0, true
				for k := range c.stages {
					st := &c.stages[k]
					score = 0
					for _, tr := range c.trees[st.trees.first:st.trees.end] {
						j := int32(0)
						for j >= 0 {
							nd := &c.nodes[tr.nodes.first+j]
							ft := &c.features[nd.feature]
							v := 0.0
							for i, b := range ft.boxes {
								if ft.weights[i] == 0 {
									continue
								}
								box := boxOf(int(b.x), int(b.y), int(b.w), int(b.h))
								sum := float64(t.Sum.Sum(box))
								if areas {
									sum *= float64(b.w) * float64(b.h) / float64(t.Sum.Area(box))
								} else {
									sum /= lines * lines * line * line
								}
								v += float64(ft.weights[i]) * sum
							}
							if j = nd.right; v*norm < float64(nd.threshold) {
								j = nd.left
							}
						}
						score += float64(c.leaves[tr.leaves.first+^j])
					}
					if score < float64(st.threshold) {
						passed = false
						break
					}
				}
				if passed {
					mx, my := float64(x)+(px*cos+py*sin)/2, float64(y)+(py*cos-px*sin)/2
					size := image.Pt(int(unit*w+0.5), int(unit*h+0.5))
					all = append(all, candidate{rect: aboutPoint(mx*f, my*f, size), score: score, angle: -26.57, stage: int32(len(c.stages))})
				}
			}
		}
	}
	return all
}

// A way is a way to find rotated faces; it returns all windows that pass.
type way struct {
	name string
	find func(img boxsum.Image[uint8]) []candidate
}

// measured holds the recall by angle, and the total number of false detections.
type measured struct {
	recall []float64
	others int
}

// measure returns the results for each number of neighbors.
func (w *way) measure(faces []boxsum.Image[uint8], angles []float64, none []boxsum.Image[uint8], neighbors []int) []measured {
	var g grouper
	all := make([]measured, len(neighbors))
	for i := range all {
		all[i].recall = make([]float64, len(angles))
	}
	bounds := image.Rect(0, 0, tileSide, tileSide)
	for k, a := range angles {
		for _, face := range faces {
			windows := w.find(tile(face, a))
			for i, n := range neighbors {
				hit := false
				for _, r := range g.group(nil, windows, n, bounds) {
					x, y := float64(r.Rect.Min.X+r.Rect.Max.X)/2, float64(r.Rect.Min.Y+r.Rect.Max.Y)/2
					if math.Hypot(x-tileSide/2, y-tileSide/2) < faceSide/4. && math.Abs(math.Log(float64(r.Rect.Dx())/faceSide)) < 0.45 && math.Abs(math.Remainder(r.Angle-a, 360)) < 25 {
						hit = true
					} else {
						all[i].others++
					}
				}
				if hit {
					all[i].recall[k]++
				}
			}
		}
	}
	for i := range all {
		for k := range angles {
			all[i].recall[k] = math.Round(1000*all[i].recall[k]/float64(len(faces))) / 10
		}
	}
	for _, img := range none {
		windows := w.find(img)
		for i, n := range neighbors {
			all[i].others += len(g.group(nil, windows, n, image.Rect(0, 0, img.Width, img.Height)))
		}
	}
	return all
}

// at returns the recall for a number of false detections, interpolated between numbers of neighbors.
func at(all []measured, others float64) float64 {
	mean := func(m measured) float64 {
		sum := 0.0
		for _, v := range m.recall {
			sum += v
		}
		return sum / float64(len(m.recall))
	}
	for i := 1; i < len(all); i++ {
		a, b := all[i-1], all[i]
		if float64(a.others) >= others && float64(b.others) <= others {
			part := 0.0
			if a.others != b.others {
				part = (float64(a.others) - others) / float64(a.others-b.others)
			}
			return mean(a) + part*(mean(b)-mean(a))
		}
	}
	if float64(all[0].others) < others {
		return mean(all[0])
	}
	return mean(all[len(all)-1])
}

// negatives returns photographs without faces.
func negatives(t *testing.T, dir string, width, height int) (none []boxsum.Image[uint8]) {
	for _, name := range []string{"coffee.png", "chelsea.png", "camera.png", "rocket.jpg", "brick.png", "grass.png", "coins.png", "hubble_deep_field.jpg"} {
		data, err := os.ReadFile(filepath.Join(dir, name))
		if err != nil {
			t.Fatal(err)
		}
		photo, _, err := image.Decode(bytes.NewReader(data))
		if err != nil {
			t.Fatal(err)
		}
		none = append(none, scaled(boxsum.Gray(photo), width, height))
	}
	return none
}

// recallFolder returns the folder for plots.
func recallFolder(t *testing.T) string {
	dir := os.Getenv("BOXSUM_RECALL")
	if dir == "" {
		t.Skip("set BOXSUM_RECALL to a folder for plots to measure")
	}
	return dir
}

// inPicture finds upright windows in a picture rotated by an angle, at OpenCV's positions or at those for rotated objects.
func inPicture(t *testing.T, c *Cascade, img boxsum.Image[uint8], degrees float64, least int, coarse bool) []candidate {
	s := new(search)
	var o Options
	if err := (&Options{Min: image.Pt(least, least), Max: image.Pt(80, 80), Workers: 1}).check(&o, &s.set); err != nil {
		t.Fatal(err)
	}
	if degrees < 0 {
		degrees += 360
	}
	// Quarter turns of the cascade are equivalent to those of the picture.
	turn := turning{search: s, image: img, turn: math.Mod(degrees, 90), bounds: image.Rect(0, 0, img.Width, img.Height)}
	if turn.turn != 0 {
		if err := turn.rotate(c, &o); err != nil {
			t.Fatal(err)
		}
	}
	d := direction{quarters: int(math.Floor(degrees / 90))}
	s.resetViews(c.turn(d))
	s.views[0].direction, s.views[0].angle, s.turning, s.coarse = d, math.Remainder(degrees, 360), &turn, coarse
	if err := s.prepare(&turn.image, &o); err != nil {
		t.Fatal(err)
	}
	if err := s.run(); err != nil {
		t.Fatal(err)
	}
	return s.candidates
}

// measureAll measures several ways, and draws the recall with 4 neighbors or more.
func measureAll(t *testing.T, ways []way, faces, none []boxsum.Image[uint8], angles []float64, chart *plot.Chart, others ...float64) {
	for i, w := range ways {
		all := w.measure(faces, angles, none, []int{1, 2, 3, 4, 5, 6, 8, 10, 12, 15, 20, 30})
		t.Logf("%s, %s: %+v", chart.Title, w.name, all)
		text := ""
		for _, n := range others {
			text += fmt.Sprintf(" %.1f", at(all, n))
		}
		t.Logf("   at %v others:%s", others, text)
		s := plot.Series{Name: w.name, Style: plot.Style{Hue: i}}
		for k, a := range angles {
			s.Points = append(s.Points, plot.Point{X: a, Y: all[2].recall[k]})
		}
		chart.Series = append(chart.Series, s)
	}
}

// TestRecall measures all angles, compared with rotating the picture sixteen times.
func TestRecall(t *testing.T) {
	dir, from := recallFolder(t), skimageData(t)
	faces, none := facesOf(t, from, 100), negatives(t, from, 400, 300)
	var angles []float64
	for a := 0.0; a <= 45; a += 7.5 {
		angles = append(angles, a)
	}
	for _, name := range []string{"frontalface_alt2", "frontalface_default"} {
		c, err := LoadFile("/usr/share/opencv4/haarcascades/haarcascade_" + name + ".xml")
		if err != nil {
			t.Fatal(err)
		}
		found := func(img boxsum.Image[uint8], o Options) (windows []candidate) {
			o.Ungrouped, o.Min, o.Max, o.Workers = true, image.Pt(30, 30), image.Pt(80, 80), 1
			all, err := c.Detect(img, &o)
			if err != nil {
				t.Fatal(err)
			}
			for _, r := range all {
				windows = append(windows, candidate{rect: r.Rect, angle: r.Angle, score: r.Score, stage: int32(r.Stage)})
			}
			return windows
		}
		for _, some := range [][]boxsum.Image[uint8]{faces[:50], faces[50:]} {
			chart := plot.Chart{Title: "Faces found, " + name, X: plot.Axis{Label: "turned by, degrees", Zero: true}, Y: plot.Axis{Label: "found, %", Zero: true}}
			measureAll(t, []way{
				{"pictures turned by 22.5°", func(img boxsum.Image[uint8]) (windows []candidate) {
					for a := 0.0; a < 360; a += 22.5 {
						windows = append(windows, inPicture(t, c, img, a, 30, false)...)
					}
					return windows
				}},
				{"AllAngles", func(img boxsum.Image[uint8]) []candidate { return found(img, Options{Angles: AllAngles()}) }},
				{"AllAngles, EachAngle", func(img boxsum.Image[uint8]) []candidate {
					return found(img, Options{Angles: AllAngles(), EachAngle: true})
				}},
				{"AllAngles, TurnTables", func(img boxsum.Image[uint8]) []candidate {
					return found(img, Options{Angles: AllAngles(), Turn: TurnTables})
				}},
				{"upright", func(img boxsum.Image[uint8]) []candidate { return found(img, Options{}) }},
			}, some, none, angles, &chart, 5, 10, 20, 40, 80)
			if &some[0] == &faces[0] {
				save(t, dir, name+"-angles", &chart)
			}
		}
	}
}

// TestRecallLattice measures one direction: tables along 1/2 compared with rotating the picture, for faces of the same sizes.
func TestRecallLattice(t *testing.T) {
	dir, from := recallFolder(t), skimageData(t)
	faces, none := facesOf(t, from, 80)[40:], negatives(t, from, 300, 225)
	c, err := LoadFile("/usr/share/opencv4/haarcascades/haarcascade_frontalface_alt2.xml")
	if err != nil {
		t.Fatal(err)
	}
	lattice := func(name string, lines float64, areas bool) way {
		return way{name, func(img boxsum.Image[uint8]) []candidate { return onLattice(c, img, lines, areas, 1.1) }}
	}
	chart := plot.Chart{Title: "Along 1/2, frontalface_alt2", X: plot.Axis{Label: "turned by, degrees"}, Y: plot.Axis{Label: "found, %", Zero: true}}
	measureAll(t, []way{
		{"picture turned by 26.57°", func(img boxsum.Image[uint8]) []candidate { return inPicture(t, c, img, -26.57, 40, false) }},
		lattice("1/2, a line, sums as they fall", 1, false), lattice("1/2, a line, exact areas", 1, true),
		{"TurnTables", func(img boxsum.Image[uint8]) (windows []candidate) {
			all, err := c.Detect(img, &Options{Ungrouped: true, Min: image.Pt(40, 40), Max: image.Pt(80, 80), Angles: []float64{-26.57}, Turn: TurnTables, Workers: 1})
			if err != nil {
				t.Fatal(err)
			}
			for _, r := range all {
				windows = append(windows, candidate{rect: r.Rect, angle: r.Angle, score: r.Score, stage: int32(r.Stage)})
			}
			return windows
		}},
	}, faces, none, []float64{-41.57, -34.07, -26.57, -19.07, -11.57}, &chart, 0, 1, 2, 5)
	save(t, dir, "frontalface_alt2-lattice", &chart)
}

// save draws a chart.
func save(t *testing.T, dir, name string, c *plot.Chart) {
	if err := c.Check(); err != nil {
		t.Fatal(err)
	}
	var svg, png bytes.Buffer
	if err := plot.SVG(&svg, c); err != nil {
		t.Fatal(err)
	}
	if err := plot.PNG(&png, c); err != nil {
		t.Fatal(err)
	}
	for suffix, b := range map[string]*bytes.Buffer{".svg": &svg, ".png": &png} {
		if err := os.WriteFile(filepath.Join(dir, name+suffix), b.Bytes(), 0o644); err != nil {
			t.Fatal(err)
		}
	}
}
