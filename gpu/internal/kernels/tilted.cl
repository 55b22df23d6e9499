// Tilted tables in two reads and one write. The includer defines PIXEL, PIXEL_BYTES, SUM, SUM_BYTES, GROUP, and QUADS if a
// work-item has four neighboring values of one channel instead of one. Tiles are then 128 * QUADS wide.
//
// Entry (x+1, y+1) is the sum of the cone above pixel (x, y). With the sums of the diagonals that end in a pixel, one from
// each side,
//
//	falling(x, y) = falling(x-1, y-1) + p(x, y)
//	rising(x, y)  = rising(x+1, y-1) + p(x, y)
//	sum(x, y)     = sum(x, y-1) + falling(x, y) + rising(x+1, y-1)
//
// a row follows from the one above it. The image is cut into strips of rows:
//
//	tilted_totals   computes these three for the last row of each strip, as if nothing were above the strip
//	tilted_lines    propagates the diagonals from strip to strip       (diagonals.cl)
//	tilted_windows  adds their contribution to the sums of each strip  (diagonals.cl)
//	portable_carry  accumulates these sums over the strips; on CUDA, tilted_sums does both
//	tilted_finish   starts each strip from the results, and writes the table
//
// A work-group processes all rows of a strip, on a tile with STRIP extra pixels on either side: wrong values from its edges
// reach no further than that.

#ifdef QUADS
#define ADJACENT 4
#define WIDTH (128 * QUADS)
#define PIECES (WIDTH / 4 / GROUP)
#define WITH_QUADS_(kernel, quads) kernel##4x##quads
#define WITH_QUADS(kernel, quads) WITH_QUADS_(kernel, quads)
#define NAME(kernel) PASTE2(WITH_QUADS(kernel, QUADS), PASTE2(PIXEL, SUM))
#else
#define ADJACENT 1
#define PIECES (GROUP < 128 ? 256 / GROUP : 2)
#define NAME(kernel) PASTE2(kernel, PASTE2(PIXEL, SUM))
#endif
#define EDGES (PIECES * GROUP)
#if defined(QUADS) && !defined(__OPENCL_VERSION__)
#define TILTED_KERNEL(name) extern "C" __global__ void __launch_bounds__(GROUP, 16) name // 128 registers
#else
#define TILTED_KERNEL KERNEL
#endif

// A Raw holds a work-item's pixels of one piece of a row.
#if !defined(QUADS)
typedef PIXEL Raw;
#define PART(raw, i) (raw)
#elif PIXEL_BYTES == 1
typedef u32 Raw;
#define PART(raw, i) ((PIXEL)((raw) >> (8 * (i))))
#elif PIXEL_BYTES == 2
typedef u64 Raw;
#define PART(raw, i) ((PIXEL)((raw) >> (16 * (i))))
#else
typedef struct ALIGNED(16) { PIXEL part[4]; } Raw;
#define PART(raw, i) ((raw).part[i])
#endif
typedef struct ALIGNED(ADJACENT == 4 ? 16 : SUM_BYTES) { SUM part[ADJACENT]; } Sums;

// AHEAD is the number of rows read before the first is used. PoCL takes minutes to compile many
// barriers in a row.
#ifdef __OPENCL_VERSION__
#define AHEAD 1
#else
#define AHEAD (32 / PIXEL_BYTES / (ADJACENT == 4 ? PIECES : 4)) // in 32 registers
#endif

// A Share is the values of a work-item. Piece p of a quad begins GROUP*4*p pixels after x. Of the
// bits that identify the pieces, whole marks those with all four pixels, and some those with any,
// inside the image or among the tile's own.
typedef struct {
	i64 image;
	i32 strip, firstRow, rows;
	i32 low, high; // the tile's own pixels; -1 is the table's first column
#ifdef QUADS
	i32 x;
	i32 interior; // whether all pieces of all work-items are inside the image
	u32 wholeInside, someInside, wholeOwn, someOwn;
#else
	i32 x[PIECES], channel[PIECES]; // -1 if there is no such channel
#endif
} Share;

typedef struct { Sums falling[PIECES], rising[PIECES], sums[PIECES]; } State;

