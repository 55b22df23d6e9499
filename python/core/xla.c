// Functions that XLA calls directly in programs that JAX compiled for the CPU, through its C FFI,
// whose structures are declared here.

#include "core.h"

typedef struct extension {
	size_t size;
	int type;
	struct extension *next;
} extension;

typedef struct {
	size_t size;
	extension *more;
	int major, minor;
} version;

typedef struct {
	extension base;
	struct {
		size_t size;
		version api;
	} *about;
} metadata;

typedef struct {
	size_t size;
	extension *more;
	const char *message;
	int code;
} complaint;

typedef struct {
	size_t size;
	extension *more;
	version api;
	void *internal;
	void *(*fail)(complaint *); // the first of the API's functions
} functions;

typedef struct {
	size_t size;
	extension *more;
	int type;
	void *data;
	int64_t rank, *dims;
} buffer;

typedef struct {
	size_t size;
	extension *more;
	int64_t count;
	int *kinds;
	void **items;
} list;

typedef struct {
	size_t size;
	extension *more;
	int64_t count;
	int *kinds;
	void **names, **items; // names are sorted
} attributes;

typedef struct {
	size_t size;
	extension *more;
	const functions *api;
	void *context;
	int stage;
	list arguments, results;
	attributes given;
} frame;

enum { metadata_extension = 1, api_major = 0, api_minor = 1, execute = 3, array_attribute = 1, scalar_attribute = 3, invalid_argument = 3, internal_error = 13 };

// XLA's numbers of the types that tables support.
enum { xla_bool = 1, s8, s16, s32, s64, u8, u16, u32, u64, half, single, twice };

static void *fail_with(const frame *f, int code, const char *message) {
	complaint c = {sizeof c, 0, message, code};
	return f->api->fail(&c);
}

enum { most_rank = 16 };

typedef struct {
	boxsum_array array;
	intptr_t shape[most_rank], strides[most_rank];
} described;

// see reads a buffer as an array, whose axes are in order. It returns 0 for an unknown type.
static int see(const buffer *b, described *to) {
	static const struct {
		char kind;
		int bytes;
	} types[] = {[xla_bool] = {'u', 1}, [s8] = {'i', 1}, [s16] = {'i', 2}, [s32] = {'i', 4}, [s64] = {'i', 8}, [u8] = {'u', 1}, [u16] = {'u', 2},
		[u32] = {'u', 4}, [u64] = {'u', 8}, [half] = {'f', 2}, [single] = {'f', 4}, [twice] = {'f', 8}};
	if (b->type < xla_bool || b->type > twice || b->rank < 2 || b->rank > most_rank)
		return 0;
	intptr_t step = types[b->type].bytes;
	for (int64_t k = b->rank - 1; k >= 0; k--) {
		to->shape[k] = (intptr_t)b->dims[k];
		to->strides[k] = step;
		step *= to->shape[k];
	}
	to->array = (boxsum_array){2, (int)b->rank, types[b->type].kind, types[b->type].bytes, boxsum_aligned | boxsum_not_swapped | boxsum_writeable, to->shape, to->strides, b->data, 0};
	return 1;
}

#define NUMBER(n) {boxsum_number, (n), 0, 0}

// serve calls a function for every image of a batch, with the given arguments after the arrays;
// workers is the index of the number of workers.
static void *serve(frame *f, const char *name, int64_t workers, const boxsum_value *rest, size_t count) {
	described in, out;
	for (extension *e = f->more; e; e = e->next)
		if (e->type == metadata_extension) { // XLA only queries the metadata
			metadata *m = (metadata *)e;
			m->about->api.major = api_major;
			m->about->api.minor = api_minor;
			return 0;
		}
	if (f->stage != execute)
		return 0;
	if (!library_ready())
		return fail_with(f, internal_error, "boxsum is not loaded in this process");
	if (f->arguments.count != 1 || f->results.count != 1 || !see(f->arguments.items[0], &in) || !see(f->results.items[0], &out))
		return fail_with(f, invalid_argument, "boxsum takes an array (..., H, W) of real numbers, and makes one");
	boxsum_value values[12] = {{boxsum_text, (int64_t)strlen(name), 0, (void *)name}, NUMBER(in.array.nd - 2), NUMBER(3), NUMBER(workers),
		{boxsum_array_value, 0, 0, &in.array}, {boxsum_array_value, 0, 0, &out.array}};
	memcpy(values + 6, rest, count * sizeof *rest);
	char *text = library_batch(values, 6 + (int64_t)count);
	if (!text)
		return 0;
	void *error = fail_with(f, *text == 'R' || *text == 'M' ? internal_error : invalid_argument, text + 1);
	library_free(text);
	return error;
}

static void *integral(frame *f) {
	static const boxsum_value rest[] = {{boxsum_none, 0, 0, 0}, NUMBER(0), NUMBER(0), NUMBER(-1), NUMBER(0)};
	return serve(f, "integral", 4, rest, 5);
}

static void *suffix(frame *f) {
	static const boxsum_value rest[] = {NUMBER(0)};
	return serve(f, "suffix", 2, rest, 1);
}

// window reads its sides, left and top from one attribute, and the factor from another.
static void *window(frame *f) {
	boxsum_value rest[6] = {[4] = {boxsum_real, 0, 1, 0}, [5] = NUMBER(0)};
	for (int64_t k = 0; k < f->given.count; k++) {
		const struct { int type; size_t size; int64_t *data; } *a = f->given.items[k];
		const struct { int type; double *value; } *s = f->given.items[k];
		for (size_t i = 0; f->given.kinds[k] == array_attribute && a->type == s64 && i < a->size && i < 4; i++)
			rest[i] = (boxsum_value)NUMBER(a->data[i]);
		if (f->given.kinds[k] == scalar_attribute && s->type == twice)
			rest[4].real = *s->value;
	}
	return serve(f, "window", 7, rest, 6);
}

PyObject *core_xla(PyObject *module, PyObject *name) {
	static const struct {
		const char *name;
		void *(*serve)(frame *);
	} known[] = {{"integral", integral}, {"suffix", suffix}, {"window", window}};
	(void)module;
	for (size_t i = 0; i < sizeof known / sizeof *known; i++)
		if (PyUnicode_Check(name) && !PyUnicode_CompareWithASCIIString(name, known[i].name)) {
			void *address;
			memcpy(&address, &known[i].serve, sizeof address);
			return PyCapsule_New(address, "xla._CUSTOM_CALL_TARGET", 0);
		}
	return PyErr_Format(PyExc_ValueError, "XLA calls no %R", name);
}
