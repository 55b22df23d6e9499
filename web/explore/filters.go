package explore

import (
	"bytes"
	"context"
	_ "embed"
	"image"
	"math"
	"slices"
	"strings"
	"time"

	"github.com/boxsum/boxsum"
	"github.com/boxsum/boxsum/detect"
	"github.com/boxsum/boxsum/imgio"
	"github.com/boxsum/boxsum/internal/filters"
	"github.com/boxsum/boxsum/internal/matching"
	"github.com/boxsum/boxsum/internal/raster"
	"github.com/boxsum/boxsum/internal/thresholds"
	"github.com/boxsum/boxsum/match"
	"github.com/boxsum/boxsum/moments"
	"github.com/boxsum/boxsum/threshold"
)

// filtered is the picture that a filter computed: one byte per pixel in gray, or red, green, blue and alpha.
type filtered struct {
	pix           []uint8
	width, height int
	color         bool
	scale         int // 1, or n if the picture was computed from the image at 1:n
	took          time.Duration
}

func newFiltered(width, height, channels int) *filtered {
	f := &filtered{width: width, height: height, color: channels > 1, scale: 1}
	if !f.color {
		f.pix = make([]uint8, width*height)
		return f
	}
	f.pix = bytes.Repeat([]uint8{0, 0, 0, 255}, width*height)
	return f
}

func (f *filtered) set(x, y, channel int, v uint8) {
	if i := y*f.width + x; f.color {
		f.pix[4*i+channel] = v
	} else {
		f.pix[i] = v
	}
}

// takeAlpha copies the alpha channel of an image with four channels.
func (f *filtered) takeAlpha(img raster.Array, s *screen) {
	if img.Channels != 4 {
		return
	}
	for j := range f.height {
		for i := range f.width {
			x, y := i, j
			if s != nil {
				x, y = s.column(i), s.row(j)
			}
			f.set(i, j, 3, img.Data[y*img.Stride+4*x+3])
		}
	}
}

// reply returns the pixels, or a PNG file of them.
func (f *filtered) reply(file bool) (any, []byte, error) {
	format, pix := "gray", f.pix
	if f.color {
		format = "rgba"
	}
	if file {
		img := boxsum.Image[uint8]{Pix: f.pix, Stride: f.width, Width: f.width, Height: f.height, Channels: 1}
		if f.color {
			img.Stride, img.Channels = 4*f.width, 4
		}
		var b bytes.Buffer
		if err := imgio.Encode(&b, "png", img); err != nil {
			return nil, nil, err
		}
		format, pix = "png", b.Bytes()
	}
	return map[string]any{"width": f.width, "height": f.height, "format": format, "scale": f.scale, "ms": float64(f.took.Microseconds()) / 1000}, pix, nil
}

// maxFiltered is the largest picture that is filtered as a whole, in pixels.
const maxFiltered = 64 << 20

// maxWindow is the longest side of a window.
const maxWindow = 4095

// maxSigma is the widest Gaussian.
const maxSigma = 1000

func windowOf(r *request) (filters.Window, error) {
	side := r.Window
	if side == 0 {
		side = 2*r.Radius + 1
	}
	if side < 1 || side > maxWindow {
		return filters.Window{}, refuse("the window is %d pixels wide, want 1 to %d", side, maxWindow)
	}
	return square(side), nil
}

func square(side int) filters.Window { return filters.Window{Width: side, Height: side} }

// of returns the channels of the image as an image.
func (r *plane) of(channels ...int) raster.Array { return pick(r.img, channels) }

// whole returns an error if the image is too large to be filtered at once. command is the subcommand to suggest.
func (r *plane) whole(command string) error {
	if n := int64(r.img.Width) * int64(r.img.Height); n > maxFiltered {
		return refuse("the image has %d megapixels, want at most %d to save on this page (use boxsum %s)", n>>20, maxFiltered>>20, command)
	}
	return nil
}

// filter filters some channels, for the pixels of a screen or, if s is nil, the whole image.
func (r *plane) filter(ctx context.Context, q *request, s *screen, channels []int) (*filtered, error) {
	w, err := windowOf(q)
	if err != nil {
		return nil, err
	}
	f := &filtering{request: q, window: w, low: r.low, high: r.high}
	start := time.Now()
	if s != nil {
		if by := filterRule(f, !r.img.Type.Float()); by != nil {
			if made, err := r.byTables(ctx, s, by, channels); made != nil || err != nil {
				return made, err
			}
		}
	}
	p := &reduced{n: 1}
	if s == nil {
		if err := r.whole("blur or boxsum local"); err != nil {
			return nil, err
		}
		p.img = r.of(channels...)
	} else {
		margin := max(w.Width, w.Height) // twice the radius, which the guided filter needs
		part := s
		switch q.Method {
		case "gaussian":
			margin = int(5*min(max(q.Sigma, 0), maxSigma)) + 5
		case "denoise":
			margin = searchReach + patchReach
		case "clahe": // its tiles cover the whole image
			part, margin = &screen{image.Rect(0, 0, r.img.Width, r.img.Height), s.w, s.h}, 0
		}
		if p, err = r.screenPart(ctx, part, margin, channels, q.Quick); err != nil {
			return nil, err
		}
		scaled := *q
		f.request = &scaled
		scaled.Sigma = q.Sigma / float64(p.n)
		if p.n > 1 {
			f.window = square(2*reduceBy(w.Width/2, p.n) + 1)
		}
	}
	made, err := f.apply(ctx, p.img)
	took := time.Since(start)
	if err != nil {
		return nil, err
	}
	t := tile{low: f.low, scale: 255 / (f.high - f.low)}
	if s != nil {
		return s.show(p, made, t, len(channels), took), nil
	}
	return drawn(made, t, took), nil
}

