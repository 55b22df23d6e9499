package kernel

// lineRoutine is an assembly kernel for whole cache lines of sums and one number of
// channels. Strides are in bytes.
type lineRoutine func(dst *byte, dstStride int, src *byte, srcStride int, above, carry *byte, rows, n int, offset float32)

// linesFunc returns a kernel that hands the whole lines of a tile to assembly, which
// trusts its arguments: they are checked here. The rest of every row is portable,
// and goes on from the carries.
func linesFunc(asm [FastChannels]lineRoutine, portable Func, size sizes) Func {
	return func(t *Tile) {
		n := t.wholeLines(size)
		if n > 0 {
			t.check(size)
			asm[t.Channels-1](&t.Dst[0], t.DstStride*size.sum, &t.Src[0], t.SrcStride*size.pixel, &t.Above[0], &t.Carry[0], t.Rows, n, t.Offset)
		}
		if n < t.N {
			t.from(n, portable, size)
		}
	}
}

// wholeLines returns how many elements of each row are whole lines of sums, and whole
// pixels, and 0 where there is no assembly for the channels.
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

// from puts the elements of every row from n on through a kernel.
func (t *Tile) from(n int, kernel Func, size sizes) {
	dst, src, above := t.Dst, t.Src, t.Above
	t.Dst, t.Src, t.Above, t.N = dst[min(n*size.sum, len(dst)):], src[min(n*size.pixel, len(src)):], above[n*size.sum:], t.N-n
	kernel(t)
	t.Dst, t.Src, t.Above, t.N = dst, src, above, t.N+n
}

// lineVolume is lineRoutine for volumes. A row of over is as long as that of
// [portableVolume].
type lineVolume func(dst *byte, dstStride int, src *byte, srcStride int, above, carry, over *byte, overStride, rows, n int, offset float32)

// volumeLinesFunc is linesFunc for volumes. What the assembly leaves, and where there is
// none all of it, is made as a plane and laid on the slice over it.
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
			t.from(n, plane, size)
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
