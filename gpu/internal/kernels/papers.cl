// The published algorithms of package papers, each as its authors describe it. The includer defines ELEMENT (f32, f64, u32
// or f32x4), the type of pixels and sums, FOUR if that is a vector, and GROUP, which is 256.
//
// Arrays have no gaps between rows.

#ifdef FOUR
#define ADD(a, b) ADD4(a, b)
#define ZERO ZERO4
#else
#define ADD(a, b) ((a) + (b))
#define ZERO ((ELEMENT)0)
#endif

// transpose is Bilgic's, section IV.C, after NVIDIA's example: a block reads a 16×16 tile row by
// row, exchanges it in shared memory, and writes it row by row. Rows of shared memory are padded by
// one, so that the values of a column are in different banks. 1 read and 1 write.
KERNEL(PASTE2(papers_transpose, ELEMENT))(GLOBAL const ELEMENT *RESTRICT in, GLOBAL ELEMENT *RESTRICT out, const i32 width, const i32 height, const i32 tilesAcross)
{
	LOCAL ELEMENT tile[TILE][TILE + 1];
	i32 x = (u32)ITEM_ID % TILE, y = (u32)ITEM_ID / TILE;
	i32 left = (i32)(GROUP_ID % (u32)tilesAcross) * TILE, top = (i32)(GROUP_ID / (u32)tilesAcross) * TILE;
	if (left + x < width && top + y < height)
		tile[y][x] = in[(i64)(top + y) * width + left + x];
	BARRIER;
	if (top + x < height && left + y < width)
		out[(i64)(left + y) * height + top + x] = tile[x][y];
}

// PADDED spreads neighbors in the tree over the banks of shared memory.
#define PADDED(i) ((i) + (i) / BANKS)

// scan is Bilgic's work-efficient scan, section IV.A: a block computes the exclusive sums of a
// segment of 2·GROUP values of a row of n, in shared memory. The up-sweep adds pairs into a tree.
// The down-sweep passes each node's value to its left child, and that value plus the left child's
// sum to its right child. The total of the segment, which the down-sweep first replaces by zero,
// goes to sums. An output row has outs values: n, or n+1 with the total last. 1 read and 1 write.
KERNEL(PASTE2(papers_scan, ELEMENT))(GLOBAL const ELEMENT *in, GLOBAL ELEMENT *out, GLOBAL ELEMENT *sums, const i32 n, const i32 outs, const i32 segments)
{
	LOCAL ELEMENT tree[PADDED(2 * GROUP)];
	i32 item = ITEM_ID, segment = (i32)(GROUP_ID % (u32)segments);
	i64 row = GROUP_ID / (u32)segments;
	i32 first = segment * 2 * GROUP, even = first + 2 * item, odd = even + 1;
	in += row * n;
	out += row * outs;

	// The last segment is padded with zeros.
	tree[PADDED(2 * item)] = even < n ? in[even] : ZERO;
	tree[PADDED(2 * item + 1)] = odd < n ? in[odd] : ZERO;
	i32 offset = 1;
	for (i32 d = GROUP; d > 0; d >>= 1) {
		BARRIER;
		if (item < d) {
			i32 a = offset * (2 * item + 1) - 1, b = offset * (2 * item + 2) - 1;
			tree[PADDED(b)] = ADD(tree[PADDED(b)], tree[PADDED(a)]);
		}
		offset *= 2;
	}
	BARRIER;
	if (item == 0) {
		ELEMENT total = tree[PADDED(2 * GROUP - 1)];
		if (segments > 1)
			sums[row * segments + segment] = total;
		if (outs > n && segment == segments - 1)
			out[n] = total;
		tree[PADDED(2 * GROUP - 1)] = ZERO;
	}
	for (i32 d = 1; d < 2 * GROUP; d *= 2) {
		offset >>= 1;
		BARRIER;
		if (item < d) {
			i32 a = offset * (2 * item + 1) - 1, b = offset * (2 * item + 2) - 1;
			ELEMENT left = tree[PADDED(a)];
			tree[PADDED(a)] = tree[PADDED(b)];
			tree[PADDED(b)] = ADD(tree[PADDED(b)], left);
		}
	}
	BARRIER;
	if (even < n)
		out[even] = tree[PADDED(2 * item)];
	if (odd < n)
		out[odd] = tree[PADDED(2 * item + 1)];
}

