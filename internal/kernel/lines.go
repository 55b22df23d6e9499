package kernel

import "unsafe"

// lineRoutine is an assembly kernel for whole cache lines of sums and one number of
// channels. Strides are in bytes.
type lineRoutine[P Pixel, S Sum] func(dst *S, dstStride int, src *P, srcStride int, above, carry *S, rows, n int, offset float32)

// linesFunc is a kernel that hands the whole lines of a tile to assembly, which trusts
// its arguments: here is where they are checked. The rest of every row is portable,
// and goes on from the carries.
func linesFunc[S Sum](asm [FastChannels]lineRoutine[byte, S], portable Func[S]) Func[S] {
	size := int(unsafe.Sizeof(*new(S)))
	return func(t *Tile[S]) {
		n := t.wholeLines()
		if n > 0 {
			t.check()
			asm[t.Channels-1](&t.Dst[0], t.DstStride*size, &t.Src[0], t.SrcStride*t.PixelBytes, &t.Above[0], &t.Carry[0], t.Rows, n, t.Offset)
		}
		if n < t.N {
			t.from(n, portable)
		}
	}
}

// wholeLines is how many elements of each row are whole lines of sums, and whole
// pixels, and 0 where there is no assembly for the channels.
func (t *Tile[S]) wholeLines() int {
	if t.Channels > FastChannels || t.Rows == 0 {
		return 0
	}
	line := LineBytes / int(unsafe.Sizeof(*new(S)))
	if t.Channels == 3 {
		line *= 3
	}
	return t.N / line * line
}

// from puts the elements of every row from n on through a kernel.
func (t *Tile[S]) from(n int, kernel Func[S]) {
	dst, src, above := t.Dst, t.Src, t.Above
	t.Dst, t.Src, t.Above, t.N = dst[min(n, len(dst)):], src[min(n*t.PixelBytes, len(src)):], above[n:], t.N-n
	kernel(t)
	t.Dst, t.Src, t.Above, t.N = dst, src, above, t.N+n
}

// lineVolume is lineRoutine for volumes. A row of over is as long as that of
// [portableVolume].
type lineVolume[P Pixel, S Sum] func(dst *S, dstStride int, src *P, srcStride int, above, carry, over *S, overStride, rows, n int, offset float32)

// volumeLinesFunc is linesFunc for volumes. What the assembly leaves, and where there is
// none all of it, is made as a plane and laid on the slice over it.
func volumeLinesFunc[S Sum](r *routines[byte, S], plane Func[S]) VolumeFunc[S] {
	size := int(unsafe.Sizeof(*new(S)))
	asm, lay := r.volumeLines, r.lay
	return func(t *VolumeTile[S]) {
		if t.Rows == 0 {
			return
		}
		pitch, n := overPitch(t.N), 0
		if asm[0] != nil {
			n = t.wholeLines()
		}
		if n > 0 {
			t.check()
			_ = t.Over[:(t.Rows-1)*pitch+n]
			asm[t.Channels-1](&t.Dst[0], t.DstStride*size, &t.Src[0], t.SrcStride*t.PixelBytes, &t.Above[0], &t.Carry[0], &t.Over[0],
				pitch*size, t.Rows, n, t.Offset)
		}
		if n < t.N {
			t.from(n, plane)
		}
		for r := range t.Rows {
			dst, over := t.Dst[r*t.DstStride:], t.Over[r*pitch:]
			layRow(dst[n:t.N], over[n:t.N], lay)
			if t.Whole {
				clear(dst[t.N:t.DstStride])
			}
		}
	}
}

// layRow lays a row on that of the slice over it.
func layRow[S Sum](dst, over []S, lay func(dst, over *S, n int)) {
	lines := len(dst) &^ (LineBytes/int(unsafe.Sizeof(*new(S))) - 1)
	if lay == nil {
		lines = 0
	}
	if lines > 0 {
		lay(&dst[0], &over[0], lines)
	}
	dst, over = dst[lines:], over[lines:][:len(dst)-lines]
	for i := range dst {
		over[i] += dst[i]
		dst[i] = over[i]
	}
}
