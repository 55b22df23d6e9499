package kernel

import (
	"unsafe"

	"github.com/boxsum/boxsum/internal/raster"
)

// rotatedVector describes how one vector of a line is summed.
type rotatedVector struct {
	pattern *uint32 // the rows of its pattern, starting at a cache line
	above   int32   // the first element of RowsAbove from which its pixels continue
	starts  int32   // the element of Rows where its row sums are stored
}

// Rows of a pattern, each as long as a vector. Lanes have 32 bits, two for each 64-bit sum.
const (
	rotatedSteps = 0 // the lane of the sum 1, 2, 4 and 8 pixels further on in the run and block,
	// or for dot products, which of each four bytes count in a lane
	rotatedBeyond = 4 // the lane of the sum beyond: in RowsAbove, or in the previous vector
	rotatedStarts = 5 // the lanes that hold the row sums of whole runs
	rotatedEmpty  = 6 // the elements of RowsAbove that hold the row sums of the line above
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

// A rotatedCut describes how a line of runs is divided into vectors.
type rotatedCut struct {
	*RotatedRuns
	size   int // size of a sum in bytes
	lanes  int // sums in a vector
	blocks int // blocks in a vector
	avx2   bool
	dot    bool
}

// vectors returns the vectors of a line, and the number of doubling steps that a sum takes. Vectors
// share patterns, of which there are few, because they repeat along the line.
func (cut *rotatedCut) vectors() (list []rotatedVector, steps int) {
	all := len(cut.Run) * cut.Channels
	count := (all + RotatedBlock - 1) / RotatedBlock * RotatedBlock / cut.lanes
	list = make([]rotatedVector, count)
	known := map[string]*uint32{}
	starts := 0
	for v := range list {
		p := rotatedPattern{rotatedCut: cut, first: v * cut.lanes}
		p.fill()
		steps = max(steps, p.steps)
		key := unsafe.String((*byte)(unsafe.Pointer(&p.rows[0])), 4*len(p.rows))
		if known[key] == nil {
			rows := raster.OnLine(make([]uint32, len(p.rows)+LineBytes/4), len(p.rows), 0)
			copy(rows, p.rows)
			known[key] = &rows[0]
		}
		starts += p.starts
		list[v] = rotatedVector{pattern: known[key], above: int32(p.above), starts: int32(starts - cut.lanes)}
		if cut.Falling {
			list[v].starts = int32(starts - p.starts)
		}
	}
	return list, steps
}

// A rotatedPattern is the pattern of a vector of a line while it is computed.
type rotatedPattern struct {
	*rotatedCut
	first int // the element in lane 0

	rows   []uint32
	above  int // the first element of RowsAbove from which its pixels continue
	starts int // the number of row sums
	steps  int // the number of doubling steps
}

// fill computes the pattern.
func (p *rotatedPattern) fill() {
	p.rows = make([]uint32, rotatedRows*p.lanes*p.size/4)
	for lane := range p.lanes {
		if at, ok := p.next(lane); ok && (lane == 0 || at < p.above) {
			p.above = at
		}
	}
	var starts []int
	for lane := range p.lanes {
		p.double(lane)
		p.continueFrom(lane)
		if p.completes(lane) {
			starts = append(starts, lane)
			p.skip(lane)
		} else {
			p.set(rotatedEmpty, lane, p.none())
		}
	}
	// Row sums are packed on the side where later ones will be stored. The remaining lanes are
	// stored there too, and later overwritten.
	for k, lane := range starts {
		if !p.Falling {
			k += p.lanes - len(starts)
		}
		p.set(rotatedStarts, k, lane)
	}
	p.starts = len(starts)
	if p.dot {
		p.weigh()
	}
}

// set makes a lane of a row select a sum.
func (p *rotatedPattern) set(row, lane, from int) {
	wide := p.size / 4
	for w := range wide {
		p.rows[(row*p.lanes+lane)*wide+w] = uint32(from*wide + w)
	}
}

// fillOnes sets all bits of a lane.
func (p *rotatedPattern) fillOnes(row, lane int) {
	wide := p.size / 4
	for w := range wide {
		p.rows[(row*p.lanes+lane)*wide+w] = ^uint32(0)
	}
}

// none returns the lane of a zero.
func (p *rotatedPattern) none() int { return rotatedNone / (p.size / 4) }

// back returns the number of elements from a pixel to the one processed before it.
func (p *rotatedPattern) back() int { return rotatedStep(p.RotatedRuns) * p.Channels }

// block returns the number of lanes in a block.
func (p *rotatedPattern) block() int { return p.lanes / p.blocks }

// run returns the run of a lane, which may be outside the vector. ok is false if the lane is
// outside the line.
func (p *rotatedPattern) run(lane int) (run int, ok bool) {
	e := p.first + lane
	if e < 0 || e >= len(p.Run)*p.Channels {
		return 0, false
	}
	return int(p.Run[e/p.Channels]), true
}

// same reports whether two lanes belong to one run.
func (p *rotatedPattern) same(a, b int) bool {
	r, ok := p.run(a)
	q, there := p.run(b)
	return ok && there && r == q
}

// next returns where in Rows the row of a lane continues in the line above.
func (p *rotatedPattern) next(lane int) (at int, ok bool) {
	r, ok := p.run(lane)
	return (r+rotatedStep(p.RotatedRuns))*p.Channels + (p.first+lane)%p.Channels, ok
}

// completes reports whether a lane is the last of its run to be processed: its sum is the row sum.
func (p *rotatedPattern) completes(lane int) bool {
	_, ok := p.run(lane)
	return ok && !p.same(lane, lane-p.back())
}

// double selects the sums 1, 2, 4 and 8 pixels further on in the run and block of a lane.
func (p *rotatedPattern) double(lane int) {
	for s := range 4 {
		from := lane + p.back()<<s
		if from < 0 || from/p.block() != lane/p.block() || !p.same(lane, from) {
			p.set(rotatedSteps+s, lane, p.none())
			continue
		}
		p.set(rotatedSteps+s, lane, from)
		p.steps = max(p.steps, s+1)
		if p.avx2 {
			p.fillOnes(rotatedKeep+s, lane)
		}
	}
}

// continueFrom selects the sum from which the block of a lane continues: in the other block, in the
// previous vector, or in the line above.
func (p *rotatedPattern) continueFrom(lane int) {
	beyond := lane
	for beyond >= 0 && beyond/p.block() == lane/p.block() {
		beyond += p.back()
	}
	from := (beyond + p.lanes) % p.lanes
	goesOn, inside := p.same(lane, beyond), beyond == from
	if p.blocks > 1 {
		p.set(rotatedInner, lane, p.none())
		if !goesOn || !inside {
			p.fillOnes(rotatedOuter, lane)
		}
	}
	at, ok := p.next(lane)
	switch {
	case goesOn && inside:
		p.set(rotatedInner, lane, from)
	case goesOn && p.avx2:
		p.set(rotatedCarried, lane, from)
		p.fillOnes(rotatedCarries, lane)
	case goesOn:
		p.set(rotatedBeyond, lane, p.none()+from)
	case ok:
		p.set(rotatedBeyond, lane, at-p.above)
	}
}

// skip selects, for the last pixel of a run, the row sum of the line above, which continues across
// the empty cell that follows, unless the line ends there.
func (p *rotatedPattern) skip(lane int) {
	if _, inside := p.run(lane - p.back()); !inside {
		p.set(rotatedEmpty, lane, p.none())
		return
	}
	at, _ := p.next(lane)
	p.set(rotatedEmpty, lane, at-p.above)
	if p.avx2 {
		p.fillOnes(rotatedFilled, lane)
	}
}

// weigh replaces the steps by the weights of dot products: a lane adds the bytes of its run,
// starting with its own.
func (p *rotatedPattern) weigh() {
	clear(p.rows[rotatedSteps*p.lanes:][:4*p.lanes])
	for lane := range p.lanes {
		for from := range p.lanes {
			if further := from >= lane; from == lane || further != p.Falling {
				if p.same(lane, from) {
					p.rows[(rotatedSteps+from/4)*p.lanes+lane] |= 1 << (8 * (from % 4))
				}
			}
		}
	}
}
