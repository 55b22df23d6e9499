// A cascade detector on all layers of the images. It computes the tables of the layers, runs the
// first stage on all windows, drops those skipped after a rejection, and runs the other stages;
// between launches, lists hold the remaining windows. The arithmetic is that of package detect, in
// the same order, without fused operations. The includer defines GROUP and one of ROWS, COLUMNS,
// DIAGONALS, FIRST, SKIP and STAGES, and PATTERNS for local binary patterns.

#ifdef __OPENCL_VERSION__
#define AS_FLOAT as_float
#define AS_WORD as_uint
#define ADD_GLOBAL(p, n) atomic_add((volatile __global u32 *)(p), (u32)(n))
#define ADD_LOCAL(p, n) atomic_add((volatile __local u32 *)(p), (u32)(n))
#define GROUPS ((u32)get_num_groups(0))
#else
#define AS_FLOAT __uint_as_float
#define AS_WORD __float_as_uint
#define ADD_GLOBAL(p, n) atomicAdd(p, (u32)(n))
#define ADD_LOCAL(p, n) atomicAdd(p, (u32)(n))
#define GROUPS gridDim.x
#endif

// FIND finds the layer that contains an item: the last whose first item is not greater.
#define FIND(layers, count, field, item)                  \
	i32 low = 0;                                          \
	for (i32 high = (count); high - low > 1;) {           \
		i32 middle = (low + high) / 2;                    \
		if ((layers)[middle].field <= (i32)(item))        \
			low = middle;                                 \
		else                                              \
			high = middle;                                \
	}                                                     \
	const DetectLayer layer = (layers)[low];

#if defined(ROWS) || defined(DIAGONALS)
FUNCTION u32 gray(const Detect *job, GLOBAL const u8 *p, i32 x)
{
	if (job->channels == 1)
		return p[x];
	p += (i64)x * job->channels;
	return (u32)(job->red * p[0] + 19235 * p[1] + job->blue * p[2] + (1 << 14)) >> 15;
}

// pixel interpolates a layer's pixel from four of the image. An entry of an axis is 512 times the
// position plus the fraction, in units of 1/256.
FUNCTION u32 pixel(const Detect *job, const DetectLayer *layer, GLOBAL const u8 *in, GLOBAL const i32 *axes, i32 x, i32 y)
{
	i32 ax = axes[layer->axisX + x], ay = axes[layer->axisY + y];
	GLOBAL const u8 *row = in + (i64)(ay >> 9) * job->inStride;
	u32 px = ax & 511, py = ay & 511;
	u32 a = gray(job, row, ax >> 9), b = px ? gray(job, row, (ax >> 9) + 1) : 0;
	u32 top = a * (256 - px) + b * px;
	u32 bottom = 0;
	if (py) {
		row += job->inStride;
		u32 c = gray(job, row, ax >> 9), d = px ? gray(job, row, (ax >> 9) + 1) : 0;
		bottom = c * (256 - px) + d * px;
	}
	return (top * (256 - py) + bottom * py + (1 << 15)) >> 16;
}
#endif

