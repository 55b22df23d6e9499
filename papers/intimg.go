package papers

// The four variants of intimg, whose tables are inclusive. The notes describe them for any value
// type.

// intimgSerial makes two passes over the image: sums along the rows, then sums of these along the
// columns.
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

// intimgParallel does the same with ⌈height/T⌉ rows for each of T threads, then ⌈width/T⌉ columns.
func intimgParallel[E element](in, out grid[E], o Options) {
	inThreads(in.height, o.Threads, ceilDiv(in.height, o.Threads), func(start, stop int) { intimgRows(in, out, start, stop) })
	inThreads(in.width, o.Threads, ceilDiv(in.width, o.Threads), func(start, stop int) { intimgColumns(out, start, stop) })
}

// intimgV1 is the parallel algorithm with one thread per row, and then per column.
func intimgV1(r *rig) *deviceRun {
	in, out := r.image(), r.image()
	return &deviceRun{in: in, out: out, kernels: []Step{
		r.rows(in, out, r.width, r.height),
		r.stepOf("columns", ceilDiv(r.width, r.opt.Group), r.opt.Group, 2*r.values(), out, int32(r.width), int32(r.height)),
	}}
}

// rows sums rows, possibly in place, with one thread per row.
func (r *rig) rows(in, out buffer, width, rows int) Step {
	return r.stepOf("rows", ceilDiv(rows, r.opt.Group), r.opt.Group, 2*r.values(), in, out, int32(width), int32(rows))
}

// values returns the number of pixels.
func (r *rig) values() int64 { return int64(r.width) * int64(r.height) }

// image allocates memory for an image, or for a table of its size.
func (r *rig) image() buffer { return r.buffer(int(r.values())) }

// intimgV2 is compute_integral_image_cuda_v2: the second transpose restores the
// orientation of the image.
func intimgV2(r *rig) *deviceRun {
	in, a, b := r.image(), r.image(), r.image()
	return &deviceRun{in: in, out: a, kernels: []Step{
		r.prefix(in, a, r.width, r.height),
		r.transpose(a, b, r.width, r.height),
		r.prefix(b, b, r.height, r.width),
		r.transpose(b, a, r.height, r.width),
	}}
}

// prefix divides rows among enough blocks to keep a large device busy; each block processes several
// rows in turn.
func (r *rig) prefix(in, out buffer, width, rows int) Step {
	const blocks = 1024
	each := ceilDiv(rows, blocks)
	return r.step("prefix", ceilDiv(rows, each), 2*r.values(), in, out, int32(width), int32(rows), int32(each))
}
