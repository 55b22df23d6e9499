package papers

var bilgicWork = &Work{
	Name:    "bilgic",
	Authors: "B. Bilgic, B. K. P. Horn, I. Masaki",
	Title:   "Efficient Integral Image Computation on the GPU",
	Where:   "IEEE Intelligent Vehicles Symposium, 2010, pages 528–533",
}

// The algorithms of Bilgic, Horn and Masaki. Their tables are exclusive and of the
// image's size; here the last row and column are made too.
var bilgic = []*Algorithm{
	{
		Name: "bilgic/sequential", Work: bilgicWork, Section: "section II",
		Title:      "exclusive table, one row after another on one thread",
		Precisions: []Precision{Float, Double},
		CostText:   "2 reads, 1 write",
		cost:       fixedCost(2, 1),
		cpu:        hostCode{whole: true, f32: bilgicSequential[float32], f64: bilgicSequential[float64]},
	},
	{
		Name: "bilgic/scan-transpose", Work: bilgicWork, Section: "section IV",
		Title:      "work-efficient scans of segments of 512, a transpose, and scans again; the table stays transposed",
		Place:      GPU,
		Precisions: []Precision{Float, Float4, Double},
		CostText:   "3 reads, 3 writes; 5 and 5 beyond 512 pixels",
		cost:       func(w, h int) Cost { return bilgicCost(w, h, 1) },
		gpu:        func(r *rig) (*deviceRun, error) { return bilgicScans(r, false) },
	},
	{
		Name: "bilgic/scan-transpose-back", Work: bilgicWork, Section: "section IV",
		Title:      "the same, and a transpose that puts the table upright",
		Place:      GPU,
		Precisions: []Precision{Float, Float4, Double},
		CostText:   "4 reads, 4 writes; 6 and 6 beyond 512 pixels",
		cost:       func(w, h int) Cost { return bilgicCost(w, h, 2) },
		gpu:        func(r *rig) (*deviceRun, error) { return bilgicScans(r, true) },
	},
}

// fixedCost is a cost that does not depend on the size.
func fixedCost(reads, writes float64) func(width, height int) Cost {
	return func(int, int) Cost { return Cost{reads, writes} }
}

// bilgicCost is two scans, so many transposes, and, of rows of several segments, the
// part of them that is incremented.
func bilgicCost(width, height, transposes int) Cost {
	incremented := func(n int) float64 { return float64(max(n-segment, 0)) / float64(n) }
	passes := 2 + float64(transposes) + incremented(width) + incremented(height)
	return Cost{passes, passes}
}

// bilgicSequential is the algorithm of section II: s is the sum of the row so far.
// Its last line writes past the end of each row, which with a column more is inside.
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

// segment is how many pixels of a row a block scans, two for each of its threads.
const segment = 512

// bilgicScans is section IV: B scans the rows, C transposes what comes out, and
// scans the rows of that. The work leaves the table transposed: with back, it is
// turned again as part of a run, and without when it is fetched.
func bilgicScans(r *rig, back bool) (*deviceRun, error) {
	wide, high := r.width+1, r.height+1
	in, err := r.buffer(r.width * r.height)
	if err != nil {
		return nil, err
	}
	a, err := r.buffer(wide * high)
	if err != nil {
		return nil, err
	}
	b, err := r.buffer(wide * high)
	if err != nil {
		return nil, err
	}
	var steps []Step
	if steps, err = r.scanRows(steps, in, a, r.width, wide, r.height); err != nil {
		return nil, err
	}
	steps = append(steps, r.transpose(a, b, wide, r.height))
	if steps, err = r.scanRows(steps, b, a, r.height, high, wide); err != nil {
		return nil, err
	}
	upright := r.transpose(a, b, high, wide)
	run := &deviceRun{in: in, out: b, whole: true}
	if back {
		steps = append(steps, upright)
	} else {
		run.finish = upright.Run
	}
	run.kernels = steps
	return run, nil
}

// scanRows scans rows of n values into rows of outs, n or n+1, which may be the same
// memory. Where a row has several segments, the totals of these are scanned in
// place by the same means, and added to the segments after them.
func (r *rig) scanRows(steps []Step, in, out buffer, n, outs, rows int) ([]Step, error) {
	segments := ceilDiv(n, segment)
	sums := in // not used for one segment
	if segments > 1 {
		var err error
		if sums, err = r.buffer(segments * rows); err != nil {
			return nil, err
		}
	}
	steps = append(steps, r.step("scan", segments*rows, int64(rows)*int64(n+outs), in, out, sums, int32(n), int32(outs), int32(segments)))
	if segments == 1 {
		return steps, nil
	}
	steps, err := r.scanRows(steps, sums, sums, segments, segments, rows)
	if err != nil {
		return nil, err
	}
	return append(steps, r.step("increment", (segments-1)*rows, 2*int64(rows)*int64(outs-segment), out, sums, int32(outs), int32(segments))), nil
}

// transpose turns rows of width values into columns.
func (r *rig) transpose(in, out buffer, width, height int) Step {
	const tile = 16
	across, down := ceilDiv(width, tile), ceilDiv(height, tile)
	return r.step("transpose", across*down, 2*int64(width)*int64(height), in, out, int32(width), int32(height), int32(across))
}

func ceilDiv(a, b int) int { return (a + b - 1) / b }
