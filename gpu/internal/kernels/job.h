// Who works on what: the tiles of a table, and the carries between them.
#ifndef JOB_H
#define JOB_H

#define TASKS 16 // that a row of a tile is cut into, see band.h

// Where things are, in bytes, and how large, as portable.go fills it in.
typedef struct {
	i64 inStart, inStride, inDistance;
	i64 outStart, outStride, outDistance;
	i64 squaresStart, squaresStride, squaresDistance;
	i64 columnsStart, rowsStart, squareColumnsStart, squareRowsStart; // of the carries
	i32 width, height, channels;
	i32 lanes, laneGroups; // channels of a tile; tiles that share their pixels
	i32 tilePixels, tileRows, tilesAcross, tilesDown;
	i32 carry; // row 0 of the table is an input
	f32 offset;
	i32 lanesInverse; // 2^16 / lanes, rounded up
} Job;

// An array of carries: steps of length values, image after image. groups count
// all work-groups, groupsAcross those of one image.
typedef struct {
	i64 start; // in bytes
	i64 length;
	i32 steps, padding;
	u32 groups, groupsAcross;
} Carry;

typedef struct {
	i64 start; // of the rows' carries, in bytes
	i32 height, channels, tilesAcross, padding;
} Climb;

typedef struct {
	i64 start, stride; // of the table, in bytes
	i64 channels, count;
} Boxes;

// Where one work-item works: its tile, the column of values in it that it reads
// and writes, and the task in each band that it scans (see band.h).
typedef struct {
	i64 image;
	i32 tileX, tileY;
	i32 firstRow, endRow, firstChannel; // of the tile

	i64 column;   // of the values, in a row of pixels
	i32 inside;   // whether the image has it
	i32 position; // of the values, in a row of a band
	i32 task;     // that the values belong to

	i32 row, segment, lane; // of the work-item's own task
	i32 busy;               // whether there is such a task
	i32 edge;               // whether it writes column 0 of the table
} Place;

// by_lanes is item / lanes, without a division: that is slow, and PoCL 5 takes
// the work-item's number for 0 in kernels that have its quotient and remainder.
FUNCTION i32 by_lanes(i32 item, i32 lanesInverse) { return (u32)(item * lanesInverse) >> 16; }

FUNCTION Place place(const Job job, u32 tile, i32 item, i32 span)
{
	Place at;
	i32 laneGroup = tile % job.laneGroups;
	tile /= job.laneGroups;
	at.tileX = tile % job.tilesAcross;
	tile /= job.tilesAcross;
	at.tileY = tile % job.tilesDown;
	at.image = tile / job.tilesDown;
	at.firstRow = at.tileY * job.tileRows;
	at.endRow = job.height - at.firstRow < job.tileRows ? job.height : at.firstRow + job.tileRows;
	at.firstChannel = laneGroup * job.lanes;

	i32 x = by_lanes(item, job.lanesInverse), lane = item - x * job.lanes;
	i64 pixel = (i64)at.tileX * job.tilePixels + x;
	at.column = pixel * job.channels + at.firstChannel + lane;
	at.inside = x < job.tilePixels && pixel < job.width && at.firstChannel + lane < job.channels;
	at.position = item + x / span * job.lanes;
	at.task = x / span * job.lanes + lane;

	i32 tasks = job.tilePixels / span * job.lanes, task = (u32)item % TASKS;
	at.row = (u32)item / TASKS;
	at.segment = by_lanes(task, job.lanesInverse);
	at.lane = task - at.segment * job.lanes;
	at.busy = task < tasks && at.firstChannel + at.lane < job.channels;
	at.edge = at.busy && at.segment == 0 && at.tileX == 0;
	return at;
}

// The columns' carries have a row for each row of tiles, as long as those of
// the image; the rows' carries a line for each column of tiles and channel, as
// long as the image is high.
FUNCTION i64 columnsAt(const Job job, Place at)
{
	return (at.image * job.tilesDown + at.tileY) * job.width * job.channels + at.column;
}

FUNCTION i64 rowsAt(const Job job, Place at, i32 y)
{
	return ((at.image * job.tilesAcross + at.tileX) * job.channels + at.firstChannel + at.lane) * job.height + y;
}

#endif
