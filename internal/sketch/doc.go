// Package sketch draws the pixels of an image that are covered by a box at an angle or by a Haar-like feature,
// enlarged, together with the ideal rectangle that the pixels approximate.
//
//	lattice, err := rotated.NewLattice(24, 16, rotated.Rotation{A: 1, B: 2})
//	picture, err := sketch.Draw(sketch.Figure{
//		Lattice: lattice,
//		Boxes:   []sketch.Box{{Box: rotated.Box{C0: 1, R0: 6, C1: 11, R1: 14}, Weight: 1}},
//	})
//
// Pixels with positive weight are blue with a plus, those with negative weight orange with a minus. The two colors
// can be told apart with every kind of color blindness, and in print.
package sketch
