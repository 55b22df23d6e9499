//go:build cgo

package main

import (
	"context"
	"encoding/json"
	"image"
	"runtime/cgo"
	"unsafe"

	"github.com/boxsum/boxsum/store"
	"github.com/boxsum/boxsum/volume"
	"github.com/boxsum/boxsum/zarr"
)

// storeIntegrate makes a table in a store. Its argument is JSON with the fields below.
func storeIntegrate(a arguments) any {
	var work struct {
		From, To                  string
		Memory                    int64
		Workers, Block, Chunk     int
		Compression               string
		Squares, Compact, Restart bool
		Volume                    bool
	}
	must(json.Unmarshal([]byte(a.text(0)), &work))
	must(store.Integrate(context.Background(), work.From, work.To, &store.Options{
		Memory: work.Memory, Workers: work.Workers, Block: work.Block, Chunk: work.Chunk, Compression: work.Compression,
		Squares: work.Squares, Compact: work.Compact, Restart: work.Restart, Volume: work.Volume,
	}))
	return nil
}

// storeOpen returns a handle for the table at a path or URL. Its arguments are the path, the size of the cache in bytes, and workers.
func storeOpen(a arguments) any {
	return int(cgo.NewHandle(got(store.Open(context.Background(), a.text(0), &store.OpenOptions{Cache: int64(a.int(1)), Workers: a.int(2)}))))
}

func (a arguments) stored(i int) *store.Table {
	t, ok := cgo.Handle(a.int(i)).Value().(*store.Table)
	if !ok {
		panic("not a table in a store")
	}
	return t
}

// storeAbout describes a table as JSON.
func storeAbout(a arguments) any {
	t := a.stored(0)
	pixel, sum, square := t.Types()
	bins := t.Bins()
	text := got(json.Marshal(map[string]any{
		"width": t.Width, "height": t.Height, "depth": t.Depth(), "channels": t.Channels(), "pixel": pixel.String(), "sum": sum.String(),
		"squares": square != 0, "compact": t.Compact, "bins": bins.N, "low": bins.Low, "high": bins.High,
	}))
	return string(text)
}

// storeBoxes answers a query for boxes of four int64, or six for a volume. Its arguments are a handle, boxes, out and the query.
func storeBoxes(a arguments) any {
	t, in, out, what := a.stored(0), a.array(1), a.toWrite(2), a.int(3)
	_, sum, _ := t.Types()
	switch sum {
	case zarr.Uint64:
		askStore[uint64](t, in, out, u64, what)
	case zarr.Int64:
		askStore[int64](t, in, out, i64, what)
	default:
		askStore[float64](t, in, out, f64, what)
	}
	return nil
}

func askStore[S uint64 | int64 | float64](t *store.Table, in, to array, sum element, what int) {
	ctx := context.Background()
	if t.Depth() > 0 {
		boxes := list[volume.Box](in, i64, "boxes", -1, 6)
		if what == boxSum {
			must(store.SumVolumeBoxes(ctx, t, list[S](to, sum, "out", len(boxes), 1), boxes))
			return
		}
		ask := []func(context.Context, []float64, []volume.Box) error{t.MeanVolumeBoxes, t.VarianceVolumeBoxes, t.StdDevVolumeBoxes}[what-boxMean]
		must(ask(ctx, list[float64](to, f64, "out", len(boxes), 1), boxes))
		return
	}
	boxes := list[image.Rectangle](in, i64, "boxes", -1, 4)
	if what == boxSum {
		must(store.SumBoxes(ctx, t, list[S](to, sum, "out", len(boxes), t.Channels()), boxes))
		return
	}
	ask := []func(context.Context, []float64, []image.Rectangle) error{t.MeanBoxes, t.VarianceBoxes, t.StdDevBoxes}[what-boxMean]
	must(ask(ctx, list[float64](to, f64, "out", len(boxes), t.Channels()), boxes))
}

// storeCreate creates a Zarr array and returns a handle for it. Its arguments are a path or URL, the name of a type, and the shape and chunk as JSON.
func storeCreate(a arguments) any {
	var spec struct{ Shape, Chunk []int }
	must(json.Unmarshal([]byte(a.text(2)), &spec))
	b := got(zarr.OpenBucket(context.Background(), a.text(0), true))
	return int(cgo.NewHandle(got(zarr.Create(context.Background(), b, "", &zarr.Spec{Type: got(zarr.ParseType(a.text(1))), Shape: spec.Shape, Chunk: spec.Chunk}))))
}

// storeWrite writes a part of an array, whose elements are contiguous. Its arguments are a handle, the part, and its start and shape as JSON.
func storeWrite(a arguments) any {
	to, ok := cgo.Handle(a.int(0)).Value().(*zarr.Array)
	if !ok {
		panic("not an array in a store")
	}
	part := a.array(1)
	var at, shape []int
	must(json.Unmarshal([]byte(a.text(2)), &at))
	must(json.Unmarshal([]byte(a.text(3)), &shape))
	n := part.bytes
	for i := len(part.shape) - 1; i >= 0; i-- {
		if part.shape[i] > 1 && part.strides[i] != n {
			must(errLayout)
		}
		n *= part.shape[i]
	}
	must(to.WriteBytes(context.Background(), unsafe.Slice((*byte)(part.data), n), at, shape))
	return nil
}
