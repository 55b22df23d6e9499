// Tables in two reads and one write, for any device: no work-group waits for another. The includer defines PIXEL, SUM, GROUP
// and, if both tables are computed, SQUARE. An offset is subtracted from float pixels when they are read (FLOAT_PIXEL), so
// that it applies to squares too, and from integers when they are added to float32 sums (TAKE_OFFSET).
//
//	portable_totals  computes the totals of each tile's columns and rows
//	portable_carry   propagates these down the columns and along the rows
//	portable_climb   accumulates the row carries from the top, giving the table at the tiles' left edges
//	portable_finish  reads each tile again, adds the sums above and to the left, and writes
//
// A tile is tileRows high, and tilePixels of tileChannels channels wide: one column of values for each work-item. It is
// processed in bands of SPAN rows.

#ifdef FLOAT_PIXEL
#define LESS(p, offset) ((p) - (PIXEL)(offset))
#else
#define LESS(p, offset) (p)
#endif

#ifdef SQUARE
#define NAME(kernel) PASTE4(kernel, PIXEL, SUM, SQUARE)
#else
#define NAME(kernel) PASTE3(kernel, PIXEL, SUM)
#endif

#define T SUM
#define OF(name) PASTE2(name, sums)
#include "layer.h"
#ifdef SQUARE
#define T SQUARE
#define OF(name) PASTE2(name, squares)
#include "layer.h"
#endif

FUNCTION SUM value(PIXEL p, f32 offset)
{
#ifdef TAKE_OFFSET
	return (SUM)p - offset;
#else
	return (SUM)p;
#endif
}

#ifdef SQUARE
FUNCTION SQUARE squared(PIXEL p) { return (SQUARE)p * (SQUARE)p; }
#endif

// load_band reads the work-item's column of a band, with all reads in flight at once.
FUNCTION void load_band(PIXEL *pixels, GLOBAL const u8 *RESTRICT from, const Job job, Place at, i32 y)
{
	from += job.inStart + at.image * job.inDistance + y * job.inStride + at.column * (i64)sizeof(PIXEL);
#pragma unroll
	for (i32 k = 0; k < SPAN; k++)
		pixels[k] = at.inside && y + k < at.endRow ? LESS(*(GLOBAL const PIXEL *)(from + k * job.inStride), job.offset) : (PIXEL)0;
}

KERNEL(NAME(portable_totals))(const Job job, GLOBAL const u8 *RESTRICT in, GLOBAL u8 *RESTRICT carries)
{
	LOCAL SUM tile[SPAN * PITCH];
	LOCAL SUM part[GROUP];
	SUM down = 0;
#ifdef SQUARE
	LOCAL SQUARE squareTile[SPAN * PITCH];
	LOCAL SQUARE squarePart[GROUP];
	SQUARE squaresDown = 0;
#endif
	i32 item = ITEM_ID;
	Place at = place(job, GROUP_ID, item, SPAN);
	for (i32 y = at.firstRow; y < at.endRow; y += SPAN) {
		PIXEL pixels[SPAN];
		load_band(pixels, in, job, at, y);
#pragma unroll
		for (i32 k = 0; k < SPAN; k++) {
			SUM v = at.inside && y + k < at.endRow ? value(pixels[k], job.offset) : 0;
			down += v;
			tile[k * PITCH + at.position] = v;
#ifdef SQUARE
			SQUARE q = squared(pixels[k]);
			squaresDown += q;
			squareTile[k * PITCH + at.position] = q;
#endif
		}
		total_band_sums(job, at, item, y, tile, part, (GLOBAL SUM *)(carries + job.rowsStart));
#ifdef SQUARE
		total_band_squares(job, at, item, y, squareTile, squarePart, (GLOBAL SQUARE *)(carries + job.squareRowsStart));
#endif
	}
	if (at.inside && job.tilesDown > 1) {
		((GLOBAL SUM *)(carries + job.columnsStart))[columnsAt(job, at)] = down;
#ifdef SQUARE
		((GLOBAL SQUARE *)(carries + job.squareColumnsStart))[columnsAt(job, at)] = squaresDown;
#endif
	}
}

KERNEL(NAME(portable_finish))(const Job job, GLOBAL const u8 *RESTRICT in, GLOBAL const u8 *RESTRICT carries, GLOBAL u8 *RESTRICT out
#ifdef SQUARE
	, GLOBAL u8 *RESTRICT squaresOut
#endif
)
{
	LOCAL SUM tile[SPAN * PITCH];
	LOCAL SUM part[GROUP];
	LOCAL SUM before[GROUP];
	i32 item = ITEM_ID;
	Place at = place(job, GROUP_ID, item, SPAN);
	out += job.outStart + at.image * job.outDistance;
	SUM top = top_row_sums(job, at, out), down = 0;
	if (at.inside && at.tileY > 0)
		down = ((GLOBAL const SUM *)(carries + job.columnsStart))[columnsAt(job, at)];
#ifdef SQUARE
	LOCAL SQUARE squareTile[SPAN * PITCH];
	LOCAL SQUARE squarePart[GROUP];
	LOCAL SQUARE squareBefore[GROUP];
	squaresOut += job.squaresStart + at.image * job.squaresDistance;
	SQUARE squaresTop = top_row_squares(job, at, squaresOut), squaresDown = 0;
	if (at.inside && at.tileY > 0)
		squaresDown = ((GLOBAL const SQUARE *)(carries + job.squareColumnsStart))[columnsAt(job, at)];
#endif
	for (i32 y = at.firstRow; y < at.endRow; y += SPAN) {
		PIXEL pixels[SPAN];
		load_band(pixels, in, job, at, y);
#pragma unroll
		for (i32 k = 0; k < SPAN; k++) {
			down += value(pixels[k], job.offset); // values outside of the image reach no sum that is read
			tile[k * PITCH + at.position] = down;
#ifdef SQUARE
			squaresDown += squared(pixels[k]);
			squareTile[k * PITCH + at.position] = squaresDown;
#endif
		}
		finish_band_sums(job, at, item, y, tile, part, before, (GLOBAL const SUM *)(carries + job.rowsStart), top, out, job.outStride);
#ifdef SQUARE
		finish_band_squares(job, at, item, y, squareTile, squarePart, squareBefore,
			(GLOBAL const SQUARE *)(carries + job.squareRowsStart), squaresTop, squaresOut, job.squaresStride);
#endif
		BARRIER;
	}
}

#undef NAME
#undef PIXEL
#undef SUM
#undef SQUARE
#undef GROUP
#undef TAKE_OFFSET
#undef FLOAT_PIXEL
#undef LESS
