package imgio

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"os"
	"reflect"
	"strings"
)

// A Stack reads the slices of a volume one by one. It is not safe for
// concurrent use.
type Stack struct {
	// First is slice 0, a boxsum.Image[P], like [Picture.Image]. All slices have
	// its type, size and number of channels.
	First any
	Depth int
	// Whole is a boxsum.Image of all slices on top of each other, Depth times as
	// high as one slice, if they are an array in memory. Otherwise it is nil.
	Whole any
	// Format is the format of the file, like [Picture.Format], or "folder".
	Format string
	// Element is the type of an array's elements in the file, like
	// [Picture.Element].
	Element string

	path  string // of the file, if it is a single one
	shape slice
	read  func(z int) (img any, name string, err error)
	close closer
}

// A slice describes what all slices of a stack have in common.
type slice struct {
	pixel                   string
	width, height, channels int
}

func (s slice) String() string {
	text := fmt.Sprintf("%d×%d pixels of %s", s.width, s.height, s.pixel)
	if s.channels > 1 {
		text += fmt.Sprintf(" in %d channels", s.channels)
	}
	return text
}

// Close releases the resources of the stack. Its images must not be used after
// that.
func (s *Stack) Close() error { return s.close.Close() }

// Slice reads slice z, counted from 0, as an image of the same type and size as
// First. It returns an error if there is no such slice. The image stays valid
// until Close.
func (s *Stack) Slice(z int) (any, error) {
	if z < 0 || z >= s.Depth {
		return nil, fmt.Errorf("slice is %d, want 0 to %d", z, s.Depth-1)
	}
	if z == 0 {
		return s.First, nil
	}
	img, name, err := s.read(z)
	if err == nil {
		if got := sliceOf(img); got != s.shape {
			err = fmt.Errorf("all slices of a volume must have the same size and type: %s has %v, the first has %v", name, got, s.shape)
		}
	}
	switch {
	case err == nil:
		return img, nil
	case s.path != "":
		return nil, inFile(s.path, err)
	}
	return nil, err
}

// OpenStack reads the named volume:
//
//   - A folder of pictures, one per slice, ordered by name with numbers compared by value: slice2.png comes before slice10.png. Other files, hidden files and subfolders are ignored. A pipe or a device with the name of a picture is an error.
//   - A TIFF file, one page per slice. Pages that are thumbnails or masks of others are ignored.
//   - A .npy array of shape (D, H, W), or (D, H, W, C) for several channels.
//
// Pictures are read as by [Open]. Large files, except for arrays in Fortran
// order, are mapped into memory instead of being read. The caller must close
// the stack.
func OpenStack(path string, mode ColorMode) (*Stack, error) {
	return OpenStackWith(path, Options{Color: mode})
}

// OpenStackWith is like [OpenStack] but reads files as opt specifies.
func OpenStackWith(path string, opt Options) (*Stack, error) {
	f, info, format, err := openFile(path)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	if info.IsDir() {
		return folderStack(path, opt)
	}
	s, err := openStack(f, info.Size(), format, opt)
	if err != nil {
		return nil, inFile(path, err)
	}
	s.path = path
	return s, nil
}

func openStack(f *os.File, size int64, format string, opt Options) (*Stack, error) {
	switch {
	case format == "npy":
		h, err := readNPYHeader(f)
		if err != nil {
			return nil, err
		}
		if s, err := swappedStack(h, f); s != nil || err != nil {
			return s, err
		}
		a, c, err := h.open(f)
		return h.stack(a, c, err)
	case format == "tiff" && size >= mapBytes && int64(int(size)) == size:
		if data, unmap, err := mapFile(f, int(size)); err == nil {
			return tiffStack(data, unmap, opt)
		}
	}
	return DecodeStackWith(f, opt)
}

// DecodeStack is like [OpenStack] but reads a TIFF file or an array from a
// stream.
func DecodeStack(r io.Reader, mode ColorMode) (*Stack, error) {
	return DecodeStackWith(r, Options{Color: mode})
}

// DecodeStackWith is like [DecodeStack] but reads the stream as opt specifies.
func DecodeStackWith(r io.Reader, opt Options) (*Stack, error) {
	format, whole, err := sniffed(r)
	if err != nil {
		return nil, err
	}
	switch format {
	case "npy":
		h, err := readNPYHeader(whole)
		if err != nil {
			return nil, err
		}
		a, err := h.read(whole)
		return h.stack(a, closer(nil), err)
	case "tiff":
		data, err := readAll(whole)
		if err != nil {
			return nil, fmt.Errorf("tiff: reading: %w", err)
		}
		return tiffStack(data, nil, opt)
	}
	return nil, fmt.Errorf("a %s file is one picture, not a volume (use a folder of pictures, a TIFF file with a page for each slice, or a 3-D .npy array)", strings.ToUpper(format))
}

