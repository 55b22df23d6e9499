// Package histogram computes integral histograms, after Porikli. From an
// integral histogram, the histogram of any box of an image takes one step per
// bin, however large the box is. Use it to track and compare regions, and for
// filters that depend on the surroundings of each pixel.
//
//	table, err := histogram.Integrate(img, histogram.Bins{N: 32}, nil)
//	counts := table.Histogram(nil, image.Rect(10, 20, 110, 220), 0) // 32 of them
//	bin := histogram.Median(counts)
//	far := histogram.Bhattacharyya(counts, other)
//
// # Definition
//
// [Bins] divides the values from Low to High into 2 to 256 bins of equal width.
// Bin i holds the values v with Edge(i) ≤ v < Edge(i+1); the last bin also
// holds High. Counts equal those of NumPy's histogram with the range (Low,
// High), even for values on the edges. The edges are bit-identical to NumPy's;
// for float32 pixels, they are rounded to float32 unless that would make two of
// them equal. A pixel outside the range counts in no bin or, with Clamp, in the
// first or last bin. A NaN counts in no bin. The counts of a box therefore add
// up to its area only if all its pixels are in range.
//
// The table of a W×H image has (W+1)×(H+1) entries of N counts each: entry (x,
// y) is the histogram of the pixels in [0,x)×[0,y), and row 0 and column 0 are
// zero. The histogram of a box is computed from four entries, each of which is
// contiguous in memory. Boxes are clipped to the image. Each channel of an
// image has its own histogram, side by side in every entry. (For a single
// histogram of colors, make an image of color indices first, and count those.)
//
// # Memory
//
// A table is large: 266 MB for 1920×1080 pixels and 32 bins. [Bytes] returns
// the size in advance. If a table does not fit in memory, Integrate returns an
// error.
//
// # Weights
//
// [Integrate] counts pixels in uint32: a box of up to 2^32−1 pixels is exact
// even where the table around it has wrapped. [IntegrateWeighted] adds weights
// instead, such as a mask of 0 and 1 or a kernel that decreases from a center.
// It supports the same pairs of weight and sum types as [boxsum.Integrate] and
// gives the same guarantees. Integer sums wrap, and a box whose own sums fit
// the type is exact. Float sums are bit-identical at every level and number of
// workers, and in float64 their error is at most about (W+H)·2^-53 of the sum
// of the magnitudes in [0,x)×[0,y).
//
// # Speed
//
// Every pixel is read once and every count written once. At 1080p with 32 bins,
// computing a table takes about a quarter longer than filling its memory. See
// docs/background/performance.md.
package histogram
