package explore

import (
	"bytes"
	"context"
	_ "embed"
	"fmt"
	"image"
	"math"
	"slices"
	"strings"
	"time"

	"github.com/boxsum/boxsum"
	"github.com/boxsum/boxsum/detect"
	"github.com/boxsum/boxsum/filter"
	"github.com/boxsum/boxsum/histogram"
	"github.com/boxsum/boxsum/match"
	"github.com/boxsum/boxsum/moments"
	"github.com/boxsum/boxsum/threshold"
)

// A filtered is a picture that was made, and the time that took.
type filtered struct {
	pix           []uint8
	width, height int
	took          time.Duration
}

func filteredReply(f *filtered, err error) (any, []byte, error) {
	if err != nil {
		return nil, nil, err
	}
	return map[string]any{"width": f.width, "height": f.height, "format": "gray", "ms": float64(f.took.Microseconds()) / 1000}, f.pix, nil
}

// maxFiltered is the largest picture that is filtered as a slider moves, in pixels.
const maxFiltered = 64 << 20

// maxWindow is the longest side of a window.
const maxWindow = 4095

func windowOf(r *request) (filter.Window, error) {
	side := r.Window
	if side == 0 {
		side = 2*r.Radius + 1
	}
	if side < 1 || side > maxWindow {
		return filter.Window{}, refuse("a window of %d pixels: take 1 to %d", side, maxWindow)
	}
	return filter.Square(side), nil
}

func (r *raster[P, S, Q]) first() boxsum.Image[P] {
	img := r.img
	if img.Channels == 1 {
		return img
	}
	one := boxsum.Image[P]{Pix: make([]P, img.Width*img.Height), Stride: img.Width, Width: img.Width, Height: img.Height, Channels: 1}
	for y := range img.Height {
		from, to := img.Row(y), one.Row(y)
		for x := range to {
			to[x] = from[x*img.Channels]
		}
	}
	return one
}

func (r *raster[P, S, Q]) filter(ctx context.Context, q *request) (*filtered, error) {
	if n := int64(r.img.Width) * int64(r.img.Height); n > maxFiltered {
		return nil, refuse("pictures of up to %d megapixels are filtered here, and this one has %d: use boxsum blur or boxsum local", maxFiltered>>20, n>>20)
	}
	w, err := windowOf(q)
	if err != nil {
		return nil, err
	}
	img, opt := r.first(), &filter.Options{Context: ctx}
	start := time.Now()
	var took time.Duration
	same := func(m boxsum.Image[P], err error) (*filtered, error) {
		took = time.Since(start)
		if err != nil {
			return nil, err
		}
		return drawn(m, r.low, r.high, took), nil
	}
	local := func(m boxsum.Image[float32], low, high float64, err error) (*filtered, error) {
		took = time.Since(start)
		if err != nil {
			return nil, err
		}
		return drawn(m, low, high, took), nil
	}
	switch q.Method {
	case "box":
		return same(filter.Box(img, w, opt))
	case "gaussian":
		if !(q.Sigma > 0 && q.Sigma <= 1000) {
			return nil, refuse("a sigma of %v: take more than 0, and 1000 at most", q.Sigma)
		}
		return same(filter.Gaussian(img, filter.Sigma{X: q.Sigma, Y: q.Sigma}, opt))
	case "median":
		return same(filter.Median(img, w, opt))
	case "guided":
		if !(q.Epsilon > 0 && q.Epsilon <= 1e12) {
			return nil, refuse("an epsilon of %v: take more than 0", q.Epsilon)
		}
		return same(filter.Guided(img, img, w, q.Epsilon, opt))
	case "mean":
		m, err := filter.Mean[float32](img, w, opt)
		return local(m, r.low, r.high, err)
	case "std":
		m, err := filter.StdDev[float32](img, w, opt)
		return local(m, 0, (r.high-r.low)/2, err)
	case "normalize":
		m, err := filter.Normalize[float32](img, w, (r.high-r.low)/255, opt)
		return local(m, -4, 4, err)
	case "entropy":
		of := histogram.Bins{N: 64}
		if r.high != 255 || r.low != 0 {
			of.Low, of.High, of.Clamp = r.low, r.high, true
		}
		m, err := filter.Entropy[float32](img, w, of, opt)
		return local(m, 0, 6, err)
	}
	return nil, refuse("a filter called %q: there are box, gaussian, mean, std, normalize, median, entropy and guided", q.Method)
}

// drawn is an image in shades of gray, with low as black and high as white.
func drawn[P filter.Pixel](m boxsum.Image[P], low, high float64, took time.Duration) *filtered {
	f := &filtered{width: m.Width, height: m.Height, took: took}
	if b, ok := any(m).(boxsum.Image[uint8]); ok && b.Stride == b.Width {
		f.pix = b.Pix[:b.Width*b.Height]
		return f
	}
	t := tile{low: low, scale: 255 / (high - low)}
	f.pix = make([]uint8, m.Width*m.Height)
	for y := range m.Height {
		row := m.Row(y)
		for x := range m.Width {
			f.pix[y*m.Width+x] = shade(float64(row[x]), t)
		}
	}
	return f
}

