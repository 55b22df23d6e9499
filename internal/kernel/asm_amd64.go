//go:build amd64 && !noasm

package kernel

import (
	"unsafe"

	"golang.org/x/sys/cpu"
)

//go:generate go run -C _gen . -level avx2 -out ../avx2_amd64.s -stubs ../avx2_amd64.go -pkg kernel
//go:generate go run -C _gen . -level avx512 -out ../avx512_amd64.s -stubs ../avx512_amd64.go -pkg kernel

var best = func() Level {
	x := &cpu.X86
	switch {
	case !x.HasAVX2 || !x.HasBMI2:
		return Portable
	case !x.HasAVX512F || !x.HasAVX512BW || !x.HasAVX512DQ || !x.HasAVX512VL || !x.HasAVX512VNNI:
		return AVX2
	}
	return AVX512
}()

var (
	u8u32           = dot(pair(u8u32AVX2, u8u32AVX512), pair(u8u32DotAVX2, u8u32DotAVX512))
	u8u64           = dot(pair(u8u64AVX2, u8u64AVX512), pair(u8u64DotAVX2, u8u64DotAVX512))
	u8f32           = pair(u8f32AVX2, u8f32AVX512)
	u8f64           = dot(pair(u8f64AVX2, u8f64AVX512), pair(u8f64DotAVX2, u8f64DotAVX512))
	u16u64          = pair(u16u64AVX2, u16u64AVX512)
	u16f64          = pair(u16f64AVX2, u16f64AVX512)
	u32u32          = pair(u32u32AVX2, u32u32AVX512)
	u32u64          = pair(u32u64AVX2, u32u64AVX512)
	i16i64          = pair(i16i64AVX2, i16i64AVX512)
	i32i64          = pair(i32i64AVX2, i32i64AVX512)
	f32f32          = pair(f32f32AVX2, f32f32AVX512)
	f32f64          = pair(f32f64AVX2, f32f64AVX512)
	f64f64          = pair(f64f64AVX2, f64f64AVX512)
	u8Squares       = squaresPair(u8SquaresAVX2, u8SquaresAVX512)
	u8FloatSquares  = squaresPair(u8FloatSquaresAVX2, u8FloatSquaresAVX512)
	u16Squares      = squaresPair(u16SquaresAVX2, u16SquaresAVX512)
	u16FloatSquares = squaresPair(u16FloatSquaresAVX2, u16FloatSquaresAVX512)
	u32Squares      = squaresPair(u32SquaresAVX2, u32SquaresAVX512)
	u32FloatSquares = squaresPair(u32FloatSquaresAVX2, u32FloatSquaresAVX512)
	i16Squares      = squaresPair(i16SquaresAVX2, i16SquaresAVX512)
	i32Squares      = squaresPair(i32SquaresAVX2, i32SquaresAVX512)
	i32FloatSquares = squaresPair(i32FloatSquaresAVX2, i32FloatSquaresAVX512)
	f32Squares      = squaresPair(f32SquaresAVX2, f32SquaresAVX512)
	f64Squares      = squaresPair(f64SquaresAVX2, f64SquaresAVX512)
)

// routine is an assembly kernel.
type routine[P Pixel, S Sum] func(dst *S, dstStride int, src *P, srcStride int, above, carry *S, rows, n int, lanes *uint32, offset float32, writes uint8)

func pair[P Pixel, S Sum](avx2, avx512 routine[P, S]) assembly[P, S] {
	return assembly[P, S]{call(avx2, portableSum[P, S]), call(avx512, portableSum[P, S])}
}

func squaresPair[P Pixel, S Sum](avx2, avx512 routine[P, S]) assembly[P, S] {
	return assembly[P, S]{call(avx2, portableSquare[P, S]), call(avx512, portableSquare[P, S])}
}

// dot uses the second set of kernels where there is a single channel.
func dot[P Pixel, S Sum](many, single assembly[P, S]) assembly[P, S] {
	pick := func(many, single Func[P, S]) Func[P, S] {
		return func(t *Tile[P, S]) {
			if t.Channels == 1 {
				single(t)
			} else {
				many(t)
			}
		}
	}
	return assembly[P, S]{pick(many.avx2, single.avx2), pick(many.avx512, single.avx512)}
}

