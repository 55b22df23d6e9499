package reproduce

import (
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/boxsum/boxsum/lab/measure"
)

// Boxsum is the [Spec.Algorithm] of this library's own engine. DeviceCopy copies the bytes of an
// image and a table on a device, which shows the cost of memory traffic alone.
const (
	Boxsum     = "boxsum"
	DeviceCopy = "device copy"
)

// A Spec describes something to measure.
type Spec struct {
	Algorithm string `json:"algorithm"` // of package papers, Boxsum or DeviceCopy
	GPU       bool   `json:"gpu"`       // on the device instead of the processor
	Precision string `json:"precision"` // f32, f32x4, f64, u32; u8 sums to u32
	Size
	Threads int    `json:"threads,omitempty"` // on the processor
	Group   int    `json:"group,omitempty"`   // threads per block on the device
	Images  int    `json:"images,omitempty"`  // number of images processed together
	Table   string `json:"table,omitempty"`   // tilted or rotated, if not upright
	Host    bool   `json:"host,omitempty"`    // from host memory to host memory
	Cycles  int    `json:"cycles,omitempty"`  // number of runs timed together, from a cold start
	Kernels bool   `json:"kernels,omitempty"` // also measure each kernel alone
	Runs    int    `json:"-"`                 // published number of runs
}

// same reports whether two specs are equal except for the number of runs.
func (s Spec) same(o Spec) bool {
	s.Runs, o.Runs = 0, 0
	return s == o
}

// At returns a copy of the spec with another size. Step returns one with another number of
// threads, or of threads per block; each of the other methods sets the option in its name.
func (s Spec) At(size Size) Spec       { s.Size = size; return s }
func (s Spec) Hosted() Spec            { s.Host = true; return s }
func (s Spec) WithKernels() Spec       { s.Kernels = true; return s }
func (s Spec) WithTable(t string) Spec { s.Table = t; return s }
func (s Spec) WithImages(n int) Spec   { s.Images = n; return s }
func (s Spec) WithCycles(n int) Spec   { s.Cycles, s.Runs = n, 3; return s }
func (s Spec) Step(n int) Spec {
	if s.GPU {
		s.Group = n
	} else {
		s.Threads = n
	}
	return s
}

// addSpec adds a spec unless the list contains it.
func addSpec(specs []Spec, s Spec) []Spec {
	if i := slices.IndexFunc(specs, s.same); i >= 0 {
		specs[i].Runs = max(specs[i].Runs, s.Runs)
		return specs
	}
	return append(specs, s)
}

// String returns a description of the spec.
func (s Spec) String() string {
	text := fmt.Sprintf("%s %s %v", s.Algorithm, s.Precision, s.Size)
	for _, part := range []struct {
		n    int
		unit string
	}{{s.Threads, "thread"}, {s.Images, "image"}, {s.Cycles, "cycle"}} {
		if part.n > 0 {
			text += ", " + count(part.n, part.unit)
		}
	}
	if s.Group > 0 {
		text += fmt.Sprintf(", blocks of %d", s.Group)
	}
	return text
}

// values returns the number of values in the pixels: four per pixel for f32x4.
func (s Spec) values() float64 {
	v := s.Pixels() * float64(max(s.Images, 1))
	if strings.HasSuffix(s.Precision, "x4") {
		v *= 4
	}
	return v
}

// A Result holds the measurements of a Spec, in milliseconds.
type Result struct {
	Spec
	On      string `json:"on"` // cpu, cuda or opencl
	StandIn bool   `json:"stand_in,omitempty"`
	Runs    int    `json:"runs"`
	measure.Times
	Median float64 `json:"median_ms"`

	// Verified reports whether every entry was correct before the times were taken.
	Verified bool `json:"verified"`

	// Missing is the reason why there are no times, if any. Wrong reports whether the reason is a
	// wrong result.
	Missing string `json:"missing,omitempty"`
	Wrong   bool   `json:"wrong,omitempty"`

	// Each holds the kernels of one run, if they were requested.
	Each []Kernel `json:"each_kernel,omitempty"`
}

// A Kernel holds the measurements of one kernel of an algorithm on the device.
type Kernel struct {
	Name      string  `json:"name"`
	Median    float64 `json:"median_ms"`
	Bytes     int64   `json:"bytes"` // read and written
	Threads   int     `json:"threads"`
	Registers int     `json:"registers"`
	Shared    int     `json:"shared_bytes"`
	Occupancy float64 `json:"occupancy"`
}

// GBPerSecond returns the rate at which the kernel moved its bytes.
func (k Kernel) GBPerSecond() float64 { return float64(k.Bytes) / k.Median / 1e6 }

// longest is an implausibly long time for a table in milliseconds: eleven days.
const longest = 1e9

// believable returns an error if a result that was read cannot have been measured.
func (r Result) believable() error {
	if r.Width < 1 || r.Height < 1 {
		return fmt.Errorf("size is %d×%d, want at least 1×1", r.Width, r.Height)
	}
	if r.Runs < 0 {
		return fmt.Errorf("number of runs is %d, want 0 or more", r.Runs)
	}
	if !r.OK() {
		return nil
	}
	if r.Wrong || !r.Verified && r.Algorithm != DeviceCopy {
		return errors.New("the result has times but was not verified")
	}
	times := []float64{r.Mean, r.Min, r.Max, r.Median}
	for _, k := range r.Each {
		times = append(times, k.Median)
	}
	for _, ms := range times {
		if !(ms >= 0 && ms <= longest) {
			return fmt.Errorf("time is %v ms, want 0 to %g", ms, float64(longest))
		}
	}
	return nil
}

// withTimes fills in the statistics.
func (r Result) withTimes(times []time.Duration) Result {
	r.Runs, r.Times, r.Median = len(times), measure.TimesOf(times), measure.Median(times)
	return r
}

// OK reports whether the result has a time.
func (r Result) OK() bool { return r.Runs > 0 }
