// The usual calls of boxsum.blur, box_filter, local_mean, local_std and local_var, with minimal overhead: windows of one size, and
// Gaussians. All other calls take the long way, in Python, which also reports wrong arguments.

#include "core.h"

// A filter is a function that is shortened, with its original vectorcall.
typedef struct {
	const char *name; // of the filter in the library
	int floats;       // results are floats, of 64 bits if the pixels are
	const char *size; // the name of the argument after the image
	int least, across; // its least value, and the width of a window by it: across*size + 1 - least
	PyObject *function;
	vectorcall *long_way;
} filter;

enum { blur, count_filters = 5 };
static filter filters[count_filters] = {
	{"box", 0, "radius", 0, 2, 0, 0},  {"box", 0, "window", 1, 1, 0, 0},      {"mean", 1, "window", 1, 1, 0, 0},
	{"std", 1, "window", 1, 1, 0, 0},  {"variance", 1, "window", 1, 1, 0, 0},
};

// The arguments besides the image.
enum { size_argument, out_argument, border_argument, workers_argument, sigma_argument, count_arguments };
static PyObject *names[count_filters][count_arguments];
static PyObject *float_descr[2]; // of 32 and 64 bits

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

// sigma_of returns a standard deviation, or -1.
static double sigma_of(PyObject *sigma) {
	if (!PyFloat_CheckExact(sigma))
		return (double)number_of(sigma, 0, 1 << 20);
	double value = PyFloat_AsDouble(sigma);
	return value >= 0 ? value : -1;
}

static int fits(PyObject *out, const numpy_array *image, PyObject *descr) {
	const numpy_array *o = (numpy_array *)out;
	if (!is_plain(out) || o->descr != descr || o->nd != image->nd)
		return 0;
	for (int i = 0; i < o->nd; i++)
		if (o->shape[i] != image->shape[i])
			return 0;
	return 1;
}

// quick returns the filtered image; or 0, with an exception, or without one for the long way.
static PyObject *quick(const filter *f, PyObject *image, PyObject *const *given) {
	long width = 0, height = 0, workers = 0;
	double sigma = 0;
	PyObject *size = given[size_argument], *out = given[out_argument], *border = 0, *made = 0;
	int gaussian = !size && given[sigma_argument];
	if (!library_ready() || !is_image(image) || !size + !given[sigma_argument] != 1)
		return 0;
	if (gaussian) {
		sigma = sigma_of(given[sigma_argument]);
	} else if (PyTuple_CheckExact(size) && PyTuple_Size(size) == 2) {
		width = side_of(f, PyTuple_GetItem(size, 0));
		height = side_of(f, PyTuple_GetItem(size, 1));
	} else {
		width = height = side_of(f, size);
	}
	if (given[workers_argument] && given[workers_argument] != Py_None)
		workers = number_of(given[workers_argument], 1, 1 << 20);
	if (width < 0 || height < 0 || workers < 0 || sigma < 0)
		return 0;
	const numpy_array *a = (numpy_array *)image;
	const numpy_descr *d = (numpy_descr *)a->descr;
	PyObject *result = f->floats ? float_descr[d->code == 'd'] : a->descr;
	const numpy_descr *r = (numpy_descr *)result;
	if (out && out != Py_None) {
		if (!fits(out, a, result))
			return 0;
		Py_INCREF(out);
	} else {
		intptr_t bytes = bytes_of(r);
		for (int i = 0; i < a->nd && bytes < own_pages; i++)
			bytes *= a->shape[i] < own_pages ? a->shape[i] : own_pages;
		if (bytes >= own_pages || !(out = new_plain(image, result)))
			return 0;
	}
	boxsum_array arrays[2] = {struct_of(image, d->kind, bytes_of(d)), struct_of(out, r->kind, bytes_of(r))};
	boxsum_value from = {boxsum_array_value, 0, 0, &arrays[0]}, to = {boxsum_array_value, 0, 0, &arrays[1]}, side = {boxsum_text, 10, 0, "reflect101"};
	if (given[border_argument]) {
		border = PyUnicode_Check(given[border_argument]) ? PyUnicode_AsUTF8String(given[border_argument]) : 0;
		if (!border)
			goto done;
		side = (boxsum_value){boxsum_text, PyBytes_Size(border), 0, PyBytes_AsString(border)};
	}
	const boxsum_value none = {0}, zero = {boxsum_number, 0, 0, 0}, real = {boxsum_real, 0, 0, 0}, threads = {boxsum_number, workers, 0, 0};
	int failed;
	if (gaussian) {
		boxsum_value deviation = {boxsum_real, 0, sigma, 0}, values[] = {from, to, deviation, deviation, zero, side, real, threads};
		failed = library_filter(1, values, 8);
	} else {
		boxsum_value name = {boxsum_text, (int64_t)strlen(f->name), 0, (void *)f->name}, across = {boxsum_number, width, 0, 0}, down = {boxsum_number, height, 0, 0};
		boxsum_value values[] = {name, from, to, none, across, down, zero, zero, side, real, threads, real, none, zero};
		failed = library_filter(0, values, 14);
	}
	if (!failed) {
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
	int which = 0;
	while (which < count_filters - 1 && function != filters[which].function)
		which++;
	if (count == 1 || count == 2) {
		Py_ssize_t n = named ? PyTuple_Size(named) : 0, known = 0;
		PyObject *given[count_arguments] = {count == 2 ? arguments[1] : 0};
		for (Py_ssize_t i = 0; i < n; i++)
			for (int k = count == 2; k < count_arguments; k++)
				if (names[which][k] && PyTuple_GetItem(named, i) == names[which][k]) {
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
	static const char *const others[] = {"out", "border", "workers", "sigma"};
	PyObject *function;
	int which;
	Py_ssize_t get, set; // addresses of PyVectorcall_Function and PyFunction_SetVectorcall
	(void)module;
	PyObject *descr[2];
	if (!PyArg_ParseTuple(arguments, "OinnOO", &function, &which, &get, &set, &descr[0], &descr[1]))
		return 0;
	if (which < 0 || which >= count_filters)
		return PyErr_Format(PyExc_ValueError, "which is %d, want 0 to %d", which, count_filters - 1);
	for (int i = 0; i < 2; i++) {
		Py_INCREF(descr[i]);
		Py_XDECREF(float_descr[i]);
		float_descr[i] = descr[i];
	}
	for (int k = 0; k < count_arguments - (which != blur); k++)
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
