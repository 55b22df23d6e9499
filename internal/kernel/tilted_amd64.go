//go:build amd64 && !noasm

package kernel

//go:generate go run -C _gen . -part tilted -level avx2 -out ../tilted_avx2_amd64.s -stubs ../tilted_avx2_amd64.go -pkg kernel
//go:generate go run -C _gen . -part tilted -level avx512 -out ../tilted_avx512_amd64.s -stubs ../tilted_avx512_amd64.go -pkg kernel

// tiltedAssemblies holds a tiltedAssembly for every pair of types.
var tiltedAssemblies = []any{
	tiltedPair(u8u32TiltedAVX2, u8u32TiltedAVX512, u8u32TiltedGroupAVX512),
	tiltedPair(u8u64TiltedAVX2, u8u64TiltedAVX512, u8u64TiltedGroupAVX512),
	tiltedPair(u8f32TiltedAVX2, u8f32TiltedAVX512, u8f32TiltedGroupAVX512),
	tiltedPair(u8f64TiltedAVX2, u8f64TiltedAVX512, u8f64TiltedGroupAVX512),
	tiltedPair(u16u64TiltedAVX2, u16u64TiltedAVX512, u16u64TiltedGroupAVX512),
	tiltedPair(u16f64TiltedAVX2, u16f64TiltedAVX512, u16f64TiltedGroupAVX512),
	tiltedPair(u32u32TiltedAVX2, u32u32TiltedAVX512, u32u32TiltedGroupAVX512),
	tiltedPair(u32u64TiltedAVX2, u32u64TiltedAVX512, u32u64TiltedGroupAVX512),
	tiltedPair(i16i64TiltedAVX2, i16i64TiltedAVX512, i16i64TiltedGroupAVX512),
	tiltedPair(i32i64TiltedAVX2, i32i64TiltedAVX512, i32i64TiltedGroupAVX512),
	tiltedPair(f32f32TiltedAVX2, f32f32TiltedAVX512, f32f32TiltedGroupAVX512),
	tiltedPair(f32f64TiltedAVX2, f32f64TiltedAVX512, f32f64TiltedGroupAVX512),
	tiltedPair(f64f64TiltedAVX2, f64f64TiltedAVX512, f64f64TiltedGroupAVX512),
	tiltedSquaresPair(u8SquaresTiltedAVX2, u8SquaresTiltedAVX512, u8SquaresTiltedGroupAVX512),
	tiltedSquaresPair(u16SquaresTiltedAVX2, u16SquaresTiltedAVX512, u16SquaresTiltedGroupAVX512),
	tiltedSquaresPair(u32SquaresTiltedAVX2, u32SquaresTiltedAVX512, u32SquaresTiltedGroupAVX512),
	tiltedSquaresPair(u32FloatSquaresTiltedAVX2, u32FloatSquaresTiltedAVX512, u32FloatSquaresTiltedGroupAVX512),
	tiltedSquaresPair(i16SquaresTiltedAVX2, i16SquaresTiltedAVX512, i16SquaresTiltedGroupAVX512),
	tiltedSquaresPair(i32SquaresTiltedAVX2, i32SquaresTiltedAVX512, i32SquaresTiltedGroupAVX512),
	tiltedSquaresPair(i32FloatSquaresTiltedAVX2, i32FloatSquaresTiltedAVX512, i32FloatSquaresTiltedGroupAVX512),
	tiltedSquaresPair(f32SquaresTiltedAVX2, f32SquaresTiltedAVX512, f32SquaresTiltedGroupAVX512),
	tiltedSquaresPair(f64SquaresTiltedAVX2, f64SquaresTiltedAVX512, f64SquaresTiltedGroupAVX512),
}

func tiltedPair[P Pixel, S Sum](avx2, avx512 tiltedRoutine[P, S], group tiltedGroup[P, S]) any {
	return tiltedAssembly[P, S]{false, avx2, avx512, group}
}

func tiltedSquaresPair[P Pixel, S Sum](avx2, avx512 tiltedRoutine[P, S], group tiltedGroup[P, S]) any {
	return tiltedAssembly[P, S]{true, avx2, avx512, group}
}
