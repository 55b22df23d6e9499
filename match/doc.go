// Package match finds templates in images: small images, a mark, a part, a letter, that
// may be anywhere in a larger one. Every place where the template can lie gets a score.
//
//	scores, err := match.Match(img, template, match.ZNCC, nil)       // a score for every place
//	peaks, err := match.Find(img, template, match.ZNCC, 5, nil)      // the best five
//	err = match.MatchInto(scores, next, template, match.ZNCC, nil)   // the next frame; allocates nothing
//
// The score at (x, y) is that of the template with its top left pixel there: of an image of
// W×H pixels and a template of w×h there are W-w+1 by H-h+1 of them.
//
// # Methods
//
// With I the pixels of the window under the template T, summed over all of its pixels and
// channels, and means for each channel by itself:
//
//	ZNCC  Σ(I-mean I)(T-mean T) / √(Σ(I-mean I)² Σ(T-mean T)²)   -1 to 1, whatever the light
//	NCC   ΣIT / √(ΣI² ΣT²)                                       -1 to 1, whatever the exposure
//	SSD   Σ(I-T)²                                                0 is equal; the least is the best
//
// OpenCV has them as TM_CCOEFF_NORMED, TM_CCORR_NORMED and TM_SQDIFF. With a mask only
// pixels count where it is not zero.
//
// # Numbers
//
// Scores of ZNCC and NCC are within 1e-5 of what the formulas give, never outside of -1 to
// 1, and the same bits at every level and number of workers. A window in which each channel is
// flat has a ZNCC of 0, one of zeros an NCC of 0. A template that is flat, or zero, is an
// error there. SSD of integers is exact, and then rounded to float32, while a template
// has no more than 2^20 pixels of 8 bits or 2^16 of 16; that of floats is off by no more
// than about 1e-13 of ΣI² + ΣT² in the neighbourhood.
//
// A window that has a NaN or an infinity has a score of NaN, unless the mask leaves it out;
// in a template they are an error.
//
// # How
//
// Denominators are made from sums of windows that are exact, as in package filter.
// Numerators of small templates of bytes are summed directly, in whole numbers. Others are
// Fourier transforms of blocks: in float32, and again exactly, or in float64, for windows
// of so little contrast that float32 is not enough. docs/match.md has a picture.
package match