// filtering is a filter with the values that are drawn as black and white.
type filtering struct {
	*request
	window    filters.Window
	low, high float64
}

// apply filters an image.
func (f *filtering) apply(ctx context.Context, img raster.Array) (raster.Array, error) {
	j := filters.Job{Src: img, Window: f.window}
	j.Options.Context = ctx
	result := img.Type
	switch f.Method {
	case "box":
		j.Kind = filters.Mean
	case "gaussian":
		if !(f.Sigma > 0 && f.Sigma <= maxSigma) {
			return img, refuse("sigma is %v, want more than 0 and at most %d", f.Sigma, maxSigma)
		}
		j.Kind, j.Sigma = filters.Gaussian, filters.Sigma{X: f.Sigma, Y: f.Sigma}
	case "median":
		j.Kind = filters.Median
	case "guided":
		if !(f.Epsilon > 0 && f.Epsilon <= 1e12) {
			return img, refuse("epsilon is %v, want more than 0", f.Epsilon)
		}
		j.Kind, j.Guide, j.Epsilon = filters.Guided, img, f.Epsilon // a color image is guided by its colors
	case "mean":
		j.Kind, result = filters.Mean, raster.F32
	case "std":
		f.low, f.high = 0, (f.high-f.low)/2
		j.Kind, result = filters.Deviation, raster.F32
	case "normalize":
		j.Kind, j.Floor, result = filters.Normalized, (f.high-f.low)/255, raster.F32
		f.low, f.high = -4, 4
	case "entropy":
		j.Kind, j.Bins.N, result = filters.Entropy, 64, raster.F32
		if f.high != 255 || f.low != 0 {
			j.Bins.Low, j.Bins.High, j.Bins.Clamp = f.low, f.high, true
		}
		f.low, f.high = 0, 6
	case "percentile", "equalize", "clahe", "denoise":
		return f.byLevels(ctx, img)
	default:
		return img, refuse("unknown filter %q: use box, gaussian, mean, std, normalize, median, entropy, guided, percentile, equalize, clahe or denoise", f.Method)
	}
	return j.Make(result)
}

