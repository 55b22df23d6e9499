#ifndef BOXSUM_PYTHON_H
#define BOXSUM_PYTHON_H

#include <stddef.h>
#include <stdint.h>

// What of Python's stable interface is called from here. The library is not linked
// with Python, so that one build is for all versions: boxsum_python is told where
// these functions are, in this order.
typedef struct object object; // PyObject

typedef struct {
	void *(*capsule_pointer)(object *capsule, const char *name); // PyCapsule_GetPointer
	void *(*save_thread)(void);                                  // PyEval_SaveThread
	void (*restore_thread)(void *state);                         // PyEval_RestoreThread
	object *(*attribute)(object *from, object *name);            // PyObject_GetAttr
	void (*keep)(object *o);                                     // Py_IncRef
	void (*drop)(object *o);                                     // Py_DecRef
	long long (*number)(object *o);                              // PyLong_AsLongLong
	object *(*raised)(void);                                     // PyErr_Occurred
	object *(*new_number)(long long n);                          // PyLong_FromLongLong
	object *(*new_name)(const char *text);                       // PyUnicode_InternFromString
	object *(*new_function)(void *method, object *self, object *module); // PyCFunction_NewEx
	object *(*new_type)(void *spec);                             // PyType_FromSpec
	object *(*new_instance)(object *type, intptr_t items);       // PyType_GenericAlloc
	void (*free_instance)(object *o);                            // PyObject_Free
	object *(*type_of)(object *o);                               // PyObject_Type
	int (*fill_buffer)(void *view, object *of, void *at, intptr_t bytes, int readonly, int flags); // PyBuffer_FillInfo
} python_functions;

#pragma GCC visibility push(hidden) // from other libraries in the process

extern python_functions py;

// PyMethodDef, and its flag for functions that take an array of arguments.
typedef struct {
	const char *name;
	object *(*function)(object *self, object *const *arguments, intptr_t count);
	int flags;
	const char *doc;
} python_method;

enum { fast_call = 0x80 };

// The functions that Python calls as its own, see quick.c and lease.c.
extern python_method boxsum_method_table, boxsum_method_take, boxsum_method_give, boxsum_method_limit;

// lease_type makes the type of leases, whose own part follows so many bytes.
int lease_type(intptr_t head);

// none is None, with a reference of its own.
object *none(void);

#pragma GCC visibility pop

#endif
