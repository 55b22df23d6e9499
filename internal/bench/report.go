package bench

import (
	"fmt"
	"io"
	"math"
	"slices"
	"strings"
	"unicode/utf8"

	"github.com/boxsum/boxsum"
	"github.com/boxsum/boxsum/internal/measure"
)

// WriteTable writes the results of [Run] as text: a row for every table, with
// the limits beside it.
func WriteTable(w io.Writer, results []Result) error {
	types := 15
	for _, r := range results {
		types = max(types, len(r.Case().String())+1)
	}
	lead := fmt.Sprintf("%%-%ds%%-14s", types) // types and size
	t := textTable{w: w, lead: types + 14}
	columns := []string{"workers", "best ms", "mean ms", "GB/s", "of limit", "fill+read", "fill", "copy"}
	beside := slices.ContainsFunc(results, func(r Result) bool { return r.is(Upright) })
	if beside {
		columns = append(columns, "upright", "of upright")
	}
	t.head(fmt.Sprintf(lead, "types", "size"), columns...)
	for _, r := range results {
		if !r.is(Boxsum) || r.LeftOut != "" {
			continue
		}
		limit := func(name string) float64 { return find(results, name, r).Min }
		cells := []string{fmt.Sprint(r.Workers), ms(r.Min), ms(r.Mean), number(r.GBPerSecond(), "%.1f"),
			percent(limit(LimitFillRead), r.Min), ms(limit(LimitFillRead)), ms(limit(LimitFill)), ms(limit(LimitCopy))}
		if beside {
			upright := limit(Upright)
			cells = append(cells, ms(upright), percent(r.Min, upright))
		}
		t.row(fmt.Sprintf(lead, r.Case(), r.Size), cells...)
	}
	for _, r := range results {
		if r.LeftOut != "" {
			t.line(r.line())
		}
	}
	t.line("")
	t.line("The limit is fill+read: the pixels read once and as many bytes as the table has written once, past the caches.")
	t.line("fill writes these bytes alone; copy moves as many bytes as fill+read, half of them read and half written.")
	t.line("More than 100% of the limit is what the caches add to it.")
	if beside {
		t.line("upright is the upright table of the same pixels, in turn with the other, and of upright how many times as long the other takes.")
	}
	return t.err
}

// find is the result of an algorithm that goes with another's, or one without
// a time.
func find(results []Result, algorithm string, with Result) Result {
	i := slices.IndexFunc(results, func(r Result) bool {
		return r.is(algorithm) && r.Case() == with.Case() && r.Size == with.Size && r.Workers == with.Workers
	})
	if i < 0 {
		return Result{Times: measure.Times{Min: math.NaN()}}
	}
	return results[i]
}

// A peersReport is the text of [Peers], written as it comes.
type peersReport struct {
	textTable
	all  int // workers that all cores are
	last Case
}

func newPeersReport(w io.Writer, p *plan, peers *measure.Peers) *peersReport {
	r := &peersReport{textTable: textTable{w: w, lead: 14}, all: slices.Max(p.Workers)}
	level := p.Level
	if level == (Config{}).Level {
		levels := boxsum.Levels()
		level = levels[len(levels)-1]
	}
	r.line(fmt.Sprintf("boxsum: %v, workers: %d", level, r.all))
	names := []string{OpenCV, ScikitImage}
	if slices.ContainsFunc(p.Cases, Case.Volume) {
		names = []string{NumPy}
	}
	for _, name := range names {
		if about, ok := peers.Known[name]; ok {
			r.line(fmt.Sprintf("%s: %s, threads: %d", name, about.Version, about.Workers))
		}
	}
	for _, missing := range peers.Missing {
		r.line("left out, " + missing)
	}
	r.line("")
	r.line(fmt.Sprintf("Times are in ms, best of %d. All take turns in one run on the same pixels, tables found equal first.", p.Repeat))
	r.line("ratio is OpenCV's time over ours: with all cores, and with one worker.")
	if slices.ContainsFunc(p.Cases, Case.Volume) {
		r.line("Of the table of a volume, it is the time of NumPy's three cumsums over ours.")
	}
	r.line("Limits, past the caches: fill+read reads the pixels and writes as many bytes as the table has; fill only writes;")
	r.line("copy moves as many bytes as fill+read, half read and half written. of limit is fill+read's time over ours; over 100%, the caches helped.")
	if slices.ContainsFunc(p.Cases, Case.Tilted) {
		r.line("Of a tilted table, OpenCV's time is what cv2.integral3 takes over cv2.integral2; upright is our upright table, in turn with it.")
	}
	return r
}

