package kernel

import "unsafe"

// tiltedRoutine is an assembly kernel: n elements of one row, a multiple of a
// cache line of sums, none of them in the first or the last pixel of a row of
// floats.
type tiltedRoutine[P Pixel, S Sum] func(dst *S, src *P, sums, diagonals, edge *S, n, channels int, writes uint8)

// tiltedGroup is one for tiltedRows rows, each a line further left. Before the n
// elements, and after them, it makes lines under masks.
type tiltedGroup[P Pixel, S Sum] func(dst *S, dstStride int, src *P, srcStride int, sums, diagonals, edge *S, n int, lanes *uint32, channels int, masks *uint16, before, after int, writes uint8)

const tiltedRows = 4

// lines makes as many elements as the assembly can, and those before them. It
// returns how far it got.
func (k *tiltedKernel[S]) lines(t *TiltedTile[S], r, from, to int, edge []S) int {
	c, line := t.Channels, tiltedLine[S]()
	end := to
	if isFloat[S]() {
		end = min(to, t.N-c)
		if from == 0 {
			from = min(line, end)
			k.span(t, r, 0, from, edge[:c])
		}
	}
	n := (end - from) &^ (line - 1)
	if n <= 0 {
		return from
	}
	dst, src := t.Dst[r*t.DstStride+c+from:][:n], t.Src[(r*t.SrcStride+from)*t.PixelBytes:][:n*t.PixelBytes]
	sums, diagonals := t.Sums[TiltedLead(c)+from:][:n+line], t.Diagonals[TiltedLead(c)+from:][:n+c]
	var next [FastChannels]S
	copy(next[:c], sums[n-c:])
	copy(edge[c:line], sums)
	k.asm(&dst[0], &src[0], &sums[0], &diagonals[0], &edge[0], n, c, t.writes(dst))
	copy(edge, next[:c])
	return from + n
}

// rows makes several rows at once. It reports false where some of them begin or end
// with the image and others do not.
func (k *tiltedKernel[S]) rows(t *TiltedTile[S], r int) bool {
	c, line := t.Channels, tiltedLine[S]()
	const last = tiltedRows - 1
	// Where the rows begin and end, along the first of them.
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
		if isFloat[S]() && tail < c {
			return false // the last pixel is in two lines
		}
	case end > t.N || isFloat[S]() && end > t.N-c:
		return false
	}
	n := end - from
	if n < before*line {
		return false
	}
	sums, diagonals := t.Sums[TiltedLead(c):], t.Diagonals[TiltedLead(c):]
	size := t.PixelBytes
	dst, src := t.Dst[r*t.DstStride+c:], t.Src[r*t.SrcStride*size:]
	edge := t.Edge[r*CarryLen(c):][:tiltedRows*CarryLen(c)]
	reach := min(end+tail, t.N)
	_, _, _, _ = dst[last*t.DstStride+reach-last*line-1], src[(last*t.SrcStride+reach-last*line)*size-1], sums[end+TiltedSlack(c)-c-1], diagonals[end+TiltedSlack(c)-1]
	if before > 0 {
		t.start(r, edge)
	}
	for q := range tiltedRows {
		copy(edge[q*CarryLen(c):][c:line], sums[max(0, from-q*line):])
	}
	k.group(&dst[from], t.DstStride, &src[from*size], t.SrcStride, &sums[from], &diagonals[from], &edge[0], n,
		tiltedLanes[S](c), c, &t.masks[under][0][0], before, after, t.writes(dst[from:]))
	return true
}

// writes is how to write from here on.
func (t *TiltedTile[S]) writes(dst []S) uint8 {
	size := unsafe.Sizeof(dst[0])
	if (uintptr(unsafe.Pointer(&dst[0]))|uintptr(t.DstStride)*size)%LineBytes != 0 {
		return uint8(Ahead)
	}
	return uint8(t.Writes)
}

// tiltedMasks has, for every line under masks, four before the rows are all
// inside of the image and four after, and for each row: the lanes that have
// pixels, those that are stored, those of the first pixel and of the last.
type tiltedMasks [2 * tiltedRows][tiltedRows][4]uint16

// set makes them for rows of n elements and this many lanes.
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

// tiltedLanes is which lane of two vectors is one pixel to the left of one in
// the second, and to the right of one in the first; and what zero is.
func tiltedLanes[S Sum](channels int) *uint32 {
	kind := int(unsafe.Sizeof(*new(S)))/4 - 1
	if isFloat[S]() {
		kind += 2
	}
	return &allTiltedLanes[kind][channels-1][0][0]
}

// allTiltedLanes holds them for integers and floats of 32 and 64 bits.
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
