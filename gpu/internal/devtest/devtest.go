// Package devtest selects the devices that tests run on.
package devtest

import (
	"fmt"
	"os"
	"slices"
	"strconv"
	"testing"

	"github.com/boxsum/boxsum/gpu/internal/devmem"
	"github.com/boxsum/boxsum/gpu/internal/driver"
	"github.com/boxsum/boxsum/internal/ref"
)

// kindVariable is the environment variable that selects the kind of devices to test.
const kindVariable = "BOXSUM_GPU_KIND"

// Infos lists the devices of the machine, or only those of kind BOXSUM_GPU_KIND. If there are none,
// ref.NoDevice skips the test, or it fails if a kind was named.
func Infos(t testing.TB) []driver.Info {
	t.Helper()
	infos, reasons := driver.List()
	var err error
	if len(infos) == 0 {
		err = driver.NoDevice(reasons)
	}
	kind := os.Getenv(kindVariable)
	if kind == "" && err != nil {
		ref.NoDevice(t, err)
	}
	if infos, err = filterByKind(kind, infos, err); err != nil {
		t.Fatal(err)
	}
	return infos
}

// filterByKind returns the devices of a kind, or all if kind is empty, or an error if there are none. none
// explains why there are no devices at all.
func filterByKind(kind string, infos []driver.Info, none error) ([]driver.Info, error) {
	if kind == "" {
		return infos, none
	}
	named, err := driver.ParseKind(kind)
	if err != nil {
		return nil, fmt.Errorf("%s: %w", kindVariable, err)
	}
	if none == nil {
		infos = slices.DeleteFunc(slices.Clone(infos), func(info driver.Info) bool { return info.Kind != named })
		if len(infos) == 0 {
			none = driver.ErrNoDevice
		}
	}
	if none != nil {
		return nil, fmt.Errorf("%s=%s: no such device: %w", kindVariable, kind, none)
	}
	return infos, nil
}

// Each runs a test on every device of the machine.
func Each(t *testing.T, body func(t *testing.T, d *devmem.Device)) {
	t.Helper()
	for _, info := range Infos(t) {
		t.Run(fmt.Sprintf("%s%d", info.Kind, info.Index), func(t *testing.T) {
			b, err := driver.Open(info)
			if err != nil {
				t.Fatal(err)
			}
			d, err := devmem.NewDevice(b)
			if err != nil {
				t.Fatal(err)
			}
			t.Cleanup(func() {
				if err := d.Close(); err != nil {
					t.Errorf("close the device: %v", err)
				}
			})
			body(t, d)
		})
	}
}

// SelectPairs returns the pairs of types to test on a device. On a processor, OpenCL takes seconds to
// compile the kernels of a pair, so only the pairs with the given names, which cover every type,
// are tested there, unless BOXSUM_GPU_PAIRS is "all".
func SelectPairs[T any](processor bool, pairs []T, name func(T) string, names ...string) []T {
	if !Few(processor) {
		return pairs
	}
	return slices.DeleteFunc(slices.Clone(pairs), func(p T) bool { return !slices.Contains(names, name(p)) })
}

// Few reports whether a test should try fewer combinations of sizes: on a processor, unless
// BOXSUM_GPU_PAIRS is "all".
func Few(processor bool) bool { return processor && os.Getenv("BOXSUM_GPU_PAIRS") != "all" }

// Count returns the number of repetitions, which an environment variable may set.
func Count(t *testing.T, variable string, otherwise int) int {
	t.Helper()
	count, err := parse(os.Getenv(variable), otherwise)
	if err != nil {
		t.Fatalf("%s: %v", variable, err)
	}
	return count
}

func parse(text string, otherwise int) (int, error) {
	if text == "" {
		return otherwise, nil
	}
	count, err := strconv.Atoi(text)
	if err == nil && count < 1 {
		err = fmt.Errorf("count is %d, want 1 or more", count)
	}
	return count, err
}
