// Package match finds a template in an image: a small image, such as a mark, a part or a
// letter, that may appear anywhere in the larger one. It computes a score for every position
// of the template.
//
//	scores, err := match.Match(img, template, match.ZNCC, nil)       // a score for every position
//	peaks, err := match.Find(img, template, match.ZNCC, 5, nil)      // the best five
//	err = match.MatchInto(scores, next, template, match.ZNCC, nil)   // the next frame; allocates nothing
//
// The score at (x, y) belongs to the template with its top left pixel at (x, y). An image of
// W×H pixels and a template of w×h have W-w+1 by H-h+1 scores.
//
// # Methods
//
// Let I be the pixels of the window under the template T. Sums are over all pixels and
// channels; each channel has its own mean:
//
//	ZNCC  Σ(I-mean I)(T-mean T) / √(Σ(I-mean I)² Σ(T-mean T)²)   -1 to 1, ignores brightness and contrast
//	NCC   ΣIT / √(ΣI² ΣT²)                                       -1 to 1, ignores exposure
//	SSD   Σ(I-T)²                                                0 if equal; the lowest is the best
//
// These are TM_CCOEFF_NORMED, TM_CCORR_NORMED and TM_SQDIFF in OpenCV. With a mask, only
// pixels where it is nonzero count.
//
// # Accuracy
//
// ZNCC and NCC scores are within 1e-5 of the formulas, always in [-1, 1], and bit-identical
// at every level and with any number of workers. The ZNCC of a window in which each channel
// is flat is 0, and so is the NCC of a window of zeros. A template that is flat (for ZNCC)
// or zero (for NCC) is an error. SSD of integers is exact before it is rounded to float32 if
// the template has at most 2^20 pixels of 8 bits or 2^16 pixels of 16 bits. SSD of floats is
// off by at most about 1e-13 of ΣI² + ΣT² in the neighborhood.
//
// A window that contains a NaN or an infinity scores NaN, unless the mask excludes that
// pixel. A template that contains one is an error.
//
// # Implementation
//
// Denominators come from exact window sums, as in package filter. Numerators of small
// templates of bytes are integer sums. Others use Fourier transforms of blocks in float32,
// and are recomputed exactly or in float64 for windows whose contrast is too low for
// float32. Devices ([Options.On]) compute all sums as integers. docs/guides/templates.md has
// a picture.
package match
