// The kernels that propagate sums of tilted tables from strip to strip. The includer defines
// ACCUMULATOR, the type of the sums, and GROUP.

#define T ACCUMULATOR

// A work-group processes a few neighboring lines and cuts each into segments.
#define COLUMNS (GROUP < 32 ? GROUP : 32)
#define SEGMENTS (GROUP / COLUMNS)
// HELD values of a segment are read before the first is used.
#ifdef __OPENCL_VERSION__
#define HELD 8
#else
#define HELD (sizeof(T) == 8 ? 16 : 32)
#endif

// Without the bound, nvcc uses so many registers that few work-groups fit.
#if __CUDA_ARCH__ >= 800
#define LINES_KERNEL(name) extern "C" __global__ void __launch_bounds__(GROUP, 1024 / GROUP) name
#else
#define LINES_KERNEL KERNEL
#endif

// tilted_lines sums the diagonals over the strips, in place. A line consists of the values that are
// step further on in each next strip. Rising diagonals mirror the falling ones.
LINES_KERNEL(PASTE2(tilted_lines, ACCUMULATOR))(const Diagonals job, GLOBAL u8 *RESTRICT carries)
{
	LOCAL T part[GROUP];
	i32 item = ITEM_ID, segment = (u32)item / COLUMNS;
	u32 group = GROUP_ID;
	i32 rising = group % 2;
	group /= 2;
	i64 line = (i64)(group % job.linesAcross) * COLUMNS + (u32)item % COLUMNS, image = group / job.linesAcross;

	// Lines that enter at the side begin further down; steps are counted from there.
	i32 first = 0, steps = 0;
	i64 value = line - (job.lines - job.values);
	if (line < job.lines) {
		if (value < 0) {
			first = (i32)((job.step - 1 - value) / job.step);
			value += (i64)first * job.step;
		}
		steps = value < job.values ? (i32)((job.values - 1 - value) / job.step) + 1 : 0;
		if (steps > job.strips - 1 - first) // nothing is below the last strip
			steps = job.strips - 1 - first;
	}
	GLOBAL T *values = (GLOBAL T *)(carries + (rising ? job.risingStart : job.fallingStart)) + image * job.strips * job.carryStride + LEAD;
	i64 pitch = job.carryStride + (rising ? -job.step : job.step);
	values += first * job.carryStride + (rising ? job.values - 1 - value : value);

	T before = 0; // the sum of the segments of earlier rounds
	for (i32 base = 0; base < job.strips - 1; base += SEGMENTS * HELD) {
		i32 share = (steps - base + SEGMENTS - 1) / SEGMENTS;
		share = share < HELD ? share : HELD;
		i32 start = base + segment * share, end = start + share < steps ? start + share : steps;
		GLOBAL T *at = values + start * pitch;
		GLOBAL const T *from = at;
		T v[HELD], sum = 0;
UNROLL
		for (i32 k = 0; k < HELD; k++, from += pitch)
			v[k] = start + k < end ? *from : 0;
UNROLL
		for (i32 k = 0; k < HELD; k++)
			sum += v[k];
		part[item] = sum;
		BARRIER;
		sum = before;
UNROLL
		for (i32 k = 0; k < SEGMENTS; k++) {
			T other = part[k * COLUMNS + (u32)item % COLUMNS];
			before += other;
			sum += k < segment ? other : 0;
		}
		FORGET(at);
UNROLL
		for (i32 k = 0; k < HELD; k++, at += pitch) {
			sum += v[k];
			if (start + k < end)
				*at = sum;
		}
		BARRIER;
	}
}

typedef struct ALIGNED(16) { T part[4]; } Four;

// four returns the entries of a row of carries at four neighboring pixels. x = 0 is the table's
// first column.
FUNCTION Four four(GLOBAL const T *row, const Diagonals job, i32 x, i32 channel)
{
	Four v;
	i32 pixels = job.values / job.channels;
	if (job.channels == 1 && x > 0 && x + 3 < pixels) // x is 1 plus a multiple of 4, which LEAD aligns
		return *(GLOBAL const Four *)(row + x);
#pragma unroll
	for (i32 i = 0; i < 4; i++)
		v.part[i] = x + i >= 0 && x + i < pixels ? row[(i64)(x + i) * job.channels + channel] : 0;
	return v;
}

