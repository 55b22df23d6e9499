// A driver of CUDA without a device: it keeps the rules of captures and of the one-pass
// kernels, and computes nothing. See test_graphs.py.
//
// Work on a stream runs at once, or while the stream is captured becomes a node of its
// graph, which rules_replay runs. A launch of a one-pass kernel must find what the kernel
// relies on: as many tickets drawn as the job says, and no status of its epoch.

#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { success = 0, not_supported = 801, unsafe = 900, isolation = 905 };

typedef struct {
	uint8_t map[128];
	uint64_t in, out, squares, status;
	int64_t squares_status;
	uint64_t tickets;
	int64_t strides[6];
	double offset;
	int32_t width, height, count, tiles_x, tiles_y, strip, lag, ahead, turn;
	uint32_t epoch, base;
} plane_pass;

typedef struct {
	int kind; // 0: fill, 1: launch
	void *at;
	int value;
	size_t bytes;
	int blocks;
	char name[64];
	plane_pass job;
} node;

static node nodes[256];
static int count, capturing, relaxed, launches, violations, allocations, calls, waits, threads_mode;
static uintptr_t captured; // the stream
static char reason[256];
static plane_pass last;

static void broken(const char *what) {
	if (!violations++)
		snprintf(reason, sizeof reason, "%s", what);
}

// The shape of every one-pass kernel here: tiles of 128 by 64 values without shared memory, as those of small images.
typedef struct {
	int32_t width, height, threads, shared, sum_words, square_words, job_bytes, strip, lag, ahead;
} shape;
static shape small = {128, 64, 256, 0, 8, 0, 320, 0, 0, 0}; // 320 is the bytes of jobs.PlanePass

static void launch(const node *n) {
	launches++;
	const plane_pass *j = &n->job;
	if (strncmp(n->name, "small_", 6) && strncmp(n->name, "flat_", 5))
		return;
	last = *j;
	uint32_t *tickets = (uint32_t *)j->tickets, *status = (uint32_t *)j->status;
	if (*tickets != j->base)
		broken("tickets that others drew");
	int words = j->tiles_x * j->tiles_y * j->count * small.sum_words;
	for (int i = 0; i < words; i++) {
		if (status[4 * i + 3] >= j->epoch)
			broken("a status that seems to be new");
		status[4 * i + 3] = j->epoch | 2;
	}
	*tickets += n->blocks;
}

static void run(const node *n) {
	if (n->kind)
		launch(n);
	else
		memset(n->at, n->value, n->bytes);
}

static int add(uintptr_t stream, const node *n) {
	if (capturing && stream == captured) {
		if (count == 256)
			return broken("too many nodes"), unsafe;
		nodes[count++] = *n;
	} else {
		run(n);
	}
	return success;
}

// forbidden is the answer to what may not be called while a stream is captured.
static int forbidden(const char *what) {
	if (!capturing || relaxed)
		return success;
	broken(what);
	return unsafe;
}

void rules_begin(uintptr_t stream) { capturing = 1, captured = stream, count = 0; }
void rules_end(void) { capturing = 0; }
void rules_replay(void) {
	for (int i = 0; i < count; i++)
		run(&nodes[i]);
}
int rules_violations(void) { return violations; }
const char *rules_reason(void) { return reason; }
int rules_launches(void) { return launches; }
int rules_allocations(void) { return allocations; }
uint64_t rules_image(void) { return last.in; } // of the last launch of a one-pass kernel
uint64_t rules_table(void) { return last.out; }
int rules_calls(void) { return calls; }

#define CALL calls++

