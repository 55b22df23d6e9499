// Boxes of rotated tables. The includer defines ACCUMULATOR, the type of the sums, and GROUP.
//
// A table is valid in the pieces of its region and undefined outside, in the four corners of the lattice. To the upper left
// of the region the sum is zero; to the upper right, the sum of all rows above; to the lower left, the sum of all columns
// on the left. These are the sums at the end of a row or column of pieces. To the lower right it is the sum of the rows
// above plus that of the columns on the left, minus the total.

#define T ACCUMULATOR

// latticeInside returns an entry of the table that is not to the lower right of the region.
FUNCTION T latticeInside(const LatticeBoxes job, GLOBAL const u8 *RESTRICT table, GLOBAL const i32 *RESTRICT shape, i32 column, i32 row, i32 channel)
{
	if (column == 0 || row == 0)
		return 0;
	i32 x = (column - 1) / REGION_COLUMNS, y = (row - 1) / REGION_ROWS;
	if (x < shape[job.acrossAt + 2 * y]) {
		if (shape[job.downAt + 2 * x] > y)
			return 0;
		row = (shape[job.downAt + 2 * x + 1] + 1) * REGION_ROWS;
		row = row < job.rows ? row : job.rows;
	} else if (x > shape[job.acrossAt + 2 * y + 1]) {
		column = (shape[job.acrossAt + 2 * y + 1] + 1) * REGION_COLUMNS;
		column = column < job.columns ? column : job.columns;
	}
	return ((GLOBAL const T *)(table + job.start + row * job.stride))[(i64)column * job.channels + channel];
}

// latticeRows returns what a row of pieces adds to the sum of all rows above. latticeColumns does
// the same for a column of pieces.
FUNCTION T latticeRows(const LatticeBoxes job, GLOBAL const u8 *RESTRICT table, GLOBAL const i32 *RESTRICT shape, i32 y, i32 row, i32 channel)
{
	i32 end = (shape[job.acrossAt + 2 * y + 1] + 1) * REGION_COLUMNS;
	end = end < job.columns ? end : job.columns;
	return latticeInside(job, table, shape, end, row, channel) -
		latticeInside(job, table, shape, end, y * REGION_ROWS, channel);
}

FUNCTION T latticeColumns(const LatticeBoxes job, GLOBAL const u8 *RESTRICT table, GLOBAL const i32 *RESTRICT shape, i32 x, i32 column, i32 channel)
{
	i32 end = (shape[job.downAt + 2 * x + 1] + 1) * REGION_ROWS;
	end = end < job.rows ? end : job.rows;
	return latticeInside(job, table, shape, column, end, channel) -
		latticeInside(job, table, shape, x * REGION_COLUMNS, end, channel);
}

// lattice_edges sums whole rows and columns of pieces: for each channel, the sum above each row,
// then the total, the sum before each column, then the total. Each work-group has one channel.
KERNEL(PASTE2(lattice_edges, ACCUMULATOR))(const LatticeBoxes job, GLOBAL const u8 *RESTRICT table, GLOBAL const i32 *RESTRICT shape, GLOBAL T *RESTRICT edges)
{
	LOCAL T part[GROUP];
	i32 item = ITEM_ID, channel = GROUP_ID;
	edges += channel * ((i64)job.piecesDown + job.piecesAcross + 2);
	for (i32 columns = 0; columns < 2; columns++) {
		i32 count = columns ? job.piecesAcross : job.piecesDown;
		T sum = 0;
		for (i32 first = 0; first <= count; first += GROUP) {
			i32 i = first + item, row = (i + 1) * REGION_ROWS, column = (i + 1) * REGION_COLUMNS;
			T own = 0;
			if (i < count)
				own = columns ? latticeColumns(job, table, shape, i, column < job.columns ? column : job.columns, channel)
					: latticeRows(job, table, shape, i, row < job.rows ? row : job.rows, channel);
			part[item] = own;
			BARRIER;
			if (item == 0)
				for (i32 k = 0; k < GROUP && first + k <= count; k++) {
					edges[columns * (job.piecesDown + 1) + first + k] = sum;
					sum += part[k];
				}
			BARRIER;
		}
	}
}

// latticeEntry returns any entry of the table.
FUNCTION T latticeEntry(const LatticeBoxes job, GLOBAL const u8 *RESTRICT table, GLOBAL const i32 *RESTRICT shape, GLOBAL const T *RESTRICT edges, i32 column, i32 row, i32 channel)
{
	if (column > 0 && row > 0) {
		i32 x = (column - 1) / REGION_COLUMNS, y = (row - 1) / REGION_ROWS;
		if (x > shape[job.acrossAt + 2 * y + 1] && shape[job.downAt + 2 * x] <= y)
			return edges[y] + latticeRows(job, table, shape, y, row, channel) +
				(edges[job.piecesDown + 1 + x] + latticeColumns(job, table, shape, x, column, channel)) - edges[job.piecesDown];
	}
	return latticeInside(job, table, shape, column, row, channel);
}

