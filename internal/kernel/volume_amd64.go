//go:build amd64 && !noasm

package kernel

import "unsafe"

//go:generate go run -C _gen . -part volume -level avx2 -out ../volume_avx2_amd64.s -stubs ../volume_avx2_amd64.go -pkg kernel
//go:generate go run -C _gen . -part volume -level avx512 -out ../volume_avx512_amd64.s -stubs ../volume_avx512_amd64.go -pkg kernel

// volumeRoutine is an assembly kernel.
type volumeRoutine[P Pixel, S Sum] func(dst *S, dstStride int, src *P, srcStride int, above, carry, over *S, rows, n, ahead, along int, lanes *uint32, offset float32, writes uint8)

// volumeRoutines are those of a pair of types, by level; dot are for a single
// channel, where there are such.
type volumeRoutines[P Pixel, S Sum] struct {
	square    bool
	many, dot [2]volumeRoutine[P, S]
}

var volumeRoutinesOf = []any{
	volumeDot(u8u32VolumeAVX2, u8u32VolumeAVX512, u8u32DotVolumeAVX2, u8u32DotVolumeAVX512),
	volumeDot(u8u64VolumeAVX2, u8u64VolumeAVX512, u8u64DotVolumeAVX2, u8u64DotVolumeAVX512),
	volumePair(u8f32VolumeAVX2, u8f32VolumeAVX512),
	volumeDot(u8f64VolumeAVX2, u8f64VolumeAVX512, u8f64DotVolumeAVX2, u8f64DotVolumeAVX512),
	volumePair(u16u64VolumeAVX2, u16u64VolumeAVX512),
	volumePair(u16f64VolumeAVX2, u16f64VolumeAVX512),
	volumePair(u32u32VolumeAVX2, u32u32VolumeAVX512),
	volumePair(u32u64VolumeAVX2, u32u64VolumeAVX512),
	volumePair(i16i64VolumeAVX2, i16i64VolumeAVX512),
	volumePair(i32i64VolumeAVX2, i32i64VolumeAVX512),
	volumePair(f32f32VolumeAVX2, f32f32VolumeAVX512),
	volumePair(f32f64VolumeAVX2, f32f64VolumeAVX512),
	volumePair(f64f64VolumeAVX2, f64f64VolumeAVX512),
	volumeSquaresPair(u8SquaresVolumeAVX2, u8SquaresVolumeAVX512),
	volumeSquaresPair(u16SquaresVolumeAVX2, u16SquaresVolumeAVX512),
	volumeSquaresPair(u32SquaresVolumeAVX2, u32SquaresVolumeAVX512),
	volumeSquaresPair(u32FloatSquaresVolumeAVX2, u32FloatSquaresVolumeAVX512),
	volumeSquaresPair(i16SquaresVolumeAVX2, i16SquaresVolumeAVX512),
	volumeSquaresPair(i32SquaresVolumeAVX2, i32SquaresVolumeAVX512),
	volumeSquaresPair(i32FloatSquaresVolumeAVX2, i32FloatSquaresVolumeAVX512),
	volumeSquaresPair(f32SquaresVolumeAVX2, f32SquaresVolumeAVX512),
	volumeSquaresPair(f64SquaresVolumeAVX2, f64SquaresVolumeAVX512),
}

func volumePair[P Pixel, S Sum](avx2, avx512 volumeRoutine[P, S]) any {
	return volumeDot(avx2, avx512, avx2, avx512)
}

func volumeDot[P Pixel, S Sum](avx2, avx512, dotAVX2, dotAVX512 volumeRoutine[P, S]) any {
	return volumeRoutines[P, S]{false, [2]volumeRoutine[P, S]{avx2, avx512}, [2]volumeRoutine[P, S]{dotAVX2, dotAVX512}}
}

func volumeSquaresPair[P Pixel, S Sum](avx2, avx512 volumeRoutine[P, S]) any {
	both := [2]volumeRoutine[P, S]{avx2, avx512}
	return volumeRoutines[P, S]{true, both, both}
}

// volumeAssembly finds the assembly of a pair of types.
func volumeAssembly[P Pixel, S Sum](square bool, portable VolumeFunc[P, S]) (avx2, avx512 VolumeFunc[P, S]) {
	for _, r := range volumeRoutinesOf {
		if r, ok := r.(volumeRoutines[P, S]); ok && r.square == square {
			return callVolume(r.many[0], r.dot[0], portable), callVolume(r.many[1], r.dot[1], portable)
		}
	}
	return portable, portable
}

// How the assembly writes, see [VolumeTile.Whole]. Some rows past the caches and
// some not, [Mixed], is slower here than either.
const (
	volumeCached uint8 = iota
	volumeBeyond
	volumeWhole
)

// callVolume is call for tiles of volumes.
func callVolume[P Pixel, S Sum](many, single volumeRoutine[P, S], portable VolumeFunc[P, S]) VolumeFunc[P, S] {
	size := unsafe.Sizeof(*new(S))
	narrow := sumBlock / int(size) // the tail is loaded together with what is left of it
	return func(t *VolumeTile[P, S]) {
		if t.Channels > FastChannels || t.N < narrow || t.Rows == 0 {
			portable(t)
			return
		}
		_ = t.Dst[:(t.Rows-1)*t.DstStride+t.N]
		_ = t.Src[:(t.Rows-1)*t.SrcStride+t.N]
		_ = t.Above[:t.N+Slack]
		_ = t.Carry[:t.Rows*CarryLen(t.Channels)]
		_ = t.Over[:OverLen(t.Rows, t.N)]
		dst := unsafe.SliceData(t.Dst)
		onLines := uintptr(unsafe.Pointer(dst))%LineBytes == 0 && uintptr(t.DstStride)*size%LineBytes == 0
		writes := volumeCached
		switch {
		case t.Whole && onLines:
			_ = t.Dst[:t.Rows*t.DstStride]
			writes = volumeWhole
		case t.Whole:
			portable(t)
			return
		case t.Writes != Ahead && onLines:
			writes = volumeBeyond
		}
		ahead, along := volumeAhead(t.N, t.SrcStride, int(unsafe.Sizeof(*new(P))))
		asm := many
		if t.Channels == 1 {
			asm = single
		}
		asm(dst, t.DstStride, unsafe.SliceData(t.Src), t.SrcStride, unsafe.SliceData(t.Above), unsafe.SliceData(t.Carry), unsafe.SliceData(t.Over),
			t.Rows, t.N, ahead, along, &lanesOf[size/4-1][t.Channels-1].step[0][0], t.Offset, writes)
	}
}

// volumeAhead is how far ahead of its loads a kernel asks for the pixels of groups
// to come: a page or so, in bytes, for short rows, four at a time, are more than
// the processor foresees. Along is all ones to go on from there as the group
// does, which takes rows that lie close together, and zero to stay and so ask
// for nothing.
func volumeAhead(n, stride, pixelBytes int) (ahead, along int) {
	const page, group = 4096, 4
	if n > stride || stride-n > n/4 {
		return 0, 0
	}
	rows := group * stride * pixelBytes
	return rows * max(1, page/max(1, rows)), -1
}
