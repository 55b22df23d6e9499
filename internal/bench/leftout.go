package bench

import (
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/boxsum/boxsum"
	"github.com/boxsum/boxsum/gpu"
)

// tooLarge is the error of what needs more memory than is free.
type tooLarge struct{ error }

func (e tooLarge) Unwrap() error { return e.error }

// leavesOut says whether an error is about one case or one size, so that others may
// still be measured: memory is too small for it, or a device lacks its types.
func leavesOut(err error) bool {
	var large tooLarge
	return errors.As(err, &large) || errors.Is(err, gpu.ErrMemory) || errors.Is(err, boxsum.ErrTypes)
}

// leftOut is the result of a case and a size that were not measured.
func leftOut(algorithm, on string, c Case, size Size, batch int, why error) Result {
	r := newResult(algorithm, c, size, 0, 0, false)
	read, written := c.bytes(size)
	r.On, r.Bytes, r.LeftOut, r.cause = on, int64(batch)*(read+written), reason(why), why
	if batch > 1 {
		r.Batch = batch
	}
	return r
}

// line is a result that was left out, for people.
func (r Result) line() string {
	return fmt.Sprint("left out, ", r.Case(), " ", r.Size, ": ", r.LeftOut)
}

// reason is an error on one line, without the names of packages.
func reason(err error) string {
	return strings.NewReplacer("\n", "; ", "gpu: ", "", "bench: ", "").Replace(err.Error())
}

// measured is an error where everything was left out.
func measured(results []Result) error {
	if len(results) == 0 || slices.ContainsFunc(results, func(r Result) bool { return r.LeftOut == "" }) {
		return nil
	}
	first := results[0]
	return fmt.Errorf("bench: nothing could be measured: %v %s: %w", first.Case(), first.Size, first.cause)
}
