// These kernels compute the image of a lattice, which holds the pixels in their cells and zeros
// elsewhere. It is then summed like any image. The includer defines PIXEL, an unsigned integer of
// the pixels' size, PIXEL_BYTES and GROUP.
//
// A work-group fills a tile in local memory, line by line of the image, and writes it row by row,
// so that both reads and writes access neighboring memory.
//
// At 45° every other cell is empty: those in even columns in one row, those in odd columns in the
// next. The lattice is then split into one of its even rows and one of its odd rows, each without
// its empty columns and thus a quarter of the size.

#define VALUES 256 // of a row of a tile
#define ROWS (64 / PIXEL_BYTES)
#define PITCH (VALUES + 16 / PIXEL_BYTES)
#define SHARE (GROUP < 32 ? GROUP : 32) // work-items that share a line
#define AT_ONCE 4                       // concurrent reads

// PLACE returns the index of a cell in a tile.
#define PLACE(split, row, cell, tileChannels) ((split) ? (((row) & 1) * (ROWS / 2) + (row) / 2) * PITCH + (cell) / 2 * (tileChannels) : (row) * PITCH + (cell) * (tileChannels))

LAY_KERNEL(PASTE2(lattice_lay, PIXEL))(const Lattice job, GLOBAL const u8 *RESTRICT in, GLOBAL const i32 *RESTRICT shape, GLOBAL u8 *RESTRICT out)
{
#ifdef __OPENCL_VERSION__
	LOCAL PIXEL tile[ROWS * PITCH];
#else
	LOCAL Sixteen space[ROWS * PITCH * PIXEL_BYTES / 16];
	PIXEL *tile = (PIXEL *)space;
#endif
	LOCAL Line lines[GROUP];
	u32 number = GROUP_ID;
	i32 item = ITEM_ID, firstChannel = (i32)(number % job.channelGroups) * job.tileChannels;
	number /= job.channelGroups;
	i32 firstCell = (i32)(number % job.tilesAcross) * job.tileCells, left = firstCell << job.split, right = left + (job.tileCells << job.split);
	number /= job.tilesAcross;
	i32 top = (i32)(number % job.tilesDown) * ROWS, bottom = top + ROWS; // of the whole lattice
	i64 image = number / job.tilesDown;
	i32 tileChannels = job.tileChannels, realChannels = job.channels - firstChannel, pixelBytes = job.channels * PIXEL_BYTES;
	in += job.inStart + image * job.inDistance + firstChannel * (i64)PIXEL_BYTES;
	i32 firstRow = top >> job.split, rows = ROWS >> job.split; // of each lattice
#ifndef __OPENCL_VERSION__
	if (!job.everywhere) {
		i32 from = shape[job.acrossAt + firstRow / REGION_ROWS * 2], to = shape[job.acrossAt + firstRow / REGION_ROWS * 2 + 1];
		if (firstCell + job.tileCells <= from * REGION_COLUMNS || firstCell >= (to + 1) * REGION_COLUMNS)
			return;
	}
#endif
	out += job.outStart + (image << job.split) * job.outDistance + firstRow * job.outStride + ((i64)firstCell * job.channels + firstChannel) * PIXEL_BYTES;

#ifdef __OPENCL_VERSION__
	for (i32 i = 0; i < ROWS * PITCH; i += GROUP)
		if (i + item < ROWS * PITCH)
			tile[i + item] = 0;
#else
	Sixteen zeros = {};
	for (i32 i = item; i < ROWS * PITCH * PIXEL_BYTES / 16; i += GROUP)
		space[i] = zeros;
#endif

	// The lines that cross the tile. Digital lines are straight to within two pixels, and floats
	// exact to 24 bits.
	f32 t = job.tangent, scale = 1 / (1 + t * t);
	f32 first = (top - t * (job.width - left)) * scale, last = (bottom - t * (job.width - right)) * scale;
	f32 margin = 4 + (last < 0 ? -last : last) * 1e-6f + (first < 0 ? -first : first) * 1e-6f;
	i32 y = first > margin ? (i32)(first - margin) : 0;
	i32 end = last + margin < 0 ? 0 : last + margin < job.height ? (i32)(last + margin) : job.height;
	for (; y < end; y += GROUP) { // a single pass except in images of millions of lines
		Line own;
		i32 line = y + item, from = top - line, until = bottom - line;
		own.first = own.count = own.row = own.column = 0;
		from = from > 0 ? from : 0;
		until = until < job.runs ? until : job.runs;
		if (line < end && from < until) {
			i32 x = shape[job.edgesAt + from], endX = shape[job.edgesAt + until];
			i32 column = job.width - 1 + shape[job.overAt + line]; // of x = 0
			x = x > column - right + 1 ? x : column - right + 1;
			endX = endX < column - left + 1 ? endX : column - left + 1;
			own.first = job.mirrored ? job.width - endX : x;
			own.count = endX > x ? endX - x : 0;
			own.row = line - top;
			own.column = column - left - (job.mirrored ? job.width - 1 : 0);
		}
		lines[item] = own;
		BARRIER;
		i32 count = end - y < GROUP ? end - y : GROUP, forward = job.mirrored ? 1 : -1;
		GLOBAL const i32 *RESTRICT downs = shape + job.downsAt;
		for (i32 i = (u32)item / SHARE; i < count; i += GROUP / SHARE) {
			Line l = lines[i];
			GLOBAL const u8 *RESTRICT pixels = in + (y + i) * job.inStride;
			for (i32 value = (u32)item % SHARE; value < l.count * tileChannels; value += SHARE * AT_ONCE) {
				PIXEL v[AT_ONCE];
				i32 to[AT_ONCE];
UNROLL
				for (i32 k = 0; k < AT_ONCE; k++) {
					i32 at = value + k * SHARE, pixel = by_channels(at, job.tileChannelsInverse), channel = at - pixel * tileChannels, m = l.first + pixel;
					to[k] = -1;
					if (pixel < l.count && channel < realChannels) {
						to[k] = PLACE(job.split, l.row + downs[m], l.column + m * forward, tileChannels) + channel;
						v[k] = *(GLOBAL const PIXEL *)(pixels + m * (i64)pixelBytes + channel * PIXEL_BYTES);
					}
				}
UNROLL
				for (i32 k = 0; k < AT_ONCE; k++)
					if (to[k] >= 0)
						tile[to[k]] = v[k];
			}
		}
		BARRIER;
	}
	BARRIER;

#ifndef __OPENCL_VERSION__
	if (job.wide) {
		const i32 wides = VALUES * PIXEL_BYTES / 16, pitch = PITCH * PIXEL_BYTES / 16;
		i64 beyond = job.outStride - firstCell * (i64)job.channels * PIXEL_BYTES; // from the tile's first cell to the end of the row
UNROLL
		for (i32 k = 0; k < ROWS * wides / GROUP; k++) {
			i32 row = (k * GROUP + item) / wides, at = (k * GROUP + item) % wides;
			i32 odd = row >= rows, to = odd ? row - rows : row;
			if (firstRow + to < job.rows && at * 16 < beyond)
				*(Sixteen *)(out + odd * job.outDistance + to * job.outStride + at * 16) = space[row * pitch + at];
		}
		return;
	}
#endif
	i32 cells = job.columns - firstCell < job.tileCells ? job.columns - firstCell : job.tileCells;
	rows = job.rows - firstRow < rows ? job.rows - firstRow : rows;
	for (i32 value = item; value < cells * tileChannels; value += GROUP) {
		i32 cell = by_channels(value, job.tileChannelsInverse), channel = value - cell * tileChannels;
		GLOBAL u8 *to = out + cell * (i64)pixelBytes + channel * PIXEL_BYTES;
		if (channel < realChannels)
			for (i32 odd = 0; odd <= job.split; odd++)
				for (i32 row = 0; row < rows; row++)
					*(GLOBAL PIXEL *)(to + odd * job.outDistance + row * job.outStride) = tile[(odd * (ROWS / 2) + row) * PITCH + value];
	}
}

#undef VALUES
#undef ROWS
#undef PITCH
#undef SHARE
#undef AT_ONCE
#undef PLACE
#undef PIXEL
#undef PIXEL_BYTES
#undef GROUP
