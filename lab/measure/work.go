package measure

import (
	"cmp"
	"errors"
	"fmt"
	"io"

	"github.com/boxsum/boxsum"
	"github.com/boxsum/boxsum/gpu"
	"github.com/boxsum/boxsum/internal/device"
)

// Options specifies how the CPU computes a table. Canceling the context stops the run of a
// contestant.
type Options = boxsum.Options

// A Work holds pixels and their tables on the CPU, allocated once.
type Work struct {
	Pixels []byte
	Tables []Table
	Run    func(Options) error

	// Upright is the work of the upright table of the same pixels, for comparison, or nil.
	Upright *Work

	images int // number of images for a device; the pixels are those of the first
	// stage copies the images to a device and allocates their tables there; nil if unsupported.
	stage func(device.Stager, *gpu.Options) (device.Stage, error)
}

// A Table is one of the tables of a work.
type Table struct {
	memory []byte                                  // all memory, including gaps between rows
	output []byte                                  // as much memory as the entries need
	verify func(i int) error                       // compares all entries with the reference of an image
	equal  func(r io.Reader, inclusive bool) error // compares all entries with a peer's
}

// Prepare prepares the work of a case with random pixels, and verifies it with each number of workers.
func Prepare(c Case, size Size, workers []int, opt Options) (*Work, error) {
	kind, err := c.kind()
	if err != nil {
		return nil, err
	}
	w, err := kind.cpu(size, c.Channels)
	if err != nil {
		return nil, err
	}
	for _, opt.Workers = range workers {
		if w.Upright != nil {
			err = w.Upright.Check(opt)
		}
		if err = cmp.Or(err, w.Check(opt)); err != nil {
			return nil, err
		}
	}
	return w, nil
}

// Check computes the tables and verifies them.
func (w *Work) Check(opt Options) error {
	err := w.check(0, func() error { return w.Run(opt) })
	if errors.As(err, new(*DiffersError)) {
		return fmt.Errorf("with %d workers: %w", opt.Workers, err)
	}
	return err
}

// check verifies the tables that run makes for image i. It first overwrites them, so that tables left
// by an earlier run cannot pass.
func (w *Work) check(i int, run func() error) error {
	for _, t := range w.Tables {
		for i := range t.memory {
			t.memory[i] = 0xa5
		}
	}
	if err := run(); err != nil {
		return err
	}
	for _, t := range w.Tables {
		if err := t.verify(i); err != nil {
			return err
		}
	}
	return nil
}

// Contestant returns the work with the given options as a contestant.
func (w *Work) Contestant(opt Options) *Contestant {
	return &Contestant{
		Run:   OnClock(func() error { return w.Run(opt) }),
		Check: func() error { return w.Check(opt) },
	}
}
