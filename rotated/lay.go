package rotated

import (
	"sort"
	"unsafe"

	"github.com/boxsum/boxsum"
)

// bytesOf is the memory of a slice. Pixels are moved and not looked at, so that
// one loop does for all types and channels.
func bytesOf[P boxsum.Pixel](s []P) []byte {
	return unsafe.Slice((*byte)(unsafe.Pointer(unsafe.SliceData(s))), len(s)*int(unsafe.Sizeof(*new(P))))
}

// lines is an image as bytes: lines pitch bytes apart, of pixels of size bytes.
type lines struct {
	pix         []byte
	pitch, size int
}

// cells is a tile to lay pixels out in: rows stride bytes apart. There are lead
// bytes to spare before the first and after the last row, and wordBytes after
// each.
type cells struct {
	buf    []byte
	stride int
	stage  [stageBytes]byte
}

const (
	// stageBytes is what part of the image is fetched at once. It leaves room in
	// the first-level cache for the rows that are written.
	stageBytes = 16 << 10
	// stagePieces is how many pieces that is at most.
	stagePieces = 32
	lead        = 64
)

// A piece is what one line of the image has for a tile: pixels that lie next to
// each other in some runs.
type piece struct {
	from, x, end int // the first in the image's bytes; x to end in the line
	run, last    int // those of the first and of the last pixel
	y            int // the line
	at           int // where run 0 and x = 0 would be in the cells
}

// lay puts the pixels of a box of the frame in their places. It reads every line
// of the image in its own order, as far as it belongs to the box.
//
// Lines are taken in the order that fills the rows of the box from left to
// right. A short run is then written in whole words, zeros after it, and what
// that overwrites is still to come.
func (to *cells) lay(f *frame, img lines, words []word, next []int32, box Box) {
	clear(to.buf[lead:][:(box.R1-box.R0)*to.stride])
	step := to.stride
	if f.falling {
		step = -step
	}
	if words == nil {
		for p := range f.pieces(img, to.stride, box) {
			for p.x < p.end {
				to.copyRun(f, &p, img.pix[p.from:], img.size, step)
			}
		}
		return
	}
	// The pieces are short and far from each other. Fetching several first has
	// many cache misses under way at once, where laying out one waits for each.
	room := roundUp(min(bandRows*f.longest, box.C1-box.C0)*img.size+wordBytes, wordBytes)
	var group [stagePieces]piece
	n, most := 0, max(1, min(stagePieces, stageBytes/room))
	flush := func() {
		for i := 0; i < n; {
			many := f.together(group[i:n], img.size)
			run, end := 0, 0 // of the first line, that are laid out together
			if many > 1 {
				run, end = f.full(&group[i])
				for k := range many {
					first, stop := f.full(&group[i+k])
					run, end = max(run, first-k), min(end, stop-k)
				}
				if run < end {
					f.combine(to.buf, to.stage[i*room:], room, group[i:i+many], run, end, img.size, step)
				} else {
					run, end = 0, 0
				}
			}
			for k, p := range group[i : i+many] {
				to.moveRuns(f, p, to.stage[(i+k)*room:][:room], words, next, img.size, step, run+k, end+k)
			}
			i += many
		}
		n = 0
	}
	for p := range f.pieces(img, to.stride, box) {
		copy(to.stage[n*room:][:room], img.pix[p.from:][:(p.end-p.x)*img.size])
		group[n] = p
		if n++; n == most {
			flush()
		}
	}
	flush()
}

// moveRuns puts the runs of a piece in their places, of those that the box cuts
// off no more than belongs to it. The runs [skip, resume) are there already.
func (to *cells) moveRuns(f *frame, p piece, src []byte, words []word, next []int32, size, step, skip, resume int) {
	x := p.x
	if int(f.starts[p.run]) < p.x {
		to.copyRun(f, &p, src, size, step)
	}
	end := p.last + 1
	if int(f.starts[end]) > p.end {
		end--
	}
	if p.run < end {
		if skip >= resume {
			skip, resume = end, end
		}
		move(to.buf, p.at, src, -x*size, words[next[p.run]:next[skip]])
		move(to.buf, p.at, src, -x*size, words[next[resume]:next[end]])
		p.x, p.run = int(f.starts[end]), end
	}
	if p.x < p.end {
		to.copyRun(f, &p, src[(p.x-x)*size:], size, step)
	}
}

// copyRun copies the first run of a piece, which begins at src, and takes it
// off the piece. It returns how many bytes that was.
func (to *cells) copyRun(f *frame, p *piece, src []byte, size, step int) int {
	stop := min(int(f.starts[p.run+1]), p.end)
	n := (stop - p.x) * size
	copy(to.buf[p.at+p.run*step+p.x*size:], src[:n])
	p.from, p.x, p.run = p.from+n, stop, p.run+1
	return n
}

// pieces yields the pieces of a box in the order that fills it from the left.
func (f *frame) pieces(img lines, stride int, box Box) func(yield func(piece) bool) {
	return func(yield func(piece) bool) {
		runs := f.runs()
		y0, y1 := f.linesOf(box)
		for i := range y1 - y0 {
			// down is between these two for the runs that are in the box.
			y := y1 - 1 - i
			if f.falling {
				y = y0 + i
			}
			first, end := max(0, box.R0-y), min(runs, box.R1-y)
			if f.falling {
				first, end = runs-end, runs-first
			}
			right := int(f.right[y])
			x, stop := max(int(f.starts[first]), box.C0-right), min(int(f.starts[end]), box.C1-right)
			if x >= stop {
				continue
			}
			row := y - box.R0
			if f.falling {
				row += runs - 1
			}
			if !yield(piece{
				y: y, from: y*img.pitch + x*img.size, x: x, end: stop,
				run: int(f.run[x]), last: int(f.run[stop-1]),
				at: lead + row*stride + (right-box.C0)*img.size,
			}) {
				return
			}
		}
	}
}

// linesOf is the lines y0 ≤ y < y1 of the image that have pixels in the rows of
// a box and may have some in its columns.
func (f *frame) linesOf(box Box) (y0, y1 int) {
	y0, y1 = max(0, box.R0-f.runs()+1), min(f.height, box.R1)
	if y0 >= y1 {
		return 0, 0
	}
	// In line y, the columns in the rows of the box begin and end further on the
	// way that rows run: that is monotonous, and so is whether they are in it.
	before := func(y int) bool { // all pixels are left of the box
		_, end := f.span(box, y)
		return end+int(f.right[y]) <= box.C0
	}
	after := func(y int) bool { // all pixels are right of the box
		start, _ := f.span(box, y)
		return start+int(f.right[y]) >= box.C1
	}
	n := y1 - y0
	if f.falling {
		return y0 + sort.Search(n, func(i int) bool { return !before(y0 + i) }),
			y0 + sort.Search(n, func(i int) bool { return after(y0 + i) })
	}
	return y0 + sort.Search(n, func(i int) bool { return !after(y0 + i) }),
		y0 + sort.Search(n, func(i int) bool { return before(y0 + i) })
}

// span is the pixels start ≤ x < end of a line in the rows of a box.
func (f *frame) span(box Box, y int) (start, end int) {
	runs := f.runs()
	first, last := max(0, box.R0-y), min(runs, box.R1-y)
	if f.falling {
		first, last = runs-last, runs-first
	}
	return int(f.starts[first]), int(f.starts[last])
}
