package threshold

import (
	"github.com/boxsum/boxsum/filter"
	"github.com/boxsum/boxsum/internal/filters"
	"github.com/boxsum/boxsum/internal/thresholds"
	"github.com/boxsum/boxsum/internal/window"
)

// A Method is an algorithm that computes the threshold of a pixel, usually from the window
// around it.
type Method uint8

const (
	// Sauvola sets the threshold to mean·(1 + K·(deviation/R − 1)). It suits most scans.
	Sauvola Method = iota
	// Niblack sets the threshold to mean + K·deviation. It leaves specks where the paper is
	// empty.
	Niblack
	// Wolf sets the threshold to mean − K·(1 − deviation/greatest deviation)·(mean − darkest
	// pixel), where the greatest deviation and the darkest pixel are those of the whole
	// image. It suits low contrast.
	Wolf
	// NICK sets the threshold to mean + K·√(mean of squares), with a negative K. It suits
	// faint ink.
	NICK
	// TRSingh sets the threshold to mean·(1 + K·(d/(White − d) − 1)), where d is the pixel's
	// difference from the mean. It does not need the deviation.
	TRSingh
	// Phansalkar is Sauvola with an additional term P·exp(−Q·mean/White) in the outer
	// parentheses. It suits dark images.
	Phansalkar
	// Bradley sets the threshold to the mean less T percent. It is fast, and suits pages
	// with high contrast.
	Bradley
	// MeanC sets the threshold to the mean, rounded for integers, less ⌈C⌉, as in
	// cv2.adaptiveThreshold.
	MeanC
	// ISauvola keeps the black pixels of Sauvola that are connected to a high-contrast
	// pixel. It leaves no specks.
	ISauvola
	// Su sets the threshold to the mean of the high-contrast pixels in the window plus half
	// their deviation. Windows with fewer than MinN such pixels are white. It suits stains
	// and bleed-through.
	Su
	// Otsu uses one threshold for the whole image, which best separates dark from bright
	// pixels. It suits even light.
	Otsu
)

// String returns the method's name in lower case.
func (m Method) String() string { return thresholds.Method(m).String() }

// ParseMethod returns the method with the given name, as returned by [Method.String]. It
// returns an error that wraps [boxsum.ErrInvalid] for any other name.
func ParseMethod(name string) (Method, error) {
	m, err := thresholds.ParseMethod(name)
	return Method(m), err
}

// Methods returns all methods, in the order of their constants.
func Methods() []Method {
	all := make([]Method, thresholds.NumMethods)
	for i := range all {
		all[i] = Method(i)
	}
	return all
}

// A Rule is a method and its parameters. [New] returns a Rule with Doxa's parameters,
// which can be changed:
//
//	rule := threshold.New(threshold.Sauvola, 75)
//	rule.K = 0.34
type Rule struct {
	Method Method

	// Window is the neighborhood over which statistics are computed, and Border defines the
	// pixels outside the image. New sets Border to Clip, which excludes those pixels. Otsu
	// has no window. If Window is empty, Su chooses one. Su needs odd sides and enlarges
	// even sides by one pixel.
	Window filter.Window
	Border filter.Border
	Value  float64 // pixel value for the border Constant

	K float64 // weight of the deviation: Sauvola, Niblack, Wolf, NICK, TRSingh, Phansalkar, ISauvola

	// R is the deviation at which the threshold equals the mean, for Sauvola, Phansalkar
	// and ISauvola. Zero means 128/255 of White.
	R float64
	// White is the greatest pixel value, for TRSingh and Phansalkar. Zero means 255 for
	// uint8, 65535 for uint16, and 1 for floats. If it means 1, pixels above 2 are an error.
	White float64

	P, Q float64 // parameters of Phansalkar
	T    float64 // parameter of Bradley, in percent
	// C is the parameter of MeanC, in units of pixel values. 10 suits 8-bit images. For
	// floats up to 1, a C above 1 is an error.
	C float64
	// MinN is the parameter of Su if Window is not empty; zero means the window's width. For
	// a window that Su chooses, it is always the window's width.
	MinN int
}

// New returns a Rule with a window of size×size pixels and the default parameters of Doxa
// or, for MeanC, OpenCV. A size of zero selects the method's default, which is 75 pixels
// for most methods. For Bradley it is an eighth of the image's width; if that is less
// than one pixel, thresholds are 0, as in Doxa. For Su it depends on the width of the
// strokes. See [Square] for even sizes.
func New(m Method, size int) Rule {
	r := thresholds.New(thresholds.Method(m), size)
	return Rule{
		Method: m, Window: filter.Window(r.Window), Border: filter.Border(r.Border),
		K: r.K, P: r.P, Q: r.Q, T: r.T, C: r.C,
	}
}

// Square returns a window of size×size pixels. If size is even, the extra pixels lie to the
// right and below the pixel, as in Doxa; in windows of [filter.Square], they lie to the left
// and above.
func Square(size int) filter.Window { return filter.Window(thresholds.Square(size)) }

// set sets the rule of a job.
func (r *Rule) set(to *thresholds.Rule) {
	*to = thresholds.Rule{
		Method: thresholds.Method(r.Method), Window: filters.Window(r.Window), Border: window.Border(r.Border), Value: r.Value,
		K: r.K, R: r.R, White: r.White, P: r.P, Q: r.Q, T: r.T, C: r.C, MinN: r.MinN,
	}
}
