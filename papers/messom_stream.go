package papers

import "github.com/boxsum/boxsum/internal/launch"

// An offset is the relative position of the other pixel of a sum.
type offset struct{ dx, dy int }

// doublings returns the offsets of the passes that sum n pixels along a direction: 1, 2, 4 and so
// on times it (section 5.1).
func doublings(n, dx, dy int) []offset {
	var list []offset
	for d := 1; d < n; d *= 2 {
		list = append(list, offset{d * dx, d * dy})
	}
	return list
}

// upright returns the passes of section 5.3: those along rows, then those along columns.
func upright(width, height int) []offset {
	return append(doublings(width, -1, 0), doublings(height, 0, -1)...)
}

// messomStream runs the kernel of figure 10 once for each offset.
func messomStream(r *rig) *deviceRun {
	return r.passes("stream", r.width, 1, 1, upright(r.width, r.height))
}

// messomStream4 uses elements of four adjacent pixels.
func messomStream4(r *rig) *deviceRun {
	return r.passes("stream4", r.width, 4, 1, leftAndUp(r.width, r.height))
}

// messomStream8 splits the image into eight streams of such elements. The work does not say how;
// here row y belongs to stream y%8, so that the eight rows of an element are adjacent like its four
// columns.
func messomStream8(r *rig) *deviceRun {
	return r.passes("stream8", r.width, 4, 8, leftAndUp(r.width, r.height))
}

// leftAndUp returns the passes of an upright table, with distances as offsets.
func leftAndUp(width, height int) []offset {
	return append(doublings(width, 1, 0), doublings(height, 0, 1)...)
}

// messomTilted is the end of section 5.3: passes along one diagonal and then the other sum every
// second pixel of the triangle above, as on the squares of one color of a chessboard. The entry
// above holds the sum of those of the other color.
//
// Diagonals leave the image on the right and return, by at most half of its height. The stream has
// that many additional columns of zeros; without them, triangles that extend over the right edge
// would miss pixels inside the image.
func messomTilted(r *rig) *deviceRun {
	offsets := append(doublings(r.height, -1, -1), doublings(r.height, 1, -1)...)
	if r.height > 1 {
		offsets = append(offsets, offset{0, -1})
	}
	return r.passes("stream", r.width+(r.height-1)/2, 1, 1, offsets)
}

// passes returns a launch of a kernel for each offset, alternating between two buffers. An element
// consists of across adjacent pixels of a row of the given number of columns, in each of the
// streams, to which the rows are assigned in turn. The image is not modified.
func (r *rig) passes(kernel string, columns, across, streams int, offsets []offset) *deviceRun {
	width, height := ceilDiv(columns, across), ceilDiv(r.height, streams)
	pixels := width * height * across * streams
	buffers := []buffer{r.buffer(pixels), r.buffer(pixels), r.buffer(pixels)}
	run := &deviceRun{in: buffers[0], out: buffers[0], layout: func(b buffer) (parts []part) {
		row := int64(width * across * r.bytes)
		for k := range min(streams, r.height) {
			parts = append(parts, part{launch.Rows{
				Buffer: b, Offset: int64(k) * int64(height) * row, Stride: row,
				Bytes: int64(r.width * r.bytes), Count: int64(ceilDiv(r.height-k, streams)),
			}, k, streams})
		}
		return parts
	}}
	groups := ceilDiv(width, launch.Group)
	for i, o := range offsets {
		to := buffers[1+i%2]
		run.kernels = append(run.kernels, r.step(kernel, groups*height, 3*int64(pixels),
			run.out, to, int32(width), int32(height), int32(groups), int32(o.dx), int32(o.dy)))
		run.out = to
	}
	return run
}
