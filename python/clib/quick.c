// The most frequent call with as little of ctypes as possible: capsules are opened
// here, for which Python holds the GIL, and then the GIL is released.

#include "_cgo_export.h"

static void *(*capsule_pointer)(void *capsule, const char *name);
static void *(*save_thread)(void);
static void (*restore_thread)(void *state);

// boxsum_python tells where PyCapsule_GetPointer, PyEval_SaveThread and
// PyEval_RestoreThread are.
void boxsum_python(void *pointer, void *save, void *restore) {
	capsule_pointer = (void *(*)(void *, const char *))pointer;
	save_thread = (void *(*)(void))save;
	restore_thread = (void (*)(void *))restore;
}

// boxsum_tables is boxsum_integral for the capsules of an image, its table and that
// of its squares.
char *boxsum_tables(void *image, void *table, void *squares, int64_t workers) {
	boxsum_array *from = capsule_pointer(image, 0);
	boxsum_array *to = capsule_pointer(table, 0);
	boxsum_array *squared = squares ? capsule_pointer(squares, 0) : 0;
	void *state = save_thread();
	char *text = boxsum_integral(from, to, squared, 0, workers, -1);
	restore_thread(state);
	return text;
}

// boxsum_table is the same without squares.
char *boxsum_table(void *image, void *table, int64_t workers) { return boxsum_tables(image, table, 0, workers); }
