package kernel

import (
	"unsafe"

	"github.com/boxsum/boxsum/internal/raster"
)

// A RotatedLine is a stretch of an image line to be added to a rotated table. A line is divided
// into runs of pixels that lie on the same row of the lattice. The row continues with a run of the
// line above: the next run if rows climb to the right, the previous one if they fall. All indices
// count elements, that is, pixels times channels.
//
// Climbing rows are processed from right to left, falling ones from left to right. Let s be the sum
// of a row so far. For climbing rows, each pixel is processed as follows:
//
//	if it is the last of its run: s = RowsAbove[of the next run]
//	s += pixel
//	if it is the first of its run: Rows[of the run] = s
//	t = Over[pixel]
//	if it is the first of its run, but not of the line, and Empty is not nil:
//	    t += RowsAbove[of the run]
//	    Empty[of the run] = t
//	t += s
//	Dst[pixel], Keep[pixel] = t, t
//
// For falling rows, exchange first and last, and next and previous.
type RotatedLine struct {
	Src []byte // pixels

	Dst  []byte // sums of the line; whole blocks of RotatedBlock elements are written
	Over []byte // sums of the line above in the same columns; RotatedSlack more elements may be read on either side
	Keep []byte // a copy of Dst in the cache, for the next line

	// Rows holds the sums of the rows up to every run of the line, and RowsAbove those of the line
	// above, with zeros beyond the last run. Both start RotatedSlack elements before the first run
	// and end RotatedSlack elements after the last.
	Rows, RowsAbove []byte
	Empty           []byte // the sums on empty cells, laid out like Rows; nil if not needed

	// Carry passes s from a stretch to the next one of the same line: RotatedCarry elements,
	// initially zero, in a layout private to the level.
	Carry []byte

	From, To int  // range of elements of the stretch, multiples of RotatedBlock
	Stream   bool // write Dst with non-temporal stores if it is aligned to a cache line; StoreFence must follow

	scratch rotatedScratch // part of the line, to avoid an allocation per line
}

// RotatedBlock is the number of elements of which the ends of a stretch are multiples.
const RotatedBlock = 16

// RotatedSlack returns the number of elements that a kernel may access before and after some
// slices: whole blocks, and at least one pixel.
func RotatedSlack(channels int) int {
	return (channels + RotatedBlock - 1) / RotatedBlock * RotatedBlock
}

// RotatedCarry returns the number of elements in Carry.
func RotatedCarry(channels int) int { return max(16, channels) }

// RotatedRuns describes how the lines of an image are cut into runs.
type RotatedRuns struct {
	Run      []int32 // the run of every pixel, counted from 0 on the left
	Channels int
	Falling  bool
}

// A RotatedKernel computes lines of rotated tables, for images whose lines are divided into runs in
// the same way.
type RotatedKernel struct {
	runs RotatedRuns
	loop rotatedLoop
	asm  *rotatedAssembly // nil if there is no assembly
}

// A rotatedLoop computes a stretch of a line in Go.
type rotatedLoop func(runs *RotatedRuns, l *RotatedLine)

// NewRotatedKernel returns the kernel of a level, or nil for types that no rotated table supports.
func NewRotatedKernel(pixel, sum raster.Type, level Level, runs RotatedRuns) *RotatedKernel {
	p := find(pixel, sum, false)
	if !p.rotates {
		return nil
	}
	k := &RotatedKernel{runs: runs, loop: p.loops.rotated}
	if runs.Channels == 1 {
		k.loop = p.loops.rotatedSingle
	}
	if runs.Channels <= FastChannels {
		k.asm = newRotatedAssembly(p, level, &k.runs)
	}
	return k
}

// Line computes the sums of a stretch of a line.
func (k *RotatedKernel) Line(l *RotatedLine) {
	switch {
	case l.From >= l.To:
	case k.asm != nil:
		k.asm.line(l)
	default:
		k.loop(&k.runs, l)
	}
}

// rotatedStep returns the step from a run to the run of the line above in the same row, which is
// also the step from a pixel to the one processed before it.
func rotatedStep(runs *RotatedRuns) int {
	if runs.Falling {
		return -1
	}
	return 1
}

