// Calls of the Go library. It is loaded on first use, and again in the child of a fork. This module
// only knows the addresses of its functions.

#include "core.h"

static struct {
	char *(*call)(int64_t number, boxsum_value *arguments, int64_t count, boxsum_value *result);
	int64_t (*find)(const char *name);
	void (*free)(char *text);
	char *(*queue)(int64_t plan, int64_t image, int64_t table, int64_t stream);
} library;

static PyObject *load;       // loads the library
static PyObject *numbers;    // of functions, by name
static PyObject *array_name; // "__array_struct__"
static PyObject *layout_error;

int call_start(PyObject *module) {
	numbers = PyDict_New();
	array_name = PyUnicode_InternFromString("__array_struct__");
	layout_error = PyErr_NewExceptionWithDoc("boxsum._core.LayoutError", "The array must be copied first.", PyExc_ValueError, 0);
	if (!numbers || !array_name || !layout_error)
		return -1;
	Py_INCREF(layout_error);
	return PyModule_AddObject(module, "LayoutError", layout_error);
}

PyObject *core_use(PyObject *module, PyObject *arguments) {
	PyObject *loader;
	Py_ssize_t call, find, release, queue; // addresses
	(void)module;
	if (!PyArg_ParseTuple(arguments, "Onnnn", &loader, &call, &find, &release, &queue))
		return 0;
	Py_INCREF(loader);
	Py_XDECREF(load);
	load = loader;
	*(void **)&library.find = (void *)find;
	*(void **)&library.free = (void *)release;
	*(void **)&library.queue = (void *)queue;
	*(void **)&library.call = (void *)call;
	Py_RETURN_NONE;
}

boxsum_array *array_struct(PyObject *array, PyObject **capsule) {
	*capsule = PyObject_GetAttr(array, array_name);
	boxsum_array *found = *capsule ? PyCapsule_GetPointer(*capsule, 0) : 0;
	if (!found)
		Py_CLEAR(*capsule);
	if (!found && PyErr_ExceptionMatches(PyExc_AttributeError))
		PyErr_SetString(PyExc_TypeError, "not an array");
	return found;
}

// number_of returns the number of a function, or -1 with an exception.
static int64_t number_of(PyObject *name) {
	PyObject *known = PyDict_GetItemWithError(numbers, name);
	if (known)
		return PyLong_AsLongLong(known);
	PyObject *text = PyErr_Occurred() ? 0 : PyUnicode_AsUTF8String(name);
	if (!text)
		return -1;
	int64_t number = library.find(PyBytes_AsString(text));
	Py_DECREF(text);
	PyObject *value = number < 0 ? 0 : PyLong_FromLongLong(number);
	if (number < 0)
		PyErr_Format(PyExc_AttributeError, "the library has no function %S", name);
	int failed = !value || PyDict_SetItem(numbers, name, value);
	Py_XDECREF(value);
	return failed ? -1 : number;
}

// set stores a Python value as an argument. Memory that it points to lives as long as held.
static int set(boxsum_value *value, PyObject *argument, PyObject **held) {
	*held = 0;
	value->kind = boxsum_none;
	if (argument == Py_None)
		return 0;
	if (PyLong_Check(argument)) {
		value->kind = boxsum_number;
		value->number = PyLong_AsLongLong(argument);
		return value->number == -1 && PyErr_Occurred() ? -1 : 0;
	}
	if (PyFloat_CheckExact(argument)) {
		value->kind = boxsum_real;
		value->real = PyFloat_AsDouble(argument);
		return 0;
	}
	if (PyBytes_CheckExact(argument)) {
		value->kind = boxsum_text;
		value->number = PyBytes_Size(argument);
		value->pointer = PyBytes_AsString(argument);
		return 0;
	}
	value->kind = boxsum_array_value;
	value->pointer = array_struct(argument, held);
	return value->pointer ? 0 : -1;
}

// text_of converts a text of the library's, and frees it.
static PyObject *text_of(char *text, size_t skipped) {
	PyObject *message = PyUnicode_DecodeUTF8(text + skipped, (Py_ssize_t)strlen(text + skipped), "replace");
	library.free(text);
	return message;
}

// fail_of_file raises the OSError of an error number, a path, which may be empty, and a message,
// which are one line each.
static void fail_of_file(char *text) {
	char *path = strchr(text, '\n') + 1, *end = strchr(path, '\n');
	long number = strtol(text + 1, 0, 10);
	PyObject *made;
	*end = 0;
	if (*path) {
		PyObject *name = PyUnicode_DecodeFSDefault(path);
		made = name ? PyObject_CallFunction(PyExc_OSError, "lsO", number, strerror((int)number), name) : 0;
		Py_XDECREF(name);
	} else {
		made = PyObject_CallFunction(PyExc_OSError, "ls", number, end + 1);
	}
	library.free(text);
	if (made) {
		PyErr_SetObject((PyObject *)Py_TYPE(made), made);
		Py_DECREF(made);
	}
}

