package kernel

import "unsafe"

// routine is an assembly kernel. Strides are in bytes.
type routine[P Pixel, S Sum] func(dst *S, dstStride int, src *P, srcStride int, above, carry *S, rows, n int, lanes *uint32, offset float32, writes uint8)

// planeFunc is a kernel that hands a tile to assembly, which trusts its arguments:
// here is where they are checked. Tiles that the assembly is not made for go
// to the portable loop, which understands its carries.
// What a kernel leaves of groups of rows goes to the level below, whose carries are
// the same.
func planeFunc[S Sum](r, below *routines[byte, S], portable Func[S]) Func[S] {
	if r.plane == nil {
		return portable
	}
	many, single := r.planes()
	manyRest, singleRest := many, single
	if r.planeGroups {
		manyRest = below.plane
		if r.planeDot == nil {
			singleRest = below.plane
		}
	}
	size := int(unsafe.Sizeof(*new(S)))
	return func(t *Tile[S]) {
		if t.Channels > FastChannels || t.N < narrow[S]() || t.Rows == 0 {
			portable(t)
			return
		}
		t.check()
		writes := t.Writes
		if !t.onLines() {
			writes = Ahead
		}
		asm, rest := many, manyRest
		if t.Channels == 1 {
			asm, rest = single, singleRest
		}
		lanes := &lanesOf[size/4-1][t.Channels-1].step[0][0]
		carries, dstStride, srcStride := CarryLen(t.Channels), t.DstStride*size, t.SrcStride*t.PixelBytes
		for y, rows := 0, t.Rows&^(groupRows-1); y < t.Rows; y, rows, asm = y+rows, t.Rows-rows, rest {
			if rows > 0 {
				asm(&t.Dst[y*t.DstStride], dstStride, &t.Src[y*srcStride], srcStride, &t.Above[0], &t.Carry[y*carries], rows, t.N, lanes, t.Offset, uint8(writes))
			}
		}
	}
}

// groupRows is how many rows the assembly takes at once.
const groupRows = 4

func (r *routines[P, S]) planes() (many, single routine[P, S]) {
	if r.planeDot != nil {
		return r.plane, r.planeDot
	}
	return r.plane, r.plane
}

// narrow is the sums that a tile has at least for assembly: the tail of a row is
// loaded together with what is left of it.
func narrow[S Sum]() int { return sumBlock / int(unsafe.Sizeof(*new(S))) }

// check panics where the slices of a tile are too short.
func (t *Tile[S]) check() {
	_ = t.Dst[:(t.Rows-1)*t.DstStride+t.N]
	_ = t.Src[:((t.Rows-1)*t.SrcStride+t.N)*t.PixelBytes]
	_ = t.Above[:t.N+Slack]
	_ = t.Carry[:t.Rows*CarryLen(t.Channels)]
}

// onLines reports whether every row of sums starts a cache line.
func (t *Tile[S]) onLines() bool {
	first, stride := uintptr(unsafe.Pointer(unsafe.SliceData(t.Dst))), uintptr(t.DstStride)*unsafe.Sizeof(*new(S))
	return (first|stride)%LineBytes == 0
}

// lanes tells a kernel how the channels lie in a vector, so that one kernel
// serves every number of them: channel counts are data, not code. It works in
// lanes of 32 bits, two of them for sums of 64, and in blocks of 32 bytes.
type lanes struct {
	step [3][16]uint32 // which lane holds the sum 1, 2 and 4 pixels to the left
	keep [3][16]uint32 // all ones where that is in the same block
	low  [16]uint32    // in the upper block: the lower block's last sum of the channel
	last [16]uint32    // in the lower block: the vector's last sum of the channel
	next [16]uint32    // the same for all lanes of the next vector
}

// lanesOf holds them by lanes to a sum and by channels, from one.
var lanesOf = func() (all [2][FastChannels]lanes) {
	const block = 8
	for wide := range all {
		for channels := range all[wide] {
			l, pixel := &all[wide][channels], (channels+1)*(wide+1)
			for i := range 2 * block {
				in := i % block
				for s := range l.step {
					if left := in - pixel<<s; left >= 0 {
						l.step[s][i] = uint32(i - in + left)
						l.keep[s][i] = ^uint32(0)
					}
				}
				l.low[i] = uint32(block - pixel + in%pixel)
				l.last[i] = uint32(2*block - pixel + in%pixel)
				l.next[i] = uint32(2*block - pixel + i%pixel)
			}
		}
	}
	return all
}()
