package tables

import (
	"fmt"
	"image"
	"strings"

	"github.com/boxsum/boxsum"
	"github.com/boxsum/boxsum/imgio"
	"github.com/boxsum/boxsum/internal/engine"
	"github.com/boxsum/boxsum/internal/raster"
	fromsums "github.com/boxsum/boxsum/internal/stats"
)

// A sumForm holds the functions that must be instantiated for each type of sums, because they call
// generic packages for files and pictures.
type sumForm struct {
	// draw returns the heat map of a table.
	draw func(entries raster.Array) image.Image
	// load returns the table stored in an array of a file.
	load func(a *imgio.Array, solid bool) (*engine.Table, error)
	// advance adds the difference of two entries of a row to a sum, or subtracts it.
	advance func(sum fromsums.Sum, row []byte, x0, x1 int, plus bool) fromsums.Sum
}

// sumForms is indexed by the type of sums.
var sumForms = [raster.NumTypes]sumForm{
	raster.U32: formOf[uint32](),
	raster.U64: formOf[uint64](),
	raster.I64: formOf[int64](),
	raster.F32: formOf[float32](),
	raster.F64: formOf[float64](),
}

func formOf[S boxsum.Sum]() sumForm {
	return sumForm{heatMap[S], loadTable[S], advanced[S]}
}

func heatMap[S boxsum.Sum](entries raster.Array) image.Image {
	return imgio.HeatMap(boxsum.View[S]{
		Sums: raster.Elems[S](entries.Data), Stride: entries.Stride, Width: entries.Width, Height: entries.Height, Channels: entries.Channels,
	})
}

func loadTable[S boxsum.Sum](a *imgio.Array, solid bool) (*engine.Table, error) {
	if solid {
		t, err := loadVolume[S](a)
		return &engine.Table{Array: t}, err
	}
	t, err := imgio.TableOf[S](a)
	if err != nil {
		return nil, err
	}
	return tableOf(t), nil
}

// tableOf returns the untyped form of a table.
func tableOf[S boxsum.Sum](t *boxsum.Table[S]) *engine.Table {
	return &engine.Table{
		Array:  raster.ArrayOf(t.Sums, raster.PlaneExtent(t.Width, t.Height, t.Channels, t.Stride)),
		Offset: t.Offset, Known: fromsums.Pixels{Bound: t.Bound, Signed: t.Signed},
	}
}

// loadVolume returns an array of shape (D+1, H+1, W+1) or (D+1, H+1, W+1, C) as the table of a
// volume.
func loadVolume[S boxsum.Sum](a *imgio.Array) (raster.Array, error) {
	shape, channels := a.Shape, 1
	if len(shape) == 4 {
		shape, channels = shape[:3], shape[3]
	}
	if len(shape) != 3 || min(shape[0], shape[1], shape[2], channels) < 1 {
		return raster.Array{}, fmt.Errorf("array of shape %v is not the table of a volume, want (D+1, H+1, W+1) or (D+1, H+1, W+1, C)", a.Shape)
	}
	stride := shape[2] * channels
	// Because slice 0 is zero, the stacked slices form the table of one tall image.
	flat := append([]int{shape[0] * shape[1], shape[2]}, a.Shape[3:]...)
	if _, err := imgio.TableOf[S](&imgio.Array{Shape: flat, Data: a.Data}); err != nil {
		return raster.Array{}, err
	}
	return raster.ArrayOf(a.Data.([]S), raster.VolumeExtent(shape[2]-1, shape[1]-1, shape[0]-1, channels, stride, shape[1]*stride)), nil
}

func advanced[S boxsum.Sum](sum fromsums.Sum, row []byte, x0, x1 int, plus bool) fromsums.Sum {
	s, entries := fromsums.NumberOf[S](sum), raster.Elems[S](row)
	by := entries[x1] - entries[x0]
	if plus {
		return fromsums.SumOf(s + by)
	}
	return fromsums.SumOf(s - by)
}

// elementType returns the type of the elements of an array in a file.
func elementType(a *imgio.Array) raster.Type {
	t, _ := raster.ParseType(strings.TrimPrefix(fmt.Sprintf("%T", a.Data), "[]"))
	return t
}
