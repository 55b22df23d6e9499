package imgio

import (
	"archive/zip"
	"bufio"
	"encoding/binary"
	"fmt"
	"io"
	"iter"
	"math"
	"slices"
	"strings"
	"time"

	"github.com/boxsum/boxsum"
	"github.com/boxsum/boxsum/internal/raster"
)

// ViewShape returns the shape of a view as an array: (H, W) for one channel and
// (H, W, C) for several.
func ViewShape[S boxsum.Sum](v boxsum.View[S]) []int {
	if v.Channels == 1 {
		return []int{v.Height, v.Width}
	}
	return []int{v.Height, v.Width, v.Channels}
}

// ViewRows returns the rows of a view, as arguments for [WriteNPY] and
// [WriteNPZ].
func ViewRows[S boxsum.Sum](v boxsum.View[S]) iter.Seq[[]S] {
	return func(yield func([]S) bool) {
		if v.Width == 0 || v.Height == 0 {
			return
		}
		for y := range v.Height {
			if !yield(v.Row(y)) {
				return
			}
		}
	}
}

// WriteNPY writes an array in NumPy's .npy format: version 1.0, C order,
// little-endian. rows yields slices of elements of any length, which must add
// up to the number of elements of the shape.
func WriteNPY[T Element](w io.Writer, shape []int, rows iter.Seq[[]T]) error {
	return writeNPY(w, raster.TypeOf[T](), shape, func(yield func([]byte) bool) {
		for row := range rows {
			if !yield(bytesOf(row)) {
				return
			}
		}
	})
}

// WriteNPYBytes is like [WriteNPY] but writes elements whose type is known only
// at run time: dtype is its name in NumPy, such as uint8 or float32, and rows
// yields whole elements in this machine's byte order.
func WriteNPYBytes(w io.Writer, dtype string, shape []int, rows iter.Seq[[]byte]) error {
	t, err := elementType(dtype)
	if err != nil {
		return err
	}
	return writeNPY(w, t, shape, rows)
}

// elementType returns the type with a name in NumPy.
func elementType(dtype string) (raster.Type, error) {
	t, ok := raster.ParseType(dtype)
	if !ok || dtype != t.String() {
		return 0, raster.Unsupported("dtype is %q, want uint8 to uint64, int16 to int64, float32 or float64", dtype)
	}
	return t, nil
}

func writeNPY(w io.Writer, t raster.Type, shape []int, rows iter.Seq[[]byte]) error {
	to, err := newNPYWriter(w, shape, t)
	if err != nil {
		return err
	}
	for row := range rows {
		if len(row)%to.size != 0 {
			return fmt.Errorf("a row has %d bytes, want a multiple of %d", len(row), to.size)
		}
		if err := to.write(row); err != nil {
			return err
		}
	}
	return to.finish()
}

// An npyWriter writes elements of any type.
type npyWriter struct {
	buf            *bufio.Writer
	shape          []int
	count, written int // elements
	size           int // of one element
}

func newNPYWriter(w io.Writer, shape []int, of raster.Type) (*npyWriter, error) {
	count, err := elementCount(shape)
	if err != nil {
		return nil, err
	}
	header, err := npyHeaderBytes(shape, of)
	if err != nil {
		return nil, err
	}
	// Runs longer than the buffer bypass it.
	to := &npyWriter{buf: bufio.NewWriterSize(w, 1<<16), shape: shape, count: count, size: of.Bytes()}
	if _, err := to.buf.Write(header); err != nil {
		return nil, fmt.Errorf("writing npy header: %w", err)
	}
	return to, nil
}

func (w *npyWriter) write(row []byte) error {
	n := len(row) / w.size
	if n > w.count-w.written {
		return fmt.Errorf("rows have %d or more elements, want %d for shape %s", w.written+n, w.count, shapeString(w.shape))
	}
	w.written += n
	if hostIsLittle || w.size == 1 {
		if _, err := w.buf.Write(row); err != nil {
			return fmt.Errorf("writing npy data: %w", err)
		}
		return nil
	}
	for run := range slices.Chunk(row, 1<<15) {
		run = slices.Clone(run)
		swapBytes(run, w.size)
		if _, err := w.buf.Write(run); err != nil {
			return fmt.Errorf("writing npy data: %w", err)
		}
	}
	return nil
}

func (w *npyWriter) finish() error {
	if w.written != w.count {
		return fmt.Errorf("rows have %d elements, want %d for shape %s", w.written, w.count, shapeString(w.shape))
	}
	if err := w.buf.Flush(); err != nil {
		return fmt.Errorf("writing npy data: %w", err)
	}
	return nil
}

