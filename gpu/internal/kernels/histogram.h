// What the kernels of integral histograms share: the job, and how it is cut.
#ifndef HISTOGRAM_H
#define HISTOGRAM_H

#include "jobs/histogram.h"

#define COLUMNS 8                   // of a work-item
#define SEGMENTS 4                  // of these columns in a tile
#define TILE (SEGMENTS * COLUMNS)
#define BAND 32                     // rows that a work-item goes down
#define BANDS 2                     // that are counted at a time
#define ACROSS 2                    // tiles that are counted at a time
#define SPREAD (ACROSS * TILE)
#define QUADS 8                     // four bins each, of a work-group
#define TEAM (SEGMENTS * QUADS)     // work-items of a tile and band
#define NO_BIN 0xffff               // of a pixel that counts in none; others have 8 times their bin

#ifdef __OPENCL_VERSION__
#define TEAM_BARRIER BARRIER // a work-group is one team
#define WRITE_COUNTS(to, counts) *(to) = counts
#define ADD_BYTE(sum, word, i) (sum) += (word) >> (8 * (i)) & 255
#define COUNT_FUNCTION static __attribute__((always_inline)) // PoCL 3.1 loses what others write to local memory
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
	asm("shl.b32 %0, 1, %1;" : "=r"(one) : "r"(bits)); // 0 beyond 31
	return one;
}
#endif

typedef struct ALIGNED(16) { u32 part[4]; } Four;
typedef struct ALIGNED(8) { u16 part[4]; } FourShort;

// hits has a one in the byte of each pixel's bin among the four from bits/8 on, for
// COLUMNS pixels.
FUNCTION void hits(u32 one[COLUMNS], Four pixels, u32 bits)
{
UNROLL
	for (i32 k = 0; k < COLUMNS; k++) {
		u32 pair = pixels.part[k / 2];
		one[k] = one_at((k % 2 ? pair >> 16 : pair & 0xffff) - bits);
	}
}

#endif