func thresholdMethods() (list []map[string]any) {
	for _, m := range threshold.Methods() {
		r := threshold.New(m, 75)
		list = append(list, map[string]any{"name": m.String(), "k": r.K, "t": r.T, "c": r.C})
	}
	return list
}

// ruleOf is the rule of a request. K is the number that its method has.
func ruleOf(q *request) (threshold.Rule, error) {
	m, err := threshold.ParseMethod(q.Method)
	if err != nil {
		return threshold.Rule{}, err
	}
	w, err := windowOf(q)
	if err != nil {
		return threshold.Rule{}, err
	}
	rule := threshold.New(m, w.Width)
	if q.K != nil {
		if math.IsNaN(*q.K) || math.Abs(*q.K) > 1e6 {
			return rule, refuse("a k of %v", *q.K)
		}
		switch m {
		case threshold.Bradley:
			rule.T = *q.K
		case threshold.MeanC:
			rule.C = *q.K
		default:
			rule.K = *q.K
		}
	}
	return rule, nil
}

func (r *raster[P, S, Q]) threshold(ctx context.Context, q *request) (*filtered, error) {
	if n := int64(r.img.Width) * int64(r.img.Height); n > maxFiltered {
		return nil, refuse("pictures of up to %d megapixels become black and white here, and this one has %d: use boxsum threshold", maxFiltered>>20, n>>20)
	}
	rule, err := ruleOf(q)
	if err != nil {
		return nil, err
	}
	if s := fmt.Sprintf("%T", *new(P)); strings.HasPrefix(s, "float") && (r.low < 0 || r.high > 1) {
		rule.White, rule.R = r.high, (r.high-r.low)/2
	}
	img := r.first()
	start := time.Now()
	m, err := threshold.Binarize(img, rule, &threshold.Options{Context: ctx})
	took := time.Since(start)
	if err != nil {
		return nil, err
	}
	return drawn(m, 0, 255, took), nil
}

// A matched is the best places of a template.
type matched struct {
	Peaks  []peak  `json:"peaks"`
	Width  int     `json:"width"`
	Height int     `json:"height"`
	Millis float64 `json:"ms"`
}

type peak struct {
	X     int     `json:"x"`
	Y     int     `json:"y"`
	Score float64 `json:"score"`
	SubX  float64 `json:"subx"`
	SubY  float64 `json:"suby"`
}

func (r *raster[P, S, Q]) match(ctx context.Context, q *request) (*matched, error) {
	if n := int64(r.img.Width) * int64(r.img.Height); n > maxFiltered/4 {
		return nil, refuse("templates are looked for in pictures of up to %d megapixels here, and this one has %d: use boxsum match", maxFiltered>>22, n>>20)
	}
	b, err := oneBox(q, 4)
	if err != nil {
		return nil, err
	}
	box := image.Rect(b[0], b[1], b[2], b[3]).Intersect(image.Rect(0, 0, r.img.Width, r.img.Height))
	if box.Dx() < 2 || box.Dy() < 2 {
		return nil, refuse("a template of %d×%d pixels: draw a box of 2×2 or more", box.Dx(), box.Dy())
	}
	method, err := match.ParseMethod(q.Method)
	if err != nil {
		return nil, err
	}
	if q.Top < 1 || q.Top > 1000 {
		return nil, refuse("the best %d places: take 1 to 1000", q.Top)
	}
	img := r.first()
	template := boxsum.Image[P]{Pix: img.Pix[box.Min.Y*img.Stride+box.Min.X:], Stride: img.Stride, Width: box.Dx(), Height: box.Dy(), Channels: 1}
	start := time.Now()
	peaks, err := match.Find(img, template, method, q.Top, &match.Options{Context: ctx})
	if err != nil {
		return nil, err
	}
	a := &matched{Peaks: []peak{}, Width: box.Dx(), Height: box.Dy(), Millis: float64(time.Since(start).Microseconds()) / 1000}
	for _, p := range peaks {
		a.Peaks = append(a.Peaks, peak{p.X, p.Y, float64(p.Score), p.SubX, p.SubY})
	}
	return a, nil
}

