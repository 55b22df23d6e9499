// Tensors of libraries that support DLPack's C exchange API, and launches of their kernels that
// bypass Go: for small tensors the host's time per call matters as much as the kernel's.

#include "core.h"
#include "tensor.h"

// The content of the attribute __dlpack_c_exchange_api__ of a library's tensor type.
typedef struct {
	uint32_t major, minor;
	void *older;
	void *allocate, *lend, *take;
	int (*look)(void *object, tensor *to);
	int (*stream)(int32_t device_type, int32_t device_id, void **to);
} exchange;

static PyTypeObject *known; // the tensor type
static const exchange *api;

PyObject *core_exchange(PyObject *module, PyObject *type) {
	(void)module;
	PyObject *capsule = PyObject_GetAttrString(type, "__dlpack_c_exchange_api__");
	const exchange *found = capsule && PyCapsule_IsValid(capsule, "dlpack_exchange_api") ? PyCapsule_GetPointer(capsule, "dlpack_exchange_api") : 0;
	Py_XDECREF(capsule); // the API is never freed
	PyErr_Clear();
	if (!found || found->major != 1 || !found->look || !found->stream || !PyType_Check(type))
		Py_RETURN_FALSE;
	Py_INCREF(type);
	Py_XDECREF((PyObject *)known);
	known = (PyTypeObject *)type;
	api = found;
	Py_RETURN_TRUE;
}

// look reads a tensor on a device. It returns 0, or -1 without an exception for any other object.
static int look(PyObject *object, tensor *to) {
	if (!known || Py_TYPE(object) != known)
		return -1;
	if (api->look(object, to)) {
		PyErr_Clear();
		return -1;
	}
	return to->device_type == cuda && to->ndim <= most_axes ? 0 : -1;
}

enum { most_words = 1 + 2 * (2 + 2 * most_axes) }; // of a description

// add appends a tensor's properties to a description, and returns its new length.
static size_t add(int64_t *text, size_t length, const tensor *t) {
	text[length++] = t->device_id;
	text[length++] = (int64_t)t->code << 32 | (int64_t)t->bits << 24 | (int64_t)t->lanes << 8 | t->ndim;
	for (int k = 0; k < t->ndim; k++) {
		text[length++] = t->shape[k];
		text[length++] = t->strides[k];
	}
	return length;
}

static PyObject *bytes_of(const int64_t *text, size_t length) {
	return PyBytes_FromStringAndSize((const char *)text, (Py_ssize_t)(length * sizeof *text));
}

PyObject *core_describe(PyObject *module, PyObject *const *arguments, Py_ssize_t count) {
	int64_t text[most_words];
	size_t length = 1;
	(void)module;
	if (count < 2 || count > 3)
		return PyErr_Format(PyExc_TypeError, "describe takes a number and one or two tensors");
	text[0] = PyLong_AsLongLong(arguments[0]);
	if (text[0] == -1 && PyErr_Occurred())
		return 0;
	for (Py_ssize_t i = 1; i < count; i++) {
		tensor t;
		if (look(arguments[i], &t))
			Py_RETURN_NONE;
		length = add(text, length, &t);
	}
	return bytes_of(text, length);
}

// A recipe is a launch that Go has prepared; see interop.Recipe.
typedef struct {
	int (*launch)(void *config, void *function, void **parameters, void **extra);
	int (*current)(void **context);
	void *function, *context;
	int64_t blocks, threads, shared, cluster;
	int64_t lead;         // from the start of the table's memory to where the kernel writes
	int64_t in_low, out_low; // the last four bits of the addresses that it was prepared for
	int64_t bytes;        // of the job that follows
} recipe;

// CUlaunchAttribute and CUlaunchConfig of the driver.
typedef struct {
	int64_t id;
	uint32_t value[16];
} launch_attribute;

typedef struct {
	uint32_t grid[3], block[3], shared;
	void *stream;
	launch_attribute *attributes;
	uint32_t count;
} launch_config;

enum { cluster_dimension = 4, most_job = 256 };

