package kernel

// A Level is an instruction set that kernels are written for.
type Level int

// The levels, slowest first. AVX512 stands for the F, BW, DQ, VL and VNNI
// parts of it together.
const (
	Portable Level = iota
	AVX2
	AVX512
)

// Best is the fastest level of this machine; every one below it is there too.
func Best() Level { return best }

// Sums is the kernel that adds up pixels of type P in sums of type S, and nil
// for a pair that makes no table.
func Sums[P Pixel, S Sum](level Level) Func[P, S] { return find[P, S](sums, level) }

// Squares is the kernel that adds up the squares of pixels of type P in sums
// of type S, and nil for a pair that makes no table.
func Squares[P Pixel, S Sum](level Level) Func[P, S] { return find[P, S](squares, level) }

// sums and squares hold, for every pair of types, a [3]Func[P, S] by level.
var (
	sums = []any{
		byLevel(portableSum[uint8, uint32], u8u32),
		byLevel(portableSum[uint8, uint64], u8u64),
		byLevel(portableSum[uint8, float32], u8f32),
		byLevel(portableSum[uint8, float64], u8f64),
		byLevel(portableSum[uint16, uint64], u16u64),
		byLevel(portableSum[uint16, float64], u16f64),
		byLevel(portableSum[uint32, uint32], u32u32),
		byLevel(portableSum[uint32, uint64], u32u64),
		byLevel(portableSum[int16, int64], i16i64),
		byLevel(portableSum[int32, int64], i32i64),
		byLevel(portableSum[float32, float32], f32f32),
		byLevel(portableSum[float32, float64], f32f64),
		byLevel(portableSum[float64, float64], f64f64),
	}
	squares = []any{
		byLevel(portableSquare[uint8, uint64], u8Squares),
		byLevel(portableSquare[uint8, float64], u8FloatSquares),
		byLevel(portableSquare[uint16, uint64], u16Squares),
		byLevel(portableSquare[uint16, float64], u16FloatSquares),
		byLevel(portableSquare[uint32, uint64], u32Squares),
		byLevel(portableSquare[uint32, float64], u32FloatSquares),
		byLevel(portableSquare[int16, uint64], i16Squares),
		byLevel(portableSquare[int32, uint64], i32Squares),
		byLevel(portableSquare[int32, float64], i32FloatSquares),
		byLevel(portableSquare[float32, float64], f32Squares),
		byLevel(portableSquare[float64, float64], f64Squares),
	}
)

// assembly is the kernels of one pair of types by level, nil where there is none.
type assembly[P Pixel, S Sum] struct{ avx2, avx512 Func[P, S] }

func byLevel[P Pixel, S Sum](portable Func[P, S], a assembly[P, S]) [3]Func[P, S] {
	fs := [3]Func[P, S]{portable, a.avx2, a.avx512}
	for i := 1; i < len(fs); i++ {
		if fs[i] == nil {
			fs[i] = fs[i-1]
		}
	}
	return fs
}

func find[P Pixel, S Sum](in []any, level Level) Func[P, S] {
	for _, fs := range in {
		if fs, ok := fs.([3]Func[P, S]); ok {
			return fs[level]
		}
	}
	return nil
}
