package main

import (
	"fmt"
	"strconv"
	"strings"
	"time"

	"github.com/boxsum/boxsum"
	"github.com/boxsum/boxsum/gpu"
)

// A report is what integrate says it did.
type report struct {
	extent
	Types        string  `json:"types"`               // as in u8:u32, or u8:u32+u64+tilted
	Algorithm    string  `json:"algorithm,omitempty"` // a published one; its table was checked
	On           string  `json:"on"`
	Device       string  `json:"device,omitempty"`         // the name of a GPU
	Level        string  `json:"level,omitempty"`          // of the CPU
	Workers      int     `json:"workers,omitempty"`        // of the CPU
	RowByRow     bool    `json:"row_by_row,omitempty"`     // with the time of writing the file
	SliceBySlice bool    `json:"slice_by_slice,omitempty"` // the same of a volume, with the time of reading too
	Milliseconds float64 `json:"ms"`
	Bytes        int64   `json:"bytes"` // pixels read and sums written
	GBPerSecond  float64 `json:"gb_per_s"`
	Out          string  `json:"out,omitempty"`
}

func newReport(work job, d *gpu.Device, opt *boxsum.Options, took time.Duration, out string) report {
	took = max(took, 1) // a coarse clock may not have moved
	size := work.size()
	r := report{
		extent: size, Types: work.types(), Out: out,
		RowByRow: work.streamed() && size.Depth == 0, SliceBySlice: work.streamed() && size.Depth > 0,
	}
	if d != nil {
		r.On, r.Device = d.Info().Kind.String(), d.Info().Name
	} else {
		r.On, r.Level, r.Workers = "cpu", opt.Level.String(), work.workers(opt)
		if opt.Level == *new(boxsum.Level) {
			r.Level = theCPU().Level
		}
	}
	r.Milliseconds = float64(took) / float64(time.Millisecond)
	r.Bytes = work.read() + work.written()
	r.GBPerSecond = float64(r.Bytes) / float64(took) // bytes in a nanosecond
	return r
}

// String is the report in one line.
func (r report) String() string {
	var b strings.Builder
	fmt.Fprintf(&b, "%v %s", r.extent, strings.Replace(r.Types, ":", "→", 1))
	if r.RowByRow {
		b.WriteString(", row by row")
	}
	if r.SliceBySlice {
		b.WriteString(", slice by slice")
	}
	if r.Algorithm != "" {
		fmt.Fprintf(&b, ", %s (verified)", r.Algorithm)
	}
	if r.Device != "" {
		fmt.Fprintf(&b, ", %s on %s", r.On, escape(r.Device))
	} else if r.Level == "" {
		fmt.Fprintf(&b, ", %s", count(r.Workers, "worker"))
	} else {
		fmt.Fprintf(&b, ", %s on %s", r.Level, count(r.Workers, "worker"))
	}
	fmt.Fprintf(&b, ", %s ms, %s GB/s", rounded(r.Milliseconds), rounded(r.GBPerSecond))
	if r.Out != "" {
		fmt.Fprintf(&b, " → %s", nameOf(r.Out))
	}
	return b.String()
}

// rounded is a number with the three digits that count, written out.
func rounded(x float64) string {
	if near, err := strconv.ParseFloat(strconv.FormatFloat(x, 'g', 3, 64), 64); err == nil {
		x = near
	}
	return strconv.FormatFloat(x, 'f', -1, 64)
}

func count(n int, of string) string {
	if n == 1 {
		return "1 " + of
	}
	return fmt.Sprintf("%d %ss", n, of)
}
