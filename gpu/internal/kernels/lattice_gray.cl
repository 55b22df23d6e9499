// The image of a lattice for images of one channel. The includer defines PIXEL, an unsigned integer of the pixels' size,
// PIXEL_BYTES and GROUP.
//
// A work-group fills a tile in local memory and writes it row by row. A work-item has READ neighboring pixels of every line
// that it processes. Their cells move together from line to line, so the offsets from the first cell are computed once. Some
// pixels of a read may fall outside of the tile; a margin receives them and is never read.

#define CELLS 128 // of a row of a tile; small tiles let many work-groups run concurrently
#define ROWS (128 / PIXEL_BYTES)
#define READ (PIXEL_BYTES == 1 ? 8 : 16 / PIXEL_BYTES)
#define EDGE (16 / PIXEL_BYTES) // cells before each row, after the last of the row above
#define PITCH (CELLS + EDGE)
#define HALF (ROWS / 2 + READ) // rows of each part of a split lattice, and the margin
#define ACROSS 8               // work-items that share a line
#define LINES (GROUP / ACROSS) // an even number
#define AT_ONCE 4              // lines that are read before the first is placed

// For 8-bit pixels, work-items on odd lines place the second half of a read first: otherwise the
// pixels of adjacent lines would fall into the same banks.
#define FLIP (PIXEL_BYTES == 1 ? item / ACROSS % 2 * 4 : 0)

// A Raw is the result of one read.
#if PIXEL_BYTES == 1
typedef u64 Raw;
#define PART(raw, i) ((PIXEL)((raw) >> (8 * (i))))
#define FLIPPED(raw, flip) ((flip) ? (raw) >> 32 | (raw) << 32 : (raw))
#elif PIXEL_BYTES == 2
typedef struct ALIGNED(16) { u64 part[2]; } Raw;
#define PART(raw, i) ((PIXEL)((raw).part[(i) / 4] >> (16 * ((i) % 4))))
#define FLIPPED(raw, flip) (raw)
#else
typedef struct ALIGNED(16) { PIXEL part[16 / PIXEL_BYTES]; } Raw;
#define PART(raw, i) ((raw).part[i])
#define FLIPPED(raw, flip) (raw)
#endif

// PLACE returns the index of a cell in a tile. Rows and cells may be slightly outside of it.
#define PLACE(split, row, cell) \
	(EDGE + ((split) ? (((row) & 1) * HALF + ((row) >> 1) + READ / 2) * PITCH + ((cell) >> 1) : ((row) + READ) * PITCH + (cell)))

// FIRST_LINE returns the first line whose over is at least v.
#define FIRST_LINE(v) ((v) <= 0 ? 0 : (v) > job.overs ? job.height : shape[job.startsAt + (v)])

