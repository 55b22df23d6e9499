package rotated

// A frame maps the lattice to the lines of the image in memory. It counts pixels
// along a line as x, from the left if rows climb to the right and from the right if
// they fall. In each of the four kinds of rotation, the pixel of line y is then in
//
//	row     y + down(x)    down(0) = 0 and grows by 0 or 1 from pixel to pixel
//	column  x − over(y)    over(0) = 0 and grows by 0 or 1 from line to line
//
// These are r and c, or r and c exchanged: see place.
type frame struct {
	width, height int
	falling       bool
	rows          int // number of rows with pixels; columns are −over(height−1) to width−1

	run  []int32 // for every pixel from the left: the index of its run of pixels with equal down
	runs int

	overs []int32
	downs []int32 // from beside pixels before the first to beside pixels after the last

	// The line of the pixel in a row and column is slightly more than (row − offset
	// − tangent·column)·scale.
	tangent, scale, offset float64
}

// beside is the largest distance of a cell from its estimated position.
const beside = 4

func newFrame(l *Lattice) (frame, error) {
	w := &l.view
	f := frame{width: w.width, height: w.height, falling: w.mirror != w.exchange}
	if w.width == 0 || w.height == 0 {
		return f, nil
	}
	f.runs = w.slope(w.width-1) + 1
	f.rows = w.height + f.runs - 1
	f.tangent = w.tangent()
	f.scale = 1 / (1 + f.tangent*f.tangent)
	if w.exchange {
		f.offset = float64(f.runs) - f.tangent*float64(w.width-1)
	}
	for _, part := range []struct {
		list *[]int32
		n    int
	}{{&f.run, f.width}, {&f.overs, f.height}, {&f.downs, f.width + 2*beside}} {
		var err error
		if *part.list, err = allocate[int32](part.n); err != nil {
			return f, err
		}
	}
	for y := range f.overs {
		f.overs[y] = int32(w.slope(y))
	}
	for i := range f.downs {
		x := i - beside
		down := w.slope(x)
		if w.exchange { // the other way round: down counts back from the far end
			down = f.runs - 1 - w.slope(f.width-1-x)
		}
		f.downs[i] = int32(down)
	}
	for x := range f.run {
		if f.falling {
			f.run[x] = int32(f.runs-1) - f.downs[beside+f.width-1-x]
		} else {
			f.run[x] = f.downs[beside+x]
		}
	}
	return f, nil
}

func (f *frame) first() int { return -int(f.overs[f.height-1]) }

// steps reports whether line y is one column further than the line above.
func (f *frame) steps(y int) bool { return y > 0 && f.overs[y] != f.overs[y-1] }

// starts returns the number of elements before an element of a line that belong to
// the first pixel of a run. The first pixel is the first in the direction of x.
func (f *frame) starts(element, channels int) int {
	x, rest := element/channels, element%channels
	switch {
	case x >= f.width:
		return f.runs * channels
	case f.falling:
		before := int(f.run[x]) * channels
		if x+1 == f.width || f.run[x+1] != f.run[x] {
			before += rest
		}
		return before
	case x == 0:
		return rest
	}
	before := int(f.run[x-1]+1) * channels
	if f.run[x] != f.run[x-1] {
		before += rest
	}
	return before
}

// place returns a box of the lattice as columns and rows of the frame.
func (f *frame) place(l *Lattice, box Box) Box {
	if l.view.exchange {
		c := l.bounds.C0
		box = Box{C0: f.width - box.R1, C1: f.width - box.R0, R0: box.C0 - c, R1: box.C1 - c}
	}
	return box
}

// memory returns the index of pixel x in its line.
func (f *frame) memory(x int) int {
	if f.falling {
		return f.width - 1 - x
	}
	return x
}

// find returns the pixel of a cell or, if the cell is empty, that of the cell
// below: the first pixel in the column whose row is at least row. It searches from
// line 0 on; if there is none, y is height or more. The pixel may be outside the
// image on either side; x may then be that of another pixel on that side.
func (f *frame) find(column, row int) (x, y int, empty bool) {
	// The first line to try is rounded down, which costs at most one step.
	const before = 63. / 64
	y = max(0, int((float64(row)-f.offset-f.tangent*float64(column))*f.scale+before))
	for ; y < f.height; y++ {
		x = column + int(f.overs[y])
		i := x + beside
		if uint(i) >= uint(len(f.downs)) {
			return x, y, false
		}
		if reached := y + int(f.downs[i]); reached >= row {
			return x, y, reached > row
		}
	}
	return x, y, false
}
