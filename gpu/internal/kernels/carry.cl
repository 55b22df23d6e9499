// The kernels that do not depend on the pixel type: they propagate the totals of tiles, sum boxes,
// and fetch single values. The includer defines ACCUMULATOR, the type of the sums, and GROUP.

#define T ACCUMULATOR
#define SCAN_BAND scan_line
#include "band.h"
#undef SCAN_BAND
#undef T

// A work-group processes a few neighboring columns and cuts each into segments.
#define COLUMNS (GROUP < 32 ? GROUP : 32)
#define SEGMENTS (GROUP / COLUMNS)
#define AT_ONCE 8 // concurrent reads

// portable_carry replaces each value by the sum of the preceding ones, along the steps of each
// image's columns. One launch processes two arrays.
KERNEL(PASTE2(portable_carry, ACCUMULATOR))(const Carry first, const Carry second, GLOBAL u8 *RESTRICT carries)
{
	LOCAL ACCUMULATOR part[GROUP];
	i32 item = ITEM_ID, segment = (u32)item / COLUMNS;
	u32 group = GROUP_ID;
	Carry job = first;
	if (group >= first.groups) {
		group -= first.groups;
		job = second;
	}
	i64 column = (i64)(group % job.groupsAcross) * COLUMNS + (u32)item % COLUMNS, image = group / job.groupsAcross;
	GLOBAL ACCUMULATOR *values = (GLOBAL ACCUMULATOR *)(carries + job.start) + image * job.steps * job.length + column;
	i32 share = (job.steps + SEGMENTS - 1) / SEGMENTS, start = segment * share;
	i32 end = column >= job.length ? 0 : start + share < job.steps ? start + share : job.steps;
	ACCUMULATOR sum = 0;
	for (i32 s = start; s < end; s++)
		sum += values[s * job.length];
	part[item] = sum;
	BARRIER;
	sum = 0;
	for (i32 k = segment; k > 0; k--)
		sum += part[item - k * COLUMNS];
	for (i32 s = start; s < end; s += AT_ONCE) {
		ACCUMULATOR v[AT_ONCE];
#pragma unroll
		for (i32 k = 0; k < AT_ONCE; k++)
			v[k] = s + k < end ? values[(s + k) * job.length] : 0;
#pragma unroll
		for (i32 k = 0; k < AT_ONCE; k++) {
			if (s + k < end)
				values[(s + k) * job.length] = sum;
			sum += v[k];
		}
	}
}

// portable_climb accumulates each line of the row carries, from the image's top. Those of the first
// tile in a row are zero and stay so.
KERNEL(PASTE2(portable_climb, ACCUMULATOR))(const Climb job, GLOBAL u8 *RESTRICT carries)
{
	LOCAL ACCUMULATOR tile[SPAN * PITCH];
	LOCAL ACCUMULATOR part[GROUP];
	LOCAL ACCUMULATOR before[GROUP];
	i32 item = ITEM_ID, position = item + item / SPAN, task = item / SPAN;
	i64 lines = (i64)(job.tilesAcross - 1) * job.channels, image = GROUP_ID / lines;
	i64 line = GROUP_ID + (image + 1) * job.channels;
	GLOBAL ACCUMULATOR *values = (GLOBAL ACCUMULATOR *)(carries + job.start) + line * job.height;
	ACCUMULATOR total = 0;
	for (i32 first = 0; first < job.height; first += GROUP * SPAN) {
		i32 y = first + item;
#pragma unroll
		for (i32 k = 0; k < SPAN; k++)
			tile[k * PITCH + position] = y + k * GROUP < job.height ? values[y + k * GROUP] : 0;
		scan_line(tile, part, before, item, (u32)item % TASKS, 1, 0);
#pragma unroll
		for (i32 k = 0; k < SPAN; k++) {
			if (y + k * GROUP < job.height)
				values[y + k * GROUP] = total + (tile[k * PITCH + position] + before[k * TASKS + task]);
			total += tile[k * PITCH + PITCH - 2] + before[k * TASKS + TASKS - 1]; // of the whole row
		}
		BARRIER;
	}
}

// portable_boxes sums boxes, one work-item for each of their channels. Boxes are clipped to the
// image: x0, y0, x1, y1.
KERNEL(PASTE2(portable_boxes, ACCUMULATOR))(const Boxes job, GLOBAL const u8 *RESTRICT table, GLOBAL const i32 *RESTRICT boxes, GLOBAL ACCUMULATOR *RESTRICT out)
{
	i64 i = (i64)GROUP_ID * GROUP + ITEM_ID;
	if (i < job.count * job.channels) {
		GLOBAL const i32 *box = boxes + i / job.channels * 4;
		i64 channel = i % job.channels;
		GLOBAL const ACCUMULATOR *top = (GLOBAL const ACCUMULATOR *)(table + job.start + box[1] * job.stride);
		GLOBAL const ACCUMULATOR *bottom = (GLOBAL const ACCUMULATOR *)(table + job.start + box[3] * job.stride);
		i64 left = box[0] * job.channels + channel, right = box[2] * job.channels + channel;
		out[i] = bottom[right] - bottom[left] - top[right] + top[left];
	}
}

// portable_values fetches values of an array, given their offsets in bytes.
KERNEL(PASTE2(portable_values, ACCUMULATOR))(const Boxes job, GLOBAL const u8 *RESTRICT from, GLOBAL const i64 *RESTRICT at, GLOBAL ACCUMULATOR *RESTRICT out)
{
	i64 i = (i64)GROUP_ID * GROUP + ITEM_ID;
	if (i < job.count)
		out[i] = *(GLOBAL const ACCUMULATOR *)(from + job.start + at[i]);
}

#undef ACCUMULATOR
#undef GROUP
