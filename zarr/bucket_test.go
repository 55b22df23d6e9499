package zarr

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"runtime"
	"sync"
	"testing"
	"time"
)

var ctx = context.Background()

// TestBuckets tests that buckets of all kinds store objects, return parts of them, and report missing ones.
func TestBuckets(t *testing.T) {
	zipped, err := OpenBucket(ctx, filepath.Join(t.TempDir(), "a.zip"), true)
	if err != nil {
		t.Fatal(err)
	}
	memory, _ := OpenBucket(ctx, "mem://test/below", true)
	for name, b := range map[string]Bucket{"folder": Folder(t.TempDir()), "memory": memory, "zip": zipped, "sub": Sub(Memory(), "a/b")} {
		data := []byte("0123456789")
		if err := b.Put(ctx, "x/y", data); err != nil {
			t.Fatalf("%s: %v", name, err)
		}
		for _, c := range []struct {
			offset, length int64
			want           string
		}{{0, -1, "0123456789"}, {2, 3, "234"}, {-4, -1, "6789"}, {9, 1, "9"}, {10, 0, ""}} {
			if got, err := b.Get(ctx, "x/y", c.offset, c.length, nil); err != nil || string(got) != c.want {
				t.Errorf("%s: %d bytes from %d are %q, %v", name, c.length, c.offset, got, err)
			}
		}
		for _, c := range [][2]int64{{8, 5}, {-11, -1}} {
			if _, err := b.Get(ctx, "x/y", c[0], c[1], nil); !errors.Is(err, io.ErrUnexpectedEOF) {
				t.Errorf("%s: beyond the end: %v", name, err)
			}
		}
		for _, key := range []string{"x", "z", "x/y/z"} {
			if _, err := b.Get(ctx, key, 0, -1, nil); !errors.Is(err, os.ErrNotExist) {
				t.Errorf("%s: %q is not there: %v", name, key, err)
			}
		}
		var keys []string
		b.List(ctx, "x/", func(o Object) error { keys = append(keys, o.Key); return nil })
		if len(keys) != 1 || keys[0] != "x/y" {
			t.Errorf("%s: has %q", name, keys)
		}
		if name != "zip" {
			if err := b.Delete(ctx, "x/y"); err != nil {
				t.Errorf("%s: %v", name, err)
			}
			if _, err := b.Get(ctx, "x/y", 0, -1, nil); !errors.Is(err, os.ErrNotExist) {
				t.Errorf("%s: deleted: %v", name, err)
			}
		}
	}
	runtime.KeepAlive(zipped)
}

// TestFolderSwept tests writing to a folder while another process that finishes removes files that it considers left over.
func TestFolderSwept(t *testing.T) {
	b := Folder(t.TempDir())
	var group sync.WaitGroup
	done := make(chan bool)
	group.Go(func() {
		for {
			select {
			case <-done:
				return
			case <-time.After(3 * time.Millisecond):
				Sweep(b)
			}
		}
	})
	data := make([]byte, 1<<16)
	for i := range 300 {
		if err := b.Put(ctx, fmt.Sprintf("c/%d/%d", i%7, i), data); err != nil {
			t.Error(err)
		}
	}
	close(done)
	group.Wait()
	for i := range 300 {
		if got, err := b.Get(ctx, fmt.Sprintf("c/%d/%d", i%7, i), 0, -1, nil); err != nil || len(got) != len(data) {
			t.Errorf("%d: %d bytes, %v", i, len(got), err)
		}
	}
}
