package labs

import (
	"encoding/json"
	"errors"
	"fmt"
	"strings"
	"testing"

	"github.com/boxsum/boxsum/gpu"
)

// What does not work is listed, whether or not something else does.
func TestListed(t *testing.T) {
	cuda := gpu.Info{Kind: gpu.CUDA, Name: "Large", Vendor: "NVIDIA", Driver: "13.0", Version: "9.0", Memory: 1 << 30, Units: 2}
	opencl := gpu.Info{Kind: gpu.OpenCL, Name: "Small", Vendor: "Someone", Driver: "3.1", Version: "3.0", Memory: 1 << 30, Units: 1}
	broken := []error{fmt.Errorf("OpenCL: %w", errors.New("driver 2 of 2: broken")), fmt.Errorf("OpenCL: %w", errors.New("Old: too\nold"))}
	none := []error{fmt.Errorf("CUDA: %w", errors.New("no driver"))}
	for name, c := range map[string]struct {
		infos   []gpu.Info
		missing map[gpu.Kind][]error
		want    []string
		json    []string
	}{
		"beside others": {[]gpu.Info{opencl}, map[gpu.Kind][]error{gpu.CUDA: none, gpu.OpenCL: broken},
			[]string{"opencl   Small\n", "         Someone, driver 3.1, OpenCL 3.0\n", "cuda     none: no GPU device: no driver\n",
				"opencl   left out: driver 2 of 2: broken\n", "opencl   left out: Old: too; old\n"},
			[]string{`"left_out":"driver 2 of 2: broken"`, `"missing":"no GPU device: no driver"`}},
		"alone": {[]gpu.Info{cuda}, map[gpu.Kind][]error{gpu.OpenCL: broken},
			[]string{"cuda     Large\n", "         NVIDIA, driver for CUDA 13.0, compute capability 9.0\n", "opencl   none: no GPU device: driver 2 of 2: broken; Old: too; old\n"},
			[]string{`"driver":"13.0","version":"9.0"`}},
	} {
		devices := listed(c.infos, func(k gpu.Kind) []error { return c.missing[k] })
		var text strings.Builder
		for _, d := range devices {
			text.WriteString(d.String())
		}
		encoded, err := json.Marshal(devices)
		if err != nil {
			t.Fatal(err)
		}
		for _, want := range c.want {
			if !strings.Contains(text.String(), want) {
				t.Errorf("%s: the list lacks %q:\n%s", name, want, &text)
			}
		}
		for _, want := range c.json {
			if !strings.Contains(string(encoded), want) {
				t.Errorf("%s: the JSON lacks %s:\n%s", name, want, encoded)
			}
		}
	}
}
