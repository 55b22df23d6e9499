// Package main is the C library behind the Python package: the functions of boxsum for arrays described
// like in NumPy, by the C structure of its array interface protocol. It is built with -buildmode=c-shared
// and does not depend on Python: the extension module in python/core calls it.
//
// All memory belongs to the caller, except tables that only this library can read, which are handles. No
// panic leaves the library.
package main

// #include "boxsum.h"
import "C"

import "unsafe"

func main() {}

// functions lists the functions that Python calls by name.
var functions = []struct {
	name string
	call func(arguments) any // returns nil, an int or a string; errors are panics, see must
}{
	{"batch", batch},
	{"integral", integral},
	{"suffix", suffix},
	{"window", windowSum},
	{"valid", valid},
	{"on_device", onDevice},
	{"plan", planOnDevice},
	{"forget_plans", forgetPlans},
	{"recipe", recipe},
	{"boxes", boxes},
	{"tilted_boxes", tiltedBoxes},
	{"windows", windows},
	{"rotated", rotatedTable},
	{"rotated_boxes", rotatedBoxes},
	{"rotated_cells", rotatedCells},
	{"rotated_nearest", rotatedNearest},
	{"rotated_bounds", rotatedBounds},
	{"release", release},
	{"room", roomFor},
	{"histogram", histogramTable},
	{"histogram_boxes", histogramBoxes},
	{"moments", momentsTable},
	{"moments_boxes", momentsBoxes},
	{"haar", haarValues},
	{"haar_features", haarFeatures},
	{"filter", filterImage},
	{"gaussian", gaussian},
	{"downsample", downsample},
	{"entropy", entropies},
	{"brightest", brightest},
	{"threshold", thresholdImage},
	{"match", matchTemplate},
	{"find", findTemplate},
	{"compare", compareImages},
	{"clahe", clahe},
	{"adapt_histogram", adaptHistogram},
	{"rank", rankFilter},
	{"nl_means", nonLocalMeans},
	{"nl_means_floats", floatNonLocalMeans},
	{"weigh_boxes", weighBoxes},
	{"box_kernel", boxKernel},
	{"filter_device", filterOnDevice},
	{"threshold_device", thresholdOnDevice},
	{"match_device", matchOnDevice},
	{"clahe_device", claheOnDevice},
	{"rank_device", rankOnDevice},
	{"nl_means_device", denoiseOnDevice},
	{"compare_device", compareOnDevice},
	{"cascade", loadCascade},
	{"find_cascade", findCascade},
	{"cascade_info", describeCascade},
	{"detect", detectObjects},
	{"detect_device", detectOnDevice},
	{"hog", newDescriptor},
	{"hog_load", loadDescriptor},
	{"hog_info", describeDescriptor},
	{"hog_coefficients", descriptorCoefficients},
	{"hog_save", saveDescriptor},
	{"hog_gradients", gradientsOfImage},
	{"hog_windows", windowsOfDescriptor},
	{"hog_compute", describeWindows},
	{"hog_scores", scoreWindows},
	{"hog_detect", detectByHistograms},
	{"hog_detect_device", detectByHistogramsOnDevice},
	{"store_integrate", storeIntegrate},
	{"store_open", storeOpen},
	{"store_about", storeAbout},
	{"store_boxes", storeBoxes},
	{"store_create", storeCreate},
	{"store_write", storeWrite},
	{"device", device},
	{"devices", devices},
	{"device_of", deviceOfAddress},
	{"wait", wait},
	{"take", take},
	{"give", give},
	{"time", timeHost},
	{"time_device", timeDevice},
	{"collect", collect},
}

// boxsum_find returns the number of a function, or -1 if it does not exist.
//
//export boxsum_find
func boxsum_find(name *C.char) C.int64_t {
	wanted := C.GoString(name)
	for i, f := range functions {
		if f.name == wanted {
			return C.int64_t(i)
		}
	}
	return -1
}

// boxsum_call calls a function by its number. It returns nil, or an error text, see
// [outcome]. The caller frees that text, and any text in the result, with [boxsum_free].
//
//export boxsum_call
func boxsum_call(number C.int64_t, values *C.boxsum_value, count C.int64_t, result *C.boxsum_value) (text *C.char) {
	defer func() {
		if r := recover(); r != nil {
			text = outcome(recovered(r))
		}
	}()
	switch made := functions[number].call(unsafe.Slice(values, count)).(type) {
	case int:
		*result = C.boxsum_value{kind: C.boxsum_number, number: C.int64_t(made)}
	case string:
		*result = C.boxsum_value{kind: C.boxsum_text, number: C.int64_t(len(made)), pointer: unsafe.Pointer(C.CString(made))}
	}
	return nil
}

// boxsum_queue queues a table on a stream of a device, given the number of a plan and the addresses of image and table.
// It returns nil or an error text like [boxsum_call].
//
//export boxsum_queue
func boxsum_queue(plan, image, table, stream C.int64_t) (text *C.char) {
	defer func() {
		if r := recover(); r != nil {
			text = outcome(recovered(r))
		}
	}()
	queuePlanned(int(plan), uintptr(image), uintptr(table), uintptr(stream))
	return nil
}

//export boxsum_free
func boxsum_free(text *C.char) { C.free(unsafe.Pointer(text)) }

// arguments holds the arguments of a call. Reading one as another kind than it has is a bug in
// the Python package, and panics.
type arguments []C.boxsum_value

func (a arguments) get(i int, kind C.int64_t) *C.boxsum_value {
	if a[i].kind != kind {
		panic("the argument has the wrong type")
	}
	return &a[i]
}

func (a arguments) has(i int) bool      { return a[i].kind != C.boxsum_none }
func (a arguments) isNumber(i int) bool { return a[i].kind == C.boxsum_number }
func (a arguments) int(i int) int       { return int(a.get(i, C.boxsum_number).number) }
func (a arguments) float(i int) float64 { return float64(a.get(i, C.boxsum_real).real) }

func (a arguments) text(i int) string {
	v := a.get(i, C.boxsum_text)
	return C.GoStringN((*C.char)(v.pointer), C.int(v.number))
}

func (a arguments) array(i int) array {
	return arrayOf((*C.boxsum_array)(a.get(i, C.boxsum_array_value).pointer))
}

func (a arguments) toWrite(i int) array {
	to := a.array(i)
	to.mustWrite("out")
	return to
}
