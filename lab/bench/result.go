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

// What [Result.Algorithm] says. A level that was asked for follows the name of
// ours, and a version that of a peer.
const (
	Boxsum        = "boxsum"
	OpenCV        = "opencv"
	ScikitImage   = "scikit-image"
	NumPy         = "numpy"
	OpenCVTilted  = "cv2.integral3" // of which OpenCV is what it takes over the next
	OpenCVUpright = "cv2.integral2"
	Upright       = "upright table" // of boxsum, beside a 45° one
	LimitFill     = "limit: streaming fill"
	LimitCopy     = "limit: copy"
	LimitFillRead = "limit: fill and read"

	// Of a device.
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
	LimitDeviceFill = "limit: device fill" // of the table's bytes alone, beside integral histograms
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

	// Repeat is how many runs the times are of.
	Repeat int `json:"repeat"`
	measure.Times

	// Median is the time in the middle, which counts on a device: its best run says little. 95% of the runs took P95
	// at most.
	Median float64 `json:"median_ms"`
	P95    float64 `json:"p95_ms"`

	// Devices is how many devices shared the work, where it is more than one.
	Devices int `json:"devices,omitempty"`

	// Batch is how many images went in one go, where it is more than one.
	Batch int `json:"batch,omitempty"`

	// Bytes is what has to be read and written, once each.
	Bytes int64 `json:"bytes"`

	// Verified reports that all entries of the table were found right before it
	// was timed. Limits make no table.
	Verified bool `json:"verified"`

	// Kernels is what made the table on a device, the work of copies apart.
	Kernels []Kernel `json:"kernels,omitempty"`

	// LeftOut is why this was not measured, if it was not. Repeat and the times
	// are zero then.
	LeftOut string `json:"left_out,omitempty"`
	cause   error
}

// A Kernel is what one kernel takes from a device. Zero stands for what the driver does
// not tell: OpenCL tells nothing of registers and what follows from them.
type Kernel struct {
	Name      string  `json:"name"`
	Registers int     `json:"registers,omitempty"`       // of a thread
	Shared    int     `json:"shared_bytes"`              // of a block
	Local     int     `json:"local_bytes,omitempty"`     // of a thread, for want of registers
	Threads   int     `json:"threads"`                   // of a block
	Blocks    int     `json:"blocks"`                    // of the launch
	Resident  int     `json:"resident_blocks,omitempty"` // that one multiprocessor runs at once
	Occupancy float64 `json:"occupancy,omitempty"`       // the threads of these, of those that it could run
}

func kernelsOf(infos []launch.KernelInfo) (kernels []Kernel) {
	for _, k := range infos {
		kernels = append(kernels, Kernel{k.Name, k.Registers, k.Shared, k.Local, k.Threads, k.Blocks, k.Resident, k.Occupancy})
	}
	return kernels
}

// newResult is a result without times: of some images on a device, or of one on the
// CPU where that is nil.
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

// GBPerSecond is how fast the bytes moved in the run that counts: the best one,
// and on a device the median.
func (r Result) GBPerSecond() float64 { return float64(r.Bytes) / r.counted() / 1e6 }

// Case is the case that was measured.
func (r Result) Case() Case { return Case{Types: r.Types, Channels: r.Channels} }

// is reports whether a result is of an algorithm, whatever its level or version.
func (r Result) is(algorithm string) bool {
	rest, ok := strings.CutPrefix(r.Algorithm, algorithm)
	return ok && (rest == "" || rest[0] == ' ')
}

// counted is the time that counts, in milliseconds.
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

// leavesOut reports whether an error is about one case or one size, so that others may
// still be measured: memory is too small for it, or a device lacks its types.
func leavesOut(err error) bool {
	return errors.Is(err, boxsum.ErrMemory) || errors.Is(err, boxsum.ErrTypes)
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
