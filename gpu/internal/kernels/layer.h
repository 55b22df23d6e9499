// The part of a kernel for one table, of sums or of squares. The includer defines T, the type of
// the entries, and OF(name), the name of a function.

#define SCAN_BAND OF(scan_band)
#include "band.h"

// total_band adds the rows of a band in the tile. If there are tiles on the right, it writes the
// totals.
FUNCTION void OF(total_band)(const Job job, Place at, i32 item, i32 y, POINTER_TO_LOCAL T *tile, POINTER_TO_LOCAL T *part, GLOBAL T *rows)
{
	T sum = 0;
	BARRIER;
	if (at.busy) {
		i32 start = at.row * PITCH + at.segment * (SPAN + 1) * job.tileChannels + at.channel;
#pragma unroll
		for (i32 k = 0; k < SPAN; k++)
			sum += tile[start + k * job.tileChannels];
		part[item] = sum;
	}
	BARRIER;
	if (at.busy && at.segment == 0 && job.tilesAcross > 1 && y + at.row < at.endRow) {
		for (i32 k = 1; k < TASKS / job.tileChannels; k++)
			sum += part[item + k * job.tileChannels];
		rows[rowsAt(job, at, y + at.row)] = sum;
	}
}

// top_row returns the entry of row 0 above the work-item's column if that row is an input.
// Otherwise it writes zeros there.
FUNCTION T OF(top_row)(const Job job, Place at, GLOBAL u8 *table)
{
	GLOBAL T *row = (GLOBAL T *)table;
	T top = 0;
	if (job.carry) {
		if (at.inside)
			top = row[at.column + job.channels];
	} else if (at.tileY == 0) {
		if (at.inside)
			row[at.column + job.channels] = 0;
		if (at.edge && at.row == 0)
			row[at.firstChannel + at.channel] = 0;
	}
	return top;
}

// finish_band scans a band in the tile and writes it, including column 0. Row y of the image is row
// y+1 of the table.
FUNCTION void OF(finish_band)(const Job job, Place at, i32 item, i32 y, POINTER_TO_LOCAL T *tile, POINTER_TO_LOCAL T *part, POINTER_TO_LOCAL T *before,
	GLOBAL const T *rows, T top, GLOBAL u8 *table, i64 stride)
{
	T start = 0;
	if (at.busy && at.tileX > 0 && y + at.row < at.endRow)
		start = rows[rowsAt(job, at, y + at.row)];
	OF(scan_band)(tile, part, before, item, at.segment, job.tileChannels, start);
	table += (y + (i64)1) * stride;
	GLOBAL u8 *column = table + (at.column + job.channels) * (i64)sizeof(T);
#pragma unroll
	for (i32 k = 0; k < SPAN; k++)
		if (at.inside && y + k < at.endRow)
			*(GLOBAL T *)(column + k * stride) = tile[k * PITCH + at.position] + before[k * TASKS + at.task] + top;
	if (at.edge && y + at.row < at.endRow)
		((GLOBAL T *)(table + at.row * stride))[at.firstChannel + at.channel] = 0;
}

#undef SCAN_BAND
#undef OF
#undef T