FUNCTION void share_of(Share *at, const Tilted job, u32 tile, i32 item, i32 strips)
{
	i32 firstChannel = (i32)(tile % job.channelGroups) * job.tileChannels;
	tile /= job.channelGroups;
	i32 tileX = tile % job.tilesAcross;
	tile /= job.tilesAcross;
	at->strip = tile % strips;
	at->image = tile / strips;
	at->firstRow = at->strip * STRIP;
	at->rows = job.height - at->firstRow < STRIP ? job.height - at->firstRow : STRIP;
	i32 start = tileX * job.tilePixels;
	at->low = tileX == 0 ? -1 : start;
	at->high = job.width - start < job.tilePixels ? job.width : start + job.tilePixels;
#ifdef QUADS
	at->x = start - STRIP + item * 4 + firstChannel; // firstChannel is 0
	at->interior = start >= STRIP && start - STRIP <= job.width - WIDTH;
	at->wholeInside = at->someInside = at->wholeOwn = at->someOwn = 0;
UNROLL
	for (i32 p = 0; p < PIECES; p++) {
		i32 x = at->x + p * GROUP * 4;
		at->wholeInside |= (u32)(x >= 0 && x + 3 < job.width) << p;
		at->someInside |= (u32)(x + 3 >= -1 && x < job.width) << p;
		at->wholeOwn |= (u32)(x >= at->low && x + 3 < at->high) << p;
		at->someOwn |= (u32)(x + 3 >= at->low && x < at->high) << p;
	}
#else
UNROLL
	for (i32 p = 0; p < PIECES; p++) {
		i32 value = p * GROUP + item, pixel = by_channels(value, job.tileChannelsInverse), channel = firstChannel + value - pixel * job.tileChannels;
		at->x[p] = start - STRIP + pixel;
		at->channel[p] = channel < job.channels ? channel : -1;
	}
#endif
}

#ifdef QUADS

// load_piece reads a work-item's pixels of a piece, the first of which is at row. Interior tiles
// need no checks.
FUNCTION Raw load_piece(GLOBAL const u8 *RESTRICT row, const Tilted job, const Share *at, i32 p, i32 interior)
{
	row += p * GROUP * 4 * PIXEL_BYTES;
	if (interior || at->wholeInside >> p & 1)
		return *(GLOBAL const Raw *)row;
	Raw raw;
	i32 x = at->x + p * GROUP * 4;
#if PIXEL_BYTES < 4
	raw = 0;
	if (at->someInside >> p & 1)
UNROLL
		for (i32 i = 0; i < 4; i++)
			if (x + i >= 0 && x + i < job.width)
				raw |= ((Raw)((GLOBAL const PIXEL *)row)[i] & ((1u << 8 * PIXEL_BYTES) - 1)) << (8 * PIXEL_BYTES * i);
#else
UNROLL
	for (i32 i = 0; i < 4; i++)
		raw.part[i] = x + i >= 0 && x + i < job.width ? ((GLOBAL const PIXEL *)row)[i] : (PIXEL)0;
#endif
	return raw;
}

// store_piece writes the tile's own values among a work-item's to a row of sums, in which its first
// is at row.
FUNCTION void store_piece(GLOBAL u8 *row, const Tilted job, const Share *at, i32 p, Sums value, i32 interior)
{
	row += p * GROUP * 4 * SUM_BYTES;
	if (at->wholeOwn >> p & 1)
		*(GLOBAL Sums *)row = value;
	else if (!interior && at->someOwn >> p & 1) {
		i32 x = at->x + p * GROUP * 4;
UNROLL
		for (i32 i = 0; i < 4; i++)
			if (x + i >= at->low && x + i < at->high)
				((GLOBAL SUM *)row)[i] = value.part[i];
	}
}

// load_carry reads such a row, including the values of neighboring tiles.
FUNCTION Sums load_carry(GLOBAL const u8 *row, const Tilted job, const Share *at, i32 p)
{
	row += p * GROUP * 4 * SUM_BYTES;
	if (at->wholeInside >> p & 1)
		return *(GLOBAL const Sums *)row;
	Sums value;
	i32 x = at->x + p * GROUP * 4;
UNROLL
	for (i32 i = 0; i < 4; i++)
		value.part[i] = x + i >= -1 && x + i < job.width ? ((GLOBAL const SUM *)row)[i] : (SUM)0;
	return value;
}

#define FIRST_PIXEL(at) ((at).x * (i64)PIXEL_BYTES)
#define FIRST_SUM(at) (((at).x + 1) * (i64)SUM_BYTES)

#else

FUNCTION Raw load_piece(GLOBAL const u8 *RESTRICT row, const Tilted job, const Share *at, i32 p, i32 interior)
{
	return at->x[p] >= 0 && at->x[p] < job.width && at->channel[p] >= 0
		? *(GLOBAL const PIXEL *)(row + ((i64)at->x[p] * job.channels + at->channel[p]) * PIXEL_BYTES) : (PIXEL)0;
}

FUNCTION void store_piece(GLOBAL u8 *row, const Tilted job, const Share *at, i32 p, Sums value, i32 interior)
{
	if (at->x[p] >= at->low && at->x[p] < at->high && at->channel[p] >= 0)
		*(GLOBAL SUM *)(row + ((i64)(at->x[p] + 1) * job.channels + at->channel[p]) * SUM_BYTES) = value.part[0];
}

