package reproduce

import (
	"math"
	"strconv"
	"time"

	"github.com/boxsum/boxsum/lab/plot"
)

// A Report is what was measured, and on what. What it says of it is made when
// it is written.
type Report struct {
	Title       string    `json:"title"`
	Made        time.Time `json:"made"`
	Version     string    `json:"version"`
	Command     string    `json:"command"`
	Quick       bool      `json:"quick"`
	Interrupted bool      `json:"interrupted,omitempty"`
	Machine     Machine   `json:"machine"`
	Turned      *Turned   `json:"turned,omitempty"` // by Messom and Barczak’s claim
	Results     []Result  `json:"results"`

	experiments []*Experiment
	setting     *setting
}

// A block is part of a section: text, a *table, a *picture or a *finding.
type block any

// text is a paragraph.
type text string

// A table is rows of cells under a head. Its first columns are flush left.
type table struct {
	Caption string
	Left    int
	Grouped bool // rows with the same first cell belong together
	Head    []string
	Rows    [][]cell
}

// Starts reports whether a row begins a group of rows, those of one size.
func (t *table) Starts(row int) bool {
	return t.Grouped && row > 0 && t.Rows[row][0].Text != t.Rows[row-1][0].Text
}

// A cell is a text of a table.
type cell struct {
	Text string
	Kind string // published, boxsum, missing, or nothing
}

// A picture is a plot with its caption.
type picture struct {
	Name    string // of its files
	Caption string
	Figure  plot.Figure
}

// A finding is a claim of a work, and what our figures say of it.
type finding struct {
	Claim   string
	Verdict verdict
	Text    string // our figures
	Why     string // what explains a claim that does not hold
	Where   string // the section that has the figures
}

type verdict string

const (
	holds   verdict = "holds"
	partly  verdict = "holds in part"
	fails   verdict = "does not hold"
	unknown verdict = "cannot be said"
	noGPU   verdict = "no GPU here"
)

// number is a number with three digits that count.
func number(v float64) string {
	if math.IsNaN(v) || math.IsInf(v, 0) {
		return "–"
	}
	if v == 0 {
		return "0"
	}
	// Rounding may carry into one digit more: 9.996 is 10.0, not 10.00.
	rounded, _ := strconv.ParseFloat(strconv.FormatFloat(v, 'e', 2, 64), 64)
	digits := 2 - int(math.Floor(math.Log10(math.Abs(rounded))))
	if digits <= 0 {
		return plot.Number(math.Round(v))
	}
	return strconv.FormatFloat(v, 'f', digits, 64)
}

// asFast is a ratio of speeds in words: 12.3× as fast, or as slow.
func asFast(v float64) string {
	if v < 1 {
		return times(1/v) + " as slow"
	}
	return times(v) + " as fast"
}

// times is a ratio, as in 12.3×.
func times(v float64) string {
	if math.IsNaN(v) || math.IsInf(v, 0) {
		return "–"
	}
	return number(v) + "×"
}
