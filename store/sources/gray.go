package sources

import (
	"context"

	"github.com/boxsum/boxsum/internal/raster"
	"github.com/boxsum/boxsum/zarr"
)

// Gray returns a color image as a gray one, whose pixels are computed when they are
// read, with the weights of [boxsum.Gray] and [boxsum.Gray16]. The elements of a must be
// uint8 or uint16, in the shape (H, W, C) with up to 4 channels: R, G, B with or without
// alpha, or gray and alpha. An image of shape (H, W) is returned unchanged. Closing the
// result closes a.
func Gray(ctx context.Context, a *zarr.Array) (*zarr.Array, error) {
	shape, chunk := a.Shape(), a.Chunk()
	if len(shape) == 2 {
		return a, nil
	}
	if len(shape) != 3 || shape[2] < 1 || shape[2] > 4 || a.Type() != zarr.Uint8 && a.Type() != zarr.Uint16 {
		return nil, raster.Invalid("array of shape %v and type %v has no colors to convert to gray, want (H, W, C) with at most 4 channels of uint8 or uint16", shape, a.Type())
	}
	// Every chunk is one read of a, so tiny ones are read together.
	const least = 64
	for d, n := range chunk[:2] {
		chunk[d] = n * max(1, min(raster.CeilDiv(least, n), raster.CeilDiv(shape[d], n)))
	}
	spec := &zarr.Spec{Type: a.Type(), Shape: shape[:2], Chunk: chunk[:2], BigEndian: raster.BigEndian}
	if names := a.Names(); len(names) == 3 {
		spec.Names = names[:2]
	}
	return newMade(ctx, spec, &made{what: "a gray image", parts: []*zarr.Array{a}, closing: a.Close,
		list: func(ctx context.Context, visit func(zarr.Object) error) error { return a.List(ctx, visit) },
		chunk: func(ctx context.Context, place []int) ([]byte, error) {
			size, channels := a.Type().Size(), shape[2]
			at := []int{place[0] * chunk[0], place[1] * chunk[1], 0}
			box := []int{min(chunk[0], shape[0]-at[0]), min(chunk[1], shape[1]-at[1]), channels}
			colors := raster.Aligned(raster.Product(box) * size)
			if err := a.ReadBytes(ctx, colors, at, box); err != nil {
				return nil, err
			}
			out, row := raster.Aligned(chunk[0]*chunk[1]*size), box[1]*size
			for y := range box[0] {
				from, to := colors[y*row*channels:(y+1)*row*channels], out[y*chunk[1]*size:][:row]
				if size == 1 {
					weigh(to, from, channels)
				} else {
					weigh(raster.Elems[uint16](to), raster.Elems[uint16](from), channels)
				}
			}
			return out, nil
		}})
}

// weigh converts colors to gray.
func weigh[P uint8 | uint16](dst, src []P, channels int) {
	for i := range dst {
		p := src[i*channels:][:channels]
		if channels < 3 {
			dst[i] = p[0]
		} else {
			dst[i] = P((9798*uint32(p[0]) + 19235*uint32(p[1]) + 3735*uint32(p[2]) + 1<<14) >> 15)
		}
	}
}
