// Package filter blurs images and measures the surroundings of every pixel: box and
// Gaussian blurs, local means, deviations and contrast, guided filter, median, entropy,
// block means, and the brightest windows. The time does not depend on how large a window
// is, but for Median and Entropy. [BoxRadii] takes the size of each window from a map.
//
//	soft, err := filter.Box(img, filter.Radius(7), nil)                    // Image[uint8] to Image[uint8]
//	mean, dev, err := filter.MeanStdDev[float32](img, filter.Square(25), nil)
//	err = filter.GaussianInto(img, img, filter.Sigma{X: 20, Y: 20}, nil)   // in place
//	soft, err := filter.BoxImage(photo, filter.Radius(7), nil)             // any image.Image
//
// # Definition
//
// A [Window] is Width×Height pixels round a pixel, which is in its middle; of an even
// number one more is on the left and above. It may be larger than the image. What lies
// outside of the image is said by [Options.Border]. With x, y counted from the window's
// first pixel the result is
//
//	Box, Mean   Σp/n
//	Variance    Σ(p−mean)²/n
//	StdDev      √Variance
//	Normalize   (p − mean) / max(StdDev, floor)
//
// of the n pixels of each channel. Integer results, of [Box] and [Downsample], are exact
// and rounded to nearest, ties up: those of cv2.blur wherever that is exact. Sums,
// means and variances of integers are exact but for the last rounding or two.
//
// # Floats
//
// Sums are float64, whatever the pixels. They start anew at fixed rows, so that the bits
// are the same at every level and for any number of workers, in place and as a stream. A
// sum is off by at most about (Width of the image + 64 + 2·height of the window)·2^-40 of
// a typical sum along its row, and as a rule by 2^-50. What all pixels of the first row have
// in common is taken away first where they lie far from zero. Where the pixels of a window
// differ by so little that the difference of squares is not sure to four digits, its
// variance is made from the pixels, for windows of up to 4096 of them; variances that are
// less than their rounding are else 0.
//
// A pixel touches the windows that have it, and no others, whatever it is: NaN, an infinity,
// or the -3.4e38 that stands for no data. Such images take several times as long. Only means of
// images with huge pixels of opposite signs in the same row may be off below them.
//
// # Memory
//
// No table is stored. A worker has one row of sums and its prefix, and results may go over
// the image itself: then it keeps as many rows as a window is high, and one more. A
// [Stream] filters images that are never in memory. [Median] and [Entropy] of floats, and
// Gaussian and Guided in place, take a copy of the image.
//
// docs/filters.md has speeds, and how near [Gaussian] is to a Gaussian.
package filter
