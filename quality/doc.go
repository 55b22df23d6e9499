// Package quality measures how similar two images are: a compressed image and its original, a result and
// the truth, two pictures to be registered.
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
// [SSIM] is scikit-image's structural_similarity: windows of 7×7 pixels and sample variances, or Gaussian weights
// with [Options.Sigma]; images are mirrored at their edges ([filter.Reflect]), and the mean leaves out the
// windows that reach beyond them. With several channels, the result is the mean over the channels.
//
// LNCC is the local normalized cross-correlation of VoxelMorph, a loss for image registration: windows of 9×9
// pixels, zeros beyond the images, and no product of a deviation below 1e-5 per window.
//
// # Accuracy
//
// Sums of integers are exact, except under Gaussian weights. Floats are added in float64, less a constant: images
// whose values lie far from zero, such as 10 to 10.01, have the right SSIM, where float32 sums can return numbers
// above 1. Results have the same bits at every level and with any number of workers.
//
// # Missing pixels
//
// With [Options.Valid], only pixels that are valid in both images count. A window that has fewer than two of them has
// an SSIM of NaN in the map. Means are over the windows around valid pixels, and NaN if there are none.
package quality
