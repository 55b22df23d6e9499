// Package moments computes the moments of any box of an image in constant time:
// raw, central and normalized moments up to the third order, and Hu's seven
// invariants. The invariants do not change when a shape is moved, rotated or
// scaled.
//
//	table, err := moments.Integrate(img, nil)
//	m := table.Moments(image.Rect(10, 20, 110, 220), 0)
//	x, y := m.Centroid()
//	hu := m.Hu()
//
// # Definition
//
// The raw moments of a box are M_pq = Σ x^p·y^q·I(x,y), for p+q ≤ 3, where x
// and y start at the top left pixel of the box. In the central moments, Mu,
// they start at the centroid. The normalized moments are Mu_pq /
// M00^(1+(p+q)/2). OpenCV's moments and HuMoments return the same numbers for
// the cropped box. Boxes are clipped to the image.
//
// The table has (W+1)×(H+1) entries of ten sums each, one for each p and q: the
// sums of x^p·y^q·I over [0,x)×[0,y), with x and y in the image. Four entries
// give the sums of a box, which are then re-centered.
//
// # Exactness
//
// Sums are integers modulo 2^64, or modulo 2^128 for 32-bit and float pixels.
// Re-centering is exact modulo the same number, so the result is exact if it
// fits, even if the table itself has wrapped. With 64 bits and moments about
// the middle of a square box, it fits for boxes of up to 4,099 pixels a side of
// uint8, 1,351 of uint16 and 1,552 of int16. A larger box is cut in half until
// its parts fit, and their moments are added in 128 bits, with four more reads
// for each part. The raw moments of integer pixels are therefore exact for
// every box, rounded once to float64. The moments about the pixel nearest to
// the centroid are exact too, and the central moments follow from them by small
// corrections. The position of a box in the image does not matter: the same
// pixels elsewhere give the same bits.
//
// Float pixels are first rounded to multiples of a unit, 2^-62 of the power of
// two above the largest magnitude in the image (slightly more in images of more
// than 10,000 pixels a side), and are then treated as integers. The error of a
// pixel is at most half a unit. A float32 pixel larger than 2^-38 of the
// largest is not rounded at all, nor is a float64 pixel larger than 2^-9 of it.
// NaN and infinities are an error, because they have no moments.
//
// # Memory
//
// An entry takes 80 bytes for 8- and 16-bit pixels and 160 bytes for others: a
// table takes 166 MB or 332 MB at 1080p. [Bytes] returns the size in advance.
// If a table does not fit in memory, Integrate returns an error.
package moments
