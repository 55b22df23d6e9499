// The job of the kernels of integral histograms, and how it is partitioned.
#ifndef HISTOGRAM_H
#define HISTOGRAM_H

#include "jobs/histogram.h"

#define COLUMNS 8                   // of a work-item
#define SEGMENTS 4                  // of these columns in a tile
#define TILE (SEGMENTS * COLUMNS)
#define BAND 32                     // rows that a work-item processes
#define BANDS 2                     // counted together
#define ACROSS 2                    // tiles counted together
#define SPREAD (ACROSS * TILE)
#define QUADS 8                     // groups of four bins, of a work-group
#define TEAM (SEGMENTS * QUADS)     // work-items of a tile and band
#define NO_BIN 0xffff               // of a pixel outside of all bins; other pixels have 8 times their bin

#ifdef __OPENCL_VERSION__
#define TEAM_BARRIER BARRIER // a work-group is one team
#define WRITE_COUNTS(to, counts) *(to) = counts
#define ADD_BYTE(sum, word, i) (sum) += (word) >> (8 * (i)) & 255
#define COUNT_FUNCTION static __attribute__((always_inline)) // PoCL 3.1 loses other work-items' writes to local memory in functions that it does not inline
#define JOB const Histogram job
FUNCTION u32 one_at(u32 bits) { return bits < 32 ? (u32)1 << bits : 0; }
#else
#define TEAM_BARRIER __syncwarp()
#define WRITE_COUNTS(to, counts) __stcs((uint4 *)(to), make_uint4(counts.part[0], counts.part[1], counts.part[2], counts.part[3]))
#define ADD_BYTE(sum, word, i) (sum) = __dp4a((word), (u32)1 << (8 * (i)), (sum))
#define COUNT_FUNCTION FUNCTION
#define JOB const Histogram &job
FUNCTION u32 one_at(u32 bits)
{
	u32 one;
	asm("shl.b32 %0, 1, %1;" : "=r"(one) : "r"(bits)); // shl yields 0 for shifts beyond 31, unlike C
	return one;
}
#endif

typedef struct ALIGNED(16) { u32 part[4]; } Four;
typedef struct ALIGNED(8) { u16 part[4]; } FourShort;

// hits sets byte b of one[k] to 1 if pixel k is in bin b of the four from bits/8 on.
FUNCTION void hits(u32 one[COLUMNS], Four pixels, u32 bits)
{
UNROLL
	for (i32 k = 0; k < COLUMNS; k++) {
		u32 pair = pixels.part[k / 2];
		one[k] = one_at((k % 2 ? pair >> 16 : pair & 0xffff) - bits);
	}
}

#endif
