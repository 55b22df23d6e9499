package store

import (
	"context"
	"fmt"
	"io"
	"strings"
)

// WriteNPY writes all elements of an array in the format of NumPy's .npy files, as many rows at a time as a chunk has. Progress, if it is
// not nil, is told how many rows are done.
func WriteNPY(ctx context.Context, w io.Writer, a *Array, progress func(done, all int)) error {
	kind := map[byte]string{'b': "|b", 'u': "<u", 'i': "<i", 'f': "<f"}[a.m.typ.String()[0]]
	size := a.m.typ.Size()
	if size == 1 {
		kind = "|" + kind[1:]
	}
	if bigHost {
		kind = strings.Replace(kind, "<", ">", 1)
	}
	shape := ""
	for _, n := range a.m.shape {
		shape += fmt.Sprintf("%d, ", n)
	}
	if len(a.m.shape) > 1 {
		shape = strings.TrimSuffix(shape, ", ")
	}
	header := fmt.Sprintf("{'descr': '%s%d', 'fortran_order': False, 'shape': (%s), }", kind, size, strings.TrimSuffix(shape, " "))
	length := (10+len(header)+1+63)&^63 - 10
	header += strings.Repeat(" ", length-len(header)-1) + "\n"
	start := append([]byte("\x93NUMPY\x01\x00"), byte(length), byte(length>>8))
	if _, err := w.Write(append(start, header...)); err != nil {
		return err
	}
	if len(a.m.shape) == 0 {
		data := aligned(size)
		if err := a.readBytes(ctx, data, nil, nil, false); err != nil {
			return err
		}
		_, err := w.Write(data)
		return err
	}
	at, box := make([]int, len(a.m.shape)), a.Shape()
	rows, row := a.m.shape[0], size
	for _, n := range a.m.shape[1:] {
		row *= n
	}
	band := aligned(min(a.unit[0], rows) * row)
	for at[0] < rows {
		box[0] = min(a.unit[0], rows-at[0])
		part := band[:box[0]*row]
		if err := a.readBytes(ctx, part, at, box, false); err != nil {
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