FUNCTION Sums load_carry(GLOBAL const u8 *row, const Tilted job, const Share *at, i32 p)
{
	Sums value;
	value.part[0] = at->x[p] >= -1 && at->x[p] < job.width && at->channel[p] >= 0
		? *(GLOBAL const SUM *)(row + ((i64)(at->x[p] + 1) * job.channels + at->channel[p]) * SUM_BYTES) : (SUM)0;
	return value;
}

#define FIRST_PIXEL(at) 0
#define FIRST_SUM(at) 0

#endif

// from_neighbours gets the diagonals that enter each piece, from the pixel to the left of its first
// and from the one to the right of its last.
#if defined(QUADS) && !defined(__OPENCL_VERSION__)
#define EDGE_SPACE(name) SUM *name = 0
#define EDGE_BUFFER(name, row) name
FUNCTION void from_neighbours(SUM *left, SUM *right, const State *s, i32 item, i32 tileChannels, SUM *edges)
{
	SUM before = 0, after = 0;
UNROLL
	for (i32 p = 0; p < PIECES; p++) {
		SUM shuffled = __shfl_sync(~0u, s->falling[p].part[3], item + 31 & 31);
		left[p] = item > 0 ? shuffled : before;
		before = shuffled;
	}
UNROLL
	for (i32 p = PIECES - 1; p >= 0; p--) {
		SUM shuffled = __shfl_sync(~0u, s->rising[p].part[0], item + 1 & 31);
		right[p] = item < 31 ? shuffled : after;
		after = shuffled;
	}
}
#else
#define EDGE_SPACE(name) LOCAL SUM name[4 * EDGES]
#define EDGE_BUFFER(name, row) (name + (row) % 2 * 2 * EDGES)
FUNCTION void from_neighbours(SUM *left, SUM *right, const State *s, i32 item, i32 tileChannels, POINTER_TO_LOCAL SUM *edges)
{
UNROLL
	for (i32 p = 0; p < PIECES; p++) {
		edges[p * GROUP + item] = s->falling[p].part[ADJACENT - 1];
		edges[EDGES + p * GROUP + item] = s->rising[p].part[0];
	}
	BARRIER; // one per row: the next row uses the other half
UNROLL
	for (i32 p = 0; p < PIECES; p++) {
		i32 at = p * GROUP + item;
		left[p] = at >= tileChannels ? edges[at - tileChannels] : 0;
		right[p] = at + tileChannels < EDGES ? edges[EDGES + at + tileChannels] : 0;
	}
}
#endif

// value returns the summand. Quads do not support squares, which would slow down everything else.
FUNCTION SUM value(PIXEL p, i32 squares)
{
	SUM v = (SUM)p;
#ifndef QUADS
	if (squares)
		v *= v;
#endif
	return v;
}

// one_row advances the state by a row.
FUNCTION void one_row(State *s, const Raw *raw, const SUM *left, const SUM *right, i32 squares)
{
UNROLL
	for (i32 p = 0; p < PIECES; p++) {
		Sums falling = s->falling[p], rising = s->rising[p];
UNROLL
		for (i32 i = 0; i < ADJACENT; i++) {
			SUM v = value(PART(raw[p], i), squares);
			SUM fromLeft = i > 0 ? falling.part[i > 0 ? i - 1 : 0] : left[p];
			SUM fromRight = i < ADJACENT - 1 ? rising.part[i < ADJACENT - 1 ? i + 1 : 0] : right[p];
			SUM down = fromLeft + v;
			s->falling[p].part[i] = down;
			s->rising[p].part[i] = fromRight + v;
			s->sums[p].part[i] += down + fromRight;
		}
	}
}

// sum_strip advances the state by the rows of a strip and, if write is set, writes them.
FUNCTION void sum_strip(State *s, const Tilted job, const Share *at, i32 item, POINTER_TO_LOCAL SUM *edges,
	GLOBAL const u8 *RESTRICT in, GLOBAL u8 *RESTRICT out, i32 write, i32 interior)
{
NO_UNROLL
	for (i32 first = 0; first < at->rows; first += AHEAD) {
		Raw raw[AHEAD * PIECES];
UNROLL
		for (i32 k = 0; k < AHEAD; k++)
UNROLL
			for (i32 p = 0; p < PIECES; p++)
				if (AHEAD == 1 || first + k < at->rows)
					raw[k * PIECES + p] = load_piece(in + k * job.inStride, job, at, p, interior);
		in += AHEAD * job.inStride;
UNROLL
		for (i32 k = 0; k < AHEAD; k++) {
			if (AHEAD > 1 && first + k >= at->rows)
				break;
			SUM left[PIECES], right[PIECES];
			from_neighbours(left, right, s, item, job.tileChannels, EDGE_BUFFER(edges, first + k));
			one_row(s, raw + k * PIECES, left, right, job.squares);
			if (write) {
				out += job.outStride;
UNROLL
				for (i32 p = 0; p < PIECES; p++)
					store_piece(out, job, at, p, s->sums[p], interior);
			}
		}
	}
}