func momentsReply(b []int, m moments.Moments) any {
	hu := m.Hu()
	major, minor, angle := m.Ellipse()
	reply := map[string]any{
		"m00": finite(m.M00), "ellipse": finites(major, minor, angle*180/math.Pi), "hu": finites(hu[:]...),
		"raw":     finites(m.M00, m.M10, m.M01, m.M20, m.M11, m.M02, m.M30, m.M21, m.M12, m.M03),
		"central": finites(m.Mu20, m.Mu11, m.Mu02, m.Mu30, m.Mu21, m.Mu12, m.Mu03),
		"normal":  finites(m.Nu20, m.Nu11, m.Nu02, m.Nu30, m.Nu21, m.Nu12, m.Nu03),
	}
	if m.M00 != 0 {
		x, y := m.Centroid()
		reply["centroid"] = finites(float64(max(b[0], 0))+x, float64(max(b[1], 0))+y)
	}
	return reply
}

// sun is a cascade that finds bright discs, so that there is something to find without files of others.
//
//go:embed sun.xml
var sun []byte

// A cascade is one that was loaded.
type cascade struct {
	*detect.Cascade
	bytes int64
}

func looksLikeCascade(data []byte) bool {
	head := data[:min(len(data), 1<<14)]
	return bytes.Contains(head, []byte("<opencv_storage"))
}

func (s *Session) addCascade(name string, data []byte) (any, []byte, error) {
	c, err := detect.Load(bytes.NewReader(data))
	if err != nil {
		return nil, nil, err
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	if len(s.cascades) >= s.limits.Documents {
		return nil, nil, refuse("%d cascades are loaded: that is the most", len(s.cascades))
	}
	name = strings.TrimSuffix(name, ".xml")
	more := int64(len(data))
	if old := s.cascades[name]; old != nil {
		more -= old.bytes
	}
	if s.used+more > s.limits.Bytes {
		return nil, nil, refuse("%s does not fit: this page may hold %s, and has %s", name, size(s.limits.Bytes), size(s.used))
	}
	s.used += more
	s.cascades[name] = &cascade{c, int64(len(data))}
	return map[string]any{"cascade": name, "stages": c.Stages(), "features": c.Features(), "kind": c.Kind().String()}, nil, nil
}

func (s *Session) cascade(name string) (*detect.Cascade, error) {
	s.mu.Lock()
	c := s.cascades[name]
	s.mu.Unlock()
	if c != nil {
		return c.Cascade, nil
	}
	data := sun
	if name != "sun" {
		i := slices.IndexFunc(s.library.Cascades, func(n Named) bool { return n.Name == name })
		if i < 0 {
			return nil, refuse("no cascade is called %.60q: drop an .xml file of OpenCV's onto the page", name)
		}
		var err error
		if data, err = s.library.Cascades[i].Read(); err != nil {
			return nil, err
		}
	}
	loaded, err := detect.Load(bytes.NewReader(data))
	if err != nil {
		return nil, err
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	if len(s.cascades) < s.limits.Documents {
		s.cascades[name] = &cascade{loaded, int64(len(data))}
	}
	return loaded, nil
}

// detect looks for objects in a picture.
func (s *Session) detect(ctx context.Context, doc Document, r *request) (any, []byte, error) {
	d, ok := doc.(*picture)
	if !ok {
		return nil, nil, refuse("objects are looked for in images in memory")
	}
	c, err := s.cascade(r.Cascade)
	if err != nil {
		return nil, nil, err
	}
	if n := int64(d.info.Width) * int64(d.info.Height); n > maxFiltered/4 {
		return nil, nil, refuse("objects are looked for in pictures of up to %d megapixels here, and this one has %d: use boxsum detect", maxFiltered>>22, n>>20)
	}
	opt := &detect.Options{Scale: r.Scale, Neighbors: r.Near, Min: image.Pt(r.Least, r.Least), Context: ctx}
	if r.Angle != 0 {
		opt.Angles = []float64{r.Angle}
	}
	if r.All {
		opt.Angles = detect.AllAngles()
	}
	if r.Scale != 0 && !(r.Scale >= 1.01) {
		return nil, nil, refuse("a scale of %v: take 1.01 or more", r.Scale)
	}
	img := d.plane.gray()
	if img.Channels > 1 {
		return nil, nil, refuse("objects are looked for in gray images, and this has %d channels", img.Channels)
	}
	start := time.Now()
	found, err := c.Detect(img, opt)
	if err != nil {
		return nil, nil, err
	}
	type result struct {
		X         int           `json:"x"`
		Y         int           `json:"y"`
		Width     int           `json:"width"`
		Height    int           `json:"height"`
		Angle     float64       `json:"angle"`
		Neighbors int           `json:"neighbors"`
		Score     float64       `json:"score"`
		Corners   [4][2]float64 `json:"corners"`
	}
	list := []result{}
	for _, f := range found {
		list = append(list, result{f.Rect.Min.X, f.Rect.Min.Y, f.Rect.Dx(), f.Rect.Dy(), f.Angle, f.Neighbors, f.Score, f.Corners()})
	}
	return map[string]any{"found": list, "ms": float64(time.Since(start).Microseconds()) / 1000, "window": []int{c.Window().X, c.Window().Y}}, nil, nil
}
