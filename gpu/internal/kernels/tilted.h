// The job of the kernels of tilted tables, and how it is partitioned.
#ifndef TILTED_H
#define TILTED_H

#include "jobs/tilted.h"

#define STRIP 32  // rows of a strip
#define LEAD 31   // values before each row of carries, so that entry (1, y) of one channel starts a cache line

#ifdef __OPENCL_VERSION__
#define FORGET(pointer)
#else
// FORGET makes the compiler recompute addresses instead of keeping all of them in registers.
#define FORGET(pointer) asm volatile("" : "+l"(pointer))
#endif

#endif
