// Package tilted sums rectangles rotated by 45°. It computes OpenCV's tilted
// integral image, bit for bit, at the speed of memory.
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
// but reach into it. Entry (0, Y) equals entry (1, Y−1).
//
// # Boxes
//
// A [Box] has the same fields as a tilted rectangle in OpenCV's cascades. Its top
// corner is entry (X, Y). From there, one side goes W steps down to the right and
// the other H steps down to the left:
//
//	T(X, Y) − T(X−H, Y+H) − T(X+W, Y+W) + T(X+W−H, Y+W+H)
//
// A box contains 2·W·H pixels, those with
//
//	X+Y−1 ≤ x+y < X+Y−1 + 2·W    and    X−Y > x−y ≥ X−Y − 2·H
//
// Boxes are clipped to the image, and [Table.Area] returns the number of pixels
// inside. A box takes four reads unless it extends below the image. The table has
// no entries for triangles that are cut off there, so their sums need reads from
// every row above: about 4·k·H for a box that extends k rows below the image. In
// float tables, each read adds a rounding error. [Table.Contains] reports whether
// all corners of a box are entries of the table. In package rotated, boxes at 45°
// (rotation 1/1) take the same time everywhere.
//
// # Exactness
//
// Types and guarantees are those of package boxsum: integer sums wrap, and a box
// whose own sum fits the type is exact. Float tables are bit-identical at every
// level and number of workers, except that the bits of a NaN may differ. They are
// bit-identical to OpenCV's for all pairs of types that OpenCV supports: pixels
// are added in its order, along the diagonals that come down from the right. The
// error of an entry is at most about
//
//	(2·H + 2) · 2^-24 · Σ|p|    in float32, and
//	(2·H + 2) · 2^-53 · Σ|p|    in float64,
//
// where Σ|p| is the sum of the magnitudes of the pixels in its triangle. OpenCV's
// 32-bit sums are signed, and wrap to the same bits.
//
// # Speed
//
// An entry depends on three others, all in the row above. A row can therefore be
// computed one vector at a time, with AVX-512, AVX2, NEON or portable Go, and
// with AVX-512 four rows at once. The engine is that of upright tables, with
// tiles that lean to the left.
package tilted
