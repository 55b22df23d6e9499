// What the kernels of integral histograms share: the job, and how it is cut.
#ifndef HISTOGRAM_H
#define HISTOGRAM_H

#define COLUMNS 8                   // of a work-item
#define SEGMENTS 4                  // of so many columns in a tile
#define TILE (SEGMENTS * COLUMNS)
#define BAND 32                     // rows that a work-item goes down
#define BANDS 2                     // that are counted at a time
#define ACROSS 2                    // tiles that are counted at a time
#define SPREAD (ACROSS * TILE)
#define QUADS 8                     // four bins each, of a work-group
#define TEAM (SEGMENTS * QUADS)     // work-items of a tile and band
#define NO_BIN 0xffff               // of a pixel that counts in none; others have 8 times their bin

// Where things are, in bytes, and how large, as histogram_job.go fills it in. What
// lies in the workspace is in whole tiles and bands: what sticks out is in no bin.
// A quad is four bins of a channel, and there are allQuads of them.
typedef struct {
	i64 inStart, inStride, inDistance;
	i64 outStart, outStride, outDistance;
	i64 planesStart;  // the bin of every pixel, a plane for each channel
	i64 rowsStart;    // per row, tile and quad: how many pixels, a byte for each bin
	i64 columnsStart; // per band, column and quad: the same
	i64 totalsStart;  // per band, tile and quad: four counts, first its own and then those of all bands above
	i64 leftStart;    // per row, tile and quad: four counts of all tiles to the left
	i64 aboveStart;   // per band, column and quad: four counts, of 16 bits, of all bands above
	i32 width, height, channels, bins;
	i32 limits;      // how many there are
	i32 quads;       // of a channel
	i32 allQuads;
	i32 groupQuads;  // of a tile in a team, a power of two; it has QUADS / groupQuads tiles side by side
	i32 tilesAcross, bands; // multiples of ACROSS and of BANDS
	i32 bundles, quadGroups;
	i32 count;       // of images
	i32 carry;       // row 0 of the table is an input
	i32 quadsIn;     // four pixels can be read at once
	i32 wide;        // four counts can be written at once
} Histogram;

#ifdef __OPENCL_VERSION__
#define ALIGNED(bytes) __attribute__((aligned(bytes)))
#define UNROLL
#define TEAM_BARRIER BARRIER // a work-group is one team
#define WRITE_COUNTS(to, counts) *(to) = counts
#define ADD_BYTE(sum, word, i) (sum) += (word) >> (8 * (i)) & 255
#define COUNT_FUNCTION static __attribute__((always_inline)) // PoCL 3.1 loses what others write to local memory
#define JOB const Histogram job
FUNCTION u32 one_at(u32 bits) { return bits < 32 ? (u32)1 << bits : 0; }
#else
#define ALIGNED(bytes) alignas(bytes)
#define UNROLL _Pragma("unroll")
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
