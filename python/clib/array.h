#ifndef BOXSUM_ARRAY_H
#define BOXSUM_ARRAY_H

#include <stdint.h>
#include <stdlib.h>

// What the capsule of __array_struct__ points to, in version 3 of NumPy's array
// interface protocol.
typedef struct {
	int two; // always 2
	int nd;
	char typekind; // 'u', 'i', 'f', ...
	int itemsize;
	int flags;
	intptr_t *shape;
	intptr_t *strides; // bytes
	void *data;
	void *descr;
} boxsum_array;

#endif
