package bench

import (
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/boxsum/boxsum"
	"github.com/boxsum/boxsum/gpu"
	"github.com/boxsum/boxsum/internal/measure"
)

// leavesOut reports whether an error is about one case or one size, so that others may
// still be measured: memory is too small for it, or a device lacks its types.
func leavesOut(err error) bool {
	var large *measure.TooLargeError
	return errors.As(err, &large) || errors.Is(err, gpu.ErrMemory) || errors.Is(err, boxsum.ErrTypes)
}

// leftOut is the result of a case and a size that were not measured.
func leftOut(algorithm string, d *gpu.Device, c Case, size Size, batch int, why error) Result {
	r := newResult(algorithm, d, c, size, 0, batch, false)
	r.LeftOut, r.cause = reason(why), why
	return r
}

// line is a result that was left out, for people.
func (r Result) line() string {
	return fmt.Sprint("left out, ", r.Case(), " ", r.Size, ": ", r.LeftOut)
}

// reason is an error on one line, without the names of packages.
func reason(err error) string {
	return strings.NewReplacer("\n", "; ", "gpu: ", "", "bench: ", "", "measure: ", "").Replace(err.Error())
}

// measured is an error where everything was left out.
func measured(results []Result) error {
	if len(results) == 0 || slices.ContainsFunc(results, func(r Result) bool { return r.LeftOut == "" }) {
		return nil
	}
	first := results[0]
	return fmt.Errorf("bench: nothing could be measured: %v %s: %w", first.Case(), first.Size, first.cause)
}
