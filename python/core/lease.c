// The memory of large tables. Blocks of pages are lent to one table at a time, through a lease: an
// object with NumPy's array interface that is the base of the table and of all its views. When the
// last of them is freed, the block is kept for the next table of its size. No Python code runs for
// this.

#include "core.h"

typedef struct block {
	struct block *next;
	PyObject *pages; // owns the memory
	char *start;
	long shelf;
} block;

// The free blocks of one size.
typedef struct {
	block *free;
	int64_t bytes;
	int64_t used; // when a block was last returned, by the clock
} shelf;

enum { shelves = 1024 };

static shelf all[shelves];
static int64_t kept, limit = INT64_MAX, now;

#ifdef Py_GIL_DISABLED
static PyMutex busy;
static void lock(void) { PyMutex_Lock(&busy); }
static void unlock(void) { PyMutex_Unlock(&busy); }
#else
static void lock(void) {} // the GIL is held
static void unlock(void) {}
#endif

typedef struct {
	PyObject_HEAD
	block *block;
	boxsum_array array;
	intptr_t shape[4], strides[4];
} lease;

static PyTypeObject *type;

static block *pop(shelf *s) {
	block *b = s->free;
	if (b) {
		s->free = b->next;
		kept -= s->bytes;
	}
	return b;
}

// excess removes blocks beyond the limit, those of the least recently used sizes first.
static block *excess(void) {
	block *list = 0;
	while (kept > limit) {
		shelf *oldest = 0;
		for (int i = 0; i < shelves; i++)
			if (all[i].free && (!oldest || all[i].used < oldest->used))
				oldest = &all[i];
		block *b = pop(oldest);
		b->next = list;
		list = b;
	}
	return list;
}

static void free_all(block *list) {
	while (list) {
		block *next = list->next;
		Py_DECREF(list->pages);
		PyMem_Free(list);
		list = next;
	}
}

static void take_back(block *b) {
	lock();
	shelf *s = &all[b->shelf];
	b->next = s->free;
	s->free = b;
	s->used = ++now;
	kept += s->bytes;
	block *list = kept > limit ? excess() : 0;
	unlock();
	free_all(list);
}

// lend_block creates a lease with the layout of a table: a boxsum_flat_array whose address is
// relative to the block's start.
static PyObject *lend_block(block *b, PyObject *layout) {
	boxsum_flat_array flat;
	lease *l = 0;
	if (!PyBytes_Check(layout) || PyBytes_Size(layout) != sizeof flat)
		PyErr_SetString(PyExc_TypeError, "not a layout");
	else
		l = (lease *)PyType_GenericAlloc(type, 0);
	if (!l) {
		take_back(b);
		return 0;
	}
	memcpy(&flat, PyBytes_AsString(layout), sizeof flat);
	for (int i = 0; i < 4; i++)
		l->shape[i] = (intptr_t)flat.shape[i], l->strides[i] = (intptr_t)flat.strides[i];
	int flags = boxsum_aligned | boxsum_not_swapped | boxsum_writeable;
	l->array = (boxsum_array){2, (int)flat.axes, (char)flat.kind, (int)flat.bytes, flags, l->shape, l->strides, b->start + flat.address, 0};
	l->block = b;
	return (PyObject *)l;
}

static void dealloc(PyObject *self) {
	PyTypeObject *of = Py_TYPE(self);
	if (((lease *)self)->block) // NULL if the type was called directly
		take_back(((lease *)self)->block);
	PyObject_Free(self);
	Py_DECREF(of);
}

static void release(PyObject *capsule) { Py_DECREF((PyObject *)PyCapsule_GetContext(capsule)); }

static PyObject *interface(PyObject *self, void *closure) {
	(void)closure;
	PyObject *capsule = PyCapsule_New(&((lease *)self)->array, 0, release);
	if (capsule) {
		Py_INCREF(self);
		PyCapsule_SetContext(capsule, self);
	}
	return capsule;
}

int lease_start(void) {
	static PyGetSetDef attributes[] = {{"__array_struct__", interface, 0, 0, 0}, {0}};
	static PyType_Slot slots[] = {{Py_tp_dealloc, dealloc}, {Py_tp_getset, attributes}, {0, 0}};
	static PyType_Spec spec = {"boxsum._core.Memory", sizeof(lease), 0, Py_TPFLAGS_DEFAULT, slots};
	type = (PyTypeObject *)PyType_FromSpec(&spec);
	return type ? 0 : -1;
}

PyObject *lend(long number, PyObject *layout) {
	block *b = 0;
	if (number >= 0 && number < shelves) {
		lock();
		b = pop(&all[number]);
		unlock();
	}
	return b ? lend_block(b, layout) : 0;
}

PyObject *core_lend(PyObject *module, PyObject *arguments) {
	long number;
	PyObject *layout;
	(void)module;
	if (!PyArg_ParseTuple(arguments, "lO", &number, &layout))
		return 0;
	PyObject *lease = lend(number, layout);
	if (lease || PyErr_Occurred())
		return lease;
	Py_RETURN_NONE;
}

PyObject *core_add(PyObject *module, PyObject *arguments) {
	long number;
	PyObject *pages, *layout, *capsule = 0;
	(void)module;
	if (!PyArg_ParseTuple(arguments, "lOO", &number, &pages, &layout))
		return 0;
	boxsum_array *array = array_struct(pages, &capsule);
	block *b = 0;
	if (array && number >= 0 && number < shelves && (b = PyMem_Malloc(sizeof *b))) {
		Py_INCREF(pages);
		*b = (block){0, pages, array->data, number};
		lock();
		all[number].bytes = array->shape[0];
		unlock();
	} else if (array) {
		PyErr_NoMemory();
	}
	Py_XDECREF(capsule);
	return b ? lend_block(b, layout) : 0;
}

PyObject *core_limit(PyObject *module, PyObject *arguments) {
	long long bytes;
	(void)module;
	if (!PyArg_ParseTuple(arguments, "L", &bytes))
		return 0;
	lock();
	limit = bytes;
	block *list = excess();
	int64_t left = kept;
	unlock();
	free_all(list);
	return PyLong_FromLongLong(left);
}
