// Integral histograms: a table with a channel for every bin of every channel, of ones and zeros. Pixels are read once, and
// every count is written once.
//
//	histogram_totals  finds the bin of every pixel, and the counts of the rows and columns of each tile and band
//	histogram_carry   propagates these along the rows and down the columns   (counts.h)
//	histogram_finish  goes down each band, starting from the carried counts, and writes (counts.h)
//
// Counts of a row or a column fit in a byte, so four bins share a word. The includer defines PIXEL, PIXEL_BYTES and GROUP,
// which is BANDS times ACROSS teams.

#define PITCH (SPREAD + 8)

typedef struct ALIGNED(PIXEL_BYTES < 4 ? 4 * PIXEL_BYTES : 16) { PIXEL part[4]; } FourPixels;

// A Tally is the local memory of a work-group.
typedef struct {
	ALIGNED(16) u16 tile[BANDS * BAND * PITCH];
	u32 words[BANDS * BAND * ACROSS * SEGMENTS * QUADS]; // of each row and segment
	PIXEL limits[257];
	u16 numbers[256]; // the bin of every value of a byte
} Tally;

// number returns 8 times the bin of a value. limits holds the smallest value of each bin and the
// first value beyond the last bin, if it is representable.
FUNCTION u32 number(PIXEL value, POINTER_TO_LOCAL const PIXEL *limits, i32 count, i32 bins)
{
	i32 low = 0, high = count; // number of limits that are at most value
	while (low < high) {
		i32 middle = (low + high) / 2;
		if (value >= limits[middle])
			low = middle + 1;
		else
			high = middle;
	}
	return low > 0 && low <= bins ? 8 * ((u32)low - 1) : NO_BIN;
}

// prepare loads the limits.
COUNT_FUNCTION void prepare(JOB, i32 item, GLOBAL const PIXEL *RESTRICT limits, POINTER_TO_LOCAL Tally *shared)
{
	for (i32 i = item; i < job.limits; i += GROUP)
		shared->limits[i] = limits[i];
	BARRIER;
#if PIXEL_BYTES == 1
	for (i32 i = item; i < 256; i += GROUP)
		shared->numbers[i] = number((PIXEL)i, shared->limits, job.limits, job.bins);
	BARRIER;
#endif
}

