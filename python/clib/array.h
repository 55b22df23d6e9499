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

void boxsum_square_rows(const uint8_t *from, size_t from_stride, uint16_t *to, size_t to_stride, size_t n, size_t rows);

#endif
