package reproduce

import (
	"math"
	"strconv"
	"time"

	"github.com/boxsum/boxsum/lab/plot"
)

// A Report holds measurements and the machine they were made on. Its text is generated when it is
// written.
type Report struct {
	Title       string    `json:"title"`
	Made        time.Time `json:"made"`
	Version     string    `json:"version"`
	Command     string    `json:"command"`
	Quick       bool      `json:"quick"`
	Interrupted bool      `json:"interrupted,omitempty"`
	Machine     Machine   `json:"machine"`
	Turned      *Turned   `json:"turned,omitempty"` // for the claim of Messom and Barczak
	People      *People   `json:"people,omitempty"` // for the use that Bilgic, Horn and Masaki made of tables
	Results     []Result  `json:"results"`

	experiments []*Experiment
	setting     *setting
}

// A block is part of a section: text, a *table, a *picture or a *finding.
type block any

// text is a paragraph.
type text string

// A table has rows of cells under a head. Its first columns are flush left.
type table struct {
	Caption string
	Left    int
	Grouped bool // rows with the same first cell belong together
	Head    []string
	Rows    [][]cell
}

// Starts reports whether a row begins a group: rows of the same size.
func (t *table) Starts(row int) bool {
	return t.Grouped && row > 0 && t.Rows[row][0].Text != t.Rows[row-1][0].Text
}

// A cell is the text of a table cell.
type cell struct {
	Text string
	Kind string // published, boxsum, missing, or empty
}

// A picture is a plot with its caption.
type picture struct {
	Name    string // base name of its files
	Caption string
	Figure  plot.Figure
}

// A finding is a claim of a work and what our measurements say about it.
type finding struct {
	Claim   string
	Verdict verdict
	Text    string // our figures
	Why     string // explanation for a claim that does not hold
	Where   string // the section with the figures
}

type verdict string

const (
	holds   verdict = "holds"
	partly  verdict = "holds in part"
	fails   verdict = "does not hold"
	unknown verdict = "cannot be said"
	noGPU   verdict = "no GPU here"
)

// number formats a number with three significant digits.
func number(v float64) string {
	if math.IsNaN(v) || math.IsInf(v, 0) {
		return "–"
	}
	if v == 0 {
		return "0"
	}
	// Rounding may carry into another digit: 9.996 becomes 10.0, not 10.00.
	rounded, _ := strconv.ParseFloat(strconv.FormatFloat(v, 'e', 2, 64), 64)
	digits := 2 - int(math.Floor(math.Log10(math.Abs(rounded))))
	if digits <= 0 {
		return plot.Number(math.Round(v))
	}
	return strconv.FormatFloat(v, 'f', digits, 64)
}

// asFast describes a ratio of speeds: 12.3× as fast, or as slow.
func asFast(v float64) string {
	if v < 1 {
		return times(1/v) + " as slow"
	}
	return times(v) + " as fast"
}

// times formats a ratio, such as 12.3×.
func times(v float64) string {
	if math.IsNaN(v) || math.IsInf(v, 0) {
		return "–"
	}
	return number(v) + "×"
}
