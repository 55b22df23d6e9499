// Package cloud adds URLs of object stores to package store: s3://, gs:// and azblob://, with the path of the store after
// the name of the bucket. Import it for this effect:
//
//	import _ "github.com/boxsum/boxsum/cloud"
//
// Credentials are found in the same places as by the command-line tools of Amazon, Google and Microsoft. The query of a
// URL may contain options of gocloud.dev/blob, as in s3://bucket/table.zarr?region=eu-west-1&endpoint=https://host.
//
// It is a separate module so that the library does not depend on the SDKs of cloud providers.
package cloud

import (
	"context"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"net/url"
	"regexp"
	"strconv"
	"strings"
	"time"

	"github.com/aws/aws-sdk-go-v2/service/s3"
	"github.com/boxsum/boxsum/zarr"
	"gocloud.dev/blob"
	_ "gocloud.dev/blob/azureblob" // azblob://
	_ "gocloud.dev/blob/gcsblob"   // gs://
	_ "gocloud.dev/blob/s3blob"    // s3://
	"gocloud.dev/gcerrors"
)

func init() {
	for _, scheme := range []string{"s3", "gs", "azblob"} {
		zarr.Register(scheme, open)
	}
}

func open(ctx context.Context, u *url.URL, _ bool) (zarr.Bucket, error) {
	if u.Host == "" {
		return nil, fmt.Errorf("%s has no bucket, want %s://BUCKET/PATH", zarr.Redacted(u.String()), u.Scheme)
	}
	root := *u
	root.Path, root.RawPath = "", ""
	if query := root.Query(); u.Scheme == "s3" && !query.Has("response_checksum_validation") {
		// Chunks have their own checksums, and the SDK would log a warning for every object without one.
		query.Set("response_checksum_validation", "when_required")
		root.RawQuery = query.Encode()
	}
	b, err := blob.OpenBucket(ctx, root.String())
	if err != nil {
		return nil, fmt.Errorf("%s: %w", zarr.Redacted(u.String()), clean(err))
	}
	return zarr.Sub(&bucket{b}, u.Path), nil
}

// Bucket returns a [zarr.Bucket] that stores its objects in b, a bucket of gocloud.dev. Closing it closes b.
func Bucket(b *blob.Bucket) zarr.Bucket { return &bucket{b} }

type bucket struct{ blobs *blob.Bucket }

const (
	// attempts is the number of attempts for transient errors, beyond those of the SDKs, which do not retry bodies that break off.
	attempts = 5
	// part is the size above which an object is written in parts. Tables have smaller objects, which take one request.
	part = 64 << 20
)

// retry repeats a call after transient errors, with increasing delays. Reads and whole writes may be repeated.
func retry(ctx context.Context, key string, call func() error) error {
	wait := 50 * time.Millisecond
	for n := 1; ; n++ {
		err := call()
		if err == nil {
			return nil
		}
		if ctx.Err() != nil {
			return ctx.Err()
		}
		switch code := gcerrors.Code(err); {
		case code == gcerrors.NotFound:
			return &fs.PathError{Op: "read", Path: key, Err: fs.ErrNotExist}
		case n == attempts || code == gcerrors.PermissionDenied || code == gcerrors.InvalidArgument || code == gcerrors.FailedPrecondition || code == gcerrors.Unimplemented || errors.Is(err, errShort):
			return fmt.Errorf("%s: %w", key, clean(err))
		}
		select {
		case <-ctx.Done():
			return ctx.Err()
		case <-time.After(wait):
			wait *= 2
		}
	}
}

// errShort reports an object with fewer bytes than requested, which another attempt does not change.
var errShort = fmt.Errorf("the object has fewer bytes than requested: %w", io.ErrUnexpectedEOF)

func (b *bucket) Get(ctx context.Context, key string, offset, length int64, buf []byte) (data []byte, err error) {
	err = retry(ctx, key, func() error {
		data, err = b.get(ctx, key, offset, length, buf)
		return err
	})
	return data, err
}