// OpenCL has a single version: some compilers do not support barriers inside branches.
#if defined(QUADS) && !defined(__OPENCL_VERSION__)
#define SUM_STRIP(out, write) \
	if (at.interior) \
		sum_strip(&s, job, &at, item, edges, in, out, write, 1); \
	else \
		sum_strip(&s, job, &at, item, edges, in, out, write, 0)
#else
#define SUM_STRIP(out, write) sum_strip(&s, job, &at, item, edges, in, out, write, 0)
#endif

FUNCTION i64 carry_row(const Tilted job, const Share *at, i32 strip)
{
	return ((at->image * job.strips + strip) * job.carryStride + LEAD) * SUM_BYTES + FIRST_SUM(*at);
}

TILTED_KERNEL(NAME(tilted_totals))(const Tilted job, GLOBAL const u8 *RESTRICT in, GLOBAL u8 *RESTRICT carries)
{
	EDGE_SPACE(edges);
	i32 item = ITEM_ID;
	Share at;
	share_of(&at, job, GROUP_ID, item, job.strips - 1); // nothing is below the last strip
	at.rows = STRIP; // like all other strips
	State s;
UNROLL
	for (i32 p = 0; p < PIECES; p++)
UNROLL
		for (i32 i = 0; i < ADJACENT; i++)
			s.falling[p].part[i] = s.rising[p].part[i] = s.sums[p].part[i] = 0;
	in += job.inStart + at.image * job.inDistance + at.firstRow * job.inStride + FIRST_PIXEL(at);
	SUM_STRIP(carries, 0);
	carries += carry_row(job, &at, at.strip);
UNROLL
	for (i32 p = 0; p < PIECES; p++) {
		store_piece(carries + job.fallingStart, job, &at, p, s.falling[p], 0);
		store_piece(carries + job.risingStart, job, &at, p, s.rising[p], 0);
		store_piece(carries + job.sumsStart, job, &at, p, s.sums[p], 0);
	}
}

TILTED_KERNEL(NAME(tilted_finish))(const Tilted job, GLOBAL const u8 *RESTRICT in, GLOBAL const u8 *RESTRICT carries, GLOBAL u8 *RESTRICT out)
{
	EDGE_SPACE(edges);
	i32 item = ITEM_ID;
	Share at;
	share_of(&at, job, GROUP_ID, item, job.strips);
	at.strip = job.strips - 1 - at.strip; // last strips first: their pixels may still be in the cache
	at.firstRow = at.strip * STRIP;
	at.rows = job.height - at.firstRow < STRIP ? job.height - at.firstRow : STRIP;
	State s;
	out += job.outStart + at.image * job.outDistance + at.firstRow * job.outStride + FIRST_SUM(at);
	in += job.inStart + at.image * job.inDistance + at.firstRow * job.inStride + FIRST_PIXEL(at);
UNROLL
	for (i32 p = 0; p < PIECES; p++) {
UNROLL
		for (i32 i = 0; i < ADJACENT; i++)
			s.falling[p].part[i] = s.rising[p].part[i] = s.sums[p].part[i] = 0;
		if (at.strip > 0) { // the sums are those above each strip, the diagonals those of each strip's last row
			s.falling[p] = load_carry(carries + carry_row(job, &at, at.strip - 1) + job.fallingStart, job, &at, p);
			s.rising[p] = load_carry(carries + carry_row(job, &at, at.strip - 1) + job.risingStart, job, &at, p);
			s.sums[p] = load_carry(carries + carry_row(job, &at, at.strip) + job.sumsStart, job, &at, p);
		} else
			store_piece(out, job, &at, p, s.sums[p], 0);
	}
	SUM_STRIP(out, 1);
}

#undef NAME
#undef WITH_QUADS
#undef WITH_QUADS_
#undef ADJACENT
#undef WIDTH
#undef PIECES
#undef EDGES
#undef TILTED_KERNEL
#undef PART
#undef AHEAD
#undef EDGE_SPACE
#undef EDGE_BUFFER
#undef FIRST_PIXEL
#undef FIRST_SUM
#undef SUM_STRIP
#undef QUADS
#undef PIXEL
#undef PIXEL_BYTES
#undef SUM
#undef SUM_BYTES
#undef GROUP
