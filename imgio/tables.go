package imgio

import (
	"errors"
	"fmt"
	"io"
	"path/filepath"
	"strings"

	"github.com/boxsum/boxsum"
	"github.com/boxsum/boxsum/internal/raster"
)

// Names of the tables in a .npz file.
const (
	sumName     = "sum"
	squaresName = "squares"
)

// SaveTable writes a table to a .npy file, with the shape (H+1, W+1) or (H+1,
// W+1, C), or to a .npz file under the name sum. It replaces the file
// atomically. A table with an offset is an error, because its entries are not
// the sums of the pixels.
func SaveTable[S boxsum.Sum](path string, t *boxsum.Table[S]) error {
	if err := saveable(t); err != nil {
		return err
	}
	archive, err := isArchive(path)
	if err != nil {
		return err
	}
	view := t.Exclusive()
	return WriteFile(path, func(w io.Writer) error {
		if !archive {
			return WriteNPY(w, ViewShape(view), ViewRows(view))
		}
		z := NewNPZ(w)
		return errors.Join(WriteNPZ(z, sumName, ViewShape(view), ViewRows(view)), z.Close())
	})
}

// SaveSquaredTable is like [SaveTable] but writes both tables to a .npz file,
// under the names sum and squares. To save the tables of floats, integrate with
// Plain.
func SaveSquaredTable[S boxsum.Sum, Q boxsum.Square](path string, t *boxsum.SquaredTable[S, Q]) error {
	if t == nil {
		return raster.Invalid("nil table")
	}
	if err := errors.Join(saveable(t.Sum), saveable(t.Squares)); err != nil {
		return err
	}
	if archive, err := isArchive(path); err != nil || !archive {
		return errors.Join(err, fmt.Errorf("%s: a .npy file can hold only one table, want .npz for two", path))
	}
	sum, squares := t.Sum.Exclusive(), t.Squares.Exclusive()
	return WriteFile(path, func(w io.Writer) error {
		z := NewNPZ(w)
		return errors.Join(
			WriteNPZ(z, sumName, ViewShape(sum), ViewRows(sum)),
			WriteNPZ(z, squaresName, ViewShape(squares), ViewRows(squares)),
			z.Close())
	})
}

func saveable[S boxsum.Sum](t *boxsum.Table[S]) error {
	switch {
	case t == nil:
		return raster.Invalid("nil table")
	case t.Offset != 0:
		return raster.Invalid("the table has an offset of %g, which files cannot hold (set Plain in the options of Integrate)", t.Offset)
	}
	return nil
}

func isArchive(path string) (bool, error) {
	switch strings.ToLower(filepath.Ext(path)) {
	case ".npz":
		return true, nil
	case ".npy":
		return false, nil
	}
	return false, fmt.Errorf("%s: unknown table format, want .npy or .npz", path)
}

// OpenTable reads the table in a .npy file, or the one named sum in a .npz
// file. The sums must be of type S. Large files are mapped into memory instead
// of being read; see [OpenNPY]. Queries then read only the entries that they
// need, until the table is closed.
func OpenTable[S boxsum.Sum](path string) (*boxsum.Table[S], io.Closer, error) {
	arrays, c, err := OpenArrays(path, sumName)
	if err != nil {
		return nil, nil, err
	}
	t, err := TableOf[S](arrays[sumName])
	if err != nil {
		return nil, nil, errors.Join(inFile(path, err), c.Close())
	}
	return t, c, nil
}

// OpenSquaredTable is like [OpenTable] but opens the two tables named sum and
// squares in a .npz file.
func OpenSquaredTable[S boxsum.Sum, Q boxsum.Square](path string) (*boxsum.SquaredTable[S, Q], io.Closer, error) {
	arrays, c, err := OpenArrays(path, sumName, squaresName)
	if err != nil {
		return nil, nil, err
	}
	t := new(boxsum.SquaredTable[S, Q])
	if t.Sum, err = TableOf[S](arrays[sumName]); err == nil {
		t.Squares, err = TableOf[Q](arrays[squaresName])
	}
	if err == nil && (t.Sum.Bounds() != t.Squares.Bounds() || t.Sum.Channels != t.Squares.Channels) {
		err = fmt.Errorf("the table of squares is %d×%d with %d channels, want %d×%d with %d like the sums", t.Squares.Width, t.Squares.Height, t.Squares.Channels, t.Sum.Width, t.Sum.Height, t.Sum.Channels)
	}
	if err != nil {
		return nil, nil, errors.Join(inFile(path, err), c.Close())
	}
	return t, c, nil
}

// TableOf returns an array of shape (H+1, W+1) or (H+1, W+1, C) as a table that
// shares its memory. It returns an error if an entry of row 0 or column 0 is
// not zero, but checks only some entries of a long column.
func TableOf[S boxsum.Sum](a *Array) (*boxsum.Table[S], error) {
	if a == nil {
		return nil, errors.New("the file has no such array, want one named sum, and one named squares for a squared table")
	}
	data, ok := a.Data.([]S)
	if !ok {
		return nil, fmt.Errorf("table has sums of %s, want %T", elementName(a), *new(S))
	}
	shape := a.Shape
	if len(shape) != 2 && len(shape) != 3 || min(shape[0], shape[1]) < 1 || len(shape) == 3 && shape[2] < 1 {
		return nil, fmt.Errorf("array of shape %s is not a table, want (H+1, W+1) or (H+1, W+1, C)", shapeString(shape))
	}
	n, err := elementCount(shape)
	switch {
	case err != nil:
		return nil, err
	case n > len(data):
		return nil, fmt.Errorf("array of shape %s has %[3]d elements, want %[2]d", shapeString(shape), n, len(data))
	}
	t := &boxsum.Table[S]{Sums: data[:n], Width: shape[1] - 1, Height: shape[0] - 1, Channels: 1}
	if len(shape) == 3 {
		t.Channels = shape[2]
	}
	t.Stride = shape[1] * t.Channels
	if !zeroEdges(t) {
		return nil, errors.New("the array is not a table: its first row or column has an entry other than 0")
	}
	return t, nil
}

// zeroEdges checks row 0 and some entries of column 0.
func zeroEdges[S boxsum.Sum](t *boxsum.Table[S]) bool {
	const looks = 64
	for _, s := range t.Sums[:t.Stride] {
		if s != 0 {
			return false
		}
	}
	for y := 0; y <= t.Height; y += max(1, t.Height/looks) {
		for _, s := range t.Sums[y*t.Stride:][:t.Channels] {
			if s != 0 {
				return false
			}
		}
	}
	return true
}

func elementName(a *Array) string { return strings.TrimPrefix(fmt.Sprintf("%T", a.Data), "[]") }
