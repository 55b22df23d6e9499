package papers

import "github.com/boxsum/boxsum"

// The algorithms of Bertazzini and Guiducci: inclusive tables of int, from color images that are
// converted to gray first.

// gray is the first step in section 3, with the weights of OpenCV, which the work uses for it:
// 0.299, 0.587 and 0.114 in fixed point, as in [boxsum.Gray].
func gray(img boxsum.Image[uint8]) boxsum.Image[uint8] {
	out := boxsum.Image[uint8]{Pix: make([]uint8, img.Width*img.Height), Stride: img.Width, Width: img.Width, Height: img.Height, Channels: 1}
	for y := range img.Height {
		from, to := img.Row(y), out.Row(y)
		for x := range to {
			p := from[x*img.Channels:]
			to[x] = uint8((9798*uint32(p[0]) + 19235*uint32(p[1]) + 3735*uint32(p[2]) + 16384) >> 15)
		}
	}
	return out
}

// bertazziniSequential is calculateIntegralImage of section 3.1.1.
func bertazziniSequential(in, out grid[uint32], _ Options) {
	first := out.row(0)
	first[0] = in.row(0)[0]
	for i := 1; i < in.height; i++ { // the first column
		out.row(i)[0] = out.row(i - 1)[0] + in.row(i)[0]
	}
	for j := 1; j < in.width; j++ { // the first row
		first[j] = first[j-1] + in.row(0)[j]
	}
	for i := 1; i < in.height; i++ {
		pixels, above, row := in.row(i), out.row(i-1), out.row(i)
		for j := 1; j < len(row); j++ {
			row[j] = pixels[j] + row[j-1] + above[j] - above[j-1]
		}
	}
}

// bertazziniThreads is calculateParallelIntegralImage of section 3.2.1: it sums only along rows,
// which are contiguous in memory.
func bertazziniThreads(in, out grid[uint32], o Options) {
	turned := newGrid[uint32](in.height, in.width)
	transposeInThreads(in, turned, o.Threads)
	sumRowsInThreads(turned, o.Threads)
	transposeInThreads(turned, out, o.Threads)
	sumRowsInThreads(out, o.Threads)
}

// sumRowsInThreads gives each thread ⌊rows/T⌋ rows, and the last one the rest.
func sumRowsInThreads(g grid[uint32], threads int) {
	inThreads(g.height, threads, g.height/threads, func(start, stop int) {
		for i := start; i < stop; i++ {
			row := g.row(i)
			for j := 1; j < len(row); j++ {
				row[j] += row[j-1]
			}
		}
	})
}

// transposeInThreads writes row by row, like the parallel stream of section 3.2.1.
func transposeInThreads(in, out grid[uint32], threads int) {
	inThreads(out.height, threads, ceilDiv(out.height, threads), func(start, stop int) {
		for m := start; m < stop; m++ {
			row := out.row(m)
			for n := range row {
				row[n] = in.values[n*in.stride+m]
			}
		}
	})
}

// bertazziniCUDA is timeParallelIntegralImage of section 3.2.2, with
// [Options.Group] for its thread_per_block.
func bertazziniCUDA(r *rig) *deviceRun {
	in, out, turned := r.image(), r.image(), r.image()
	return &deviceRun{in: in, out: out, kernels: []Step{
		r.transpose(in, turned, r.width, r.height),
		r.rows(turned, turned, r.height, r.width),
		r.transpose(turned, out, r.height, r.width),
		r.rows(out, out, r.width, r.height),
	}}
}
