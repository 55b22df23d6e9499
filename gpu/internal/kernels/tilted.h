// What the kernels of tilted tables share: the job, and how it is cut.
#ifndef TILTED_H
#define TILTED_H

#define STRIP 32  // rows of a strip
#define LEAD 31   // values before each row of carries, so that entry (1, y) of one channel starts a line

// Where things are, in bytes, and how large, as tilted.go fills it in. Each strip
// has a row of carries of each kind: the diagonals that fall and that rise to
// the right, and the sums.
typedef struct {
	i64 inStart, inStride, inDistance;
	i64 outStart, outStride, outDistance;
	i64 fallingStart, risingStart, sumsStart; // of the carries
	i64 carryStride;                          // in values
	i32 width, height, channels;
	i32 lanes, laneGroups, lanesInverse; // channels of a tile; tiles that share their pixels; 2^16 / lanes, rounded up
	i32 tilePixels, tilesAcross, strips; // tilePixels without those that only feed their neighbours
	i32 squares;                         // whether to sum the squares of the pixels
} Tilted;

// What is handed on from strip to strip. A diagonal is step values further on in
// each next strip, to the right or to the left.
typedef struct {
	i64 fallingStart, risingStart, sumsStart, carryStride;
	i64 lines;  // diagonals of either kind, counted where they come in
	i32 values; // of a row of carries
	i32 step, strips, channels;
	u32 linesAcross, windowsAcross, sumsAcross; // work-groups of a row
	i32 padding;
} Diagonals;

#ifdef __OPENCL_VERSION__
#define ALIGNED(bytes) __attribute__((aligned(bytes)))
#define UNROLL
#define NO_UNROLL
#define FORGET(pointer)
#else
// FORGET has the compiler work out addresses again instead of keeping them all.
#define FORGET(pointer) asm volatile("" : "+l"(pointer))
#define UNROLL _Pragma("unroll")
#define NO_UNROLL _Pragma("unroll 1")
#define ALIGNED(bytes) alignas(bytes)
#endif

#endif
