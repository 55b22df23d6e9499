package zarr

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"
	"syscall"

	"github.com/boxsum/boxsum/internal/raster"
)

// Folder returns a bucket that stores objects in a folder, where each key is the path of a
// file. Files are written under another name and then renamed, so a crash leaves no partial
// objects. Writes are not synced to disk.
func Folder(path string) Bucket { return &folder{root: path} }

type folder struct {
	root string
	made sync.Map // folders known to exist
}

var unique atomic.Uint64

// partial is the prefix of files that are not yet objects.
const partial = ".partial-"

func (f *folder) path(key string) (string, error) {
	if err := checkKey(key); err != nil {
		return "", err
	}
	return filepath.Join(f.root, filepath.FromSlash(key)), nil
}

func (f *folder) Get(ctx context.Context, key string, offset, length int64, buf []byte) ([]byte, error) {
	if err := ctx.Err(); err != nil {
		return nil, err
	}
	path, err := f.path(key)
	if err != nil {
		return nil, err
	}
	file, err := os.Open(path)
	if err != nil {
		if errors.Is(err, syscall.ENOTDIR) {
			err = &fs.PathError{Op: "open", Path: path, Err: fs.ErrNotExist}
		}
		return nil, err
	}
	defer file.Close()
	if offset < 0 || length < 0 {
		info, err := file.Stat()
		if err != nil {
			return nil, err
		}
		if info.IsDir() {
			return nil, &fs.PathError{Op: "read", Path: path, Err: fs.ErrNotExist}
		}
		if offset, length, err = section(key, info.Size(), offset, length); err != nil {
			return nil, err
		}
	}
	buf = raster.Reuse(buf, int(length))
	if n, err := file.ReadAt(buf, offset); n < len(buf) {
		if errors.Is(err, syscall.EISDIR) {
			err = fs.ErrNotExist
		}
		return nil, fmt.Errorf("%s: got %d bytes, want %d: %w", path, n, len(buf), unexpected(err))
	}
	return buf, nil
}

func (f *folder) Put(ctx context.Context, key string, data []byte) error {
	if err := ctx.Err(); err != nil {
		return err
	}
	path, err := f.path(key)
	if err != nil {
		return err
	}
	for tries := 0; ; tries++ {
		err := f.write(path, data)
		if err == nil {
			return nil
		}
		// Another process that has just finished the same table may remove this file as
		// left over, see Sweep.
		if !errors.Is(err, fs.ErrNotExist) || tries == 9 {
			return err
		}
		f.made.Clear()
	}
}

func (f *folder) write(path string, data []byte) error {
	dir, name := filepath.Split(path)
	if _, ok := f.made.Load(dir); !ok {
		if err := os.MkdirAll(dir, 0o777); err != nil {
			return err
		}
		f.made.Store(dir, true)
	}
	temporary := dir + partial + name + "-" + strconv.Itoa(os.Getpid()) + "-" + strconv.FormatUint(unique.Add(1), 36)
	err := os.WriteFile(temporary, data, 0o666)
	if err == nil {
		err = os.Rename(temporary, path)
	}
	if err != nil {
		os.Remove(temporary)
	}
	return err
}

func (f *folder) Delete(ctx context.Context, key string) error {
	path, err := f.path(key)
	if err != nil {
		return err
	}
	if err := os.Remove(path); err != nil && !errors.Is(err, fs.ErrNotExist) {
		return err
	}
	// Remove folders that have become empty: object stores have none.
	for dir := filepath.Dir(path); len(dir) > len(filepath.Clean(f.root)) && os.Remove(dir) == nil; dir = filepath.Dir(dir) {
		f.made.Delete(dir + string(filepath.Separator))
	}
	return nil
}

func (f *folder) List(ctx context.Context, prefix string, visit func(Object) error) error {
	root := filepath.Clean(f.root)
	start := root
	if dir, _ := filepath.Split(filepath.FromSlash(prefix)); dir != "" {
		start = filepath.Join(root, dir)
	}
	err := filepath.WalkDir(start, func(path string, entry fs.DirEntry, err error) error {
		if errors.Is(err, fs.ErrNotExist) {
			return nil
		}
		if err == nil {
			err = ctx.Err()
		}
		if err != nil || entry.IsDir() || strings.HasPrefix(entry.Name(), partial) {
			return err
		}
		relative, err := filepath.Rel(root, path)
		if err != nil {
			return err
		}
		key := filepath.ToSlash(relative)
		if !strings.HasPrefix(key, prefix) {
			return nil
		}
		info, err := entry.Info()
		if errors.Is(err, fs.ErrNotExist) {
			return nil
		}
		if err != nil {
			return err
		}
		return visit(Object{Key: key, Size: info.Size(), Version: strconv.FormatInt(info.ModTime().UnixNano(), 36)})
	})
	if err != nil {
		return err
	}
	return nil
}

// Sweep removes files that crashed processes left in a folder while writing objects. It
// does nothing for other buckets.
func Sweep(b Bucket) {
	f, ok := b.(*folder)
	if !ok {
		return
	}
	filepath.WalkDir(f.root, func(path string, entry fs.DirEntry, err error) error {
		if err == nil && !entry.IsDir() && strings.HasPrefix(entry.Name(), partial) {
			os.Remove(path)
		}
		return nil
	})
}

func (f *folder) Close() error { return nil }
