// Tables along the lines of a rotation, in two reads and one write. The includer
// defines PIXEL, SUM and GROUP.
//
// The lattice is an image with holes, which is never written down: a work-group
// lays the pixels of a band of its tile out in local memory, zeros in between,
// and goes on as the portable kernels do. Between these run portable_carry and
// portable_climb. One more column of tiles has the sums of whole rows, and one
// more row of tiles those of whole columns.
//
//	lattice_totals  per tile: the totals of its columns and of its rows
//	lattice_finish  reads each tile again, adds what lies above and to the left, and writes

#define NAME(kernel) PASTE3(kernel, PIXEL, SUM)
#define T SUM
#define OF(name) PASTE2(name, sums)
#include "layer.h"

// present says whether the table has any cell of a tile, and low and high which.
FUNCTION i32 present(const Job job, const Lattice lattice, Place at, GLOBAL const i32 *RESTRICT shape, i32 *low, i32 *high)
{
	*low = *high = 0;
	if (at.tileX == job.tilesAcross - 1)
		return 0;
	if (at.tileY == job.tilesDown - 1) {
		*high = job.width;
		return 1;
	}
	*low = shape[lattice.lowAt + at.tileY];
	*high = shape[lattice.highAt + at.tileY];
	i64 first = (i64)at.tileX * job.tilePixels;
	return first < *high && first + job.tilePixels > *low;
}

// How many lines are read before the first is laid out; PoCL takes its time to
// compile more.
#ifdef __OPENCL_VERSION__
#define LINES_AT_ONCE 1
#else
#define LINES_AT_ONCE 4
#endif

// lay_band puts the pixels of SPAN rows of the tile, from row on, into local
// memory, where there are zeros. First each work-item finds out what the band has
// of one line of the image; then a few neighbouring ones share each line. There is
// a barrier at the end.
FUNCTION void lay_band(POINTER_TO_LOCAL SUM *tile, POINTER_TO_LOCAL Line *lines, const Job job, const Lattice lattice, Place at, i32 item, i32 row,
	GLOBAL const u8 *RESTRICT in, GLOBAL const i32 *RESTRICT shape)
{
	i32 left = at.tileX * job.tilePixels, right = left + job.tilePixels, bottom = at.endRow - row < SPAN ? at.endRow : row + SPAN;
	// Which lines these are: digital ones are straight to within two pixels, and floats exact to 24 bits.
	f32 t = lattice.tangent, scale = 1 / (1 + t * t);
	f32 first = (row - t * (lattice.width - left)) * scale, last = (bottom - t * (lattice.width - right)) * scale;
	f32 margin = 4 + (last < 0 ? -last : last) * 1e-6f + (first < 0 ? -first : first) * 1e-6f;
	i32 y = first > margin ? (i32)(first - margin) : 0;
	i32 end = last + margin < 0 ? 0 : last + margin < lattice.height ? (i32)(last + margin) : lattice.height;
	if (row >= job.height)
		end = 0;

	i32 step = GROUP >> lattice.lineShift, value = item & (1 << lattice.lineShift) - 1;
	i32 pixel = by_lanes(value, job.lanesInverse), lane = value - pixel * job.lanes, channel = at.firstChannel + lane;
	i32 mine = channel < job.channels ? pixel : 0x7fffffff;
	in += channel * (i64)sizeof(PIXEL);
	i32 pixelBytes = job.channels * (i32)sizeof(PIXEL);
	i64 stepBytes = step * job.inStride;
	for (; y < end; y += GROUP) { // once, but for images of millions of lines
		Line own;
		i32 line = y + item, from = row - line, until = bottom - line;
		own.x = own.count = own.start = own.column = 0;
		from = from > 0 ? from : 0;
		until = until < lattice.runs ? until : lattice.runs;
		if (line < end && from < until) {
			i32 x = shape[lattice.edgesAt + from], endX = shape[lattice.edgesAt + until];
			i32 column = lattice.width - 1 + shape[lattice.overAt + line]; // of x = 0
			x = x > column - right + 1 ? x : column - right + 1;
			endX = endX < column - left + 1 ? endX : column - left + 1;
			own.x = x;
			own.count = endX - x;
			own.start = (line - row) * PITCH;
			own.column = column - left;
		}
		lines[item] = own;
		BARRIER;
		i32 count = end - y < GROUP ? end - y : GROUP, i = item >> lattice.lineShift;
		GLOBAL const u8 *RESTRICT pixels = in + (y + i) * job.inStride;
		for (; i < count; i += step * LINES_AT_ONCE, pixels += LINES_AT_ONCE * stepBytes) {
			PIXEL v[LINES_AT_ONCE];
			i32 to[LINES_AT_ONCE];
UNROLL
			for (i32 k = 0; k < LINES_AT_ONCE; k++) {
				to[k] = -1;
				if (i + k * step < count) {
					Line l = lines[i + k * step];
					if (mine < l.count) {
						i32 x = l.x + pixel, cell = l.column - x, memory = lattice.mirrored ? lattice.width - 1 - x : x;
						to[k] = l.start + shape[lattice.downAt + x] * PITCH + (cell + cell / SPAN) * job.lanes + lane;
						v[k] = *(GLOBAL const PIXEL *)(pixels + k * stepBytes + memory * (i64)pixelBytes);
					}
				}
			}
UNROLL
			for (i32 k = 0; k < LINES_AT_ONCE; k++)
				if (to[k] >= 0)
					tile[to[k]] = (SUM)v[k];
		}
		BARRIER;
	}
}

