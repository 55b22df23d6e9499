package reproduce

import (
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/boxsum/boxsum/lab/measure"
)

// Boxsum is the [Spec.Algorithm] of this library's own engine, and DeviceCopy
// that of a copy of an image's and a table's bytes on a device, which is what
// memory alone would take.
const (
	Boxsum     = "boxsum"
	DeviceCopy = "device copy"
)

// A Spec is something to measure.
type Spec struct {
	Algorithm string `json:"algorithm"` // of package papers, Boxsum or DeviceCopy
	GPU       bool   `json:"gpu"`       // on the device, and not on the processor
	Precision string `json:"precision"` // f32, f32x4, f64, u32; u8 makes sums of u32
	Size
	Threads int    `json:"threads,omitempty"` // on the processor
	Group   int    `json:"group,omitempty"`   // threads of a block on the device
	Images  int    `json:"images,omitempty"`  // that go through together
	Table   string `json:"table,omitempty"`   // tilted or rotated, if not upright
	Host    bool   `json:"host,omitempty"`    // from host memory to host memory
	Cycles  int    `json:"cycles,omitempty"`  // that are timed together, after a start
	Kernels bool   `json:"kernels,omitempty"` // each kernel alone, too
	Runs    int    `json:"-"`                 // as often as published
}

// same reports whether another spec asks for the same, be it more often.
func (s Spec) same(o Spec) bool {
	s.Runs, o.Runs = 0, 0
	return s == o
}

// At is a spec at a size, Step with a number of threads, or of threads a block, and others with
// what their names say.
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

// addSpec adds what is not there yet.
func addSpec(specs []Spec, s Spec) []Spec {
	if i := slices.IndexFunc(specs, s.same); i >= 0 {
		specs[i].Runs = max(specs[i].Runs, s.Runs)
		return specs
	}
	return append(specs, s)
}

// String says what is measured, for people.
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

// values is how many values the pixels have: four for each of f32x4.
func (s Spec) values() float64 {
	v := s.Pixels() * float64(max(s.Images, 1))
	if strings.HasSuffix(s.Precision, "x4") {
		v *= 4
	}
	return v
}

// A Result is what was measured of a Spec, in milliseconds.
type Result struct {
	Spec
	On      string `json:"on"` // cpu, cuda or opencl
	StandIn bool   `json:"stand_in,omitempty"`
	Runs    int    `json:"runs"`
	measure.Times
	Median float64 `json:"median_ms"`

	// Verified says that every entry was found right before the times were
	// taken.
	Verified bool `json:"verified"`

	// Missing says why there are no times, and Wrong that it is because the
	// result was.
	Missing string `json:"missing,omitempty"`
	Wrong   bool   `json:"wrong,omitempty"`

	// Each is the kernels of one run, where they were asked for.
	Each []Kernel `json:"each_kernel,omitempty"`
}

// A Kernel is what one kernel of an algorithm took from the device.
type Kernel struct {
	Name      string  `json:"name"`
	Median    float64 `json:"median_ms"`
	Bytes     int64   `json:"bytes"` // read and written
	Threads   int     `json:"threads"`
	Registers int     `json:"registers"`
	Shared    int     `json:"shared_bytes"`
	Occupancy float64 `json:"occupancy"`
}

// GBPerSecond is how fast the kernel moved its bytes.
func (k Kernel) GBPerSecond() float64 { return float64(k.Bytes) / k.Median / 1e6 }

// longest is more milliseconds than anyone waits for a table: eleven days.
const longest = 1e9

// believable says why a result that was read cannot have been measured.
func (r Result) believable() error {
	if r.Width < 1 || r.Height < 1 {
		return errors.New("there is no such image")
	}
	if r.Runs < 0 {
		return fmt.Errorf("%d runs", r.Runs)
	}
	if !r.OK() {
		return nil
	}
	if r.Wrong || !r.Verified && r.Algorithm != DeviceCopy {
		return errors.New("it has times, but was not verified")
	}
	times := []float64{r.Mean, r.Min, r.Max, r.Median}
	for _, k := range r.Each {
		times = append(times, k.Median)
	}
	for _, ms := range times {
		if !(ms >= 0 && ms <= longest) {
			return fmt.Errorf("a time of %v ms", ms)
		}
	}
	return nil
}

// withTimes fills in the statistics.
func (r Result) withTimes(times []time.Duration) Result {
	r.Runs, r.Times, r.Median = len(times), measure.TimesOf(times), measure.Median(times)
	return r
}

// OK reports whether there is a time.
func (r Result) OK() bool { return r.Runs > 0 }
