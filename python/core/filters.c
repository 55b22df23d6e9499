// The usual calls of boxsum.blur and boxsum.box_filter, with minimal overhead: means of boxes of one size in the type of the
// pixels. All other calls take the long way, in Python, which also reports wrong arguments.

#include "core.h"

// A filter is a function that is shortened, with its original vectorcall.
typedef struct {
	const char *size; // the name of the argument after the image
	int least, across; // its least value, and the width of a window by it: across*size + 1 - least
	PyObject *function;
	vectorcall *long_way;
} filter;

static filter filters[] = {{"radius", 0, 2, 0, 0}, {"window", 1, 1, 0, 0}};

// The arguments besides the image.
enum { size_argument, out_argument, border_argument, workers_argument, count_arguments };
static PyObject *names[2][count_arguments];

static const long largest = (1 << 30) - 1; // side of a window
static const intptr_t own_pages = 2 << 20; // results of this many bytes have pages of their own

// bytes_of returns the size of a pixel that is filtered in place, or 0.
static int bytes_of(const numpy_descr *d) {
	switch (d->code) {
	case 'B': return 1;
	case 'H': return 2;
	case 'f': return 4;
	case 'd': return 8;
	}
	return 0;
}

// is_image reports whether an array is an image for which the long way has no questions: it warns of planes of color.
static int is_image(PyObject *array) {
	if (!is_plain(array))
		return 0;
	const numpy_array *a = (numpy_array *)array;
	return bytes_of((numpy_descr *)a->descr) > 0 && (a->nd == 2 || a->shape[0] == 0 || a->shape[0] > 4);
}

// number_of returns an int in a range, or -1.
static long number_of(PyObject *number, long least, long most) {
	if (!PyLong_CheckExact(number))
		return -1;
	int over;
	long long value = PyLong_AsLongLongAndOverflow(number, &over);
	return over || value < least || value > most ? -1 : (long)value;
}

// side_of returns the side of a window, or -1.
static long side_of(const filter *f, PyObject *size) {
	long value = number_of(size, f->least, largest / f->across);
	return value < 0 ? -1 : f->across * value + 1 - f->least;
}

static int fits(PyObject *out, const numpy_array *image) {
	const numpy_array *o = (numpy_array *)out;
	if (!is_plain(out) || o->descr != image->descr || o->nd != image->nd)
		return 0;
	for (int i = 0; i < o->nd; i++)
		if (o->shape[i] != image->shape[i])
			return 0;
	return 1;
}

// quick returns the filtered image; or 0, with an exception, or without one for the long way.
static PyObject *quick(const filter *f, PyObject *image, PyObject *const *given) {
	long width, height, workers = 0;
	PyObject *size = given[size_argument], *out = given[out_argument], *border = 0, *made = 0;
	if (!library_ready() || !is_image(image) || !size)
		return 0;
	if (PyTuple_CheckExact(size) && PyTuple_Size(size) == 2) {
		width = side_of(f, PyTuple_GetItem(size, 0));
		height = side_of(f, PyTuple_GetItem(size, 1));
	} else {
		width = height = side_of(f, size);
	}
	if (given[workers_argument] && given[workers_argument] != Py_None)
		workers = number_of(given[workers_argument], 1, 1 << 20);
	if (width < 0 || height < 0 || workers < 0)
		return 0;
	const numpy_array *a = (numpy_array *)image;
	const numpy_descr *d = (numpy_descr *)a->descr;
	if (out && out != Py_None) {
		if (!fits(out, a))
			return 0;
		Py_INCREF(out);
	} else {
		intptr_t bytes = bytes_of(d);
		for (int i = 0; i < a->nd && bytes < own_pages; i++)
			bytes *= a->shape[i] < own_pages ? a->shape[i] : own_pages;
		if (bytes >= own_pages || !(out = new_plain(image)))
			return 0;
	}
	boxsum_value values[14] = {{boxsum_text, 3, 0, "box"}, {boxsum_array_value, 0, 0, 0}, {boxsum_array_value, 0, 0, 0}};
	boxsum_array arrays[2] = {struct_of(image, d->kind, bytes_of(d)), struct_of(out, d->kind, bytes_of(d))};
	values[1].pointer = &arrays[0];
	values[2].pointer = &arrays[1];
	values[4] = (boxsum_value){boxsum_number, width, 0, 0};
	values[5] = (boxsum_value){boxsum_number, height, 0, 0};
	values[6] = values[7] = (boxsum_value){boxsum_number, 0, 0, 0};
	values[8] = (boxsum_value){boxsum_text, 10, 0, "reflect101"};
	if (given[border_argument]) {
		border = PyUnicode_Check(given[border_argument]) ? PyUnicode_AsUTF8String(given[border_argument]) : 0;
		if (!border)
			goto done;
		values[8] = (boxsum_value){boxsum_text, PyBytes_Size(border), 0, PyBytes_AsString(border)};
	}
	values[9] = values[11] = (boxsum_value){boxsum_real, 0, 0, 0};
	values[10] = (boxsum_value){boxsum_number, workers, 0, 0};
	values[13] = (boxsum_value){boxsum_number, 0, 0, 0};
	if (library_filter(values, 14) == 0) {
		made = out;
		out = 0;
	}
done:
	Py_XDECREF(border);
	Py_XDECREF(out);
	return made;
}

static PyObject *short_way(PyObject *function, PyObject *const *arguments, size_t flags, PyObject *named) {
	size_t count = flags & ~((size_t)1 << (8 * sizeof flags - 1)); // equals PyVectorcall_NARGS
	int which = function == filters[1].function;
	if (count == 1 || count == 2) {
		Py_ssize_t n = named ? PyTuple_Size(named) : 0, known = 0;
		PyObject *given[count_arguments] = {count == 2 ? arguments[1] : 0};
		for (Py_ssize_t i = 0; i < n; i++)
			for (int k = count == 2; k < count_arguments; k++)
				if (PyTuple_GetItem(named, i) == names[which][k]) {
					given[k] = arguments[count + (size_t)i];
					known++;
				}
		PyObject *made = known == n ? quick(&filters[which], arguments[0], given) : 0;
		if (made || PyErr_Occurred())
			return made;
	}
	return filters[which].long_way(function, arguments, flags, named);
}

PyObject *core_shorten_filter(PyObject *module, PyObject *arguments) {
	static const char *const others[] = {"out", "border", "workers"};
	PyObject *function;
	int which;
	Py_ssize_t get, set; // addresses of PyVectorcall_Function and PyFunction_SetVectorcall
	(void)module;
	if (!PyArg_ParseTuple(arguments, "Oinn", &function, &which, &get, &set))
		return 0;
	if (which < 0 || which > 1)
		return PyErr_Format(PyExc_ValueError, "which is %d, want 0 or 1", which);
	for (int k = 0; k < count_arguments; k++)
		if (!names[which][k] && !(names[which][k] = PyUnicode_InternFromString(k ? others[k - 1] : filters[which].size)))
			return 0;
	filters[which].long_way = ((vectorcall * (*)(PyObject *)) get)(function);
	if (filters[which].long_way) {
		Py_INCREF(function);
		filters[which].function = function;
		((void (*)(PyObject *, vectorcall *))set)(function, short_way);
	}
	Py_RETURN_NONE;
}
