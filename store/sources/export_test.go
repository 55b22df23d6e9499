package sources

import (
	"context"
	"fmt"
	"image"
	"testing"

	"github.com/boxsum/boxsum/zarr"
)

// OpenLargeTiles opens a mosaic of two tiles of 2048² pixels that do not lie on a grid. It calls read whenever a tile is read.
func OpenLargeTiles(read func()) (*zarr.Array, error) {
	m := &mosaic{typ: zarr.Uint8, width: 4096, height: 2048, channels: 1}
	for i := range 2 {
		a, err := newMade(ctx, &zarr.Spec{Type: zarr.Uint8, Shape: []int{2048, 2048}, Chunk: []int{2048, 2048}}, &made{what: "a tile", list: func(context.Context, func(zarr.Object) error) error { return nil },
			chunk: func(context.Context, []int) ([]byte, error) { read(); return make([]byte, 1<<22), nil }})
		if err != nil {
			return nil, err
		}
		m.tiles, m.names = append(m.tiles, a), append(m.names, fmt.Sprint(i))
		m.pieces = append(m.pieces, piece{tile: i, dst: image.Rect(0, 0, 2048, 2047).Add(image.Pt(i*2048, i)), from: -1, to: -1})
	}
	return m.open(ctx)
}

// TableHeight makes the table of an array and returns its height. It is set by tests outside the package, which can import package store.
var TableHeight func(t *testing.T, a *zarr.Array) int
