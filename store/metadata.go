package store

import (
	"context"
	"fmt"

	"github.com/boxsum/boxsum/zarr"
)

// about is the content of a table's attribute "boxsum".
type about struct {
	Kind        string `json:"kind"`
	Version     int    `json:"version"`
	Complete    bool   `json:"complete"`
	Fingerprint string `json:"fingerprint"`
	Width       int    `json:"width"`
	Height      int    `json:"height"`
	Channels    int    `json:"channels"`
	Pixel       string `json:"pixel"`
	Block       int    `json:"block"`
	Squares     bool   `json:"squares"`
	Compact     bool   `json:"compact"`
	Chunk       int    `json:"chunk,omitempty"`
	Compression string `json:"compression"`
	Level       int    `json:"level,omitempty"`

	Depth int     `json:"depth,omitempty"` // of a volume, whose slices are the channels
	Bins  int     `json:"bins,omitempty"`  // of histograms, whose bins are the channels
	Low   float64 `json:"low,omitempty"`
	High  float64 `json:"high,omitempty"`
	Clamp bool    `json:"clamp,omitempty"`
}

const (
	tableKind    = "summed-area table"
	tableVersion = 1
)

// tableParts lists the key prefixes of a table's objects except its own metadata.
var tableParts = []string{
	"sum/", "sum_local/", "sum_left/", "sum_top/",
	"squares/", "squares_local/", "squares_left/", "squares_top/", hidden,
}

// remove deletes the objects whose keys begin with one of the prefixes.
func (j *Job) remove(ctx context.Context, prefixes ...string) error {
	var keys []string
	for _, prefix := range prefixes {
		if err := j.dst.List(ctx, prefix, func(o zarr.Object) error {
			keys = append(keys, o.Key)
			return nil
		}); err != nil {
			return err
		}
	}
	for _, key := range keys {
		if err := j.dst.Delete(ctx, key); err != nil {
			return err
		}
	}
	return nil
}

// write writes all metadata.
func (j *Job) write(ctx context.Context, complete bool) error {
	arrays := map[string]*zarr.Array{}
	for _, l := range j.layers {
		for _, a := range []*zarr.Array{l.main, l.left, l.top} {
			arrays[a.Path()] = a
			if err := j.dst.Put(ctx, a.Path()+"/zarr.json", a.Metadata()); err != nil {
				return err
			}
		}
	}
	// Write the group last: a table that has begun has the metadata of its arrays.
	_, err := zarr.CreateGroup(ctx, j.dst, "", map[string]any{"boxsum": about{
		tableKind, tableVersion, complete, j.fingerprint, j.width, j.height, j.channels, j.pixel.String(), j.block, j.opt.Squares, j.opt.Compact, j.opt.Chunk, j.opt.Compression, j.opt.Level,
		j.depth, j.opt.Bins.N, j.opt.Bins.Low, j.opt.Bins.High, j.opt.Bins.Clamp,
	}}, arrays)
	return err
}

// Finish marks the table as complete and deletes temporary objects. If the source has
// changed since the job began, it returns an error that wraps [ErrChanged] instead.
func (j *Job) Finish(ctx context.Context) error {
	now, err := j.print(ctx)
	if err != nil {
		return err
	}
	if now != j.fingerprint {
		return fmt.Errorf("the image changed while its table was made: %w", ErrChanged)
	}
	if err := j.write(ctx, true); err != nil {
		return err
	}
	if err := j.remove(ctx, hidden); err != nil {
		return err
	}
	zarr.Sweep(j.dst)
	return nil
}
