// Boxes from rotated tables. The includer defines ACCUMULATOR, the type of the
// sums, and GROUP.

// corner is the sum of all cells up to a column and a row, either of which may be
// -1. Beside the columns that a band holds it follows from the sums of whole rows
// and columns: above and left there is no pixel yet; below and left the columns
// are complete; above and right the rows are; below and right all that is missing
// are the columns on the right, which are complete.
FUNCTION ACCUMULATOR corner(const Corners job, GLOBAL const u8 *RESTRICT table, GLOBAL const i32 *RESTRICT shape, i32 column, i32 row, i64 channel)
{
	if (column < 0 || row < 0)
		return 0;
	i32 band = row / job.bandRows, low = shape[job.lowAt + band], high = shape[job.highAt + band];
	GLOBAL const ACCUMULATOR *rows = (GLOBAL const ACCUMULATOR *)(table + job.rowsStart) + channel;
	GLOBAL const ACCUMULATOR *columns = (GLOBAL const ACCUMULATOR *)(table + job.columnsStart) + channel;
	if (column < low)
		return row <= job.leftTurn ? 0 : columns[(i64)column * job.channels];
	if (column < high) {
		i64 at = (row - band * job.bandRows) * (i64)(high - low) + column - low;
		return ((GLOBAL const ACCUMULATOR *)(table + job.start))[((GLOBAL const i64 *)shape)[job.startsAt + band] + at * job.channels + channel];
	}
	if (row <= job.rightTurn)
		return rows[(i64)row * job.channels];
	return rows[(i64)row * job.channels] - (columns[(i64)(job.columns - 1) * job.channels] - columns[(i64)column * job.channels]);
}

// lattice_boxes answers boxes, one work-item for each of their channels: the
// columns and rows c0, r0, c1, r1, clipped to the table.
KERNEL(PASTE2(lattice_boxes, ACCUMULATOR))(const Corners job, GLOBAL const u8 *RESTRICT table, GLOBAL const i32 *RESTRICT shape,
	GLOBAL const i32 *RESTRICT boxes, GLOBAL ACCUMULATOR *RESTRICT out)
{
	i64 i = (i64)GROUP_ID * GROUP + ITEM_ID;
	if (i < job.count * job.channels) {
		GLOBAL const i32 *box = boxes + i / job.channels * 4;
		i64 channel = i % job.channels;
		out[i] = corner(job, table, shape, box[2] - 1, box[3] - 1, channel) - corner(job, table, shape, box[0] - 1, box[3] - 1, channel) -
			corner(job, table, shape, box[2] - 1, box[1] - 1, channel) + corner(job, table, shape, box[0] - 1, box[1] - 1, channel);
	}
}

#undef ACCUMULATOR
#undef GROUP
