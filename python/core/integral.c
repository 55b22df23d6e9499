// The usual calls of boxsum.integral, with minimal overhead: NumPy arrays are read directly, and the layout of a table is looked
// up by the image's type and shape. All other calls take the slow path, in Python.
//
// The limited API of Python excludes NumPy's headers. The fields read here have not changed since NumPy 1.7, and integral_start
// compares them with __array_struct__ of an array. If they differ, every call takes the slow path.

#include "core.h"

// The functions of NumPy's C API that are used, by their indices in its table.
enum { array_type_at = 2, new_from_descr_at = 94, set_base_at = 282 };
typedef PyObject *new_from_descr(PyTypeObject *, PyObject *descr, int nd, const intptr_t *shape, const intptr_t *strides, void *data, int flags, PyObject *);

static PyTypeObject *array_type; // 0 if every call takes the slow path
static new_from_descr *new_array;
static int (*set_base)(PyObject *array, PyObject *base);
static PyObject *bytes_descr; // of uint8
static PyObject *as_array; // numpy.asarray

// A form is the layout of tables of one shape and type.
typedef struct {
	PyObject *descr, *flat; // flat is for tables with pages of their own
	long shelf;
	int itemsize;
	char kind;
	intptr_t shape[3];
	intptr_t strides[3], bytes, lead; // of tables with aligned rows in NumPy's memory; for others, bytes is 0
} form;

// A known caches the forms for images of one shape and type, and one requested dtype.
typedef struct {
	PyObject *image, *dtype; // compared by identity
	int nd, itemsize, squared;
	char kind;
	intptr_t shape[3];
	form tables[2];
} known;

enum { places = 256 }; // a power of 2
static known all[places];

#ifdef Py_GIL_DISABLED
static PyMutex busy;
static void lock(void) { PyMutex_Lock(&busy); }
static void unlock(void) { PyMutex_Unlock(&busy); }
#else
static void lock(void) {} // the GIL is held
static void unlock(void) {}
#endif

static known *place(const numpy_array *image, PyObject *dtype) {
	uint64_t h = (uint64_t)(uintptr_t)image->descr ^ (uint64_t)(uintptr_t)dtype * 3;
	for (int i = 0; i < image->nd; i++)
		h = (h ^ (uint64_t)image->shape[i]) * 0x9E3779B97F4A7C15u;
	return &all[h >> 56 & (places - 1)];
}

static int same(const known *k, const numpy_array *image, PyObject *dtype) {
	if (k->image != image->descr || k->dtype != dtype || k->nd != image->nd)
		return 0;
	for (int i = 0; i < image->nd; i++)
		if (k->shape[i] != image->shape[i])
			return 0;
	return 1;
}

// hold adds references to the members of a known, and drop removes them.
static void hold(const known *k) {
	Py_XINCREF(k->image);
	Py_XINCREF(k->dtype);
	for (int i = 0; i < 2; i++) {
		Py_XINCREF(k->tables[i].descr);
		Py_XINCREF(k->tables[i].flat);
	}
}

static void drop(const known *k) {
	Py_XDECREF(k->image);
	Py_XDECREF(k->dtype);
	for (int i = 0; i < 2; i++) {
		Py_XDECREF(k->tables[i].descr);
		Py_XDECREF(k->tables[i].flat);
	}
}

// look copies the cached entry for an image, and reports whether there is one.
static int look(known *k, const numpy_array *image, PyObject *dtype) {
	lock();
	known *at = place(image, dtype);
	int found = same(at, image, dtype);
	if (found) {
		*k = *at;
		hold(k);
	}
	unlock();
	return found;
}

int is_plain(PyObject *array) {
	if (!array_type || Py_TYPE(array) != array_type)
		return 0;
	const numpy_array *a = (numpy_array *)array;
	char order = ((numpy_descr *)a->descr)->byteorder;
	return (a->nd == 2 || a->nd == 3) && (order == '=' || order == '|');
}

