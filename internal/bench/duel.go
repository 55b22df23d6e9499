package bench

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"time"

	"github.com/boxsum/boxsum"
	"github.com/boxsum/boxsum/gpu"
	"github.com/boxsum/boxsum/papers"
	"github.com/boxsum/boxsum/rotated"
	"github.com/boxsum/boxsum/tilted"
)

// turnOf is a contestant's turn.
type turnOf = func(warm int) (time.Duration, error)

// A duel is a published algorithm and boxsum's own on the same pixels.
type duel struct {
	check  func() error // makes both tables and compares them
	theirs func() error
	boxsum func() error
	close  func() error
}

// ours is boxsum's side of a duel.
type ours[E uint32 | float32 | float64] struct {
	run   func() error
	close func() error

	// table is the entries as the last run left them, laid out as the
	// algorithm's are; nil for rotated ones, which the algorithm's are compared
	// with anyway.
	table func() (at func(x, y, channel int) E, err error)
}

func (cfg *AlgorithmsConfig) duel(a AlgorithmCase, size Size, workers int) (*duel, error) {
	switch a.Precision.Type {
	case "f32":
		return newDuel[float32](cfg, a, size, workers)
	case "f64":
		return newDuel[float64](cfg, a, size, workers)
	}
	return newDuel[uint32](cfg, a, size, workers)
}

// newDuel draws the images and takes the memory of both.
func newDuel[E uint32 | float32 | float64](cfg *AlgorithmsConfig, a AlgorithmCase, size Size, workers int) (*duel, error) {
	img, err := papers.ExactImage[E](size.Width, size.Height, a.Precision)
	if err != nil {
		return nil, err
	}
	images := slices.Repeat([]boxsum.Image[E]{img}, cfg.images(a))
	job, err := papers.Prepare(a.Algorithm, &papers.Options{
		Precision: a.Precision, Threads: workers, Device: cfg.Device, Rotation: a.Rotation,
	}, images...)
	if err != nil {
		return nil, err
	}
	var own ours[E]
	theirs := job.Run
	switch {
	case a.Many:
		theirs = job.RunHost
		own, err = inPipeline(cfg.Device, images)
	case a.Place == papers.GPU:
		own, err = onDevice(cfg.Device, a, img)
	default:
		own, err = onCPU(a, img, &boxsum.Options{Workers: workers, Level: cfg.Level})
	}
	if err != nil {
		return nil, errors.Join(err, job.Close())
	}
	check := func() error {
		for _, f := range []func() error{theirs, job.Verify, own.run} {
			if err := f(); err != nil {
				return err
			}
		}
		return own.compare(job)
	}
	return &duel{check, theirs, own.run, func() error { return errors.Join(job.Close(), own.close()) }}, nil
}

// compare holds boxsum's table against one that was verified.
func (o ours[E]) compare(job *papers.Job) error {
	if o.table == nil {
		return nil
	}
	want, err := papers.Table[E](job, 0)
	if err != nil {
		return err
	}
	at, err := o.table()
	if err != nil {
		return err
	}
	for y := range want.Height + 1 {
		for x := range want.Width + 1 {
			for c := range want.Channels {
				if got := at(x, y, c); got != want.At(x, y, c) {
					return fmt.Errorf("entry (%d,%d) of boxsum's table is %v, and should be %v", x, y, got, want.At(x, y, c))
				}
			}
		}
	}
	return nil
}

func nothing() error { return nil }

// onCPU is boxsum's table of the same kind.
func onCPU[E uint32 | float32 | float64](a AlgorithmCase, img boxsum.Image[E], opt *boxsum.Options) (ours[E], error) {
	type entries = func(x, y, channel int) E
	switch a.Kind {
	case papers.Tilted:
		t, err := tilted.NewTable[E](img.Width, img.Height, img.Channels)
		return ours[E]{func() error { return tilted.IntegrateInto(t, img, &tilted.Options{Workers: opt.Workers, Level: opt.Level}) }, nothing, func() (entries, error) { return t.At, nil }}, err
	case papers.Rotated:
		t, err := rotated.NewTable[E](img.Width, img.Height, img.Channels, a.Rotation)
		return ours[E]{func() error { return rotated.IntegrateInto(t, img, &rotated.Options{Workers: opt.Workers, Level: opt.Level}) }, nothing, nil}, err
	}
	t, err := boxsum.NewTable[E](img.Width, img.Height, img.Channels)
	return ours[E]{func() error { return boxsum.IntegrateInto(t, img, opt) }, nothing, func() (entries, error) { return t.At, nil }}, err
}

// onDevice is boxsum's table of the same kind on a device.
func onDevice[E uint32 | float32 | float64](d *gpu.Device, a AlgorithmCase, img boxsum.Image[E]) (ours[E], error) {
	src, err := gpu.Upload(d, img)
	if err != nil {
		return ours[E]{}, err
	}
	type entries = func(x, y, channel int) E
	if a.Kind == papers.Tilted {
		t, err := gpu.NewTiltedTable[E](d, img.Width, img.Height, img.Channels, 1)
		if err != nil {
			return ours[E]{}, errors.Join(err, src.Close())
		}
		return ours[E]{
			func() error { return gpu.IntegrateTiltedInto(t, src, nil) },
			func() error { return errors.Join(t.Close(), src.Close()) },
			func() (entries, error) {
				host, err := t.Download(0)
				if err != nil {
					return nil, err
				}
				return host.At, nil
			},
		}, nil
	}
	t, err := gpu.NewTable[E](d, img.Width, img.Height, img.Channels, 1)
	if err != nil {
		return ours[E]{}, errors.Join(err, src.Close())
	}
	return ours[E]{
		func() error { return gpu.IntegrateInto(t, src, nil) },
		func() error { return errors.Join(t.Close(), src.Close()) },
		func() (entries, error) {
			host, err := t.Download(0)
			if err != nil {
				return nil, err
			}
			return host.At, nil
		},
	}, nil
}

// inPipeline is boxsum's way for many images: from page-locked memory to page-locked
// memory, as the algorithm's is.
func inPipeline[E uint32 | float32 | float64](d *gpu.Device, images []boxsum.Image[E]) (ours[E], error) {
	var locked []boxsum.Image[E]
	var releases []func() error
	free := func() (err error) {
		for _, release := range releases {
			err = errors.Join(err, release())
		}
		return err
	}
	for _, img := range images {
		same, release, err := gpu.NewHostImage[E](d, img.Width, img.Height, img.Channels)
		if err != nil {
			return ours[E]{}, errors.Join(err, free())
		}
		releases = append(releases, release)
		for y := range img.Height {
			copy(same.Row(y), img.Row(y))
		}
		locked = append(locked, same)
	}
	pipe := func(each func(*boxsum.Table[E])) error {
		for t, err := range gpu.Pipeline[E](context.Background(), d, slices.Values(locked), &gpu.PipelineOptions{Reuse: true}) {
			if err != nil {
				return err
			}
			each(t)
		}
		return nil
	}
	return ours[E]{
		func() error { return pipe(func(*boxsum.Table[E]) {}) },
		free,
		func() (func(x, y, channel int) E, error) {
			var last boxsum.Table[E]
			err := pipe(func(t *boxsum.Table[E]) {
				last = *t
				last.Sums = slices.Clone(t.Sums) // t is empty after the loop
			})
			return last.At, err
		},
	}, nil
}
