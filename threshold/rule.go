package threshold

import (
	"fmt"
	"image"
	"math"

	"github.com/boxsum/boxsum/filter"
	"github.com/boxsum/boxsum/internal/grid"
	"github.com/boxsum/boxsum/internal/kernel"
	"github.com/boxsum/boxsum/internal/pairs"
	"github.com/boxsum/boxsum/internal/window"
)

// A Method is a way to find where black ends.
type Method uint8

const (
	// Sauvola is mean·(1 + K·(deviation/R − 1)): for most scans.
	Sauvola Method = iota
	// Niblack is mean + K·deviation. It makes specks where the paper is empty.
	Niblack
	// Wolf is mean − K·(1 − deviation/greatest deviation)·(mean − darkest pixel), of the
	// whole image: for low contrast.
	Wolf
	// NICK is mean + K·√(mean of squares), with a negative K: for faint ink.
	NICK
	// TRSingh is mean·(1 + K·(d/(White − d) − 1)), where d is how far the pixel is from the
	// mean: no squares.
	TRSingh
	// Phansalkar is Sauvola's with P·exp(−Q·mean/White) more in the brackets: for dark
	// images.
	Phansalkar
	// Bradley is the mean less T percent: fast, for pages with much contrast.
	Bradley
	// MeanC is the mean, rounded for integers, less ⌈C⌉: cv2.adaptiveThreshold.
	MeanC
	// ISauvola is what Sauvola finds black, as far as it hangs together with a pixel of
	// high contrast: no specks.
	ISauvola
	// Su is the mean of the pixels with high contrast and half their deviation, where a
	// window has MinN of them: for stains and ink that shines through.
	Su
	// Otsu is one threshold for the whole image: for even light.
	Otsu
	methods
)

var methodNames = [methods]string{"sauvola", "niblack", "wolf", "nick", "trsingh", "phansalkar", "bradley", "meanc", "isauvola", "su", "otsu"}

// String is the method's name in lower case.
func (m Method) String() string {
	if m < methods {
		return methodNames[m]
	}
	return fmt.Sprintf("method %d", uint8(m))
}

// ParseMethod is the method of that name: those of [Methods] in lower case.
func ParseMethod(name string) (Method, error) {
	for m, n := range methodNames {
		if n == name {
			return Method(m), nil
		}
	}
	return 0, grid.Invalid("unknown method %q: use one of %v", name, methodNames)
}

// Methods are all of them.
func Methods() []Method {
	all := make([]Method, methods)
	for i := range all {
		all[i] = Method(i)
	}
	return all
}

// A Rule is a method and its numbers. [New] has those of Doxa, to be changed where wanted:
//
//	rule := threshold.New(threshold.Sauvola, 75)
//	rule.K = 0.34
type Rule struct {
	Method Method

	// Window is the pixels that statistics are of, and Border what it finds outside of the
	// image: New makes it Clip, nothing. Otsu has no window. Su finds one for itself if it
	// is empty. Windows of Su are odd: an even one is one pixel larger.
	Window filter.Window
	Border filter.Border
	Value  float64 // of the border Constant

	K float64 // how much the deviation counts: Sauvola, Niblack, Wolf, NICK, TRSingh, Phansalkar, ISauvola

	// R is the deviation that leaves the mean as it is: Sauvola, Phansalkar, ISauvola. Zero
	// stands for 128/255 of White.
	R float64
	// White is the greatest value that pixels have: TRSingh, Phansalkar. Zero stands for 255
	// of uint8, 65535 of uint16, and 1 of floats, of which those above 2 are refused then.
	White float64

	P, Q float64 // of Phansalkar
	T    float64 // of Bradley, in percent
	C    float64 // of MeanC, on the scale of the pixels: 10 is for bytes, and more than 1 for floats up to 1 is refused
	MinN int     // of Su with a window; zero stands for the width of it, which it is where Su finds the window
}

// New is a method with a window of size×size pixels and the numbers that Doxa and, for
// MeanC, OpenCV have. A size of zero is the method's own: 75 pixels, for Bradley an eighth
// of the width of the image (where that is less than one pixel, thresholds are 0, as in Doxa),
// and for Su what fits the strokes. See [Square] for sizes that
// are even.
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

// Square is a window of size×size pixels as thresholds have it: of an even size one more
// lies on the right and below, as in Doxa, where filters have it on the left and above.
func Square(size int) filter.Window {
	w := filter.Square(size)
	if size > 0 && size%2 == 0 {
		w.Shift = image.Pt(1, 1)
	}
	return w
}

