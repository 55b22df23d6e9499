// Package web registers the URL schemes http:// and https:// with package zarr, so that arrays
// can be read from web servers. Import it for this effect:
//
//	import _ "github.com/boxsum/boxsum/zarr/web"
//
// It is a separate package so that other programs do not link net/http.
package web

import (
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"net/http"
	"net/url"
	"strconv"
	"strings"

	"github.com/boxsum/boxsum/zarr"
)

func init() {
	zarr.Register("http", open)
	zarr.Register("https", open)
}

var errReadOnly = fmt.Errorf("a web server is read-only: %w", errors.ErrUnsupported)

// web reads objects from a web server. It does not support List.
type web struct {
	base   string
	client *http.Client
	most   int64 // maximum size of an object in bytes
}

// trusted is the largest announced size for which memory is allocated before the data arrives.
const trusted = 64 << 20

// tooLarge returns the error for an object that exceeds the limit.
func (w *web) tooLarge() error {
	return fmt.Errorf("the object is too large, want at most %d bytes", w.most)
}

func open(_ context.Context, u *url.URL, write bool) (zarr.Bucket, error) {
	if write {
		return nil, errReadOnly
	}
	c := *u
	c.Fragment = ""
	return &web{c.String(), newClient(), 1<<31 - 1}, nil
}

// newClient returns a client like Go's default, except that it keeps a connection open for
// each of many concurrent reads instead of two: in HTTP/1.1 each read needs its own.
func newClient() *http.Client {
	usual, ok := http.DefaultTransport.(*http.Transport)
	if !ok {
		return &http.Client{} // the program has replaced the default transport
	}
	own := usual.Clone()
	own.MaxIdleConnsPerHost = own.MaxIdleConns
	return &http.Client{Transport: own}
}

func (w *web) Get(ctx context.Context, key string, offset, length int64, buf []byte) ([]byte, error) {
	if !fs.ValidPath(key) {
		return nil, fmt.Errorf("object key is %q, want a path without . and ..", key)
	}
	u, err := url.Parse(w.base)
	if err != nil {
		return nil, bare(err)
	}
	u = u.JoinPath(strings.Split(key, "/")...)
	request, err := http.NewRequestWithContext(ctx, http.MethodGet, u.String(), nil)
	if err != nil {
		return nil, fmt.Errorf("%s: %w", zarr.Redacted(u.String()), bare(err))
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
		return nil, fmt.Errorf("%s: %w", zarr.Redacted(u.String()), bare(err))
	}
	defer response.Body.Close()
	skip, want, err := span(response, offset, length)
	if err == nil {
		_, err = io.CopyN(io.Discard, response.Body, skip)
	}
	var data []byte
	if err == nil {
		data, err = w.read(response.Body, offset, want, buf)
	}
	if errors.Is(err, io.EOF) {
		err = io.ErrUnexpectedEOF
	}
	if err != nil {
		return nil, fmt.Errorf("%s: %w", zarr.Redacted(u.String()), err)
	}
	return data, nil
}

// span returns the part of a response's body that was requested: how many bytes come
// before it, and its length, or -1 if that is not known before the body has been read.
func span(response *http.Response, offset, length int64) (skip, want int64, err error) {
	want = length
	if offset < 0 {
		want = -offset
	}
	size := response.ContentLength // -1 if unknown
	switch response.StatusCode {
	case http.StatusPartialContent:
		want, err = covers(response.Header.Get("Content-Range"), offset, want)
		return 0, want, err
	case http.StatusOK: // a server without support for ranges sends the whole object
		if skip = offset; offset < 0 {
			skip = size + offset
			if size < 0 {
				skip, want = 0, -1 // the end is known once the body has been read
			}
		}
		if skip < 0 || size >= 0 && skip > size {
			return 0, 0, fmt.Errorf("truncated after %d bytes: %w", size, io.ErrUnexpectedEOF)
		}
		if want < 0 {
			want = max(size-skip, -1)
		}
		return skip, want, nil
	case http.StatusNotFound, http.StatusGone:
		return 0, 0, fmt.Errorf("%s: %w", response.Status, fs.ErrNotExist)
	}
	return 0, 0, errors.New(response.Status)
}

// read reads the given number of bytes, to buf if it has room. If the number is not known,
// it reads the rest, and returns the last −offset bytes if offset is negative.
func (w *web) read(body io.Reader, offset, want int64, buf []byte) ([]byte, error) {
	if want > w.most {
		return nil, w.tooLarge()
	}
	if want >= 0 && want <= max(int64(cap(buf)), trusted) {
		data := buf
		if int64(cap(buf)) < want {
			data = make([]byte, want)
		}
		data = data[:want]
		_, err := io.ReadFull(body, data)
		return data, err
	}
	// Memory grows as data arrives.
	limit := want
	if want < 0 {
		limit = w.most + 1
	}
	data, err := io.ReadAll(io.LimitReader(body, limit))
	switch n := int64(len(data)); {
	case err != nil:
		return nil, err
	case n > w.most:
		return nil, w.tooLarge()
	case n < want || n < -offset:
		return nil, io.ErrUnexpectedEOF
	case offset < 0:
		return data[n+offset:], nil
	}
	return data, nil
}

// covers returns the number of bytes that a Content-Range header declares. The range must start at offset and have want bytes: "bytes 5-9/20", or "bytes 5-9/*" if the size is unknown.
func covers(header string, offset, want int64) (int64, error) {
	var first, last int64
	var all string
	n, _ := fmt.Sscanf(header, "bytes %d-%d/%s", &first, &last, &all)
	size, err := strconv.ParseInt(all, 10, 64)
	if n < 3 || first < 0 || last < first || last > 1<<62 || err != nil && all != "*" || err == nil && last >= size {
		return 0, fmt.Errorf("the server sent the content range %.80q, want bytes FIRST-LAST/SIZE", header)
	}
	toEnd := err != nil || last == size-1
	if offset >= 0 && first != offset || want >= 0 && last-first+1 != want || (offset < 0 || want < 0) && !toEnd {
		return 0, fmt.Errorf("the server sent %.80q, which was not requested: %w", header, io.ErrUnexpectedEOF)
	}
	return last - first + 1, nil
}

func (w *web) Put(context.Context, string, []byte) error { return errReadOnly }
func (w *web) Delete(context.Context, string) error      { return errReadOnly }
func (w *web) List(context.Context, string, func(zarr.Object) error) error {
	return fmt.Errorf("a web server cannot list its objects: %w", errors.ErrUnsupported)
}
func (w *web) Close() error { w.client.CloseIdleConnections(); return nil }

// bare returns an error of packages url and http without the URL.
func bare(err error) error {
	var e *url.Error
	if errors.As(err, &e) {
		return e.Err
	}
	return err
}
