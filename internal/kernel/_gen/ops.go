package main

import "github.com/boxsum/boxsum/internal/raster"

type elem = raster.Type

const (
	u8  = raster.U8
	u16 = raster.U16
	i16 = raster.I16
	i32 = raster.I32
	u32 = raster.U32
	u64 = raster.U64
	i64 = raster.I64
	f32 = raster.F32
	f64 = raster.F64
)

// An op describes a kernel: the types of its pixels and sums, and how it computes the sums.
type op struct {
	pix, sum elem
	kinds    raster.Kinds
	square   bool
	dot      bool // one channel of bytes, summed by dot products in 32 bits
	plain    bool // no offset is subtracted from the pixels
}

func ops(kind raster.Kinds) (all []op) {
	for _, p := range raster.SumPairs.For(kind) {
		if raster.SumPairs.Twin(p) != p {
			continue
		}
		o := op{pix: p.Pixel, sum: p.Sum, kinds: p.Kinds}
		all = append(all, o)
		if o.dot = dots(p, kind); o.dot {
			all = append(all, o)
		}
	}
	for _, p := range raster.SquarePairs.For(kind) {
		all = append(all, op{pix: p.Pixel, sum: p.Sum, kinds: p.Kinds, square: true})
	}
	return all
}

// dots reports whether tables of a kind have a dot-product kernel: they do for bytes if the sum
// type holds the sums of a vector exactly.
func dots(p raster.Pair, kind raster.Kinds) bool {
	switch kind {
	case raster.Upright, raster.Volume:
		return p.Pixel == u8 && p.Sum != f32
	case raster.Rotated:
		return p.Pixel == u8 && p.Sum == u32
	}
	return false
}

// number returns the type that pixels are converted to before they are squared or added. Signed
// pixels stay signed.
func (o op) number() elem {
	if o.square && o.pix.Signed() && o.sum == u64 {
		return i64
	}
	return o.sum
}

func (o op) name() string {
	switch {
	case o.square:
		return o.pix.Short() + o.sum.Short() + "Squares"
	case o.dot:
		return o.pix.Short() + o.sum.Short() + "Dot"
	}
	return o.pix.Short() + o.sum.Short()
}
