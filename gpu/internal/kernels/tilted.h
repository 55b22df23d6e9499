// What the kernels of tilted tables share: the job, and how it is cut.
#ifndef TILTED_H
#define TILTED_H

#include "jobs/tilted.h"

#define STRIP 32  // rows of a strip
#define LEAD 31   // values before each row of carries, so that entry (1, y) of one channel starts a line

#ifdef __OPENCL_VERSION__
#define FORGET(pointer)
#else
// FORGET has the compiler work out addresses again instead of keeping them all.
#define FORGET(pointer) asm volatile("" : "+l"(pointer))
#endif

#endif
