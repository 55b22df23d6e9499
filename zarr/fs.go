package zarr

import (
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"strconv"
	"strings"

	"github.com/boxsum/boxsum/internal/raster"
)

// FS returns a bucket that reads the files of a file system, such as an
// embedded one. If its files implement [io.ReaderAt], a part of a file is read
// without the rest.
func FS(files fs.FS) Bucket { return &fileSystem{files} }

type fileSystem struct{ files fs.FS }

func (f *fileSystem) Get(ctx context.Context, key string, offset, length int64, buf []byte) ([]byte, error) {
	if err := errors.Join(ctx.Err(), checkKey(key)); err != nil {
		return nil, err
	}
	file, err := f.files.Open(key)
	if err != nil {
		return nil, err
	}
	defer file.Close()
	info, err := file.Stat()
	if err != nil {
		return nil, err
	}
	if info.IsDir() {
		return nil, &fs.PathError{Op: "read", Path: key, Err: fs.ErrNotExist}
	}
	if offset, length, err = section(key, info.Size(), offset, length); err != nil {
		return nil, err
	}
	buf = raster.Reuse(buf, int(length))
	if at, ok := file.(io.ReaderAt); ok {
		_, err = io.ReadFull(io.NewSectionReader(at, offset, length), buf)
	} else if _, err = io.CopyN(io.Discard, file, offset); err == nil {
		_, err = io.ReadFull(file, buf)
	}
	if err != nil {
		return nil, fmt.Errorf("%s: %w", key, unexpected(err))
	}
	return buf, nil
}

func (f *fileSystem) Put(context.Context, string, []byte) error { return errReadOnly("a file system") }
func (f *fileSystem) Delete(context.Context, string) error      { return errReadOnly("a file system") }

func (f *fileSystem) List(ctx context.Context, prefix string, visit func(Object) error) error {
	start := "."
	if i := strings.LastIndex(prefix, "/"); i > 0 {
		start = prefix[:i]
	}
	return fs.WalkDir(f.files, start, func(path string, entry fs.DirEntry, err error) error {
		if errors.Is(err, fs.ErrNotExist) {
			return nil
		}
		if err == nil {
			err = ctx.Err()
		}
		if err != nil || entry.IsDir() || !strings.HasPrefix(path, prefix) {
			return err
		}
		info, err := entry.Info()
		if err != nil {
			return err
		}
		return visit(Object{Key: path, Size: info.Size(), Version: strconv.FormatInt(info.ModTime().UnixNano(), 36)})
	})
}

func (f *fileSystem) Close() error { return nil }
