// Contrast-limited adaptive histogram equalization, as in package enhance, in three launches: the levels of tiles are
// counted, then made into tables, and pixels are mapped by the tables of the four tiles around them. The includer defines
// GROUP, PIXEL, and one of COUNT, TABLES and MAP.

#ifdef __OPENCL_VERSION__
#define AS_FLOAT as_float
#define AS_WORD as_uint
#define ADD_GLOBAL(p, n) atomic_add((volatile __global u32 *)(p), (u32)(n))
#define FUSED(a, b, c) fma(a, b, c)
#else
#define AS_FLOAT __uint_as_float
#define AS_WORD __float_as_uint
#define ADD_GLOBAL(p, n) atomicAdd(p, (u32)(n))
#define FUSED(a, b, c) __fmaf_rn(a, b, c)
#endif

#define MAGIC 12582912.0f // 1.5·2^23, whose sum with a small number has an integer, rounded to even, in its low bits

#ifdef COUNT

#define EACH 16     // pixels that a work-item reads at a time
#define STEPS 15    // times that it does so before its counts, which are bytes, are added up

// The pixels of a work-item, and a bit for each that counts.
typedef struct {
	u64 words[EACH * sizeof(PIXEL) / 8];
	u32 valid;
} Some;

FUNCTION u32 level(const Some p, i32 i)
{
	const i32 each = 8 / (i32)sizeof(PIXEL);
	return (PIXEL)(p.words[i / each] >> (8 * (i32)sizeof(PIXEL) * (i % each)));
}

// some reads pixels of a row from column x on, of which those in [from, to) count. Tiles may extend beyond the image.
FUNCTION Some some(const CLAHE job, GLOBAL const PIXEL *row, i32 x, i32 from, i32 to, i32 channel)
{
	Some p;
	const i32 each = 8 / (i32)sizeof(PIXEL);
	if (job.inAligned && x >= from && x + EACH <= to && x + EACH <= job.width) {
		UNROLL
		for (i32 k = 0; k < EACH / each; k++)
			p.words[k] = ((GLOBAL const u64 *)(row + x))[k];
		p.valid = (1u << EACH) - 1;
		return p;
	}
	p.valid = 0;
	UNROLL
	for (i32 k = 0; k < EACH / each; k++) {
		p.words[k] = 0;
		for (i32 i = 0; i < each; i++) {
			const i32 at = x + k * each + i;
			if (at < from || at >= to)
				continue;
			p.valid |= 1u << (k * each + i);
			p.words[k] |= (u64)row[(i64)index_of(at, job.width, REFLECT101) * job.channels + channel] << (8 * (i32)sizeof(PIXEL) * i);
		}
	}
	return p;
}

// Bytes are counted in local memory, in counters of each work-item that are added up before they overflow; 16 bits in global
// memory.
KERNEL(PASTE2(clahe_count, PIXEL))(const CLAHE job, GLOBAL const u8 *RESTRICT in, GLOBAL u8 *space)
{
	const i32 item = ITEM_ID, tiles = job.across * job.down;
	u32 group = GROUP_ID;
	const i32 part = (i32)(group % (u32)job.parts);
	group /= (u32)job.parts;
	const i64 place = group; // of the tile among those of all channels and images
	const i32 tile = (i32)(group % (u32)tiles);
	group /= (u32)tiles;
	const i32 channel = (i32)(group % (u32)job.channels);
	in += job.inStart + (i64)(group / (u32)job.channels) * job.inDistance;
	const i32 from = tile % job.across * job.tileWidth, to = from + job.tileWidth, y0 = tile / job.across * job.tileHeight + part * job.partRows;
	const i32 left = job.tileHeight - part * job.partRows, rows = left < job.partRows ? left : job.partRows;
	const u32 chunks = (u32)((to + EACH - 1) / EACH - from / EACH); // of a row
	const u32 all = chunks * (u32)(rows > 0 ? rows : 0);
	GLOBAL u32 *counts = (GLOBAL u32 *)space;
#define SOME(index) some(job, (GLOBAL const PIXEL *)(in + index_of(y0 + (i32)((index) / chunks), job.height, REFLECT101) * job.inStride), \
		(from / EACH + (i32)((index) % chunks)) * EACH, from, to, channel)
