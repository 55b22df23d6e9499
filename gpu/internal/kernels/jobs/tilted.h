// Code generated from tilted.go. DO NOT EDIT.
#ifndef JOBS_TILTED_H
#define JOBS_TILTED_H

// A Tilted is the job of the kernels of tilted tables: positions and sizes, in bytes. Each strip
// has a row of carries of each kind: the diagonals that fall and that rise to the right, and the
// sums.
typedef struct {
	i64 inStart, inStride, inDistance;
	i64 outStart, outStride, outDistance;
	i64 fallingStart, risingStart, sumsStart; // of the carries
	i64 carryStride; // in values
	i32 width, height, channels;
	i32 tileChannels, channelGroups, tileChannelsInverse; // tiles that share their pixels; 2^16 / TileChannels, rounded up
	i32 tilePixels, tilesAcross, strips; // TilePixels excludes those that only feed their neighbors
	i32 squares; // whether to sum the squares of the pixels
} Tilted;
#ifndef __OPENCL_VERSION__
static_assert(sizeof(Tilted) == 120, "Go has another layout");
#endif

// Diagonals is the job of the kernels that propagate sums from strip to strip. A diagonal moves by
// Step values from each strip to the next, to the right or to the left.
typedef struct {
	i64 fallingStart, risingStart, sumsStart, carryStride;
	i64 lines; // diagonals of either kind, numbered by where they enter
	i32 values; // of a row of carries
	i32 step, strips, channels;
	u32 linesAcross, windowsAcross, sumsAcross; // work-groups of a row
	i32 padding;
} Diagonals;
#ifndef __OPENCL_VERSION__
static_assert(sizeof(Diagonals) == 72, "Go has another layout");
#endif

#endif
