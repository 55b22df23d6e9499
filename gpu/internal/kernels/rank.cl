// Rank filters, as in package rank: means by sums, and others by the histograms of windows. The includer defines GROUP, PIXEL,
// and one of MEAN, PERCENTILE and EQUALIZE.

#ifdef MEAN

#define EACH (8 / (i32)sizeof(PIXEL)) // pixels of a word
typedef struct {
	u64 words[RANK_COLUMNS / EACH];
} Pixels;

FUNCTION u32 pixel(const Pixels p, i32 i) { return (PIXEL)(p.words[i / EACH] >> (8 * (i32)sizeof(PIXEL) * (i % EACH))); }

// fetch reads a work-item's pixels of a row, with zeros outside of the image.
FUNCTION Pixels fetch(const Rank job, GLOBAL const u8 *image, i32 x, i32 y, i32 channel)
{
	GLOBAL const PIXEL *row = (GLOBAL const PIXEL *)(image + y * job.inStride);
	const i32 inside = y >= 0 && y < job.height;
	Pixels p;
	UNROLL
	for (i32 k = 0; k < RANK_COLUMNS / EACH; k++) {
		p.words[k] = 0;
		if (job.inAligned && x >= 0 && x + RANK_COLUMNS <= job.width) {
			if (inside)
				p.words[k] = ((GLOBAL const u64 *)(row + x))[k];
			continue;
		}
		UNROLL
		for (i32 i = 0; i < EACH; i++) {
			const i32 at = x + k * EACH + i;
			if (inside && at >= 0 && at < job.width)
				p.words[k] |= (u64)row[(i64)at * job.channels + channel] << (8 * (i32)sizeof(PIXEL) * i);
		}
	}
	return p;
}

// floor_of returns sum / n for quotients of up to 16 bits: an estimate in float32, which is at most 1 off.
FUNCTION u32 floor_of(u32 sum, u32 n, f32 inverse)
{
	u32 q = (u32)((f32)sum * inverse);
	const i32 rest = (i32)(sum - q * n);
	if (rest < 0)
		q--;
	else if ((u32)rest >= n)
		q++;
	return q;
}

// A work-group goes down a strip of columns, as in ssim.cl. Columns beside the image are zeros.
KERNEL(PASTE2(rank_mean, PIXEL))(const Rank job, GLOBAL const u8 *RESTRICT in, GLOBAL u8 *RESTRICT out)
{
	LOCAL u32 columns[RANK_COLUMNS][GROUP];
	const i32 item = ITEM_ID;
	u32 group = GROUP_ID;
	const i32 strip = (i32)(group % (u32)job.strips);
	group /= (u32)job.strips;
	const i32 channel = (i32)(group % (u32)job.channels);
	group /= (u32)job.channels;
	i32 y = (i32)(group % (u32)job.bands) * job.bandRows;
	const i64 image = group / (u32)job.bands;
	const i32 end = job.height - y < job.bandRows ? job.height : y + job.bandRows;
	const i32 x = (strip * job.stripItems + item - job.skip) * RANK_COLUMNS;
	const i32 needed = x < job.width && x > -RANK_COLUMNS;
	const i32 busy = item >= job.skip && item < job.skip + job.stripItems && x < job.width;
	const i32 whole = x >= job.left && x + RANK_COLUMNS + job.right <= job.width; // no window is clipped at the left or right
	in += job.inStart + image * job.inDistance;
	out += job.outStart + image * job.outDistance;
	u32 sums[RANK_COLUMNS];
	UNROLL
	for (i32 i = 0; i < RANK_COLUMNS; i++)
		sums[i] = 0;
	for (i32 row = y > job.up + 1 ? y - job.up - 1 : 0; needed && row < y + job.down && row < job.height; row++) {
		const Pixels p = fetch(job, in, x, row, channel);
		UNROLL
		for (i32 i = 0; i < RANK_COLUMNS; i++)
			sums[i] += pixel(p, i);
	}
	Pixels come = {{0}}, go = {{0}};
	if (needed) {
		come = fetch(job, in, x, y + job.down, channel);
		go = fetch(job, in, x, y - job.up - 1, channel);
	}
	for (; y < end; y++) {
		UNROLL
		for (i32 i = 0; i < RANK_COLUMNS; i++)
			columns[i][item] = sums[i] += pixel(come, i) - pixel(go, i);
		if (needed && y + 1 < end) { // the pixels arrive while this row is computed
			come = fetch(job, in, x, y + 1 + job.down, channel);
			go = fetch(job, in, x, y - job.up, channel);
		}
		BARRIER;
		if (busy) {
			u32 sum = 0;
			for (i32 k = -job.left; k <= job.right; k++)
				sum += columns[k & 7][item + (k >> 3)];
			const u32 rows = (u32)within(y, job.up, job.down, job.height);
			u32 n = (u32)job.area;
			f32 inverse = job.inverse;
			if (rows != (u32)(job.up + job.down + 1)) {
				n = rows * (u32)(job.left + job.right + 1);
				inverse = 1 / (f32)n;
			}
			Pixels result = {{0}};
			UNROLL
			for (i32 i = 0; i < RANK_COLUMNS; i++) {
				if (i > 0)
					sum += columns[(i + job.right) & 7][item + ((i + job.right) >> 3)] - columns[(i - job.left - 1) & 7][item + ((i - job.left - 1) >> 3)];
				if (!whole && x + i < job.width) {
					n = rows * (u32)within(x + i, job.left, job.right, job.width);
					inverse = 1 / (f32)n;
				}
				result.words[i / EACH] |= (u64)(PIXEL)floor_of(sum, n, inverse) << (8 * (i32)sizeof(PIXEL) * (i % EACH));
			}
			GLOBAL PIXEL *row = (GLOBAL PIXEL *)(out + y * job.outStride);
			UNROLL
			for (i32 k = 0; k < RANK_COLUMNS / EACH; k++) {
				if (job.outAligned && x + RANK_COLUMNS <= job.width) {
					((GLOBAL u64 *)(row + x))[k] = result.words[k];
					continue;
				}
				UNROLL
				for (i32 i = k * EACH; i < (k + 1) * EACH; i++)
					if (x + i < job.width)
						row[(i64)(x + i) * job.channels + channel] = (PIXEL)pixel(result, i);
			}
		}
		BARRIER;
	}
}

