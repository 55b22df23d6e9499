// Package devtest chooses the devices that tests run on.
package devtest

import (
	"fmt"
	"os"
	"slices"
	"strconv"
	"testing"

	"github.com/boxsum/boxsum/gpu/internal/devmem"
	"github.com/boxsum/boxsum/gpu/internal/driver"
)

// kindVariable is the environment variable that says which kind of devices to test.
const kindVariable = "BOXSUM_GPU_KIND"

// Infos lists the devices of the machine, or those of BOXSUM_GPU_KIND only.
// Where there are none the test is skipped, and fails where CI promises one or
// a kind was named.
func Infos(t testing.TB) []driver.Info {
	t.Helper()
	infos, reasons := driver.List()
	var err error
	if len(infos) == 0 {
		err = driver.NoDevice(reasons)
	}
	kind := os.Getenv(kindVariable)
	if kind == "" && err != nil && os.Getenv("CI") != "true" {
		t.Skip(err)
	}
	if infos, err = of(kind, infos, err); err != nil {
		t.Fatal(err)
	}
	return infos
}

// of is the devices of a kind, or all where none is named, and an error where
// there are none. The other error says why there are no devices at all.
func of(kind string, infos []driver.Info, none error) ([]driver.Info, error) {
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
		return nil, fmt.Errorf("%s=%s: there is no such device: %w", kindVariable, kind, none)
	}
	return infos, nil
}

// Each runs a test body on every device of the machine.
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

// Count is how often to do something: what an environment variable says, if it does.
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
		err = fmt.Errorf("%d is less than 1", count)
	}
	return count, err
}