func (b *bucket) get(ctx context.Context, key string, offset, length int64, buf []byte) ([]byte, error) {
	var opt *blob.ReaderOptions
	if offset < 0 {
		var client *s3.Client
		if b.blobs.As(&client) { // its requests can read from the end
			suffix := "bytes=" + strconv.FormatInt(offset, 10)
			opt = &blob.ReaderOptions{BeforeRead: func(as func(any) bool) error {
				var in *s3.GetObjectInput
				if as(&in) {
					in.Range = &suffix
				}
				return nil
			}}
			length = -offset
			r, err := b.blobs.NewRangeReader(ctx, key, 0, -1, opt)
			if err != nil {
				return nil, err
			}
			defer r.Close()
			if r.Size() < length {
				return nil, errShort
			}
			return readAll(r, length, buf)
		}
		a, err := b.blobs.Attributes(ctx, key)
		if err != nil {
			return nil, err
		}
		if a.Size < -offset {
			return nil, errShort
		}
		offset, length = a.Size+offset, -offset
	}
	r, err := b.blobs.NewRangeReader(ctx, key, offset, max(length, -1), opt)
	if err != nil {
		return nil, err
	}
	defer r.Close()
	if length < 0 {
		length = r.Size() - offset
	}
	if length < 0 || r.Size() < offset+length {
		return nil, errShort
	}
	return readAll(r, length, buf)
}

// readAll reads exactly n bytes, in the memory of buf if they fit.
func readAll(r io.Reader, n int64, buf []byte) ([]byte, error) {
	if int64(cap(buf)) < n {
		buf = make([]byte, n)
	}
	buf = buf[:n]
	if _, err := io.ReadFull(r, buf); err != nil {
		return nil, err
	}
	if k, _ := r.Read(make([]byte, 1)); k > 0 {
		return nil, fmt.Errorf("the store returned more than the %d bytes requested", n)
	}
	return buf, nil
}

func (b *bucket) Put(ctx context.Context, key string, data []byte) error {
	return retry(ctx, key, func() error {
		ctx, cancel := context.WithCancel(ctx)
		defer cancel() // before Close, so that the object is unchanged
		kind := "application/octet-stream"
		if strings.HasSuffix(key, ".json") {
			kind = "application/json"
		}
		w, err := b.blobs.NewWriter(ctx, key, &blob.WriterOptions{ContentType: kind, BufferSize: min(max(len(data)+1, 5<<20), part)})
		if err != nil {
			return err
		}
		if _, err := w.Write(data); err != nil {
			cancel()
			w.Close()
			return err
		}
		return w.Close()
	})
}

func (b *bucket) Delete(ctx context.Context, key string) error {
	err := retry(ctx, key, func() error { return b.blobs.Delete(ctx, key) })
	if errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	return err
}

func (b *bucket) List(ctx context.Context, prefix string, visit func(zarr.Object) error) error {
	token := blob.FirstPageToken
	for {
		var page []*blob.ListObject
		var next []byte
		if err := retry(ctx, prefix, func() (err error) {
			page, next, err = b.blobs.ListPage(ctx, token, 1000, &blob.ListOptions{Prefix: prefix})
			return err
		}); err != nil {
			return err
		}
		for _, o := range page {
			version := strconv.FormatInt(o.ModTime.UnixNano(), 36)
			if len(o.MD5) > 0 {
				version = hex.EncodeToString(o.MD5)
			}
			if err := visit(zarr.Object{Key: o.Key, Size: o.Size, Version: version}); err != nil {
				return err
			}
		}
		if len(next) == 0 {
			return nil
		}
		token = next
	}
}

func (b *bucket) Close() error { return clean(b.blobs.Close()) }

// clean returns an error whose text contains no user, password or query of a URL, which may be credentials.
func clean(err error) error {
	if err == nil {
		return nil
	}
	return &cleaned{err}
}

type cleaned struct{ err error }

var (
	users   = regexp.MustCompile(`(\w://)[^\s"@]*@`)
	queries = regexp.MustCompile(`(\w://[^\s?"]*)\?[^\s"]*`)
	secrets = regexp.MustCompile(`(?i)\b(sig|signature|accountkey|sharedaccesssignature|x-amz-[a-z-]+|authorization|credential)([=:]\s*)[^\s&"]+`)
)

func (c *cleaned) Error() string {
	text := users.ReplaceAllString(c.err.Error(), "$1")
	text = queries.ReplaceAllString(text, "$1")
	return secrets.ReplaceAllString(text, "$1$2…")
}

func (c *cleaned) Unwrap() error { return c.err }
