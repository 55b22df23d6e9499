package sources

import (
	"context"

	"github.com/boxsum/boxsum/internal/raster"
	"github.com/boxsum/boxsum/zarr"
)

// ReadAll returns all elements of an array as a slice of one of the pixel types
// of package boxsum. Elements of type Bool become uint8, Int8 becomes int16,
// and Float16 becomes float32.
func ReadAll(ctx context.Context, a *zarr.Array) (any, error) {
	return ReadBox(ctx, a, make([]int, len(a.Shape())), a.Shape())
}

// ReadBox is like [ReadAll] but reads only the box of elements that starts at position at
// and has the shape box.
func ReadBox(ctx context.Context, a *zarr.Array, at, box []int) (any, error) {
	n, size := raster.Product(box), a.Type().Size()
	if err := raster.CheckMemory(n, max(size, 4)); err != nil {
		return nil, err
	}
	data := raster.Aligned(n * size)
	if err := a.ReadBytes(ctx, data, at, box); err != nil {
		return nil, err
	}
	switch a.Type() {
	case zarr.Bool, zarr.Uint8:
		return data, nil
	case zarr.Uint16:
		return raster.Elems[uint16](data), nil
	case zarr.Uint32:
		return raster.Elems[uint32](data), nil
	case zarr.Uint64:
		return raster.Elems[uint64](data), nil
	case zarr.Int8:
		wide := make([]int16, n)
		for i, v := range raster.Elems[int8](data) {
			wide[i] = int16(v)
		}
		return wide, nil
	case zarr.Int16:
		return raster.Elems[int16](data), nil
	case zarr.Int32:
		return raster.Elems[int32](data), nil
	case zarr.Int64:
		return raster.Elems[int64](data), nil
	case zarr.Float16:
		wide := make([]float32, n)
		for i, v := range raster.Elems[uint16](data) {
			wide[i] = zarr.FromFloat16(v)
		}
		return wide, nil
	case zarr.Float32:
		return raster.Elems[float32](data), nil
	}
	return raster.Elems[float64](data), nil
}
