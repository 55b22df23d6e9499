package imgio

import (
	"errors"
	"fmt"
	"io"
	"os"
	"unsafe"

	"github.com/boxsum/boxsum/internal/raster"
)

// mapBytes is the size from which OpenNPY maps a file. Reading smaller files
// costs less than the page faults of a mapping.
const mapBytes = 1 << 20

// ReadNPY reads an array in NumPy's .npy format, version 1.0, 2.0 or 3.0.
//
// It accepts integers of 1, 2, 4 and 8 bytes, floats of 2, 4 and 8 bytes, and
// booleans, in either byte order. Booleans become uint8, int8 becomes int16 and
// float16 becomes float32. Arrays in Fortran order are returned in row-major
// order. Anything after the data is left unread.
//
// If the length of r is known, because r is a file or has a Len method, a
// header that declares more data is an error before memory is allocated.
// Otherwise memory grows with the data that arrives.
func ReadNPY(r io.Reader) (*Array, error) {
	h, err := readNPYHeader(r)
	if err != nil {
		return nil, err
	}
	return h.read(r)
}

// OpenNPY reads the named .npy file. The caller must close the returned
// io.Closer when the array is no longer needed. Large little-endian files in C
// order are mapped into memory where the system supports it: the array then
// consists of the file's own pages and must not be used after the io.Closer is
// closed. Writing to the array never changes the file. If the file is truncated while it is mapped,
// reading the array may crash the program.
func OpenNPY(path string) (*Array, io.Closer, error) {
	f, err := os.Open(path)
	if err != nil {
		return nil, nil, err
	}
	defer f.Close()
	a, c, err := openNPY(f)
	if err != nil {
		return nil, nil, inFile(path, err)
	}
	return a, c, nil
}

func openNPY(f *os.File) (*Array, io.Closer, error) {
	h, err := readNPYHeader(f)
	if err != nil {
		return nil, nil, err
	}
	return h.open(f)
}

// open maps or reads the data behind a header.
func (h *npyHeader) open(f *os.File) (*Array, io.Closer, error) {
	if a, c := h.mapped(f); a != nil {
		return a, c, nil
	}
	a, err := h.read(f)
	return a, closer(nil), err
}

// A closer releases the resources behind an array or picture. A nil closer does
// nothing.
type closer func() error

func (c closer) Close() error {
	if c == nil {
		return nil
	}
	return c()
}

// mapped returns the array as a mapping of the file, or nil if it has to be
// read.
func (h *npyHeader) mapped(f *os.File) (*Array, io.Closer) {
	d, err := h.dtype()
	if err != nil || d.swap || h.offset%d.size != 0 {
		return nil, nil
	}
	m, unmap := h.mappedBytes(f, d)
	if m == nil {
		return nil, nil
	}
	if d.widen != nil {
		data, err := d.widen(d.view(m))
		if unmap.Close() != nil || err != nil {
			return nil, nil // reading it reports the error
		}
		return &Array{Shape: h.shape, Data: data}, closer(nil)
	}
	return &Array{Shape: h.shape, Data: d.view(m)}, unmap
}

// mappedBytes returns the data as a mapping of the file. It returns nil if the
// file is too short, not in C order or cannot be mapped.
func (h *npyHeader) mappedBytes(f *os.File, d dtype) ([]byte, closer) {
	bytes := h.count * d.size
	if info, err := f.Stat(); err != nil || !info.Mode().IsRegular() || bytes < mapBytes || info.Size()-int64(h.offset) < int64(bytes) {
		return nil, nil
	}
	if h.fortran && len(h.shape) > 1 {
		return nil, nil
	}
	m, unmap, err := mapFile(f, h.offset+bytes)
	if err != nil {
		return nil, nil
	}
	return m[h.offset:], unmap
}

// A dtype describes how one type of element is read.
type dtype struct {
	size int
	swap bool // the file's byte order differs from the machine's
	read func(h *npyHeader, r io.Reader, known int64, swap bool) (any, error)
	view func([]byte) any // returns the same memory as a slice of elements

	widen func(any) (any, error) // converts the elements, if they have to change type
}

// dtypes holds the element types by NumPy's letter and size.
var dtypes = map[string]dtype{
	"b1": element[uint8](), "u1": element[uint8](), "u2": element[uint16](), "u4": element[uint32](), "u8": element[uint64](),
	"i2": element[int16](), "i4": element[int32](), "i8": element[int64](), "f4": element[float32](), "f8": element[float64](),
	"i1": wider(func(v uint8) int16 { return int16(int8(v)) }), "f2": wider(halfToFloat),
}

// wider returns the dtype of elements whose type no array has: they are converted
// to another type.
func wider[From, To Element](to func(From) To) dtype {
	d := element[From]()
	d.widen = widened(to)
	return d
}

func element[T Element]() dtype {
	size := int(unsafe.Sizeof(*new(T)))
	return dtype{
		size: size,
		read: readElements[T],
		view: func(b []byte) any { return unsafe.Slice((*T)(unsafe.Pointer(unsafe.SliceData(b))), len(b)/size) },
	}
}

func unsupportedDtype(what string) error {
	return fmt.Errorf("dtype %s is not supported, want u1, u2, u4, u8, i1, i2, i4, i8, f2, f4, f8 or b1", what)
}

