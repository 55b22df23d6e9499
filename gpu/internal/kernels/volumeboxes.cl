// volume_boxes sums boxes of a volume, one work-item for each of their channels: x0, y0, z0, x1,
// y1, z1, clipped. The includer defines ACCUMULATOR and GROUP.

KERNEL(PASTE2(volume_boxes, ACCUMULATOR))(const Blocks job, GLOBAL const u8 *RESTRICT table, GLOBAL const i32 *RESTRICT boxes, GLOBAL ACCUMULATOR *RESTRICT out)
{
	i64 i = (i64)GROUP_ID * GROUP + ITEM_ID;
	if (i < job.count * job.channels) {
		GLOBAL const i32 *box = boxes + i / job.channels * 6;
		i64 channel = i % job.channels, left = box[0] * job.channels + channel, right = box[3] * job.channels + channel;
		ACCUMULATOR sum[2];
		for (i32 k = 0; k < 2; k++) {
			GLOBAL const u8 *slice = table + job.start + box[2 + 3 * k] * job.slice;
			GLOBAL const ACCUMULATOR *top = (GLOBAL const ACCUMULATOR *)(slice + box[1] * job.stride);
			GLOBAL const ACCUMULATOR *bottom = (GLOBAL const ACCUMULATOR *)(slice + box[4] * job.stride);
			sum[k] = bottom[right] - bottom[left] - top[right] + top[left];
		}
		out[i] = sum[1] - sum[0];
	}
}

#undef ACCUMULATOR
#undef GROUP
