package web

import (
	"bytes"
	"context"
	"errors"
	"image"
	"io"
	"net/http"
	"net/http/httptest"
	"os"
	"strings"
	"testing"

	"github.com/boxsum/boxsum/store"
)

// TestWeb asks a table over HTTP, of servers with ranges and without, and of one that fails.
func TestWeb(t *testing.T) {
	ctx, dir := context.Background(), t.TempDir()
	src, err := store.CreateArray(ctx, store.Folder(dir+"/in.zarr"), "", &store.Spec{Type: store.Uint8, Shape: []int{300, 200}, Chunk: []int{64, 64}})
	if err != nil {
		t.Fatal(err)
	}
	if err := store.Write(ctx, src, bytes.Repeat([]byte{3}, 300*200), []int{0, 0}, []int{300, 200}); err != nil {
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
		b, _ := store.OpenBucket(ctx, server.URL, false)
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
