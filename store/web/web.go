// Package web makes package store read from web servers: http:// and https://. Import it for that:
//
//	import _ "github.com/boxsum/boxsum/store/web"
//
// It is a package of its own, so that programs without it have no HTTP in them.
package web

import (
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"net/http"
	"net/url"
	"strings"

	"github.com/boxsum/boxsum/store"
)

func init() {
	store.Register("http", open)
	store.Register("https", open)
}

var errReadOnly = fmt.Errorf("web: a web server is to read: %w", errors.ErrUnsupported)

// web reads objects from a web server. It lists none.
type web struct {
	base   string
	client *http.Client
}

func open(_ context.Context, u *url.URL, write bool) (store.Bucket, error) {
	if write {
		return nil, errReadOnly
	}
	c := *u
	c.Fragment = ""
	return &web{c.String(), &http.Client{}}, nil
}

func (w *web) Get(ctx context.Context, key string, offset, length int64, buf []byte) ([]byte, error) {
	if !fs.ValidPath(key) {
		return nil, fmt.Errorf("web: %q is no key of an object", key)
	}
	u, err := url.Parse(w.base)
	if err != nil {
		return nil, bare(err)
	}
	u = u.JoinPath(strings.Split(key, "/")...)
	request, err := http.NewRequestWithContext(ctx, http.MethodGet, u.String(), nil)
	if err != nil {
		return nil, fmt.Errorf("web: %s: %w", store.Redacted(u.String()), bare(err))
	}
	switch {
	case length == 0:
		return buf[:0], nil
	case offset < 0:
		request.Header.Set("Range", fmt.Sprintf("bytes=%d", offset))
	case length > 0:
		request.Header.Set("Range", fmt.Sprintf("bytes=%d-%d", offset, offset+length-1))
	case offset > 0:
		request.Header.Set("Range", fmt.Sprintf("bytes=%d-", offset))
	}
	response, err := w.client.Do(request)
	if err != nil {
		return nil, fmt.Errorf("web: %s: %w", store.Redacted(u.String()), bare(err))
	}
	defer response.Body.Close()
	whole := false
	switch response.StatusCode {
	case http.StatusPartialContent:
	case http.StatusOK:
		whole = request.Header.Get("Range") != "" // the server knows no ranges
	case http.StatusNotFound, http.StatusGone:
		return nil, fmt.Errorf("web: %s: %s: %w", store.Redacted(u.String()), response.Status, fs.ErrNotExist)
	default:
		return nil, fmt.Errorf("web: %s: %s", store.Redacted(u.String()), response.Status)
	}
	var data []byte
	if n := response.ContentLength; n >= 0 && !whole && (length < 0 || n == length) && n < 1<<31 {
		if data = buf; int64(cap(buf)) < n {
			data = make([]byte, n)
		}
		data = data[:n]
		_, err = io.ReadFull(response.Body, data)
	} else {
		data, err = io.ReadAll(response.Body)
	}
	if errors.Is(err, io.EOF) {
		err = io.ErrUnexpectedEOF
	}
	if err != nil {
		return nil, fmt.Errorf("web: %s: %w", store.Redacted(u.String()), err)
	}
	if whole { // cut the part out, if it is there: below it is seen
		from := offset
		if from < 0 {
			from += int64(len(data))
		}
		data = data[min(max(from, 0), int64(len(data))):]
		if length >= 0 && offset >= 0 {
			data = data[:min(length, int64(len(data)))]
		}
	}
	if length >= 0 && offset >= 0 && int64(len(data)) != length || offset < 0 && int64(len(data)) != -offset {
		return nil, fmt.Errorf("web: %s: %d bytes instead of %d: %w", store.Redacted(u.String()), len(data), length, io.ErrUnexpectedEOF)
	}
	return data, nil
}

func (w *web) Put(context.Context, string, []byte) error { return errReadOnly }
func (w *web) Delete(context.Context, string) error      { return errReadOnly }
func (w *web) List(context.Context, string, func(store.Object) error) error {
	return fmt.Errorf("web: a web server does not list its objects: %w", errors.ErrUnsupported)
}
func (w *web) Close() error { w.client.CloseIdleConnections(); return nil }

// bare is an error of packages url and http without the URL.
func bare(err error) error {
	var e *url.Error
	if errors.As(err, &e) {
		return e.Err
	}
	return err
}
