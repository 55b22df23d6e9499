package store

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"slices"

	"github.com/boxsum/boxsum/zarr"
)

// Begin writes the metadata of an unfinished table, unless an earlier run has done so. It
// reports whether the table is already finished.
func (j *Job) Begin(ctx context.Context) (finished bool, err error) {
	g, err := zarr.OpenGroup(ctx, j.dst, "")
	switch {
	case errors.Is(err, fs.ErrNotExist):
		// An interrupted restart may have left blocks of another table.
		if err := j.remove(ctx, tableParts...); err != nil {
			return false, err
		}
		return false, j.write(ctx, false)
	case err != nil && errors.Is(err, zarr.ErrFormat):
		return false, bad("the destination is not a table (choose another, or remove it): %v", err)
	case err != nil:
		return false, err
	}
	var a about
	if ok, err := g.Attribute("boxsum", &a); err != nil || !ok || a.Kind != tableKind {
		return false, bad("the destination is not a table (choose another, or remove it)")
	}
	if a.Fingerprint == j.fingerprint {
		if err := j.followAll(ctx, g); err != nil && !a.Complete {
			return false, err
		}
		return a.Complete, nil
	}
	if !j.opt.Restart {
		return false, fmt.Errorf("the destination holds a table of another image or with other options (remove it, or restart): %w", ErrChanged)
	}
	// Delete the metadata first, so that anything left of the old table belongs to no
	// table.
	if err := j.dst.Delete(ctx, "zarr.json"); err != nil {
		return false, err
	}
	if err := j.remove(ctx, tableParts...); err != nil {
		return false, err
	}
	return false, j.write(ctx, false)
}

// Join prepares the job for a table that another process has begun with the same source and
// options, and adopts the settings of that process.
func (j *Job) Join(ctx context.Context) error {
	g, err := zarr.OpenGroup(ctx, j.dst, "")
	if err != nil {
		return err
	}
	var a about
	if ok, err := g.Attribute("boxsum", &a); err != nil || !ok || a.Kind != tableKind {
		return bad("the destination is not a table")
	}
	if a.Fingerprint != j.fingerprint {
		return fmt.Errorf("the unfinished table belongs to another image or other options: %w", ErrChanged)
	}
	return j.followAll(ctx, g)
}

func (j *Job) followAll(ctx context.Context, g *zarr.Group) error {
	for n := range j.layers {
		main, err := g.Array(ctx, j.layers[n].main.Path())
		if err == nil {
			err = j.follow(n, main)
		}
		if err != nil {
			return err
		}
	}
	return nil
}

// follow adopts the codecs of the existing table, which may differ from the current
// defaults.
func (j *Job) follow(n int, main *zarr.Array) error {
	l := j.layers[n]
	if main.Type() != l.kept || !slices.Equal(main.Shape(), l.main.Shape()) || !slices.Equal(main.Object(), l.main.Object()) {
		return bad("array %s does not belong to the table", l.main.Path())
	}
	l.main = main
	return nil
}

// resume finds where an earlier run stopped: after the rows of blocks whose lines are
// written.
func (r *run) resume(ctx context.Context) error {
	r.exist = map[string]bool{}
	for _, l := range r.layers {
		for _, a := range []*zarr.Array{l.main, l.left, l.top} {
			if err := a.List(ctx, func(o zarr.Object) error {
				r.exist[o.Key] = true
				return nil
			}); err != nil {
				return err
			}
		}
	}
	start := 0
	for start < r.rows && r.hasLines(start) {
		start++
	}
	r.next, r.done, r.complete = start*r.columns, start*r.columns, start
	if start == 0 {
		return r.firstLine(ctx)
	}
	if start == r.rows {
		return nil
	}
	lines := r.row(start)
	for n, l := range r.layers {
		if err := l.top.ReadObject(ctx, lines.top[n], r.place(start, 0)); err != nil {
			return err
		}
	}
	for k := range lines.topReady {
		lines.topReady[k] = true
	}
	return nil
}

// hasLines reports whether an earlier run has written the lines left of a row of blocks and
// those above the next.
func (r *run) hasLines(i int) bool {
	for _, l := range r.layers {
		if !r.exist[l.left.Key(r.place(0, i))] || i+1 < r.rows && !r.exist[l.top.Key(r.place(i+1, 0))] {
			return false
		}
	}
	return true
}
