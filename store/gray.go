package store

import (
	"context"

	"github.com/boxsum/boxsum/internal/grid"
)

// Gray is an image of colours as one of a single channel, weighed when it is read as boxsum.Gray and boxsum.Gray16 do. It has bytes or
// words, and the channels R, G, B, with alpha or without, or grey and alpha; an image without channels is given back. Closing it closes the image.
func Gray(ctx context.Context, a *Array) (*Array, error) {
	shape := a.m.shape
	if len(shape) == 2 {
		return a, nil
	}
	if len(shape) != 3 || shape[2] < 1 || shape[2] > 4 || a.m.typ != Uint8 && a.m.typ != Uint16 {
		return nil, grid.Invalid("an array of shape %v of %v has no colours to weigh: an image of them has the shape (H, W, C) with up to 4 channels, of uint8 or uint16", shape, a.m.typ)
	}
	spec := &Spec{Type: a.m.typ, Shape: shape[:2], Chunk: a.unit[:2], BigEndian: bigHost}
	if names := a.Names(); len(names) == 3 {
		spec.Names = names[:2]
	}
	return newMade(ctx, spec, &made{what: "a grey image", parts: []*Array{a}, closing: a.Close,
		list: func(ctx context.Context, visit func(Object) error) error { return a.bucket.List(ctx, a.path, visit) },
		chunk: func(ctx context.Context, place []int) ([]byte, error) {
			size, channels := a.m.typ.Size(), shape[2]
			at := []int{place[0] * a.unit[0], place[1] * a.unit[1], 0}
			box := []int{min(a.unit[0], shape[0]-at[0]), min(a.unit[1], shape[1]-at[1]), channels}
			colors := aligned(product(box) * size)
			if err := a.readBytes(ctx, colors, at, box, true); err != nil {
				return nil, err
			}
			out, row := aligned(a.unit[0]*a.unit[1]*size), box[1]*size
			for y := range box[0] {
				from, to := colors[y*row*channels:(y+1)*row*channels], out[y*a.unit[1]*size:][:row]
				if size == 1 {
					weigh(to, from, channels)
				} else {
					weigh(elementsOf[uint16](to), elementsOf[uint16](from), channels)
				}
			}
			return out, nil
		}})
}

// weigh makes grey of colours.
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
