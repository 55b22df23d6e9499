// Detection by histograms of oriented gradients, in bands of windows of all scales of the images. The
// kernels resize and differentiate, vote for the histograms of blocks, normalize them, and score
// windows. The arithmetic is that of the portable loops of internal/kernel/gradients, in the same
// order, and fused only where theirs is. The includer defines GROUP and one of GRADIENTS, BLOCKS,
// NORMALIZE and SCORES, and for BLOCKS the number CHUNK of bins that are counted together.

#ifdef __OPENCL_VERSION__
// Quotients and roots of float64 are rounded correctly, and so are those that are rounded once more.
#define DIVIDE(a, b) ((f32)((f64)(a) / (f64)(b)))
#define ROOT(v) ((f32)sqrt((f64)(v)))
#define FUSED(a, b, c) fma(a, b, c)
#define ADD_GLOBAL(p, n) atomic_add((volatile __global u32 *)(p), (u32)(n))
#define ADD_LOCAL(p, n) atomic_add((volatile __local u32 *)(p), (u32)(n))
#else
#define DIVIDE(a, b) ((a) / (b))
#define ROOT(v) sqrtf(v)
#define FUSED(a, b, c) fmaf(a, b, c)
#define ADD_GLOBAL(p, n) atomicAdd(p, (u32)(n))
#define ADD_LOCAL(p, n) atomicAdd(p, (u32)(n))
#endif

// FIND finds the band that contains an item: the last whose first item is not greater.
#define FIND(bands, count, field, item)                   \
	i32 low = 0;                                          \
	for (i32 high = (count); high - low > 1;) {           \
		i32 middle = (low + high) / 2;                    \
		if ((bands)[middle].field <= (i32)(item))         \
			low = middle;                                 \
		else                                              \
			high = middle;                                \
	}                                                     \
	const HOGBand band = (bands)[low];

#ifdef GRADIENTS
// Constants of the arctangent in degrees, a polynomial in min/max of |dx| and |dy|.
#define DEGREES 57.29577951308232f
#define RADIANS 0.017453292519943295f
#define ATAN1 (0.9997878412794807f * DEGREES)
#define ATAN3 (-0.3258083974640975f * DEGREES)
#define ATAN5 (0.1555786518463281f * DEGREES)
#define ATAN7 (-0.04432655554792128f * DEGREES)

// bright interpolates a pixel from four of the image and returns its brightness. An entry of an axis
// is 512 times the position plus the fraction, in units of 1/256.
FUNCTION f32 bright(const HOG *job, GLOBAL const u8 *in, GLOBAL const f32 *roots, i32 ax, i32 ay)
{
	GLOBAL const u8 *p = in + (i64)(ay >> 9) * job->inStride + (i64)(ax >> 9) * job->channels;
	u32 px = ax & 511, py = ay & 511;
	u32 v = p[0] * (256 - px) * (256 - py);
	if (px)
		v += p[job->channels] * px * (256 - py);
	if (py) {
		p += job->inStride;
		v += p[0] * (256 - px) * py;
		if (px)
			v += p[job->channels] * px * py;
	}
	return roots[(v + (1 << 15)) >> 16];
}

// angleOf returns the angle of a gradient in degrees, from 0 to 360.
FUNCTION f32 angleOf(f32 dx, f32 dy, i32 shortChunk)
{
	f32 x = dx < 0 ? -dx : dx, y = dy < 0 ? -dy : dy;
	f32 least = x < y ? x : y, most = x < y ? y : x;
	f32 c = DIVIDE(least, most + 0x1p-52f);
	f32 s = c * c;
	f32 q = FUSED(FUSED(FUSED(s, ATAN7, ATAN5), s, ATAN3), s, ATAN1);
	f32 a = q * c;
	if (x < y)
		a = shortChunk ? FUSED(-q, c, 90.0f) : 90.0f - a;
	if (dx < 0)
		a = 180.0f - a;
	if (dy < 0)
		a = 360.0f - a;
	return a;
}

