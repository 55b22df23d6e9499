package store

import (
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"net/http"
	"net/url"
	"strings"
)

// web reads objects from a web server. It lists none.
type web struct {
	base   string
	client *http.Client
}

func openWeb(_ context.Context, u *url.URL, write bool) (Bucket, error) {
	if write {
		return nil, errReadOnly("a web server")
	}
	c := *u
	c.Fragment = ""
	return &web{c.String(), &http.Client{}}, nil
}

func (w *web) Get(ctx context.Context, key string, offset, length int64, buf []byte) ([]byte, error) {
	if err := checkKey(key); err != nil {
		return nil, err
	}
	u, err := url.Parse(w.base)
	if err != nil {
		return nil, bare(err)
	}
	u = u.JoinPath(strings.Split(key, "/")...)
	request, err := http.NewRequestWithContext(ctx, http.MethodGet, u.String(), nil)
	if err != nil {
		return nil, fmt.Errorf("store: %s: %w", Redacted(u.String()), bare(err))
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
		return nil, fmt.Errorf("store: %s: %w", Redacted(u.String()), bare(err))
	}
	defer response.Body.Close()
	whole := false
	switch response.StatusCode {
	case http.StatusPartialContent:
	case http.StatusOK:
		whole = request.Header.Get("Range") != "" // the server knows no ranges
	case http.StatusNotFound, http.StatusGone:
		return nil, fmt.Errorf("store: %s: %s: %w", Redacted(u.String()), response.Status, fs.ErrNotExist)
	default:
		return nil, fmt.Errorf("store: %s: %s", Redacted(u.String()), response.Status)
	}
	var data []byte
	if n := response.ContentLength; n >= 0 && !whole && (length < 0 || n == length) && n < 1<<31 {
		data = room(buf, int(n))
		_, err = io.ReadFull(response.Body, data)
	} else {
		data, err = io.ReadAll(response.Body)
	}
	if err != nil {
		return nil, fmt.Errorf("store: %s: %w", Redacted(u.String()), unexpected(err))
	}
	if whole {
		offset, length, err = section(key, int64(len(data)), offset, length)
		if err != nil {
			return nil, err
		}
		data = data[offset : offset+length]
	}
	if length >= 0 && offset >= 0 && int64(len(data)) != length || offset < 0 && int64(len(data)) > -offset {
		return nil, fmt.Errorf("store: %s: %d bytes instead of %d: %w", Redacted(u.String()), len(data), length, io.ErrUnexpectedEOF)
	}
	return data, nil
}

func (w *web) Put(context.Context, string, []byte) error { return errReadOnly("a web server") }
func (w *web) Delete(context.Context, string) error      { return errReadOnly("a web server") }
func (w *web) List(context.Context, string, func(Object) error) error {
	return fmt.Errorf("store: a web server does not list its objects: %w", errors.ErrUnsupported)
}
func (w *web) Close() error { w.client.CloseIdleConnections(); return nil }
