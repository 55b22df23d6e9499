// Non-local means of integers, as in package denoise. All sums are exact, so their order does not matter. The includer defines
// GROUP, and EXTEND; or PIXEL, ROWS (the number of results of a work-item), CHANNELS (the largest number of them) and SUM (a
// type for sums of weighted pixels).

#ifdef EXTEND

// Copies frames with what is mirrored beyond their edges, one pixel for each work-item.
KERNEL(nlm_extend)(const NLM job, GLOBAL const u8 *RESTRICT in, GLOBAL u8 *RESTRICT space)
{
	const i32 width = job.width + 2 * job.margin, height = job.height + 2 * job.margin;
	i64 item = (i64)GROUP_ID * GROUP + ITEM_ID;
	const i32 x = (i32)(item % width);
	item /= width;
	const i32 y = (i32)(item % height);
	const i64 frame = item / height;
	if (frame >= (i64)job.images * job.frames)
		return;
	GLOBAL const u8 *from = in + job.inStart + frame * job.inDistance + index_of(y - job.margin, job.height, REFLECT101) * job.inStride +
		(i64)index_of(x - job.margin, job.width, REFLECT101) * job.pixelBytes;
	GLOBAL u8 *to = space + frame * job.distance + y * job.stride + (i64)x * job.pixelBytes;
	for (i32 i = 0; i < job.pixelBytes; i++)
		to[i] = from[i];
}
#undef EXTEND

#else

#if CHANNELS == 1
#define NLM_KERNEL PASTE2(nlm_gray, PIXEL)
#else
#define NLM_KERNEL PASTE2(nlm_any, PIXEL)
#endif

// distance returns how much two pixels differ.
FUNCTION u32 distance_of(const NLM job, GLOBAL const PIXEL *a, GLOBAL const PIXEL *b)
{
	u32 sum = 0;
	UNROLL
	for (i32 c = 0; c < CHANNELS; c++)
		if (CHANNELS == 1 || c < job.channels) {
			const i32 d = (i32)a[c] - (i32)b[c];
			sum += job.absolute ? (u32)(d < 0 ? -d : d) : (u32)(d * d);
		}
	return sum;
}

// A work-item has a column of some rows of results. For each offset between patches, it sums the distances of pixels of its
// column over the height of a patch, and then those sums of its neighbors over the width.
KERNEL(NLM_KERNEL)(const NLM job, GLOBAL const u8 *RESTRICT space, GLOBAL const u32 *RESTRICT table, GLOBAL u8 *RESTRICT out)
{
	LOCAL u32 columns[ROWS][GROUP];
	const i32 item = ITEM_ID, radius = job.patch;
	u32 group = GROUP_ID;
	const i32 strip = (i32)(group % (u32)job.strips);
	group /= (u32)job.strips;
	const i32 y0 = (i32)(group % (u32)job.bands) * ROWS;
	const i64 image = group / (u32)job.bands;
	const i32 x = strip * (GROUP - 2 * radius) + item - radius;
	const i32 needed = x < job.width + radius, busy = item >= radius && item < GROUP - radius && x < job.width;
	const i32 rows = job.height - y0 < ROWS ? job.height - y0 : ROWS;
	const i64 pitch = job.stride / (i64)sizeof(PIXEL);
	const i64 at = (i64)(y0 + job.margin) * pitch + (i64)(x + job.margin) * job.channels;
	space += image * job.frames * job.distance;
	GLOBAL const PIXEL *a = (GLOBAL const PIXEL *)(space + job.index * job.distance) + at;
	SUM sums[ROWS][CHANNELS], totals[ROWS];
	UNROLL
	for (i32 i = 0; i < ROWS; i++) {
		totals[i] = 0;
		UNROLL
		for (i32 c = 0; c < CHANNELS; c++)
			sums[i][c] = 0;
	}
	for (i32 frame = 0; frame < job.frames; frame++)
		for (i32 dy = -job.search; dy <= job.search; dy++)
			for (i32 dx = -job.search; dx <= job.search; dx++) {
				GLOBAL const PIXEL *b = (GLOBAL const PIXEL *)(space + frame * job.distance) + at + dy * pitch + (i64)dx * job.channels;
				if (needed) {
					u32 sum = 0;
					for (i32 k = -radius; k < radius; k++)
						sum += distance_of(job, a + k * pitch, b + k * pitch);
					UNROLL
					for (i32 i = 0; i < ROWS; i++) {
						if (i >= rows)
							break;
						sum += distance_of(job, a + (i + radius) * pitch, b + (i + radius) * pitch);
						columns[i][item] = sum;
						sum -= distance_of(job, a + (i - radius) * pitch, b + (i - radius) * pitch);
					}
				}
				BARRIER;
				if (busy) {
					UNROLL
					for (i32 i = 0; i < ROWS; i++) {
						if (i >= rows)
							break;
						u32 sum = 0;
						for (i32 k = -radius; k <= radius; k++)
							sum += columns[i][item + k];
						sum >>= job.shift;
						const u32 weight = table[sum < (u32)job.last ? sum : (u32)job.last];
						totals[i] += weight;
						UNROLL
						for (i32 c = 0; c < CHANNELS; c++)
							if (CHANNELS == 1 || c < job.channels)
								sums[i][c] += (SUM)weight * b[i * pitch + c];
					}
				}
				BARRIER;
			}
	if (!busy)
		return;
	UNROLL
	for (i32 i = 0; i < ROWS; i++) {
		if (i >= rows)
			break;
		GLOBAL PIXEL *to = (GLOBAL PIXEL *)(out + job.outStart + image * job.outDistance + (y0 + i) * job.outStride) + (i64)x * job.channels;
		UNROLL
		for (i32 c = 0; c < CHANNELS; c++)
			if (CHANNELS == 1 || c < job.channels)
				to[c] = (PIXEL)((sums[i][c] + totals[i] / 2) / totals[i]);
	}
}

#undef NLM_KERNEL
#undef PIXEL
#undef ROWS
#undef CHANNELS
#undef SUM
#endif
#undef GROUP
