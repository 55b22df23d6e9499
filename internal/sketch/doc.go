// Package sketch draws which pixels of an image a box covers that stands at an
// angle, or a Haar-like feature: enlarged, pixel by pixel, with the ideal
// rectangle that the pixels stand for.
//
//	lattice, err := rotated.NewLattice(24, 16, rotated.Rotation{A: 1, B: 2})
//	picture, err := sketch.Draw(sketch.Figure{
//		Lattice: lattice,
//		Boxes:   []sketch.Box{{Box: rotated.Box{C0: 1, R0: 6, C1: 11, R1: 14}, Weight: 1}},
//	})
//
// Pixels that count are blue with a plus, pixels that count against are orange
// with a minus: two colours that differ in every kind of colour blindness, and
// in print.
package sketch
