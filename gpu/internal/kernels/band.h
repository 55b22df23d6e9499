// The scan of a band in local memory. The includer defines T, the type of the
// sums, and SCAN_BAND, the name of the function.
//
// GROUP work-items hold SPAN rows of GROUP values. A row is cut into segments of SPAN pixels. A
// task is one channel of one segment; a row has TASKS tasks, so that every work-item has one. A gap
// of one pixel follows each segment, which spreads the tasks over the banks of local memory.

#define SPAN (GROUP / TASKS)
#define PITCH (GROUP + TASKS)

// SCAN_BAND sums each segment of the band in place, and sets before to what must be added to the
// values of each task: start plus the segments on the left. The values must be in the tile; the
// function ends with a barrier. segment is that of the work-item's task.
FUNCTION void SCAN_BAND(POINTER_TO_LOCAL T *tile, POINTER_TO_LOCAL T *part, POINTER_TO_LOCAL T *before, i32 item, i32 segment, i32 tileChannels, T start)
{
	BARRIER;
	if (segment < TASKS / tileChannels) {
		POINTER_TO_LOCAL T *value = tile + (u32)item / TASKS * PITCH + segment * SPAN * tileChannels + (u32)item % TASKS;
		T values[SPAN]; // read all at once: a read cannot overtake an earlier write
		T sum = 0;
#pragma unroll
		for (i32 k = 0; k < SPAN; k++)
			values[k] = value[k * tileChannels];
#pragma unroll
		for (i32 k = 0; k < SPAN; k++) {
			sum += values[k];
			value[k * tileChannels] = sum;
		}
		part[item] = sum;
	}
	BARRIER;
	T left = 0;
	for (i32 k = segment; k > 0; k--)
		left += part[item - k * tileChannels];
	before[item] = start + left;
	BARRIER;
}
