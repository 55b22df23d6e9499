package store

import (
	"context"
	"errors"
	"fmt"
	"net/url"
	"path"
	"path/filepath"
	"strings"

	"github.com/boxsum/boxsum/store/sources"
	"github.com/boxsum/boxsum/zarr"
)

// hidden is the key prefix of objects that are needed only while a table is computed.
const hidden = ".boxsum/"

// settled returns a normalized path or URL, for comparisons.
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

// finish closes a bucket, or discards it if err is not nil.
func finish(b zarr.Bucket, err error) error {
	if err != nil {
		zarr.Discard(b)
		return err
	}
	return b.Close()
}

// openBoth opens the source and the destination.
func openBoth(ctx context.Context, from, to string) (*zarr.Array, zarr.Bucket, error) {
	src, err := sources.Open(ctx, from)
	if err != nil {
		return nil, nil, err
	}
	dst, err := zarr.OpenBucket(ctx, to, true)
	if err != nil {
		src.Close()
		return nil, nil, err
	}
	return src, dst, nil
}

// Errors to test for with [errors.Is]. Errors for damaged data wrap [zarr.ErrFormat].
var (
	// ErrChanged is wrapped by the error for a table that an earlier run began with
	// another source or other options.
	ErrChanged = errors.New("source or options have changed")
	// ErrIncomplete is wrapped by the error for a table that is not finished.
	ErrIncomplete = errors.New("the table is not finished")
	// errMissing is wrapped by errors for a missing object of a finished table.
	errMissing error = &formatError{"part of the table is missing (verify the table with its image to restore it)"}
)

func bad(format string, args ...any) error {
	return &formatError{fmt.Sprintf(format, args...)}
}

// A formatError is a [zarr.ErrFormat] with its own text.
type formatError struct{ text string }

func (e *formatError) Error() string { return e.text }
func (e *formatError) Unwrap() error { return zarr.ErrFormat }
