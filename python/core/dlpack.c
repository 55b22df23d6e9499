// Arrays on CUDA devices as DLPack represents them: a C structure in a capsule.

#include "core.h"
#include "tensor.h"

typedef struct managed {
	tensor tensor;
	void *context;
	void (*deleter)(struct managed *);
} managed;

// An exported array, and the owner of its memory.
typedef struct {
	managed managed;
	int64_t shape[4], strides[4];
	PyObject *owner;
} lent;

static const char name[] = "dltensor", codes[] = "iuf";

static void delete(managed *m) {
	PyGILState_STATE state = PyGILState_Ensure(); // may be called from any thread
	Py_DECREF(((lent *)m)->owner);
	PyMem_Free(m);
	PyGILState_Release(state);
}

static void drop(PyObject *capsule) {
	if (PyCapsule_IsValid(capsule, name)) // nobody consumed it
		delete(PyCapsule_GetPointer(capsule, name));
}

PyObject *core_to_dlpack(PyObject *module, PyObject *arguments) {
	boxsum_flat_array flat;
	const char *layout;
	Py_ssize_t bytes;
	int device;
	PyObject *owner;
	(void)module;
	if (!PyArg_ParseTuple(arguments, "y#iO", &layout, &bytes, &device, &owner))
		return 0;
	memcpy(&flat, layout, bytes == sizeof flat ? sizeof flat : 0);
	const char *code = bytes == sizeof flat ? strchr(codes, (int)flat.kind) : 0;
	if (!code || flat.axes < 0 || flat.axes > 4)
		return PyErr_Format(PyExc_TypeError, "not a layout");
	lent *l = PyMem_Malloc(sizeof *l);
	if (!l)
		return PyErr_NoMemory();
	for (int i = 0; i < flat.axes; i++)
		l->shape[i] = flat.shape[i], l->strides[i] = flat.strides[i] / flat.bytes;
	l->managed = (managed){
		{(void *)(intptr_t)flat.address, cuda, device, (int32_t)flat.axes, (uint8_t)(code - codes), (uint8_t)(8 * flat.bytes), 1, l->shape, l->strides, 0},
		0, delete,
	};
	Py_INCREF(owner);
	l->owner = owner;
	PyObject *capsule = PyCapsule_New(&l->managed, name, drop);
	if (!capsule)
		delete(&l->managed);
	return capsule;
}

static PyObject *tuple(const int64_t *numbers, int count) {
	PyObject *made = PyTuple_New(count);
	for (int i = 0; made && i < count; i++) {
		PyObject *number = PyLong_FromLongLong(numbers[i]);
		if (!number || PyTuple_SetItem(made, i, number)) {
			Py_DECREF(made);
			return 0;
		}
	}
	return made;
}

PyObject *core_from_dlpack(PyObject *module, PyObject *capsule) {
	(void)module;
	managed *m = PyCapsule_GetPointer(capsule, name);
	if (!m)
		return 0;
	tensor *t = &m->tensor;
	PyObject *shape = tuple(t->shape, t->ndim), *strides = t->strides ? tuple(t->strides, t->ndim) : Py_BuildValue("");
	if (!shape || !strides) {
		Py_XDECREF(shape);
		Py_XDECREF(strides);
		return 0;
	}
	unsigned long long pointer = (unsigned long long)(uintptr_t)t->data + t->byte_offset;
	return Py_BuildValue("KiiiiNN", pointer, t->device_id, t->code, t->bits, t->lanes, shape, strides);
}