#ifdef LOCAL_COUNTS
	LOCAL u32 counters[COUNTERS * GROUP];
	const i32 word = item % COUNTERS, side = item / COUNTERS;
	u32 total[4] = {0, 0, 0, 0};
	Some next = {{0}, 0};
	if ((u32)item < all)
		next = SOME((u32)item);
	for (u32 base = 0; base < all; base += STEPS * GROUP) {
		for (i32 w = 0; w < COUNTERS; w++)
			counters[w * GROUP + item] = 0;
		for (u32 index = base + (u32)item; index < all && index < base + STEPS * GROUP; index += GROUP) {
			const Some now = next;
			if (index + GROUP < all) // the next pixels arrive while these are counted
				next = SOME(index + GROUP);
			UNROLL
			for (i32 i = 0; i < EACH; i++) {
				const u32 v = level(now, i) >> job.shift;
				if (now.valid >> i & 1)
					counters[(v >> 2) * GROUP + item] += 1u << (8 * (v & 3));
			}
		}
		BARRIER;
		u32 even = 0, odd = 0;
		for (i32 k = 0; k < COUNTERS; k++) { // each work-item begins with another, in another bank
			const u32 v = counters[word * GROUP + side * COUNTERS + (k + item) % COUNTERS];
			even += v & 0x00ff00ff;
			odd += v >> 8 & 0x00ff00ff;
		}
		total[0] += even & 0xffff, total[1] += odd & 0xffff, total[2] += even >> 16, total[3] += odd >> 16;
		BARRIER;
	}
	counts += ((place * job.parts + part) * (GROUP / COUNTERS) + side) * job.levels;
	UNROLL
	for (i32 i = 0; i < 4; i++)
		if (4 * word + i < job.levels)
			counts[4 * word + i] = total[i];
#else
	counts += place * job.levels;
	for (u32 index = (u32)item; index < all; index += GROUP) {
		const Some now = SOME(index);
		for (i32 i = 0; i < EACH; i++)
			if (now.valid >> i & 1)
				ADD_GLOBAL(counts + (level(now, i) >> job.shift), 1);
	}
#endif
}

#undef SOME
#undef EACH
#undef STEPS
#undef LOCAL_COUNTS
#undef COUNT
#endif

#ifdef TABLES

#define EACH 4 // levels of a work-item

// One work-group for each tile cuts the bins above the limit, distributes what they lose, and adds them up.
KERNEL(clahe_tables)(const CLAHE job, GLOBAL u8 *space)
{
	LOCAL u32 sums[2][GROUP];
	const i32 item = ITEM_ID, levels = job.levels;
	const i64 place = GROUP_ID;
	GLOBAL u32 *counts = (GLOBAL u32 *)space + place * job.histograms * levels;
	GLOBAL u16 *table = (GLOBAL u16 *)(space + job.tablesStart) + place * levels;
	const u32 limit = (u32)job.limit;
	u32 lost = 0;
	for (i32 bin = item; bin < levels; bin += GROUP) {
		u32 n = counts[bin];
		for (i32 k = 1; k < job.histograms; k++)
			n += counts[k * levels + bin];
		if (n > limit) {
			lost += n - limit;
			n = limit;
		}
		counts[bin] = n;
	}
	sums[0][item] = lost;
	BARRIER;
	for (i32 n = GROUP / 2; n > 0; n /= 2) {
		if (item < n)
			sums[0][item] += sums[0][item + n];
		BARRIER;
	}
	lost = sums[0][0];
	BARRIER;
	const u32 each = lost / (u32)levels, rest = lost % (u32)levels, step = rest > 0 && rest < (u32)levels ? (u32)levels / rest : 1;
	u32 before = 0;
	for (i32 base = 0; base < levels; base += EACH * GROUP) {
		const i32 bin = base + EACH * item;
		u32 n[EACH], sum = 0;
		UNROLL
		for (i32 i = 0; i < EACH; i++) {
			n[i] = 0;
			if (bin + i < levels)
				n[i] = counts[bin + i] + each + ((u32)(bin + i) % step == 0 && (u32)(bin + i) / step < rest ? 1 : 0);
			sum += n[i];
		}
		sums[0][item] = sum;
		BARRIER;
		i32 from = 0;
		for (i32 distance = 1; distance < GROUP; distance *= 2, from = 1 - from) {
			sums[1 - from][item] = sums[from][item] + (item >= distance ? sums[from][item - distance] : 0);
			BARRIER;
		}
		u32 all = before + sums[from][item] - sum;
		before += sums[from][GROUP - 1];
		UNROLL
		for (i32 i = 0; i < EACH; i++) {
			all += n[i];
			const f32 v = (f32)(i32)all * job.scale;
			if (bin + i < levels)
				table[bin + i] = (u16)AS_WORD(v + MAGIC);
		}
		BARRIER;
	}
}

