package zarr

import (
	"context"
	"errors"
	"hash/crc64"
	"io"
	"io/fs"
	"net/url"
	"sort"
	"strconv"
	"strings"
	"sync"

	"github.com/boxsum/boxsum/internal/raster"
)

// Memory returns a new, empty bucket in memory.
func Memory() Bucket { return &memory{objects: map[string][]byte{}} }

type memory struct {
	lock    sync.RWMutex
	objects map[string][]byte
}

// iso computes the versions of objects. CRC-32C would not do: over data that ends with its
// own CRC-32C, it is constant.
var iso = crc64.MakeTable(crc64.ISO)

// memories holds the buckets of mem:// URLs, for the life of the program.
var memories sync.Map

func openMemory(_ context.Context, u *url.URL, _ bool) (Bucket, error) {
	b, _ := memories.LoadOrStore(u.Host, Memory())
	return Sub(b.(Bucket), u.Path), nil
}

func (m *memory) Get(ctx context.Context, key string, offset, length int64, buf []byte) ([]byte, error) {
	if err := errors.Join(ctx.Err(), checkKey(key)); err != nil {
		return nil, err
	}
	m.lock.RLock()
	data, ok := m.objects[key]
	m.lock.RUnlock()
	if !ok {
		return nil, &fs.PathError{Op: "read", Path: key, Err: fs.ErrNotExist}
	}
	offset, length, err := section(key, int64(len(data)), offset, length)
	if err != nil {
		return nil, err
	}
	buf = raster.Reuse(buf, int(length))
	copy(buf, data[offset:])
	return buf, nil
}

func (m *memory) Put(ctx context.Context, key string, data []byte) error {
	if err := errors.Join(ctx.Err(), checkKey(key)); err != nil {
		return err
	}
	data = append([]byte(nil), data...)
	m.lock.Lock()
	defer m.lock.Unlock()
	m.objects[key] = data
	return nil
}

func (m *memory) Delete(_ context.Context, key string) error {
	m.lock.Lock()
	defer m.lock.Unlock()
	delete(m.objects, key)
	return nil
}

func (m *memory) List(ctx context.Context, prefix string, visit func(Object) error) error {
	m.lock.RLock()
	var found []Object
	for key, data := range m.objects {
		if strings.HasPrefix(key, prefix) {
			found = append(found, Object{key, int64(len(data)), strconv.FormatUint(crc64.Checksum(data, iso), 36)})
		}
	}
	m.lock.RUnlock()
	sort.Slice(found, func(i, j int) bool { return found[i].Key < found[j].Key })
	for _, o := range found {
		if err := visit(o); err != nil {
			return err
		}
	}
	return ctx.Err()
}

func (m *memory) Close() error { return nil }

// unexpected converts an end of file in the middle of an object to io.ErrUnexpectedEOF.
func unexpected(err error) error {
	if err == nil || errors.Is(err, io.EOF) {
		return io.ErrUnexpectedEOF
	}
	return err
}
