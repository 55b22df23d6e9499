package rotated

// Corner returns the entry for a corner of boxes, for callers whose boxes share
// corners. The sum of a channel over any box is
//
//	Corner(C1, R1) − Corner(C0, R1) − Corner(C1, R0) + Corner(C0, R0)
//
// with the channel as the third argument. The meaning of a single entry depends
// on the rotation. Corners outside the bounds are moved to the nearest corner
// on the bounds. If the image has no such channel, Corner returns 0.
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

// CornerArea is like [Table.Corner] for the number of pixels: it returns the
// entry of an image of ones, apart from terms that cancel in a box.
func (l *Lattice) CornerArea(c, r int) int64 {
	if l.Bounds().Empty() {
		return 0
	}
	return l.count(l.bounds.nearest(c, r))
}

// nearest returns the corner inside the box or on its edge that is nearest.
func (b Box) nearest(c, r int) (int, int) {
	return min(max(c, b.C0), b.C1), min(max(r, b.R0), b.R1)
}