// drawn returns an image as displayed by the page.
func drawn(src raster.Array, t tile, took time.Duration) *filtered {
	if src.Type == raster.U8 && src.Channels == 1 && src.Stride == src.Width && t.low == 0 && t.scale == 1 {
		return &filtered{pix: src.Data[:src.Width*src.Height], width: src.Width, height: src.Height, scale: 1, took: took}
	}
	f := newFiltered(src.Width, src.Height, src.Channels)
	f.took = took
	var row []float64
	for y := range f.height {
		row = src.Floats(row[:0], y, 0, src.Width*src.Channels, 1)
		for i, v := range row {
			f.set(i/src.Channels, y, i%src.Channels, shade(v, t))
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

// ruleOf returns the threshold rule of a request. K is the parameter of its method.
func ruleOf(q *request) (thresholds.Rule, error) {
	m, err := thresholds.ParseMethod(q.Method)
	if err != nil {
		return thresholds.Rule{}, err
	}
	w, err := windowOf(q)
	if err != nil {
		return thresholds.Rule{}, err
	}
	rule := thresholds.New(m, w.Width)
	if q.K != nil {
		if math.IsNaN(*q.K) || math.Abs(*q.K) > 1e6 {
			return rule, refuse("k is %v, want a number from −1000000 to 1000000", *q.K)
		}
		switch m {
		case thresholds.Bradley:
			rule.T = *q.K
		case thresholds.MeanC:
			rule.C = *q.K
		default:
			rule.K = *q.K
		}
	}
	return rule, nil
}

// threshold binarizes one channel, for the pixels of a screen or, if s is nil, the whole image.
func (r *plane) threshold(ctx context.Context, q *request, s *screen, channel int) (*filtered, error) {
	rule, err := ruleOf(q)
	if err != nil {
		return nil, err
	}
	if r.img.Type.Float() && (r.low < 0 || r.high > 1) {
		rule.White, rule.R = r.high, (r.high-r.low)/2
	}
	start := time.Now()
	p := &reduced{n: 1}
	if s != nil {
		if by := thresholdRule(rule, r.img.Type); by != nil {
			if made, err := r.byTables(ctx, s, by, []int{channel}); made != nil || err != nil {
				return made, err
			}
		}
		// Other methods need the whole image; Otsu needs only the histogram.
		if rule.Method != thresholds.Otsu {
			all := &screen{image.Rect(0, 0, r.img.Width, r.img.Height), s.w, s.h}
			if p, err = r.screenPart(ctx, all, 0, []int{channel}, q.Quick); err != nil {
				return nil, err
			}
			if p.n > 1 {
				rule.Window = thresholds.Square(2*reduceBy(rule.Window.Width/2, p.n) + 1)
			}
		}
	}
	if p.img.Type == 0 {
		if err := r.whole("threshold"); err != nil {
			return nil, err
		}
		p.img = r.of(channel)
	}
	j := thresholds.Job{Src: p.img, Rule: rule}
	j.Options.Context = ctx
	m, err := j.Make(raster.U8)
	took := time.Since(start)
	if err != nil {
		return nil, err
	}
	if s != nil {
		return s.show(p, m, tile{scale: 1}, 1, took), nil
	}
	return drawn(m, tile{scale: 1}, took), nil
}

// matched holds the best positions of a template.
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

func (r *plane) match(ctx context.Context, q *request) (*matched, error) {
	if n := int64(r.img.Width) * int64(r.img.Height); n > maxFiltered/4 {
		return nil, refuse("the image has %d megapixels, want at most %d to search on this page (use boxsum match)", n>>20, maxFiltered>>22)
	}
	b, err := oneBox(q, 4)
	if err != nil {
		return nil, err
	}
	box := image.Rect(b[0], b[1], b[2], b[3]).Intersect(image.Rect(0, 0, r.img.Width, r.img.Height))
	if box.Dx() < 2 || box.Dy() < 2 {
		return nil, refuse("the template is %d×%d pixels, want at least 2×2: draw a larger box", box.Dx(), box.Dy())
	}
	method, err := matching.ParseMethod(q.Method)
	if err != nil {
		return nil, err
	}
	if q.Top < 1 || q.Top > 1000 {
		return nil, refuse("top is %d, want 1 to 1000", q.Top)
	}
	one := r.of(q.Channel)
	start := time.Now()
	j := matching.Job{Method: method, Src: one, Template: cutOut(one, box)}
	j.Options.Context = ctx
	made, err := j.Make()
	if err != nil {
		return nil, err
	}
	scores := boxsum.Image[float32]{Pix: raster.Elems[float32](made.Data), Stride: made.Stride, Width: made.Width, Height: made.Height, Channels: 1}
	peaks, err := match.Peaks(scores, match.Method(method), q.Top, image.Pt(max(1, box.Dx()/2), max(1, box.Dy()/2)))
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

// sun is a cascade that detects bright discs, so that detection can be tried without other files.
//
//go:embed sun.xml
var sun []byte

// A cascade is a loaded cascade and its size.
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
		return nil, nil, refuse("%d cascades are loaded, the most that this page allows", len(s.cascades))
	}
	name = strings.TrimSuffix(name, ".xml")
	more := int64(len(data))
	if old := s.cascades[name]; old != nil {
		more -= old.bytes
	}
	if s.used+more > s.limits.Bytes {
		return nil, nil, refuse("%s does not fit: this page may use %s and already uses %s", name, size(s.limits.Bytes), size(s.used))
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
			return nil, refuse("no cascade is named %.60q: drop one of OpenCV's .xml files onto the page", name)
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

// detect finds objects in a picture.
func (s *Session) detect(ctx context.Context, doc Document, r *request) (any, []byte, error) {
	d, ok := doc.(*picture)
	if !ok {
		return nil, nil, refuse("detection needs an image in memory")
	}
	c, err := s.cascade(r.Cascade)
	if err != nil {
		return nil, nil, err
	}
	if n := int64(d.info.Width) * int64(d.info.Height); n > maxFiltered/4 {
		return nil, nil, refuse("the image has %d megapixels, want at most %d to detect on this page (use boxsum detect)", n>>20, maxFiltered>>22)
	}
	opt := &detect.Options{Scale: r.Scale, Neighbors: r.Near, Min: image.Pt(r.Least, r.Least), Context: ctx}
	if r.Angle != 0 {
		opt.Angles = []float64{r.Angle}
	}
	if r.All {
		opt.Angles = detect.AllAngles()
	}
	if r.Scale != 0 && !(r.Scale >= 1.01) {
		return nil, nil, refuse("scale is %v, want 1.01 or more", r.Scale)
	}
	img := d.plane.gray()
	if img.Channels > 1 {
		return nil, nil, refuse("the image has %d channels, want 1 to detect objects in it", img.Channels)
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
