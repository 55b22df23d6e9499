package main

// #include "boxsum.h"
import "C"

import (
	"errors"
	"fmt"
	"io/fs"
	"maps"
	"runtime"
	"slices"
	"strings"
	"sync"
	"syscall"

	"github.com/boxsum/boxsum"
	"github.com/boxsum/boxsum/gpu"
	"github.com/boxsum/boxsum/internal/raster"
)

// Errors that Python distinguishes from invalid values.
var (
	errLayout = errors.New("unsupported memory layout, want C order (use numpy.ascontiguousarray)") // Python passes a copy then
	errPanic  = errors.New("internal error")
)

// outcome returns an error in the form for the caller: its first letter selects the exception that
// Python raises. For a file, the error number and the path precede the message on separate lines: see
// fail in python/core/call.c.
func outcome(err error) *C.char {
	if err == nil {
		return nil
	}
	class := "V"
	var file *fs.PathError
	number := numberOf(err)
	switch {
	case number != 0 && errors.As(err, &file):
		class = fmt.Sprintf("F%d\n%s\n", number, file.Path)
	case number != 0:
		class = fmt.Sprintf("F%d\n\n", number)
	case errors.Is(err, errLayout):
		class = "L"
	case errors.Is(err, boxsum.ErrMemory):
		class = "M"
	case errors.Is(err, boxsum.ErrTypes):
		class = "T"
	case errors.Is(err, boxsum.ErrInvalid), errors.Is(err, boxsum.ErrOverlap):
	case errors.Is(err, errPanic), errors.Is(err, gpu.ErrNoDevice), errors.Is(err, gpu.ErrDevice), errors.Is(err, boxsum.ErrClosed):
		class = "R"
	}
	return C.CString(class + err.Error())
}

// numberOf returns Python's errno for an error of the file system, or 0 for others.
func numberOf(err error) syscall.Errno {
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return syscall.ENOENT
	case errors.Is(err, fs.ErrPermission):
		return syscall.EACCES
	case errors.Is(err, syscall.EISDIR):
		return syscall.EISDIR
	}
	return 0
}

// invalid and wrongTypes return errors about arguments.
func invalid(format string, values ...any) error {
	return raster.Invalid(format, values...)
}

func wrongTypes(format string, values ...any) error {
	return raster.Unsupported(format, values...)
}

// A refusal is an error that ends a call while its arguments are read.
type refusal struct{ error }

// must ends the call if err is not nil.
func must(err error) {
	if err != nil {
		refuse(err)
	}
}

//go:noinline
func refuse(err error) { panic(refusal{err}) } // not inlined, which makes every call of must smaller

// got returns v, or ends the call if err is not nil.
func got[T any](v T, err error) T {
	must(err)
	return v
}

// known returns the value for a type of elements. Another type ends the call with an error that names
// the supported ones.
func known[V any](all map[element]V, e element, format string) V {
	v, ok := all[e]
	if !ok {
		must(wrongTypes(format+", want %s", e, names(all)))
	}
	return v
}

// names lists the keys of a map in order.
func names[V any](of map[element]V) string { return listOf(slices.Collect(maps.Keys(of))) }

// listOf lists types in order.
func listOf(types []element) string {
	var all []string
	for _, e := range types {
		all = append(all, e.String())
	}
	slices.Sort(all)
	return strings.Join(all, ", ")
}

func recovered(r any) error {
	if refused, ok := r.(refusal); ok {
		return refused.error
	}
	return fmt.Errorf("%w: %v", errPanic, r)
}

// parallel calls f for parts of n items, concurrently if there are many. A panic in a part ends the
// call.
func parallel(n, workers, least int, f func(from, to int)) {
	if workers <= 0 {
		workers = runtime.GOMAXPROCS(0)
	}
	workers = max(1, min(workers, n/least))
	if workers == 1 {
		f(0, n)
		return
	}
	errs := make([]error, workers)
	var all sync.WaitGroup
	part := func(i int) {
		defer func() {
			if r := recover(); r != nil {
				errs[i] = recovered(r)
			}
		}()
		f(n/workers*i+min(i, n%workers), n/workers*(i+1)+min(i+1, n%workers))
	}
	for i := 1; i < workers; i++ {
		all.Go(func() { part(i) })
	}
	part(0)
	all.Wait()
	for _, err := range errs { // the first one suffices: the others are usually the same
		must(err)
	}
}

func each(n, workers, least int, f func(i int)) {
	parallel(n, workers, least, func(from, to int) {
		for i := from; i < to; i++ {
			f(i)
		}
	})
}
