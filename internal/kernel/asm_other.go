//go:build !amd64 || noasm

package kernel

const best = Portable

// Machines without assembly use the portable loops for every pair of types.
var (
	u8u32           assembly[uint8, uint32]
	u8u64           assembly[uint8, uint64]
	u8f32           assembly[uint8, float32]
	u8f64           assembly[uint8, float64]
	u16u64          assembly[uint16, uint64]
	u16f64          assembly[uint16, float64]
	u32u32          assembly[uint32, uint32]
	u32u64          assembly[uint32, uint64]
	i16i64          assembly[int16, int64]
	i32i64          assembly[int32, int64]
	f32f32          assembly[float32, float32]
	f32f64          assembly[float32, float64]
	f64f64          assembly[float64, float64]
	u8Squares       assembly[uint8, uint64]
	u8FloatSquares  assembly[uint8, float64]
	u16Squares      assembly[uint16, uint64]
	u16FloatSquares assembly[uint16, float64]
	u32Squares      assembly[uint32, uint64]
	u32FloatSquares assembly[uint32, float64]
	i16Squares      assembly[int16, uint64]
	i32Squares      assembly[int32, uint64]
	i32FloatSquares assembly[int32, float64]
	f32Squares      assembly[float32, float64]
	f64Squares      assembly[float64, float64]
)

// StreamFill writes every byte of dst once.
func StreamFill(dst []byte) { fillBytes(dst) }

// StreamFillRead writes every byte of dst once and reads every byte of src once.
func StreamFillRead(dst, src []byte) {
	readBytes(src)
	fillBytes(dst)
}

// LastLevelCache is the size of the largest cache in bytes, 0 if unknown.
func LastLevelCache() int { return 0 }

// Pause tells the processor that the caller is polling.
func Pause() {}
