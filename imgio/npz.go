package imgio

import (
	"archive/zip"
	"fmt"
	"io"
	"iter"
	"time"
)

// NPZ writes several arrays into one .npz archive, which NumPy loads by name.
// They are stored without compression; members and archives above 4 GiB are
// written as zip64. The same arrays always give the same bytes.
type NPZ struct {
	zip  *zip.Writer
	seen map[string]bool
}

// NewNPZ starts an archive on w. It is complete once closed.
func NewNPZ(w io.Writer) *NPZ {
	return &NPZ{zip: zip.NewWriter(w), seen: map[string]bool{}}
}

// WriteNPZ adds an array, which numpy.load gives back under that name. The shape
// and the rows are those of [WriteNPY].
func WriteNPZ[T Element](z *NPZ, name string, shape []int, rows iter.Seq[[]T]) error {
	if name == "" || z.seen[name] {
		return fmt.Errorf("imgio: npz name %q is empty or taken", name)
	}
	z.seen[name] = true
	w, err := z.zip.CreateHeader(&zip.FileHeader{
		Name:     name + ".npy",
		Method:   zip.Store,
		Modified: time.Date(1980, 1, 1, 0, 0, 0, 0, time.UTC), // the first that zip can hold, as NumPy writes it
	})
	if err != nil {
		return fmt.Errorf("imgio: adding %s to npz: %w", name, err)
	}
	return WriteNPY(w, shape, rows)
}

// Close finishes the archive. It does not close the writer under it.
func (z *NPZ) Close() error {
	if err := z.zip.Close(); err != nil {
		return fmt.Errorf("imgio: finishing npz: %w", err)
	}
	return nil
}
