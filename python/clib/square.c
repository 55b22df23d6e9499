// A loop that C compilers turn into vectors, and Go's does not.

#include "array.h"

// boxsum_square_rows writes the squares of rows of n bytes. Strides are elements.
void boxsum_square_rows(const uint8_t *restrict from, size_t from_stride, uint16_t *restrict to, size_t to_stride, size_t n, size_t rows) {
	for (size_t y = 0; y < rows; y++, from += from_stride, to += to_stride)
		for (size_t i = 0; i < n; i++)
			to[i] = (uint16_t)(from[i] * from[i]);
}
