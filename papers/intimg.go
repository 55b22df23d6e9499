package papers

var intimgWork = &Work{
	Name:    "intimg",
	Authors: "the intimg project",
	Title:   "Integral image computation",
	Where:   "notes with four implementations, in C++ and CUDA",
}

// The four variants of intimg, whose tables are inclusive. The notes are for any
// type of value.
var intimg = []*Algorithm{
	{
		Name: "intimg/serial", Work: intimgWork, Section: "serial computation",
		Title:      "all rows, then all columns, on one thread",
		Precisions: []Precision{Float, Double, Int},
		CostText:   "4 reads, 2 writes",
		cost:       fixedCost(4, 2),
		cpu:        hostCode{f32: intimgSerial[float32], f64: intimgSerial[float64], u32: intimgSerial[uint32]},
	},
	{
		Name: "intimg/parallel", Work: intimgWork, Section: "parallel computation",
		Title:      "a share of the rows for each thread, then a share of the columns",
		Precisions: []Precision{Float, Double, Int},
		Threads:    true,
		CostText:   "4 reads, 2 writes",
		cost:       fixedCost(4, 2),
		cpu:        hostCode{f32: intimgParallel[float32], f64: intimgParallel[float64], u32: intimgParallel[uint32]},
	},
	{
		Name: "intimg/gpu-v1", Work: intimgWork, Section: "GPU computation, GPUv1",
		Title:      "a thread for each row, then a thread for each column",
		Place:      GPU,
		Precisions: []Precision{Float, Double, Int},
		Group:      true,
		CostText:   "2 reads, 2 writes",
		cost:       fixedCost(2, 2),
		gpu:        intimgV1,
	},
	{
		Name: "intimg/gpu-v2", Work: intimgWork, Section: "GPU computation, GPUv2",
		Title:      "block-wide inclusive prefix sums of rows, a transpose, prefix sums again, and a transpose back",
		Place:      GPU,
		Precisions: []Precision{Float, Double, Int},
		CostText:   "4 reads, 4 writes",
		cost:       fixedCost(4, 4),
		gpu:        intimgV2,
	},
}

// intimgSerial goes twice over the image: for sums along the rows, and for the sums
// of these along the columns.
func intimgSerial[E element](in, out grid[E], _ Options) {
	intimgRows(in, out, 0, in.height)
	intimgColumns(out, 0, in.width)
}

func intimgRows[E element](in, out grid[E], start, stop int) {
	for i := start; i < stop; i++ {
		pixels, row := in.row(i), out.row(i)
		for j := range row {
			row[j] = pixels[j]
			if j > 0 {
				row[j] += row[j-1]
			}
		}
	}
}

func intimgColumns[E element](out grid[E], start, stop int) {
	for i := 1; i < out.height; i++ {
		above, row := out.row(i - 1)[start:stop], out.row(i)[start:stop]
		for j := range row {
			row[j] += above[j]
		}
	}
}

// intimgParallel is the same with ⌈height/T⌉ rows for each of T threads, then
// ⌈width/T⌉ columns.
func intimgParallel[E element](in, out grid[E], o Options) {
	inThreads(in.height, o.Threads, ceilDiv(in.height, o.Threads), func(start, stop int) { intimgRows(in, out, start, stop) })
	inThreads(in.width, o.Threads, ceilDiv(in.width, o.Threads), func(start, stop int) { intimgColumns(out, start, stop) })
}

// intimgV1 is the parallel algorithm with as many threads as there are rows, and
// then columns.
func intimgV1(r *rig) (*deviceRun, error) {
	in, out, err := r.two()
	if err != nil {
		return nil, err
	}
	return &deviceRun{in: in, out: out, kernels: []Step{
		r.rows(in, out, r.width, r.height),
		r.stepOf("columns", ceilDiv(r.width, r.opt.Group), r.opt.Group, 2*r.values(), out, int32(r.width), int32(r.height)),
	}}, nil
}

// rows has a thread for each row, which may be summed in place.
func (r *rig) rows(in, out buffer, width, rows int) Step {
	return r.stepOf("rows", ceilDiv(rows, r.opt.Group), r.opt.Group, 2*r.values(), in, out, int32(width), int32(rows))
}

// values is how many pixels there are.
func (r *rig) values() int64 { return int64(r.width) * int64(r.height) }

// two is memory for an image and its table.
func (r *rig) two() (in, out buffer, err error) {
	if in, err = r.buffer(int(r.values())); err != nil {
		return 0, 0, err
	}
	out, err = r.buffer(int(r.values()))
	return in, out, err
}

// intimgV2 is compute_integral_image_cuda_v2: the second transpose restores the
// orientation of the image.
func intimgV2(r *rig) (*deviceRun, error) {
	in, a, err := r.two()
	if err != nil {
		return nil, err
	}
	b, err := r.buffer(int(r.values()))
	if err != nil {
		return nil, err
	}
	return &deviceRun{in: in, out: a, kernels: []Step{
		r.prefix(in, a, r.width, r.height),
		r.transpose(a, b, r.width, r.height),
		r.prefix(b, b, r.height, r.width),
		r.transpose(b, a, r.height, r.width),
	}}, nil
}

// prefix splits rows between blocks: enough to keep a large device busy, each of
// which goes on to its next row.
func (r *rig) prefix(in, out buffer, width, rows int) Step {
	const blocks = 1024
	each := ceilDiv(rows, blocks)
	return r.step("prefix", ceilDiv(rows, each), 2*r.values(), in, out, int32(width), int32(rows), int32(each))
}