// increment adds to every segment but the first the total of the segments before it, which the
// scanned sums hold. Bilgic, section IV.A and figure 3. 1 read and 1 write.
KERNEL(PASTE2(papers_increment, ELEMENT))(GLOBAL ELEMENT *out, GLOBAL const ELEMENT *sums, const i32 outs, const i32 segments)
{
	i32 segment = (i32)(GROUP_ID % (u32)(segments - 1)) + 1;
	i64 row = GROUP_ID / (u32)(segments - 1);
	ELEMENT before = sums[row * segments + segment];
	out += row * outs;
	i32 first = segment * 2 * GROUP, end = segment == segments - 1 ? outs : first + 2 * GROUP;
	for (i32 i = first + ITEM_ID; i < end; i += GROUP)
		out[i] = ADD(out[i], before);
}

#ifndef FOUR

// rows has one thread per row, which computes its inclusive sums sequentially, possibly in place:
// GPUv1 of intimg, and Bertazzini's section 3.2.2. Neighboring threads access memory a row apart. 1
// read and 1 write.
ANY_GROUP_KERNEL(PASTE2(papers_rows, ELEMENT))(GLOBAL const ELEMENT *in, GLOBAL ELEMENT *out, const i32 width, const i32 rows)
{
	i64 row = (i64)GROUP_ID * ITEMS + ITEM_ID;
	if (row >= rows)
		return;
	in += row * width;
	out += row * width;
	ELEMENT sum = ZERO;
	for (i32 x = 0; x < width; x++) {
		sum = ADD(sum, in[x]);
		out[x] = sum;
	}
}

// columns has one thread per column, in place: GPUv1 of intimg. Neighboring threads access
// neighboring memory. 1 read and 1 write.
ANY_GROUP_KERNEL(PASTE2(papers_columns, ELEMENT))(GLOBAL ELEMENT *out, const i32 width, const i32 height)
{
	i64 x = (i64)GROUP_ID * ITEMS + ITEM_ID;
	if (x >= width)
		return;
	out += x;
	ELEMENT sum = ZERO;
	for (i32 y = 0; y < height; y++, out += width) {
		sum = ADD(sum, *out);
		*out = sum;
	}
}

#define SPAN 8 // values of a thread
#define CHUNK (GROUP * SPAN)

// prefix is GPUv2 of intimg: a block computes the inclusive sums of a row, possibly in place, and
// continues with its next row, for rowsEach rows. In each chunk of the row, a thread adds up 8
// neighbors sequentially, the block scans the threads' totals in log2(GROUP) steps, and each thread
// adds the sum before it; the total of the chunk is carried to the next. 1 read and 1 write.
KERNEL(PASTE2(papers_prefix, ELEMENT))(GLOBAL const ELEMENT *in, GLOBAL ELEMENT *out, const i32 width, const i32 height, const i32 rowsEach)
{
	LOCAL ELEMENT values[PADDED(CHUNK)];
	LOCAL ELEMENT totals[2][GROUP];
	i32 item = ITEM_ID;
	i64 start = (i64)GROUP_ID * rowsEach, stop = start + rowsEach < height ? start + rowsEach : height;
	for (i64 row = start; row < stop; row++) {
		ELEMENT carry = ZERO;
		for (i32 first = 0; first < width; first += CHUNK) {
			GLOBAL const ELEMENT *from = in + row * width + first;
			GLOBAL ELEMENT *to = out + row * width + first;
			i32 count = width - first < CHUNK ? width - first : CHUNK;
			for (i32 i = 0; i < CHUNK; i += GROUP) // neighboring threads read neighbors
				values[PADDED(i + item)] = i + item < count ? from[i + item] : ZERO;
			BARRIER;
			ELEMENT sum = ZERO;
			for (i32 i = 0; i < SPAN; i++) {
				sum = ADD(sum, values[PADDED(item * SPAN + i)]);
				values[PADDED(item * SPAN + i)] = sum;
			}
			totals[0][item] = sum;
			BARRIER;
			i32 side = 0;
			for (i32 d = 1; d < GROUP; d *= 2) {
				totals[1 - side][item] = item >= d ? ADD(totals[side][item - d], totals[side][item]) : totals[side][item];
				side = 1 - side;
				BARRIER;
			}
			ELEMENT before = item > 0 ? ADD(carry, totals[side][item - 1]) : carry;
			for (i32 i = 0; i < SPAN; i++)
				values[PADDED(item * SPAN + i)] = ADD(before, values[PADDED(item * SPAN + i)]);
			carry = ADD(carry, totals[side][GROUP - 1]);
			BARRIER;
			for (i32 i = 0; i < CHUNK; i += GROUP)
				if (i + item < count)
					to[i + item] = values[PADDED(i + item)];
			BARRIER;
		}
	}
}

