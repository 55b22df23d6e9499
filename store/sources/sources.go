// Package sources opens many kinds of images as Zarr arrays that can be read in part: TIFF
// and BigTIFF files, NumPy's .npy files, pictures, and mosaics of many of them. Files are
// not converted in advance: reading from the array reads from the file.
//
//	a, err := sources.Open(ctx, "scene.tif")
//	err = zarr.Read(ctx, a, row, []int{1000, 0}, []int{1, a.Shape()[1]})
package sources

import (
	"context"
	"fmt"
	"path/filepath"
	"slices"
	"strings"

	"github.com/boxsum/boxsum/zarr"
)

// Open opens the array at a path or URL. The location may be
//
//   - a Zarr array, as for [zarr.Open];
//   - a TIFF file, whose name ends in .tif, .tiff or .btf, as for [OpenTIFF];
//   - a .npy file, as for [OpenNPY];
//   - a .png, .jpg, .gif, .bmp, .webp, .pnm, .pgm, .ppm or .pam file;
//   - a mosaic, as for [IsMosaic].
func Open(ctx context.Context, location string) (*zarr.Array, error) {
	return open(ctx, location, nil, outermost())
}

// open is like [Open] for an array in nested mosaics. like is a tile that this one must
// match, or nil.
func open(ctx context.Context, location string, like *zarr.Array, in nest) (*zarr.Array, error) {
	if in.depth > deepest {
		return nil, bad("%s: mosaics are nested %d deep, want at most %d", zarr.Redacted(location), in.depth, deepest)
	}
	path := strings.TrimPrefix(location, "file://")
	end := strings.ToLower(filepath.Ext(path))
	_, notFile := file(path).size()
	switch {
	case isPattern(path):
		return openPattern(ctx, path, in)
	case strings.Contains(path, "://") || notFile != nil: // a Zarr array, or the error says what is wrong
	case end == ".tif" || end == ".tiff" || end == ".btf":
		return OpenTIFF(ctx, path)
	case end == ".npy":
		return OpenNPY(ctx, path)
	case end == ".vrt":
		return openVRT(ctx, path, in)
	case end == ".csv":
		return openList(ctx, path, in)
	case slices.Contains(pictures, end):
		return openPicture(ctx, path, like, in.depth > 0)
	}
	return zarr.Open(ctx, location)
}

func bad(format string, args ...any) error {
	return &formatError{fmt.Sprintf(format, args...)}
}

// A formatError is a [zarr.ErrFormat] with its own text.
type formatError struct{ text string }

func (e *formatError) Error() string { return e.text }
func (e *formatError) Unwrap() error { return zarr.ErrFormat }

// isFloat reports whether a type holds floats.
func isFloat(t zarr.Type) bool { return t >= zarr.Float16 && t <= zarr.Float64 }
