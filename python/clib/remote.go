//go:build cgo

package main

// #include "boxsum.h"
// static inline void read_of(boxsum_reader reader, char *store, char *key, int64_t offset, int64_t length, int64_t answer) {
//	reader(store, key, offset, length, answer);
// }
import "C"

import (
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"math"
	"net/url"
	"runtime/cgo"
	"sync/atomic"
	"unsafe"

	"github.com/boxsum/boxsum/zarr"
)

// Remote stores are read by Python, which has clients for all of them, with the user's proxies and
// certificates; Go's own clients would be an eighth of the library. http:// and https:// are web servers;
// python:// is a store that Python identifies by a number.
func init() {
	for _, scheme := range []string{"http", "https", "python"} {
		zarr.Register(scheme, openRemote)
	}
}

// reader is the function of Python that reads.
var reader atomic.Pointer[C.boxsum_reader]

// boxsum_read_by sets the function that reads from remote stores.
//
//export boxsum_read_by
func boxsum_read_by(function C.boxsum_reader) { reader.Store(&function) }

// boxsum_answer is called once by that function, with the requested bytes or an error text. missing is set if the object does not exist.
//
//export boxsum_answer
func boxsum_answer(number C.int64_t, data unsafe.Pointer, size C.int64_t, failed *C.char, missing C.int) {
	a := cgo.Handle(number).Value().(*reply)
	switch {
	case missing != 0:
		a.err = fs.ErrNotExist
	case failed != nil:
		a.err = errors.New(C.GoString(failed))
	default:
		a.data, a.err = append(a.data[:0], unsafe.Slice((*byte)(data), size)...), nil
	}
}

type reply struct {
	data []byte
	err  error
}

var errReadOnly = fmt.Errorf("the source is read-only: %w", errors.ErrUnsupported)

// remote reads objects of a store through Python. It does not support List.
type remote struct{ base string }

func openRemote(_ context.Context, u *url.URL, write bool) (zarr.Bucket, error) {
	if write {
		return nil, errReadOnly
	}
	if reader.Load() == nil {
		return nil, fmt.Errorf("no reader is registered for %s:// URLs", u.Scheme)
	}
	c := *u
	c.Fragment = ""
	return &remote{c.String()}, nil
}

func (r *remote) Get(_ context.Context, key string, offset, length int64, buf []byte) ([]byte, error) {
	if !fs.ValidPath(key) {
		return nil, fmt.Errorf("object key is %q, want a path without . and ..", key)
	}
	if length == 0 && offset >= 0 {
		return buf[:0], nil
	}
	a := reply{data: buf, err: errors.New("the reader returned neither data nor an error")}
	number := cgo.NewHandle(&a)
	defer number.Delete()
	base, name := C.CString(r.base), C.CString(key)
	defer C.free(unsafe.Pointer(base))
	defer C.free(unsafe.Pointer(name))
	C.read_of(*reader.Load(), base, name, C.int64_t(offset), C.int64_t(length), C.int64_t(number))
	if wanted := max(length, -offset); a.err == nil && wanted > 0 && int64(len(a.data)) != wanted {
		a.err = fmt.Errorf("got %d bytes, want %d: %w", len(a.data), wanted, io.ErrUnexpectedEOF)
	}
	if a.err == nil && len(a.data) > math.MaxInt32 {
		a.err = fmt.Errorf("the object has %d bytes, want at most %d", len(a.data), math.MaxInt32)
	}
	if a.err != nil {
		return nil, fmt.Errorf("%s/%s: %w", zarr.Redacted(r.base), key, a.err)
	}
	return a.data, nil
}

func (r *remote) Put(context.Context, string, []byte) error { return errReadOnly }
func (r *remote) Delete(context.Context, string) error      { return errReadOnly }
func (r *remote) List(context.Context, string, func(zarr.Object) error) error {
	return fmt.Errorf("remote folders cannot be listed: %w", errors.ErrUnsupported)
}
func (r *remote) Close() error { return nil }
