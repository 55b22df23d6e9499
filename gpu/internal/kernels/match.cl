// match_scores_u8_f64 scores positions of a template, one work-item each, from exact sums of
// pixels, of their squares, and of their products with the template's pixels, all below 2^32. The
// includer defines GROUP.

#define ZNCC 0
#define NCC 1

#ifdef __OPENCL_VERSION__
FUNCTION u32 dot4(u32 a, u32 b, u32 sum)
{
	return sum + (a & 255) * (b & 255) + (a >> 8 & 255) * (b >> 8 & 255) + (a >> 16 & 255) * (b >> 16 & 255) + (a >> 24) * (b >> 24);
}
#else
FUNCTION u32 dot4(u32 a, u32 b, u32 sum) { return __dp4a(a, b, sum); }
#endif

// four returns the next pixels of a row of the template's width, with zeros after the last.
FUNCTION u32 four(GLOBAL const u8 *row, i32 left)
{
	u32 v = row[0];
	if (left > 1)
		v |= (u32)row[1] << 8;
	if (left > 2)
		v |= (u32)row[2] << 16;
	if (left > 3)
		v |= (u32)row[3] << 24;
	return v;
}

KERNEL(match_scores_u8_f64)(const Match job, GLOBAL const u8 *RESTRICT in, GLOBAL const u32 *RESTRICT pattern, GLOBAL u8 *RESTRICT out, const f64 norm)
{
	i64 item = (i64)GROUP_ID * GROUP + ITEM_ID;
	i32 x = (i32)(item % job.width);
	item /= job.width;
	i32 y = (i32)(item % job.height), w = job.templateWidth, h = job.templateHeight;
	i64 image = item / job.height;
	if (image >= job.images)
		return;
	GLOBAL const u8 *row = in + job.inStart + image * job.inDistance + y * job.inStride + x;
	i32 over = x & 3; // bytes of a word before the first pixel
	u32 both = 0, sum = 0, squares = 0;
	for (i32 j = 0; j < h; j++, row += job.inStride) {
		GLOBAL const u32 *words = (GLOBAL const u32 *)(row - over);
		u32 next = job.aligned ? words[0] : 0;
		for (i32 i = 0; i < job.words; i++) {
			i32 left = w - 4 * i;
			u32 p;
			if (job.aligned) {
				p = next >> (8 * over);
				next = over + left > 4 ? words[i + 1] : 0;
				if (over)
					p |= next << (32 - 8 * over);
				if (left < 4)
					p &= ~0u >> (32 - 8 * left);
			} else {
				p = four(row + 4 * i, left);
			}
			both = dot4(p, pattern[j * job.words + i], both);
			sum = dot4(p, 0x01010101u, sum);
			squares = dot4(p, p, squares);
		}
	}
	i64 n = (i64)w * h;
	f64 score;
	if (job.method == ZNCC) {
		u64 v = (u64)n * squares - (u64)sum * sum;
		score = v == 0 ? 0 : (f64)(n * both - (i64)sum * job.sumT) / (sqrt((f64)v) * norm);
	} else if (job.method == NCC) {
		score = squares == 0 ? 0 : (f64)both / (sqrt((f64)squares) * norm);
	} else {
		score = (f64)((i64)squares - 2 * (i64)both + job.squaresT);
	}
	if (job.method <= NCC)
		score = score > 1 ? 1 : score < -1 ? -1 : score;
	*(GLOBAL f32 *)(out + job.outStart + image * job.outDistance + y * job.outStride + x * (i64)sizeof(f32)) = (f32)score;
}

#undef ZNCC
#undef NCC
#undef GROUP
