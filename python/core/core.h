// The extension module boxsum._core: calls of the Go library, the memory of large tables, and
// DLPack capsules. It is built for the limited API, so that one build supports all versions of
// Python from 3.9 on. A Python without a GIL needs a build of its own.

#ifndef BOXSUM_CORE_H
#define BOXSUM_CORE_H

#define PY_SSIZE_T_CLEAN
#include <Python.h>

#include "boxsum.h"

#ifndef METH_FASTCALL // missing in the limited API of 3.9
#define METH_FASTCALL 0x0080
#endif

// The functions of the module.
PyObject *core_use(PyObject *module, PyObject *arguments);
PyObject *core_call(PyObject *module, PyObject *arguments);
PyObject *core_queue(PyObject *module, PyObject *const *arguments, Py_ssize_t count);
PyObject *core_exchange(PyObject *module, PyObject *type);
PyObject *core_describe(PyObject *module, PyObject *const *arguments, Py_ssize_t count);
PyObject *core_launch(PyObject *module, PyObject *const *arguments, Py_ssize_t count);
PyObject *core_repeat(PyObject *module, PyObject *const *arguments, Py_ssize_t count);
PyObject *core_xla(PyObject *module, PyObject *name);
PyObject *core_lend(PyObject *module, PyObject *arguments);
PyObject *core_add(PyObject *module, PyObject *arguments);
PyObject *core_limit(PyObject *module, PyObject *arguments);
PyObject *core_to_dlpack(PyObject *module, PyObject *arguments);
PyObject *core_from_dlpack(PyObject *module, PyObject *capsule);
PyObject *core_integral(PyObject *module, PyObject *const *arguments, Py_ssize_t count);
PyObject *core_shorten(PyObject *module, PyObject *arguments);
PyObject *core_shorten_filter(PyObject *module, PyObject *arguments);
PyObject *core_remember(PyObject *module, PyObject *arguments);
PyObject *core_know(PyObject *module, PyObject *arguments);

// The initialization of each file. The functions return 0, or -1 with an exception.
int call_start(PyObject *module);
int lease_start(void);

// array_struct returns the structure of an array, which lives as long as the capsule.
boxsum_array *array_struct(PyObject *array, PyObject **capsule);

// The type of a vectorcall of a Python function.
typedef PyObject *vectorcall(PyObject *function, PyObject *const *arguments, size_t count, PyObject *names);

// The beginning of a PyArrayObject and of a PyArray_Descr.
typedef struct {
	PyObject_HEAD
	char *data;
	int nd;
	intptr_t *shape, *strides;
	PyObject *base, *descr;
	int flags;
} numpy_array;

typedef struct {
	PyObject_HEAD
	PyTypeObject *type;
	char kind, code, byteorder;
} numpy_descr;

// is_plain reports whether an object is an array of NumPy with two or three axes in the machine's byte order, and no subclass,
// whose structures may be read.
int is_plain(PyObject *array);

// struct_of returns the equivalent of __array_struct__ for a plain array.
boxsum_array struct_of(PyObject *array, char kind, int itemsize);

// new_plain returns a new array without gaps of a type and of the shape of another.
PyObject *new_plain(PyObject *like, PyObject *descr);

// lend returns a lease of a kept block; or 0, with an exception, or without one if there is no such
// block.
PyObject *lend(long shelf, PyObject *layout);

// library_ready reports whether the library is loaded.
int library_ready(void);

// library_integral computes a table, holding the GIL if it is brief. It returns 0, 1 if the image
// must be copied first, or -1 with an exception.
int library_integral(boxsum_value *values, int64_t count, int brief);

// library_filter runs a filter, or a Gaussian, without the GIL. It returns 0, 1 if the image must be copied first, or -1 with an
// exception.
int library_filter(int gaussian, boxsum_value *values, int64_t count);

// library_batch calls a function for every image of a batch, without the GIL. It returns 0, or a
// text to be freed by library_free.
char *library_batch(boxsum_value *values, int64_t count);
void library_free(char *text);

// library_queue queues a table described by a plan. It returns None, or 0 with an exception.
PyObject *library_queue(long long plan, long long image, long long table, long long stream);

#endif
