package main

import (
	"bufio"
	"encoding/json"
	"errors"
	"fmt"
	"image"
	"io"
	"math"
	"strconv"

	"github.com/boxsum/boxsum"
)

// A boxHistogram is what is said of one box: of every channel, or of the only
// one.
type boxHistogram struct {
	Box     box `json:"box"`
	Area    int `json:"area"`
	Counts  any `json:"counts"`
	Median  any `json:"median"` // from and to of a bin, and null where nothing was counted
	Mode    any `json:"mode"`
	Entropy any `json:"entropy"`

	channels []channelHistogram
}

func (w *histogramWork) ask(b box) boxHistogram {
	clipped := b.rectangle().Intersect(image.Rect(0, 0, w.Width, w.Height))
	a := boxHistogram{Box: b, Area: clipped.Dx() * clipped.Dy()}
	var counts, median, mode, entropy []any
	edges := func(bin int) any {
		if bin < 0 {
			return nil
		}
		return [2]float64{w.bins.Edge(bin), w.bins.Edge(bin + 1)}
	}
	for c := range w.Channels {
		h := w.of(clipped, c)
		a.channels = append(a.channels, h)
		counts, median, mode, entropy = append(counts, h.counts), append(median, edges(h.median)), append(mode, edges(h.mode)), append(entropy, h.entropy)
	}
	a.Counts, a.Median, a.Mode, a.Entropy = oneOrAll(counts), oneOrAll(median), oneOrAll(mode), oneOrAll(entropy)
	return a
}

// A histogramReport is what the command says it did, and found.
type histogramReport struct {
	extent
	Bins         int        `json:"bins"`
	Range        [2]float64 `json:"range"`
	Weighted     bool       `json:"weighted,omitempty"`
	On           string     `json:"on"`
	Device       string     `json:"device,omitempty"` // the name of a GPU
	Milliseconds float64    `json:"ms"`
	Bytes        int64      `json:"bytes"` // of the table
	Out          string     `json:"out,omitempty"`
}

// print reports on standard output, unless the table went there.
func (c *histogramCmd) print(sh *shell, r histogramReport, work *histogramWork) error {
	w := bufio.NewWriter(sh.reports(c.Out))
	if c.JSON {
		return errors.Join(printHistogramJSON(w, r, work.boxes), w.Flush())
	}
	asked := len(c.Box) > 0 || c.Boxes != "" || c.Out == ""
	if asked && len(work.boxes) > 0 {
		if err := printColumns(w, work.columns()); err != nil {
			return err
		}
	}
	if c.Out != "" {
		fmt.Fprintln(w, r)
	}
	return w.Flush()
}

// printHistogramJSON prints an object with a box on every line.
func printHistogramJSON(w io.Writer, r histogramReport, boxes []boxHistogram) error {
	head, err := json.Marshal(r)
	if err != nil {
		return err
	}
	fmt.Fprintf(w, "%s,\"boxes\":", head[:len(head)-1])
	if err := printLinesJSON(w, boxes); err != nil {
		return err
	}
	_, err = fmt.Fprintln(w, "}")
	return err
}

// String is the report in one line.
func (r histogramReport) String() string {
	s := fmt.Sprintf("%v, %d bins from %g to %g", r.extent, r.Bins, r.Range[0], r.Range[1])
	if r.Weighted {
		s += ", weighted"
	}
	if r.Device != "" {
		s += fmt.Sprintf(", %s on %s", r.On, escape(r.Device))
	}
	return s + fmt.Sprintf(", %s, %s ms → %s", inBytes(r.Bytes), rounded(r.Milliseconds), nameOf(r.Out))
}

// inBytes is a size as people say it.
func inBytes(n int64) string {
	switch {
	case n >= 1e9:
		return rounded(float64(n)/1e9) + " GB"
	case n >= 1e6:
		return rounded(float64(n)/1e6) + " MB"
	case n >= 1e4:
		return rounded(float64(n)/1e3) + " kB"
	}
	return fmt.Sprintf("%d bytes", n)
}

// columns has a line for every bin and a column for every channel of every box.
func (w *histogramWork) columns() [][]string {
	bins := w.bins
	name := func(bin int) string {
		switch {
		case bin < 0:
			return "-"
		case w.whole:
			return fmt.Sprint(bins.Edge(bin))
		}
		return fmt.Sprintf("%.6g to %.6g", bins.Edge(bin), bins.Edge(bin+1))
	}
	rows := [][]string{{"bin"}}
	for i := range bins.N {
		rows = append(rows, []string{name(i)})
	}
	channel := []string{"channel"}
	last := [4][]string{{"area"}, {"median"}, {"mode"}, {"entropy"}}
	for _, b := range w.boxes {
		for c, h := range b.channels {
			rows[0] = append(rows[0], b.Box.String())
			channel = append(channel, strconv.Itoa(c))
			for i, n := range h.texts {
				rows[1+i] = append(rows[1+i], n)
			}
			for i, text := range []string{strconv.Itoa(b.Area), name(h.median), name(h.mode), fmt.Sprintf("%.5g", h.entropy)} {
				last[i] = append(last[i], text)
			}
		}
	}
	if w.Channels > 1 {
		rows = append(rows[:1:1], append([][]string{channel}, rows[1:]...)...)
	}
	return append(rows, last[:]...)
}

// digits is all of a number, without an exponent where a reader can do without.
func digits[S boxsum.Sum](n S) string {
	f, ok := any(n).(float64)
	switch {
	case !ok:
		return fmt.Sprint(n)
	case f != 0 && math.Abs(f) < 1e-5:
		return strconv.FormatFloat(f, 'g', -1, 64)
	}
	return plain(f)
}

// finites is numbers that JSON can hold.
func finites(numbers []float64) []any {
	all := make([]any, len(numbers))
	for i, n := range numbers {
		all[i] = finite(n)
	}
	return all
}
