package bench

import (
	"fmt"
	"slices"

	"github.com/boxsum/boxsum/papers"
)

// An algorithmsReport is the text of [Algorithms], written as it comes.
type algorithmsReport struct {
	textTable
	many bool
}

func newAlgorithmsReport(cfg AlgorithmsConfig, p *plan) *algorithmsReport {
	r := &algorithmsReport{textTable: textTable{w: cfg.Out, lead: 46}}
	onGPU := func(a AlgorithmCase) bool { return a.Place == papers.GPU }
	if slices.ContainsFunc(cfg.Algorithms, onGPU) {
		r.line(aboutDevice(cfg.Device))
		r.line("")
	}
	r.line(fmt.Sprintf("Times are in ms of %d runs, each in turn with boxsum on the same pixels: the best on a CPU, and on a device the median by its own events.", p.Repeat))
	r.line("GB/s is of the pixels and the table, once each, whatever an algorithm reads and writes. × boxsum is its time over boxsum's.")
	r.line("Every table was compared with a plain reference first.")
	r.line("")
	r.head(fmt.Sprintf("%-32s%-14s", "algorithm", "size"), "on", "workers", "ms", "mean", "GB/s", "boxsum", "× boxsum")
	return r
}

func (r *algorithmsReport) row(a AlgorithmCase, pair []Result) {
	theirs, ours := pair[0], pair[1]
	workers, size := "–", theirs.Size.String()
	if theirs.Workers > 0 {
		workers = fmt.Sprint(theirs.Workers)
	}
	if theirs.Batch > 1 {
		r.many = true
		size = fmt.Sprintf("%d of %s", theirs.Batch, size)
	}
	took, own := theirs.counted(), ours.counted()
	r.textTable.row(fmt.Sprintf("%-32s%-14s", a, size), theirs.On, workers, ms(took), ms(theirs.Mean), number(theirs.GBPerSecond(), "%.1f"), ms(own), number(took/own, "%.2f"))
}

// end explains what needs it.
func (r *algorithmsReport) end() error {
	if r.many {
		r.line("")
		r.line("Many images go from page-locked memory to page-locked memory, by the clock on the wall; boxsum's is its pipeline.")
	}
	return r.err
}
