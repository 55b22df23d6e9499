package imgio

import (
	"archive/zip"
	"bytes"
	"errors"
	"fmt"
	"io"
	"os"
	"slices"
	"strings"
)

// OpenArrays reads the named arrays of a .npz file and returns those that
// exist. The array of a .npy file has the first of the names. Large
// uncompressed arrays, such as those that [NPZ] writes, are mapped into memory
// instead of being read; see [OpenNPY].
func OpenArrays(path string, names ...string) (map[string]*Array, io.Closer, error) {
	f, info, format, err := openFile(path)
	if err != nil {
		return nil, nil, err
	}
	defer f.Close()
	arrays, c, err := openArrays(f, info, format, names)
	if err != nil {
		return nil, nil, inFile(path, err)
	}
	return arrays, c, nil
}

// DecodeArrays is like [OpenArrays] but reads from a stream.
func DecodeArrays(r io.Reader, names ...string) (map[string]*Array, error) {
	whole := &replay{newHead(r), r}
	if head, _ := whole.Peek(len(npyMagic)); string(head) == npyMagic {
		a, err := ReadNPY(whole)
		return namedArray(a, names), err
	}
	data, err := readAll(whole)
	if err != nil {
		return nil, fmt.Errorf("reading .npz: %w", err)
	}
	return readArchive(bytes.NewReader(data), int64(len(data)), names, nil)
}

func namedArray(a *Array, names []string) map[string]*Array {
	if a == nil || len(names) == 0 {
		return nil
	}
	return map[string]*Array{names[0]: a}
}

func openArrays(f *os.File, info os.FileInfo, format string, names []string) (map[string]*Array, io.Closer, error) {
	switch {
	case info.IsDir():
		return nil, nil, errors.New("the path is a folder, want a file in it")
	case format == "npy":
		a, c, err := openNPY(f)
		return namedArray(a, names), c, err
	case !info.Mode().IsRegular():
		arrays, err := DecodeArrays(f, names...)
		return arrays, closer(nil), err
	}
	var unmap closer
	if size := info.Size(); size >= mapBytes && int64(int(size)) == size {
		if data, c, err := mapFile(f, int(size)); err == nil {
			unmap = c
			arrays, err := readArchive(bytes.NewReader(data), size, names, data)
			if err != nil {
				return nil, nil, errors.Join(err, unmap.Close())
			}
			return arrays, unmap, nil
		}
	}
	arrays, err := readArchive(f, info.Size(), names, nil)
	return arrays, unmap, err
}

// readArchive reads arrays of a .npz archive, in place where it is mapped.
func readArchive(r io.ReaderAt, size int64, names []string, mapped []byte) (map[string]*Array, error) {
	z, err := zip.NewReader(r, size)
	if err != nil {
		return nil, fmt.Errorf("neither a .npy nor a .npz file: %w", err)
	}
	arrays := map[string]*Array{}
	for _, member := range z.File {
		name := strings.TrimSuffix(member.Name, ".npy")
		if !slices.Contains(names, name) || arrays[name] != nil {
			continue
		}
		if arrays[name], err = readMember(member, mapped); err != nil {
			return nil, fmt.Errorf("array %s: %w", name, err)
		}
	}
	return arrays, nil
}

func readMember(member *zip.File, mapped []byte) (*Array, error) {
	if a := memberInPlace(member, mapped); a != nil {
		return a, nil
	}
	r, err := member.Open()
	if err != nil {
		return nil, fmt.Errorf("reading .npz: %w", err)
	}
	defer r.Close()
	return ReadNPY(r)
}

// memberInPlace returns the array of an uncompressed member, within the bytes
// of the archive. It returns nil if the array has to be read.
func memberInPlace(member *zip.File, mapped []byte) *Array {
	at, err := member.DataOffset()
	n := member.UncompressedSize64
	if err != nil || member.Method != zip.Store || uint64(at) > uint64(len(mapped)) || n > uint64(len(mapped))-uint64(at) {
		return nil
	}
	data := mapped[at:][:n]
	h, err := readNPYHeader(bytes.NewReader(data))
	if err != nil {
		return nil
	}
	d, err := h.dtype()
	aligned := err == nil && (int(at)+h.offset)%d.size == 0
	if !aligned || d.swap || d.widen != nil || h.fortran && len(h.shape) > 1 || h.count > (len(data)-h.offset)/d.size {
		return nil
	}
	return &Array{Shape: h.shape, Data: d.view(data[h.offset:][:h.count*d.size])}
}
