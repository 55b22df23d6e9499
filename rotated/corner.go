package rotated

// Corner is one read of the table, for callers whose boxes share corners: the sum
// of a channel over any box is
//
//	Corner(C1, R1) − Corner(C0, R1) − Corner(C1, R0) + Corner(C0, R0)
//
// with the channel as the third argument. What a corner is by itself depends on
// the rotation. Corners outside of the bounds stand for the nearest on them, and
// those of a channel that the image does not have are 0.
func (t *Table[S]) Corner(c, r, channel int) S {
	if t.Bounds().Empty() || uint(channel) >= uint(t.Channels) {
		return 0
	}
	c, r = t.bounds.nearest(c, r)
	if t.view.exchange {
		return t.at(t.frame.width-r, c-t.bounds.C0-1, channel)
	}
	return -t.at(c, r-1, channel)
}

// CornerArea is the same for the number of pixels: what [Table.Corner] is in an
// image of ones, but for what cancels out in a box.
func (l *Lattice) CornerArea(c, r int) int64 {
	if l.Bounds().Empty() {
		return 0
	}
	return l.count(l.bounds.nearest(c, r))
}

// nearest is the corner of the box's cells, or on its edge, that is nearest.
func (b Box) nearest(c, r int) (int, int) {
	return min(max(c, b.C0), b.C1), min(max(r, b.R0), b.R1)
}
