package reproduce

import (
	"fmt"
	"math"
	"strings"

	"github.com/boxsum/boxsum/papers"
)

// PerValue returns the time per value in ps, and ValueText the same with its unit.
func (v *view) PerValue(s Spec) float64 { return 1e9 * v.MS(s) / s.values() }

func (v *view) ValueText(size Size, s Spec) string {
	ps := v.PerValue(s.At(size))
	if ps >= 1000 {
		return number(ps/1000) + " ns"
	}
	return number(ps) + " ps"
}

// OurCost returns the reads and writes of boxsum's kernels: OpenCL has only the portable ones.
func (v *view) OurCost() papers.Cost {
	if v.machine.Kind == "cuda" {
		return papers.Cost{Reads: 1, Writes: 1}
	}
	return papers.Cost{Reads: 2, Writes: 1}
}

// costOf returns the reads and writes of an algorithm, and costText describes them in a cell.
func costOf(s Spec) papers.Cost {
	a, err := papers.Find(s.Algorithm)
	if err != nil {
		return papers.Cost{Reads: math.NaN(), Writes: math.NaN()}
	}
	return a.Cost(s.Width, s.Height)
}

func costText(s Spec) string {
	c := costOf(s)
	return fmt.Sprintf("%.3g + %.3g", c.Reads, c.Writes)
}

// Rate returns GB/s, and OurRate that of a result of boxsum.
func (v *view) Rate(s Spec) float64 { return rate(v.Get(s), costOf(s)) }

func (v *view) OurRate(r Result) float64 { return rate(r, v.OurCost()) }

func rate(r Result, c papers.Cost) float64 {
	bytes := 4.0
	if r.Precision == "f64" {
		bytes = 8
	}
	return r.values() * bytes * (c.Reads + c.Writes) / r.orNaN(Result.median) / 1e6
}

// KernelRate returns the rate at which a kernel of a result moves its bytes.
func (v *view) KernelRate(r Result, k Kernel) string {
	switch {
	case k.Median > 0 && k.Bytes > 0:
		return number(k.GBPerSecond())
	case len(r.Each) == 1: // the kernel is the whole run
		return number(v.OurRate(r))
	}
	return "–"
}

// Title returns the name of a kernel in table 1 of Bilgic et al.
func (k Kernel) Title(algorithm string) string {
	if algorithm == Boxsum {
		return "boxsum: " + k.Name
	}
	for ours, theirs := range map[string]string{"scan": "Scan array", "increment": "Increment block", "transpose": "Transpose"} {
		if strings.Contains(k.Name, ours) {
			return theirs
		}
	}
	return k.Name
}

// OccupancyText returns the occupancy as a percentage, if the driver reports it.
func (k Kernel) OccupancyText() string {
	if k.Occupancy > 0 {
		return percent(k.Occupancy)
	}
	return "–"
}

func percent(share float64) string {
	if math.IsNaN(share) || math.IsInf(share, 0) {
		return "–"
	}
	return fmt.Sprintf("%.0f%%", 100*share)
}

// count formats a number of things.
func count(n int, what string) string {
	if n == 1 {
		return "1 " + what
	}
	return fmt.Sprintf("%d %ss", n, what)
}
