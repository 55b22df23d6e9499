package web

import (
	"bytes"
	"context"
	"errors"
	"image"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"os"
	"strings"
	"sync"
	"sync/atomic"
	"testing"

	"github.com/boxsum/boxsum/store"
	"github.com/boxsum/boxsum/zarr"
)

// TestWeb queries a table over HTTP, from servers with and without support for ranges, and from one that fails.
func TestWeb(t *testing.T) {
	ctx, dir := context.Background(), t.TempDir()
	src, err := zarr.Create(ctx, zarr.Folder(dir+"/in.zarr"), "", &zarr.Spec{Type: zarr.Uint8, Shape: []int{300, 200}, Chunk: []int{64, 64}})
	if err != nil {
		t.Fatal(err)
	}
	if err := zarr.Write(ctx, src, bytes.Repeat([]byte{3}, 300*200), []int{0, 0}, []int{300, 200}); err != nil {
		t.Fatal(err)
	}
	if err := store.Integrate(ctx, dir+"/in.zarr", dir+"/table.zarr", &store.Options{Block: 128, Chunk: 32}); err != nil {
		t.Fatal(err)
	}
	files := http.FileServer(http.Dir(dir))
	whole := http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) { r.Header.Del("Range"); files.ServeHTTP(w, r) })
	for name, handler := range map[string]http.Handler{"ranges": files, "whole": whole} {
		server := httptest.NewServer(handler)
		defer server.Close()
		table, err := store.Open(ctx, server.URL+"/table.zarr?token=secret", nil)
		if err != nil {
			t.Fatalf("%s: %v", name, err)
		}
		sums := make([]uint64, 2)
		if err := store.SumBoxes(ctx, table, sums, []image.Rectangle{image.Rect(10, 20, 150, 270), image.Rect(0, 0, 200, 300)}); err != nil || sums[0] != 3*140*250 || sums[1] != 3*200*300 {
			t.Errorf("%s: %v, %v", name, sums, err)
		}
		b, _ := zarr.OpenBucket(ctx, server.URL, false)
		os.WriteFile(dir+"/ten", []byte("0123456789"), 0o666)
		for _, c := range []struct {
			offset, length int64
			want           string
		}{{0, -1, "0123456789"}, {2, 3, "234"}, {-4, -1, "6789"}, {7, -1, "789"}, {9, 1, "9"}} {
			if got, err := b.Get(ctx, "ten", c.offset, c.length, nil); err != nil || string(got) != c.want {
				t.Errorf("%s: %d bytes from %d are %q, %v", name, c.length, c.offset, got, err)
			}
		}
		if _, err := b.Get(ctx, "ten", 8, 5, nil); err == nil {
			t.Errorf("%s: bytes beyond the end", name)
		}
		if _, err := b.Get(ctx, "none", 0, -1, nil); !errors.Is(err, os.ErrNotExist) {
			t.Errorf("%s: %v", name, err)
		}
		if err := b.Put(ctx, "x", nil); !errors.Is(err, errors.ErrUnsupported) {
			t.Error(err)
		}
	}
	broken := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		w.Header().Set("Content-Length", "100")
		io.WriteString(w, "short")
	}))
	defer broken.Close()
	if _, err := store.Open(ctx, strings.Replace(broken.URL, "://", "://user:secret@", 1)+"/x.zarr?token=secret", nil); err == nil || strings.Contains(err.Error(), "secret") {
		t.Errorf("a body that breaks off: %v", err)
	}
}

// TestOdd reads from servers that send more than was requested, endless data, or another part.
func TestOdd(t *testing.T) {
	ctx := context.Background()
	var parts string
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		switch r.URL.Path {
		case "/endless":
			for some := make([]byte, 1<<10); r.Context().Err() == nil; {
				if _, err := w.Write(some); err != nil {
					return
				}
			}
		case "/long":
			w.Header().Set("Content-Length", "2000000000000")
		case "/stream": // of unknown length
			io.WriteString(w, "01234")
			w.(http.Flusher).Flush()
			io.WriteString(w, "56789")
		case "/part":
			if parts != "" {
				w.Header().Set("Content-Range", parts)
			}
			w.WriteHeader(http.StatusPartialContent)
			io.WriteString(w, "234")
		}
	}))
	defer server.Close()
	b, err := zarr.OpenBucket(ctx, server.URL, false)
	if err != nil {
		t.Fatal(err)
	}
	b.(*web).most = 1 << 20
	if got, err := b.Get(ctx, "endless", 2000, 5, nil); err != nil || len(got) != 5 {
		t.Errorf("a part of what has no end: %q, %v", got, err)
	}
	for _, offset := range []int64{0, 7, -7} {
		for _, key := range []string{"endless", "long"} {
			if got, err := b.Get(ctx, key, offset, -1, nil); err == nil {
				t.Errorf("%s from %d on: %d bytes", key, offset, len(got))
			}
		}
	}
	for _, c := range []struct {
		offset, length int64
		want           string
	}{{0, -1, "0123456789"}, {2, 3, "234"}, {-4, -1, "6789"}, {7, -1, "789"}, {-11, -1, ""}, {8, 5, ""}, {11, -1, ""}} {
		if got, err := b.Get(ctx, "stream", c.offset, c.length, nil); string(got) != c.want || (err == nil) != (c.want != "") {
			t.Errorf("%d bytes from %d of a stream are %q, %v", c.length, c.offset, got, err)
		}
	}
	for _, parts = range []string{"bytes 2-4/10", "bytes 2-4/*", "bytes 2-4/5", // followed by invalid ones
		"bytes 1-3/10", "bytes 2-5/10", "bytes 2-4/4", "bytes */10", "", "lines 2-4/10"} {
		ok := parts == "bytes 2-4/10" || parts == "bytes 2-4/*" || parts == "bytes 2-4/5"
		if got, err := b.Get(ctx, "part", 2, 3, nil); (err == nil) != ok {
			t.Errorf("%q: %q, %v", parts, got, err)
		}
		ok = parts == "bytes 2-4/*" || parts == "bytes 2-4/5"
		for _, offset := range []int64{2, -3} {
			if got, err := b.Get(ctx, "part", offset, -1, nil); (err == nil) != ok {
				t.Errorf("%q from %d on: %q, %v", parts, offset, got, err)
			}
		}
	}
}

// TestConnectionsAreKept makes many concurrent reads several times, and tests that the connections of the first round are reused.
func TestConnectionsAreKept(t *testing.T) {
	const readers = 16
	var opened atomic.Int32
	var here sync.WaitGroup
	server := httptest.NewUnstartedServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		here.Done()
		here.Wait() // so that all reads are concurrent
		io.WriteString(w, "x")
	}))
	server.Config.ConnState = func(_ net.Conn, state http.ConnState) {
		if state == http.StateNew {
			opened.Add(1)
		}
	}
	server.Start()
	defer server.Close()
	b, err := zarr.OpenBucket(context.Background(), server.URL, false)
	if err != nil {
		t.Fatal(err)
	}
	for range 3 {
		here.Add(readers)
		var all sync.WaitGroup
		for range readers {
			all.Go(func() {
				if _, err := b.Get(context.Background(), "x", 0, -1, nil); err != nil {
					t.Error(err)
				}
			})
		}
		all.Wait()
	}
	if n := opened.Load(); n >= 2*readers {
		t.Errorf("%d connections for %d reads at a time", n, readers)
	}
}