// cook launches a recipe, and returns 0 on success.
static int cook(PyObject *text, uintptr_t in, uintptr_t out, void *stream) {
	const recipe *r = (const recipe *)PyBytes_AsString(text);
	if ((size_t)PyBytes_Size(text) < sizeof *r || (size_t)PyBytes_Size(text) != sizeof *r + (size_t)r->bytes || r->bytes > most_job)
		return -1;
	out += (uintptr_t)r->lead;
	void *context;
	if ((int64_t)(in & 15) != r->in_low || (int64_t)(out & 15) != r->out_low || r->current(&context) || context != r->context)
		return -1;
	int64_t job[most_job / 8];
	memcpy(job, r + 1, (size_t)r->bytes);
	memcpy(job, &in, sizeof in);
	memcpy(job + 1, &out, sizeof out);
	void *parameters[] = {job};
	launch_attribute cluster = {cluster_dimension, {(uint32_t)r->cluster, 1, 1}};
	launch_config config = {{(uint32_t)r->blocks, 1, 1}, {(uint32_t)r->threads, 1, 1}, (uint32_t)r->shared, stream, &cluster, r->cluster > 1};
	int failed;
	Py_BEGIN_ALLOW_THREADS // the driver blocks if too much is queued
	failed = r->launch(&config, r->function, parameters, 0);
	Py_END_ALLOW_THREADS
	return failed ? -1 : 0; // the slow path reports the reason
}

static PyObject *launch(PyObject *number, PyObject *text, const tensor *in, const tensor *out) {
	void *stream;
	if (in->device_id != out->device_id || api->stream(cuda, in->device_id, &stream))
		return PyErr_Occurred() ? 0 : PyErr_Format(PyExc_TypeError, "launch takes tensors of one device");
	uintptr_t from = (uintptr_t)in->data + in->byte_offset, to = (uintptr_t)out->data + out->byte_offset;
	if (PyBytes_CheckExact(text) && !cook(text, from, to, stream))
		Py_RETURN_NONE;
	long long plan = PyLong_AsLongLong(number);
	if (plan == -1 && PyErr_Occurred())
		return 0;
	return library_queue(plan, (long long)from, (long long)to, (long long)(intptr_t)stream);
}

PyObject *core_launch(PyObject *module, PyObject *const *arguments, Py_ssize_t count) {
	tensor in, out;
	(void)module;
	if (count != 4)
		return PyErr_Format(PyExc_TypeError, "launch takes a plan, a recipe or None, and two tensors");
	if (look(arguments[2], &in) || look(arguments[3], &out))
		return PyErr_Format(PyExc_TypeError, "launch takes tensors of a device");
	return launch(arguments[0], arguments[1], &in, &out);
}

PyObject *core_repeat(PyObject *module, PyObject *const *arguments, Py_ssize_t count) {
	int64_t text[most_words];
	tensor in, out;
	(void)module;
	if (count != 3 || !PyDict_Check(arguments[0]))
		return PyErr_Format(PyExc_TypeError, "repeat takes a dictionary, a number and a tensor");
	text[0] = PyLong_AsLongLong(arguments[1]);
	if (text[0] == -1 && PyErr_Occurred())
		return 0;
	if (look(arguments[2], &in))
		Py_RETURN_NONE;
	PyObject *key = bytes_of(text, add(text, 1, &in));
	PyObject *ready = key ? PyDict_GetItemWithError(arguments[0], key) : 0;
	Py_XDECREF(key);
	if (!ready) {
		if (PyErr_Occurred())
			return 0;
		Py_RETURN_NONE;
	}
	Py_INCREF(ready); // the cache may drop it meanwhile
	PyObject *made = 0, *done = 0;
	if (PyTuple_Check(ready) && PyTuple_Size(ready) == 3)
		made = PyObject_CallObject(PyTuple_GetItem(ready, 2), 0);
	if (made && !look(made, &out))
		done = launch(PyTuple_GetItem(ready, 0), PyTuple_GetItem(ready, 1), &in, &out);
	Py_DECREF(ready);
	if (done) {
		Py_DECREF(done);
		return made;
	}
	Py_XDECREF(made);
	return PyErr_Occurred() ? 0 : PyErr_Format(PyExc_TypeError, "repeat takes what launch does, and what makes the result");
}
