// Package tilted sums rectangles at 45°. It makes OpenCV's tilted integral image,
// with the same bits, at the speed of memory.
//
//	table, err := tilted.Integrate[uint32](img, nil)         // one pass over the pixels
//	sum := table.Sum(tilted.Box{X: 60, Y: 20, W: 30, H: 12}) // four reads
//
// # Definition
//
// The table of a W×H image has (W+1)×(H+1) entries. Entry (X, Y) is the sum of
// the pixels (x, y) in the triangle above it, whose tip is the pixel (X−1, Y−1):
//
//	y < Y  and  |x − (X−1)| ≤ (Y−1) − y
//
// This is entry (7, 5) of an image of 12×7. Its pixels are marked with #, and the
// tip with T:
//
//	· · # # # # # # # # # ·
//	· · · # # # # # # # · ·
//	· · · · # # # # # · · ·
//	· · · · · # # # · · · ·
//	· · · · · · T · · · · ·
//	· · · · · · · · · · · ·
//	· · · · · · · · · · · ·
//
// Row 0 is zero. Column 0 is not: its triangles have their tips left of the image
// but reach into it. Entry (0, Y) is entry (1, Y−1).
//
// # Boxes
//
// A [Box] has the numbers of a tilted rectangle in OpenCV's cascades. Its top
// corner is entry (X, Y); W steps lead down to the right and H down to the left:
//
//	T(X, Y) − T(X−H, Y+H) − T(X+W, Y+W) + T(X+W−H, Y+W+H)
//
// It holds 2·W·H pixels, those with
//
//	X+Y−1 ≤ x+y < X+Y−1 + 2·W    and    X−Y > x−y ≥ X−Y − 2·H
//
// Boxes are clipped to the image, and [Table.Area] is how many pixels are left. A
// box costs four reads, wherever it lies, unless it sticks out below the image: a
// table holds no triangles that are cut off there, and they cost reads of every
// row above. For a box that sticks out by k rows that is about 4·k·H reads. In
// float tables each of them adds its rounding. Package rotated has boxes at 45°
// that cost the same everywhere, as its rotation 1/1. [Table.Contains] reports
// whether all corners are entries of the table.
//
// # Exactness
//
// Types and promises are those of package boxsum: integer sums wrap, and a box
// whose own sum fits the type is exact. Float tables have the same bits at every
// level and number of workers (a NaN stays a NaN, but its own bits may differ).
// They are OpenCV's bits wherever OpenCV has the pair of types: pixels are added
// in its order, along the diagonals that come down from the right. An entry is off
// by at most about
//
//	(2·H + 2) · 2^-24 · Σ|p|    in float32, and
//	(2·H + 2) · 2^-53 · Σ|p|    in float64,
//
// where Σ|p| is the sum of the magnitudes of the pixels in its triangle. OpenCV's
// 32-bit sums are signed, and wrap to the same bits.
//
// # Speed
//
// A sum needs three others, all in the row above. So a row is made one vector
// at a time, with AVX-512, AVX2, NEON or portable Go, and four rows at once with
// AVX-512. The engine is that of upright tables, with tiles that lean to the left.
package tilted
