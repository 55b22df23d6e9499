// The memory of large tables. Blocks of pages are lent to one table at a time, by a
// lease: an object with Python's buffer protocol that is the base of the table and
// of all its views. When the last of them goes, the block is kept for the next
// table of its size, without a line of Python run.

#include "python.h"

#include <stdatomic.h>
#include <stdlib.h>

typedef struct block {
	struct block *next;
	object *pages; // whose memory it is
	void *start;
	int64_t shelf;
} block;

// Blocks of one size that are free.
typedef struct {
	block *free;
	int64_t bytes;
	int64_t used; // when one was last put here, by the clock
} shelf;

enum { shelves = 1024 };

static shelf all[shelves];
static int64_t kept, limit = INT64_MAX, now;
static atomic_flag busy = ATOMIC_FLAG_INIT; // for a Python without a GIL

static object *type;
static intptr_t block_at; // in a lease

static void lock(void) {
	while (atomic_flag_test_and_set_explicit(&busy, memory_order_acquire))
		;
}

static void unlock(void) { atomic_flag_clear_explicit(&busy, memory_order_release); }

static block *pop(shelf *s) {
	block *b = s->free;
	if (b) {
		s->free = b->next;
		kept -= s->bytes;
	}
	return b;
}

// excess takes what is kept beyond the limit, first of the sizes that were not used
// for longest.
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
		py.drop(list->pages);
		free(list);
		list = next;
	}
}

static block **block_of(object *lease) { return (block **)((char *)lease + block_at); }

static object *lend(block *b) {
	object *lease = py.new_instance(type, 0);
	if (lease)
		*block_of(lease) = b;
	return lease;
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

static void dealloc(object *lease) {
	object *of = py.type_of(lease);
	if (*block_of(lease)) // but one that somebody made by calling the type
		take_back(*block_of(lease));
	py.free_instance(lease);
	py.drop(of); // the reference from type_of
	py.drop(of); // that of the lease
}

static int get_buffer(object *lease, void *view, int flags) {
	block *b = *block_of(lease);
	return py.fill_buffer(view, lease, b ? b->start : lease, b ? all[b->shelf].bytes : 0, 0, flags);
}

int lease_type(intptr_t head) {
	typedef struct { int slot; void *function; } type_slot; // PyType_Slot
	typedef struct { const char *name; int bytes, item; unsigned flags; type_slot *slots; } type_spec; // PyType_Spec
	static type_slot slots[] = {{52, 0}, {1, 0}, {0, 0}}; // Py_tp_dealloc, Py_bf_getbuffer
	static type_spec spec = {"boxsum.Memory", 0, 0, 0, slots};
	slots[0].function = (void *)dealloc;
	slots[1].function = (void *)get_buffer;
	spec.bytes = (int)(head + sizeof(block *));
	block_at = head;
	type = py.new_type(&spec);
	return type ? 0 : -1;
}

// take(shelf) lends a block that is kept there, or is None.
static object *take(object *self, object *const *arguments, intptr_t count) {
	(void)self, (void)count;
	int64_t number = py.number(arguments[0]);
	if (number < 0 || number >= shelves)
		return none();
	lock();
	block *b = pop(&all[number]);
	unlock();
	if (!b)
		return none();
	object *lease = lend(b);
	if (!lease)
		take_back(b);
	return lease;
}

// give(shelf, bytes, pages, address) lends a new block, or is None where there is no
// memory for it.
static object *give(object *self, object *const *arguments, intptr_t count) {
	(void)self, (void)count;
	int64_t number = py.number(arguments[0]);
	block *b = number < 0 || number >= shelves ? 0 : malloc(sizeof *b);
	if (!b)
		return none();
	all[number].bytes = py.number(arguments[1]);
	*b = (block){0, arguments[2], (void *)(intptr_t)py.number(arguments[3]), number};
	py.keep(b->pages);
	object *lease = lend(b);
	if (!lease)
		take_back(b);
	return lease;
}

// limit(bytes) says how much to keep, and returns how much is kept.
static object *set_limit(object *self, object *const *arguments, intptr_t count) {
	(void)self, (void)count;
	int64_t bytes = py.number(arguments[0]);
	lock();
	limit = bytes;
	block *list = excess();
	int64_t left = kept;
	unlock();
	free_all(list);
	return py.new_number(left);
}

python_method boxsum_method_take = {"take", take, fast_call, 0};
python_method boxsum_method_give = {"give", give, fast_call, 0};
python_method boxsum_method_limit = {"limit", set_limit, fast_call, 0};
