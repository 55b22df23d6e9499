// Package haar evaluates Haar-like features, the differences of neighbouring
// boxes that detectors of faces and other objects are trained on, in a handful
// of reads of a summed-area table each.
//
//	table, err := boxsum.Integrate[uint32](img, nil)
//	plane, err := haar.Upright[int64](table, 0)             // where features are evaluated
//	set, err := haar.All(24, 24, haar.ViolaJones()...)      // 162,336 features, in no memory
//	values := make([]int64, set.Len()*len(windows))
//	err = plane.Values(values, set, windows, nil)           // windows: their top left corners
//
// # Features
//
// A [Feature] is a few boxes with weights, cut out of a window by lines across
// it: those of Messom and Barczak's figures 1, 2 and 4. Its value is the sum of the pixels in each box times the box's weight.
// There are eight kinds; − and + are the weights −1 and +1:
//
//	EdgeX   EdgeY   LineX    LineY   LineX4     LineY4   Diagonal   CentreSurround
//	                                                                − − −
//	− +     −       − + −    −       − + + −    −        − +        − + −
//	        +                +                  +        + −        − − −
//	                         −                  +
//	                                            −
//
// A sign in the picture is a cell, and all cells of a feature have the same
// width and height. The boxes meet at their corners, and each corner is read
// once: six reads for an edge, eight for a line and for centre-surround, nine
// for a diagonal.
//
// # Axes
//
// Features know nothing of the axes that they lie along. Their boxes count
// along those of the [Plane] that they are evaluated on, from the pixel where
// the window starts. [Upright] is the plane of the image's own rows and
// columns. [Rotated] is one along the digital lines of a rotation a/b, 1/1
// being 45°: x climbs to the right by its angle and y goes down across it, for
// every ratio, so that features are turned and never mirrored. There a box
// holds the pixels that have their cells in it, see package rotated: more or
// fewer, depending on where it lies.
//
//	table, err := rotated.Integrate[uint32](img, rotated.Rotation{A: 1, B: 2}, nil)
//	plane, err := haar.Rotated[int64](table, 0)
//
// There are two ways to go about windows on such a plane:
//
//   - The window turns with its features: sets of [All] and [NewSet], whose
//     window is then so many lines along the axes. That is a detector of upright
//     objects made one of turned objects. As lines are 1/√(1+t²) pixels apart,
//     where t is the tangent or, above 45°, its inverse, a set that was made for
//     pixels is first scaled by √(1+t²).
//   - The window stays upright, in pixels, and only the features in it are
//     turned, as those of Lienhart and Maydt are: [AllRotated] and
//     [NewRotatedSet]. Their boxes count from the cell of the window's upper left
//     pixel, and parts of them may be negative. All features stay inside of the
//     window wherever that is.
//
// # Order
//
// [All] and [AllRotated] list the features of a window kind by kind, in the
// order in which the kinds are given. Within a kind come the top left corners row by row, for each
// the heights of a cell from 1 up, and for each of them the widths from 1 up.
// That is the order of scikit-image, and so are the boxes, the signs and the
// values of the five kinds of [ViolaJones] on an upright plane.
//
// # Uneven areas
//
// Where + and − do not cover the same number of pixels, as in LineX and
// CentreSurround, in any feature after [Feature.Scale] had to round, and on any
// plane that is not upright, a flat image has a value other than 0. Corrected values mend that as Messom and
// Barczak do: with the sum f and the number of pixels A of the whole feature
// (α) and of its + boxes (β) they are
//
//	Aα·fβ/Aβ − fα
//
// (equation 4). The areas are those of the boxes as they lie, counted exactly,
// and not of what they were meant to be.
//
// # Exactness
//
// A table of integers gives values of type int64. They are exact as long as
// the sum of every box fits the table's type and the value fits int64, also
// where the table itself has wrapped: boxes are widened to int64 before they
// are added up. Values of type float64 go with every table. No value depends
// on the number of workers, or on whether it was asked for alone or with others.
package haar