#ifdef ROWS
#define QUAD 4 // pixels of a work-item
// detect_rows sums the rows of all layers, one work-group each.
KERNEL(detect_rows)(const Detect job, GLOBAL const u8 *RESTRICT in, GLOBAL const DetectLayer *RESTRICT layers, GLOBAL const i32 *RESTRICT axes, GLOBAL u32 *RESTRICT tables)
{
	LOCAL u32 parts[2][2 * GROUP];
	i32 image = (i32)(GROUP_ID / (u32)job.tableRows), item = (i32)(GROUP_ID % (u32)job.tableRows), i = ITEM_ID;
	FIND(layers, job.layers, tableRow, item)
	i32 y = item - layer.tableRow;
	GLOBAL u32 *sums = tables + image * job.tableDistance + layer.table + (i64)(y + 1) * layer.stride;
	GLOBAL u32 *squares = sums + job.plane;
	GLOBAL const u8 *from = in + job.inStart + image * job.inDistance;
	u32 sum = 0, square = 0; // of all preceding pixels
	if (i == 0)
		sums[0] = squares[0] = 0;
	for (i32 first = 0; first < layer.width; first += QUAD * GROUP) {
		u32 s[QUAD], q[QUAD], runS = 0, runQ = 0;
		for (i32 k = 0; k < QUAD; k++) {
			i32 x = first + QUAD * i + k;
			u32 p = x < layer.width ? pixel(&job, &layer, from, axes, x, y) : 0;
			runS += p;
			runQ += p * p;
			s[k] = runS;
			q[k] = runQ;
		}
		i32 now = 0;
		parts[0][i] = runS;
		parts[1][i] = runQ;
		for (i32 reach = 1; reach < GROUP; reach *= 2) {
			BARRIER;
			u32 a = parts[0][now + i], b = parts[1][now + i];
			if (i >= reach) {
				a += parts[0][now + i - reach];
				b += parts[1][now + i - reach];
			}
			now ^= GROUP;
			parts[0][now + i] = a;
			parts[1][now + i] = b;
		}
		BARRIER;
		u32 beforeS = sum + parts[0][now + i] - runS, beforeQ = square + parts[1][now + i] - runQ;
		sum += parts[0][now + GROUP - 1];
		square += parts[1][now + GROUP - 1];
		BARRIER;
		for (i32 k = 0; k < QUAD; k++) {
			i32 x = first + QUAD * i + k;
			if (x < layer.width) {
				sums[x + 1] = beforeS + s[k];
				squares[x + 1] = beforeQ + q[k];
			}
		}
	}
}
#endif

#ifdef COLUMNS
#define AHEAD 8 // rows that are read together
// detect_columns sums the columns of all tables, one work-item each.
KERNEL(detect_columns)(const Detect job, GLOBAL const DetectLayer *RESTRICT layers, GLOBAL u32 *RESTRICT tables)
{
	i64 item = (i64)GROUP_ID * GROUP + ITEM_ID;
	i32 column = (i32)(item % job.tableColumns);
	item /= job.tableColumns;
	i32 image = (i32)(item % job.images), kind = (i32)(item / job.images);
	if (kind >= job.kinds)
		return;
	FIND(layers, job.layers, tableColumn, column)
	GLOBAL u32 *at = tables + kind * job.plane + image * job.tableDistance + layer.table + (column - layer.tableColumn);
	*at = 0;
	u32 sum = 0;
	for (i32 y = 0; y < layer.height; y += AHEAD) {
		u32 v[AHEAD];
		for (i32 k = 0; k < AHEAD; k++)
			v[k] = y + k < layer.height ? at[(i64)(y + k + 1) * layer.stride] : 0;
		for (i32 k = 0; k < AHEAD; k++) {
			sum += v[k];
			if (y + k < layer.height)
				at[(i64)(y + k + 1) * layer.stride] = sum;
		}
	}
}
#endif