// hog_gradients_f64 divides the gradient of a pixel between a bin and the next one. Each work-item
// has one pixel.
KERNEL(hog_gradients_f64)(const HOG job, GLOBAL const u8 *RESTRICT in, GLOBAL const HOGBand *RESTRICT bands, GLOBAL const i32 *RESTRICT axes, GLOBAL const f32 *RESTRICT roots,
	GLOBAL f32 *RESTRICT first, GLOBAL f32 *RESTRICT second, GLOBAL u8 *RESTRICT bins)
{
	u32 groups = ((u32)job.pixels + GROUP - 1) / GROUP;
	i32 image = (i32)(GROUP_ID / groups), item = (i32)(GROUP_ID % groups) * GROUP + ITEM_ID;
	if (item >= job.pixels)
		return;
	FIND(bands, job.bands, pixel, item)
	i32 entries = job.latticeX * band.pitch; // of a row
	i32 row = (item - band.pixel) / entries, x = item - band.pixel - row * entries;
	if (x >= band.width)
		return;
	GLOBAL const i32 *ax = axes + band.axisX + x, *ay = axes + band.axisY + band.row + row;
	f32 best = -1, dx = 0, dy = 0;
	for (i32 color = 0; color < job.colors; color++) {
		GLOBAL const u8 *from = in + job.inStart + image * job.inDistance + job.channel[color];
		f32 h = bright(&job, from, roots, ax[2], ay[1]) - bright(&job, from, roots, ax[0], ay[1]);
		f32 v = bright(&job, from, roots, ax[1], ay[2]) - bright(&job, from, roots, ax[1], ay[0]);
		f32 size = h * h + v * v;
		if (size > best || (size == best && x >= band.last)) {
			best = size;
			dx = h;
			dy = v;
		}
	}
	f32 magnitude = ROOT(FUSED(dx, dx, dy * dy));
	f32 theta = angleOf(dx, dy, x >= band.shortFrom) * RADIANS * job.turn - 0.5f;
	i32 bin = theta < 0 ? -1 : (i32)theta;
	f32 part = theta - (f32)bin;
	if (bin < 0)
		bin += job.bins;
	else if (bin >= job.bins)
		bin -= job.bins;
	i64 at = (i64)image * job.pixels + band.pixel + (row * job.latticeX + x % job.latticeX) * band.pitch + x / job.latticeX;
	first[at] = magnitude * (1 - part);
	second[at] = magnitude * part;
	bins[at] = (u8)bin;
}
#endif

#ifdef BLOCKS
// hog_blocks_f64 adds up the votes for CHUNK bins of a cell of every block. A plane holds one number of
// all blocks. Each work-item has one block, and a column of the local histograms.
KERNEL(hog_blocks_f64)(const HOG job, GLOBAL const HOGBand *RESTRICT bands, GLOBAL const HOGCell *RESTRICT cells, GLOBAL const HOGVote *RESTRICT votes,
	GLOBAL const f32 *RESTRICT first, GLOBAL const f32 *RESTRICT second, GLOBAL const u8 *RESTRICT bins, GLOBAL f32 *RESTRICT numbers)
{
	LOCAL f32 histograms[CHUNK * GROUP];
	u32 groups = ((u32)job.blocks + GROUP - 1) / GROUP, chunks = ((u32)job.bins + CHUNK - 1) / CHUNK;
	i32 item = (i32)(GROUP_ID % groups) * GROUP + ITEM_ID;
	u32 rest = GROUP_ID / groups;
	i32 from = (i32)(rest % chunks) * CHUNK, count = job.bins - from < CHUNK ? job.bins - from : CHUNK;
	rest /= chunks;
	i32 cell = (i32)(rest % (u32)job.cells), image = (i32)(rest / (u32)job.cells);
	if (item >= job.blocks)
		return;
	FIND(bands, job.bands, block, item)
	i32 row = (item - band.block) / band.across, column = item - band.block - row * band.across;
	i64 start = (i64)image * job.pixels + band.pixel + row * job.latticeY * job.latticeX * band.pitch + column;
	POINTER_TO_LOCAL f32 *histogram = histograms + ITEM_ID;
	for (i32 k = 0; k < count; k++)
		histogram[k * GROUP] = 0;
	for (i32 i = cells[cell].first; i < cells[cell].end; i++) {
		const HOGVote vote = votes[i];
		i64 at = start + vote.part * band.pitch + vote.column;
		i32 bin = bins[at], next = bin + 1 == job.bins ? 0 : bin + 1;
		f32 a = first[at] * vote.weight, b = second[at] * vote.weight;
		bin -= from;
		next -= from;
		if (bin >= 0 && bin < count)
			histogram[bin * GROUP] += a;
		if (next >= 0 && next < count)
			histogram[next * GROUP] += b;
	}
	GLOBAL f32 *to = numbers + (i64)(cell * job.bins + from) * job.plane + (i64)image * job.blocks + item;
	for (i32 k = 0; k < count; k++)
		to[k * job.plane] = histogram[k * GROUP];
}
#endif

