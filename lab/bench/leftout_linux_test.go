package bench

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/boxsum/boxsum"
	"github.com/boxsum/boxsum/gpu"
	"github.com/boxsum/boxsum/internal/launch"
	"github.com/boxsum/boxsum/lab/measure"
)

// lacking is a case whose types no device has in this test.
var lacking = Case{Types: "u16:u64", Channels: 1}

func lack(c Case) error {
	if c == lacking {
		return fmt.Errorf("%w: this device has no such types", boxsum.ErrTypes)
	}
	return nil
}

var (
	smallSize = Size{Name: "5x4", Width: 5, Height: 4}
	hugeSize  = Size{Name: "huge", Width: measure.MaxSide, Height: measure.MaxSide} // does not fit the host's memory
)

// TestLeftOut tests that what cannot be measured is left out, in the report and in JSON, and that the rest continues.
func TestLeftOut(t *testing.T) {
	d := openDevice(t)
	list, err := ParseAlgorithms("intimg", false)
	if err != nil {
		t.Fatal(err)
	}
	u8 := Case{Types: "u8:u32", Channels: 1}
	for name, c := range map[string]struct {
		cases []Case
		left  int // number of results left out
		run   func(cfg Config, out *strings.Builder) ([]Result, error)
	}{
		"gpu": {[]Case{lacking, u8}, 3, func(cfg Config, out *strings.Builder) ([]Result, error) {
			cfg.Device, cfg.Out = d, out
			return GPU(t.Context(), cfg)
		}},
		"pipeline": {[]Case{lacking, u8}, 3, func(cfg Config, out *strings.Builder) ([]Result, error) {
			cfg.Device, cfg.Batch, cfg.Out = d, 3, out
			return Pipeline(t.Context(), cfg)
		}},
		"cpu": {[]Case{u8}, 1, func(cfg Config, out *strings.Builder) ([]Result, error) {
			results, err := Run(t.Context(), cfg)
			return results, errors.Join(err, WriteTable(out, results))
		}},
		"algorithms": {nil, 1, func(cfg Config, out *strings.Builder) ([]Result, error) {
			cfg.Algorithms, cfg.Out = list[:1], out
			return Algorithms(t.Context(), cfg)
		}},
	} {
		t.Run(name, func(t *testing.T) {
			var out strings.Builder
			var last Progress
			cfg := Config{Sizes: []Size{hugeSize, smallSize}, Cases: c.cases, Workers: []int{1}, Repeat: 3, lacks: lack, Progress: func(p Progress) { last = p }}
			results, err := c.run(cfg, &out)
			if err != nil {
				t.Fatal(err)
			}
			left := slices.DeleteFunc(slices.Clone(results), func(r Result) bool { return r.LeftOut == "" })
			if len(left) != c.left || len(left) == len(results) || strings.Count(out.String(), "left out") != c.left {
				t.Errorf("%d of %d results are left out, want %d:\n%s", len(left), len(results), c.left, &out)
			}
			if last.Done != last.Total {
				t.Errorf("ends after %d of %d", last.Done, last.Total)
			}
			for _, r := range results {
				if (r.LeftOut == "") != (r.Repeat == 3) || strings.Contains(r.LeftOut, "\n") {
					t.Errorf("odd result %+v", r)
				}
			}
			var encoded bytes.Buffer
			if err := WriteJSON(&encoded, results); err != nil {
				t.Fatal(err)
			}
			if n := strings.Count(encoded.String(), `"left_out": "`); n != c.left {
				t.Errorf("%d are left out, want %d:\n%s", n, c.left, &encoded)
			}
			Plots(results)
			cfg.Sizes = cfg.Sizes[:1]
			if results, err = c.run(cfg, &out); err == nil || !strings.Contains(err.Error(), "nothing could be measured: ") {
				t.Errorf("no results: error is %v", err)
			}
			Plots(results)
		})
	}
}

// TestLeavesOut tests that insufficient memory of a device leaves a size out, too.
func TestLeavesOut(t *testing.T) {
	for _, err := range []error{boxsum.ErrMemory, boxsum.ErrTypes, Case{Types: "u8:u32", Channels: 1}.FitMemory(hugeSize, 1)} {
		if !leavesOut(fmt.Errorf("somewhere: %w", err)) {
			t.Errorf("%v ends everything", err)
		}
	}
	for _, err := range []error{nil, boxsum.ErrClosed, gpu.ErrNoDevice, boxsum.ErrInvalid} {
		if leavesOut(err) {
			t.Errorf("%v is only left out", err)
		}
	}
}

// TestKernelsInJSON tests that JSON contains the values of kernels in the report.
func TestKernelsInJSON(t *testing.T) {
	d := openDevice(t)
	results, err := GPU(t.Context(), Config{Device: d, Sizes: []Size{smallSize}, Cases: []Case{{Types: "u8:u32", Channels: 1}}, Repeat: 1})
	if err != nil {
		t.Fatal(err)
	}
	var encoded bytes.Buffer
	if err := WriteJSON(&encoded, results); err != nil {
		t.Fatal(err)
	}
	var decoded []struct {
		Algorithm string
		Kernels   []map[string]any
	}
	if err := json.Unmarshal(encoded.Bytes(), &decoded); err != nil {
		t.Fatal(err)
	}
	for _, r := range decoded {
		if (r.Algorithm == Boxsum) != (len(r.Kernels) > 0) {
			t.Errorf("%s has the kernels %v", r.Algorithm, r.Kernels)
		}
		for _, k := range r.Kernels {
			fields := []string{"name", "threads", "blocks", "shared_bytes"}
			if d.Info().Kind == gpu.CUDA {
				fields = append(fields, "registers", "resident_blocks", "occupancy")
			}
			for _, field := range fields {
				if _, ok := k[field]; !ok {
					t.Errorf("a kernel lacks %s: %v", field, k)
				}
			}
		}
	}
}

func TestKernelsOf(t *testing.T) {
	info := launch.KernelInfo{Name: "k", Blocks: 1, Threads: 2, Registers: 3, Shared: 4, Local: 5, Resident: 6, Occupancy: 0.5}
	text, err := json.Marshal(kernelsOf([]launch.KernelInfo{info}))
	want := `[{"name":"k","registers":3,"shared_bytes":4,"local_bytes":5,"threads":2,"blocks":1,"resident_blocks":6,"occupancy":0.5}]`
	if err != nil || string(text) != want {
		t.Errorf("%s, %v, want %s", text, err, want)
	}
}
