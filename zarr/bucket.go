package zarr

import (
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"net/url"
	"os"
	"path/filepath"
	"sort"
	"strings"
	"sync"

	"github.com/boxsum/boxsum/internal/raster"
)

// A Bucket stores objects: bytes, each under a key such as "image/c/0/1". Its methods are
// safe for concurrent use. They return errors that wrap [fs.ErrNotExist] for objects that
// do not exist.
type Bucket interface {
	// Get returns length bytes of an object, starting at offset, and an error if there are
	// fewer. A negative length reads to the end, and a negative offset reads the last
	// -offset bytes. Get may return a slice of the memory of buf.
	Get(ctx context.Context, key string, offset, length int64, buf []byte) ([]byte, error)
	// Put writes an object. If it fails, the object is unchanged.
	Put(ctx context.Context, key string, data []byte) error
	// Delete removes an object. Deleting one that does not exist is not an error.
	Delete(ctx context.Context, key string) error
	// List calls visit for each object whose key begins with prefix, in any order.
	List(ctx context.Context, prefix string, visit func(Object) error) error
	// Close releases the bucket. It completes a zip file that is being written.
	Close() error
}

// An Object describes an object listed by [Bucket.List].
type Object struct {
	Key  string
	Size int64
	// Version changes with the contents as far as the bucket can tell. It is a time or a
	// hash.
	Version string
}

// Computed is a [Bucket] that computes its objects when they are read, from files or from
// other arrays. [Array.Close] also closes such a bucket.
type Computed interface {
	Bucket
	// Parts returns the arrays from which objects are computed, if any.
	Parts() []*Array
	// Footprint returns the number of bytes decoded to compute an object, or 0 if nothing
	// but the object itself is decoded.
	Footprint() int64
}

// ErrFormat is wrapped by errors for damaged or unsupported metadata and chunks.
var ErrFormat = errors.New("invalid or unsupported Zarr data")

func bad(format string, args ...any) error {
	return &formatError{fmt.Sprintf(format, args...)}
}

// A formatError is an [ErrFormat] with its own text.
type formatError struct{ text string }

func (e *formatError) Error() string { return e.text }
func (e *formatError) Unwrap() error { return ErrFormat }

var (
	schemesLock sync.RWMutex
	schemes     = map[string]func(ctx context.Context, u *url.URL, write bool) (Bucket, error){
		"file": openFile,
		"mem":  openMemory,
	}
)

// Register makes [OpenBucket] call open for URLs with the given scheme, such as "s3". The
// argument write of open reports whether the caller will write objects. Registering a
// scheme again replaces its function.
func Register(scheme string, open func(ctx context.Context, u *url.URL, write bool) (Bucket, error)) {
	schemesLock.Lock()
	defer schemesLock.Unlock()
	schemes[scheme] = open
}

// Schemes returns the URL schemes that [OpenBucket] supports, sorted.
func Schemes() (list []string) {
	schemesLock.RLock()
	defer schemesLock.RUnlock()
	for name := range schemes {
		list = append(list, name)
	}
	sort.Strings(list)
	return list
}

// OpenBucket opens the bucket at a path or URL: a folder; a zip file, whose name ends in
// .zip, optionally followed by a path inside it; mem://NAME for a bucket in memory; or a
// URL with a registered scheme. Importing the package zarr/web registers http:// and
// https://. If write is set, OpenBucket creates the folder or zip file if it does not
// exist.
func OpenBucket(ctx context.Context, location string, write bool) (Bucket, error) {
	scheme, _, isURL := strings.Cut(location, "://")
	if !isURL {
		return openPath(location, write)
	}
	scheme = strings.ToLower(scheme)
	schemesLock.RLock()
	open := schemes[scheme]
	schemesLock.RUnlock()
	if open == nil {
		return nil, fmt.Errorf("unsupported URL scheme %q, want %s%s", scheme+"://", strings.Join(Schemes(), ", "), hint(scheme))
	}
	u, err := url.Parse(location)
	if err != nil {
		// The error of package url may contain part of a password.
		return nil, raster.Invalid("invalid %s:// URL (in a user name or password, write / as %%2F, @ as %%40 and %% as %%25)", scheme)
	}
	return open(ctx, u, write)
}

// hint returns the part of an error that says which package opens URLs with a scheme.
func hint(scheme string) string {
	switch scheme {
	case "s3", "gs", "azblob":
		return " (a program built with the module github.com/boxsum/boxsum/cloud opens it)"
	case "http", "https":
		return " (a program that imports github.com/boxsum/boxsum/zarr/web opens it)"
	}
	return ""
}

