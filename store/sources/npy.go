package sources

import (
	"context"
	"fmt"
	"io"
	"os"
	"slices"
	"strings"

	"github.com/boxsum/boxsum/imgio"
	"github.com/boxsum/boxsum/internal/raster"
	"github.com/boxsum/boxsum/zarr"
)

// batchBytes is the approximate size of a batch of rows that are written at once.
const batchBytes = 1 << 20

// WriteNPY writes all elements of an array in NumPy's .npy format, reading one row of chunks at a
// time, or several rows of small chunks. If progress is not nil, WriteNPY calls it with the number
// of rows done and their total.
func WriteNPY(ctx context.Context, w io.Writer, a *zarr.Array, progress func(done, all int)) error {
	all, chunk := a.Shape(), a.Chunk()
	kind := map[byte]string{'b': "|b", 'u': "<u", 'i': "<i", 'f': "<f"}[a.Type().String()[0]]
	size := a.Type().Size()
	if size == 1 {
		kind = "|" + kind[1:]
	}
	if raster.BigEndian {
		kind = strings.Replace(kind, "<", ">", 1)
	}
	shape := ""
	for _, n := range all {
		shape += fmt.Sprintf("%d, ", n)
	}
	if len(all) > 1 {
		shape = strings.TrimSuffix(shape, ", ")
	}
	header := fmt.Sprintf("{'descr': '%s%d', 'fortran_order': False, 'shape': (%s), }", kind, size, strings.TrimSuffix(shape, " "))
	length := (10+len(header)+1+63)&^63 - 10
	header += strings.Repeat(" ", length-len(header)-1) + "\n"
	start := append([]byte("\x93NUMPY\x01\x00"), byte(length), byte(length>>8))
	if _, err := w.Write(append(start, header...)); err != nil {
		return err
	}
	if len(all) == 0 {
		data := raster.Aligned(size)
		if err := a.ReadBytes(ctx, data, nil, nil); err != nil {
			return err
		}
		_, err := w.Write(data)
		return err
	}
	at, box := make([]int, len(all)), a.Shape()
	rows, row := all[0], size
	for _, n := range all[1:] {
		row *= n
	}
	batch := chunk[0]
	if chunks := max(1, batchBytes/max(1, min(chunk[0], rows)*row)); chunks > 1 { // small chunks, in few reads
		batch = min(chunks, raster.CeilDiv(rows, chunk[0])) * chunk[0]
	}
	band := raster.Aligned(min(batch, rows) * row)
	for at[0] < rows {
		box[0] = min(batch, rows-at[0])
		part := band[:box[0]*row]
		if err := a.ReadBytes(ctx, part, at, box); err != nil {
			return err
		}
		if _, err := w.Write(part); err != nil {
			return err
		}
		if at[0] += box[0]; progress != nil {
			progress(at[0], rows)
		}
	}
	return nil
}

// OpenNPY opens a .npy file as an array. It reads only the parts that are needed, so the file may
// be larger than memory.
func OpenNPY(ctx context.Context, path string) (*zarr.Array, error) {
	from := file(path)
	size, err := from.size()
	if err != nil {
		return nil, err
	}
	h, err := imgio.ReadNPYHeader(io.NewSectionReader(from, 0, size))
	if err != nil {
		return nil, fmt.Errorf("%s: %w", path, err)
	}
	typ, err := zarr.ParseType(h.Element)
	if err != nil {
		return nil, fmt.Errorf("%s: %w", path, err)
	}
	// Chunks of about 1024², with all channels.
	spec := &zarr.Spec{Type: typ, Shape: h.Shape, BigEndian: h.BigEndian}
	for d, n := range h.Shape {
		last := len(h.Shape) - 1
		if last > 1 && h.Shape[last] <= 64 {
			last--
		}
		switch {
		case d < last-1:
			n = 1
		case d <= last:
			n = min(n, 1024)
		}
		spec.Chunk = append(spec.Chunk, max(n, 1))
	}
	// An array in Fortran order is one in C order with its axes reversed.
	stored, chunk := h.Shape, spec.Chunk
	if h.Fortran {
		stored, chunk = slices.Clone(stored), slices.Clone(chunk)
		slices.Reverse(stored)
		slices.Reverse(chunk)
		for d := range stored {
			spec.Order = append(spec.Order, len(stored)-1-d)
		}
	}
	a, err := newMade(ctx, spec, &made{what: "an .npy file", list: from.list, chunk: func(_ context.Context, place []int) ([]byte, error) {
		if h.Fortran {
			slices.Reverse(place)
		}
		return readPart(from, h.Offset, typ.Size(), stored, chunk, place)
	}})
	if err == nil && int64(raster.Product(h.Shape)) > (size-h.Offset)/int64(typ.Size()) {
		err = fmt.Errorf("%s: an array of shape %v and type %v is truncated after %d bytes: %w", path, h.Shape, typ, size, io.ErrUnexpectedEOF)
	}
	return raster.OrNil(a, err)
}

// readPart reads a chunk of a row-major array that starts at offset, run by run.
func readPart(from file, offset int64, size int, shape, chunk, place []int) ([]byte, error) {
	open, err := os.Open(string(from))
	if err != nil {
		return nil, err
	}
	defer open.Close()
	dst := raster.Aligned(raster.Product(chunk) * size)
	var read func(axis, at, to int) error // at and to: elements before the part, in the file and in the chunk
	read = func(axis, at, to int) error {
		if axis == len(shape) {
			_, err := open.ReadAt(dst[:size], offset)
			return err
		}
		first := place[axis] * chunk[axis]
		n := min(chunk[axis], shape[axis]-first)
		below, belowChunk := raster.Product(shape[axis+1:]), raster.Product(chunk[axis+1:])
		if below == belowChunk { // whole rows form a single run
			part := dst[to*size:][:n*below*size]
			if k, err := open.ReadAt(part, offset+int64(at+first*below)*int64(size)); k < len(part) {
				return fmt.Errorf("%s: %w", string(from), cutOff(err))
			}
			return nil
		}
		for i := range n {
			if err := read(axis+1, at+(first+i)*below, to+i*belowChunk); err != nil {
				return err
			}
		}
		return nil
	}
	return dst, read(0, 0, 0)
}
