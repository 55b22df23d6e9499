// Package haar evaluates Haar-like features: differences of neighboring boxes.
// Detectors of faces and other objects are trained on them. Each feature takes a
// few reads of a summed-area table.
//
//	table, err := boxsum.Integrate[uint32](img, nil)
//	plane, err := haar.Upright[int64](table, 0)             // where features are evaluated
//	set, err := haar.All(24, 24, haar.ViolaJones()...)      // 162,336 features, in no memory
//	values := make([]int64, set.Len()*len(windows))
//	err = plane.Values(values, set, windows, nil)           // windows: their top left corners
//
// # Features
//
// A [Feature] consists of a few boxes with weights that divide a rectangle in a
// window, as in figures 1, 2 and 4 of Messom and Barczak. Its value is the sum
// of the pixels in each box times the weight of the box. There are eight kinds;
// − and + are the weights −1 and +1:
//
//	EdgeX   EdgeY   LineX    LineY   LineX4     LineY4   Diagonal   CenterSurround
//	                                                                − − −
//	− +     −       − + −    −       − + + −    −        − +        − + −
//	        +                +                  +        + −        − − −
//	                         −                  +
//	                                            −
//
// Each sign in the picture is a cell. All cells of a feature have the same width
// and height. The boxes share corners, and each corner is read once: six reads
// for an edge, eight for a line and for center-surround, nine for a diagonal.
//
// # Axes
//
// The axes of a feature are those of the [Plane] on which it is evaluated. They
// start at the pixel where the window starts. [Upright] returns the plane of the
// image's own rows and columns, and [Rotated] a plane along the digital lines of
// a rotation a/b, where 1/1 is 45°. On a rotated plane, the x axis climbs to the
// right by the angle and the y axis goes down across it, for every ratio:
// features are rotated, never mirrored. A box then contains the pixels whose
// cells are in it, as in package rotated; their number depends on the position
// of the box.
//
//	table, err := rotated.Integrate[uint32](img, rotated.Rotation{A: 1, B: 2}, nil)
//	plane, err := haar.Rotated[int64](table, 0)
//
// There are two kinds of windows on such a plane:
//
//   - The window rotates with its features. Sets of [All] and [NewSet] have such windows, which are then measured in lines along the axes. This changes a detector of upright objects into one of rotated objects. Lines are 1/√(1+t²) pixels apart, where t is the tangent or, above 45°, its inverse, so a set that was made for pixels must first be scaled by √(1+t²).
//   - The window stays upright, in pixels, and only the features in it are rotated, as in Lienhart and Maydt. Sets of [AllRotated] and [NewRotatedSet] have such windows. The coordinates of boxes start at the cell of the window's upper left pixel and may be negative. All features stay inside the window wherever it is.
//
// # Order
//
// [All] and [AllRotated] list the features of a window kind by kind, in the
// order of their arguments. Within a kind, the top left corners come row by row;
// for each corner, the heights of a cell from 1 up; and for each height, the
// widths from 1 up. This is the order of scikit-image. The boxes, signs and
// values of the five kinds of [ViolaJones] on an upright plane are also those of
// scikit-image.
//
// # Uneven areas
//
// If + and − do not cover the same number of pixels, the value in a flat image
// is not 0. This happens in LineX and CenterSurround, in any feature that
// [Feature.Scale] had to round, and on any plane that is not upright. Corrected
// values compensate for it, as in Messom and Barczak. With the sum f and the
// number of pixels A of the whole feature (α) and of its + boxes (β) they are
//
//	Aα·fβ/Aβ − fα
//
// (equation 4). The areas are the exact numbers of pixels in the boxes at their
// position, not the areas of ideal boxes.
//
// # Exactness
//
// A table of integers gives values of type int64. They are exact as long as the
// sum of every box fits the table's type and the value fits int64, even where
// the table itself has wrapped: boxes are widened to int64 before they are
// added. Values of type float64 work with every table. No value depends on the
// number of workers, or on whether it is computed alone or with others.
package haar
