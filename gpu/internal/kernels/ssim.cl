// The structural similarity of integer images, as in package quality. A work-group goes down a strip of columns. Each
// work-item keeps the sums of its columns over the rows of a window; for each row of results it adds the next row and
// subtracts the last. From the columns of all work-items, in local memory, it slides windows over its own. Sums are exact,
// and scores have the operations of the CPU in the same order. The includer defines GROUP, PIXEL, SQUARE (a type for the
// squares of a window) and WORD (one for products of sums), and NARROW if WORD has 32 bits; or TOTAL.

#ifdef TOTAL

// Adds BLOCK_SUMS numbers at a time, one work-item for each sum.
KERNEL(ssim_total_f64)(const SSIMTotal job, GLOBAL u8 *space)
{
	i64 item = (i64)GROUP_ID * GROUP + ITEM_ID, list = item / job.sums;
	i32 k = (i32)(item % job.sums) * BLOCK_SUMS;
	if (list >= job.lists)
		return;
	GLOBAL const f64 *in = (GLOBAL const f64 *)(space + job.inStart) + list * job.count;
	f64 sum = 0;
	for (i32 end = job.count - k < BLOCK_SUMS ? job.count : k + BLOCK_SUMS; k < end; k++)
		sum += in[k];
	((GLOBAL f64 *)(space + job.outStart))[item] = sum;
}
#undef TOTAL

#else

#ifdef NARROW
#define SSIM_KERNEL PASTE3(ssim_narrow, PIXEL, f64)
#else
#define SSIM_KERNEL PASTE3(ssim_wide, PIXEL, f64)
#endif

// Float64 from integers of 32 bits: in the low bits of a float64, which CUDA does faster than a conversion.
#ifdef __OPENCL_VERSION__
#define FROM_U32(v) ((f64)(u32)(v))
#define FROM_I32(v) ((f64)(i32)(v))
#define STORE4(to, v) *(GLOBAL float4 *)(to) = (float4)((v)[0], (v)[1], (v)[2], (v)[3])
#define SSIM_LAUNCH KERNEL
#else
#define FROM_U32(v) (__hiloint2double(0x43300000, (i32)(v)) - 4503599627370496.0)
#define FROM_I32(v) (__hiloint2double(0x43300000, (i32)(v) ^ (i32)0x80000000) - 4503601774854144.0)
#define STORE4(to, v) *(float4 *)(to) = make_float4((v)[0], (v)[1], (v)[2], (v)[3])
#define SSIM_LAUNCH(name) extern "C" __global__ void __launch_bounds__(GROUP, 4) name // four work-groups at a time on a multiprocessor
#endif

// The sums of pixels of a column or a window.
typedef struct {
	u32 x, y;
	SQUARE squares, products;
} Sums;

// The pixels of a row in a work-item's columns.
#define EACH (8 / (i32)sizeof(PIXEL)) // pixels of a word
typedef struct {
	u64 words[BLOCK_COLUMNS / EACH];
} Pixels;

FUNCTION u32 pixel(const Pixels p, i32 i) { return (PIXEL)(p.words[i / EACH] >> (8 * (i32)sizeof(PIXEL) * (i % EACH))); }

// fetch reads the pixels of a row, which may lie beside the image.
FUNCTION Pixels fetch(const SSIM job, GLOBAL const u8 *image, i64 stride, i32 x, i32 y, i32 channel)
{
	GLOBAL const PIXEL *row = (GLOBAL const PIXEL *)(image + index_of(y, job.height, REFLECT) * stride);
	Pixels p;
	UNROLL
	for (i32 k = 0; k < BLOCK_COLUMNS / EACH; k++) {
		if (job.aligned && x >= 0 && x + BLOCK_COLUMNS <= job.width) {
			p.words[k] = ((GLOBAL const u64 *)(row + x))[k];
			continue;
		}
		p.words[k] = 0;
		UNROLL
		for (i32 i = 0; i < EACH; i++)
			p.words[k] |= (u64)row[(i64)index_of(x + k * EACH + i, job.width, REFLECT) * job.channels + channel] << (8 * (i32)sizeof(PIXEL) * i);
	}
	return p;
}

// score_of returns the SSIM of a window. Numerators and denominators are multiplied by the square of the number of pixels.
FUNCTION f64 score_of(const SSIM job, Sums w)
{
	const WORD a = w.x, b = w.y, n = (WORD)job.pixels;
	const WORD twice = 2 * a * b, both = a * a + b * b;
#ifdef NARROW
	const f64 ab = FROM_U32(twice), sum = FROM_U32(both);
	const f64 covariance = FROM_I32(2 * n * w.products - twice), variances = FROM_U32(n * w.squares - both);
#else
	const f64 ab = (f64)(i64)twice, sum = (f64)(i64)both;
	const f64 covariance = (f64)(i64)(2 * n * w.products - twice), variances = (f64)(i64)(n * w.squares - both);
#endif
	const f64 top = job.factor * covariance + job.c2, bottom = job.factor * variances + job.c2;
	return ((ab + job.c1) * top) / ((sum + job.c1) * bottom);
}

