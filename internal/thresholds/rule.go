package thresholds

import (
	"fmt"
	"image"
	"math"
	"strings"

	"github.com/boxsum/boxsum/internal/filters"
	"github.com/boxsum/boxsum/internal/kernel/windows"
	"github.com/boxsum/boxsum/internal/raster"
	"github.com/boxsum/boxsum/internal/window"
)

// A Method is an algorithm that computes thresholds; see package threshold.
type Method uint8

// The methods.
const (
	Sauvola Method = iota
	Niblack
	Wolf
	NICK
	TRSingh
	Phansalkar
	Bradley
	MeanC
	ISauvola
	Su
	Otsu

	// NumMethods is the number of methods.
	NumMethods
)

var methodNames = [NumMethods]string{"sauvola", "niblack", "wolf", "nick", "trsingh", "phansalkar", "bradley", "meanc", "isauvola", "su", "otsu"}

// String returns the method's name in lower case.
func (m Method) String() string {
	if m < NumMethods {
		return methodNames[m]
	}
	return fmt.Sprintf("method %d", uint8(m))
}

// ParseMethod returns the method with the given name.
func ParseMethod(name string) (Method, error) {
	return raster.ParseName[Method]("method", name, methodNames[:])
}

// A Rule is a method and its parameters; see package threshold.
type Rule struct {
	Method Method

	Window filters.Window
	Border window.Border
	Value  float64 // of the Constant border

	K, R, White float64
	P, Q        float64
	T           float64
	C           float64
	MinN        int
}

// New returns a rule with a window of size×size pixels and default parameters; see package
// threshold.
func New(m Method, size int) Rule {
	r := Rule{Method: m, Border: window.Clip, K: 0.2, P: 3, Q: 10, T: 15, C: 10}
	switch {
	case m == NICK:
		r.K = -0.2
	case m == MeanC:
		r.Border = window.Replicate
	}
	if size == 0 && m != Bradley && m != Su && m != Otsu {
		size = 75
	}
	r.Window = Square(size)
	return r
}

// Square returns a window of size×size pixels. If size is even, the extra pixels lie to the
// right and below.
func Square(size int) filters.Window {
	w := filters.Window{Width: size, Height: size}
	if size > 0 && size%2 == 0 {
		w.Shift = image.Pt(1, 1)
	}
	return w
}

// bradleyWidths is the ratio of the image's width to Bradley's default window.
const bradleyWidths = 8

// shapeOf returns the window of a rule for images of the given width.
func shapeOf(t raster.Type, r *Rule, width int) (s window.Shape, err error) {
	w := r.Window
	if r.Method == Su && r.Border != window.Clip {
		return s, raster.Invalid("border is %v, want clip for su", r.Border)
	}
	if w == (filters.Window{}) && r.Method == Bradley {
		w = Square(max(1, width/bradleyWidths))
	}
	if w == (filters.Window{}) && r.Method == Su || r.Method == Otsu {
		return s, nil
	}
	if r.Method == Su && w.Width > 0 && w.Height > 0 {
		w = filters.Window{Width: w.Width | 1, Height: w.Height | 1}
	}
	return window.ShapeOf(w.Width, w.Height, w.Shift, r.Border, r.Value, t)
}

// formulaOf checks the parameters of a rule and returns its formula for pixels of type t.
func formulaOf(t raster.Type, r *Rule) (f windows.Formula, err error) {
	if r.Method >= NumMethods {
		return f, raster.Invalid("unknown %v, want one of %s", r.Method, strings.Join(methodNames[:], ", "))
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
		return f, raster.Unsupported("pixels are %v, want uint8 for %v", t, r.Method)
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
var kinds = [NumMethods]windows.FormulaKind{
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

// Pointwise returns the function that computes the threshold of one pixel of type t from its
// value and the mean and variance of the pixels in its window.
func Pointwise(t raster.Type, r *Rule) (func(pixel, mean, variance float64) float64, error) {
	f, err := formulaOf(t, r)
	if err != nil {
		return nil, err
	}
	switch r.Method {
	case Wolf, ISauvola, Su, Otsu:
		return nil, raster.Invalid("%v needs the whole image (use Binarize)", r.Method)
	}
	return func(pixel, mean, variance float64) float64 { return pointwise(&f, pixel, mean, variance) }, nil
}

func pointwise(f *windows.Formula, pixel, mean, variance float64) float64 {
	if variance < 0 && !f.Bytes { // rounding; for bytes there is then no threshold, as in Doxa
		variance = 0
	}
	return f.At(pixel, mean, variance)
}