func (r *peersReport) row(c Case, size Size, results []Result) {
	if c != r.last {
		r.last = c
		r.line("")
		columns := append([]string(nil), "boxsum", "1 worker", peerOf(c), "ratio", "ratio 1",
			"fill+read", "of limit", "fill+read 1", "of limit 1", "fill", "copy")
		switch {
		case c.Tilted():
			columns = append(columns, "upright", "of upright", "upright 1", "of upright 1")
		case !c.Volume():
			columns = append(columns, "scikit-image")
		}
		r.head(c.String(), columns...)
	}
	time := func(algorithm string, workers int) float64 {
		for _, r := range results {
			if r.is(algorithm) && (workers == 0 || r.Workers == workers) {
				return r.Min
			}
		}
		return math.NaN()
	}
	all, one, opencv := time(Boxsum, r.all), time(Boxsum, 1), time(strings.ToLower(peerOf(c)), 0)
	limit, limitOne := time(LimitFillRead, r.all), time(LimitFillRead, 1)
	cells := []string{ms(all), ms(one), ms(opencv), number(opencv/all, "%.2f"), number(opencv/one, "%.2f"),
		ms(limit), percent(limit, all), ms(limitOne), percent(limitOne, one),
		ms(time(LimitFill, r.all)), ms(time(LimitCopy, r.all))}
	if c.Tilted() {
		upright, uprightOne := time(Upright, r.all), time(Upright, 1)
		cells = append(cells, ms(upright), percent(all, upright), ms(uprightOne), percent(one, uprightOne))
	} else if !c.Volume() {
		cells = append(cells, ms(time(ScikitImage, 0)))
	}
	r.textTable.row(size.Name, cells...)
}

// peerOf is who a case is compared with, and in lower case its algorithm.
func peerOf(c Case) string {
	if c.Volume() {
		return "NumPy"
	}
	return "OpenCV"
}

// ms is a time with four digits that count, or a dash for none.
func ms(t float64) string {
	switch {
	case t < 10:
		return number(t, "%.3f")
	case t < 100:
		return number(t, "%.2f")
	default:
		return number(t, "%.1f")
	}
}

func percent(a, b float64) string { return number(100*a/b, "%.0f%%") }

func number(f float64, format string) string {
	if math.IsNaN(f) || math.IsInf(f, 0) {
		return "–"
	}
	return fmt.Sprintf(format, f)
}

// A textTable writes aligned rows one at a time, so that a row can be read
// when it is made. It keeps its first error, and is silent without a writer.
type textTable struct {
	w      io.Writer
	lead   int // width of the first column, which is flush left
	widths []int
	err    error
}

// head starts a table: the names of its columns make room for their cells.
func (t *textTable) head(lead string, columns ...string) {
	t.widths = nil
	for _, c := range columns {
		t.widths = append(t.widths, max(10, utf8.RuneCountInString(c)+2))
	}
	t.row(lead, columns...)
}

func (t *textTable) row(lead string, cells ...string) {
	var b strings.Builder
	fmt.Fprintf(&b, "%-*s", t.lead, lead)
	for i, cell := range cells {
		fmt.Fprintf(&b, "%*s", t.widths[i], cell)
	}
	t.line(b.String())
}

func (t *textTable) line(s string) {
	if t.w == nil || t.err != nil {
		return
	}
	_, t.err = fmt.Fprintln(t.w, s)
}