// bradleyWidths is how many windows of Bradley's own size lie side by side in an image.
const bradleyWidths = 8

// maxSide is how large a window may be: the sum of two sides fits 32 bits.
const maxSide = 1<<30 - 1

// shapeOf is the window of a rule for images of this width.
func shapeOf(of pairs.Type, r *Rule, width int) (s window.Shape, err error) {
	w := r.Window
	if r.Method == Su && r.Border != filter.Clip {
		return s, grid.Invalid("su with the border %v: use clip", r.Border)
	}
	if w == (filter.Window{}) && r.Method == Bradley {
		w = Square(max(1, width/bradleyWidths))
	}
	if w == (filter.Window{}) && r.Method == Su || r.Method == Otsu {
		return s, nil
	}
	if w.Width <= 0 || w.Height <= 0 || w.Width > maxSide || w.Height > maxSide {
		return s, grid.Invalid("a window of %d×%d: use 1 to %d pixels a side", w.Width, w.Height, maxSide)
	}
	if r.Method == Su {
		w = filter.Window{Width: w.Width | 1, Height: w.Height | 1}
	}
	s.Left, s.Up = w.Width/2-w.Shift.X, w.Height/2-w.Shift.Y
	s.Right, s.Down = w.Width-1-s.Left, w.Height-1-s.Up
	if s.Left < 0 || s.Right < 0 || s.Up < 0 || s.Down < 0 {
		return s, grid.Invalid("a window of %d×%d that is shifted by %v lacks its own pixel: shift it by less", w.Width, w.Height, w.Shift)
	}
	s.Border = window.Border(r.Border)
	if err = s.Border.Check(); err != nil || s.Border != window.Constant {
		return s, err
	}
	if v := r.Value; v-v != 0 || !of.Float() && (v < 0 || v > whiteOf(of) || v != math.Trunc(v)) {
		return s, grid.Invalid("a border of %v: it must be a value that pixels of %v can have", v, of)
	}
	if s.Value = r.Value; of == pairs.F32 {
		s.Value = float64(float32(s.Value))
	}
	return s, nil
}

// formulaOf is the numbers of a rule, checked, as they are for pixels of a type.
func formulaOf(of pairs.Type, r *Rule) (f kernel.Formula, err error) {
	if r.Method >= methods {
		return f, grid.Invalid("unknown %v: use one of %v", r.Method, methodNames)
	}
	for _, v := range []struct {
		name  string
		value float64
	}{{"K", r.K}, {"R", r.R}, {"White", r.White}, {"P", r.P}, {"Q", r.Q}, {"T", r.T}, {"C", r.C}} {
		if v.value-v.value != 0 {
			return f, grid.Invalid("%s is %v: use a number", v.name, v.value)
		}
	}
	if r.R < 0 || r.White < 0 || r.MinN < 0 {
		return f, grid.Invalid("R is %v, White %v, MinN %d: use 0 or more", r.R, r.White, r.MinN)
	}
	f = kernel.Formula{K: r.K, White: r.White, P: r.P, Whole: !of.Float(), Bytes: of == pairs.U8}
	if f.White == 0 {
		f.White = whiteOf(of)
	}
	f.InverseR = 1 / r.R
	if r.R == 0 {
		f.InverseR = 1 / (f.White * 128 / 255)
	}
	f.NegQ = -(r.Q / f.White)
	f.Most = f.White - 1 // of how far a pixel may be from the mean
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
		return f, grid.Types("%v is for pixels of uint8, not %v", r.Method, of)
	}
	return f, nil
}

// takesUnit reports whether the rule has numbers that may be meant for another scale than that of floats.
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

// kinds are the formulas of methods that have one of their own.
var kinds = [methods]kernel.FormulaKind{
	Sauvola: kernel.SauvolaFormula, ISauvola: kernel.SauvolaFormula, Niblack: kernel.NiblackFormula, Wolf: kernel.WolfFormula,
	NICK: kernel.NICKFormula, TRSingh: kernel.TRSinghFormula, Phansalkar: kernel.PhansalkarFormula,
	Bradley: kernel.BradleyFormula, MeanC: kernel.MeanCFormula, Su: kernel.SuFormula,
}

// whiteOf is the white of a type.
func whiteOf(of pairs.Type) float64 {
	switch of {
	case pairs.U8:
		return 255
	case pairs.U16:
		return 65535
	}
	return 1
}