// total counts one channel of ACROSS tiles in BANDS bands, and calls prepare while the pixels are
// being loaded.
COUNT_FUNCTION void total(JOB, i64 group, i32 item, GLOBAL const u8 *RESTRICT in, GLOBAL const PIXEL *RESTRICT limits, GLOBAL u8 *RESTRICT space, POINTER_TO_LOCAL Tally *shared)
{
	i32 firstTile = group % (job.tilesAcross / ACROSS) * ACROSS;
	group /= job.tilesAcross / ACROSS;
	i32 tileY = group % (job.bands / BANDS);
	group /= job.bands / BANDS;
	i32 channel = group % job.channels;
	i64 image = group / job.channels;
	i64 planeStride = (i64)job.tilesAcross * TILE;
	GLOBAL u16 *plane = (GLOBAL u16 *)(space + job.planesStart) + (image * job.channels + channel) * planeStride * job.bands * BAND
		+ (i64)tileY * BANDS * BAND * planeStride + firstTile * TILE;
	in += job.inStart + image * job.inDistance + (i64)tileY * BANDS * BAND * job.inStride + ((i64)firstTile * TILE * job.channels + channel) * PIXEL_BYTES;
	i32 columns = job.width - firstTile * TILE, rows = job.height - tileY * BANDS * BAND; // from here to the right and lower edges
	FourPixels raw[BANDS * BAND * SPREAD / 4 / GROUP];
UNROLL
	for (i32 k = 0; k < BANDS * BAND * SPREAD / 4 / GROUP; k++) {
		i32 x = (u32)(k * GROUP + item) % (SPREAD / 4) * 4, y = (u32)(k * GROUP + item) / (SPREAD / 4);
		GLOBAL const u8 *from = in + y * job.inStride + (i64)x * job.channels * PIXEL_BYTES;
		if (y < rows && x < columns) {
			if (job.quadsIn)
				raw[k] = *(GLOBAL const FourPixels *)from;
			else
				for (i32 i = 0; i < 4; i++)
					if (x + i < columns)
						raw[k].part[i] = *(GLOBAL const PIXEL *)(from + (i64)i * job.channels * PIXEL_BYTES);
		}
	}
	prepare(job, item, limits, shared);
UNROLL
	for (i32 k = 0; k < BANDS * BAND * SPREAD / 4 / GROUP; k++) {
		i32 x = (u32)(k * GROUP + item) % (SPREAD / 4) * 4, y = (u32)(k * GROUP + item) / (SPREAD / 4);
		FourShort bins;
UNROLL
		for (i32 i = 0; i < 4; i++) {
			bins.part[i] = NO_BIN;
			if (y < rows && x + i < columns)
#if PIXEL_BYTES == 1
				bins.part[i] = shared->numbers[(u8)raw[k].part[i]];
#else
				bins.part[i] = number(raw[k].part[i], shared->limits, job.limits, job.bins);
#endif
		}
		*(POINTER_TO_LOCAL FourShort *)&shared->tile[y * PITCH + x] = bins;
		*(GLOBAL FourShort *)(plane + y * planeStride + x) = bins;
	}
	BARRIER;

	i32 slot = (u32)item % QUADS, segment = (u32)item / QUADS % SEGMENTS, team = (u32)item / TEAM;
	i32 band = team / ACROSS, tileX = firstTile + team % ACROSS, column = team % ACROSS * TILE + segment * COLUMNS; // in the group
	i64 allBands = (i64)image * job.bands + tileY * BANDS;
	for (i32 low = 0; low < job.quads; low += QUADS) {
		i32 quad = channel * job.quads + low + slot, busy = low + slot < job.quads;
		u32 bits = 32 * (low + slot), down[COLUMNS];
UNROLL
		for (i32 k = 0; k < COLUMNS; k++)
			down[k] = 0;
		for (i32 r = 0; r < BAND; r++) {
			POINTER_TO_LOCAL const Four *at = (POINTER_TO_LOCAL const Four *)&shared->tile[(band * BAND + r) * PITCH + column];
			u32 row = 0, one[COLUMNS];
			hits(one, *at, bits);
UNROLL
			for (i32 k = 0; k < COLUMNS; k++) {
				row += one[k];
				down[k] += one[k];
			}
			shared->words[((band * BAND + r) * ACROSS * SEGMENTS + column / COLUMNS) * QUADS + slot] = row;
		}
		GLOBAL u32 *columnWords = (GLOBAL u32 *)(space + job.columnsStart) + ((allBands + band) * planeStride + tileX * TILE + segment * COLUMNS) * job.allQuads + quad;
		if (busy)
UNROLL
			for (i32 k = 0; k < COLUMNS; k++)
				columnWords[k * job.allQuads] = down[k];
		BARRIER;
		// Add the rows over all segments, and the results over all rows of a band.
		POINTER_TO_LOCAL u32 *words = shared->words + (band * BAND * ACROSS + team % ACROSS) * TEAM + slot; // of the team's first row
		for (i32 r = segment; r < BAND; r += SEGMENTS) {
			POINTER_TO_LOCAL u32 *row = words + r * ACROSS * TEAM;
			u32 sum = row[0] + row[QUADS] + row[2 * QUADS] + row[3 * QUADS];
			row[0] = sum;
			if (busy)
				((GLOBAL u32 *)(space + job.rowsStart))[(((allBands + band) * BAND + r) * job.tilesAcross + tileX) * job.allQuads + quad] = sum;
		}
		BARRIER;
		if (busy) { // segment is a bin here
			u32 sum = 0;
			for (i32 r = 0; r < BAND; r++)
				sum += words[r * ACROSS * TEAM] >> (8 * segment) & 255;
			((GLOBAL u32 *)(space + job.totalsStart))[(((allBands + band) * job.tilesAcross + tileX) * job.allQuads + quad) * 4 + segment] = sum;
		}
		BARRIER;
	}
}

KERNEL(PASTE2(histogram_totals, PIXEL))(const Histogram job, GLOBAL const u8 *RESTRICT in, GLOBAL const PIXEL *RESTRICT limits, GLOBAL u8 *RESTRICT space)
{
	LOCAL Tally shared;
	total(job, GROUP_ID, ITEM_ID, in, limits, space, &shared);
}

#undef PITCH
#undef PIXEL
#undef PIXEL_BYTES
#undef GROUP