// add_windows adds the windows of x to x+3: the falling diagonals before them and the rising ones
// after. inside is whether all are inside the table.
FUNCTION void add_windows(Four *sum, GLOBAL const T *falling, GLOBAL const T *rising, const Diagonals job, i32 x, i32 channel, i32 inside)
{
UNROLL
	for (i32 side = 0; side < 2; side++) {
		GLOBAL const T *from = side ? rising : falling;
		i32 first = side ? x : x - STRIP;
		Four v[STRIP / 4 + 1];
UNROLL
		for (i32 k = 0; k <= STRIP / 4; k++)
			v[k] = inside ? *(GLOBAL const Four *)(from + first + 4 * k) : four(from, job, first + 4 * k, channel);
		// Value n, counted from first, is in the windows of x to x+3 if side <= n < STRIP+side,
		// 1+side <= n < STRIP+1+side, and so on. Most values are in all of them.
		T common = 0;
UNROLL
		for (i32 k = 1; k < STRIP / 4; k++)
			common += v[k].part[0] + v[k].part[1] + (v[k].part[2] + v[k].part[3]);
		common += side ? v[STRIP / 4].part[0] : v[0].part[3];
		T a = v[0].part[side], b = v[0].part[1 + side], c = v[0].part[2 + side];
		T d = v[STRIP / 4].part[side], e = v[STRIP / 4].part[1 + side], f = v[STRIP / 4].part[2 + side];
		sum->part[0] += a + b + c + common;
		sum->part[1] += b + c + common + d;
		sum->part[2] += c + common + d + e;
		sum->part[3] += common + d + e + f;
	}
}

// tilted_windows adds to the sums in a strip's last row the sums that enter from above. The
// diagonals that reach the STRIP rows below x are those of STRIP pixels: falling ones before x,
// rising ones after x. Neighboring windows share most of them, so a work-item computes four.
KERNEL(PASTE2(tilted_windows, ACCUMULATOR))(const Diagonals job, GLOBAL u8 *RESTRICT carries)
{
	u32 group = GROUP_ID;
	i32 fours = (job.values / job.channels + 2) / 4 + 1; // of a row
	i32 item = (i32)(group % job.windowsAcross) * GROUP + ITEM_ID;
	group /= job.windowsAcross;
	i32 channel = group % job.channels;
	group /= job.channels;
	i64 strip = group % (job.strips - 2) + 1, image = group / (job.strips - 2);
	if (item < fours) {
		i32 x = 4 * item - 3;
		i64 row = (image * job.strips + strip) * job.carryStride + LEAD;
		GLOBAL const T *falling = (GLOBAL const T *)(carries + job.fallingStart) + row - job.carryStride;
		GLOBAL const T *rising = (GLOBAL const T *)(carries + job.risingStart) + row - job.carryStride;
		Four sum;
		sum.part[0] = sum.part[1] = sum.part[2] = sum.part[3] = 0;
		// Most positions have all neighbors, so they need no checks.
		if (job.channels == 1 && x > STRIP && x + STRIP + 3 < job.values) {
			add_windows(&sum, falling, rising, job, x, channel, 1);
		} else
			add_windows(&sum, falling, rising, job, x, channel, 0);
		i32 pixels = job.values / job.channels;
		GLOBAL T *to = (GLOBAL T *)(carries + job.sumsStart) + row;
#pragma unroll
		for (i32 i = 0; i < 4; i++)
			if (x + i >= 0 && x + i < pixels)
				to[(i64)(x + i) * job.channels + channel] += sum.part[i];
	}
}

// tilted_boxes sums boxes, one work-item for each of their channels. A box is x and y of its
// topmost corner, and the lengths of its sides down to the right and to the left.
KERNEL(PASTE2(tilted_boxes, ACCUMULATOR))(const Boxes job, GLOBAL const u8 *RESTRICT table, GLOBAL const i32 *RESTRICT boxes, GLOBAL T *RESTRICT out)
{
	i64 i = (i64)GROUP_ID * GROUP + ITEM_ID;
	if (i < job.count * job.channels) {
		GLOBAL const i32 *box = boxes + i / job.channels * 4;
		i64 x = box[0], y = box[1], w = box[2], h = box[3], channel = i % job.channels;
		GLOBAL const u8 *top = table + job.start + (x * job.channels + channel) * (i64)sizeof(T) + y * job.stride;
		i64 right = job.channels * (i64)sizeof(T), down = job.stride;
		out[i] = *(GLOBAL const T *)top - *(GLOBAL const T *)(top + h * (down - right)) -
			*(GLOBAL const T *)(top + w * (down + right)) + *(GLOBAL const T *)(top + h * (down - right) + w * (down + right));
	}
}

#undef T
#undef COLUMNS
#undef SEGMENTS
#undef HELD
#undef LINES_KERNEL
#undef ACCUMULATOR
#undef GROUP