#ifdef DIAGONALS
// detect_diagonals computes what each row adds to the tilted sums, which detect_columns
// accumulates: the sums of the diagonals that end at a pixel, first those from the left, without
// the pixel, and in a second launch those from the right. Each work-item has one diagonal.
KERNEL(detect_diagonals)(const Detect job, GLOBAL const u8 *RESTRICT in, GLOBAL const DetectLayer *RESTRICT layers, GLOBAL const i32 *RESTRICT axes, GLOBAL u32 *RESTRICT tables, const i32 right)
{
	i64 item = (i64)GROUP_ID * GROUP + ITEM_ID;
	i32 all = job.tableColumns + job.tableRows, diagonal = (i32)(item % all), image = (i32)(item / all);
	if (image >= job.images)
		return;
	i32 low = 0;
	for (i32 high = job.layers; high - low > 1;) {
		i32 middle = (low + high) / 2;
		if (layers[middle].tableColumn + layers[middle].tableRow <= diagonal)
			low = middle;
		else
			high = middle;
	}
	const DetectLayer layer = layers[low];
	i32 w = layer.width, h = layer.height, d = diagonal - layer.tableColumn - layer.tableRow; // of w+1+h diagonals
	GLOBAL u32 *to = tables + 2 * job.plane + image * job.tableDistance + layer.table;
	GLOBAL const u8 *from = in + job.inStart + image * job.inDistance;
	u32 sum = 0;
	if (right) {
		i32 e = d - 1; // x+y; x is -1 to the left of the image
		for (i32 y = e - (w - 1) > 0 ? e - (w - 1) : 0; y < h && e - y >= -1; y++) {
			i32 x = e - y;
			if (x >= 0)
				sum += pixel(&job, &layer, from, axes, x, y);
			GLOBAL u32 *at = to + (i64)(y + 1) * layer.stride + x + 1;
			*at = x >= 0 ? *at + sum : sum;
		}
	} else {
		i32 e = d - h; // x-y
		for (i32 y = e < 0 ? -e : 0; y < h && e + y < w; y++) {
			u32 p = pixel(&job, &layer, from, axes, e + y, y);
			to[(i64)(y + 1) * layer.stride + e + y + 1] = sum; // including the pixel, and excluding it
			sum += p;
		}
	}
}
#endif

#if defined(FIRST) || defined(STAGES)
// A Window is a position in the tables.
typedef struct {
	GLOBAL const u32 *at;
	i32 stride;
} Window;

FUNCTION u32 entry(const Window *w, i32 corner) { return w->at[(corner >> 16) * w->stride + (corner & 0xffff)]; }

FUNCTION i32 box(const Window *w, GLOBAL const i32 *c) { return (i32)(entry(w, c[0]) - entry(w, c[1]) - entry(w, c[2]) + entry(w, c[3])); }

#ifdef PATTERNS
FUNCTION i32 goesLeft(const Detect *job, const Window *w, GLOBAL const DetectNode *n, f32 norm)
{
	u32 p[16];
	for (i32 i = 0; i < 16; i++)
		p[i] = entry(w, n->corners[i]);
#define BLOCK(i) ((i32)(p[i] - p[i + 1] - p[i + 4] + p[i + 5]))
	i32 center = BLOCK(5);
	u32 code = (u32)(BLOCK(0) >= center) << 7 | (u32)(BLOCK(1) >= center) << 6 | (u32)(BLOCK(2) >= center) << 5 | (u32)(BLOCK(6) >= center) << 4 |
		(u32)(BLOCK(10) >= center) << 3 | (u32)(BLOCK(9) >= center) << 2 | (u32)(BLOCK(8) >= center) << 1 | (u32)(BLOCK(4) >= center);
	return n->subset[code >> 5] >> (code & 31) & 1;
}
#else
FUNCTION i32 goesLeft(const Detect *job, const Window *w, GLOBAL const DetectNode *n, f32 norm)
{
	Window v = *w;
	if (n->table)
		v.at += n->table * job->plane;
	f32 value = n->weights[0] * (f32)box(&v, n->corners) + n->weights[1] * (f32)box(&v, n->corners + 4);
	if (n->boxes > 2)
		value += n->weights[2] * (f32)box(&v, n->corners + 8);
	return value * norm < n->threshold;
}
#endif

// normOf returns 1/(area·σ), or 0 if the window is flat.
FUNCTION f32 normOf(const Detect *job, const Window *w)
{
#ifdef PATTERNS
	return 1;
#else
	Window q = *w;
	q.at += job->plane;
	const i32 *c = job->normSum;
	f64 v = (f64)(i32)(entry(w, c[0]) - entry(w, c[1]) - entry(w, c[2]) + entry(w, c[3]));
	f64 s = (f64)(entry(&q, c[0]) - entry(&q, c[1]) - entry(&q, c[2]) + entry(&q, c[3]));
	f64 nf = (f64)job->area * s - v * v;
	if (!(nf > 0))
		return 0;
	f32 r = (f32)(1 / sqrt(nf));
	return r <= job->most ? r : 0;
#endif
}

