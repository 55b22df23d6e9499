// Filters in two launches, for all devices and windows. The first sums the columns of all windows,
// down a band of rows; the second slides windows along a part of a row. The includer defines PIXEL,
// SQUARE (a type for the squares of a column), GROUP, and one of COLUMNS, BOX, STATS and SAUVOLA.

#ifdef COLUMNS

KERNEL(PASTE2(filter_columns, PIXEL))(const Filter job, GLOBAL const u8 *RESTRICT in, GLOBAL u8 *RESTRICT space)
{
	i64 item = (i64)GROUP_ID * GROUP + ITEM_ID, columns = (i64)job.width * job.channels, column = item % columns;
	item /= columns;
	i32 band = (i32)(item % job.bands);
	i64 image = item / job.bands;
	if (image >= job.images)
		return;
	GLOBAL const u8 *from = in + job.inStart + image * job.inDistance + column * (i64)sizeof(PIXEL);
	i32 y = band * job.bandRows, end = job.rows - y < job.bandRows ? job.rows : y + job.bandRows;
	i64 at = (image * job.rows + y) * columns + column;
	GLOBAL u32 *sums = (GLOBAL u32 *)space;
	GLOBAL SQUARE *squares = (GLOBAL SQUARE *)(space + job.squaresStart);
	y += job.firstRow;
	end += job.firstRow;
	u32 sum = 0;
	SQUARE square = 0;
	for (i32 row = y - job.up; row < end + job.down; row++) {
		i32 r = index_of(row, job.height, job.border);
		u32 p = r == OUTSIDE ? (u32)job.value : *(GLOBAL const PIXEL *)(from + r * job.inStride);
		sum += p;
		square += (SQUARE)p * p;
		if (row < y + job.down)
			continue;
		sums[at] = sum;
		if (job.wantSquares)
			squares[at] = square;
		at += columns;
		r = index_of(row - job.down - job.up, job.height, job.border);
		p = r == OUTSIDE ? (u32)job.value : *(GLOBAL const PIXEL *)(from + r * job.inStride);
		sum -= p;
		square -= (SQUARE)p * p;
	}
}
#undef COLUMNS

#else

#ifdef BOX
#define ROWS_KERNEL PASTE2(filter_box, PIXEL)
#define MORE_ARGUMENTS
#elif defined(STATS)
#define ROWS_KERNEL PASTE3(filter_stats, PIXEL, f64)
#define MORE_ARGUMENTS , GLOBAL u8 *RESTRICT dev
#else
#define ROWS_KERNEL PASTE3(filter_sauvola, PIXEL, f64)
#define MORE_ARGUMENTS , const f64 k, const f64 inverseR
#endif

// Declares a function that returns a column of a row of sums, for any x. ROW is its first value of
// a channel.
#define COLUMN(type, name, of, outside)                                                        \
	FUNCTION u64 name(const Filter job, GLOBAL const type *row, i32 x)                         \
	{                                                                                          \
		x = index_of(x, job.width, job.border);                                                \
		return x == OUTSIDE ? (u64)(job.up + job.down + 1) * outside : row[(i64)x * job.channels]; \
	}
COLUMN(u32, column_sum, sums, (u64)job.value)
#ifndef BOX
COLUMN(SQUARE, column_squares, squares, (u64)job.value * job.value)
#endif
#undef COLUMN

KERNEL(ROWS_KERNEL)(const Filter job, GLOBAL const u8 *RESTRICT in, GLOBAL const u8 *RESTRICT space, GLOBAL u8 *RESTRICT out MORE_ARGUMENTS)
{
	i64 item = (i64)GROUP_ID * GROUP + ITEM_ID;
	i32 channel = (i32)(item % job.channels);
	item /= job.channels;
	i32 x = (i32)(item % job.segments) * job.segmentPixels, end = job.width - x < job.segmentPixels ? job.width : x + job.segmentPixels;
	item /= job.segments;
	i32 row = (i32)(item % job.rows), y = job.firstRow + row;
	i64 image = item / job.rows;
	if (image >= job.images)
		return;
	i64 at = (image * job.rows + row) * job.width * job.channels + channel;
	GLOBAL const u32 *sums = (GLOBAL const u32 *)space + at;
	GLOBAL u8 *to = out + job.outStart + image * job.outDistance + y * job.outStride;
	u32 down = (u32)(job.up + job.down + 1), n = (u32)(job.left + job.right + 1) * down;
	if (job.border == CLIP)
		down = (u32)within(y, job.up, job.down, job.height);
	u64 sum = 0;
	for (i32 i = x - job.left; i < x + job.right; i++)
		sum += column_sum(job, sums, i);
#ifndef BOX
	GLOBAL const SQUARE *squares = (GLOBAL const SQUARE *)(space + job.squaresStart) + at;
	u64 square = 0;
	for (i32 i = x - job.left; job.wantSquares && i < x + job.right; i++)
		square += column_squares(job, squares, i);
#endif
#ifdef STATS
	GLOBAL u8 *devTo = dev + job.devStart + image * job.devDistance + y * job.devStride;
#endif
#ifdef SAUVOLA
	GLOBAL const PIXEL *pixels = (GLOBAL const PIXEL *)(in + job.inStart + image * job.inDistance + y * job.inStride);
#endif
	for (; x < end; x++) {
		i64 place = (i64)x * job.channels + channel;
		if (job.border == CLIP)
			n = down * (u32)within(x, job.left, job.right, job.width);
		sum += column_sum(job, sums, x + job.right);
#ifdef BOX
		((GLOBAL PIXEL *)to)[place] = (PIXEL)rounded_mean(sum, n);
#else
		if (job.wantSquares)
			square += column_squares(job, squares, x + job.right);
#endif
#ifdef STATS
		if (job.wantMean)
			((GLOBAL f32 *)to)[place] = mean_of(sum, n);
		if (job.wantSquares) {
			((GLOBAL f32 *)devTo)[place] = root_of(variance_of(sum, square, n, sizeof(PIXEL) == 1));
			square -= column_squares(job, squares, x - job.left);
		}
#endif
#ifdef SAUVOLA
		to[place] = (u8)sauvola(pixels[place], sum, square, n, sizeof(PIXEL) == 1, k, inverseR);
		square -= column_squares(job, squares, x - job.left);
#endif
		sum -= column_sum(job, sums, x - job.left);
	}
}

#undef ROWS_KERNEL
#undef MORE_ARGUMENTS
#undef BOX
#undef STATS
#undef SAUVOLA
#endif
#undef PIXEL
#undef SQUARE
#undef GROUP
