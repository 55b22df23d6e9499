package main

// #include "boxsum.h"
import "C"

import (
	"errors"
	"fmt"
	"io/fs"
	"regexp"
	"runtime"
	"slices"
	"strings"
	"sync"
	"syscall"

	"github.com/boxsum/boxsum"
)

// The errors that Python must tell apart from a bad value.
var (
	errLayout = errors.New("the elements of a row must lie side by side, and rows in order") // a copy would do
	errPanic  = errors.New("internal error")
)

// outcome is an error as the caller gets it: its first letter is the exception that
// Python raises. That of a file has the number of the error and the path in lines before
// the message: see fail in python/core/call.c.
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
	case errors.Is(err, errPanic), strings.HasPrefix(err.Error(), "gpu: "): // a device that is not there, or fails
		class = "R"
	}
	return C.CString(class + verdict.ReplaceAllString(err.Error(), "$1"))
}

// numberOf returns Python's errno of an error of the file system, or 0 for others.
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

// verdict is what is said of the package, and of a ValueError, before the matter.
var verdict = regexp.MustCompile(`(?m)^[a-z]+: (?:` + boxsum.ErrInvalid.Error() + `: |` + boxsum.ErrOverlap.Error() + `: |(` + boxsum.ErrTypes.Error() + `: ))`)

// invalid and wrongTypes are errors of arguments.
func invalid(format string, values ...any) error {
	return fmt.Errorf("boxsum: %w: %s", boxsum.ErrInvalid, fmt.Sprintf(format, values...))
}

func wrongTypes(format string, values ...any) error {
	return fmt.Errorf("boxsum: %w: %s", boxsum.ErrTypes, fmt.Sprintf(format, values...))
}

// A refusal is an error that ends a call from where its arguments are read.
type refusal struct{ error }

// must ends the call with the error, if it is one.
func must(err error) {
	if err != nil {
		refuse(err)
	}
}

//go:noinline
func refuse(err error) { panic(refusal{err}) } // a few bytes less wherever something may fail

// got is a value, unless the error ends the call.
func got[T any](v T, err error) T {
	must(err)
	return v
}

// known is what there is for a type of elements. Another type ends the call with an
// error that names those that there are.
func known[V any](all map[element]V, e element, format string) V {
	v, ok := all[e]
	if !ok {
		must(wrongTypes(format+": take %s", e, names(all)))
	}
	return v
}

// names lists the types that something has.
func names[V any](of map[element]V) string {
	var all []string
	for e := range of {
		all = append(all, e.String())
	}
	slices.Sort(all)
	return strings.Join(all, ", ")
}

func recovered(r any) error {
	if refused, ok := r.(refusal); ok {
		return refused.error
	}
	return fmt.Errorf("boxsum: %w: %v", errPanic, r)
}

// parallel calls f for parts of n items, several at once where there are many.
// A part that panics ends the call.
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
	for _, err := range errs { // the first will do: others are mostly the same
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