SSIM_LAUNCH(SSIM_KERNEL)(const SSIM job, GLOBAL const u8 *RESTRICT a, GLOBAL const u8 *RESTRICT b, GLOBAL u8 *map, GLOBAL u8 *space)
{
	LOCAL Sums columns[BLOCK_COLUMNS][GROUP]; // a work-item's columns are apart, so that those of all are in different banks
	const i32 item = ITEM_ID, radius = job.radius;
	u32 group = GROUP_ID;
	const i32 strip = (i32)(group % (u32)job.strips);
	group /= (u32)job.strips;
	const i32 channel = (i32)(group % (u32)job.channels);
	group /= (u32)job.channels;
	const i32 band = (i32)(group % (u32)job.bands);
	const i64 image = group / (u32)job.bands;
	const i32 block = strip * job.stripItems + item - job.skip, x = block * BLOCK_COLUMNS;
	const i32 needed = x < job.width + radius && item < job.stripItems + 2 * job.skip;
	const i32 busy = item >= job.skip && item < job.skip + job.stripItems && x < job.width;
	a += job.aStart + image * job.aDistance;
	b += job.bStart + image * job.bDistance;
	map += job.mapStart + image * job.mapDistance;
	i32 y = job.from + band * job.bandRows;
	const i32 end = job.to - y < job.bandRows ? job.to : y + job.bandRows, across = (job.width + BLOCK_COLUMNS - 1) / BLOCK_COLUMNS;
	const i32 rows = (job.to - job.from + BLOCK_ROWS - 1) / BLOCK_ROWS; // of blocks
	GLOBAL f64 *blocks = (GLOBAL f64 *)(space + job.sumsStart) + (image * job.channels + channel) * rows * across + block;
	const i32 whole = x >= radius && x + BLOCK_COLUMNS <= job.width - radius; // all windows are in the image
	Sums sums[BLOCK_COLUMNS];
	f64 total = 0;
	UNROLL
	for (i32 i = 0; i < BLOCK_COLUMNS; i++)
		sums[i].x = sums[i].y = 0, sums[i].squares = sums[i].products = 0;
	// The rows of the window above the first; then each iteration adds the row after the last, and subtracts the first.
	for (i32 row = y - radius - 1; needed && row < y + radius; row++) {
		const Pixels p = fetch(job, a, job.aStride, x, row, channel), q = fetch(job, b, job.bStride, x, row, channel);
		UNROLL
		for (i32 i = 0; i < BLOCK_COLUMNS; i++) {
			const SQUARE v = pixel(p, i), w = pixel(q, i);
			sums[i].x += (u32)v, sums[i].y += (u32)w, sums[i].squares += v * v + w * w, sums[i].products += v * w;
		}
	}
	Pixels comeA = {{0}}, comeB = {{0}}, goA = {{0}}, goB = {{0}};
#define FETCH(y)                                                        \
	comeA = fetch(job, a, job.aStride, x, (y) + radius, channel);       \
	comeB = fetch(job, b, job.bStride, x, (y) + radius, channel);       \
	goA = fetch(job, a, job.aStride, x, (y) - radius - 1, channel);     \
	goB = fetch(job, b, job.bStride, x, (y) - radius - 1, channel);
	if (needed) {
		FETCH(y)
	}
	for (; y < end; y++) {
		UNROLL
		for (i32 i = 0; i < BLOCK_COLUMNS; i++) {
			const SQUARE v = pixel(comeA, i), w = pixel(comeB, i), p = pixel(goA, i), q = pixel(goB, i);
			sums[i].x += (u32)v - (u32)p, sums[i].y += (u32)w - (u32)q;
			sums[i].squares += v * v + w * w - p * p - q * q, sums[i].products += v * w - p * q;
		}
		if (needed && y + 1 < end) { // the pixels arrive while this row is computed
			FETCH(y + 1)
		}
#undef FETCH
		UNROLL
		for (i32 i = 0; i < BLOCK_COLUMNS; i++)
			columns[i][item] = sums[i];
		BARRIER;
		if (busy) {
			Sums w = {0, 0, 0, 0};
			for (i32 k = -radius; k <= radius; k++) {
				const Sums c = columns[k & 7][item + (k >> 3)];
				w.x += c.x, w.y += c.y, w.squares += c.squares, w.products += c.products;
			}
			const i32 counts = y >= radius && y < job.height - radius;
			f32 scores[BLOCK_COLUMNS];
			GLOBAL u8 *to = map + y * job.mapStride + ((i64)x * job.channels + channel) * job.mapBytes;
			UNROLL
			for (i32 i = 0; i < BLOCK_COLUMNS; i++) {
				if (i > 0) {
					const Sums c = columns[(i + radius) & 7][item + ((i + radius) >> 3)], d = columns[(i - radius - 1) & 7][item + ((i - radius - 1) >> 3)];
					w.x += c.x - d.x, w.y += c.y - d.y, w.squares += c.squares - d.squares, w.products += c.products - d.products;
				}
				const f64 score = score_of(job, w);
				if (counts && (whole || x + i >= radius && x + i < job.width - radius))
					total += score;
				scores[i] = (f32)score;
				if (job.mapBytes == 8 && x + i < job.width)
					*(GLOBAL f64 *)(to + (i64)i * job.channels * 8) = score;
			}
			if (job.mapBytes == 4) {
				if (job.mapAligned && x + BLOCK_COLUMNS <= job.width) {
					STORE4(to, scores);
					STORE4(to + 16, scores + 4);
				} else {
					UNROLL
					for (i32 i = 0; i < BLOCK_COLUMNS; i++)
						if (x + i < job.width)
							*(GLOBAL f32 *)(to + (i64)i * job.channels * 4) = scores[i];
				}
			}
			if ((y + 1) % BLOCK_ROWS == 0 || y + 1 == end) {
				blocks[(i64)((y - job.from) / BLOCK_ROWS) * across] = total;
				total = 0;
			}
		}
		BARRIER;
	}
}

#undef EACH
#undef SSIM_KERNEL
#undef FROM_U32
#undef FROM_I32
#undef STORE4
#undef SSIM_LAUNCH
#undef PIXEL
#undef SQUARE
#undef WORD
#undef NARROW
#endif
#undef GROUP
