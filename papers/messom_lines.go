package papers

// The line-buffer method of Messom and Barczak, section 4.1: an entry is the sum of a quadrant that
// opens upwards between two digital lines through its pixel, one from each family. The image is
// processed row by row, with a buffer that holds, for each line of one family, the sum of its
// pixels so far. An entry is then that of the neighbor above on its other line plus the buffers of
// the lines in between: one, or two if the neighbor's line is not the next one.

// messomTwisted is the method at 45°, where the neighbor is diagonally above to the left: lines are
// x+y, and two of them lie in between.
func messomTwisted[E element](in, out grid[E], _ Options) {
	buffer := make([]E, in.width+in.height)
	for y := range in.height {
		pixels, row := in.row(y), out.row(y)
		for x := in.width - 1; x >= 0; x-- {
			line := x + y
			buffer[line] += pixels[x]
			row[x] = buffer[line]
			switch {
			case y == 0:
			case x == 0:
				row[x] += out.row(y - 1)[0]
			default:
				row[x] += buffer[line-1] + out.row(y - 1)[x-1]
			}
		}
	}
}

// messomRotated is the method along the lines of a ratio a/b. Up to 45° rows are processed right to
// left, and the quadrant is at the top right; above 45° they are processed left to right, and it is
// at the top left (figure 7). A negative ratio is the positive one on the mirrored image.
func messomRotated[E element](in, out grid[E], o Options) {
	a, b := o.Rotation.A, o.Rotation.B
	mirrored := a < 0
	if mirrored {
		a = -a
	}
	steep := a > b
	if steep {
		a, b = b, a
	}
	// shift[i] is the distance by which a line has moved after i pixels.
	shift := make([]int, max(in.width, in.height)+1)
	for i := range shift {
		shift[i] = int(int64(i) * int64(a) / int64(b))
	}
	// Lines are numbered from that of the pixel at the top left or top right.
	buffer := make([]E, in.height+2*len(shift))
	before := shift[in.width]
	above := out.row(0)
	for y := range in.height {
		pixels, row := in.row(y), out.row(y)
		for i := range in.width {
			x := i
			if !steep {
				x = in.width - 1 - i
			}
			at := x
			if mirrored {
				at = in.width - 1 - x
			}
			// Up to 45° the line falls to the left, above 45° to the right.
			line, drift := y+shift[x], -1
			if steep {
				line, drift = before+y-shift[x], 1
			}
			buffer[line] += pixels[at]
			row[at] = buffer[line]
			if y == 0 {
				continue
			}
			// The neighbor above on the other line has moved with the line, unless the line begins at the edge
			// of the image.
			from := x
			if moved := shift[y] - shift[y-1]; x+drift*moved >= 0 && x+drift*moved < in.width {
				from += drift * moved
			}
			if skipped := shift[max(x, from)] - shift[min(x, from)]; skipped > 0 {
				row[at] += buffer[line-1]
			}
			if mirrored {
				from = in.width - 1 - from
			}
			row[at] += above[from]
		}
		above = row
	}
}
