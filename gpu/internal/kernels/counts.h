// The parts of integral histograms that do not depend on the pixel type.
#ifndef COUNTS_H
#define COUNTS_H

#define AT_ONCE 16 // concurrent reads

FUNCTION void add_word(Four *sum, u32 word)
{
UNROLL
	for (i32 i = 0; i < 4; i++)
		ADD_BYTE(sum->part[i], word, i);
}

// carries returns the number of work-items that propagate counts.
FUNCTION i64 carries(JOB)
{
	return job.count * (job.bands * (i64)BAND + job.tilesAcross * (i64)(TILE + 1)) * job.allQuads;
}

// carry_on replaces counts by the sums over all tiles on the left and all bands above. Work-item i
// has a quad of a row, of a column, or of a tile's totals.
COUNT_FUNCTION void carry_on(JOB, i64 i, GLOBAL u8 *RESTRICT space)
{
	i64 quads = job.allQuads, rows = job.count * (i64)job.bands * BAND * quads, columns = job.count * (i64)job.tilesAcross * TILE * quads;
	Four sum = {{0, 0, 0, 0}};
	if (i < rows) {
		i64 row = i / quads, quad = i % quads, at = row * job.tilesAcross * quads + quad;
		GLOBAL const u32 *from = (GLOBAL const u32 *)(space + job.rowsStart) + at;
		GLOBAL Four *to = (GLOBAL Four *)(space + job.leftStart) + at;
		for (i32 x = 0; x < job.tilesAcross; x += AT_ONCE) {
			u32 word[AT_ONCE];
UNROLL
			for (i32 k = 0; k < AT_ONCE; k++)
				word[k] = x + k < job.tilesAcross ? from[(x + k) * quads] : 0;
UNROLL
			for (i32 k = 0; k < AT_ONCE; k++) {
				if (x + k < job.tilesAcross)
					to[(x + k) * quads] = sum;
				add_word(&sum, word[k]);
			}
		}
		return;
	}
	i -= rows;
	if (i < columns) {
		i64 perBand = (i64)job.tilesAcross * TILE * quads, image = i / perBand, at = image * job.bands * perBand + i % perBand;
		GLOBAL const u32 *from = (GLOBAL const u32 *)(space + job.columnsStart) + at;
		GLOBAL FourShort *to = (GLOBAL FourShort *)(space + job.aboveStart) + at;
		for (i32 y = 0; y < job.bands; y += AT_ONCE) {
			u32 word[AT_ONCE];
UNROLL
			for (i32 k = 0; k < AT_ONCE; k++)
				word[k] = y + k < job.bands ? from[(y + k) * perBand] : 0;
UNROLL
			for (i32 k = 0; k < AT_ONCE; k++) {
				FourShort above;
UNROLL
				for (i32 j = 0; j < 4; j++)
					above.part[j] = (u16)sum.part[j];
				add_word(&sum, word[k]);
				if (y + k < job.bands)
					to[(y + k) * perBand] = above;
			}
		}
		return;
	}
	i -= columns;
	i64 perBand = job.tilesAcross * quads;
	if (i < job.count * perBand) {
		GLOBAL Four *totals = (GLOBAL Four *)(space + job.totalsStart) + i / perBand * job.bands * perBand + i % perBand;
		for (i32 y = 0; y < job.bands; y += AT_ONCE) {
			Four own[AT_ONCE];
UNROLL
			for (i32 k = 0; k < AT_ONCE; k++)
				if (y + k < job.bands)
					own[k] = totals[(y + k) * perBand];
UNROLL
			for (i32 k = 0; k < AT_ONCE; k++)
				if (y + k < job.bands) {
					totals[(y + k) * perBand] = sum;
UNROLL
					for (i32 j = 0; j < 4; j++)
						sum.part[j] += own[k].part[j];
				}
		}
	}
}

// A ColumnSums is the buffer through which the work-items of a team exchange columns. A gap follows
// each segment, which spreads the columns over the banks of local memory.
#define COLUMN_WORDS (TEAM * COLUMNS + SEGMENTS * QUADS)
typedef struct { u32 words[2 * COLUMN_WORDS]; } ColumnSums;

