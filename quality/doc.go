// Package quality measures how similar two images are, such as a compressed image and its original,
// a result and its ground truth, or two pictures to be registered.
//
//	s, err := quality.SSIM(original, compressed, nil)              // 1 if they are equal
//	m, s, err := quality.SSIMMap[float32](original, compressed, nil) // and where they differ
//	db, err := quality.PSNR(original, compressed, nil)             // in decibels
//
// # Measures
//
// Let x and y be the pixels of both images in the window around a pixel, and R the data range:
//
//	SSIM     (2·mean x·mean y + C1)(2·cov + C2) / ((mean² x + mean² y + C1)(var x + var y + C2)),  C = (K·R)²
//	MS-SSIM  SSIM at five scales, after Wang, Simoncelli and Bovik
//	LNCC     cov² / (var x · var y), or with its sign cov / √(var x · var y)
//	MSE      mean of (x − y)² over the image
//	PSNR     10·log(R² / MSE) in decibels, +Inf for equal images
//
// [SSIM] is scikit-image's structural_similarity, with windows of 7×7 pixels and sample variances,
// or with Gaussian weights if [Options.Sigma] is set. Images are mirrored at their edges
// ([filter.Reflect]), but the mean excludes windows that reach beyond them. With several channels,
// the result is the mean over the channels.
//
// LNCC is the local normalized cross-correlation of VoxelMorph, a loss for image registration.
// Windows have 9×9 pixels, pixels outside the images are 0, and a variance times the number of
// pixels counts as at least 1e-5.
//
// # Accuracy
//
// Sums of integers are exact, except with Gaussian weights. Floats are added in float64 after a
// constant has been subtracted, so images whose values lie far from zero, such as 10 to 10.01, get
// the right SSIM, where float32 sums can return numbers above 1. Results have the same bits at
// every level and with any number of workers.
//
// # Missing pixels
//
// With [Options.Valid], only pixels that are valid in both images count. In the map, the SSIM of a
// window with fewer than two such pixels is NaN. The mean is taken over the windows around valid
// pixels, and is NaN if there are none.
package quality