func (h *npyHeader) dtype() (dtype, error) {
	order, name := h.descr[:min(1, len(h.descr))], h.descr[min(1, len(h.descr)):]
	d, ok := dtypes[name]
	switch {
	case ok && order == "<":
		d.swap = !hostIsLittle
	case ok && order == ">":
		d.swap = hostIsLittle
	case !ok || order != "=" && (order != "|" || d.size > 1):
		return dtype{}, unsupportedDtype(fmt.Sprintf("%.20q", h.descr))
	}
	return d, nil
}

// element returns the name of the element type, which is the same in NumPy and
// Go except for float16.
func (h *npyHeader) element() string {
	kinds := map[byte]string{'b': "bool", 'u': "uint", 'i': "int", 'f': "float"}
	if len(h.descr) != 3 || kinds[h.descr[1]] == "" {
		return h.descr
	}
	if h.descr[1] == 'b' {
		return kinds['b']
	}
	return fmt.Sprintf("%s%d", kinds[h.descr[1]], 8*int(h.descr[2]-'0'))
}

// read reads the data behind a header.
func (h *npyHeader) read(r io.Reader) (*Array, error) {
	d, err := h.dtype()
	if err != nil {
		return nil, err
	}
	known := remaining(r)
	if known >= 0 && known < int64(h.count)*int64(d.size) {
		return nil, fmt.Errorf("truncated npy data: shape %s of %s needs %d bytes, got %d: %w",
			shapeString(h.shape), h.descr, int64(h.count)*int64(d.size), known, io.ErrUnexpectedEOF)
	}
	data, err := d.read(h, r, known, d.swap)
	if err == nil && d.widen != nil {
		data, err = d.widen(data)
	}
	if err != nil {
		return nil, err
	}
	return &Array{Shape: h.shape, Data: data}, nil
}

// remaining returns the number of bytes left in r, or -1 if that is unknown.
func remaining(r io.Reader) int64 {
	switch r := r.(type) {
	case *replay:
		if n := remaining(r.rest); n >= 0 {
			return n + int64(r.Buffered())
		}
		return -1
	case interface{ Len() int }:
		return int64(r.Len())
	case *os.File:
		info, err := r.Stat()
		if err != nil || !info.Mode().IsRegular() {
			return -1
		}
		at, err := r.Seek(0, io.SeekCurrent)
		if err != nil {
			return -1
		}
		return max(0, info.Size()-at)
	}
	return -1
}

// readElements allocates the data at once if the input is known to be long
// enough. Otherwise it doubles the memory as it fills up.
func readElements[T Element](h *npyHeader, r io.Reader, known int64, swap bool) (any, error) {
	const firstElements = 1 << 17
	size := int(unsafe.Sizeof(*new(T)))
	have := h.count
	if known < 0 {
		have = min(have, firstElements)
	}
	data, err := raster.Make[T](have)
	if err != nil {
		return nil, fmt.Errorf("reading .npy: %w", err)
	}
	for filled := 0; ; {
		n, err := io.ReadFull(r, bytesOf(data[filled:]))
		if err != nil && filled < len(data) {
			return nil, fmt.Errorf("truncated npy data: shape %s of %s needs %d bytes, got %d: %w",
				shapeString(h.shape), h.descr, h.count*size, filled*size+n, unexpected(err))
		}
		filled = len(data)
		if filled == h.count {
			break
		}
		more, err := raster.Make[T](min(h.count, 2*filled))
		if err != nil {
			return nil, fmt.Errorf("reading .npy: %w", err)
		}
		copy(more, data)
		data = more
	}
	if swap {
		swapBytes(bytesOf(data), size)
	}
	if h.fortran {
		spare, err := raster.Make[T](len(data))
		if err != nil {
			return nil, fmt.Errorf("reading .npy: %w", err)
		}
		data = rowMajor(data, spare, h.shape)
	}
	return data, nil
}

// unexpected returns err, with io.EOF replaced by io.ErrUnexpectedEOF.
func unexpected(err error) error {
	if errors.Is(err, io.EOF) {
		return io.ErrUnexpectedEOF
	}
	return err
}

// rowMajor reorders an array that is stored with its first axis innermost. Such
// an array is a matrix of (the other axes)×(first axis); transposing it puts
// the first axis outermost, and leaves the same task for every slab below it.
// The result is in data or in spare, which has the same length.
func rowMajor[T Element](data, spare []T, shape []int) []T {
	if len(data) == 0 {
		return data
	}
	slabs := 1
	for len(shape) > 1 {
		first, others := shape[0], len(data)/slabs/shape[0]
		if first > 1 && others > 1 {
			for s := range slabs {
				from, to := s*first*others, (s+1)*first*others
				transpose(spare[from:to], data[from:to], others, first)
			}
			data, spare = spare, data
		}
		slabs *= first
		shape = shape[1:]
	}
	return data
}

// transpose writes the rows×cols matrix src to dst as cols×rows, in blocks that
// fit in cache.
func transpose[T Element](dst, src []T, rows, cols int) {
	const block = 32
	for y0 := 0; y0 < rows; y0 += block {
		for x0 := 0; x0 < cols; x0 += block {
			for x := x0; x < min(x0+block, cols); x++ {
				d := dst[x*rows:][:rows]
				for y := y0; y < min(y0+block, rows); y++ {
					d[y] = src[y*cols+x]
				}
			}
		}
	}
}
