package raster

import (
	"fmt"
	"slices"
	"strings"
)

// Kinds is a set of kinds of tables.
type Kinds uint8

// The kinds of tables that have their own pairs. OnDevice means all tables of a GPU,
// and OnePass those that CUDA also makes in one pass.
const (
	Upright Kinds = 1 << iota
	Tilted
	Rotated
	Volume
	OnDevice
	OnePass

	everywhere = Upright | Tilted | Rotated | Volume | OnDevice | OnePass
	unrotated  = everywhere &^ Rotated // rotated tables have no squares
	seldom     = everywhere &^ OnePass // one-pass kernels of a pair are half a megabyte
)

// A Pair is a type of pixels, a type of sums for them, and the kinds of tables that
// support both.
type Pair struct {
	Pixel, Sum Type
	Kinds      Kinds
}

// String returns the pair in the form of the command line: "u8:u32".
func (p Pair) String() string { return p.Pixel.Short() + ":" + p.Sum.Short() }

// A PairList lists pairs, for each pixel type its usual sum first.
type PairList []Pair

// SumPairs lists every pair of pixels and sums.
var SumPairs = PairList{
	{U8, U32, everywhere},
	{U8, U64, everywhere},
	{U8, F32, everywhere},
	{U8, F64, everywhere},
	{U8, I64, everywhere},
	{U16, U64, everywhere},
	{U16, F64, everywhere},
	{U16, U32, seldom},
	{U32, U64, everywhere},
	{U32, U32, everywhere},
	{I16, I64, everywhere},
	{I16, F64, seldom},
	{I32, I64, everywhere},
	{U64, U64, Upright},
	{I64, I64, Upright},
	{F32, F64, everywhere},
	{F32, F32, everywhere},
	{F64, F64, everywhere},
}

// SquarePairs lists every pair of pixels and sums of their squares.
var SquarePairs = PairList{
	{U8, U64, unrotated},
	{U8, F64, unrotated &^ OnePass},
	{U16, U64, unrotated},
	{U16, F64, unrotated &^ OnePass},
	{U32, U64, unrotated},
	{U32, F64, unrotated},
	{I16, U64, unrotated},
	{I16, F64, unrotated &^ OnePass},
	{I32, U64, unrotated},
	{I32, F64, unrotated},
	{F32, F64, unrotated},
	{F64, F64, unrotated},
}

// For returns the pairs of a list that a kind of tables supports.
func (l PairList) For(kind Kinds) PairList {
	return slices.DeleteFunc(slices.Clone(l), func(p Pair) bool { return p.Kinds&kind != kind })
}

// Has reports whether the list contains a pair.
func (l PairList) Has(pixel, sum Type) bool {
	return slices.ContainsFunc(l, func(p Pair) bool { return p.Pixel == pixel && p.Sum == sum })
}

// Twin returns the pair of a list whose sums have the same bits: unsigned sums, and
// unsigned pixels of the same size if the list has both. Kernels are made only for it.
func (l PairList) Twin(p Pair) Pair {
	if p.Pixel.Bytes() == p.Sum.Bytes() && l.Has(p.Pixel.Bits(), p.Sum.Bits()) {
		p.Pixel = p.Pixel.Bits()
	}
	if l.Has(p.Pixel, p.Sum.Bits()) {
		p.Sum = p.Sum.Bits()
	}
	return p
}

// Of returns the sum types of a pixel type, the usual one first.
func (l PairList) Of(pixel Type) []Type {
	var sums []Type
	for _, p := range l {
		if p.Pixel == pixel {
			sums = append(sums, p.Sum)
		}
	}
	return sums
}

// Default returns the default sum type of a pixel type, or 0 if it has none.
func (l PairList) Default(pixel Type) Type {
	if sums := l.Of(pixel); len(sums) > 0 {
		return sums[0]
	}
	return 0
}

// Choices describes the sum types of a pixel type, for errors: "uint16 pixels sum to
// uint64 or float64".
func (l PairList) Choices(pixel Type) string {
	sums := l.Of(pixel)
	if len(sums) == 0 {
		return fmt.Sprintf("pixels are %s", words(l.Pixels()))
	}
	return fmt.Sprintf("%v pixels sum to %s", pixel, words(sums))
}

// Missing describes a pair that the list does not have, and the pairs that it has.
func (l PairList) Missing(pixel, sum Type) string {
	return fmt.Sprintf("no table of %v from %v pixels: %s", sum, pixel, l.Choices(pixel))
}

// Pixels returns the pixel types of a list, in its order.
func (l PairList) Pixels() []Type { return l.column(func(p Pair) Type { return p.Pixel }) }

// column returns the different types in one column of a list.
func (l PairList) column(of func(Pair) Type) []Type {
	var all []Type
	for _, p := range l {
		if t := of(p); !slices.Contains(all, t) {
			all = append(all, t)
		}
	}
	return all
}

// words joins types to a phrase.
func words(all []Type) string {
	var names []string
	for _, t := range all {
		names = append(names, t.String())
	}
	last := len(names) - 1
	if last < 1 {
		return strings.Join(names, "")
	}
	return strings.Join(names[:last], ", ") + " or " + names[last]
}
