package store

import (
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"net/url"
	"os"
	"path"
	"path/filepath"
	"sort"
	"strings"
	"sync"

	"github.com/boxsum/boxsum/internal/grid"
)

// A Bucket holds objects: bytes under keys such as "sum/c/0/1". Its methods may be called by several
// goroutines at once. An object that is not there is an error that wraps [fs.ErrNotExist].
type Bucket interface {
	// Get reads length bytes of an object from offset on, all of them or it fails. A negative
	// length stands for all up to the end, and a negative offset for that many bytes before the end. The bytes
	// may lie in the memory of buf, from its start.
	Get(ctx context.Context, key string, offset, length int64, buf []byte) ([]byte, error)
	// Put writes an object: it is there whole, or as it was before.
	Put(ctx context.Context, key string, data []byte) error
	// Delete removes an object; one that is not there is no error.
	Delete(ctx context.Context, key string) error
	// List visits all objects whose keys begin with a prefix, in any order.
	List(ctx context.Context, prefix string, visit func(Object) error) error
	// Close ends the use of the bucket; a zip file that is written is only then complete.
	Close() error
}

// An Object is what [Bucket.List] tells of an object.
type Object struct {
	Key     string
	Size    int64
	Version string // differs where the content does, as far as the store knows: a time, or a hash
}

// Errors to test for with errors.Is.
var (
	// ErrFormat is wrapped by errors about metadata or chunks that are damaged, or of a kind
	// that is not supported.
	ErrFormat = errors.New("not as it should be")
	// ErrChanged is wrapped by the error about a table that was begun from another source or with
	// other options.
	ErrChanged = errors.New("source or options have changed")
	// ErrIncomplete is wrapped by the error about a table that is not finished.
	ErrIncomplete = errors.New("the table is not finished")
)

func bad(format string, args ...any) error {
	return fmt.Errorf("store: %w", &formatError{fmt.Sprintf(format, args...)})
}

// A formatError is an [ErrFormat] whose text says all.
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

// Register makes [OpenBucket] take URLs of a scheme, such as that of an object store. Write says whether objects are going to be written.
func Register(scheme string, open func(ctx context.Context, u *url.URL, write bool) (Bucket, error)) {
	schemesLock.Lock()
	defer schemesLock.Unlock()
	schemes[scheme] = open
}

// Schemes lists the URLs that [OpenBucket] takes.
func Schemes() (list []string) {
	schemesLock.RLock()
	defer schemesLock.RUnlock()
	for name := range schemes {
		list = append(list, name)
	}
	sort.Strings(list)
	return list
}

// OpenBucket is the bucket at a path or URL: a folder, a zip file (its name ends in .zip; a path inside
// may follow), mem://NAME, or a URL of a scheme that was registered: package web, in this folder, registers http:// and https://. If write is
// set, what is not there is made.
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
		return nil, fmt.Errorf("store: no stores of %q in this program: it has %s%s", scheme+"://", strings.Join(Schemes(), ", "), hint(scheme))
	}
	u, err := url.Parse(location)
	if err != nil {
		// What package url says may have a part of a password.
		return nil, grid.Invalid("a URL of %s:// that cannot be read: in a user or a password, / is written %%2F, @ is %%40 and %% is %%25", scheme)
	}
	return open(ctx, u, write)
}

// hint says what else would open URLs of a scheme.
func hint(scheme string) string {
	switch scheme {
	case "s3", "gs", "azblob":
		return "; the binary and the package of the module cloud have it"
	case "http", "https":
		return "; import the package store/web for it"
	}
	return ""
}

// Redacted is a path or URL without its user, password and query, which may have credentials.
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

// settled is a path or URL as it is compared with others.
func settled(location string) string {
	if strings.Contains(location, "://") {
		u, err := url.Parse(location)
		if err != nil {
			return location
		}
		if u.Scheme != "file" {
			u.Path, u.RawPath, u.Fragment = path.Clean("/"+u.Path), "", ""
			return u.String()
		}
		location = filepath.FromSlash(u.Path)
	}
	if whole, err := filepath.Abs(location); err == nil {
		location = whole
	}
	if real, err := filepath.EvalSymlinks(location); err == nil {
		location = real
	}
	return location
}

func openFile(_ context.Context, u *url.URL, write bool) (Bucket, error) {
	if u.Host != "" && u.Host != "localhost" {
		return nil, fmt.Errorf("store: %s names a file on host %q: a path of this machine is file:///path", Redacted(u.String()), u.Host)
	}
	return openPath(filepath.FromSlash(u.Path), write)
}

func openPath(path string, write bool) (Bucket, error) {
	if path == "" {
		return nil, errors.New("store: an empty path")
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
			return nil, fmt.Errorf("store: %w", err)
		}
		if !info.IsDir() {
			return nil, bad("%s is a file: a store is a folder, or a zip file whose name ends in .zip", path)
		}
	}
	return Folder(path), nil
}

// Discard closes a bucket after a failure: a zip file that is not complete does not take its place.
func Discard(b Bucket) error {
	if s, ok := b.(*sub); ok {
		return Discard(s.Bucket)
	}
	if w, ok := b.(*zipWriter); ok {
		return w.discard()
	}
	return b.Close()
}

// replaced is the zip file whose place a bucket takes when it is closed, and whether one is there.
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

// finish closes a bucket, after a failure by discarding what was begun.
func finish(b Bucket, err error) error {
	if err != nil {
		Discard(b)
		return err
	}
	return b.Close()
}

// Sub is the part of a bucket whose keys begin with a prefix and a slash, without these.
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

// checkKey refuses keys that lead out of the bucket.
func checkKey(key string) error {
	if !fs.ValidPath(key) || key == "." || strings.ContainsAny(key, "\\\x00") {
		return bad("%q is no key of an object", key)
	}
	return nil
}

// section is where a part of size bytes begins and how long it is, see [Bucket.Get].
func section(key string, size, offset, length int64) (int64, int64, error) {
	if offset < 0 {
		offset, length = size+offset, -1
	}
	if length < 0 {
		length = size - offset
	}
	if offset < 0 || length < 0 || length > size-offset {
		return 0, 0, fmt.Errorf("store: %s has %d bytes, fewer than it should: %w", key, size, io.ErrUnexpectedEOF)
	}
	return offset, length, nil
}

// room is n bytes, those of buf where they are enough.
func room(buf []byte, n int) []byte {
	if cap(buf) >= n {
		return buf[:n]
	}
	return aligned(n)
}