// call is a kernel that hands a tile to assembly, which trusts its arguments:
// here is where they are checked. Tiles that the assembly is not made for go
// to the portable loop, which understands its carries.
func call[P Pixel, S Sum](asm routine[P, S], portable Func[P, S]) Func[P, S] {
	size := unsafe.Sizeof(*new(S))
	narrow := sumBlock / int(size) // the tail is loaded together with what is left of it
	return func(t *Tile[P, S]) {
		if t.Channels > FastChannels || t.N < narrow || t.Rows == 0 {
			portable(t)
			return
		}
		_ = t.Dst[:(t.Rows-1)*t.DstStride+t.N]
		_ = t.Src[:(t.Rows-1)*t.SrcStride+t.N]
		_ = t.Above[:t.N+Slack]
		_ = t.Carry[:t.Rows*CarryLen(t.Channels)]
		dst := unsafe.SliceData(t.Dst)
		writes := t.Writes
		if onLines := uintptr(unsafe.Pointer(dst))%LineBytes == 0 && uintptr(t.DstStride)*size%LineBytes == 0; !onLines {
			writes = min(writes, Ahead)
		}
		asm(dst, t.DstStride, unsafe.SliceData(t.Src), t.SrcStride, unsafe.SliceData(t.Above), unsafe.SliceData(t.Carry),
			t.Rows, t.N, &lanesOf[size/4-1][t.Channels-1].step[0][0], t.Offset, uint8(writes))
	}
}

// lanes tells a kernel how the channels lie in a vector, so that one kernel
// serves every number of them: channel counts are data, not code. It works in
// lanes of 32 bits, two of them for sums of 64, and in blocks of 32 bytes.
type lanes struct {
	step [3][16]uint32 // which lane holds the sum 1, 2 and 4 pixels to the left
	keep [3][16]uint32 // all ones where that is in the same block
	low  [16]uint32    // in the upper block: the lower block's last sum of the channel
	last [16]uint32    // in the lower block: the vector's last sum of the channel
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
			}
		}
	}
	return all
}()

// StreamFill writes every byte of dst once, past the caches.
func StreamFill(dst []byte) {
	head := int(-uintptr(unsafe.Pointer(unsafe.SliceData(dst))) % LineBytes)
	if best == Portable || len(dst) < head+256 {
		fillBytes(dst)
		return
	}
	body := (len(dst) - head) &^ 255
	fillBytes(dst[:head])
	fillBytes(dst[head+body:])
	if best == AVX512 {
		fillAVX512(&dst[head], body)
	} else {
		fillAVX2(&dst[head], body)
	}
}

// StreamFillRead writes every byte of dst once, past the caches, and reads
// every byte of src once, at the same pace: the least that making a table of
// those bytes can take.
func StreamFillRead(dst, src []byte) {
	head := int(-uintptr(unsafe.Pointer(unsafe.SliceData(dst))) % LineBytes)
	if best == Portable || len(src) < LineBytes || len(dst) < head+LineBytes {
		streamRead(src)
		StreamFill(dst)
		return
	}
	ratio := max(1, (len(dst)-head)/len(src))
	blocks := min(len(src)/LineBytes, (len(dst)-head)/LineBytes/ratio)
	if best == AVX512 {
		fillReadAVX512(&dst[head], &src[0], blocks, ratio)
	} else {
		fillReadAVX2(&dst[head], &src[0], blocks, ratio)
	}
	fillBytes(dst[:head])
	StreamFill(dst[head+blocks*ratio*LineBytes:])
	streamRead(src[blocks*LineBytes:])
}

// streamRead reads every byte of src once.
func streamRead(src []byte) {
	body := len(src) &^ 255
	switch {
	case body == 0 || best == Portable:
		readBytes(src)
	case best == AVX512:
		readAVX512(&src[0], body)
	default:
		readAVX2(&src[0], body)
	}
}

// LastLevelCache is the size of the largest cache in bytes, 0 if unknown.
func LastLevelCache() int { return lastLevelCache }

// lastLevelCache asks as Intel and AMD document it: a leaf lists the caches,
// 4 at one and 0x8000001D, in the same format, at the other.
var lastLevelCache = func() (largest int) {
	leaves := []uint32{4, 0x8000001d}
	for _, leaf := range leaves {
		if last, _, _, _ := cpuid(leaf&0x80000000, 0); last < leaf {
			continue
		}
		for sub := range uint32(8) {
			eax, ebx, ecx, _ := cpuid(leaf, sub)
			if eax&31 == 0 {
				break
			}
			ways, partitions, line := ebx>>22+1, ebx>>12&0x3ff+1, ebx&0xfff+1
			largest = max(largest, int(ways)*int(partitions)*int(line)*(int(ecx)+1))
		}
	}
	return largest
}()

// Pause tells the processor that the caller is polling.
func Pause() { pause() }
