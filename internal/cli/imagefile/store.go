package imagefile

import (
	"errors"
	"fmt"
	"image"
	"io"
	"io/fs"
	"math"
	"os"
	"path/filepath"
	"strconv"
	"strings"

	"github.com/boxsum/boxsum/imgio"
	"github.com/boxsum/boxsum/internal/cli/console"
	"github.com/boxsum/boxsum/internal/pixels"
	"github.com/boxsum/boxsum/internal/raster"
	"github.com/boxsum/boxsum/store"
	"github.com/boxsum/boxsum/store/sources"
	"github.com/boxsum/boxsum/zarr"
	_ "github.com/boxsum/boxsum/zarr/web" // http:// and https://
)

// ChunksHint adds the name of the flag to an error about too many chunks.
func ChunksHint(err error) error {
	if errors.Is(err, store.ErrTooManyChunks) {
		return fmt.Errorf("%w with --max-chunks", err)
	}
	return err
}

// IsStore reports whether a path is that of a store: it contains .zarr, or is a URL.
func IsStore(path string) bool {
	return strings.Contains(path, "://") || strings.HasSuffix(path, ".zarr") || strings.HasSuffix(path, ".zarr.zip") ||
		strings.Contains(path, ".zarr/") || strings.Contains(path, ".zarr.zip/")
}

// IsSource reports whether a path names an image in a store, or a mosaic.
func IsSource(path string) bool {
	return IsStore(path) || hasZarrMetadata(path) || sources.IsMosaic(path)
}

// hasZarrMetadata reports whether a path is that of a folder with a Zarr array or group,
// whatever its name is.
func hasZarrMetadata(path string) bool {
	for _, name := range []string{"zarr.json", ".zarray", ".zgroup"} {
		if _, err := os.Stat(filepath.Join(path, name)); err == nil {
			return true
		}
	}
	return false
}

// ParseSize parses a number of bytes, such as 2GiB.
func ParseSize(text string) (int64, error) {
	digits := strings.TrimRight(text, "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ ")
	unit, ok := map[string]float64{"": 1, "b": 1, "kb": 1e3, "mb": 1e6, "gb": 1e9, "tb": 1e12, "kib": 1 << 10, "mib": 1 << 20, "gib": 1 << 30, "tib": 1 << 40,
		"k": 1 << 10, "m": 1 << 20, "g": 1 << 30}[strings.ToLower(strings.TrimSpace(text[len(digits):]))]
	n, err := strconv.ParseFloat(digits, 64)
	if err != nil || !ok || !(n > 0) || n*unit >= math.MaxInt64 {
		return 0, console.Usage("%q is not a size in bytes, such as 2GiB or 300MB", text)
	}
	return int64(n * unit), nil
}

// ReadStore reads a whole array as an image.
func ReadStore(sh *console.Shell, path string, how *Flags) (*imgio.Picture, error) {
	a, err := sources.Open(sh.Ctx, path)
	if err == nil {
		a, err = how.weighed(sh, a)
	}
	if err != nil {
		return nil, err
	}
	defer a.Close()
	return readArray(sh, a, nil)
}

// OpenPart opens a part of an image in a store or a mosaic. It calls choose with the width and the
// height of the image to get the part.
func OpenPart(sh *console.Shell, path string, how *Flags, choose func(width, height int) image.Rectangle) (*Source, error) {
	a, err := OpenArray(sh, path, how)
	if err != nil {
		return nil, err
	}
	defer a.Close()
	picture, err := console.Await(sh.Ctx, func() (*imgio.Picture, error) { return readArray(sh, a, choose) })
	if err != nil {
		return nil, err
	}
	return &Source{Image: pixels.Of(picture.Image), Format: picture.Format, Element: picture.Element, File: picture, ctx: sh.Ctx}, nil
}

// readArray reads an array as an image, or the part of it that choose returns unless choose is nil.
func readArray(sh *console.Shell, a *zarr.Array, choose func(width, height int) image.Rectangle) (*imgio.Picture, error) {
	shape, names := a.Shape(), a.Names()
	at, first := make([]int, len(shape)), 0
	colored := len(names) == 3 && names[len(names)-1] == "c"
	for len(shape)-first > 2 && shape[first] == 1 && !colored {
		first++
	}
	if choose != nil && (len(shape)-first == 2 || len(shape)-first == 3) {
		part := choose(shape[first+1], shape[first])
		at[first], at[first+1], shape[first], shape[first+1] = part.Min.Y, part.Min.X, part.Dy(), part.Dx()
	}
	sh.Progress.Begin("reading", 0)
	data, err := sources.ReadBox(sh.Ctx, a, at, shape)
	if err != nil {
		return nil, err
	}
	shape = shape[first:]
	img, err := (&imgio.Array{Shape: shape, Data: data}).Image()
	return &imgio.Picture{Image: img, Element: a.Type().String(), Format: "zarr", Page: 1, Pages: 1}, err
}

