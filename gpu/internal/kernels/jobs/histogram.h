// Code generated from histogram.go. DO NOT EDIT.
#ifndef JOBS_HISTOGRAM_H
#define JOBS_HISTOGRAM_H

// A Histogram is the job of the kernels of integral histograms: positions and sizes, in bytes.
// Arrays in the workspace consist of whole tiles and bands; the part outside of the image is in no
// bin. A quad is four bins of a channel, and there are AllQuads of them.
typedef struct {
	i64 inStart, inStride, inDistance;
	i64 outStart, outStride, outDistance;
	i64 planesStart; // the bin of every pixel, a plane for each channel
	i64 rowsStart; // per row, tile and quad: the counts, a byte for each bin
	i64 columnsStart; // per band, column and quad: the same
	i64 totalsStart; // per band, tile and quad: four counts, first its own and then those of all bands above
	i64 leftStart; // per row, tile and quad: four counts of all tiles to the left
	i64 aboveStart; // per band, column and quad: four counts, of 16 bits, of all bands above
	i32 width, height, channels, bins;
	i32 limits; // number of limits
	i32 quads; // of a channel
	i32 allQuads;
	i32 groupQuads; // of a tile in a team, a power of two; the team has QUADS / GroupQuads tiles side by side
	i32 tilesAcross, bands; // multiples of ACROSS and of BANDS
	i32 bundles, quadGroups;
	i32 count; // of images
	i32 carry; // row 0 of the table is an input
	i32 quadsIn; // four pixels can be read at once
	i32 wide; // four counts can be written at once
} Histogram;
#ifndef __OPENCL_VERSION__
static_assert(sizeof(Histogram) == 160, "Go has another layout");
#endif

#endif
