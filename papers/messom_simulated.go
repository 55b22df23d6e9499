package papers

// Stream processing simulated on a CPU (Messom and Barczak, section 6.2): the same passes and
// kernels as on a GPU, called for one element of the stream after another in a single thread.

// A stream holds rows of elements, which are single pixels or vectors of adjacent pixels.
type stream[V any] struct {
	elements      []V
	width, height int
}

// at returns the element at (x, y).
func (s stream[V]) at(x, y int) *V { return &s.elements[y*s.width+x] }

type vector [4]float32

// A streamKernel computes the element at (x, y) of every output stream.
type streamKernel[V any] func(in, out []stream[V], x, y int, o offset)

// simulate runs a kernel on all elements, in passes that alternate between two sets of streams, and
// returns the set with the result.
func simulate[V any](in, out []stream[V], offsets []offset, kernel streamKernel[V]) []stream[V] {
	for _, o := range offsets {
		for y := range in[0].height {
			for x := range in[0].width {
				kernel(in, out, x, y, o)
			}
		}
		in, out = out, in
	}
	return in
}

func newStreams[V any](count, width, height int) []stream[V] {
	streams := make([]stream[V], count)
	for i := range streams {
		streams[i] = stream[V]{make([]V, width*height), width, height}
	}
	return streams
}

// messomStreamCPU uses single pixels.
func messomStreamCPU(in, out grid[float32], _ Options) {
	a, b := newStreams[float32](1, in.width, in.height), newStreams[float32](1, in.width, in.height)
	for y := range in.height {
		copy(a[0].elements[y*in.width:], in.row(y))
	}
	done := simulate(a, b, upright(in.width, in.height), kernel1)
	for y := range in.height {
		copy(out.row(y), done[0].elements[y*in.width:])
	}
}

// kernel1 is the kernel of figure 10.
func kernel1(in, out []stream[float32], x, y int, o offset) {
	input, output := in[0], out[0].at(x, y)
	*output = *input.at(x, y)
	if x, y := x+o.dx, y+o.dy; x >= 0 && y >= 0 {
		*output += *input.at(x, y)
	}
}

// messomStream4CPU uses elements of four adjacent pixels.
func messomStream4CPU(in, out grid[float32], _ Options) {
	messomVectors(in, out, 1, kernel4)
}

// messomStream8CPU uses eight streams of such elements; row y is in stream y%8.
func messomStream8CPU(in, out grid[float32], _ Options) {
	messomVectors(in, out, 8, kernel8)
}

func messomVectors(in, out grid[float32], count int, kernel streamKernel[vector]) {
	width, height := ceilDiv(in.width, 4), ceilDiv(in.height, count)
	a, b := newStreams[vector](count, width, height), newStreams[vector](count, width, height)
	for y := range in.height {
		for x, p := range in.row(y) {
			a[y%count].at(x/4, y/count)[x%4] = p
		}
	}
	done := simulate(a, b, leftAndUp(in.width, in.height), kernel)
	for y := range in.height {
		row := out.row(y)
		for x := range row {
			row[x] = done[y%count].at(x/4, y/count)[x%4]
		}
	}
}

// kernel4 is the kernel of figure 10 on vectors. Its offset is a distance to the left or upwards.
func kernel4(in, out []stream[vector], x, y int, o offset) {
	var other vector
	if o.dx > 0 {
		other = shifted(in[0], x, y, o.dx)
	} else if y >= o.dy {
		other = *in[0].at(x, y-o.dy)
	}
	*out[0].at(x, y) = sum(*in[0].at(x, y), other)
}

// kernel8 computes an element of all eight streams.
func kernel8(in, out []stream[vector], x, y int, o offset) {
	for k := range in {
		var other vector
		if o.dx > 0 {
			other = shifted(in[k], x, y, o.dx)
		} else if above := y*len(in) + k - o.dy; above >= 0 { // in rows of the image
			other = *in[above%len(in)].at(x, above/len(in))
		}
		*out[k].at(x, y) = sum(*in[k].at(x, y), other)
	}
}

// shifted returns the four pixels that are left pixels (1, 2 or a multiple of 4) to the left of an
// element's own. Only the first of them may be in the element before.
func shifted(s stream[vector], x, y, left int) vector {
	var before vector
	if left >= 4 {
		if x >= left/4 {
			before = *s.at(x-left/4, y)
		}
		return before
	}
	if x > 0 {
		before = *s.at(x-1, y)
	}
	own := s.at(x, y)
	if left == 1 {
		return vector{before[3], own[0], own[1], own[2]}
	}
	return vector{before[2], before[3], own[0], own[1]}
}

func sum(a, b vector) vector { return vector{a[0] + b[0], a[1] + b[1], a[2] + b[2], a[3] + b[3]} }
