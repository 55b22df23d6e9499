// Combines tilted_windows and portable_carry in one launch, on CUDA only. The includer defines
// ACCUMULATOR, the type of the sums, and GROUP.

#ifndef __OPENCL_VERSION__

#define T ACCUMULATOR
#define SEGMENTS (GROUP / 32)
#define HELD (sizeof(T) == 8 ? 4 : 8) // strips of a segment, all read before the first is used

// tilted_sums replaces the sums in each strip's last row by the sums above the strip. A warp has 32
// columns of some of the strips. The window of column i has, of the 32 falling diagonals before
// these columns, those from i on, and of the columns' own those before i; for rising diagonals it
// is the other way round. This takes two scans: of the values that leave the window as i grows, and
// of those that enter.
extern "C" __global__ void __launch_bounds__(GROUP, 2) PASTE2(tilted_sums, ACCUMULATOR)(const Diagonals job, u8 *RESTRICT carries)
{
	__shared__ T part[GROUP];
	i32 item = ITEM_ID, segment = item / 32, lane = item % 32;
	u32 group = GROUP_ID;
	i32 channel = group % job.channels;
	group /= job.channels;
	i32 x = (i32)(group % job.sumsAcross) * 32 - LEAD + lane; // those of one channel start a cache line
	i64 image = group / job.sumsAcross, row = image * job.strips * job.carryStride + LEAD + (i64)x * job.channels + channel;
	i32 pixels = job.values / job.channels, step = job.channels, inside = x >= 0 && x < pixels;
	i32 fallingBefore = x >= STRIP && x < pixels + STRIP, fallingLast = lane > 0 && x >= 1 && x <= pixels;
	i32 risingNext = lane < 31 && x + 1 >= 0 && x + 1 < pixels, risingAfter = x + STRIP >= 0 && x + STRIP < pixels;
	const T *falling = (const T *)(carries + job.fallingStart) + row - job.carryStride; // of the strip above
	const T *rising = (const T *)(carries + job.risingStart) + row - job.carryStride;
	T *sums = (T *)(carries + job.sumsStart) + row;

	T above = 0; // the sum of the segments of earlier rounds
	for (i32 base = 0; base < job.strips; base += SEGMENTS * HELD) {
		i32 share = (job.strips - base + SEGMENTS - 1) / SEGMENTS;
		share = share < HELD ? share : HELD;
		i32 start = base + segment * share, end = start + share < job.strips ? start + share : job.strips;
		T v[HELD], leaving[HELD], coming[HELD], sum = 0;
		i64 at = start * job.carryStride;
UNROLL
		for (i32 k = 0; k < HELD; k++, at += job.carryStride) {
			i32 some = start + k < end && start + k < job.strips - 1, windows = some && start + k > 0; // nothing is below the last strip
			v[k] = some && inside ? sums[at] : 0;
			leaving[k] = (windows && fallingBefore ? falling[at - STRIP * step] : 0) + (windows && risingNext ? rising[at + step] : 0);
			coming[k] = (windows && fallingLast ? falling[at - step] : 0) + (windows && risingAfter ? rising[at + STRIP * step] : 0);
		}
UNROLL
		for (i32 d = 1; d < 32; d *= 2)
UNROLL
			for (i32 k = 0; k < HELD; k++) {
				T left = __shfl_up_sync(~0u, coming[k], d), right = __shfl_down_sync(~0u, leaving[k], d);
				if (lane >= d)
					coming[k] += left;
				if (lane + d < 32)
					leaving[k] += right;
			}
UNROLL
		for (i32 k = 0; k < HELD; k++) {
			v[k] += leaving[k] + coming[k];
			sum += v[k];
		}
		part[item] = sum;
		BARRIER;
		sum = above;
UNROLL
		for (i32 k = 0; k < SEGMENTS; k++) {
			T other = part[k * 32 + lane];
			above += other;
			sum += k < segment ? other : 0;
		}
		T *to = sums + start * job.carryStride;
		FORGET(to);
UNROLL
		for (i32 k = 0; k < HELD; k++, to += job.carryStride) {
			if (start + k < end && inside)
				*to = sum;
			sum += v[k];
		}
		BARRIER;
	}
}

#undef T
#undef SEGMENTS
#undef HELD

#endif

#undef ACCUMULATOR
#undef GROUP