// fail raises the exception that the first letter of a text stands for.
static void fail(char *text) {
	if (*text == 'F') {
		fail_of_file(text);
		return;
	}
	PyObject *type = PyExc_ValueError;
	switch (*text) {
	case 'T': type = PyExc_TypeError; break;
	case 'M': type = PyExc_MemoryError; break;
	case 'R': type = PyExc_RuntimeError; break;
	case 'L': type = layout_error; break;
	}
	PyObject *message = text_of(text, 1);
	if (message) {
		PyErr_SetObject(type, message);
		Py_DECREF(message);
	}
}

int library_ready(void) { return library.call != 0; }

// outcome_of returns 0 if there is no error text, 1 if it says that the image must be copied first, or -1 with an exception.
static int outcome_of(char *text) {
	if (!text)
		return 0;
	if (*text == 'L') {
		library.free(text);
		return 1;
	}
	fail(text);
	return -1;
}

int library_integral(boxsum_value *values, int64_t count, int brief) {
	static int64_t number = -1;
	boxsum_value result = {0};
	char *text;
	if (number < 0)
		number = library.find("integral");
	if (brief) { // releasing the GIL would take as long as the call
		text = library.call(number, values, count, &result);
	} else {
		Py_BEGIN_ALLOW_THREADS
		text = library.call(number, values, count, &result);
		Py_END_ALLOW_THREADS
	}
	return outcome_of(text);
}

int library_filter(int gaussian, boxsum_value *values, int64_t count) {
	static int64_t numbers_of[2] = {-1, -1};
	boxsum_value result = {0};
	char *text;
	if (numbers_of[gaussian] < 0)
		numbers_of[gaussian] = library.find(gaussian ? "gaussian" : "filter");
	int64_t number = numbers_of[gaussian];
	Py_BEGIN_ALLOW_THREADS
	text = library.call(number, values, count, &result);
	Py_END_ALLOW_THREADS
	return outcome_of(text);
}

char *library_batch(boxsum_value *values, int64_t count) {
	boxsum_value result = {0};
	return library.call(library.find("batch"), values, count, &result);
}

void library_free(char *text) { library.free(text); }

PyObject *library_queue(long long plan, long long image, long long table, long long stream) {
	char *text;
	if (!library.queue)
		return PyErr_Format(PyExc_RuntimeError, "there is no library");
	Py_BEGIN_ALLOW_THREADS
	text = library.queue(plan, image, table, stream);
	Py_END_ALLOW_THREADS
	if (text) {
		fail(text);
		return 0;
	}
	Py_RETURN_NONE;
}

PyObject *core_queue(PyObject *module, PyObject *const *arguments, Py_ssize_t count) {
	long long numbers[4];
	(void)module;
	if (count != 4)
		return PyErr_Format(PyExc_TypeError, "queue takes a plan, two addresses and a stream");
	for (int i = 0; i < 4; i++) {
		numbers[i] = PyLong_AsLongLong(arguments[i]);
		if (numbers[i] == -1 && PyErr_Occurred())
			return 0;
	}
	return library_queue(numbers[0], numbers[1], numbers[2], numbers[3]);
}

enum { most_arguments = 24 };

PyObject *core_call(PyObject *module, PyObject *arguments) {
	boxsum_value values[most_arguments], result = {0};
	PyObject *held[most_arguments], *made = 0;
	Py_ssize_t count = PyTuple_Size(arguments) - 1, ready = 0;
	(void)module;
	if (count < 0 || count > most_arguments)
		return PyErr_Format(PyExc_TypeError, "call takes a name and up to %d arguments", most_arguments);
	if (!library.call) {
		PyObject *none = load ? PyObject_CallObject(load, 0) : PyErr_Format(PyExc_RuntimeError, "there is no library");
		if (!none)
			return 0;
		Py_DECREF(none);
	}
	int64_t number = number_of(PyTuple_GetItem(arguments, 0));
	if (number < 0)
		return 0;
	for (; ready < count; ready++)
		if (set(&values[ready], PyTuple_GetItem(arguments, ready + 1), &held[ready]))
			goto done;
	char *text;
	Py_BEGIN_ALLOW_THREADS
	text = library.call(number, values, count, &result);
	Py_END_ALLOW_THREADS
	if (text) {
		fail(text);
	} else if (result.kind == boxsum_number) {
		made = PyLong_FromLongLong(result.number);
	} else if (result.kind == boxsum_text) {
		made = text_of(result.pointer, 0);
	} else {
		Py_INCREF(Py_None);
		made = Py_None;
	}
done:
	while (ready-- > 0)
		Py_XDECREF(held[ready]);
	return made;
}
