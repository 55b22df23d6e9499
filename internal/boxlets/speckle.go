package boxlets

import (
	"image"
	"math"
	"strings"

	"github.com/boxsum/boxsum/internal/engine"
	"github.com/boxsum/boxsum/internal/kernel/windows"
	"github.com/boxsum/boxsum/internal/raster"
	"github.com/boxsum/boxsum/internal/window"
)

// A Method removes speckle.
type Method uint8

// The methods, by the constants of package boxlets.
const (
	Lee Method = iota
	Kuan
	Frost
	GammaMAP
	methods
)

var methodNames = [methods]string{"lee", "kuan", "frost", "gamma-map"}

// String returns the name of the method in lower case.
func (m Method) String() string {
	if m < methods {
		return methodNames[m]
	}
	return "unknown method"
}

// ParseMethod returns the method with the given name.
func ParseMethod(name string) (Method, error) {
	return raster.ParseName[Method]("method", name, methodNames[:])
}

// maxFrost is the largest window of Frost's filter, whose time grows with the side.
const maxFrost = 1 << 8

// checkSpeckle validates the window and the numbers of a filter of speckle.
func (j *Job) checkSpeckle() error {
	switch {
	case j.Method >= methods:
		return raster.Invalid("unknown method %d, want one of %s", j.Method, strings.Join(methodNames[:], ", "))
	case j.Size < 3 || j.Size%2 == 0 || j.Size > maxReach || j.Method == Frost && j.Size > maxFrost:
		return raster.Invalid("window is %d, want an odd number from 3 to %d, or to %d for frost", j.Size, maxReach-1, maxFrost-1)
	case !(j.Looks > 0) || j.Looks > 1e6:
		return raster.Invalid("number of looks is %v, want more than 0 and at most 1e6", j.Looks)
	case !(j.Damping >= 0) || j.Damping > 1e6:
		return raster.Invalid("damping is %v, want 0 to 1e6", j.Damping)
	}
	r := j.Size / 2
	j.reach = image.Rect(-r, -r, r+1, r+1)
	j.Border = window.Clip
	return nil
}

// speckle removes speckle by the mean and the variance of the window around every pixel, which ends at the edges of the image.
type speckle struct {
	window.Sums
	frame                          window.Frame
	means, variances, pixels, ring []float64
	totals, weights, decays        []float64 // of Frost's filter
}

func (s *speckle) aim(l *layer) {
	j := l.job
	r, most, area := j.Size/2, j.Src.Type.Max(), float64(j.Size)*float64(j.Size)
	s.frame = l.frame
	s.frame.Shape = window.Shape{Left: r, Right: r, Up: r, Down: r, Border: window.Clip}
	switch {
	case j.Src.Type.Float():
		s.frame.Square = raster.F64
	case area*most*most < 1<<32:
		s.frame.Sum, s.frame.Square = raster.U32, raster.U32
	case area*most < 1<<32:
		s.frame.Sum, s.frame.Square = raster.U32, raster.U64
	default:
		s.frame.Sum, s.frame.Square = raster.U64, raster.U64
	}
	s.Aim(&s.frame)
	s.Strip(0, j.Src.Width)
	n := j.Src.Width * j.Src.Channels
	for _, row := range []*[]float64{&s.means, &s.variances, &s.pixels, &s.ring, &s.totals, &s.weights, &s.decays} {
		*row = engine.AtLeast(*row, n)
	}
}

// speckleRow removes the speckle of row y.
func (w *worker) speckleRow(l *layer, dst []byte, y int) {
	s, j := &w.speckle, l.job
	s.Down(&l.image, y)
	s.measure(j)
	windows.Floats(j.Src.Type, s.pixels, j.Src.Span(0, y, j.Src.Width))
	for _, v := range s.pixels {
		if !(v >= 0) {
			j.bad.CompareAndSwap(0, int32(y)+1)
			return
		}
	}
	noise := 1 / j.Looks // the squared ratio of deviation and mean in areas that are flat but for speckle
	if j.Method == Frost {
		w.frostRow(j, y)
	}
	for i, p := range s.pixels {
		if mean, variance := s.means[i], s.variances[i]; mean > 0 && j.Method != Frost {
			s.pixels[i] = restored(j.Method, p, mean, variance/(mean*mean), noise)
		}
	}
	windows.Store(j.Dst.Type, dst, s.pixels)
}

