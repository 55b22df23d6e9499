package bench

import (
	_ "embed"
	"fmt"
	"io"
	"math"
	"slices"
	"strings"
	"text/template"
	"unicode/utf8"

	"github.com/boxsum/boxsum/lab/measure"
	"github.com/boxsum/boxsum/papers"
)

//go:embed reports.tmpl
var reportsText string

var texts = template.Must(template.New("").Funcs(template.FuncMap{
	"gib":   func(bytes int64) string { return fmt.Sprintf("%.1f", float64(bytes)/(1<<30)) },
	"works": papers.Works, "algorithms": papers.All, "join": join,
}).Parse(reportsText))

// A report writes text and tables of aligned rows, row by row, so that each can be read when it is
// available. It records its first error, and does nothing without a writer.
type report struct {
	w       io.Writer
	lead    int // width of the left-aligned first column
	widths  []int
	columns []column
	last    Case // case of the current head
	err     error
}

// A column defines the cells of a table's column.
type column struct {
	head string
	cell func(row []Result) string
}

// text writes a text of reports.tmpl.
func (r *report) text(name string, about any) {
	var b strings.Builder
	if err := texts.ExecuteTemplate(&b, name, about); err != nil {
		panic(err) // the text is embedded in the program
	}
	r.write(b.String())
}

// head starts a table.
func (r *report) head(lead string, columns ...column) {
	r.columns = columns
	var names []string
	for _, c := range columns {
		names = append(names, c.head)
	}
	r.names(lead, names...)
}

// headOf starts a new table when the case changes.
func (r *report) headOf(c Case, columns func() []column) {
	if c != r.last {
		r.last = c
		r.line("")
		r.head(c.String(), columns()...)
	}
}

// names starts a table whose columns are wide enough for their names.
func (r *report) names(lead string, names ...string) {
	r.widths = nil
	for _, c := range names {
		r.widths = append(r.widths, max(10, utf8.RuneCountInString(c)+2))
	}
	r.cells(lead, names...)
}

// row writes the cells of some results.
func (r *report) row(lead string, results []Result) {
	var cells []string
	for _, c := range r.columns {
		cells = append(cells, c.cell(results))
	}
	r.cells(lead, cells...)
}

func (r *report) cells(lead string, cells ...string) {
	var b strings.Builder
	fmt.Fprintf(&b, "%-*s", r.lead, lead)
	for i, cell := range cells {
		fmt.Fprintf(&b, "%*s", r.widths[i], cell)
	}
	r.line(b.String())
}

func (r *report) line(s string) { r.write(s + "\n") }

func (r *report) write(s string) {
	if r.w != nil && r.err == nil {
		_, r.err = io.WriteString(r.w, s)
	}
}

// A runner is an algorithm with a number of workers; 0 means any number.
type runner struct {
	algorithm string
	workers   int
}

// find returns the result of a runner, or a result without a time.
func (who runner) find(results []Result) Result {
	i := slices.IndexFunc(results, func(r Result) bool {
		return r.is(who.algorithm) && (who.workers == 0 || r.Workers == who.workers)
	})
	if i < 0 {
		return Result{Times: measure.Times{Min: math.NaN(), Mean: math.NaN()}, Median: math.NaN(), P95: math.NaN()}
	}
	return results[i]
}

// took returns a column of times, ratio one of the ratio of two times, and speed one of GB/s.
func took(head string, format func(float64) string, who runner) column {
	return column{head, func(row []Result) string { return format(who.find(row).counted()) }}
}

// median and p95 return columns of medians and of 95th percentiles.
func median(head string, format func(float64) string, who runner) column {
	return column{head, func(row []Result) string { return format(who.find(row).Median) }}
}

func p95(head string, format func(float64) string, who runner) column {
	return column{head, func(row []Result) string { return format(who.find(row).P95) }}
}

func ratio(head string, format func(float64) string, a, b runner) column {
	return column{head, func(row []Result) string { return format(a.find(row).counted() / b.find(row).counted()) }}
}

func speed(who runner) column {
	return column{"GB/s", func(row []Result) string {
		gbs := who.find(row).GBPerSecond()
		if gbs < 100 {
			return number(gbs, "%.1f")
		}
		return number(gbs, "%.0f") // fast devices need no decimals
	}}
}

// property returns a column with another property of the first result.
func property(head string, text func(Result) string) column {
	return column{head, func(row []Result) string { return text(row[0]) }}
}

func gbPerSecond(r Result) string { return number(r.GBPerSecond(), "%.1f") }

// ms formats a time with four significant digits, or a dash if there is none; fine formats the
// shorter times of devices.
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

func fine(t float64) string {
	if t < 1 {
		return number(t, "%.4f")
	}
	return ms(t)
}

func percent(share float64) string { return number(100*share, "%.0f%%") }

// digits returns a function that formats numbers.
func digits(format string) func(float64) string {
	return func(f float64) string { return number(f, format) }
}

func number(f float64, format string) string {
	if math.IsNaN(f) || math.IsInf(f, 0) {
		return "–"
	}
	return fmt.Sprintf(format, f)
}

// WriteTable writes the results of [Run] as text that fits 80 columns, with a row for every table.
// The JSON also contains the times of the limits and further times of the table.
func WriteTable(w io.Writer, results []Result) error {
	types := 15
	for _, r := range results {
		types = max(types, len(r.Case().String())+1)
	}
	lead := fmt.Sprintf("%%-%ds%%-14s", types) // types and size
	t := report{w: w, lead: types + 14}
	ours := runner{Boxsum, 0}
	columns := []column{
		property("workers", func(r Result) string { return fmt.Sprint(r.Workers) }), took("best ms", ms, ours),
		property("GB/s", gbPerSecond), ratio("of limit", percent, runner{LimitFillRead, 0}, ours),
	}
	beside := slices.ContainsFunc(results, func(r Result) bool { return r.is(Upright) })
	if beside { // both would not fit 80 columns
		columns = append(columns, ratio("× upright", digits("%.2f"), ours, runner{Upright, 0}))
	} else {
		columns = slices.Insert(columns, 2, median("median", ms, ours))
	}
	t.head(fmt.Sprintf(lead, "types", "size"), columns...)
	for _, r := range results {
		if r.is(Boxsum) && r.LeftOut == "" {
			t.row(fmt.Sprintf(lead, r.Case(), r.Size), append([]Result{r}, besides(results, r, r.Workers)...))
		}
	}
	for _, r := range results {
		if r.LeftOut != "" {
			t.line(r.line())
		}
	}
	t.text("table", beside)
	return t.err
}

// besides returns the results for the case and size of one, with the given number of workers.
func besides(results []Result, of Result, workers int) (same []Result) {
	for _, r := range results {
		if r.Case() == of.Case() && r.Size == of.Size && r.Workers == workers {
			same = append(same, r)
		}
	}
	return same
}