#undef EACH
#undef MEAN

#else

#ifdef PERCENTILE
#define HISTOGRAM_KERNEL rank_percentile_u8_f64
#define MORE_ARGUMENTS , const f64 fraction
#else
#define HISTOGRAM_KERNEL rank_equalize_u8
#define MORE_ARGUMENTS
#endif

#define WORDS 128 // with the counts of two levels

// Each work-item goes down a column of pixels with the histogram of the window: it counts the pixels of the row that
// enters, and takes back those of the row that leaves. Its counters are in words of its own, in a bank of their own. It
// also knows how many pixels are below a level, which moves to the next result in few steps.
KERNEL(HISTOGRAM_KERNEL)(const Rank job, GLOBAL const u8 *RESTRICT in, GLOBAL u8 *RESTRICT out MORE_ARGUMENTS)
{
	LOCAL u32 counters[WORDS * GROUP];
	const i32 columns = job.width * job.channels;
	u32 group = GROUP_ID;
	const i32 column = (i32)(group % (u32)job.strips) * GROUP + ITEM_ID;
	group /= (u32)job.strips;
	i32 y = (i32)(group % (u32)job.bands) * job.bandRows;
	const i64 image = group / (u32)job.bands;
	const i32 end = job.height - y < job.bandRows ? job.height : y + job.bandRows;
	if (column >= columns)
		return;
	const i32 x = column / job.channels;
	const i32 from = x > job.left ? x - job.left : 0, to = job.width - x > job.right ? x + job.right + 1 : job.width;
	in += job.inStart + image * job.inDistance + column % job.channels;
	out += job.outStart + image * job.outDistance + column;
	POINTER_TO_LOCAL u32 *own = counters + ITEM_ID;
	for (i32 w = 0; w < WORDS; w++)
		own[w * GROUP] = 0;
	u32 below = 0; // pixels below the level
	i32 level = 0;
#define COUNT_OF(v) (own[((v) >> 1) * GROUP] >> (16 * ((v) & 1)) & 0xffff)
#define COUNT_ROW(row, sign)                                                         \
	{                                                                                \
		GLOBAL const u8 *pixels = in + (row) * job.inStride;                         \
		for (i32 i = from; i < to; i++) {                                            \
			const i32 v = pixels[(i64)i * job.channels];                             \
			own[(v >> 1) * GROUP] sign##= 1u << (16 * (v & 1));                     \
			below sign##= v < level ? 1 : 0;                                        \
		}                                                                            \
	}
	for (i32 row = y > job.up ? y - job.up : 0; row < y + job.down && row < job.height; row++)
		COUNT_ROW(row, +)
	for (; y < end; y++) {
		if (y + job.down < job.height)
			COUNT_ROW(y + job.down, +)
		const u32 n = (u32)((to - from) * within(y, job.up, job.down, job.height));
#ifdef PERCENTILE
		u32 needed = (u32)(fraction * (f64)n) + 1; // pixels up to the result
		if (needed > n)
			needed = n;
		while (below >= needed) {
			level--;
			below -= COUNT_OF(level);
		}
		for (u32 count = COUNT_OF(level); below + count < needed; count = COUNT_OF(level)) {
			below += count;
			level++;
		}
		out[y * job.outStride] = (u8)level;
#else
		const i32 beyond = in[y * job.inStride + (i64)x * job.channels] + 1; // counts are up to the pixel itself
		while (level > beyond) {
			level--;
			below -= COUNT_OF(level);
		}
		for (; level < beyond; level++)
			below += COUNT_OF(level);
		out[y * job.outStride] = (u8)(255 * below / n);
#endif
		if (y >= job.up)
			COUNT_ROW(y - job.up, -)
	}
}

#undef COUNT_OF
#undef COUNT_ROW
#undef WORDS
#undef HISTOGRAM_KERNEL
#undef MORE_ARGUMENTS
#undef PERCENTILE
#undef EQUALIZE
#endif
#undef PIXEL
#undef GROUP