// rotatedSingle computes integer sums of one channel.
func rotatedSingle[P Pixel, S Sum](runs *RotatedRuns, l *RotatedLine) {
	const slack = RotatedBlock
	run, step, n := runs.Run, rotatedStep(runs), min(l.To, len(runs.Run))-l.From
	if n <= 0 {
		return
	}
	i := l.From
	if step > 0 {
		i += n - 1
	}
	src, dst := raster.Elems[P](l.Src)[:l.From+n], raster.Elems[S](l.Dst)[:l.From+n]
	over, keep := raster.Elems[S](l.Over)[slack:][:l.From+n], raster.Elems[S](l.Keep)[slack:][:l.From+n]
	rows, above := raster.Elems[S](l.Rows)[slack:], raster.Elems[S](l.RowsAbove)
	var empty []S
	if l.Empty != nil {
		empty = raster.Elems[S](l.Empty)[slack:]
	}
	carry := raster.Elems[S](l.Carry)
	s, here := carry[0], run[i]
	if before := i + step; uint(before) >= uint(len(run)) || run[before] != here {
		s = above[slack+int(here)+step]
	}
	for range n {
		s += S(src[i])
		t := over[i]
		at, next := i, i-step
		i = next
		if uint(next) >= uint(len(run)) {
			rows[here] = s
		} else if now := run[next]; now != here {
			rows[here] = s
			if empty != nil {
				t += above[slack+int(here)]
				empty[here] = t
			}
			t += s
			dst[at], keep[at] = t, t
			here = now
			carry[0], s = s, above[slack+int(now)+step]
			continue
		}
		t += s
		dst[at], keep[at] = t, t
		carry[0] = s
	}
}

// sumRuns adds to every pixel of a block those before it in its run, by doubling shifts.
func sumRuns[S Sum](sum []S, of []int32, channels int) {
	for shift := channels; shift < len(sum); shift *= 2 {
		for k := len(sum) - 1; k >= shift; k-- {
			if of[k] == of[k-shift] {
				sum[k] += sum[k-shift]
			}
		}
	}
}

// rotatedBlocks computes a stretch of any kind. Floats, whose sums depend on the order of
// additions, are summed in blocks of sumBlock bytes: the part of a run within a block is summed by
// doubling shifts, as in a vector, and then the sum of the row before it is added.
func rotatedBlocks[P Pixel, S Sum](runs *RotatedRuns, l *RotatedLine) {
	run, n, step, slack := runs.Run, runs.Channels, rotatedStep(runs), RotatedSlack(runs.Channels)
	from, to := l.From, min(l.To, len(run)*n)
	if from >= to {
		return
	}
	size, ordered := 8, isFloat[S]() && n <= FastChannels
	if ordered {
		size = sumBlock / int(unsafe.Sizeof(*new(S)))
	}
	src, dst := raster.Elems[P](l.Src)[:to], raster.Elems[S](l.Dst)[:to]
	over, keep := raster.Elems[S](l.Over)[slack:][:to], raster.Elems[S](l.Keep)[slack:][:to]
	rows, above, carry := raster.Elems[S](l.Rows), raster.Elems[S](l.RowsAbove), raster.Elems[S](l.Carry)
	var empty []S
	if l.Empty != nil {
		empty = raster.Elems[S](l.Empty)
	}
	// The elements of a block are numbered in the order in which they are processed.
	var sum, before [8]S
	var of [8]int32
	for from < to {
		count := min(size, to-from)
		e := from
		from += count
		if step > 0 { // start with the last block, which may be partial
			count = (to-e-1)%size + 1
			from, to, e = e, to-count, to-1
		}
		x, c := e/n, e%n
		first, channel := x, c
		for k := range count {
			sum[k], of[k] = S(src[e-k*step]), run[x]
			if c -= step; uint(c) >= uint(n) {
				x, c = x-step, c+step*n
			}
		}
		if ordered {
			sumRuns(sum[:count], of[:count], n)
		}
		x, c = first, channel
		for k := range count {
			here, i := of[k], e-k*step
			at := slack + int(here)*n + c
			switch next := x + step; {
			case k >= n && of[k-n] == here && ordered:
				before[k] = before[k-n]
			case k >= n && of[k-n] == here:
				before[k] = sum[k-n]
			case k < n && uint(next) < uint(len(run)) && run[next] == here:
				before[k] = carry[c]
			default:
				before[k] = above[at+step*n]
			}
			s := sum[k] + before[k]
			sum[k], carry[c] = s, s
			t := over[i]
			if next := x - step; uint(next) >= uint(len(run)) {
				rows[at] = s
			} else if run[next] != here {
				rows[at] = s
				if empty != nil {
					t += above[at]
					empty[at] = t
				}
			}
			t += s
			dst[i], keep[i] = t, t
			if c -= step; uint(c) >= uint(n) {
				x, c = x-step, c+step*n
			}
		}
	}
}