// begin reads the first slice and records what all others must match.
func (s *Stack) begin() (*Stack, error) {
	img, _, err := s.read(0)
	if err != nil {
		return nil, errors.Join(err, s.Close())
	}
	s.First, s.shape = img, sliceOf(img)
	return s, nil
}

func tiffStack(data []byte, c closer, opt Options) (*Stack, error) {
	file, err := openTIFF(data)
	if err != nil {
		return nil, errors.Join(err, c.Close())
	}
	s := &Stack{Depth: len(file.pages), Format: "tiff", close: c}
	s.read = func(z int) (any, string, error) {
		name := fmt.Sprintf("page %d", z+1)
		img, err := decodeBytes("tiff", file.page(z), opt)
		if err != nil {
			return nil, name, fmt.Errorf("%s: %w", name, err)
		}
		return img, name, nil
	}
	return s.begin()
}

// swappedStack returns the slices of a large array whose bytes have to be
// swapped or whose elements have to be converted. Each slice is converted as it
// is read, so memory holds one at a time. It returns nil for all other arrays.
func swappedStack(h *npyHeader, f *os.File) (*Stack, error) {
	d, err := h.dtype()
	if err != nil || !d.swap && d.widen == nil || len(h.shape) != 3 && len(h.shape) != 4 {
		return nil, nil
	}
	if d.size == 8 && h.descr[1] != 'f' {
		return nil, nil // the type depends on all elements
	}
	m, unmap := h.mappedBytes(f, d)
	if m == nil {
		return nil, nil
	}
	s := &Stack{Depth: h.shape[0], Format: "npy", Element: h.element(), close: unmap}
	each := &npyHeader{descr: h.descr, shape: h.shape[1:], count: h.count / h.shape[0]}
	size := each.count * d.size
	s.read = func(z int) (any, string, error) {
		name := fmt.Sprintf("slice %d", z)
		a, err := each.read(bytes.NewReader(m[z*size:][:size]))
		if err != nil {
			return nil, name, err
		}
		img, err := a.Image()
		return img, name, err
	}
	return s.begin()
}

// stack returns the slices of the array behind a header, which share its
// memory. It returns err if that is not nil.
func (h *npyHeader) stack(a *Array, c io.Closer, err error) (*Stack, error) {
	if err != nil {
		return nil, err
	}
	s, err := sliceArray(a)
	if err != nil {
		return nil, errors.Join(err, c.Close())
	}
	s.Element, s.close = h.element(), c.Close
	return s, nil
}

func sliceArray(a *Array) (*Stack, error) {
	if len(a.Shape) != 3 && len(a.Shape) != 4 {
		return nil, fmt.Errorf("array of shape %s is not a volume, want (D, H, W) or (D, H, W, C)", shapeString(a.Shape))
	}
	n, err := elementCount(a.Shape)
	if err != nil {
		return nil, err
	}
	if n == 0 {
		return nil, fmt.Errorf("array of shape %s has no voxels, want a volume of at least 1×1×1", shapeString(a.Shape))
	}
	if a, err = a.pixels(); err != nil {
		return nil, err
	}
	depth := a.Shape[0]
	whole, err := (&Array{Shape: append([]int{depth * a.Shape[1]}, a.Shape[2:]...), Data: a.Data}).Image()
	if err != nil {
		return nil, err
	}
	s := &Stack{Depth: depth, Whole: whole, Format: "npy"}
	data, each := reflect.ValueOf(a.Data), n/depth
	s.read = func(z int) (any, string, error) {
		img, err := (&Array{Shape: a.Shape[1:], Data: data.Slice(z*each, (z+1)*each).Interface()}).Image()
		return img, fmt.Sprintf("slice %d", z), err
	}
	return s.begin()
}

// sliceOf describes an image, a boxsum.Image of any type.
func sliceOf(img any) slice {
	v := reflect.ValueOf(img)
	side := func(name string) int { return int(v.FieldByName(name).Int()) }
	return slice{
		pixel: v.FieldByName("Pix").Type().Elem().String(),
		width: side("Width"), height: side("Height"), channels: max(side("Channels"), 1),
	}
}
