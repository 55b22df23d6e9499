package papers

// The algorithms of Bilgic, Horn and Masaki. Their tables are exclusive and of the image's size;
// here the last row and column are computed, too.

// bilgicCost returns the cost of two scans, some transposes and, for rows of several segments, of
// incrementing all but the first.
func bilgicCost(width, height, transposes int) Cost {
	incremented := func(n int) float64 { return float64(max(n-segment, 0)) / float64(n) }
	passes := 2 + float64(transposes) + incremented(width) + incremented(height)
	return Cost{passes, passes}
}

// bilgicSequential is the algorithm of section II: s is the sum of the row so far. Its last line
// writes past the end of each row, which is inside the table here because it has one more column.
func bilgicSequential[E element](in, out grid[E], _ Options) {
	clear(out.row(0))
	for y := 1; y < out.height; y++ {
		pixels, above, row := in.row(y-1), out.row(y-1), out.row(y)
		row[0] = 0
		var s E
		for x := range pixels {
			s += pixels[x]
			row[x+1] = s + above[x+1]
		}
	}
}

// segment is the number of pixels in a row that a block scans, two per thread.
const segment = 512

// bilgicScans is section IV: it scans the rows, transposes the result, and scans its rows. The work
// leaves the table transposed: if back is set, a run transposes it again, and otherwise that is
// done when it is fetched.
func bilgicScans(r *rig, back bool) *deviceRun {
	wide, high := r.width+1, r.height+1
	in, a, b := r.buffer(r.width*r.height), r.buffer(wide*high), r.buffer(wide*high)
	steps := append(r.scanRows(in, a, r.width, wide, r.height), r.transpose(a, b, wide, r.height))
	steps = append(steps, r.scanRows(b, a, r.height, high, wide)...)
	upright := r.transpose(a, b, high, wide)
	run := &deviceRun{in: in, out: b, whole: true}
	if back {
		steps = append(steps, upright)
	} else {
		run.finish = upright.Run
	}
	run.kernels = steps
	return run
}

// scanRows scans rows of n values into rows of outs entries, n or n+1, possibly in the same memory.
// If a row has several segments, their totals are scanned in place in the same way and added to the
// segments that follow.
func (r *rig) scanRows(in, out buffer, n, outs, rows int) []Step {
	segments := ceilDiv(n, segment)
	sums := in // unused if there is one segment
	if segments > 1 {
		sums = r.buffer(segments * rows)
	}
	steps := []Step{r.step("scan", segments*rows, int64(rows)*int64(n+outs), in, out, sums, int32(n), int32(outs), int32(segments))}
	if segments > 1 {
		steps = append(steps, r.scanRows(sums, sums, segments, segments, rows)...)
		steps = append(steps, r.step("increment", (segments-1)*rows, 2*int64(rows)*int64(outs-segment), out, sums, int32(outs), int32(segments)))
	}
	return steps
}

// transpose transposes rows of width values.
func (r *rig) transpose(in, out buffer, width, height int) Step {
	const tile = 16
	across, down := ceilDiv(width, tile), ceilDiv(height, tile)
	return r.step("transpose", across*down, 2*int64(width)*int64(height), in, out, int32(width), int32(height), int32(across))
}

func ceilDiv(a, b int) int { return (a + b - 1) / b }
