package zarr

import (
	"archive/zip"
	"bufio"
	"context"
	"errors"
	"fmt"
	"hash/crc32"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"sort"
	"strconv"
	"strings"
	"sync"

	"github.com/boxsum/boxsum/internal/raster"
)

// A zipReader reads objects from the members of a zip file.
type zipReader struct {
	file    *os.File
	members map[string]*zip.File
	folders func() map[string][]string // names in each folder
}

func openZip(path string) (Bucket, error) {
	file, err := os.Open(path)
	if err != nil {
		return nil, err
	}
	info, err := file.Stat()
	if err == nil {
		var z *zip.Reader
		if z, err = zip.NewReader(file, info.Size()); err == nil {
			r := &zipReader{file: file, members: map[string]*zip.File{}}
			r.folders = sync.OnceValue(r.listFolders)
			for _, member := range z.File {
				if checkKey(member.Name) == nil {
					r.members[member.Name] = member
				}
			}
			return r, nil
		}
	}
	file.Close()
	return nil, bad("%s: %v", path, err)
}

func (z *zipReader) Get(ctx context.Context, key string, offset, length int64, buf []byte) ([]byte, error) {
	if err := ctx.Err(); err != nil {
		return nil, err
	}
	member := z.members[key]
	if member == nil {
		return nil, &fs.PathError{Op: "read", Path: key, Err: fs.ErrNotExist}
	}
	size := int64(min(member.UncompressedSize64, 1<<62))
	offset, length, err := section(key, size, offset, length)
	if err != nil {
		return nil, err
	}
	if member.Method == zip.Store {
		start, err := member.DataOffset()
		info, _ := z.file.Stat()
		if err != nil || info == nil || start+offset > info.Size()-length {
			return nil, bad("%s in the zip file is damaged: it extends beyond the end of the file", key)
		}
		buf = raster.Reuse(buf, int(length))
		if n, err := z.file.ReadAt(buf, start+offset); n < len(buf) {
			return nil, fmt.Errorf("%s: %w", key, unexpected(err))
		}
		if length == size && crc32.ChecksumIEEE(buf) != member.CRC32 {
			return nil, bad("%s in the zip file is damaged: its checksum differs", key)
		}
		return buf, nil
	}
	if uint64(size) > 1100*(member.CompressedSize64+64) { // more than deflate can expand to
		return nil, bad("%s in the zip file is damaged: %d bytes cannot decompress to %d", key, member.CompressedSize64, size)
	}
	r, err := member.Open()
	if err != nil {
		return nil, bad("%s in the zip file: %v", key, err)
	}
	defer r.Close()
	if _, err := io.CopyN(io.Discard, r, offset); err != nil {
		return nil, bad("%s in the zip file is damaged: %v", key, err)
	}
	buf = raster.Reuse(buf, int(length))
	if _, err := io.ReadFull(r, buf); err != nil {
		return nil, bad("%s in the zip file is damaged: %v", key, err)
	}
	if offset+length == size { // read to the end, which verifies the checksum
		if _, err := r.Read(make([]byte, 1)); err != nil && err != io.EOF {
			return nil, bad("%s in the zip file is damaged: %v", key, err)
		}
	}
	return buf, nil
}

// listFolders returns the names of the members and folders in each folder.
func (z *zipReader) listFolders() map[string][]string {
	all := map[string][]string{}
	for key := range z.members {
		for more := true; more; {
			dir, name := "", key
			if i := strings.LastIndexByte(key, '/'); i >= 0 {
				dir, name = key[:i], key[i+1:]
			}
			_, listed := all[dir]
			all[dir] = append(all[dir], name)
			key, more = dir, !listed && dir != ""
		}
	}
	return all
}

func (z *zipReader) names(dir string, most int) (names []string, known bool) {
	names = z.folders()[dir]
	return names, len(names) <= most
}

func (z *zipReader) Put(context.Context, string, []byte) error { return errReadOnly("a zip file") }
func (z *zipReader) Delete(context.Context, string) error      { return errReadOnly("a zip file") }

// errReadOnly returns the error for writing to a read-only bucket.
func errReadOnly(what string) error {
	return fmt.Errorf("%s is open for reading only: %w", what, errors.ErrUnsupported)
}

func (z *zipReader) List(ctx context.Context, prefix string, visit func(Object) error) error {
	for key, member := range z.members {
		if strings.HasPrefix(key, prefix) && !strings.HasSuffix(key, "/") {
			if err := visit(Object{key, int64(member.UncompressedSize64), strconv.FormatUint(uint64(member.CRC32), 36)}); err != nil {
				return err
			}
		}
	}
	return ctx.Err()
}

func (z *zipReader) Close() error { return z.file.Close() }

// A zipWriter writes a temporary zip file that replaces the destination on Close. It keeps
// metadata, which is written more than once, in memory.
type zipWriter struct {
	path string
	lock sync.Mutex
	file *os.File
	out  *bufio.Writer
	zip  *zip.Writer
	at   int64
	done map[string]zipped
	late map[string][]byte
}

type zipped struct{ offset, size int64 }