#define COLUMN_AT(column, slot) (((column) + (column) / COLUMNS) * QUADS + (slot))

// finish processes a band from top to bottom with one team. A work-item counts COLUMNS neighboring
// columns for four bins, but holds and writes the table's entries, minus those at the tile's left
// edge, of every SEGMENTS-th column, so that a team writes neighboring entries together.
COUNT_FUNCTION void finish(JOB, i64 team, i32 item, GLOBAL const u8 *RESTRICT space, GLOBAL u8 *RESTRICT out, POINTER_TO_LOCAL ColumnSums *shared)
{
	i32 slot = (u32)item % QUADS, segment = (u32)item / QUADS;
	i32 quadGroup = team % job.quadGroups;
	team /= job.quadGroups;
	i32 tileX = team % job.bundles * (QUADS / job.groupQuads) + slot / job.groupQuads;
	team /= job.bundles;
	i32 band = team % job.bands;
	i64 image = team / job.bands;
	i32 quad = quadGroup * job.groupQuads + slot % job.groupQuads;
	i32 busy = quad < job.allQuads && tileX < job.tilesAcross;
	if (!busy)
		quad = tileX = 0;
	i32 channel = quad / job.quads, first = (quad - channel * job.quads) * 4;
	i32 bins = job.bins - first < 4 ? job.bins - first : 4;
	i32 firstRow = band * BAND, firstX = tileX * TILE;
	i32 columns = busy ? job.width - firstX - segment : 0; // columns from the work-item's first to the image's right edge
	i32 rows = job.height - firstRow < BAND ? job.height - firstRow : BAND;

	i64 channels = (i64)job.channels * job.bins, planeStride = (i64)job.tilesAcross * TILE, allBands = image * job.bands + band;
	GLOBAL const u16 *plane = (GLOBAL const u16 *)(space + job.planesStart)
		+ ((image * job.channels + channel) * job.bands + band) * BAND * planeStride + firstX + segment * COLUMNS;
	GLOBAL const FourShort *above = (GLOBAL const FourShort *)(space + job.aboveStart) + (allBands * planeStride + firstX + segment * COLUMNS) * job.allQuads + quad;
	GLOBAL const Four *left = (GLOBAL const Four *)(space + job.leftStart) + (allBands * BAND * job.tilesAcross + tileX) * job.allQuads + quad;
	GLOBAL const Four *totals = (GLOBAL const Four *)(space + job.totalsStart) + allBands * job.tilesAcross * job.allQuads + quad;
	out += job.outStart + image * job.outDistance + ((firstX + segment + (i64)1) * channels + channel * job.bins + first) * 4;
	i64 columnStep = SEGMENTS * channels; // counts from one of the work-item's columns to the next

	// The table's row above the band: at the left edge, where the segments divide the tiles among
	// themselves, and to the right of it.
	u32 sum[COLUMNS][4], corner[4];
	FourShort over[COLUMNS];
UNROLL
	for (i32 k = 0; k < COLUMNS; k++)
		over[k] = above[k * (i64)job.allQuads];
	Four next = *(GLOBAL const Four *)plane, nextLeft = *left;
UNROLL
	for (i32 i = 0; i < 4; i++)
		corner[i] = 0;
	for (i32 x = segment; x < tileX; x += 4 * SEGMENTS) {
		Four some[4];
UNROLL
		for (i32 k = 0; k < 4; k++)
			if (x + k * SEGMENTS < tileX)
				some[k] = totals[(x + k * SEGMENTS) * (i64)job.allQuads];
UNROLL
		for (i32 k = 0; k < 4; k++)
UNROLL
			for (i32 i = 0; i < 4; i++)
				if (x + k * SEGMENTS < tileX)
					corner[i] += some[k].part[i];
	}
UNROLL
	for (i32 i = 0; i < 4; i++)
		shared->words[item * 4 + i] = corner[i];
	TEAM_BARRIER;
UNROLL
	for (i32 i = 0; i < 4; i++) {
		corner[i] = 0;
UNROLL
		for (i32 s = 0; s < SEGMENTS; s++)
			corner[i] += shared->words[(s * QUADS + slot) * 4 + i];
	}
UNROLL
	for (i32 i = 0; i < 4; i++) {
		u32 run = 0;
		TEAM_BARRIER;
UNROLL
		for (i32 k = 0; k < COLUMNS; k++) {
			run += over[k].part[i];
			shared->words[COLUMN_AT(segment * COLUMNS + k, slot)] = run;
		}
		TEAM_BARRIER;
		u32 ends[SEGMENTS - 1];
UNROLL
		for (i32 s = 0; s < SEGMENTS - 1; s++)
			ends[s] = shared->words[COLUMN_AT(s * COLUMNS + COLUMNS - 1, slot)];
		u32 before = 0;
UNROLL
		for (i32 k = 0; k < COLUMNS; k++) {
			if (k > 0 && k % (COLUMNS / SEGMENTS) == 0) // the next segment
				before += ends[k / (COLUMNS / SEGMENTS) - 1];
			sum[k][i] = before + shared->words[COLUMN_AT(k * SEGMENTS + segment, slot)];
			if (job.carry && k * SEGMENTS < columns && i < bins)
				sum[k][i] += ((GLOBAL const u32 *)out)[k * columnStep + i];
		}
	}

	// Zeros in column 0 and, unless it is carried from a band above, row 0.
	GLOBAL u8 *edge = out - channels * 4; // valid if this is the first column
	i32 atEdge = busy && firstX + segment == 0;
	if (!job.carry && band == 0) {
		for (i32 k = 0; k < COLUMNS && k * SEGMENTS < columns; k++)
			for (i32 i = 0; i < bins; i++)
				((GLOBAL u32 *)out)[k * columnStep + i] = 0;
		for (i32 i = 0; atEdge && i < bins; i++)
			((GLOBAL u32 *)edge)[i] = 0;
	}

	u32 bits = 8 * first;
	i64 offset = (firstRow + (i64)1) * job.outStride;
	TEAM_BARRIER;
	for (i32 r = 0; r < rows; r++) {
		u32 one[COLUMNS], run = 0;
		hits(one, next, bits);
UNROLL
		for (i32 i = 0; i < 4; i++)
			corner[i] += nextLeft.part[i];
		if (r + 1 < rows) {
			plane += planeStride;
			left += job.tilesAcross * (i64)job.allQuads;
			next = *(GLOBAL const Four *)plane;
			nextLeft = *left;
		}
		POINTER_TO_LOCAL u32 *words = shared->words + r % 2 * COLUMN_WORDS; // the other half may still be read
UNROLL
		for (i32 k = 0; k < COLUMNS; k++) {
			run += one[k];
			words[COLUMN_AT(segment * COLUMNS + k, slot)] = run;
		}
		TEAM_BARRIER;
		u32 ends[SEGMENTS - 1];
UNROLL
		for (i32 s = 0; s < SEGMENTS - 1; s++)
			ends[s] = words[COLUMN_AT(s * COLUMNS + COLUMNS - 1, slot)];
		u32 before = 0;
		GLOBAL u8 *to = out + offset;
UNROLL
		for (i32 k = 0; k < COLUMNS; k++, to += columnStep * 4) {
			if (k > 0 && k % (COLUMNS / SEGMENTS) == 0)
				before += ends[k / (COLUMNS / SEGMENTS) - 1];
			u32 word = before + words[COLUMN_AT(k * SEGMENTS + segment, slot)];
			Four counts;
UNROLL
			for (i32 i = 0; i < 4; i++) {
				ADD_BYTE(sum[k][i], word, i);
				counts.part[i] = sum[k][i] + corner[i];
			}
			if (k * SEGMENTS < columns) {
				if (job.wide)
					WRITE_COUNTS((GLOBAL Four *)to, counts);
				else
UNROLL
					for (i32 i = 0; i < 4; i++)
						if (i < bins)
							((GLOBAL u32 *)to)[i] = counts.part[i];
			}
		}
		for (i32 i = 0; atEdge && i < bins; i++)
			((GLOBAL u32 *)(edge + offset))[i] = 0;
		offset += job.outStride;
	}
}

#endif
