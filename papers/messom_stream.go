package papers

import "github.com/boxsum/boxsum/internal/launch"

// An offset is where the other pixel of a sum is.
type offset struct{ dx, dy int }

// doublings lists the offsets of the passes that sum n pixels along a direction: 1, 2,
// 4 and so on times it (section 5.1).
func doublings(n, dx, dy int) []offset {
	var list []offset
	for d := 1; d < n; d *= 2 {
		list = append(list, offset{d * dx, d * dy})
	}
	return list
}

// upright is the passes of section 5.3: those along rows, then those along columns.
func upright(width, height int) []offset {
	return append(doublings(width, -1, 0), doublings(height, 0, -1)...)
}

// messomStream runs the kernel of figure 10 once for each offset.
func messomStream(r *rig) *deviceRun {
	return r.stream1(r.width, upright(r.width, r.height))
}

// stream1 is passes over streams of single pixels, of so many columns.
func (r *rig) stream1(width int, offsets []offset) *deviceRun {
	row := int64(width * r.bytes)
	return r.passes("stream", width, r.height, 1, offsets, func(b buffer) []part {
		return []part{{launch.Rows{Buffer: b, Stride: row, Bytes: int64(r.width * r.bytes), Count: int64(r.height)}, 0, 1}}
	})
}

// messomStream4 has four neighbouring pixels in an element.
func messomStream4(r *rig) *deviceRun {
	width := ceilDiv(r.width, 4)
	row := int64(width * 4 * r.bytes)
	return r.passes("stream4", width, r.height, 4, leftAndUp(r.width, r.height), func(b buffer) []part {
		return []part{{launch.Rows{Buffer: b, Stride: row, Bytes: int64(r.width * r.bytes), Count: int64(r.height)}, 0, 1}}
	})
}

// messomStream8 splits the image into eight streams of such elements. The work does
// not say how; here row y goes to stream y%8, so that the eight rows of an element
// are neighbours as its four columns are.
func messomStream8(r *rig) *deviceRun {
	width, height := ceilDiv(r.width, 4), ceilDiv(r.height, 8)
	row := int64(width * 4 * r.bytes)
	return r.passes("stream8", width, height, 32, leftAndUp(r.width, r.height), func(b buffer) []part {
		var streams []part
		for k := range min(8, r.height) {
			streams = append(streams, part{launch.Rows{
				Buffer: b, Offset: int64(k) * int64(height) * row, Stride: row,
				Bytes: int64(r.width * r.bytes), Count: int64(ceilDiv(r.height-k, 8)),
			}, k, 8})
		}
		return streams
	})
}

// leftAndUp is the passes of an upright table with the offsets as distances.
func leftAndUp(width, height int) []offset {
	return append(doublings(width, 1, 0), doublings(height, 0, 1)...)
}

// messomTilted is the end of section 5.3: passes along one diagonal and along the
// other sum every second pixel of the triangle above, as on the squares of one
// colour of a chessboard; the entry above has those of the other colour.
//
// Diagonals leave the image on the right and come back into it, by half of its
// height at most: the stream has as many columns of zeros more, without which the
// triangles that reach over the right edge would lack pixels inside of it.
func messomTilted(r *rig) *deviceRun {
	offsets := append(doublings(r.height, -1, -1), doublings(r.height, 1, -1)...)
	if r.height > 1 {
		offsets = append(offsets, offset{0, -1})
	}
	return r.stream1(r.width+(r.height-1)/2, offsets)
}

// passes is a launch of a kernel for each offset, over width×height elements of so
// many pixels, from one buffer to another and back. The image stays as it is.
func (r *rig) passes(kernel string, width, height, pixels int, offsets []offset, layout func(buffer) []part) *deviceRun {
	elements := width * height
	buffers := []buffer{r.buffer(elements * pixels), r.buffer(elements * pixels), r.buffer(elements * pixels)}
	run := &deviceRun{in: buffers[0], out: buffers[0], layout: layout}
	across := ceilDiv(width, launch.Group)
	for i, o := range offsets {
		to := buffers[1+i%2]
		run.kernels = append(run.kernels, r.step(kernel, across*height, 3*int64(elements)*int64(pixels),
			run.out, to, int32(width), int32(height), int32(across), int32(o.dx), int32(o.dy)))
		run.out = to
	}
	return run
}
