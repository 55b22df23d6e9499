package store

import (
	"github.com/boxsum/boxsum/internal/raster"
	"github.com/boxsum/boxsum/zarr"
)

// The loops over the pixels and sums of blocks. They are chosen by type and get memory:
// nothing else in this package is compiled for each type. Slices may be empty, but have
// whole elements.

// adders holds the loops that store a + b in dst, by type.
var adders = [raster.NumTypes]func(dst, a, b []byte){
	raster.U64: add[uint64],
	raster.I64: add[int64],
	raster.F64: add[float64],
}

func add[S raster.Number](dst, a, b []byte) {
	to, x, y := raster.Elems[S](dst), raster.Elems[S](a), raster.Elems[S](b)
	for i := range y {
		to[i] = x[i] + y[i]
	}
}

// extenders holds the loops that extend a row of the table of a block to one of the whole
// table, by the types of sums in the table and in the row: dst = (row + left) + above, where
// left has one sum for each channel.
var extenders = [raster.NumTypes][raster.NumTypes]func(dst, row, left, above []byte){
	raster.U64: {raster.U32: extend[uint64, uint32], raster.U64: extend[uint64, uint64]},
	raster.I64: {raster.I64: extend[int64, int64]},
	raster.F64: {raster.F64: extend[float64, float64]},
}

func extend[S, L raster.Number](dst, row, left, above []byte) {
	from, lefts := raster.Elems[L](row), raster.Elems[S](left)
	to, tops := raster.Elems[S](dst)[:len(from)], raster.Elems[S](above)[:len(from)]
	if len(lefts) == 1 {
		a := lefts[0]
		for x, v := range from {
			to[x] = (S(v) + a) + tops[x]
		}
		return
	}
	for x := 0; x < len(from); x += len(lefts) {
		from, to, tops := from[x:][:len(lefts)], to[x:][:len(lefts)], tops[x:][:len(lefts)]
		for c, a := range lefts {
			to[c] = (S(from[c]) + a) + tops[c]
		}
	}
}

// converters holds the loops that convert sums, by the types of the results and of the sums.
var converters = [raster.NumTypes][raster.NumTypes]func(dst, src []byte){
	raster.U32: {raster.U32: convert[uint32, uint32], raster.U64: convert[uint32, uint64]},
	raster.I32: {raster.I64: convert[int32, int64]},
	raster.U64: {raster.U32: convert[uint64, uint32], raster.U64: convert[uint64, uint64]},
	raster.I64: {raster.I64: convert[int64, int64]},
	raster.F64: {raster.F64: convert[float64, float64]},
}

func convert[T, S raster.Number](dst, src []byte) {
	to := raster.Elems[T](dst)
	for i, v := range raster.Elems[S](src) {
		to[i] = T(v)
	}
}

// slicers holds the loops that sum the slices of a volume, by the types of sums and pixels.
var slicers = [raster.NumTypes][raster.NumTypes]func(dst, src []byte, n, depth int, squares bool){
	raster.U64: {
		raster.U8: sumSlices[uint64, uint8], raster.U16: sumSlices[uint64, uint16], raster.U32: sumSlices[uint64, uint32], raster.U64: sumSlices[uint64, uint64],
		raster.I16: sumSlices[uint64, int16], raster.I32: sumSlices[uint64, int32], // squares
	},
	raster.I64: {raster.I16: sumSlices[int64, int16], raster.I32: sumSlices[int64, int32], raster.I64: sumSlices[int64, int64]},
	raster.F64: {raster.F32: sumSlices[float64, float32], raster.F64: sumSlices[float64, float64]},
}

// sumSlices stores the running sums over depth slices of n pixels, or of their squares, with
// the sums of each pixel adjacent.
func sumSlices[S, P raster.Number](dst, src []byte, n, depth int, squares bool) {
	const some = 64 // pixels at a time, whose sums fit in the cache
	sums, pixels := raster.Elems[S](dst), raster.Elems[P](src)
	for from := 0; from < n; from += some {
		to := min(from+some, n)
		for z := range depth {
			for i, p := range pixels[z*n+from : z*n+to] {
				v, at := S(p), (from+i)*depth+z
				if squares {
					v = S(v * v) // rounded before it is added
				}
				if z > 0 {
					v = sums[at-1] + v
				}
				sums[at] = v
			}
		}
	}
}

// widen converts elements to the type in which they are summed (see [pixelsOf]) and reuses
// the memory of have. Elements of other types are returned as they are.
func widen(have *[]byte, element zarr.Type, data []byte) []byte {
	switch element {
	case zarr.Int8:
		*have = raster.Reuse(*have, 2*len(data))
		wide := raster.Elems[int16](*have)
		for i, v := range data {
			wide[i] = int16(int8(v))
		}
		return *have
	case zarr.Float16:
		*have = raster.Reuse(*have, 2*len(data))
		wide := raster.Elems[float32](*have)
		for i, v := range raster.Elems[uint16](data) {
			wide[i] = zarr.FromFloat16(v)
		}
		return *have
	}
	return data
}
