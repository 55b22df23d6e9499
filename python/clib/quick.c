// The most frequent calls as functions of Python's own: ctypes would take longer to
// convert their arguments than they take otherwise.

#include "_cgo_export.h"
#include "python.h"

python_functions py;
static object *nothing;      // None
static object *array_struct; // "__array_struct__"

object *none(void) {
	py.keep(nothing);
	return nothing;
}

// boxsum_python tells where the functions of python_functions and None are, and how
// many bytes an object has in front. It returns 0, or -1 with an exception.
int boxsum_python(void **functions, void *none, int64_t head) {
	void **to = (void **)&py;
	for (size_t i = 0; i < sizeof py / sizeof *to; i++)
		to[i] = functions[i];
	nothing = none;
	array_struct = py.new_name("__array_struct__");
	return array_struct ? lease_type(head) : -1;
}

// boxsum_method is the function of that number, in the order of python.h, as an
// object of Python.
void *boxsum_method(int64_t number) {
	python_method *methods[] = {&boxsum_method_table, &boxsum_method_take, &boxsum_method_give, &boxsum_method_limit};
	return py.new_function(methods[number], 0, 0);
}

// table(image, table, squares, workers) is boxsum_integral on the processor. It
// returns None or the address of a text. The GIL is released meanwhile.
static object *table(object *self, object *const *arguments, intptr_t count) {
	object *capsules[3] = {0, 0, 0};
	boxsum_array *arrays[3] = {0, 0, 0};
	object *result = 0;
	(void)self, (void)count;
	int64_t workers = py.number(arguments[3]);
	if (workers == -1 && py.raised())
		return 0;
	for (int i = 0; i < 3; i++) {
		if (arguments[i] == nothing)
			continue;
		if (!(capsules[i] = py.attribute(arguments[i], array_struct)) || !(arrays[i] = py.capsule_pointer(capsules[i], 0)))
			goto done;
	}
	void *state = py.save_thread();
	char *text = boxsum_integral(arrays[0], arrays[1], arrays[2], 0, workers, -1);
	py.restore_thread(state);
	result = text ? py.new_number((intptr_t)text) : none();
done:
	for (int i = 0; i < 3; i++)
		if (capsules[i])
			py.drop(capsules[i]);
	return result;
}

python_method boxsum_method_table = {"table", table, fast_call, 0};
