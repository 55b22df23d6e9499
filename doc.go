// Package boxsum computes summed-area tables, also called integral images. From
// a table, the sum and mean of any box of pixels take four reads, however large
// the box is. Its variance and standard deviation take eight.
//
//	img := boxsum.Gray(photo)                        // or an Image of your own pixels
//	table, err := boxsum.Integrate[uint32](img, nil) // one pass over the pixels
//	sum := table.Sum(image.Rect(10, 20, 110, 220))   // four reads
//
// # Definition
//
// The table of a W×H image has (W+1)×(H+1) entries. Entry (x, y) is the sum of
// the pixels in [0,x)×[0,y); row 0 and column 0 are zero. A box image.Rect(x0,
// y0, x1, y1) sums to
//
//	T(x1,y1) − T(x0,y1) − T(x1,y0) + T(x0,y0)
//
// Boxes are clipped to the image. Images may have any row stride and any number
// of interleaved channels. [Table.Inclusive] and [Table.SameSize] return views
// of a table in the two other conventions in use, which have as many entries as
// the image has pixels.
//
// # Types
//
// Pixels are integers of 8 to 64 bits, float32 or float64. The sum type is the
// first type argument of [Integrate]:
//
//	pixels    sums, the usual one first
//	uint8     uint32, uint64, float32, float64, int64
//	uint16    uint64, float64, uint32
//	uint32    uint64, uint32
//	int16     int64, float64
//	int32     int64
//	uint64    uint64
//	int64     int64
//	float32   float64, float32
//	float64   float64
//
// Images of 64-bit integers have upright tables only: no tables of squares, and
// no tables of the kinds in other packages.
//
// # Exactness
//
// Integer sums wrap, but boxes stay exact: a box whose own sum fits the sum
// type is exact even where the table around it has wrapped. In a uint32 table,
// boxes of up to 16,843,009 8-bit pixels (2^32/255) or 65,537 16-bit pixels are
// always exact, whatever the size of the image; a uint64 table has no such
// limit in practice. Means and deviations are correct for boxes of any size.
//
// Float tables are bit-identical at every level and number of workers, except
// that the bits of a NaN may differ. Rows are summed in blocks of 32 bytes, so
// the error of an entry is at most about
//
//	(W·C/8 + H + 5) · 2^-24 · Σ|p|    in float32, and
//	(W·C/4 + H + 5) · 2^-53 · Σ|p|    in float64,
//
// where Σ|p| is the sum of the magnitudes of the pixels in [0,x)×[0,y) and C is
// the number of channels. With five or more channels, pixels are added one by
// one, and W replaces W·C/8 or W·C/4. A NaN or an infinity spoils all entries
// below and to the right of it unless it is skipped; see Missing values.
//
// The small difference of two large float32 entries can therefore be far off:
// 2^25 + 2 is 2^25 in float32. Sum float32 pixels in float64, which is the
// usual type, or subtract their mean first with [Options.Offset].
//
// # Missing values
//
// [IntegrateValid] sums only valid pixels: those selected by a mask, those that
// are not NaN, or both. It computes the sums, the squares and a table of counts
// in one pass. The mean and the deviation of a box then cover its valid pixels,
// and are NaN if it has none; the area of a box is its number of valid pixels.
//
// # Speed
//
// The engine reads each pixel once and writes each sum once, four rows at a
// time, with AVX-512, AVX2, NEON or portable Go. It uses several processors
// where that is faster. Integrating into an existing table with [IntegrateInto]
// does not allocate.
package boxsum