#undef EACH
#undef TABLES
#endif

#ifdef MAP

#define EACH 4 // pixels of a work-item in a row

// position returns where a pixel is between the centers of tiles, of which one is at 0; see axis in package enhance.
FUNCTION f32 position(i32 i, f32 inverse) { return (f32)i * inverse - 0.5f; }
FUNCTION f32 beyond_floor(f32 at) { return at - floor(at); }

// first returns the first of n pixels that is not before the center of tile k.
FUNCTION i32 first(i32 k, i32 n, i32 size, f32 inverse)
{
	i64 guess = ((i64)2 * k + 1) * size / 2;
	i32 x = k < 0 ? 0 : guess > n ? n : (i32)guess;
	while (x > 0 && floor(position(x - 1, inverse)) >= (f32)k)
		x--;
	while (x < n && floor(position(x, inverse)) < (f32)k)
		x++;
	return x;
}

// A work-group maps a part of a cell: the pixels between the same tiles.
KERNEL(PASTE2(clahe_map, PIXEL))(const CLAHE job, GLOBAL const u8 *RESTRICT in, GLOBAL const u8 *RESTRICT space, GLOBAL u8 *RESTRICT out)
{
	const i32 item = ITEM_ID;
	u32 group = GROUP_ID;
	const i32 strip = (i32)(group % (u32)job.strips);
	group /= (u32)job.strips;
	const i32 column = (i32)(group % (u32)(job.across + 1));
	group /= (u32)(job.across + 1);
	const i32 band = (i32)(group % (u32)job.bands);
	group /= (u32)job.bands;
	const i32 row = (i32)(group % (u32)(job.down + 1));
	group /= (u32)(job.down + 1);
	const i32 channel = (i32)(group % (u32)job.channels);
	in += job.inStart + (i64)(group / (u32)job.channels) * job.inDistance;
	out += job.outStart + (i64)(group / (u32)job.channels) * job.outDistance;
	const i32 from = first(column - 1, job.width, job.tileWidth, job.inverseWidth);
	const i32 to = column == job.across ? job.width : first(column, job.width, job.tileWidth, job.inverseWidth);
	const i32 x = from / EACH * EACH + (strip * GROUP + item) * EACH;
	i32 y = first(row - 1, job.height, job.tileHeight, job.inverseHeight) + band * CLAHE_ROWS;
	i32 end = row == job.down ? job.height : first(row, job.height, job.tileHeight, job.inverseHeight);
	if (end - y > CLAHE_ROWS)
		end = y + CLAHE_ROWS;
	if (y >= end || from >= to || from / EACH * EACH + strip * GROUP * EACH >= to)
		return; // the whole work-group
	const i32 above = row > 0 ? row - 1 : 0, below = row < job.down ? row : job.down - 1;
	const i32 left = column > 0 ? column - 1 : 0, right = column < job.across ? column : job.across - 1;
	GLOBAL const u16 *tables = (GLOBAL const u16 *)(space + job.tablesStart) + (i64)group * job.across * job.down * job.levels;
#define TABLE(r, c) (tables + ((i64)(r) * job.across + (c)) * job.levels)
	GLOBAL const u16 *a = TABLE(above, left), *b = TABLE(above, right), *c = TABLE(below, left), *d = TABLE(below, right);
#undef TABLE
#ifdef LOCAL_TABLES
	LOCAL u32 packed[256];
	for (i32 v = item; v < 256; v += GROUP) {
		const i32 k = v >> job.shift;
		packed[v] = (u32)a[k] | (u32)b[k] << 8 | (u32)c[k] << 16 | (u32)d[k] << 24;
	}
	BARRIER;
#endif
	if (x >= to)
		return;
	f32 weight[EACH], rest[EACH]; // of the tiles to the right and to the left
	UNROLL
	for (i32 i = 0; i < EACH; i++) {
		weight[i] = beyond_floor(position(x + i, job.inverseWidth));
		rest[i] = 1 - weight[i];
	}
	const i32 whole = x >= from && x + EACH <= to;
	const i32 wideIn = job.inAligned && x + EACH <= job.width, wideOut = job.outAligned && whole;
	PIXEL now[EACH], next[EACH];
#define FETCH(y)                                                                              \
	{                                                                                         \
		GLOBAL const PIXEL *row = (GLOBAL const PIXEL *)(in + (y) * job.inStride);            \
		if (wideIn) {                                                                         \
			const WORD word = *(GLOBAL const WORD *)(row + x);                                \
			UNROLL                                                                            \
			for (i32 i = 0; i < EACH; i++)                                                    \
				next[i] = (PIXEL)(word >> (8 * (i32)sizeof(PIXEL) * i));                      \
		} else {                                                                              \
			UNROLL                                                                            \
			for (i32 i = 0; i < EACH; i++)                                                    \
				next[i] = x + i < job.width ? row[(i64)(x + i) * job.channels + channel] : 0; \
		}                                                                                     \
	}
	FETCH(y)
	for (; y < end; y++) {
		UNROLL
		for (i32 i = 0; i < EACH; i++)
			now[i] = next[i];
		if (y + 1 < end)
			FETCH(y + 1)
		const f32 down = beyond_floor(position(y, job.inverseHeight)), up = 1 - down;
		WORD result = 0;
		UNROLL
		for (i32 i = 0; i < EACH; i++) {
#ifdef LOCAL_TABLES
			// With an entry e in the low bits of the float 2^23+e, its product with a weight is one operation: (2^23+e)·w - 2^23·w
			// is rounded once.
			const u32 v = packed[now[i]];
#define ENTRY(byte, w) FUSED(AS_FLOAT(0x4b000000 | (v >> (8 * byte) & 255)), w, -8388608.0f * (w))
			const f32 top = ENTRY(0, rest[i]) + ENTRY(1, weight[i]), bottom = ENTRY(2, rest[i]) + ENTRY(3, weight[i]);
#undef ENTRY
#else
			const i32 v = now[i] >> job.shift;
			const f32 top = (f32)a[v] * rest[i] + (f32)b[v] * weight[i], bottom = (f32)c[v] * rest[i] + (f32)d[v] * weight[i];
#endif
			const f32 mixed = top * up + bottom * down;
			result |= (WORD)(PIXEL)((AS_WORD(mixed + MAGIC) & ((1u << (8 * (u32)sizeof(PIXEL))) - 1)) << job.shift) << (8 * (i32)sizeof(PIXEL) * i);
		}
		GLOBAL PIXEL *to_row = (GLOBAL PIXEL *)(out + y * job.outStride);
		if (wideOut) {
			*(GLOBAL WORD *)(to_row + x) = result;
			continue;
		}
		UNROLL
		for (i32 i = 0; i < EACH; i++)
			if (x + i >= from && x + i < to)
				to_row[(i64)(x + i) * job.channels + channel] = (PIXEL)(result >> (8 * (i32)sizeof(PIXEL) * i));
	}
}

#undef FETCH
#undef WORD
#undef EACH
#undef LOCAL_TABLES
#undef MAP
#endif

#undef AS_FLOAT
#undef AS_WORD
#undef ADD_GLOBAL
#undef FUSED
#undef MAGIC
#undef PIXEL
#undef GROUP
