package pairs

import (
	"fmt"
	"slices"
	"strings"
)

// Kinds is a set of kinds of tables.
type Kinds uint8

// The kinds that have pairs of their own. OnDevice is all tables of a GPU, and OnePass
// those that CUDA also makes in one pass.
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

// A Pair is pixels of a type, the sums that they add up to, and the kinds of
// tables that are made of them.
type Pair struct {
	Pixel, Sum Type
	Kinds      Kinds
}

// String is the pair as the command line has it: "u8:u32".
func (p Pair) String() string { return p.Pixel.Short() + ":" + p.Sum.Short() }

// A List is pairs, for each pixel its usual sum first.
type List []Pair

// Sums is every pair of pixels and sums.
var Sums = List{
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
	{F32, F64, everywhere},
	{F32, F32, everywhere},
	{F64, F64, everywhere},
}

// Squares is every pair of pixels and sums of their squares.
var Squares = List{
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

// For is the part of a list that has a kind of tables.
func (l List) For(kind Kinds) List {
	return slices.DeleteFunc(slices.Clone(l), func(p Pair) bool { return p.Kinds&kind != kind })
}

// Has reports whether the list has a pair.
func (l List) Has(pixel, sum Type) bool { return slices.Contains(l.Of(pixel), sum) }

// Twin is the pair of a list whose sums are the same bits: that of unsigned sums, where
// the list has both. Kernels are made for it alone.
func (l List) Twin(p Pair) Pair {
	if l.Has(p.Pixel, p.Sum.Bits()) {
		p.Sum = p.Sum.Bits()
	}
	return p
}

// Of is the sums of a type of pixels, the usual one first.
func (l List) Of(pixel Type) []Type {
	var sums []Type
	for _, p := range l {
		if p.Pixel == pixel {
			sums = append(sums, p.Sum)
		}
	}
	return sums
}

// Usual is the sum that pixels of a type have unless another is asked for, and 0
// for pixels without any.
func (l List) Usual(pixel Type) Type {
	if sums := l.Of(pixel); len(sums) > 0 {
		return sums[0]
	}
	return 0
}

// Choices is what pixels of a type sum to, for errors: "uint16 pixels sum to
// uint64 or float64".
func (l List) Choices(pixel Type) string {
	sums := l.Of(pixel)
	if len(sums) == 0 {
		return fmt.Sprintf("pixels are %s", words(l.column(func(p Pair) Type { return p.Pixel })))
	}
	return fmt.Sprintf("%v pixels sum to %s", pixel, words(sums))
}

// Missing is the error that a list does not have a pair: it names what it has.
func (l List) Missing(pixel, sum Type) string {
	return fmt.Sprintf("no table of %v from %v pixels: %s", sum, pixel, l.Choices(pixel))
}

// column is the different types in one column of a list.
func (l List) column(of func(Pair) Type) []Type {
	var all []Type
	for _, p := range l {
		if t := of(p); !slices.Contains(all, t) {
			all = append(all, t)
		}
	}
	return all
}

// words lists types as a sentence does.
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