// scan_rows sums up the rows of a band in place. There is a barrier at the
// beginning and one at the end.
FUNCTION void scan_rows(POINTER_TO_LOCAL SUM *tile, POINTER_TO_LOCAL SUM *part, i32 item, i32 segment, i32 lanes)
{
	SUM values[SPAN];
	SUM sum = 0;
	POINTER_TO_LOCAL SUM *value = tile + (u32)item / TASKS * PITCH + segment * SPAN * lanes + (u32)item % TASKS;
	i32 busy = segment < TASKS / lanes;
	BARRIER;
UNROLL
	for (i32 k = 0; k < SPAN; k++) {
		values[k] = busy ? value[k * lanes] : 0;
		sum += values[k];
	}
	part[item] = sum;
	BARRIER;
	sum = 0;
	for (i32 k = segment; k > 0; k--)
		sum += part[item - k * lanes];
UNROLL
	for (i32 k = 0; k < SPAN; k++) {
		sum += values[k];
		if (busy)
			value[k * lanes] = sum;
	}
	BARRIER;
}

FUNCTION void clear_band(POINTER_TO_LOCAL SUM *tile, Place at)
{
UNROLL
	for (i32 k = 0; k < SPAN; k++)
		tile[k * PITCH + at.position] = 0;
	BARRIER;
}

BUSY_KERNEL(NAME(lattice_totals))(const Job job, const Lattice lattice, GLOBAL const u8 *RESTRICT in, GLOBAL const i32 *RESTRICT shape, GLOBAL u8 *RESTRICT carries)
{
	LOCAL SUM tile[SPAN * PITCH];
	LOCAL SUM part[GROUP];
	LOCAL Line lines[GROUP];
	i32 item = ITEM_ID, low, high;
	Place at = place(job, GROUP_ID, item, SPAN);
	i32 here = present(job, lattice, at, shape, &low, &high);
	GLOBAL SUM *rows = (GLOBAL SUM *)(carries + job.rowsStart);
	in += job.inStart + at.image * job.inDistance;
	SUM down = 0;
	for (i32 y = at.firstRow; y < (here ? at.endRow : at.firstRow); y += SPAN) {
		clear_band(tile, at);
		lay_band(tile, lines, job, lattice, at, item, y, in, shape);
UNROLL
		for (i32 k = 0; k < SPAN; k++)
			down += tile[k * PITCH + at.position];
		total_band_sums(job, at, item, y, tile, part, rows);
	}
	if (at.inside)
		((GLOBAL SUM *)(carries + job.columnsStart))[columnsAt(job, at)] = down;
	if (!here && at.busy && at.segment == 0)
		for (i32 y = at.firstRow + at.row; y < at.endRow; y += SPAN)
			rows[rowsAt(job, at, y)] = 0;
}

BUSY_KERNEL(NAME(lattice_finish))(const Job job, const Lattice lattice, GLOBAL const u8 *RESTRICT in, GLOBAL const i32 *RESTRICT shape,
	GLOBAL const u8 *RESTRICT carries, GLOBAL u8 *RESTRICT out)
{
	LOCAL SUM tile[SPAN * PITCH];
	LOCAL SUM part[GROUP];
	LOCAL Line lines[GROUP];
	i32 item = ITEM_ID, low, high;
	Place at = place(job, GROUP_ID, item, SPAN);
	i32 here = present(job, lattice, at, shape, &low, &high);
	i32 bottom = at.tileY == job.tilesDown - 1;
	in += job.inStart + at.image * job.inDistance;
	out += job.outStart + at.image * job.outDistance;
	GLOBAL const SUM *rows = (GLOBAL const SUM *)(carries + job.rowsStart);
	if (at.tileX == job.tilesAcross - 1 && at.busy && at.segment == 0)
		for (i32 y = at.firstRow + at.row; y < at.endRow; y += SPAN)
			((GLOBAL SUM *)(out + lattice.rowsStart))[(i64)y * job.channels + at.firstChannel + at.lane] = rows[rowsAt(job, at, y)];

	i32 cell = (i32)((u32)(item * job.lanesInverse) >> 16), channel = at.firstChannel + item - cell * job.lanes;
	cell += at.tileX * job.tilePixels;
	i32 mine = at.inside && cell >= low && cell < high;
	// From here on, what is left of the tile in the rows to be written.
	rows += ((at.image * job.tilesAcross + at.tileX) * job.channels + channel) * job.height + (bottom ? job.height - 1 : at.firstRow);
	SUM down = 0, sum = 0;
	if (at.inside)
		down = ((GLOBAL const SUM *)(carries + job.columnsStart))[columnsAt(job, at)];
	i64 pitch = (i64)(high - low) * job.channels;
	GLOBAL SUM *column = (GLOBAL SUM *)(out + lattice.columnsStart);
	if (!bottom && here)
		column = (GLOBAL SUM *)out + ((GLOBAL const i64 *)shape)[lattice.startsAt + at.tileY];
	column += (i64)(cell - low) * job.channels + channel;

	i32 end = bottom ? at.firstRow + 1 : at.endRow;
	for (i32 y = at.firstRow; y < (here ? end : at.firstRow); y += SPAN) {
		clear_band(tile, at);
		lay_band(tile, lines, job, lattice, at, item, y, in, shape);
		if (y == at.firstRow)
			tile[at.position] += down; // what is above counts as part of the first row
		scan_rows(tile, part, item, at.segment, job.lanes);
UNROLL
		for (i32 k = 0; k < SPAN; k++) {
			sum += tile[k * PITCH + at.position];
			if (mine && y + k < end)
				*column = rows[k] + sum;
			column += pitch;
		}
		rows += SPAN;
		BARRIER;
	}
}

#undef NAME
#undef LINES_AT_ONCE
#undef PIXEL
#undef SUM
#undef GROUP
