package kernel

import "unsafe"

// A tiltedRoutine is an assembly kernel that computes n elements of a row, a multiple of a cache
// line of sums. For floats, these exclude the first and the last pixel of the row.
type tiltedRoutine func(dst, src, sums, diagonals, edge *byte, n, channels int, writes uint8)

// A tiltedGroup is an assembly kernel for tiltedRows rows, each of which starts one line to the
// left of the row above. It computes the lines before and after the n elements under masks.
type tiltedGroup func(dst *byte, dstStride int, src *byte, srcStride int, sums, diagonals, edge *byte, n int, lanes *uint32, channels int, masks *uint16, before, after int, writes uint8)

const tiltedRows = 4

// lines computes as many elements as the assembly supports, and those before them. It returns the
// number of elements computed.
func (k *tiltedKernel) lines(t *TiltedTile, r, from, to int, edge []byte) int {
	c, line, size := t.Channels, k.line, k.size.sum
	end := to
	if k.float {
		end = min(to, t.N-c)
		if from == 0 {
			from = min(line, end)
			k.span(t, r, 0, from, edge[:c*size])
		}
	}
	n := (end - from) &^ (line - 1)
	if n <= 0 {
		return from
	}
	dst, src := t.Dst[(r*t.DstStride+c+from)*size:][:n*size], t.Src[(r*t.SrcStride+from)*k.size.pixel:][:n*k.size.pixel]
	sums, diagonals := t.Sums[(TiltedLead(c)+from)*size:][:(n+line)*size], t.Diagonals[(TiltedLead(c)+from)*size:][:(n+c)*size]
	var next [FastChannels * 8]byte
	copy(next[:c*size], sums[(n-c)*size:])
	copy(edge[c*size:LineBytes], sums)
	k.asm(&dst[0], &src[0], &sums[0], &diagonals[0], &edge[0], n, c, k.writes(t, dst))
	copy(edge, next[:c*size])
	return from + n
}

// rows computes tiltedRows rows at once. It returns false if some of them begin or end at the edge
// of the image and others do not.
func (k *tiltedKernel) rows(t *TiltedTile, r int) bool {
	c, line := t.Channels, k.line
	const last = tiltedRows - 1
	// The range of the rows, in elements of the first row.
	from := t.X - r*line
	end, tail := from+t.Width, (t.N-1)%line+1
	before, after, under := 0, 0, 0
	switch {
	case from <= 0:
		from, before = 0, tiltedRows
	case from <= last*line:
		return false
	default:
		under = tiltedRows
	}
	switch {
	case end >= t.N+last*line:
		end, after = t.N-tail, tiltedRows
		if k.float && tail < c {
			return false // the last pixel spans two lines
		}
	case end > t.N || k.float && end > t.N-c:
		return false
	}
	n := end - from
	if n < before*line {
		return false
	}
	size, pixel := k.size.sum, k.size.pixel
	sums, diagonals := t.Sums[TiltedLead(c)*size:], t.Diagonals[TiltedLead(c)*size:]
	dst, src := t.Dst[(r*t.DstStride+c)*size:], t.Src[r*t.SrcStride*pixel:]
	carry := CarryLen(c) * size
	edge := t.Edge[r*carry:][:tiltedRows*carry]
	reach := min(end+tail, t.N) - last*line
	_, _ = dst[:(last*t.DstStride+reach)*size], src[:(last*t.SrcStride+reach)*pixel]
	_, _ = sums[:(end+TiltedSlack(c)-c)*size], diagonals[:(end+TiltedSlack(c))*size]
	if before > 0 {
		k.start(t, r, edge)
	}
	for q := range tiltedRows {
		copy(edge[q*carry:][c*size:LineBytes], sums[max(0, from-q*line)*size:])
	}
	dst = dst[from*size:]
	k.group(&dst[0], t.DstStride, &src[from*pixel], t.SrcStride, &sums[from*size], &diagonals[from*size], &edge[0], n,
		k.lanes(c), c, &t.masks[under][0][0], before, after, k.writes(t, dst))
	return true
}

// writes returns how to write from dst on.
func (k *tiltedKernel) writes(t *TiltedTile, dst []byte) uint8 {
	if (uintptr(unsafe.Pointer(&dst[0]))|uintptr(t.DstStride*k.size.sum))%LineBytes != 0 {
		return uint8(Ahead)
	}
	return uint8(t.Writes)
}

// tiltedMasks holds the masks of four lines at the left edge of the image and of four at the right,
// for each row: the lanes that have pixels, those that are stored, those of the first pixel, and
// those of the last.
type tiltedMasks [2 * tiltedRows][tiltedRows][4]uint16

// set fills the masks for rows of n elements and a number of lanes per line.
func (m *tiltedMasks) set(channels, n, lanes int) {
	all, pixel := uint16(1)<<(lanes-1)<<1-1, uint16(1)<<channels-1
	tail := (n-1)%lanes + 1
	for step := range tiltedRows {
		for row := range tiltedRows {
			before, after := &m[step][row], &m[tiltedRows+step][row]
			switch {
			case row < step:
				*before = [4]uint16{all, all}
			case row == step:
				*before = [4]uint16{all, all, pixel}
				*after = [4]uint16{all >> (lanes - tail), all >> (lanes - tail), 0, pixel << max(0, tail-channels)}
			case row == step+1:
				*before = [4]uint16{0, pixel << (lanes - channels)}
			}
			if row > step {
				*after = [4]uint16{all, all}
			}
		}
	}
}

// lanes returns permutations of two vectors and a vector of zeros. One permutation finds the lane
// one pixel to the left of each lane in the second vector, and the other the lane one pixel to the
// right in the first vector.
func (k *tiltedKernel) lanes(channels int) *uint32 {
	kind := k.size.sum/4 - 1
	if k.float {
		kind += 2
	}
	return &allTiltedLanes[kind][channels-1][0][0]
}

// allTiltedLanes is indexed by the sum type: 32- and 64-bit integers, then 32- and 64-bit floats.
var allTiltedLanes = func() (all [4][FastChannels][3][16]uint32) {
	for kind := range all {
		wide := 1 + kind%2
		for channels := range all[kind] {
			pixel := uint32((channels + 1) * wide)
			for i := range uint32(16) {
				all[kind][channels][0][i] = 16 + i - pixel
				all[kind][channels][1][i] = i + pixel
				if kind >= 2 && int(i+1)%wide == 0 {
					all[kind][channels][2][i] = 1 << 31
				}
			}
		}
	}
	return all
}()