// lattice_boxes sums boxes, one work-item for each of their channels. Boxes are clipped to the
// lattice: columns and rows x0, y0, x1, y1.
KERNEL(PASTE2(lattice_boxes, ACCUMULATOR))(const LatticeBoxes job, GLOBAL const u8 *RESTRICT table, GLOBAL const i32 *RESTRICT shape, GLOBAL const T *RESTRICT edges, GLOBAL const i32 *RESTRICT boxes, GLOBAL T *RESTRICT out)
{
	i64 i = (i64)GROUP_ID * GROUP + ITEM_ID;
	if (i < job.count * job.channels) {
		GLOBAL const i32 *box = boxes + i / job.channels * 4;
		i32 channel = (i32)(i % job.channels);
		edges += channel * ((i64)job.piecesDown + job.piecesAcross + 2);
		out[i] = latticeEntry(job, table, shape, edges, box[2], box[3], channel) -
			latticeEntry(job, table, shape, edges, box[0], box[3], channel) -
			latticeEntry(job, table, shape, edges, box[2], box[1], channel) +
			latticeEntry(job, table, shape, edges, box[0], box[1], channel);
	}
}

// latticePut writes the sum of all cells in the first columns and rows of the whole lattice.
FUNCTION void latticePut(const LatticeBoxes job, const LatticeLines lines, GLOBAL const u8 *RESTRICT table, GLOBAL const i32 *RESTRICT shape, GLOBAL const T *RESTRICT edges, i32 columns, i32 rows, i32 channel, GLOBAL T *out)
{
	if (lines.split) {
		columns = (columns - lines.oddColumns + 1) / 2;
		rows = (rows - lines.oddRows + 1) / 2;
	}
	edges += channel * ((i64)job.piecesDown + job.piecesAcross + 2);
	T sum = latticeEntry(job, table, shape, edges, columns, rows, channel);
	*out = lines.accumulate ? *out + sum : sum;
}

// lattice_lines writes the entries of a table on the host, one work-item for each channel of a pixel, row or column:
//
//   - corners: the sums up to the cell of every pixel, line by line as in the image;
//   - empty: the sums up to the cell above the first pixel of every run, in each line that moves to the next column;
//   - ends: the sums up to the end of every row of the lattice, and then of every column from the last on.
//
// A split lattice takes a launch for each part, of which the second adds to the first.
KERNEL(PASTE2(lattice_lines, ACCUMULATOR))(const LatticeBoxes job, const LatticeLines lines, GLOBAL const u8 *RESTRICT table, GLOBAL const i32 *RESTRICT shape, GLOBAL const T *RESTRICT edges, GLOBAL u8 *RESTRICT corners, GLOBAL u8 *RESTRICT empty, GLOBAL T *RESTRICT ends)
{
	i32 channels = (i32)job.channels, values = lines.width * channels, across = (values + GROUP - 1) / GROUP;
	i64 group = GROUP_ID, ofLines = (i64)lines.height * across;
	if (group >= ofLines) {
		i64 i = (group - ofLines) * GROUP + ITEM_ID;
		i32 end = (i32)(i / channels), channel = (i32)(i % channels);
		if (end < lines.rows)
			latticePut(job, lines, table, shape, edges, lines.columns, end + 1, channel, ends + i);
		else if (end < lines.rows + lines.columns)
			latticePut(job, lines, table, shape, edges, lines.columns - (end - lines.rows), lines.rows, channel, ends + i);
		return;
	}
	i32 y = (i32)(group / across), value = (i32)(group % across) * GROUP + ITEM_ID;
	if (value >= values)
		return;
	i32 m = value / channels, channel = value % channels;
	i32 down = shape[lines.downsAt + m], over = shape[lines.overAt + y];
	i32 columns = (lines.mirrored ? m : lines.width - 1 - m) + over + 1, rows = y + down + 1;
	latticePut(job, lines, table, shape, edges, columns, rows, channel, (GLOBAL T *)(corners + y * lines.cornersStride) + value);
	if (lines.emptyStride == 0 || y == 0 || shape[lines.overAt + y - 1] == over)
		return;
	i32 before = lines.mirrored ? m + 1 : m - 1;
	if (before < 0 || before == lines.width || shape[lines.downsAt + before] != down) {
		i32 run = lines.mirrored ? lines.runs - 1 - down : down;
		latticePut(job, lines, table, shape, edges, columns, rows - 1, channel, (GLOBAL T *)(empty + (over - 1) * lines.emptyStride) + (i64)run * channels + channel);
	}
}

#undef T
#undef ACCUMULATOR
#undef GROUP
