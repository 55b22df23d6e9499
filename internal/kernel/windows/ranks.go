package windows

import (
	"math"
	"math/bits"

	"github.com/boxsum/boxsum/internal/raster"
)

// Ranks finds medians by the ranks of pixels, which are their positions among the sorted pixels of
// a tile. Equal pixels have different ranks too, so a window is a set of bits, and its median is
// the middle one of the set bits (Suomela 2014). The time is one step for every pixel that enters
// or leaves a window, for all types.
type Ranks struct {
	Height int      // pixels in a column of the tile
	Keys   []uint64 // of the pixels, column after column; see [RankKeys]

	ranks       []uint32 // of the pixels
	order, next []uint32 // the pixels by their ranks
	nan         uint32   // the first rank of a NaN
	window      []uint64 // one bit for every rank
}

// Bytes returns the size of the memory that r keeps.
func (r *Ranks) Bytes() int {
	return 8*(cap(r.Keys)+cap(r.window)) + 4*(cap(r.ranks)+cap(r.order)+cap(r.next))
}

// Aim prepares for tiles of this size. The caller sets Keys and calls [Ranks.Sort] before it calls
// Medians.
func (r *Ranks) Aim(width, height int) {
	n := width * height
	if cap(r.Keys) < n {
		r.Keys, r.window = make([]uint64, n), make([]uint64, (n+63)/64)
		r.ranks, r.order, r.next = make([]uint32, n), make([]uint32, n), make([]uint32, n)
	}
	r.Height, r.Keys, r.window = height, r.Keys[:n], r.window[:(n+63)/64]
	r.ranks, r.order, r.next = r.ranks[:n], r.order[:n], r.next[:n]
}

// digitBits is the number of bits of a key by which one pass sorts.
const digitBits = 11

// Sort ranks the pixels of the tile by a radix sort, from the least significant digit of their keys
// to the most significant one. It skips digits that are equal in all keys.
func (r *Ranks) Sort(t raster.Type) {
	differ := uint64(0)
	for i, key := range r.Keys {
		r.order[i] = uint32(i)
		differ |= key ^ r.Keys[0]
	}
	for shift := 0; shift < 64; shift += digitBits {
		if differ>>shift&(1<<digitBits-1) == 0 {
			continue
		}
		var places [1 << digitBits]uint32
		for _, key := range r.Keys {
			places[key>>shift&(1<<digitBits-1)]++
		}
		place := uint32(0)
		for digit, count := range places {
			places[digit] = place
			place += count
		}
		for _, i := range r.order {
			to := &places[r.Keys[i]>>shift&(1<<digitBits-1)]
			r.next[*to] = i
			*to++
		}
		r.order, r.next = r.next, r.order
	}
	for rank, i := range r.order {
		r.ranks[i] = uint32(rank)
	}
	r.nan = uint32(len(r.order))
	for nan := rankKernels[t].nan; r.nan > 0 && r.Keys[r.order[r.nan-1]] == nan; r.nan-- {
	}
}

// Medians writes the keys of the medians of windows of the given number of columns, the first of
// which starts at column 0, the next at column 1, and so on. Windows include rows from top up to
// but not including bottom, and columns from left up to but not including right. The median is the
// lower one of two, and NaN if the window contains a NaN.
func (r *Ranks) Medians(dst []uint64, top, bottom, columns, left, right int) {
	clear(r.window)
	column := func(x int) []uint32 {
		if x < left || x >= right {
			return nil
		}
		return r.ranks[x*r.Height:][top:bottom]
	}
	count, nans := 0, 0 // number of pixels in the window, and of those that are NaN
	word, below := 0, 0 // a word of the window, and the number of bits set in the words before it
	for x := range columns - 1 {
		in := column(x)
		below += toggle(r.window, in, word)
		count += len(in)
		nans += r.countNaN(in)
	}
	for x := range dst {
		in, out := column(x+columns-1), column(x)
		below += toggle(r.window, in, word)
		count += len(in)
		nans += r.countNaN(in)
		if nans > 0 {
			dst[x] = r.Keys[r.order[len(r.order)-1]]
		} else {
			middle := (count - 1) / 2
			for below > middle {
				word--
				below -= bits.OnesCount64(r.window[word])
			}
			for {
				n := bits.OnesCount64(r.window[word])
				if below+n > middle {
					break
				}
				below += n
				word++
			}
			rest := r.window[word]
			for range middle - below {
				rest &= rest - 1
			}
			dst[x] = r.Keys[r.order[word<<6|bits.TrailingZeros64(rest)]]
		}
		below -= toggle(r.window, out, word)
		count -= len(out)
		nans -= r.countNaN(out)
	}
}