boxsum_array struct_of(PyObject *array, char kind, int itemsize) {
	const numpy_array *a = (numpy_array *)array;
	int flags = (a->flags & (boxsum_aligned | boxsum_writeable)) | boxsum_not_swapped;
	return (boxsum_array){2, a->nd, kind, itemsize, flags, a->shape, a->strides, a->data, 0};
}

PyObject *new_plain(PyObject *like, PyObject *descr) {
	const numpy_array *a = (numpy_array *)like;
	Py_INCREF(descr);
	return new_array(array_type, descr, a->nd, a->shape, 0, 0, 0, 0);
}

enum { line = 64 };

// padded_table returns a table with aligned rows.
static PyObject *padded_table(const form *f, int nd) {
	intptr_t bytes = f->bytes + line;
	Py_INCREF(bytes_descr);
	PyObject *memory = new_array(array_type, bytes_descr, 1, &bytes, 0, 0, 0, 0);
	if (!memory)
		return 0;
	char *data = ((numpy_array *)memory)->data;
	data += -(uintptr_t)data % line + f->lead;
	Py_INCREF(f->descr);
	PyObject *table = new_array(array_type, f->descr, nd, f->shape, f->strides, data, boxsum_aligned | boxsum_writeable, 0);
	if (!table) {
		Py_DECREF(memory);
	} else if (set_base(table, memory)) { // set_base steals the reference even if it fails
		Py_DECREF(table);
		return 0;
	}
	return table;
}

// new_table returns an array for a table; or 0, with an exception, or without one if new memory
// must be mapped.
static PyObject *new_table(const form *f, int nd) {
	if (f->bytes > 0)
		return padded_table(f, nd);
	if (f->shelf < 0) {
		Py_INCREF(f->descr);
		return new_array(array_type, f->descr, nd, f->shape, 0, 0, 0, 0);
	}
	PyObject *lease = lend(f->shelf, f->flat);
	if (!lease)
		return 0;
	PyObject *table = PyObject_CallFunctionObjArgs(as_array, lease, NULL);
	Py_DECREF(lease);
	return table;
}

static const int64_t small = 1 << 16; // bytes of pixels and sums up to which a call takes less time than releasing the GIL

// quick returns the table of an image, or both tables; or 0, with an exception, or without one for
// the slow path.
static PyObject *quick(PyObject *image, PyObject *dtype, PyObject *squares, PyObject *out) {
	if (!library_ready() || !is_plain(image) || (squares != Py_False && squares != Py_True))
		return 0;
	int two = squares == Py_True;
	if (out != Py_None) {
		if (two || dtype != Py_None || !is_plain(out) || ((numpy_array *)out)->nd != 2)
			return 0;
		dtype = ((numpy_array *)out)->descr;
	}
	known k;
	if (!look(&k, (numpy_array *)image, dtype))
		return 0;
	PyObject *tables[2] = {0, 0}, *made = 0;
	if (two && !k.squared)
		goto done;
	if (out != Py_None) {
		Py_INCREF(out);
		tables[0] = out;
	} else {
		for (int i = 0; i <= two; i++)
			if (!(tables[i] = new_table(&k.tables[i], k.nd)))
				goto done;
	}
	boxsum_array arrays[3] = {struct_of(image, k.kind, k.itemsize)};
	boxsum_value values[3] = {{boxsum_array_value, 0, 0, &arrays[0]}, {boxsum_array_value, 0, 0, &arrays[1]}, {boxsum_none, 0, 0, 0}};
	int64_t bytes = k.itemsize;
	for (int i = 0; i <= two; i++) {
		arrays[i + 1] = struct_of(tables[i], k.tables[i].kind, k.tables[i].itemsize);
		bytes += k.tables[i].itemsize;
	}
	if (two)
		values[2] = (boxsum_value){boxsum_array_value, 0, 0, &arrays[2]};
	for (int i = 0; i < k.nd && bytes < small; i++)
		bytes *= k.shape[i] > small ? small : k.shape[i];
	switch (library_integral(values, 3, bytes < small)) {
	case 0:
		made = two ? PyTuple_Pack(2, tables[0], tables[1]) : tables[0];
		if (!two)
			tables[0] = 0;
		break;
	case 1: // needs a copy: the slow path
		break;
	}
done:
	Py_XDECREF(tables[0]);
	Py_XDECREF(tables[1]);
	drop(&k);
	return made;
}

