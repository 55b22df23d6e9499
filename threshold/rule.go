package threshold

import (
	"fmt"
	"image"
	"math"

	"github.com/boxsum/boxsum/filter"
	"github.com/boxsum/boxsum/internal/kernel/windows"
	"github.com/boxsum/boxsum/internal/raster"
	"github.com/boxsum/boxsum/internal/window"
)

// A Method is an algorithm that computes thresholds.
type Method uint8

const (
	// Sauvola is mean·(1 + K·(deviation/R − 1)). It suits most scans.
	Sauvola Method = iota
	// Niblack is mean + K·deviation. It leaves specks where the paper is empty.
	Niblack
	// Wolf is mean − K·(1 − deviation/greatest deviation)·(mean − darkest pixel), where the
	// greatest deviation and the darkest pixel are those of the whole image. It suits low
	// contrast.
	Wolf
	// NICK is mean + K·√(mean of squares), with a negative K. It suits faint ink.
	NICK
	// TRSingh is mean·(1 + K·(d/(White − d) − 1)), where d is the pixel's difference from
	// the mean. It needs no squares.
	TRSingh
	// Phansalkar is Sauvola with an additional term P·exp(−Q·mean/White) in the
	// parentheses. It suits dark images.
	Phansalkar
	// Bradley is the mean less T percent. It is fast, and suits pages with high contrast.
	Bradley
	// MeanC is the mean, rounded for integers, less ⌈C⌉, as in cv2.adaptiveThreshold.
	MeanC
	// ISauvola keeps the black pixels of Sauvola that are connected to a high-contrast
	// pixel. It leaves no specks.
	ISauvola
	// Su is the mean of the high-contrast pixels plus half their deviation, where a window
	// has at least MinN of them. It suits stains and bleed-through.
	Su
	// Otsu is one threshold for the whole image. It suits even light.
	Otsu
	methods
)

var methodNames = [methods]string{"sauvola", "niblack", "wolf", "nick", "trsingh", "phansalkar", "bradley", "meanc", "isauvola", "su", "otsu"}

// String returns the method's name in lower case.
func (m Method) String() string {
	if m < methods {
		return methodNames[m]
	}
	return fmt.Sprintf("method %d", uint8(m))
}

// ParseMethod returns the method with the given name, which is the lower-case name of one
// of [Methods].
func ParseMethod(name string) (Method, error) {
	for m, n := range methodNames {
		if n == name {
			return Method(m), nil
		}
	}
	return 0, raster.Invalid("unknown method %q, want one of %v", name, methodNames)
}

// Methods returns all methods.
func Methods() []Method {
	all := make([]Method, methods)
	for i := range all {
		all[i] = Method(i)
	}
	return all
}

// A Rule is a method and its parameters. [New] returns one with Doxa's parameters, which
// can be changed:
//
//	rule := threshold.New(threshold.Sauvola, 75)
//	rule.K = 0.34
type Rule struct {
	Method Method

	// Window is the neighborhood that statistics are computed over, and Border defines the
	// pixels outside the image; New sets Clip, which leaves them out. Otsu has no window.
	// If Window is empty, Su chooses one. Su needs odd sides and enlarges even ones by one
	// pixel.
	Window filter.Window
	Border filter.Border
	Value  float64 // pixel value for the border Constant

	K float64 // weight of the deviation: Sauvola, Niblack, Wolf, NICK, TRSingh, Phansalkar, ISauvola

	// R is the deviation at which the threshold equals the mean, for Sauvola, Phansalkar
	// and ISauvola. Zero means 128/255 of White.
	R float64
	// White is the greatest pixel value, for TRSingh and Phansalkar. Zero means 255 for
	// uint8, 65535 for uint16, and 1 for floats, in which case values above 2 are an error.
	White float64

	P, Q float64 // Phansalkar
	T    float64 // Bradley, in percent
	C    float64 // MeanC, in units of pixel values: 10 is for bytes, and more than 1 is an error for floats up to 1
	MinN int     // Su with a window; zero means the window's width, which Su always uses for a window it chooses
}

// New returns a Rule with a window of size×size pixels and the default parameters of Doxa
// or, for MeanC, OpenCV. A size of zero means the method's default: 75 pixels; for Bradley,
// an eighth of the image's width (if that is less than one pixel, thresholds are 0, as in
// Doxa); for Su, a size derived from the width of the strokes. See [Square] for even sizes.
func New(m Method, size int) Rule {
	r := Rule{Method: m, Border: filter.Clip, K: 0.2, P: 3, Q: 10, T: 15, C: 10}
	switch {
	case m == NICK:
		r.K = -0.2
	case m == MeanC:
		r.Border = filter.Replicate
	}
	if size == 0 && m != Bradley && m != Su && m != Otsu {
		size = 75
	}
	r.Window = Square(size)
	return r
}

// Square returns a window of size×size pixels. If size is even, the extra pixels lie to the
// right and below, as in Doxa; in package filter they lie to the left and above.
func Square(size int) filter.Window {
	w := filter.Square(size)
	if size > 0 && size%2 == 0 {
		w.Shift = image.Pt(1, 1)
	}
	return w
}

