// The kernels of counts.h. The includer defines GROUP, and CARRY or FINISH; with FINISH a
// work-group is one team.

#ifdef CARRY
KERNEL(histogram_carry_u32)(const Histogram job, GLOBAL u8 *RESTRICT space)
{
	i64 i = (i64)GROUP_ID * GROUP + ITEM_ID;
	if (i < carries(job))
		carry_on(job, i, space);
}
#undef CARRY
#else
#ifdef __OPENCL_VERSION__
#define FINISH_KERNEL KERNEL
#else
#define FINISH_KERNEL(name) extern "C" __global__ void __launch_bounds__(GROUP, 16) name // 128 registers
#endif
FINISH_KERNEL(histogram_finish_u32)(const Histogram job, GLOBAL const u8 *RESTRICT space, GLOBAL u8 *RESTRICT out)
{
	LOCAL ColumnSums shared;
	finish(job, GROUP_ID, ITEM_ID, space, out, &shared);
}
#undef FINISH_KERNEL
#undef FINISH
#endif
#undef GROUP
