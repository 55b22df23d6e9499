// Package rotated sums boxes at an angle. It computes summed-area tables along
// the digital lines of a rotation whose tangent is a ratio a/b, after Messom
// and Barczak. The sum, the area and the mean of any such box take constant
// time, however large the box is.
//
//	table, err := rotated.Integrate[uint32](img, rotated.Rotation{A: 1, B: 2}, nil)
//	box, err := table.FromRectangle(rotated.Rectangle{X: 320, Y: 240, Width: 90, Height: 40, Degrees: 26.57})
//	sum, area := table.Sum(box), table.Area(box)
//
// # The lattice
//
// For 0 ≤ a/b ≤ 1 the pixel at (x, y) lies on the digital lines
//
//	r = y + ⌊a·x/b⌋    "rows" that climb to the right, numbered downward
//	c = x − ⌊a·y/b⌋    "columns" across them, numbered to the right
//
// and no two pixels share both. A [Box] contains the pixels with R0 ≤ r < R1
// and C0 ≤ c < C1. This is 1/2, with the pixels of the box {3 ≤ r < 7, 1 ≤ c <
// 6} marked:
//
//	· · · · · · · · · · · ·
//	· · · · # # · · · · · ·
//	· · # # # # # · · · · ·
//	· · # # # # # · · · · ·
//	· · · # # # · · · · · ·
//	· · · # · · · · · · · ·
//
// A pair (c, r) is a cell. About one in 1+(a/b)² of the cells inside the image
// contains a pixel. The others are empty and do not change any sum. A box whose
// corners are empty cells, or outside the image, is still exact.
//
// # Which way each ratio turns
//
// The rows of a rotation climb to the right by the angle whose tangent is a/b:
// 1/2 by 26.57°, 2/1 by 63.43°. The rows of a negative rotation fall. All
// ratios are reduced to ratios between 0 and 1 by a change of coordinates from
// (x, y) to (u, v); r and c are those of (u, v):
//
//	 0 ≤ a/b ≤ 1     u = x        v = y        a/b
//	-1 ≤ a/b < 0     u = W−1−x    v = y        |a|/b    mirrored left to right
//	 1 < a/b         u = y        v = x        b/a      a quarter turn, then −b/a
//	     a/b < −1    u = y        v = W−1−x    b/|a|    mirrored, then as above
//
// A quarter turn clockwise followed by the mirroring of a negative ratio is an
// exchange of x and y, so the third line does only this. To rotate a box by a
// further 90°, exchange its sides on the same lattice. Upright boxes, and those
// rotated by 90°, are 0/1.
//
// # Exactness
//
// Types and guarantees are those of package boxsum: integer sums wrap, and a
// box whose own sum fits the type is exact. Float tables are bit-identical at
// every level and number of workers. Areas are exact integers.
//
// # Storage
//
// A table holds one sum for every pixel, in the layout of the image: the sum of
// the quadrant between the two digital lines that cross in the pixel. The
// quadrant opens upward, so the table is computed line by line. Above 3/4 the
// table also holds the sums of the empty cells, (a/b)² times as many; up to 3/4
// these follow from their neighbors. Outside the image the sums of whole rows
// and columns suffice. A box takes a few reads, wherever its corners are. Areas
// come from two small arrays.
package rotated