// toggle sets or clears bits of a window, and returns the number of these bits that are before a
// word.
func toggle(window []uint64, ranks []uint32, word int) (before int) {
	for _, rank := range ranks {
		at := rank >> 6
		window[at] ^= 1 << (rank & 63)
		before += int(uint64(int64(at)-int64(word)) >> 63)
	}
	return before
}

// countNaN counts the ranks of NaN.
func (r *Ranks) countNaN(ranks []uint32) (n int) {
	if int(r.nan) == len(r.order) {
		return 0
	}
	for _, rank := range ranks {
		if rank >= r.nan {
			n++
		}
	}
	return n
}

// A rankKernel holds the loops that convert pixels of one type to keys and back.
type rankKernel struct {
	keys   func(dst []uint64, step int, src []byte, columns []int, beside uint64)
	pixels func(dst []byte, step int, keys []uint64)
	nan    uint64 // the key of NaN, or a number that is not a key
}

// rankKernels holds the loops by type.
var rankKernels = [raster.NumTypes]rankKernel{
	raster.U16: {wholeKeys, wholePixels, math.MaxUint64},
	raster.F32: floatKeys(math.Float32bits(float32(math.Inf(1))), math.Float32bits(float32(math.NaN()))),
	raster.F64: floatKeys(math.Float64bits(math.Inf(1)), math.Float64bits(math.NaN())),
}

// HasRanks reports whether a type has keys for [Ranks].
func HasRanks(t raster.Type) bool { return rankKernels[t].keys != nil }

// RankKeys computes the keys of a row, which are integers in the order of its pixels. -0 precedes
// 0, and NaN is last. It reads the elements at the given columns, uses beside for a column of -1,
// and writes keys that are step elements apart.
func RankKeys(t raster.Type, dst []uint64, step int, src []byte, columns []int, beside uint64) {
	rankKernels[t].keys(dst, step, src, columns, beside)
}

// RankPixels converts keys that are step elements apart to pixels.
func RankPixels(t raster.Type, dst []byte, step int, keys []uint64) {
	rankKernels[t].pixels(dst, step, keys)
}

func wholeKeys(dst []uint64, step int, src []byte, columns []int, beside uint64) {
	row := raster.Elems[uint16](src)
	for i, column := range columns {
		key := beside
		if column >= 0 {
			key = uint64(row[column])
		}
		dst[i*step] = key
	}
}

func wholePixels(dst []byte, step int, keys []uint64) {
	row := raster.Elems[uint16](dst)
	for i, key := range keys {
		row[i*step] = uint16(key)
	}
}

// floatKeys returns the loops for floats with the given bits of infinity and NaN. The keys of
// negative floats are their bits inverted, and those of other floats are their bits with the sign
// inverted.
func floatKeys[U uint32 | uint64](inf, nan U) rankKernel {
	sign := ^(^U(0) >> 1)
	keys := func(dst []uint64, step int, src []byte, columns []int, beside uint64) {
		row := raster.Elems[U](src)
		for i, column := range columns {
			key := beside
			if column >= 0 {
				b := row[column]
				if b&^sign > inf {
					b = nan
				}
				if b&sign != 0 {
					key = uint64(^b)
				} else {
					key = uint64(b ^ sign)
				}
			}
			dst[i*step] = key
		}
	}
	pixels := func(dst []byte, step int, keys []uint64) {
		row := raster.Elems[U](dst)
		for i, key := range keys {
			b := U(key) ^ sign
			if b&sign != 0 {
				b = ^U(key)
			}
			row[i*step] = b
		}
	}
	return rankKernel{keys, pixels, uint64(nan ^ sign)}
}
