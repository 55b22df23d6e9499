package bench

import (
	"cmp"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"slices"
	"strings"
	"time"

	"github.com/boxsum/boxsum"
	"github.com/boxsum/boxsum/gpu"
	"github.com/boxsum/boxsum/internal/launch"
	"github.com/boxsum/boxsum/lab/measure"
)

// Values of [Result.Algorithm]. boxsum's name is followed by the requested level, if any, and the
// name of another library by its version.
const (
	Boxsum        = "boxsum"
	OpenCV        = "opencv"
	ScikitImage   = "scikit-image"
	NumPy         = "numpy"
	OpenCVTilted  = "cv2.integral3" // OpenCV is its time minus that of the next
	OpenCVUpright = "cv2.integral2"
	Upright       = "upright table" // of boxsum, next to a 45° table
	LimitFill     = "limit: streaming fill"
	LimitCopy     = "limit: copy"
	LimitFillRead = "limit: fill and read"

	// On a device.
	EndToEnd        = "boxsum, host to host"
	EndToEndOne     = "one of the devices, host to host"
	Pipelined       = "boxsum, pipelined"
	PipelinedLocked = "boxsum, pipelined from page-locked images"
	PipelinedInto   = "boxsum, pipelined into page-locked tables"
	PipelinedOwn    = "boxsum, pipelined into tables of the caller's"
	PipelinedNew    = "boxsum, pipelined into new tables"
	NPP             = "npp"
	Torch           = "torch"
	TorchCompile    = "torch.compile"
	CuPy            = "cupy"
	LimitDevice     = "limit: device copy"
	LimitDeviceFill = "limit: device fill" // limit of integral histograms: writes only the bytes of the table
	LimitCopies     = "limit: copies in and out"
)

// A Result is one measured time.
type Result struct {
	Algorithm string `json:"algorithm"`
	On        string `json:"on"`
	Types     string `json:"types"`
	measure.Size
	Channels int `json:"channels"`
	Workers  int `json:"workers"`

	// Repeat is the number of timed runs.
	Repeat int `json:"repeat"`
	measure.Times

	// Median is the median time. It is reported for devices, because their best run is not
	// representative. P95 is the 95th percentile.
	Median float64 `json:"median_ms"`
	P95    float64 `json:"p95_ms"`

	// Devices is the number of devices that shared the work, if more than one.
	Devices int `json:"devices,omitempty"`

	// Batch is the number of images processed together, if more than one.
	Batch int `json:"batch,omitempty"`

	// Bytes is the number of bytes that have to be read or written, counted once each.
	Bytes int64 `json:"bytes"`

	// Verified reports whether all entries of the table were correct before it was timed. Limits
	// make no table.
	Verified bool `json:"verified"`

	// Kernels lists the kernels that made the table on a device, without copies.
	Kernels []Kernel `json:"kernels,omitempty"`

	// LeftOut is the reason why this was not measured, in which case Repeat and the times are zero.
	LeftOut string `json:"left_out,omitempty"`
	cause   error
}

// A Kernel describes the resources of one kernel on a device. Values that the driver does not
// report are zero: OpenCL does not report registers and values that depend on them.
type Kernel struct {
	Name      string  `json:"name"`
	Registers int     `json:"registers,omitempty"`       // per thread
	Shared    int     `json:"shared_bytes"`              // per block
	Local     int     `json:"local_bytes,omitempty"`     // per thread, of registers spilled to memory
	Threads   int     `json:"threads"`                   // per block
	Blocks    int     `json:"blocks"`                    // in the launch
	Resident  int     `json:"resident_blocks,omitempty"` // per multiprocessor
	Occupancy float64 `json:"occupancy,omitempty"`       // threads of resident blocks, as a fraction of the maximum
}

func kernelsOf(infos []launch.KernelInfo) (kernels []Kernel) {
	for _, k := range infos {
		kernels = append(kernels, Kernel{k.Name, k.Registers, k.Shared, k.Local, k.Threads, k.Blocks, k.Resident, k.Occupancy})
	}
	return kernels
}

// newResult returns a result without times, for some images on a device or, if d is nil, for one on
// the CPU.
func newResult(algorithm string, d *gpu.Device, c Case, size Size, workers, images int, verified bool) Result {
	read, written := c.Bytes(size)
	r := Result{
		Algorithm: algorithm, On: "cpu", Types: c.Types, Size: size, Channels: c.Channels, Workers: workers,
		Bytes: int64(images) * (read + written), Verified: verified,
	}
	if d != nil {
		r.On = d.Info().Kind.String()
		if n := len(d.Members()); n > 1 {
			r.Devices = n
		}
	}
	if images > 1 {
		r.Batch = images
	}
	return r
}

// GBPerSecond returns the speed of the best run or, on a device, of the median run.
func (r Result) GBPerSecond() float64 { return float64(r.Bytes) / r.counted() / 1e6 }

// Case returns the case that was measured.
func (r Result) Case() Case { return Case{Types: r.Types, Channels: r.Channels} }

// is reports whether a result is that of an algorithm, of any level or version.
func (r Result) is(algorithm string) bool {
	rest, ok := strings.CutPrefix(r.Algorithm, algorithm)
	return ok && (rest == "" || rest[0] == ' ')
}

// counted returns the reported time in milliseconds.
func (r Result) counted() float64 {
	if r.On == "cpu" {
		return r.Min
	}
	return cmp.Or(r.Median, r.Min)
}

func (r Result) withTimes(times []time.Duration) Result {
	r.Repeat, r.Times = len(times), measure.TimesOf(times)
	r.Median, r.P95 = measure.Median(times), measure.P95(times)
	return r
}

// WriteJSON writes results as an array.
func WriteJSON(w io.Writer, results []Result) error {
	if results == nil {
		results = []Result{}
	}
	e := json.NewEncoder(w)
	e.SetIndent("", "  ")
	return e.Encode(results)
}

// leavesOut reports whether an error concerns only one case or size, so that others can still be
// measured: insufficient memory, or types that a device lacks.
func leavesOut(err error) bool {
	return errors.Is(err, boxsum.ErrMemory) || errors.Is(err, boxsum.ErrTypes)
}

// line describes a result that was left out.
func (r Result) line() string {
	return fmt.Sprint("left out, ", r.Case(), " ", r.Size, ": ", r.LeftOut)
}

// reason returns an error on one line.
func reason(err error) string { return strings.ReplaceAll(err.Error(), "\n", "; ") }

// measured returns an error if everything was left out.
func measured(results []Result) error {
	if len(results) == 0 || slices.ContainsFunc(results, func(r Result) bool { return r.LeftOut == "" }) {
		return nil
	}
	first := results[0]
	return fmt.Errorf("nothing could be measured: %v %s: %w", first.Case(), first.Size, first.cause)
}
