package devtest

import (
	"slices"
	"testing"

	"github.com/boxsum/boxsum/gpu/internal/driver"
)

// TestVariables checks that a test that was told which devices to test does not pass without them.
func TestVariables(t *testing.T) {
	processor, chip := driver.Info{Kind: driver.OpenCL, CPU: true}, driver.Info{Kind: driver.CUDA}
	for _, c := range []struct {
		kind  string
		there []driver.Info
		want  []driver.Info // nil if an error is expected
	}{
		{"", []driver.Info{chip, processor}, []driver.Info{chip, processor}},
		{"", nil, nil},
		{"cuda", []driver.Info{chip, processor}, []driver.Info{chip}},
		{"OpenCL", []driver.Info{chip, processor}, []driver.Info{processor}},
		{"cuda", []driver.Info{processor}, nil},
		{"opencl", []driver.Info{chip}, nil},
		{"opencl", nil, nil},
		{"vulkan", []driver.Info{chip, processor}, nil},
		{"vulkan", nil, nil},
	} {
		var none error
		if len(c.there) == 0 {
			none = driver.ErrNoDevice
		}
		got, err := filterByKind(c.kind, c.there, none)
		if !slices.Equal(got, c.want) || (err == nil) != (len(c.want) > 0) {
			t.Errorf("of %v, %q are %v, %v", c.there, c.kind, got, err)
		}
	}
	for text, want := range map[string]int{"": 7, "1": 1, "3000": 3000, "0": 0, "-1": 0, "many": 0, "1e3": 0, " ": 0} {
		if got, err := parse(text, 7); (err == nil) != (want > 0) || err == nil && got != want {
			t.Errorf("%q counts as %d, %v", text, got, err)
		}
	}
}
