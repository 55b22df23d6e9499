// An array of DLPack.

#ifndef BOXSUM_TENSOR_H
#define BOXSUM_TENSOR_H

#include <stdint.h>

typedef struct {
	void *data;
	int32_t device_type, device_id, ndim;
	uint8_t code, bits;
	uint16_t lanes;
	int64_t *shape, *strides; // elements
	uint64_t byte_offset;
} tensor;

enum { cuda = 2, most_axes = 8 };

#endif
