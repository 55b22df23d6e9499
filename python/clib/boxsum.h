// Types exchanged between Python and the library: see python/core/call.c.

#ifndef BOXSUM_H
#define BOXSUM_H

#include <stdint.h>
#include <stdlib.h>

// The struct in the capsule of __array_struct__, in version 3 of NumPy's array interface
// protocol.
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

enum { boxsum_aligned = 0x100, boxsum_not_swapped = 0x200, boxsum_writeable = 0x400 };

// The same in one piece of memory, which Python packs fast. The address may be on a device.
typedef struct {
	int64_t kind, bytes, axes, address;
	int64_t shape[4], strides[4];
} boxsum_flat_array;

// An argument of a function, or its result.
typedef struct {
	int64_t kind;
	int64_t number; // or the length of a text in bytes
	double real;
	void *pointer; // to a boxsum_array, or to text
} boxsum_value;

enum { boxsum_none, boxsum_number, boxsum_real, boxsum_text, boxsum_array_value };

// A function that reads a part of an object in a store and passes it to boxsum_answer. A negative length reads to the end,
// and a negative offset reads the last -offset bytes.
typedef void (*boxsum_reader)(char *store, char *key, int64_t offset, int64_t length, int64_t answer);

#endif
