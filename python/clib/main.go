// Package main is the C library behind the Python package: the functions of
// boxsum with arrays described as NumPy describes them, in the C structure of
// its array interface protocol. It is built with -buildmode=c-shared.
//
// Every exported function returns nil, or a text that the caller frees with
// [boxsum_free]: the first letter is the exception that Python raises, see
// [outcome]. Memory is always the caller's but for tables that only this
// library can read, which are handles. No panic leaves the library.
package main

// #include "array.h"
import "C"

import (
	"errors"
	"fmt"
	"regexp"
	"runtime"
	"strings"
	"sync"
	"unsafe"

	"github.com/boxsum/boxsum"
	"github.com/boxsum/boxsum/gpu"
)

func main() {}

// The errors that Python must tell apart from a bad value.
var (
	errLayout = errors.New("the elements of a row must lie side by side, and rows in order") // a copy would do
	errMemory = errors.New("not enough memory")
)

// outcome is what an exported function returns for an error.
func outcome(err error) *C.char {
	if err == nil {
		return nil
	}
	class := "V"
	switch {
	case errors.Is(err, errLayout):
		class = "L"
	case errors.Is(err, errMemory), errors.Is(err, gpu.ErrMemory):
		class = "M"
	case errors.Is(err, boxsum.ErrTypes):
		class = "T"
	case errors.Is(err, boxsum.ErrInvalid):
	case errors.Is(err, errPanic), strings.HasPrefix(err.Error(), "gpu: "): // a device that is not there, or fails
		class = "R"
	}
	return C.CString(class + verdict.ReplaceAllString(err.Error(), "$1"))
}

// verdict is what is said of the package, and of a ValueError, before the matter.
var verdict = regexp.MustCompile(`(?m)^[a-z]+: (?:` + boxsum.ErrInvalid.Error() + `: |(` + boxsum.ErrTypes.Error() + `: ))`)

var errPanic = errors.New("internal error")

// guard calls f and makes an outcome of its error or panic.
func guard(f func() error) (text *C.char) {
	defer func() {
		if r := recover(); r != nil {
			text = outcome(fmt.Errorf("boxsum: %w: %v", errPanic, r))
		}
	}()
	return outcome(f())
}

//export boxsum_free
func boxsum_free(text *C.char) { C.free(unsafe.Pointer(text)) }

// parallel calls f for parts of n items, several at once where there are many.
// A panic in a part becomes the error.
func parallel(n, workers, least int, f func(from, to int) error) error {
	if workers <= 0 {
		workers = runtime.GOMAXPROCS(0)
	}
	workers = max(1, min(workers, n/least))
	errs := make([]error, workers)
	var all sync.WaitGroup
	part := func(i int) {
		defer func() {
			if r := recover(); r != nil {
				errs[i] = fmt.Errorf("boxsum: %w: %v", errPanic, r)
			}
		}()
		errs[i] = f(n/workers*i+min(i, n%workers), n/workers*(i+1)+min(i+1, n%workers))
	}
	for i := 1; i < workers; i++ {
		all.Go(func() { part(i) })
	}
	part(0)
	all.Wait()
	return errors.Join(errs...)
}
