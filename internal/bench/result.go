package bench

import (
	"cmp"
	"encoding/json"
	"io"
	"math"
	"slices"
	"strings"
	"time"

	"github.com/boxsum/boxsum/internal/launch"
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
)

// What [Result.Algorithm] says of a device. A version follows the name of a
// peer.
const (
	EndToEnd        = "boxsum, host to host"
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
	Width     int    `json:"width"`
	Height    int    `json:"height"`
	Depth     int    `json:"depth,omitempty"` // of a volume
	Channels  int    `json:"channels"`
	Workers   int    `json:"workers"`

	// Repeat is how many runs the times are of, in milliseconds.
	Repeat int     `json:"repeat"`
	Mean   float64 `json:"mean_ms"`
	Min    float64 `json:"min_ms"`
	Max    float64 `json:"max_ms"`

	// Median is of devices only, whose best run says little.
	Median float64 `json:"median_ms,omitempty"`

	// Batch is how many images went in one go, where it is more than one.
	Batch int `json:"batch,omitempty"`

	// Bytes is what has to be read and written, once each.
	Bytes int64 `json:"bytes"`

	// Verified says that all entries of the table were found right before it
	// was timed. Limits make no table.
	Verified bool `json:"verified"`

	// Kernels is what made the table on a device, the work of copies apart.
	Kernels []Kernel `json:"kernels,omitempty"`

	// LeftOut says why this was not measured, if it was not. Repeat and the times
	// are zero then.
	LeftOut string `json:"left_out,omitempty"`
	cause   error

	// Size is the size's name.
	Size string `json:"-"`
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

func kernelsOf(infos []launch.KernelInfo) []Kernel {
	var kernels []Kernel
	for _, k := range infos {
		kernels = append(kernels, Kernel{k.Name, k.Registers, k.Shared, k.Local, k.Threads, k.Blocks, k.Resident, k.Occupancy})
	}
	return kernels
}

func newResult(algorithm string, c Case, size Size, workers int, bytes int64, verified bool) Result {
	return Result{
		Algorithm: algorithm, On: "cpu", Types: c.Types, Width: size.Width, Height: size.Height, Depth: size.Depth,
		Channels: c.Channels, Workers: workers, Bytes: bytes, Verified: verified, Size: size.Name,
	}
}

// GBPerSecond is how fast the bytes moved in the run that counts: the best one,
// and on a device the median.
func (r Result) GBPerSecond() float64 { return float64(r.Bytes) / cmp.Or(r.Median, r.Min) / 1e6 }

// Case is the case that was measured.
func (r Result) Case() Case { return Case{Types: r.Types, Channels: r.Channels} }

// is says whether a result is of an algorithm, whatever its level or version.
func (r Result) is(algorithm string) bool {
	rest, ok := strings.CutPrefix(r.Algorithm, algorithm)
	return ok && (rest == "" || rest[0] == ' ')
}

func (r Result) withTimes(times []time.Duration) Result {
	r.Repeat, r.Mean, r.Min, r.Max = len(times), 0, math.Inf(1), 0
	for _, d := range times {
		ms := float64(d) / float64(time.Millisecond)
		r.Mean += ms / float64(len(times))
		r.Min, r.Max = min(r.Min, ms), max(r.Max, ms)
	}
	if r.On != "cpu" {
		r.Median = median(times)
	}
	return r
}

// median is the time in the middle, in milliseconds.
func median(times []time.Duration) float64 {
	sorted := slices.Sorted(slices.Values(times))
	half := len(sorted) / 2
	middle := sorted[half]
	if len(sorted)%2 == 0 {
		middle = (sorted[half-1] + middle) / 2
	}
	return float64(middle) / float64(time.Millisecond)
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
