// Package histogram makes integral histograms, after Porikli: the histogram of
// any box of an image in as many steps as it has bins, however large the box.
// People build them to track and compare regions, and to filter by what lies
// round a pixel.
//
//	table, err := histogram.Integrate(img, histogram.Bins{N: 32}, nil)
//	counts := table.Histogram(nil, image.Rect(10, 20, 110, 220), 0) // 32 of them
//	bin := histogram.Median(counts)
//	far := histogram.Bhattacharyya(counts, other)
//
// # Definition
//
// [Bins] cuts the values from Low to High into N bins of equal width, 2 to 256
// of them. Bin i holds the values from Edge(i) up to, not with, Edge(i+1), and
// the last one High too. Counts are those of NumPy's histogram with the range
// (Low, High), also for values on the edges, which are NumPy's to the bit: those
// for float32 pixels are float32, as far as float32 can tell them apart. A pixel
// outside of that range counts in no bin, or, with Clamp, in the first or last
// one. A NaN counts in none. So the counts of a box add up to its area only where
// all of its pixels are in range.
//
// The table of a W×H image has (W+1)×(H+1) entries of N counts each, bins
// innermost: entry (x, y) is the histogram of the pixels in [0,x)×[0,y), and row
// 0 and column 0 are zero. A box is the difference of four entries, bin by bin:
// four contiguous runs. Boxes are clipped to the image. The channels of an image
// have a histogram each, side by side in every entry. (For one histogram of
// colours, make an image of their numbers first, and count those.)
//
// # Memory
//
// A table is large: 266 MB for 1920×1080 pixels and 32 bins. [Bytes] says so
// before, and a table that does not fit in memory is an error, not the end of
// the process.
//
// # Weights
//
// [Integrate] counts pixels in uint32: a box of up to 2^32−1 pixels is exact
// even where the table around it has wrapped. [IntegrateWeighted] adds up
// weights instead, such as a mask of 0 and 1 or a kernel that falls off from a
// centre. Pairs of weight and sum types are those of [boxsum.Integrate], with
// its promises: integer sums wrap, and a box whose own sums fit the type is
// exact; float sums have the same bits at every level and number of workers,
// and are off by at most about (W+H)·2^-53 of the sum of the magnitudes in
// [0,x)×[0,y), in float64.
//
// # Speed
//
// Every pixel is read once and every count written once. At 1080p with 32
// bins a table takes about a quarter longer than filling its memory does;
// docs/performance.md has the figures.
package histogram