PyObject *core_integral(PyObject *module, PyObject *const *arguments, Py_ssize_t count) {
	(void)module;
	if (count != 4)
		return PyErr_Format(PyExc_TypeError, "integral takes an image, dtype, squares and out");
	PyObject *made = quick(arguments[0], arguments[1], arguments[2], arguments[3]);
	if (made || PyErr_Occurred())
		return made;
	Py_RETURN_NONE;
}

// From Python 3.12 on, the vectorcall of a Python function can be replaced, if the replacement does
// the same. This saves its frame, which takes as long as a small table.

static vectorcall *long_way;  // the function's original vectorcall
static PyObject *keywords[3]; // dtype, squares, out

static PyObject *short_way(PyObject *function, PyObject *const *arguments, size_t flags, PyObject *names) {
	size_t count = flags & ~((size_t)1 << (8 * sizeof flags - 1)); // equals PyVectorcall_NARGS
	if (count == 1) {
		Py_ssize_t named = names ? PyTuple_Size(names) : 0, known = 0;
		PyObject *options[3] = {Py_None, Py_False, Py_None};
		for (Py_ssize_t i = 0; i < named; i++)
			for (int k = 0; k < 3; k++)
				if (PyTuple_GetItem(names, i) == keywords[k]) {
					options[k] = arguments[1 + i];
					known++;
				}
		PyObject *made = known == named ? quick(arguments[0], options[0], options[1], options[2]) : 0;
		if (made || PyErr_Occurred())
			return made;
	}
	return long_way(function, arguments, flags, names);
}

PyObject *core_shorten(PyObject *module, PyObject *arguments) {
	static const char *const names[3] = {"dtype", "squares", "out"};
	PyObject *function;
	Py_ssize_t get, set; // addresses of PyVectorcall_Function and PyFunction_SetVectorcall
	(void)module;
	if (!PyArg_ParseTuple(arguments, "Onn", &function, &get, &set))
		return 0;
	for (int i = 0; i < 3; i++)
		if (!keywords[i] && !(keywords[i] = PyUnicode_InternFromString(names[i])))
			return 0;
	long_way = ((vectorcall * (*)(PyObject *)) get)(function);
	if (long_way)
		((void (*)(PyObject *, vectorcall *))set)(function, short_way);
	Py_RETURN_NONE;
}

// set_form fills in a form from a layout of boxsum._memory.
static int set_form(form *f, PyObject *layout, int nd) {
	PyObject *shape = PyObject_GetAttrString(layout, "shape"), *shelf = PyObject_GetAttrString(layout, "shelf");
	f->descr = PyObject_GetAttrString(layout, "dtype");
	f->shelf = shelf ? PyLong_AsLong(shelf) : -1;
	if (shape && f->descr && PyTuple_Check(shape) && PyTuple_Size(shape) == nd) {
		for (int i = 0; i < nd; i++)
			f->shape[i] = (intptr_t)PyLong_AsSsize_t(PyTuple_GetItem(shape, i));
		PyObject *size = PyObject_GetAttrString(f->descr, "itemsize");
		f->itemsize = size ? (int)PyLong_AsLong(size) : 0;
		f->kind = ((numpy_descr *)f->descr)->kind;
		Py_XDECREF(size);
	} else if (!PyErr_Occurred()) {
		PyErr_SetString(PyExc_TypeError, "not a layout");
	}
	if (!PyErr_Occurred() && f->shelf >= 0)
		f->flat = PyObject_GetAttrString(layout, "flat");
	PyObject *strides = PyErr_Occurred() ? 0 : PyObject_GetAttrString(layout, "strides");
	if (strides && strides != Py_None && PyTuple_Check(strides) && PyTuple_Size(strides) == nd) {
		PyObject *bytes = PyObject_GetAttrString(layout, "bytes"), *lead = PyObject_GetAttrString(layout, "lead");
		for (int i = 0; i < nd; i++)
			f->strides[i] = (intptr_t)PyLong_AsSsize_t(PyTuple_GetItem(strides, i));
		f->bytes = bytes ? (intptr_t)PyLong_AsSsize_t(bytes) : 0;
		f->lead = lead ? (intptr_t)PyLong_AsSsize_t(lead) : 0;
		Py_XDECREF(bytes);
		Py_XDECREF(lead);
	}
	Py_XDECREF(strides);
	Py_XDECREF(shape);
	Py_XDECREF(shelf);
	return PyErr_Occurred() ? -1 : 0;
}

