#include "core.h"

static PyMethodDef functions[] = {
	{"use", core_use, METH_VARARGS, "use(load, call, find, free, queue): the functions of the library, as addresses; load() calls this, and is called before the first call."},
	{"call", core_call, METH_VARARGS, "call(name, *arguments): a function of the library, without the GIL. Arrays go in as their structures."},
	{"queue", (PyCFunction)(void (*)(void))core_queue, METH_FASTCALL, "queue(plan, image, table, stream): a table on a device, by the plan of another with other addresses."},
	{"exchange", core_exchange, METH_O, "exchange(type): reports whether tensors of a type tell C code where they are; describe and launch take them then."},
	{"describe", (PyCFunction)(void (*)(void))core_describe, METH_FASTCALL, "describe(number, tensor, ...): a key of the sizes, strides, types and devices of tensors on a device, None of others."},
	{"launch", (PyCFunction)(void (*)(void))core_launch, METH_FASTCALL, "launch(plan, recipe, image, table): queue for tensors on their current stream, by a recipe if there is one that fits."},
	{"repeat", (PyCFunction)(void (*)(void))core_repeat, METH_FASTCALL, "repeat(ready, number, image): launch with a new result, by the plan, the recipe and the maker that ready has for the description of image; None for none."},
	{"xla", core_xla, METH_O, "xla(name): a capsule of the function that programs of XLA call for integral, suffix or window on a processor."},
	{"lend", core_lend, METH_VARARGS, "lend(shelf, layout): a lease of a block that is kept, or None."},
	{"add", core_add, METH_VARARGS, "add(shelf, pages, layout): a lease of a new block, the whole of an array of bytes."},
	{"limit", core_limit, METH_VARARGS, "limit(bytes): says how much to keep, and returns how much is kept."},
	{"to_dlpack", core_to_dlpack, METH_VARARGS, "to_dlpack(layout, device, owner): a capsule for an array on a CUDA device."},
	{"from_dlpack", core_from_dlpack, METH_O, "from_dlpack(capsule): pointer, device, code, bits, lanes, shape, and strides or None."},
	{"integral", (PyCFunction)(void (*)(void))core_integral, METH_FASTCALL, "integral(image, dtype, squares, out): the table, or both, that remember knows of, or None for what takes the long way."},
	{"shorten", core_shorten, METH_VARARGS, "shorten(function, get, set): has calls of boxsum.integral tried by integral first; get and set are addresses."},
	{"shorten_filter", core_shorten_filter, METH_VARARGS, "shorten_filter(function, which, get, set, singles, doubles): has usual calls of a filter run without Python: of blur, 0, box_filter, local_mean, local_std or local_var, 4."},
	{"remember", core_remember, METH_VARARGS, "remember(image, dtype, sums, squares, squared): the layouts of tables of such images, squared says whether both are made at once."},
	{"know", core_know, METH_VARARGS, "know(api, asarray, uint8, samples): reports whether arrays of NumPy are what this module takes them for."},
	{0},
};

static struct PyModuleDef definition = {PyModuleDef_HEAD_INIT, .m_name = "boxsum._core", .m_size = -1, .m_methods = functions};

PyMODINIT_FUNC PyInit__core(void) {
	PyObject *module = PyModule_Create(&definition);
	if (module && (call_start(module) || lease_start())) {
		Py_DECREF(module);
		return 0;
	}
#ifdef Py_GIL_DISABLED
	PyUnstable_Module_SetGIL(module, Py_MOD_GIL_NOT_USED);
#endif
	return module;
}
