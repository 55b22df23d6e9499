package kernel

// lineRoutine is an assembly kernel for whole cache lines of sums, for one number of channels.
// Strides are in bytes.
type lineRoutine func(dst *byte, dstStride int, src *byte, srcStride int, above, carry *byte, rows, n int, offset float32)

// linesFunc returns a kernel that passes the whole lines of a tile to the assembly, after checking
// bounds, which the assembly does not. The portable loop continues from the carries and computes
// the rest of every row.
func linesFunc(asm [FastChannels]lineRoutine, portable Func, size sizes) Func {
	return func(t *Tile) {
		n := t.wholeLines(size)
		if n > 0 {
			t.check(size)
			asm[t.Channels-1](&t.Dst[0], t.DstStride*size.sum, &t.Src[0], t.SrcStride*size.pixel, &t.Above[0], &t.Carry[0], t.Rows, n, t.Offset)
		}
		if n < t.N {
			t.runFrom(n, portable, size)
		}
	}
}

// wholeLines returns the number of elements of each row that are both whole lines of sums and whole
// pixels. It returns 0 if there is no assembly for the number of channels.
func (t *Tile) wholeLines(size sizes) int {
	if t.Channels > FastChannels || t.Rows == 0 {
		return 0
	}
	line := LineBytes / size.sum
	if t.Channels == 3 {
		line *= 3
	}
	return t.N / line * line
}

// runFrom calls a kernel for the elements of every row starting at n.
func (t *Tile) runFrom(n int, kernel Func, size sizes) {
	dst, src, above := t.Dst, t.Src, t.Above
	t.Dst, t.Src, t.Above, t.N = dst[min(n*size.sum, len(dst)):], src[min(n*size.pixel, len(src)):], above[n*size.sum:], t.N-n
	kernel(t)
	t.Dst, t.Src, t.Above, t.N = dst, src, above, t.N+n
}

// lineVolume is like lineRoutine for volumes. Rows of over are as long as those of
// [portableVolume].
type lineVolume func(dst *byte, dstStride int, src *byte, srcStride int, above, carry, over *byte, overStride, rows, n int, offset float32)

// volumeLinesFunc is like linesFunc for volumes. Elements that the assembly does not compute, or
// all if there is none, are computed as a plane and added to the previous slice.
func volumeLinesFunc(r *routines, plane Func, layRow func(dst, over []byte), size sizes) VolumeFunc {
	asm, lay := r.volumeLines, layFunc(r.lay, layRow, size)
	return func(t *VolumeTile) {
		if t.Rows == 0 {
			return
		}
		pitch, n := overPitch(t.N)*size.sum, 0
		if asm[0] != nil {
			n = t.wholeLines(size)
		}
		if n > 0 {
			t.check(size)
			_ = t.Over[:(t.Rows-1)*pitch+n*size.sum]
			asm[t.Channels-1](&t.Dst[0], t.DstStride*size.sum, &t.Src[0], t.SrcStride*size.pixel, &t.Above[0], &t.Carry[0], &t.Over[0],
				pitch, t.Rows, n, t.Offset)
		}
		if n < t.N {
			t.runFrom(n, plane, size)
		}
		for r := range t.Rows {
			dst, over := t.Dst[r*t.DstStride*size.sum:], t.Over[r*pitch:]
			lay(dst[n*size.sum:t.N*size.sum], over[n*size.sum:t.N*size.sum])
			if t.Whole {
				clear(dst[t.N*size.sum : t.DstStride*size.sum])
			}
		}
	}
}
