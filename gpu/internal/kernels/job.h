// How tiles are assigned to work-items, and where the carries between tiles are.
#ifndef JOB_H
#define JOB_H

#include "jobs/portable.h"

#define TASKS 16 // per row of a tile, see band.h

// A Place is the work of a work-item: its tile, the column of values that it reads and writes, and
// the task that it scans in each band (see band.h).
typedef struct {
	i64 image;
	i32 tileX, tileY;
	i32 firstRow, endRow, firstChannel; // of the tile

	i64 column;   // of the values, in a row of pixels
	i32 inside;   // whether it is in the image
	i32 position; // of the values, in a row of a band
	i32 task;     // that the values belong to

	i32 row, segment, channel; // of the work-item's own task
	i32 busy;               // whether the task exists
	i32 edge;               // whether it writes column 0 of the table
} Place;

// by_channels returns item / tileChannels without a division, which is slow. Also, PoCL 5 computes
// a wrong item number in kernels that use both its quotient and its remainder.
FUNCTION i32 by_channels(i32 item, i32 inverse) { return (u32)(item * inverse) >> 16; }

FUNCTION Place place(const Job job, u32 tile, i32 item, i32 span)
{
	Place at;
	i32 channelGroup = tile % job.channelGroups;
	tile /= job.channelGroups;
	at.tileX = tile % job.tilesAcross;
	tile /= job.tilesAcross;
	at.tileY = tile % job.tilesDown;
	at.image = tile / job.tilesDown;
	at.firstRow = at.tileY * job.tileRows;
	at.endRow = job.height - at.firstRow < job.tileRows ? job.height : at.firstRow + job.tileRows;
	at.firstChannel = channelGroup * job.tileChannels;

	i32 x = by_channels(item, job.tileChannelsInverse), channel = item - x * job.tileChannels;
	i64 pixel = (i64)at.tileX * job.tilePixels + x;
	at.column = pixel * job.channels + at.firstChannel + channel;
	at.inside = x < job.tilePixels && pixel < job.width && at.firstChannel + channel < job.channels;
	at.position = item + x / span * job.tileChannels;
	at.task = x / span * job.tileChannels + channel;

	i32 tasks = job.tilePixels / span * job.tileChannels, task = (u32)item % TASKS;
	at.row = (u32)item / TASKS;
	at.segment = by_channels(task, job.tileChannelsInverse);
	at.channel = task - at.segment * job.tileChannels;
	at.busy = task < tasks && at.firstChannel + at.channel < job.channels;
	at.edge = at.busy && at.segment == 0 && at.tileX == 0;
	return at;
}

// Column carries have a row for each row of tiles, as long as the image's rows. Row carries have a
// line for each column of tiles and channel, as long as the image's columns.
FUNCTION i64 columnsAt(const Job job, Place at)
{
	return (at.image * job.tilesDown + at.tileY) * job.width * job.channels + at.column;
}

FUNCTION i64 rowsAt(const Job job, Place at, i32 y)
{
	return ((at.image * job.tilesAcross + at.tileX) * job.channels + at.firstChannel + at.channel) * job.height + y;
}

#endif
