// Tables of volumes in two reads and one write, for any device. The includer defines PIXEL, SUM and GROUP, and SQUARED if
// the squares of the voxels are summed. Offsets are as in portable.cl.
//
//	portable_totals, portable_carry, portable_climb   process each slice like an image
//	volume_finish                                     reads the slices again, in order, and writes
//
// A slice of the table is the previous slice plus the plane table of the voxels between them. A work-group has a tile of one
// band, and goes through all slices with its part of the table.

#define T SUM
#define SCAN_BAND scan_slice
#include "band.h"
#undef SCAN_BAND
#undef T

#ifdef SQUARED
#define VOLUME_KERNEL PASTE3(volume_square, PIXEL, SUM)
#else
#define VOLUME_KERNEL PASTE3(volume_finish, PIXEL, SUM)
#endif

#ifdef FLOAT_PIXEL
#define LESS(p, offset) ((p) - (PIXEL)(offset))
#else
#define LESS(p, offset) (p)
#endif

FUNCTION SUM voxel(PIXEL p, f32 offset)
{
#if defined(SQUARED)
	return (SUM)p * (SUM)p;
#elif defined(TAKE_OFFSET)
	return (SUM)p - offset;
#else
	return (SUM)p;
#endif
}

KERNEL(VOLUME_KERNEL)(const Job job, const Slices slices, GLOBAL const u8 *RESTRICT in, GLOBAL const u8 *RESTRICT carries, GLOBAL u8 *RESTRICT out)
{
	LOCAL SUM tile[SPAN * PITCH];
	LOCAL SUM part[GROUP];
	LOCAL SUM before[GROUP];
	i32 item = ITEM_ID;
	Place at = place(job, GROUP_ID, item, SPAN);
	i32 y = at.firstRow;
	in += job.inStart + y * job.inStride + at.column * (i64)sizeof(PIXEL);
	out += job.outStart;
	GLOBAL u8 *column = out + (y + (i64)1) * job.outStride + (at.column + job.channels) * (i64)sizeof(SUM);
	GLOBAL u8 *first = out + (y + (i64)1 + at.row) * job.outStride + (at.firstChannel + at.channel) * (i64)sizeof(SUM); // in column 0
	SUM sum[SPAN];
UNROLL
	for (i32 k = 0; k < SPAN; k++) {
		i32 inside = at.inside && y + k < at.endRow;
		sum[k] = 0;
		if (inside && job.carry)
			sum[k] = *(GLOBAL const SUM *)(column + k * job.outStride);
		else if (inside)
			*(GLOBAL SUM *)(column + k * job.outStride) = 0;
	}
	for (i32 z = job.carry ? 1 : 0; z <= slices.depth; z++) { // zeros in row 0 and column 0
		if (at.edge && y + at.row < at.endRow)
			*(GLOBAL SUM *)(first + z * job.outDistance) = 0;
		if (at.tileY == 0) {
			if (at.inside)
				((GLOBAL SUM *)(out + z * job.outDistance))[at.column + job.channels] = 0;
			if (at.edge && at.row == 0)
				((GLOBAL SUM *)(out + z * job.outDistance))[at.firstChannel + at.channel] = 0;
		}
	}
	for (i32 z = 0; z < slices.depth; z++) {
		at.image = z;
		SUM down = 0, start = 0;
		if (at.inside && at.tileY > 0)
			down = ((GLOBAL const SUM *)(carries + job.columnsStart))[columnsAt(job, at)];
		if (at.busy && at.tileX > 0 && y + at.row < at.endRow)
			start = ((GLOBAL const SUM *)(carries + job.rowsStart))[rowsAt(job, at, y + at.row)];
		PIXEL pixels[SPAN];
UNROLL
		for (i32 k = 0; k < SPAN; k++)
			pixels[k] = at.inside && y + k < at.endRow ? LESS(*(GLOBAL const PIXEL *)(in + k * job.inStride), job.offset) : (PIXEL)0;
UNROLL
		for (i32 k = 0; k < SPAN; k++) {
			down += voxel(pixels[k], job.offset); // values outside of the volume reach no sum that is read
			tile[k * PITCH + at.position] = down;
		}
		scan_slice(tile, part, before, item, at.segment, job.tileChannels, start);
		in += job.inDistance;
		column += job.outDistance;
UNROLL
		for (i32 k = 0; k < SPAN; k++)
			if (at.inside && y + k < at.endRow) { // nor is there a task beyond the last channel
				sum[k] += tile[k * PITCH + at.position] + before[k * TASKS + at.task];
				*(GLOBAL SUM *)(column + k * job.outStride) = sum[k];
			}
		BARRIER;
	}
}

#undef VOLUME_KERNEL
#undef PIXEL
#undef SUM
#undef SQUARED
#undef TAKE_OFFSET
#undef FLOAT_PIXEL
#undef LESS
#undef GROUP
