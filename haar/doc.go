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
// it. Its value is the sum of the pixels in each box times the box's weight.
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
// Features know nothing of the axes that they lie along. Their boxes count
// along those of the [Plane] that they are evaluated on, from the place where
// the window starts; [Upright] is the plane of the image's own rows and columns.
//
// # Order
//
// [All] lists the features of a window kind by kind, in the order in which the
// kinds are given. Within a kind come the top left corners row by row, for each
// the heights of a cell from 1 up, and for each of them the widths from 1 up.
// That is the order of scikit-image, and so are the boxes, the signs and the
// values of the five kinds of [ViolaJones].
//
// # Uneven areas
//
// Where + and − do not cover the same number of pixels, as in LineX and
// CentreSurround, and in any feature after [Feature.Scale] had to round, a flat
// image has a value other than 0. Corrected values mend that as Messom and
// Barczak do: with the sum f and the number of pixels A of the whole feature
// (α) and of its + boxes (β) they are
//
//	Aα·fβ/Aβ − fα
//
// The areas are those of the boxes as they lie, not of what they were meant to
// be before rounding.
//
// # Exactness
//
// A table of integers gives values of type int64. They are exact as long as
// the sum of every box fits the table's type and the value fits int64, also
// where the table itself has wrapped: boxes are widened to int64 before they
// are added up. Values of type float64 go with every table. No value depends
// on the number of workers, or on whether it was asked for alone or with others.
package haar
