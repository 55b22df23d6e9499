// Package filter blurs images and measures the neighborhood of every pixel: box and
// Gaussian blurs, local means, deviations and contrast, the guided filter, median, entropy,
// block means, and the brightest windows. Except for Median and Entropy, the running time
// does not depend on the window's size. [BoxRadii] takes the size of each window from a
// map.
//
//	soft, err := filter.Box(img, filter.Radius(7), nil)                    // Image[uint8] to Image[uint8]
//	mean, dev, err := filter.MeanStdDev[float32](img, filter.Square(25), nil)
//	err = filter.GaussianInto(img, img, filter.Sigma{X: 20, Y: 20}, nil)   // in place
//	soft, err := filter.BoxImage(photo, filter.Radius(7), nil)             // any image.Image
//
// # Definition
//
// A [Window] is Width×Height pixels centered on a pixel; an even size has its extra pixel
// to the left and above. It may be larger than the image. [Options.Border] defines the
// pixels outside the image. With p for a pixel and n for the number of pixels in its
// window, the result of each function is, separately for each channel,
//
//	Box, Mean   Σp/n
//	Variance    Σ(p−mean)²/n
//	StdDev      √Variance
//	Normalize   (p − mean) / max(StdDev, floor)
//
// Integer results, from [Box] and [Downsample], are exact and rounded to nearest, ties up;
// they equal those of cv2.blur wherever OpenCV is exact. Sums, means and variances of
// integers are exact except for the last rounding or two.
//
// # Floats
//
// Sums are float64 for all pixel types. They restart at fixed rows, so results are
// bit-identical at every level, with any number of workers, in place and in streams. A sum
// is off by at most about (width of the image + 64 + 2·height of the window)·2^-40 of a
// typical sum along its row, and usually by 2^-50. If the pixels of the first row are all
// far from zero, a constant is subtracted from all pixels first. If the pixels of a window
// differ so little that the difference of squares is not accurate to four digits, its
// variance is computed from the pixels, for windows of up to 4096 pixels; otherwise,
// variances smaller than their rounding error are 0.
//
// A pixel affects only the windows that contain it, even if it is NaN, an infinity, or the
// -3.4e38 that marks missing data. Images with such pixels take several times as long.
// There is one exception: huge pixels of opposite signs in the same row may change the
// means below them.
//
// # Memory
//
// Filters store no table: each worker keeps one row of sums and its prefix sums. Results
// may overwrite the image, for which each worker keeps one more row than a window is high.
// A [Stream] filters images that are never entirely in memory. [Median] and [Entropy] of
// floats, [Gaussian] and [Guided] in place, and all filters in place on a device copy the
// image.
//
// docs/guides/blur.md shows the filters. docs/reference/filters.md says how closely
// [Gaussian] approximates a Gaussian.
package filter