#undef SPAN
#undef CHUNK
#endif

#ifdef STREAMS

// A group has up to GROUP neighbors in a row of a stream, and a row has groupsAcross groups.
#define STREAM_X ((i32)(GROUP_ID % (u32)groupsAcross) * GROUP + ITEM_ID)
#define STREAM_Y ((i32)(GROUP_ID / (u32)groupsAcross))

// stream is Messom's prefix sum kernel, section 5.2 and figure 10: to every element of a stream it
// adds the element at an offset, if there is one. 2 reads and 1 write per pass.
KERNEL(PASTE2(papers_stream, ELEMENT))(GLOBAL const f32 *RESTRICT in, GLOBAL f32 *RESTRICT out, const i32 width, const i32 height, const i32 groupsAcross, const i32 dx, const i32 dy)
{
	i32 x = STREAM_X, y = STREAM_Y;
	if (x >= width)
		return;
	i64 at = (i64)y * width + x;
	x += dx;
	y += dy;
	out[at] = x < 0 || x >= width || y < 0 ? in[at] : in[at] + in[(i64)y * width + x];
}

// SHIFTED4 returns the four pixels that are d to the left of a vector's, for d 1, 2 or a multiple
// of 4: from two neighboring vectors, or from one further away. Figure 10's kernel on float4
// accesses the vector before it only for its first pixels.
#define SHIFTED4(row, x, d) \
	((d) == 1 ? MAKE4((x) > 0 ? row[(x)-1].w : 0, row[x].x, row[x].y, row[x].z) : \
	 (d) == 2 ? MAKE4((x) > 0 ? row[(x)-1].z : 0, (x) > 0 ? row[(x)-1].w : 0, row[x].x, row[x].y) : \
	 (x) >= (d) / 4 ? row[(x) - (d) / 4] : ZERO4)

// stream4 has four neighboring pixels in each element. width counts elements.
KERNEL(PASTE2(papers_stream4, ELEMENT))(GLOBAL const f32x4 *RESTRICT in, GLOBAL f32x4 *RESTRICT out, const i32 width, const i32 height, const i32 groupsAcross, const i32 left, const i32 up)
{
	i32 x = STREAM_X, y = STREAM_Y;
	if (x >= width)
		return;
	i64 at = (i64)y * width + x;
	f32x4 other = ZERO4;
	if (left > 0) {
		GLOBAL const f32x4 *row = in + (i64)y * width;
		other = SHIFTED4(row, x, left);
	} else if (y >= up)
		other = in[at - (i64)up * width];
	out[at] = ADD4(in[at], other);
}

// stream8 has eight streams of such elements, and a thread writes to all of them. Row y of the
// image is row y/8 of stream y%8. height counts the rows of a stream.
KERNEL(PASTE2(papers_stream8, ELEMENT))(GLOBAL const f32x4 *RESTRICT in, GLOBAL f32x4 *RESTRICT out, const i32 width, const i32 height, const i32 groupsAcross, const i32 left, const i32 up)
{
	i32 x = STREAM_X, y = STREAM_Y;
	if (x >= width)
		return;
	i64 at = (i64)y * width + x, stream = (i64)width * height;
	if (left > 0) {
		for (i32 k = 0; k < 8; k++) {
			GLOBAL const f32x4 *row = in + k * stream + (i64)y * width;
			f32x4 other = SHIFTED4(row, x, left);
			out[k * stream + at] = ADD4(row[x], other);
		}
		return;
	}
	for (i32 k = 0; k < 8; k++) {
		i32 above = y * 8 + k - up; // in rows of the image
		f32x4 other = ZERO4;
		if (above >= 0)
			other = in[(above & 7) * stream + (i64)(above >> 3) * width + x];
		out[k * stream + at] = ADD4(in[k * stream + at], other);
	}
}

#undef SHIFTED4
#undef STREAM_X
#undef STREAM_Y
#endif

#undef PADDED
#undef ADD
#undef ZERO
#undef ELEMENT
#undef FOUR
#undef STREAMS
#undef GROUP