PyObject *core_remember(PyObject *module, PyObject *arguments) {
	PyObject *image, *dtype, *sums, *squares;
	int squared;
	(void)module;
	if (!PyArg_ParseTuple(arguments, "OOOOp", &image, &dtype, &sums, &squares, &squared))
		return 0;
	if (!is_plain(image))
		Py_RETURN_NONE;
	const numpy_array *a = (numpy_array *)image;
	known k = {.image = a->descr, .dtype = dtype, .nd = a->nd, .squared = squared, .kind = ((numpy_descr *)a->descr)->kind};
	for (int i = 0; i < a->nd; i++)
		k.shape[i] = a->shape[i];
	Py_INCREF(k.image);
	Py_INCREF(k.dtype);
	PyObject *size = PyObject_GetAttrString(a->descr, "itemsize");
	k.itemsize = size ? (int)PyLong_AsLong(size) : 0;
	Py_XDECREF(size);
	if (PyErr_Occurred() || set_form(&k.tables[0], sums, k.nd) || set_form(&k.tables[1], squares, k.nd)) {
		drop(&k);
		return 0;
	}
	lock();
	known *at = place(a, dtype), before = *at;
	*at = k;
	unlock();
	drop(&before);
	Py_RETURN_NONE;
}

// agree reports whether arrays have the layout that this file assumes.
static int agree(PyObject *array) {
	PyObject *capsule;
	boxsum_array *said = array_struct(array, &capsule);
	if (!said)
		return 0;
	const numpy_array *a = (numpy_array *)array;
	int yes = a->nd == said->nd && a->data == said->data && (PyObject *)Py_TYPE(a->descr) != 0;
	for (int i = 0; yes && i < a->nd; i++)
		yes = a->shape[i] == said->shape[i] && a->strides[i] == said->strides[i];
	PyObject *descr = PyObject_GetAttrString(array, "dtype");
	if (yes && descr == a->descr) {
		boxsum_array mine = struct_of(array, ((numpy_descr *)descr)->kind, said->itemsize);
		char order = ((numpy_descr *)descr)->byteorder;
		yes = mine.typekind == said->typekind && (order == '=' || order == '|') == !!(said->flags & boxsum_not_swapped);
		yes = yes && ((mine.flags ^ said->flags) & (boxsum_aligned | boxsum_writeable)) == 0;
	} else {
		yes = 0;
	}
	Py_XDECREF(descr);
	Py_DECREF(capsule);
	return yes;
}

PyObject *core_know(PyObject *module, PyObject *arguments) {
	PyObject *samples, *capsule, *asarray, *bytes;
	(void)module;
	if (!PyArg_ParseTuple(arguments, "OOOO!", &capsule, &asarray, &bytes, &PyTuple_Type, &samples))
		return 0;
	void **api = PyCapsule_GetPointer(capsule, 0);
	if (!api)
		return 0;
	for (Py_ssize_t i = 0; i < PyTuple_Size(samples); i++) {
		PyObject *sample = PyTuple_GetItem(samples, i);
		if ((void *)Py_TYPE(sample) != api[array_type_at] || !agree(sample)) {
			PyErr_Clear();
			Py_RETURN_FALSE;
		}
	}
	Py_INCREF(asarray);
	Py_XDECREF(as_array);
	as_array = asarray;
	Py_INCREF(bytes);
	Py_XDECREF(bytes_descr);
	bytes_descr = bytes;
	*(void **)&new_array = api[new_from_descr_at];
	*(void **)&set_base = api[set_base_at];
	array_type = (PyTypeObject *)api[array_type_at];
	Py_RETURN_TRUE;
}
