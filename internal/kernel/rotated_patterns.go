package kernel

import "unsafe"

// rotatedVector describes how one vector of a line is summed.
type rotatedVector struct {
	pattern uintptr // the address of its rows
	above   int32   // the first element of RowsAbove that its pixels continue from
	starts  int32   // the element of Rows where its row sums are stored
}

// Rows of a pattern, each as long as a vector. Lanes have 32 bits, two for each 64-bit sum.
const (
	rotatedSteps = 0 // the lane of the sum 1, 2, 4 and 8 pixels further on in the run and block,
	// or for dot products, which of each four bytes count in a lane
	rotatedBeyond = 4 // the lane of the sum beyond: in RowsAbove, or in the previous vector
	rotatedStarts = 5 // the lanes that hold the row sums of whole runs
	rotatedEmpty  = 6 // the elements of RowsAbove that hold those of the line above
	// AVX-512 sums floats in two blocks.
	rotatedInner = 7 // the lane of the other block that this block continues from
	rotatedOuter = 8 // all ones in lanes that continue from elsewhere
	// AVX2 cannot select from two vectors, or from a vector and zero.
	rotatedCarried = 7  // rotatedBeyond in the previous vector
	rotatedCarries = 8  // all ones where rotatedCarried applies
	rotatedKeep    = 9  // all ones where rotatedSteps selects a lane
	rotatedFilled  = 13 // all ones where rotatedEmpty selects a lane

	rotatedRows = 14
	// rotatedNone is the lane of a zero: the first of another register.
	rotatedNone = 16
)

// rotatedCut describes how a line of runs is cut into vectors.
type rotatedCut struct {
	*RotatedRuns
	size   int // size of a sum in bytes
	lanes  int // sums in a vector
	blocks int // blocks in a vector
	avx2   bool
	dot    bool
}

// vectors returns the vectors of a line and their patterns, of which there are few because they
// repeat along the line, and the number of doubling steps that a sum takes.
func (cut *rotatedCut) vectors() (list []rotatedVector, patterns []uint32, steps int) {
	all := len(cut.Run) * cut.Channels
	count := (all + RotatedBlock - 1) / RotatedBlock * RotatedBlock / cut.lanes
	list = make([]rotatedVector, count)
	known := map[string]int{}
	starts := 0
	for v := range list {
		p, above, found, most := cut.pattern(v)
		steps = max(steps, most)
		key := unsafe.String((*byte)(unsafe.Pointer(&p[0])), 4*len(p))
		at, ok := known[key]
		if !ok {
			at = len(patterns)
			patterns = append(patterns, p...)
			known[key] = at
		}
		starts += found
		list[v] = rotatedVector{pattern: uintptr(at), above: int32(above), starts: int32(starts - cut.lanes)}
		if cut.Falling {
			list[v].starts = int32(starts - found)
		}
	}
	patterns = onLine(patterns)
	for v := range list {
		list[v].pattern = address(patterns, int(list[v].pattern))
	}
	return list, patterns, steps
}

func onLine(s []uint32) []uint32 {
	line := make([]uint32, len(s)+LineBytes/4)
	for address(line, 0)%LineBytes != 0 {
		line = line[1:]
	}
	return line[:copy(line, s)]
}

// pattern returns the pattern of vector v, the start of its part of RowsAbove, the number of its
// row sums, and the number of doubling steps. The row sums are packed on the side where later ones
// are stored; the other lanes are stored there too, and overwritten.
func (cut *rotatedCut) pattern(v int) (p []uint32, above, starts, steps int) {
	n, lanes, wide := cut.Channels, cut.lanes, cut.size/4
	p = make([]uint32, rotatedRows*lanes*wide)
	set := func(row, lane, from int) {
		for w := range wide {
			p[(row*lanes+lane)*wide+w] = uint32(from*wide + w)
		}
	}
	ones := func(row, lane int) {
		for w := range wide {
			p[(row*lanes+lane)*wide+w] = ^uint32(0)
		}
	}
	step, block, none := rotatedStep(cut.RotatedRuns), lanes/cut.blocks, rotatedNone/wide
	run := func(lane int) (run int, ok bool) {
		if e := v*lanes + lane; e >= 0 && e < len(cut.Run)*n {
			return int(cut.Run[e/n]), true
		}
		return 0, false
	}
	same := func(a, b int) bool {
		r, ok := run(a)
		q, there := run(b)
		return ok && there && r == q
	}
	// next returns where in Rows the row of a lane continues in the line above.
	next := func(lane int) (at int, ok bool) {
		r, ok := run(lane)
		return (r+step)*n + (v*lanes+lane)%n, ok
	}
	for i := range lanes {
		if at, ok := next(i); ok && (i == 0 || at < above) {
			above = at
		}
	}
	var ends []int
	for i := range lanes {
		for s := range 4 {
			set(rotatedSteps+s, i, none)
			if j := i + step*n<<s; j >= 0 && j/block == i/block && same(i, j) {
				set(rotatedSteps+s, i, j)
				steps = max(steps, s+1)
				if cut.avx2 {
					ones(rotatedKeep+s, i)
				}
			}
		}
		if cut.blocks > 1 {
			set(rotatedInner, i, none)
		}
		beyond := i
		for beyond >= 0 && beyond/block == i/block {
			beyond += step * n
		}
		at, ok := next(i)
		switch from := (beyond + lanes) % lanes; {
		case same(i, beyond) && beyond == from:
			set(rotatedInner, i, from)
		case same(i, beyond) && cut.avx2:
			set(rotatedCarried, i, from)
			ones(rotatedCarries, i)
		case same(i, beyond):
			set(rotatedBeyond, i, none+from)
		case ok:
			set(rotatedBeyond, i, at-above)
		}
		if cut.blocks > 1 && !(same(i, beyond) && beyond >= 0 && beyond < lanes) {
			ones(rotatedOuter, i)
		}
		set(rotatedEmpty, i, none)
		if before := i - step*n; ok && !same(i, before) {
			ends = append(ends, i)
			if _, inside := run(before); inside {
				set(rotatedEmpty, i, at-above)
				if cut.avx2 {
					ones(rotatedFilled, i)
				}
			}
		}
	}
	for k, lane := range ends {
		if !cut.Falling {
			k += lanes - len(ends)
		}
		set(rotatedStarts, k, lane)
	}
	if cut.dot {
		cut.weights(p, same)
	}
	return p, above, len(ends), steps
}

// weights replaces the steps of a pattern by the weights of dot products: a lane counts the bytes
// of its run from its own on.
func (cut *rotatedCut) weights(p []uint32, same func(a, b int) bool) {
	clear(p[rotatedSteps*cut.lanes:][:4*cut.lanes])
	for lane := range cut.lanes {
		for from := range cut.lanes {
			if further := from >= lane; from == lane || further != cut.Falling {
				if same(lane, from) {
					p[(rotatedSteps+from/4)*cut.lanes+lane] |= 1 << (8 * (from % 4))
				}
			}
		}
	}
}