// stageSum adds up the leaf values of a stage, tree by tree.
FUNCTION f64 stageSum(const Detect *job, const Window *w, GLOBAL const DetectStage *stage, GLOBAL const DetectTree *trees, GLOBAL const DetectNode *nodes, GLOBAL const f32 *leaves, f32 norm)
{
	f64 sum = 0;
	for (i32 t = stage->first; t < stage->end; t++) {
		i32 j = 0;
		do {
			GLOBAL const DetectNode *n = nodes + trees[t].node + j;
			j = goesLeft(job, w, n, norm) ? n->left : n->right;
		} while (j >= 0);
		sum += (f64)leaves[trees[t].leaf + ~j];
	}
	return sum;
}

// windowAt finds the window of a bit of the words of all images, and reports whether there is one.
FUNCTION i32 windowAt(const Detect *job, GLOBAL const DetectLayer *layers, GLOBAL const u32 *tables, u32 bit, Window *w)
{
	u32 word = bit / 32;
	i32 image = (i32)(word / (u32)job->words), item = (i32)(word % (u32)job->words);
	if (image >= job->images)
		return 0;
	FIND(layers, job->layers, word, item)
	i32 row = (item - layer.word) / layer.rowWords, x = (item - layer.word - row * layer.rowWords) * 32 + (i32)(bit % 32);
	if (x >= layer.columns)
		return 0;
	w->at = tables + image * job->tableDistance + layer.table + (i64)row * layer.step * layer.stride + (i64)x * layer.step;
	w->stride = layer.stride;
	return 1;
}
#endif

#ifdef FIRST
// The first stage sets the bits of windows that pass, and of those that are not flat, in two planes
// of the words of all images. Each work-item has one window.
#ifdef PATTERNS
KERNEL(detect_first_patterns_f64)
#else
KERNEL(detect_first_haar_f64)
#endif
(const Detect job, GLOBAL const DetectLayer *RESTRICT layers, GLOBAL const u32 *RESTRICT tables, GLOBAL const DetectStage *RESTRICT stages, GLOBAL const DetectTree *RESTRICT trees,
	GLOBAL const DetectNode *RESTRICT nodes, GLOBAL const f32 *RESTRICT leaves, GLOBAL u32 *RESTRICT words)
{
	LOCAL u32 flags[GROUP];
	i32 i = ITEM_ID;
	u32 bit = GROUP_ID * GROUP + i, all = (u32)job.images * (u32)job.words;
	Window w;
	u32 flag = 0;
	if (windowAt(&job, layers, tables, bit, &w)) {
		f32 norm = normOf(&job, &w);
		if (norm != 0)
			flag = 2 | (u32)!(stageSum(&job, &w, stages, trees, nodes, leaves, norm) < (f64)stages->threshold);
	}
	flags[i] = flag;
	BARRIER;
	if (i % 32 == 0 && bit / 32 < all) {
		u32 passed = 0, sharp = 0;
		for (i32 k = 0; k < 32; k++) {
			u32 f = flags[i + k];
			passed |= (f & 1) << k;
			sharp |= (f >> 1) << k;
		}
		words[bit / 32] = passed;
		words[all + bit / 32] = sharp;
	}
}
#endif

