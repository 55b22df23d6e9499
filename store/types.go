package store

import (
	"encoding/binary"
	"math"

	"github.com/boxsum/boxsum/internal/raster"
	"github.com/boxsum/boxsum/internal/stats"
	"github.com/boxsum/boxsum/zarr"
)

// pixelsOf returns the type as which pixels are summed.
func pixelsOf(t zarr.Type) zarr.Type {
	switch t {
	case zarr.Bool:
		return zarr.Uint8
	case zarr.Int8:
		return zarr.Int16
	case zarr.Float16:
		return zarr.Float32
	}
	return t
}

// isFloat reports whether a type holds floats.
func isFloat(t zarr.Type) bool { return t >= zarr.Float16 && t <= zarr.Float64 }

// isSigned reports whether a type holds integers that may be negative.
func isSigned(t zarr.Type) bool { return t >= zarr.Int8 && t <= zarr.Int64 }

// rasterTypes holds the types that tables are made of and made for.
var rasterTypes = [...]raster.Type{
	zarr.Uint8: raster.U8, zarr.Uint16: raster.U16, zarr.Uint32: raster.U32, zarr.Uint64: raster.U64,
	zarr.Int16: raster.I16, zarr.Int32: raster.I32, zarr.Int64: raster.I64,
	zarr.Float32: raster.F32, zarr.Float64: raster.F64,
}

// sumsOf returns the types of the sums of pixels and of their squares. 64-bit pixels have
// no squares.
func sumsOf(pixel zarr.Type) (sum, square zarr.Type) {
	switch pixel = pixelsOf(pixel); {
	case isFloat(pixel):
		return zarr.Float64, zarr.Float64
	case pixel == zarr.Int64:
		return zarr.Int64, 0
	case pixel == zarr.Uint64:
		return zarr.Uint64, 0
	case isSigned(pixel):
		return zarr.Int64, zarr.Uint64
	}
	return zarr.Uint64, zarr.Uint64
}

// boundOf returns the largest magnitude of a pixel, or 0 for floats and 64-bit integers.
func boundOf(pixel zarr.Type) uint64 {
	switch pixel {
	case zarr.Bool:
		return 1
	case zarr.Uint8:
		return 1<<8 - 1
	case zarr.Int8:
		return 1 << 7
	case zarr.Uint16:
		return 1<<16 - 1
	case zarr.Int16:
		return 1 << 15
	case zarr.Uint32:
		return 1<<32 - 1
	case zarr.Int32:
		return 1 << 31
	}
	return 0
}

// localType returns the narrowest type that holds all sums of a block of n pixels, or of
// their squares.
func localType(pixel, sum zarr.Type, n int, squares bool) zarr.Type {
	bound := boundOf(pixel)
	if squares {
		bound *= bound
	}
	if bound == 0 || uint64(n) > (1<<32-1)/bound {
		return sum
	}
	switch {
	case sum == zarr.Int64 && uint64(n) <= (1<<31-1)/bound:
		return zarr.Int32
	case sum == zarr.Uint64:
		return zarr.Uint32
	}
	return sum
}

// A number is a sum of a table: the bits of a uint64, an int64 or a float64. The methods of
// its layer know which.
type number uint64

func (n number) float() float64 { return math.Float64frombits(uint64(n)) }

// decode returns the first entry of data, which has the given type, as a sum.
func decode(t zarr.Type, data []byte) number {
	switch t {
	case zarr.Uint32:
		return number(binary.NativeEndian.Uint32(data))
	case zarr.Int32:
		return number(int32(binary.NativeEndian.Uint32(data)))
	}
	return number(binary.NativeEndian.Uint64(data))
}

// plus returns a + b.
func (l *layer) plus(a, b number) number {
	if isFloat(l.sum) {
		return number(math.Float64bits(a.float() + b.float()))
	}
	return a + b
}

// minus returns a − b.
func (l *layer) minus(a, b number) number {
	if isFloat(l.sum) {
		return number(math.Float64bits(a.float() - b.float()))
	}
	return a - b
}

// float returns a sum as a float64.
func (l *layer) float(n number) float64 {
	switch l.sum {
	case zarr.Uint64:
		return float64(n)
	case zarr.Int64:
		return float64(int64(n))
	}
	return n.float()
}

// exact returns a sum in the form that package stats expects.
func (l *layer) exact(n number) stats.Sum {
	switch l.sum {
	case zarr.Uint64:
		return stats.SumOf(uint64(n))
	case zarr.Int64:
		return stats.SumOf(int64(n))
	}
	return stats.SumOf(n.float())
}