// measure computes the means and the sample variances of the windows of a row.
func (s *speckle) measure(j *Job) {
	r := s.Windows()
	most := 0.0
	if !j.Src.Type.Float() {
		most = j.Src.Type.Max()
	}
	var p window.Part
	for x := 0; x < j.Src.Width; x = p.To {
		r.Cut(&p, x)
		from, to := p.From*r.Channels, p.To*r.Channels
		variances := s.variances[from:to]
		p.Sums.Means(j.set.Level, raster.F64, raster.Bytes(s.means[from:to]), windows.Mean{Count: uint64(p.Count), Offset: r.Offset, Most: uint64(most) * uint64(p.Count)})
		windows.Spreads(j.set.Level, raster.F64, raster.Bytes(variances), p.Sums, p.Squares,
			windows.Spread{Count: uint64(p.Count), Bytes: j.Src.Type == raster.U8, Exact: r.Exact, First: from})
		sample := float64(p.Count) / float64(max(1, p.Count-1))
		for i := range variances {
			variances[i] *= sample
		}
	}
}

// restored returns a pixel without speckle, from the mean of its window and the squared ratios of deviation and mean in the window
// and in speckle alone.
func restored(m Method, p, mean, ratio, noise float64) float64 {
	if ratio <= noise {
		return mean
	}
	weight := 1 - noise/ratio
	switch m {
	case Kuan:
		weight /= 1 + noise
	case GammaMAP:
		if ratio >= 2*noise {
			return p
		}
		alpha := (1 + noise) / (ratio - noise)
		beta := alpha - 1/noise - 1
		return (beta*mean + math.Sqrt(mean*mean*beta*beta+4*alpha/noise*mean*p)) / (2 * alpha)
	}
	return p*weight + mean*(1-weight)
}

// frostRow computes the weighted means of Frost's filter. Weights decrease with the distance, the greater of the horizontal and the
// vertical one, so that pixels of the same weight form rings, which are the differences of two boxes.
func (w *worker) frostRow(j *Job, y int) {
	s := &w.speckle
	for i, mean := range s.means {
		s.decays[i] = 1
		if mean > 0 {
			s.decays[i] = math.Exp(-j.Damping * s.variances[i] / (mean * mean))
		}
		s.totals[i], s.weights[i] = 0, 0
	}
	// As in Horner's method, from the outermost ring to the middle.
	w.sums.Result, w.sums.Weights = raster.F64, append(w.sums.Weights[:0], 1, -1)
	channels := j.Src.Channels
	for k := j.Size / 2; k > 0; k-- {
		w.sums.Corners = w.sums.Corners[:0]
		for _, r := range [2]int{k, k - 1} {
			w.sums.Corners = append(w.sums.Corners, w.corner(r+1, y+r+1), w.corner(-r, y+r+1), w.corner(r+1, y-r), w.corner(-r, y-r))
		}
		w.sums.Row(raster.Bytes(s.ring))
		outer, inner := count(y, k, j.Src.Height), count(y, k-1, j.Src.Height)
		for i, sum := range s.ring {
			x, q := i/channels, s.decays[i]
			n := outer*count(x, k, j.Src.Width) - inner*count(x, k-1, j.Src.Width)
			s.totals[i], s.weights[i] = q*(s.totals[i]+sum), q*(s.weights[i]+float64(n))
		}
	}
	for i, p := range s.pixels {
		s.pixels[i] = (s.totals[i] + p) / (s.weights[i] + 1)
	}
}

func (s *speckle) bytes() int {
	s.Forget()
	bytes := s.Sums.Bytes()
	for _, row := range [][]float64{s.means, s.variances, s.pixels, s.ring, s.totals, s.weights, s.decays} {
		bytes += engine.Bytes(row)
	}
	return bytes
}