// bradleyWidths is the ratio of the image's width to Bradley's default window.
const bradleyWidths = 8

// maxSide is the largest side of a window: the sum of two sides fits in 32 bits.
const maxSide = 1<<30 - 1

// shapeOf returns the window of a rule for images of the given width.
func shapeOf(t raster.Type, r *Rule, width int) (s window.Shape, err error) {
	w := r.Window
	if r.Method == Su && r.Border != filter.Clip {
		return s, raster.Invalid("border is %v, want clip for su", r.Border)
	}
	if w == (filter.Window{}) && r.Method == Bradley {
		w = Square(max(1, width/bradleyWidths))
	}
	if w == (filter.Window{}) && r.Method == Su || r.Method == Otsu {
		return s, nil
	}
	if w.Width <= 0 || w.Height <= 0 || w.Width > maxSide || w.Height > maxSide {
		return s, raster.Invalid("window is %d×%d, want sides of 1 to %d", w.Width, w.Height, maxSide)
	}
	if r.Method == Su {
		w = filter.Window{Width: w.Width | 1, Height: w.Height | 1}
	}
	s.Left, s.Up = w.Width/2-w.Shift.X, w.Height/2-w.Shift.Y
	s.Right, s.Down = w.Width-1-s.Left, w.Height-1-s.Up
	if s.Left < 0 || s.Right < 0 || s.Up < 0 || s.Down < 0 {
		return s, raster.Invalid("a window of %d×%d shifted by %v no longer contains its own pixel", w.Width, w.Height, w.Shift)
	}
	s.Border = window.Border(r.Border)
	if err = s.Border.Check(); err != nil || s.Border != window.Constant {
		return s, err
	}
	if v := r.Value; v-v != 0 || !t.Float() && (v < 0 || v > whiteOf(t) || v != math.Trunc(v)) {
		return s, raster.Invalid("border value %v does not fit in %v", v, t)
	}
	if s.Value = r.Value; t == raster.F32 {
		s.Value = float64(float32(s.Value))
	}
	return s, nil
}

// formulaOf checks the parameters of a rule and returns its formula for pixels of type t.
func formulaOf(t raster.Type, r *Rule) (f windows.Formula, err error) {
	if r.Method >= methods {
		return f, raster.Invalid("unknown %v, want one of %v", r.Method, methodNames)
	}
	for _, v := range []struct {
		name  string
		value float64
	}{{"K", r.K}, {"R", r.R}, {"White", r.White}, {"P", r.P}, {"Q", r.Q}, {"T", r.T}, {"C", r.C}} {
		if v.value-v.value != 0 {
			return f, raster.Invalid("%s is %v, want a finite number", v.name, v.value)
		}
	}
	if r.R < 0 || r.White < 0 || r.MinN < 0 {
		return f, raster.Invalid("R is %v, White is %v and MinN is %d, want 0 or more", r.R, r.White, r.MinN)
	}
	f = windows.Formula{K: r.K, White: r.White, P: r.P, Whole: !t.Float(), Bytes: t == raster.U8}
	if f.White == 0 {
		f.White = whiteOf(t)
	}
	f.InverseR = 1 / r.R
	if r.R == 0 {
		f.InverseR = 1 / (f.White * 128 / 255)
	}
	f.NegQ = -(r.Q / f.White)
	f.Most = f.White - 1 // maximum distance of a pixel from the mean
	if !f.Whole {
		f.Most = f.White * 254 / 255
	}
	f.Factor = (100 - r.T) / 100
	f.C = r.C
	if f.Whole {
		f.C = math.Ceil(r.C)
	}
	f.Kind = kinds[r.Method]
	if r.Method >= ISauvola && !f.Bytes {
		return f, raster.Unsupported("%v needs pixels of uint8, not %v", r.Method, t)
	}
	return f, nil
}

// takesUnit reports whether the rule has parameters that depend on the range of float
// pixels.
func takesUnit(r *Rule) bool {
	switch r.Method {
	case Sauvola:
		return r.R == 0 && r.White == 0
	case TRSingh, Phansalkar:
		return r.White == 0
	case MeanC:
		return r.C > 1
	}
	return false
}

// kinds maps methods to their formulas.
var kinds = [methods]windows.FormulaKind{
	Sauvola: windows.SauvolaFormula, ISauvola: windows.SauvolaFormula, Niblack: windows.NiblackFormula, Wolf: windows.WolfFormula,
	NICK: windows.NICKFormula, TRSingh: windows.TRSinghFormula, Phansalkar: windows.PhansalkarFormula,
	Bradley: windows.BradleyFormula, MeanC: windows.MeanCFormula, Su: windows.SuFormula,
}

// whiteOf returns the default White of a pixel type.
func whiteOf(t raster.Type) float64 {
	switch t {
	case raster.U8:
		return 255
	case raster.U16:
		return 65535
	}
	return 1
}