LAY_KERNEL(PASTE2(lattice_gray, PIXEL))(const Lattice job, GLOBAL const u8 *RESTRICT in, GLOBAL const i32 *RESTRICT shape, GLOBAL u8 *RESTRICT out)
{
#ifdef __OPENCL_VERSION__
	LOCAL PIXEL tile[(ROWS + 2 * READ) * PITCH + 2 * EDGE];
#else
	LOCAL Sixteen space[((ROWS + 2 * READ) * PITCH + 2 * EDGE) * PIXEL_BYTES / 16];
	PIXEL *tile = (PIXEL *)space;
#endif
	u32 number = GROUP_ID;
	i32 item = ITEM_ID;
	i32 firstCell = (i32)(number % job.tilesAcross) * CELLS, left = firstCell << job.split, right = left + (CELLS << job.split);
	number /= job.tilesAcross;
	i32 top = (i32)(number % job.tilesDown) * ROWS, bottom = top + ROWS; // of the whole lattice
	i64 image = number / job.tilesDown;
	i32 firstRow = top >> job.split, rows = ROWS >> job.split; // of each part
#ifndef __OPENCL_VERSION__
	if (!job.everywhere) {
		i32 from = shape[job.acrossAt + firstRow / REGION_ROWS * 2], to = shape[job.acrossAt + firstRow / REGION_ROWS * 2 + 1];
		if (firstCell / REGION_COLUMNS < from || firstCell / REGION_COLUMNS > to)
			return;
	}
#endif
	in += job.inStart + image * job.inDistance;
	out += job.outStart + (image << job.split) * job.outDistance + firstRow * job.outStride + (i64)firstCell * PIXEL_BYTES;

#ifdef __OPENCL_VERSION__
	for (i32 i = 0; i < (ROWS + 2 * READ) * PITCH + 2 * EDGE; i += GROUP)
		if (i + item < (ROWS + 2 * READ) * PITCH + 2 * EDGE)
			tile[i + item] = 0;
#else
	Sixteen zeros = {};
UNROLL
	for (i32 i = 0; i < sizeof space / 16; i += GROUP)
		if (i + item < sizeof space / 16)
			space[i + item] = zeros;
#endif
	BARRIER;

	// The pixels of the lines that may fall into the tile. Digital lines are straight to within
	// two pixels, and floats exact to 24 bits. m counts pixels in memory order.
	f32 t = job.tangent, scale = 1 / (1 + t * t);
	f32 first = (job.width - right + t * top) * scale, last = (job.width - left + t * bottom) * scale;
	f32 margin = 4 + (last < 0 ? -last : last) * 1e-6f + (first < 0 ? -first : first) * 1e-6f;
	i32 x = first > margin ? (i32)(first - margin) : 0;
	i32 endX = last + margin < 0 ? 0 : last + margin < job.width ? (i32)(last + margin) : job.width;
	i32 m = job.mirrored ? job.width - endX : x, endM = job.mirrored ? job.width - x : endX;
	i32 forward = job.mirrored ? 1 : -1, origin = job.mirrored ? 0 : job.width - 1; // the column of m is origin + m*forward
	i32 flip = FLIP, padded = (job.width + READ - 1) / READ * READ;
	GLOBAL const i32 *RESTRICT downs = shape + job.downsAt;
	GLOBAL const i32 *RESTRICT over = shape + job.overAt;
	for (m -= m % (4 * READ); m < endM; m += ACROSS * READ) {
		// The lines of all work-items that share them, and those of each: from where its lowest
		// pixel may enter a row of the tile until it is below, and likewise for columns.
		i32 end = m + ACROSS * READ < padded ? m + ACROSS * READ : padded;
		i32 a = downs[m], b = downs[end - 1], column = origin + (forward > 0 ? m : 1 - end) - left;
		i32 y = top - (a > b ? a : b), endY = bottom - (a < b ? a : b);
		i32 from = FIRST_LINE(1 - ACROSS * READ - column), until = FIRST_LINE(right - left - column);
		y = y > from ? y : from;
		endY = endY < until ? endY : until;

		i32 own = m + item % ACROSS * READ, outside = own >= end;
		own = outside ? m : own;
		i32 offset[READ];
UNROLL
		for (i32 n = 0; n < READ; n++)
			offset[n] = downs[own + (n ^ flip)];
		i32 down = downs[own], lastDown = downs[own + READ - 1], low = down < lastDown ? down : lastDown;
		column = origin + (forward > 0 ? own : 1 - READ - own) - left;
		from = FIRST_LINE(1 - READ - column);
		until = FIRST_LINE(right - left - column);
		from = from > top - low - READ + 1 ? from : top - low - READ + 1;
		until = outside ? 0 : until < bottom - low ? until : bottom - low;

		y += item / ACROSS;
		i32 row = down - top, cell = origin + own * forward - left; // plus y and its over
UNROLL
		for (i32 n = 0; n < READ; n++) {
			i32 beyond = offset[n] - down;
			offset[n] = job.split ? PLACE(1, row + y + beyond, cell + y + (n ^ flip) * forward) - PLACE(1, row + y, cell + y) : beyond * PITCH + (n ^ flip) * forward;
		}
		i32 count = job.width - own; // of the pixels inside the image: fewer than READ at its right edge
		GLOBAL const u8 *RESTRICT pixels = in + own * (i64)PIXEL_BYTES + y * job.inStride;
		const i64 step = LINES * job.inStride;
NO_UNROLL
		for (; y < endY; y += AT_ONCE * LINES, pixels += AT_ONCE * step) {
			Raw raw[AT_ONCE];
			i32 overs[AT_ONCE];
UNROLL
			for (i32 k = 0; k < AT_ONCE; k++)
				if (y + k * LINES >= from && y + k * LINES < until) {
					raw[k] = *(GLOBAL const Raw *)(pixels + k * step);
					overs[k] = over[y + k * LINES];
				}
UNROLL
			for (i32 k = 0; k < AT_ONCE; k++)
				if (y + k * LINES >= from && y + k * LINES < until) {
					i32 base = PLACE(job.split, row + y + k * LINES, cell + overs[k]);
					Raw now = FLIPPED(raw[k], flip);
					if (count >= READ) {
UNROLL
						for (i32 n = 0; n < READ; n++)
							tile[base + offset[n]] = PART(now, n);
					} else
UNROLL
						for (i32 n = 0; n < READ; n++)
							if ((n ^ flip) < count)
								tile[base + offset[n]] = PART(now, n);
				}
		}
	}
	BARRIER;

#ifdef __OPENCL_VERSION__
	i32 cells = job.columns - firstCell < CELLS ? job.columns - firstCell : CELLS;
	for (i32 part = 0; part <= job.split; part++)
		for (i32 row = 0; row < rows && firstRow + row < job.rows; row++)
			for (i32 cell = item; cell < cells; cell += GROUP)
				*(GLOBAL PIXEL *)(out + part * job.outDistance + row * job.outStride + cell * PIXEL_BYTES) =
					tile[EDGE + (job.split ? part * HALF + row + READ / 2 : row + READ) * PITCH + cell];
#else
	const i32 wides = CELLS * PIXEL_BYTES / 16, pitch = PITCH * PIXEL_BYTES / 16; // in units of 16 bytes
	i64 beyond = job.outStride - firstCell * (i64)PIXEL_BYTES; // from the tile's first cell to the end of the row
UNROLL
	for (i32 k = 0; k < ROWS * wides / GROUP; k++) {
		i32 row = (k * GROUP + item) / wides, at = (k * GROUP + item) % wides;
		i32 part = row >= rows, to = part ? row - rows : row;
		if (firstRow + to < job.rows && at * 16 < beyond)
			*(Sixteen *)(out + part * job.outDistance + to * job.outStride + at * 16) =
				space[1 + (job.split ? part * HALF + to + READ / 2 : to + READ) * pitch + at];
	}
#endif
}

#undef CELLS
#undef ROWS
#undef READ
#undef EDGE
#undef PITCH
#undef HALF
#undef ACROSS
#undef LINES
#undef AT_ONCE
#undef PART
#undef FLIP
#undef FLIPPED
#undef PLACE
#undef FIRST_LINE
#undef PIXEL
#undef PIXEL_BYTES
#undef GROUP