#ifdef NORMALIZE
FUNCTION f32 sumOfSquares(GLOBAL const f32 *block, i64 plane, i32 length)
{
	f32 lane0 = 0, lane1 = 0, lane2 = 0, lane3 = 0;
	i32 k = 0;
	for (; k < length - 3; k += 4) {
		f32 a = block[k * plane], b = block[(k + 1) * plane], c = block[(k + 2) * plane], d = block[(k + 3) * plane];
		lane0 += a * a;
		lane1 += b * b;
		lane2 += c * c;
		lane3 += d * d;
	}
	f32 sum = (lane0 + lane1) + (lane2 + lane3);
	for (; k < length; k++) {
		f32 v = block[k * plane];
		sum += v * v;
	}
	return sum;
}

// hog_normalize_f64 scales a block to length 1, limits its numbers, and scales it again. Each
// work-item has one block.
KERNEL(hog_normalize_f64)(const HOG job, GLOBAL f32 *RESTRICT numbers)
{
	i64 item = (i64)GROUP_ID * GROUP + ITEM_ID;
	if (item >= job.plane)
		return;
	GLOBAL f32 *block = numbers + item;
	f32 scale = DIVIDE(1.0f, ROOT(sumOfSquares(block, job.plane, job.length)) + job.grow);
	for (i32 k = 0; k < job.length; k++) {
		f32 v = block[k * job.plane] * scale;
		block[k * job.plane] = v < job.clip ? v : job.clip;
	}
	scale = DIVIDE(1.0f, ROOT(sumOfSquares(block, job.plane, job.length)) + 1e-3f);
	for (i32 k = 0; k < job.length; k++)
		block[k * job.plane] *= scale;
}
#endif

#ifdef SCORES
// scoreOf returns the score of the window whose first block is given.
FUNCTION f64 scoreOf(const HOG *job, GLOBAL const f32 *window, i32 across, GLOBAL const f32 *coefficients)
{
	f64 score = job->bias;
	for (i32 x = 0; x < job->across; x++) {
		for (i32 y = 0; y < job->down; y++) {
			GLOBAL const f32 *block = window + (i64)(y * job->strideY) * across + x * job->strideX;
			f32 lane0 = 0, lane1 = 0, lane2 = 0, lane3 = 0;
			i32 k = 0;
			for (; k < job->length - 3; k += 4) {
				lane0 += block[k * job->plane] * coefficients[k];
				lane1 += block[(k + 1) * job->plane] * coefficients[k + 1];
				lane2 += block[(k + 2) * job->plane] * coefficients[k + 2];
				lane3 += block[(k + 3) * job->plane] * coefficients[k + 3];
			}
			score += (f64)(lane0 + lane1) + (f64)(lane2 + lane3);
			for (; k < job->length; k++) {
				f32 product = block[k * job->plane] * coefficients[k];
				score += (f64)product;
			}
			coefficients += job->length;
		}
	}
	return score;
}

// hog_scores_f64 lists the windows whose scores suffice. Each work-item has one window.
KERNEL(hog_scores_f64)(const HOG job, GLOBAL const HOGBand *RESTRICT bands, GLOBAL const f32 *RESTRICT numbers, GLOBAL const f32 *RESTRICT coefficients,
	GLOBAL u32 *RESTRICT list, GLOBAL f64 *RESTRICT scores, GLOBAL u32 *RESTRICT count)
{
	LOCAL u32 passed, start;
	u32 item = GROUP_ID * GROUP + ITEM_ID;
	if (ITEM_ID == 0)
		passed = 0;
	BARRIER;
	f64 score = 0;
	i32 found = 0;
	if (item < (u32)job.images * (u32)job.windows) {
		i32 image = (i32)(item / (u32)job.windows), window = (i32)(item % (u32)job.windows);
		FIND(bands, job.bands, window, window)
		i32 row = (window - band.window) / band.columns, column = window - band.window - row * band.columns;
		GLOBAL const f32 *at = numbers + (i64)image * job.blocks + band.block + row * job.paceY * band.across + column * job.paceX;
		score = scoreOf(&job, at, band.across, coefficients);
		found = !(score < job.threshold);
	}
	u32 place = 0;
	if (found)
		place = ADD_LOCAL(&passed, 1);
	BARRIER;
	if (ITEM_ID == 0)
		start = passed ? ADD_GLOBAL(count, passed) : 0;
	BARRIER;
	place += start;
	if (found) {
		list[place] = item;
		scores[place] = score;
	}
}
#endif

#undef DIVIDE
#undef ROOT
#undef FUSED
#undef ADD_GLOBAL
#undef ADD_LOCAL
#undef FIND
#undef DEGREES
#undef RADIANS
#undef ATAN1
#undef ATAN3
#undef ATAN5
#undef ATAN7
#undef GRADIENTS
#undef BLOCKS
#undef NORMALIZE
#undef SCORES
#undef CHUNK
#undef GROUP