int cuInit(unsigned f) { (void)f; return success; }
int cuDriverGetVersion(int *v) { *v = 12080; return success; }
int cuGetErrorName(int e, const char **t) { *t = e == unsafe ? "STREAM_CAPTURE_UNSUPPORTED" : "ERROR"; return success; }
int cuGetErrorString(int e, const char **t) { (void)e; *t = "a rule was broken"; return success; }
int cuDeviceGetCount(int *n) { *n = 1; return success; }
int cuDeviceGet(int *d, int i) { *d = i; return success; }
int cuDeviceGetName(char *t, int n, int d) { (void)d; snprintf(t, n, "a device that keeps rules"); return success; }
int cuDeviceTotalMem_v2(size_t *b, int d) { (void)d; *b = (size_t)1 << 33; return success; }
int cuDeviceGetAttribute(int *v, int a, int d) {
	(void)d;
	*v = a == 11 ? 1 << 30 : a == 16 ? 132 : a == 39 ? 2048 : a == 75 ? 9 : 0;
	return success;
}
int cuDevicePrimaryCtxRetain(void **c, int d) { (void)d; *c = (void *)64; return success; }
int cuDevicePrimaryCtxRelease_v2(int d) { (void)d; return success; }
int cuCtxCreate_v2(void **c, unsigned flags, int d) { (void)flags; (void)d; *c = (void *)128; return success; }
int cuCtxDestroy_v2(void *c) { (void)c; return success; }
static __thread void *current;
int cuCtxGetCurrent(void **c) { CALL; *c = current; return success; }
int cuCtxSetCurrent(void *c) { CALL; current = c; return success; }
static __thread int depth;
int cuCtxPushCurrent_v2(void *c) { CALL; current = c; depth++; return success; }
int cuCtxPopCurrent_v2(void **c) { CALL; *c = current; if (--depth == 0) current = 0; return success; }
int cuMemGetInfo_v2(size_t *f, size_t *t) { *f = *t = (size_t)1 << 33; return success; }
int cuMemAlloc_v2(void **p, size_t n) {
	CALL;
	allocations++;
	int r = forbidden("memory taken");
	return r ? r : (posix_memalign(p, 512, n) ? 2 : success);
}
int cuMemFree_v2(void *p) { CALL; int r = forbidden("memory freed"); if (!r) free(p); return r; }
int cuMemAllocAsync(void **p, size_t n, uintptr_t s) {
	CALL;
	(void)s;
	if (posix_memalign(p, 512, n)) // stays for the life of the graph
		return 2;
	memset(*p, 0xA5, n);
	return success;
}
int cuMemFreeAsync(void *p, uintptr_t s) { CALL; if (!(capturing && s == captured)) free(p); return success; }
int cuMemHostAlloc(void **p, size_t n, unsigned f) { (void)f; *p = malloc(n); return success; }
int cuMemFreeHost(void *p) { free(p); return success; }
int cuMemcpyHtoDAsync_v2(void *d, const void *s, size_t n, uintptr_t st) { (void)st; memcpy(d, s, n); return success; }
int cuMemcpyDtoHAsync_v2(void *d, const void *s, size_t n, uintptr_t st) { (void)st; memcpy(d, s, n); return success; }
int cuMemcpyDtoDAsync_v2(void *d, const void *s, size_t n, uintptr_t st) { (void)st; memcpy(d, s, n); return success; }
int cuMemcpy2DAsync_v2(void *c, uintptr_t s) { (void)c; (void)s; return success; }
int cuMemsetD8Async(void *p, unsigned char v, size_t n, uintptr_t s) {
	CALL;
	return add(s, &(node){.kind = 0, .at = p, .value = v, .bytes = n});
}
int cuStreamCreate(uintptr_t *s, unsigned f) { static uintptr_t next = 0x1000; (void)f; *s = next += 16; return success; }
int cuStreamDestroy_v2(uintptr_t s) { (void)s; return success; }
int cuStreamSynchronize(uintptr_t s) { (void)s; CALL; waits++; return forbidden("a stream waited for"); }
int cuCtxSynchronize(void) { CALL; waits++; return forbidden("the device waited for"); }
int cuStreamIsCapturing(uintptr_t s, int *status) { CALL; *status = capturing && s == captured; return success; }
int cuThreadExchangeStreamCaptureMode(int *mode) { int before = threads_mode; relaxed = *mode == 2; threads_mode = *mode; *mode = before; return success; }
int cuStreamWaitEvent(uintptr_t s, void *e, unsigned f) {
	CALL;
	(void)f;
	if (capturing && s == captured && *(uintptr_t *)e != captured)
		return broken("an event from outside of the capture"), isolation;
	if (!(capturing && s == captured) && *(uintptr_t *)e == 1)
		return broken("an event from within a capture"), isolation;
	return success;
}
int cuEventCreate(void **e, unsigned f) { (void)f; *e = calloc(1, 16); return success; }
int cuEventDestroy_v2(void *e) { free(e); return success; }
int cuEventRecord(void *e, uintptr_t s) { CALL; *(uintptr_t *)e = capturing && s == captured ? 1 : 2; return success; }
int cuEventSynchronize(void *e) { CALL; return *(uintptr_t *)e == 1 ? (broken("a captured event waited for"), isolation) : success; }
int cuEventElapsedTime(float *t, void *a, void *b) { (void)a; (void)b; *t = 1; return success; }
int cuModuleLoadDataEx(void **m, const void *i, unsigned n, int *o, void **v) { (void)i; (void)n; (void)o; (void)v; *m = (void *)32; return forbidden("a module loaded"); }
int cuModuleUnload(void *m) { (void)m; return success; }
int cuModuleGetFunction(void **f, void *m, const char *name) { (void)m; *f = strdup(name); return success; }
int cuFuncGetAttribute(int *v, int a, void *f) { (void)a; (void)f; *v = 32; return success; }
int cuFuncSetAttribute(void *f, int a, int v) { (void)f; (void)a; (void)v; return success; }
int cuOccupancyMaxActiveBlocksPerMultiprocessor(int *n, void *f, int t, size_t s) { (void)f; (void)t; (void)s; *n = 2; return success; }
int cuModuleGetGlobal_v2(void **p, size_t *n, void *m, const char *name) { (void)m; (void)name; *p = &small; *n = sizeof small; return success; }
int cuMemcpyDtoH_v2(void *d, const void *s, size_t n) { memcpy(d, s, n); return forbidden("a copy waited for"); }
int cuPointerGetAttribute(int *v, int a, uintptr_t p) { CALL; (void)a; (void)p; *v = 0; return success; }
int cuTensorMapEncodeTiled(void) { return not_supported; }
int cuLaunchKernel(void *f, unsigned gx, unsigned gy, unsigned gz, unsigned bx, unsigned by, unsigned bz, unsigned shared, uintptr_t s, void **params, void **extra) {
	CALL;
	(void)gy; (void)gz; (void)bx; (void)by; (void)bz; (void)shared; (void)extra;
	node n = {.kind = 1, .blocks = gx};
	snprintf(n.name, sizeof n.name, "%s", (char *)f);
	if (!strncmp(n.name, "small_", 6) || !strncmp(n.name, "flat_", 5))
		memcpy(&n.job, params[0], sizeof n.job);
	return add(s, &n);
}