// npyHeaderBytes returns the header, padded so that the data starts at a
// multiple of 64 bytes and can be mapped.
func npyHeaderBytes(shape []int, of raster.Type) ([]byte, error) {
	const fixed = len(npyMagic) + 4
	dict := fmt.Sprintf("{'descr': '%s', 'fortran_order': False, 'shape': %s, }", descr(of), shapeString(shape))
	pad := -(fixed + len(dict) + 1) & 63
	dict += strings.Repeat(" ", pad) + "\n"
	if len(shape) > maxDims || len(dict) > 0xffff {
		return nil, fmt.Errorf("array has %d dimensions, want at most %d in a .npy file", len(shape), maxDims)
	}
	b := append([]byte(npyMagic), 1, 0)
	b = binary.LittleEndian.AppendUint16(b, uint16(len(dict)))
	return append(b, dict...), nil
}

// descr returns NumPy's name of a type, little-endian.
func descr(of raster.Type) string {
	if of == raster.U8 {
		return "|u1"
	}
	return "<" + of.NumPy()
}

// An NPZ writes arrays into an .npz archive, from which NumPy loads them by
// name. They are stored without compression, each at a multiple of 64 bytes, so
// that [OpenArrays] can map them. Members and archives above 4 GiB use zip64.
// Equal arrays always produce equal archives.
type NPZ struct {
	zip  *zip.Writer
	to   *countingWriter
	data int64 // start of the last member's data; 0 if there is none
	seen map[string]bool
}

// A countingWriter counts the bytes written.
type countingWriter struct {
	w io.Writer
	n int64
}

func (c *countingWriter) Write(b []byte) (int, error) {
	n, err := c.w.Write(b)
	c.n += int64(n)
	return n, err
}

// padding returns a zip extra field, which readers ignore, that aligns the data
// of the named member to 64 bytes.
func (z *NPZ) padding(name string) ([]byte, error) {
	const local, timestamp, head, unused = 30, 9, 4, 0xd935 // as in Android's zipalign
	if err := z.zip.Flush(); err != nil {
		return nil, err
	}
	start := z.to.n + int64(local+len(name)+timestamp+head)
	if z.data > 0 { // the last member's data descriptor is yet to be written
		if start += 16; z.to.n-z.data >= math.MaxUint32 {
			start += 8
		}
	}
	pad := -start & 63
	z.data = start + pad
	extra := make([]byte, head+pad)
	binary.LittleEndian.PutUint16(extra, unused)
	binary.LittleEndian.PutUint16(extra[2:], uint16(len(extra)-head))
	return extra, nil
}

// NewNPZ returns an NPZ that writes to w. [NPZ.Close] completes the archive.
func NewNPZ(w io.Writer) *NPZ {
	to := &countingWriter{w: w}
	return &NPZ{zip: zip.NewWriter(to), to: to, seen: map[string]bool{}}
}

// WriteNPZ adds an array, which numpy.load returns under the given name. shape
// and rows are as in [WriteNPY].
func WriteNPZ[T Element](z *NPZ, name string, shape []int, rows iter.Seq[[]T]) error {
	w, err := z.member(name)
	if err != nil {
		return err
	}
	return WriteNPY(w, shape, rows)
}

// WriteBytes is like [WriteNPZ] but writes elements whose type is known only at
// run time, given as to [WriteNPYBytes].
func (z *NPZ) WriteBytes(name, dtype string, shape []int, rows iter.Seq[[]byte]) error {
	t, err := elementType(dtype)
	if err != nil {
		return err
	}
	w, err := z.member(name)
	if err != nil {
		return err
	}
	return writeNPY(w, t, shape, rows)
}

// member starts an array.
func (z *NPZ) member(name string) (io.Writer, error) {
	if name == "" || z.seen[name] {
		return nil, fmt.Errorf("array name is %q, want a name that is not empty and not yet in the .npz file", name)
	}
	z.seen[name] = true
	extra, err := z.padding(name + ".npy")
	if err != nil {
		return nil, fmt.Errorf("adding %s to npz: %w", name, err)
	}
	w, err := z.zip.CreateHeader(&zip.FileHeader{
		Name:     name + ".npy",
		Extra:    extra,
		Method:   zip.Store,
		Modified: time.Date(1980, 1, 1, 0, 0, 0, 0, time.UTC), // the earliest date in zip, as in NumPy
	})
	if err != nil {
		return nil, fmt.Errorf("adding %s to npz: %w", name, err)
	}
	return w, nil
}

// Close completes the archive. It does not close the underlying writer.
func (z *NPZ) Close() error {
	if err := z.zip.Close(); err != nil {
		return fmt.Errorf("finishing npz: %w", err)
	}
	return nil
}
