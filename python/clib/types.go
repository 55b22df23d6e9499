//go:build cgo

package main

import (
	"fmt"

	"github.com/boxsum/boxsum"
	"github.com/boxsum/boxsum/rotated"
)

// types is what a call goes by: the types of pixels, sums and squares. The last
// is the zero element where there are no squares.
type types struct{ pixel, sum, square element }

// A maker is the functions of all packages for one pair of pixel and sum types,
// or with squares for three types.
type maker struct {
	upright, tilted, volume, onDevice func(*job) error
	rotated                           func(*job, rotated.Rotation) (lattice, error)
}

var makers = map[types]*maker{
	{u8, u32, element{}}:  sums[uint32, uint8](),
	{u8, u64, element{}}:  sums[uint64, uint8](),
	{u8, f32, element{}}:  sums[float32, uint8](),
	{u8, f64, element{}}:  sums[float64, uint8](),
	{u16, u64, element{}}: sums[uint64, uint16](),
	{u16, f64, element{}}: sums[float64, uint16](),
	{u32, u32, element{}}: sums[uint32, uint32](),
	{u32, u64, element{}}: sums[uint64, uint32](),
	{i16, i64, element{}}: sums[int64, int16](),
	{i32, i64, element{}}: sums[int64, int32](),
	{f32, f32, element{}}: sums[float32, float32](),
	{f32, f64, element{}}: sums[float64, float32](),
	{f64, f64, element{}}: sums[float64, float64](),

	{u8, u32, u64}:  squares[uint32, uint64, uint8](),
	{u8, u32, f64}:  squares[uint32, float64, uint8](),
	{u8, u64, u64}:  squares[uint64, uint64, uint8](),
	{u8, u64, f64}:  squares[uint64, float64, uint8](),
	{u8, f32, u64}:  squares[float32, uint64, uint8](),
	{u8, f32, f64}:  squares[float32, float64, uint8](),
	{u8, f64, u64}:  squares[float64, uint64, uint8](),
	{u8, f64, f64}:  squares[float64, float64, uint8](),
	{u16, u64, u64}: squares[uint64, uint64, uint16](),
	{u16, u64, f64}: squares[uint64, float64, uint16](),
	{u16, f64, u64}: squares[float64, uint64, uint16](),
	{u16, f64, f64}: squares[float64, float64, uint16](),
	{u32, u32, u64}: squares[uint32, uint64, uint32](),
	{u32, u64, u64}: squares[uint64, uint64, uint32](),
	{u32, u32, f64}: squares[uint32, float64, uint32](),
	{u32, u64, f64}: squares[uint64, float64, uint32](),
	{i16, i64, u64}: squares[int64, uint64, int16](),
	{i32, i64, u64}: squares[int64, uint64, int32](),
	{i32, i64, f64}: squares[int64, float64, int32](),
	{f32, f32, f64}: squares[float32, float64, float32](),
	{f32, f64, f64}: squares[float64, float64, float32](),
	{f64, f64, f64}: squares[float64, float64, float64](),
}

func sums[S boxsum.Sum, P boxsum.Pixel]() *maker {
	return &maker{upright: upright[S, P](), tilted: leaning[S, P](), volume: solid[S, P](), onDevice: onDevice[S, P], rotated: turned[S, P]}
}

func squares[S boxsum.Sum, Q boxsum.Square, P boxsum.Pixel]() *maker {
	return &maker{upright: uprightSquares[S, Q, P](), volume: solidSquares[S, Q, P](), onDevice: onDeviceSquares[S, Q, P]}
}

// find is the maker for these types. Signed and unsigned sums have the same
// bits: a table may be of either.
func find(t types) (*maker, error) {
	given := t
	if t.sum.kind == 'i' && t.pixel.kind == 'u' || t.sum.kind == 'u' && t.pixel.kind == 'i' {
		t.sum.kind = t.pixel.kind
	}
	if t.square.kind == 'i' {
		t.square.kind = 'u'
	}
	if m, ok := makers[t]; ok {
		return m, nil
	}
	if given.square != (element{}) {
		return nil, fmt.Errorf("boxsum: %w: pixels of %v have no table of %v with squares of %v", boxsum.ErrTypes, given.pixel, given.sum, given.square)
	}
	return nil, fmt.Errorf("boxsum: %w: pixels of %v have no table of %v", boxsum.ErrTypes, given.pixel, given.sum)
}