// Redacted returns a path or URL without its user name, password and query, which may
// contain credentials.
func Redacted(location string) string {
	if !strings.Contains(location, "://") {
		return location
	}
	u, err := url.Parse(location)
	if err != nil {
		scheme, _, _ := strings.Cut(location, "://")
		return scheme + "://…"
	}
	u.User, u.RawQuery, u.Fragment = nil, "", ""
	return u.String()
}

func openFile(_ context.Context, u *url.URL, write bool) (Bucket, error) {
	if u.Host != "" && u.Host != "localhost" {
		return nil, fmt.Errorf("%s is a file on host %q, want file:///path", Redacted(u.String()), u.Host)
	}
	return openPath(filepath.FromSlash(u.Path), write)
}

func openPath(path string, write bool) (Bucket, error) {
	if path == "" {
		return nil, errors.New("path is empty, want a file, a folder or a URL")
	}
	for i := 0; i < len(path); { // the first part that ends in .zip and is a file
		end := strings.Index(path[i:], ".zip")
		if end < 0 {
			break
		}
		i += end + len(".zip")
		if i < len(path) && !os.IsPathSeparator(path[i]) {
			continue
		}
		name, inside := path[:i], strings.Trim(filepath.ToSlash(path[i:]), "/")
		if info, err := os.Stat(name); err == nil && info.IsDir() {
			continue
		}
		var b Bucket
		var err error
		if write {
			b, err = createZip(name)
		} else {
			b, err = openZip(name)
		}
		if err == nil && inside != "" {
			b = Sub(b, inside)
		}
		return b, err
	}
	if !write {
		info, err := os.Stat(path)
		if err != nil {
			return nil, err
		}
		if !info.IsDir() {
			return nil, bad("%s is a file: want a folder, or a zip file whose name ends in .zip", path)
		}
	}
	return Folder(path), nil
}

// Discard closes a bucket after a failure. It removes a zip file that was being written;
// the file it would have replaced is unchanged.
func Discard(b Bucket) error {
	if s, ok := b.(*sub); ok {
		return Discard(s.Bucket)
	}
	if w, ok := b.(*zipWriter); ok {
		return w.discard()
	}
	return b.Close()
}

// replaced returns the zip file that a bucket writes on Close, and reports whether the file
// exists.
func replaced(b Bucket) (file string, there bool) {
	switch b := b.(type) {
	case *sub:
		return replaced(b.Bucket)
	case *zipWriter:
		_, err := os.Lstat(b.path)
		return b.path, !errors.Is(err, fs.ErrNotExist)
	}
	return "", false
}

// Sub returns a bucket of the objects of b whose keys begin with prefix and a slash,
// under keys without that beginning. Closing the bucket closes b.
func Sub(b Bucket, prefix string) Bucket {
	prefix = strings.Trim(prefix, "/")
	if prefix == "" {
		return b
	}
	return &sub{b, prefix + "/"}
}

type sub struct {
	Bucket
	prefix string
}

func (s *sub) Get(ctx context.Context, key string, offset, length int64, buf []byte) ([]byte, error) {
	return s.Bucket.Get(ctx, s.prefix+key, offset, length, buf)
}
func (s *sub) Put(ctx context.Context, key string, data []byte) error {
	return s.Bucket.Put(ctx, s.prefix+key, data)
}
func (s *sub) Delete(ctx context.Context, key string) error {
	return s.Bucket.Delete(ctx, s.prefix+key)
}
func (s *sub) List(ctx context.Context, prefix string, visit func(Object) error) error {
	return s.Bucket.List(ctx, s.prefix+prefix, func(o Object) error {
		o.Key = o.Key[len(s.prefix):]
		return visit(o)
	})
}

// checkKey returns an error for keys that lead out of the bucket.
func checkKey(key string) error {
	if !fs.ValidPath(key) || key == "." || strings.ContainsAny(key, "\\\x00") {
		return bad("object key is %q, want a path inside the bucket, without backslashes", key)
	}
	return nil
}

// section returns the start and length of a part of an object with size bytes; see
// [Bucket.Get].
func section(key string, size, offset, length int64) (int64, int64, error) {
	if offset < 0 {
		offset, length = size+offset, -1
	}
	if length < 0 {
		length = size - offset
	}
	if offset < 0 || length < 0 || length > size-offset {
		return 0, 0, fmt.Errorf("%s is truncated after %d bytes: %w", key, size, io.ErrUnexpectedEOF)
	}
	return offset, length, nil
}