// OpenArray opens an image as an array: an array in a store, or an array in memory with the pixels
// of a picture.
func OpenArray(sh *console.Shell, path string, how *Flags) (*zarr.Array, error) {
	large := LargeFile(path)
	if IsSource(path) || large != "" {
		if err := how.CheckStored(path); err != nil {
			return nil, err
		}
		open := sources.Open
		switch large {
		case "tiff":
			open = sources.OpenTIFF
		case "npy":
			open = sources.OpenNPY
		}
		a, err := open(sh.Ctx, path)
		if err != nil {
			return nil, err
		}
		return how.weighed(sh, a)
	}
	src, err := Open(sh, path, how, false)
	if err != nil {
		return nil, err
	}
	defer src.File.Close()
	return WriteImage(sh, zarr.Memory(), src.Image, &zarr.Spec{Chunk: []int{1024, 1024}})
}

// OpenArrays is like OpenArray for one image, or for several that state their positions in
// a mosaic.
func OpenArrays(sh *console.Shell, paths []string, how *Flags, volume bool) (*zarr.Array, error) {
	switch {
	case len(paths) > 1:
		tiles, err := sources.PlaceTIFFs(sh.Ctx, paths)
		if err != nil {
			return nil, err
		}
		if err := how.CheckStored(paths[0]); err != nil {
			return nil, err
		}
		a, err := sources.OpenMosaic(sh.Ctx, tiles)
		if err != nil {
			return nil, err
		}
		return how.weighed(sh, a)
	case volume:
		if err := how.check(true); err != nil {
			return nil, err
		}
		return sources.Open(sh.Ctx, paths[0])
	}
	return OpenArray(sh, paths[0], how)
}

// LargeFile returns "tiff" or "npy" for files to be read in parts: BigTIFF files, and TIFF and .npy
// files of 256 MiB or more.
func LargeFile(path string) string {
	info, err := os.Stat(path)
	if err != nil || !info.Mode().IsRegular() { // a pipe can be read only once, and opening it may block
		return ""
	}
	file, err := os.Open(path)
	if err != nil {
		return ""
	}
	defer file.Close()
	var magic [4]byte
	if _, err := io.ReadFull(file, magic[:]); err != nil {
		return ""
	}
	large := info.Size() >= 256<<20
	switch string(magic[:]) {
	case "II+\x00", "MM\x00+":
		return "tiff"
	case "II*\x00", "MM\x00*":
		if large {
			return "tiff"
		}
	case "\x93NUM":
		if large {
			return "npy"
		}
	}
	return ""
}

// WriteImage writes an image as an array. The chunk has its height and width.
func WriteImage(sh *console.Shell, b zarr.Bucket, src raster.Array, spec *zarr.Spec) (*zarr.Array, error) {
	kind, err := zarr.ParseType(src.Type.String())
	if err != nil {
		return nil, err
	}
	s := *spec
	s.Type, s.Shape, s.Names = kind, []int{src.Height, src.Width}, []string{"y", "x"}
	if src.Channels > 1 {
		s.Shape, s.Names, s.Chunk = append(s.Shape, src.Channels), append(s.Names, "c"), append(s.Chunk[:2:2], src.Channels)
	}
	return zarr.CreateFilled(sh.Ctx, b, "", &s, func(a *zarr.Array) error {
		rows := s.Chunk[0]
		for y := 0; y < src.Height; y += rows {
			n := min(rows, src.Height-y)
			band := make([]byte, 0, n*src.Width*src.Channels*src.Type.Bytes())
			for i := range n {
				band = append(band, src.Row(y+i)...)
			}
			at, box := []int{y, 0, 0}, []int{n, src.Width, src.Channels}
			if err := a.WriteBytes(sh.Ctx, band, at[:len(s.Shape)], box[:len(s.Shape)]); err != nil {
				return err
			}
			sh.Progress.Reach("writing", y+n, src.Height)
		}
		return nil
	})
}

// CloseStore closes the bucket of an output, or discards it if there is an error.
func CloseStore(b zarr.Bucket, out string, err error) error {
	if err != nil {
		zarr.Discard(b)
		if errors.Is(err, fs.ErrExist) {
			err = fmt.Errorf("%s already exists: remove it, or write to another place", zarr.Redacted(out))
		}
		return ChunksHint(err)
	}
	return b.Close()
}