func createZip(path string) (Bucket, error) {
	file, err := os.CreateTemp(filepath.Dir(path), partial+filepath.Base(path)+"-*")
	if err != nil {
		return nil, err
	}
	file.Chmod(0o644)
	w := &zipWriter{path: path, file: file, done: map[string]zipped{}, late: map[string][]byte{}}
	w.out = bufio.NewWriterSize(writerFunc(func(p []byte) (int, error) {
		n, err := file.Write(p)
		w.at += int64(n)
		return n, err
	}), 1<<16)
	w.zip = zip.NewWriter(w.out)
	return w, nil
}

type writerFunc func(p []byte) (int, error)

func (f writerFunc) Write(p []byte) (int, error) { return f(p) }

func (w *zipWriter) Get(ctx context.Context, key string, offset, length int64, buf []byte) ([]byte, error) {
	w.lock.Lock()
	defer w.lock.Unlock()
	data, isLate := w.late[key]
	member, isDone := w.done[key]
	switch {
	case isLate:
		offset, length, err := section(key, int64(len(data)), offset, length)
		if err != nil {
			return nil, err
		}
		return append(buf[:0], data[offset:offset+length]...), nil
	case !isDone:
		return nil, &fs.PathError{Op: "read", Path: key, Err: fs.ErrNotExist}
	}
	offset, length, err := section(key, member.size, offset, length)
	if err != nil {
		return nil, err
	}
	buf = raster.Reuse(buf, int(length))
	if n, err := w.file.ReadAt(buf, member.offset+offset); n < len(buf) {
		return nil, fmt.Errorf("%s: %w", key, unexpected(err))
	}
	return buf, nil
}

func (w *zipWriter) Put(ctx context.Context, key string, data []byte) error {
	if err := errors.Join(ctx.Err(), checkKey(key)); err != nil {
		return err
	}
	w.lock.Lock()
	defer w.lock.Unlock()
	if w.file == nil {
		return fmt.Errorf("%s is closed: %w", w.path, fs.ErrClosed)
	}
	if name := key[strings.LastIndex(key, "/")+1:]; name == "zarr.json" || isScratch(key) {
		w.late[key] = append([]byte(nil), data...)
		return nil
	}
	return w.add(key, data)
}

// isScratch reports whether an object is left out of zip files: objects in a folder whose
// name begins with a dot are needed only while others are written.
func isScratch(key string) bool { return key[0] == '.' && strings.Contains(key, "/") }

func (w *zipWriter) add(key string, data []byte) error {
	if _, ok := w.done[key]; ok {
		return nil // members cannot be overwritten, and the contents are the same
	}
	header := &zip.FileHeader{Name: key, Method: zip.Store, CRC32: crc32.ChecksumIEEE(data), CompressedSize64: uint64(len(data)), UncompressedSize64: uint64(len(data))}
	m, err := w.zip.CreateRaw(header)
	if err == nil {
		err = w.zip.Flush()
	}
	if err == nil {
		err = w.out.Flush()
	}
	start := w.at
	if err == nil {
		_, err = m.Write(data)
	}
	if err == nil {
		err = w.zip.Flush()
	}
	if err == nil {
		err = w.out.Flush()
	}
	if err != nil {
		return err
	}
	w.done[key] = zipped{start, int64(len(data))}
	return nil
}

func (w *zipWriter) Delete(_ context.Context, key string) error {
	w.lock.Lock()
	defer w.lock.Unlock()
	delete(w.late, key)
	if _, ok := w.done[key]; ok {
		return fmt.Errorf("%s is in the zip file, which does not support deleting: %w", key, errors.ErrUnsupported)
	}
	return nil
}

func (w *zipWriter) List(ctx context.Context, prefix string, visit func(Object) error) error {
	w.lock.Lock()
	var found []Object
	for key, m := range w.done {
		found = append(found, Object{Key: key, Size: m.size})
	}
	for key, data := range w.late {
		found = append(found, Object{Key: key, Size: int64(len(data))})
	}
	w.lock.Unlock()
	for _, o := range found {
		if strings.HasPrefix(o.Key, prefix) {
			if err := visit(o); err != nil {
				return err
			}
		}
	}
	return ctx.Err()
}

// discard removes the temporary file and leaves the destination unchanged.
func (w *zipWriter) discard() error {
	w.lock.Lock()
	defer w.lock.Unlock()
	if w.file == nil {
		return nil
	}
	err := errors.Join(w.file.Close(), os.Remove(w.file.Name()))
	w.file = nil
	return err
}

// Close writes the directory and, unless the file is empty, moves it to its destination.
func (w *zipWriter) Close() error {
	w.lock.Lock()
	defer w.lock.Unlock()
	if w.file == nil {
		return nil
	}
	defer func() { w.file = nil }()
	temporary := w.file.Name()
	keys := make([]string, 0, len(w.late))
	for key := range w.late {
		if !isScratch(key) {
			keys = append(keys, key)
		}
	}
	sort.Strings(keys)
	var err error
	if len(keys) == 0 {
		err = bad("%s: nothing was written to the zip file", w.path)
	}
	for _, key := range keys {
		if err == nil {
			err = w.add(key, w.late[key])
		}
	}
	if err == nil {
		err = w.zip.Close()
	}
	if err == nil {
		err = w.out.Flush()
	}
	if failed := w.file.Close(); err == nil {
		err = failed
	}
	if err == nil {
		err = os.Rename(temporary, w.path)
	}
	if err != nil {
		os.Remove(temporary)
		return err
	}
	return nil
}