#ifdef SKIP
// detect_skip keeps the windows of a row that pass and are not skipped. The window after one that
// was evaluated and rejected is skipped. Each work-item has one row.
KERNEL(detect_skip)(const Detect job, GLOBAL const DetectLayer *RESTRICT layers, GLOBAL u32 *RESTRICT words)
{
	i64 item = (i64)GROUP_ID * GROUP + ITEM_ID;
	i32 row = (i32)(item % job.windowRows), image = (i32)(item / job.windowRows);
	if (image >= job.images)
		return;
	FIND(layers, job.layers, windowRow, row)
	GLOBAL u32 *at = words + (i64)image * job.words + layer.word + (i64)(row - layer.windowRow) * layer.rowWords;
	GLOBAL const u32 *sharp = at + (i64)job.images * job.words;
	u32 before = 0;
	for (i32 k = 0; k < layer.rowWords; k++) {
		i32 rest = layer.columns - 32 * k;
		u32 all = rest < 32 ? (1u << rest) - 1 : ~0u, passed = at[k];
		// This matches the function skips of package detect.
		u32 rejected = all & sharp[k] & ~passed & ~before;
		u32 follows = rejected << 1 | before;
		u32 odd = rejected & 0xaaaaaaaau & ~follows;
		u32 sum = odd + rejected;
		before = sum < odd;
		u32 skipped = (0x55555555u ^ sum << 1) & follows;
		at[k] = passed & ~skipped;
	}
}
#endif

#ifdef STAGES
// These kernels run stages of a cascade on the windows of the bits, or of a list. Windows that pass
// go to a list, or to the results. A list entry holds the bit of a window and its norm. Work-groups
// process a few windows at a time.
#ifdef PATTERNS
KERNEL(detect_stages_patterns_f64)
#else
KERNEL(detect_stages_haar_f64)
#endif
(const Detect job, GLOBAL const DetectLayer *RESTRICT layers, GLOBAL const u32 *RESTRICT tables, GLOBAL const DetectStage *RESTRICT stages, GLOBAL const DetectTree *RESTRICT trees,
	GLOBAL const DetectNode *RESTRICT nodes, GLOBAL const f32 *RESTRICT leaves, GLOBAL const u32 *RESTRICT words, GLOBAL const u32 *RESTRICT from, GLOBAL u32 *RESTRICT to,
	GLOBAL f64 *RESTRICT scores, GLOBAL u32 *RESTRICT counts)
{
	LOCAL u32 passed, start;
	i32 i = ITEM_ID;
	u32 n = job.list ? counts[job.to - 1] : (u32)job.images * (u32)job.words * 32;
	for (u32 first = GROUP_ID * GROUP; first < n; first += GROUPS * GROUP) {
		if (i == 0)
			passed = 0;
		BARRIER;
		u32 item = first + i, bit = item;
		i32 alive = item < n;
		f32 norm = 0;
		f64 sum = 0;
		Window w;
		if (alive && job.list) {
			bit = from[2 * (i64)item];
			norm = AS_FLOAT(from[2 * (i64)item + 1]);
		} else if (alive) {
			alive = words[bit / 32] >> (bit % 32) & 1;
		}
		if (alive)
			alive = windowAt(&job, layers, tables, bit, &w);
		if (alive && !job.list)
			norm = normOf(&job, &w);
		for (i32 k = job.first; alive && k < job.end; k++) {
			sum = stageSum(&job, &w, stages + k, trees, nodes, leaves, norm);
			alive = !(sum < (f64)stages[k].threshold);
		}
		u32 place = 0;
		if (alive)
			place = ADD_LOCAL(&passed, 1);
		BARRIER;
		if (i == 0)
			start = passed ? ADD_GLOBAL(counts + job.to, passed) : 0;
		BARRIER;
		place += start;
		if (alive && job.last) {
			if (place < (u32)job.room) {
				to[place] = bit;
				scores[place] = sum;
			}
		} else if (alive) {
			to[2 * (i64)place] = bit;
			to[2 * (i64)place + 1] = AS_WORD(norm);
		}
		BARRIER;
	}
}
#endif

#undef AS_FLOAT
#undef AS_WORD
#undef ADD_GLOBAL
#undef ADD_LOCAL
#undef GROUPS
#undef FIND
#undef QUAD
#undef AHEAD
#undef BLOCK
#undef ROWS
#undef COLUMNS
#undef DIAGONALS
#undef FIRST
#undef SKIP
#undef STAGES
#undef PATTERNS
#undef GROUP
