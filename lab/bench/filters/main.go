// Command filters measures filters and thresholds, alternating with other libraries, and prints a table
// with the minimum speedups that are required. make bench-filters runs it.
package main

import (
	"flag"
	"fmt"
	"io"
	"os"
	"runtime"
	"slices"
	"strings"
	"text/tabwriter"
	"time"

	"github.com/boxsum/boxsum"
	"github.com/boxsum/boxsum/lab/measure"
)

func main() {
	if err := run(os.Stdout); err != nil {
		fmt.Fprintln(os.Stderr, "filters:", err)
		os.Exit(1)
	}
}

func run(w io.Writer) error {
	sizes := flag.String("sizes", "1080p,2160p,8192x8192", "sizes of images")
	level := flag.String("level", "auto", "instructions to use: auto, portable, avx2 or avx512")
	var where places
	flag.StringVar(&where.python, "python", ".venv/bin/python", "Python that has OpenCV and others")
	flag.StringVar(&where.doxa, "doxa", ".venv/doxa/bin/python", "Python that has doxapy, which takes 3.12 or newer")
	flag.StringVar(&where.golang, "go", "lab/bench/filters/gopeers", "folder of the module that has Go's other libraries")
	only := flag.String("only", "", "rows whose names or peers have one of these, such as Gaussian,doxapy")
	alone := flag.Bool("alone", false, "no peers: one worker and two")
	busy := flag.Bool("busy", false, "for a machine that has other work: measure the time on processors, and one worker only")
	markdown := flag.Bool("markdown", false, "after all sizes, print one table in Markdown")
	seconds := flag.Float64("seconds", 1, "time for a row of one size, about")
	flag.Parse()
	all, err := measure.ParseSizes(*sizes)
	if err != nil {
		return err
	}
	l, err := boxsum.ParseLevel(*level)
	if err != nil {
		return err
	}
	if *level == "auto" {
		levels := boxsum.Levels()
		l = levels[len(levels)-1]
	}
	clock := "the clock"
	if *busy {
		clock = "processor time, as the machine has other work"
	}
	fmt.Fprintf(w, "%s, level %v, %s/%s; one worker and one thread of the peer, alternating, the minimum of several runs, in ms of %s; then two workers, whose speedup should be %g\n\n",
		processor(), l, runtime.GOOS, runtime.GOARCH, clock, gainFloor)
	found := map[string][]measured{} // of a row, by size
	for _, size := range all {
		if err := table(w, size, l, where, *only, *alone, *busy, time.Duration(*seconds*float64(time.Second)), found); err != nil {
			return err
		}
	}
	if *markdown {
		return printMarkdown(w, all, found)
	}
	return nil
}

// printMarkdown prints the speedup of each row over its peer, with all sizes on one line: bold if it
// is below the required minimum, and in parentheses the gain from a second worker.
func printMarkdown(w io.Writer, sizes []measure.Size, found map[string][]measured) error {
	head, rule := "| | peer | floor |", "|---|---|---|"
	for _, size := range sizes {
		head, rule = head+fmt.Sprintf(" %v |", size), rule+"---|"
	}
	fmt.Fprintf(w, "%s\n%s\n", head, rule)
	for i := range rows {
		r := &rows[i]
		all, ok := found[r.key()]
		if !ok {
			continue
		}
		floor := ""
		if r.floor > 0 {
			floor = fmt.Sprint(r.floor)
		}
		line := fmt.Sprintf("| %s | %s | %s |", r.name, r.peer, floor)
		for _, m := range all {
			line += " " + m.cell(r.floor) + " |"
		}
		for range len(sizes) - len(all) { // slow peers
			line += " |"
		}
		if _, err := fmt.Fprintln(w, line); err != nil {
			return err
		}
	}
	return nil
}

// key identifies a row.
func (r *row) key() string { return r.name + " | " + r.peer }

// cell returns the speedup of a row as a table cell.
func (m *measured) cell(floor float64) string {
	if m.theirs == 0 {
		return "–"
	}
	times := fmt.Sprintf("%.2f", ratio(m.theirs, m.ours))
	if ratio(m.theirs, m.ours) >= 100 {
		times = fmt.Sprintf("%.0f", ratio(m.theirs, m.ours))
	}
	if ratio(m.theirs, m.ours) < floor {
		times = "**" + times + "**"
	}
	if m.two > 0 {
		times += fmt.Sprintf(" (%.2f)", ratio(m.ours, m.two))
	}
	return times
}

// table measures and prints the rows of one size.
func table(w io.Writer, size measure.Size, level boxsum.Level, where places, only string, alone, busy bool, limit time.Duration, found map[string][]measured) error {
	im := newImages(size.Width, size.Height)
	peers, err := newPeers(where, im, size, level, busy)
	if err != nil {
		return err
	}
	defer peers.stop()
	out := tabwriter.NewWriter(w, 0, 0, 2, ' ', tabwriter.AlignRight)
	fmt.Fprintln(out, "size\twhat\tboxsum\tpeer\tms\ttimes\tfloor\t\ttwo workers\ttimes\t\t")
	for _, r := range rows {
		if r.small && size.Width*size.Height > smallPixels || min(size.Width, size.Height) < r.least || !chosen(&r, only) || alone && (r.small || r.again) {
			continue
		}
		m, err := r.measure(peers, im, level, limit, alone)
		if err != nil {
			return fmt.Errorf("%s: %w", r.name, err)
		}
		m.print(out, &r, size)
		found[r.key()] = append(found[r.key()], m)
	}
	if err := out.Flush(); err != nil {
		return err
	}
	_, err = fmt.Fprintln(w)
	return err
}

// chosen reports whether a row was requested.
func chosen(r *row, only string) bool {
	return slices.ContainsFunc(strings.Split(only, ","), func(part string) bool {
		return strings.Contains(r.name, part) || strings.Contains(r.peer, part)
	})
}

const (
	// gainFloor is the required speedup from a second worker.
	gainFloor = 1.7
	// smallPixels is the maximum size of images for slow peers: 1080p.
	smallPixels = 1920 * 1080
)

// A row is a line of the table: what this library does, and what the peer does, in the language of
// its process. The peer must take at least floor times as long, unless floor is zero.
type row struct {
	name  string
	floor float64
	ours  func(im *images, o how) error
	peer  string // its name
	at    place  // the process that runs it
	does  string
	small bool // the peer is slow: only up to 1080p
	again bool // ours is the same as in the previous row
	least int  // smallest width and height of the image
}

// measured holds the times of a row.
type measured struct {
	ours, theirs, two time.Duration // the best time; zero if there is none
	missing           string        // reason why there is no peer
}

// measure times boxsum and the other library in turns.
func (r *row) measure(p *peers, im *images, level boxsum.Level, limit time.Duration, alone bool) (m measured, err error) {
	least := func(to *time.Duration, took time.Duration) {
		if *to == 0 || took < *to {
			*to = took
		}
	}
	timed := func(workers int) (took time.Duration, err error) {
		n := calls(p.size)
		start := p.clock()
		for i := 0; i < n && err == nil; i++ {
			err = r.ours(im, how{workers, level})
		}
		return (p.clock() - start) / time.Duration(n), err
	}
	if _, err = timed(2); err != nil { // warm up
		return m, err
	}
	for start, round := time.Now(), 0; round < 2 || round < 3 && time.Since(start) < 3*limit || round < 60 && time.Since(start) < limit; round++ {
		took, err := timed(1)
		if err != nil {
			return m, err
		}
		least(&m.ours, took)
		if !p.busy {
			if took, err = timed(2); err != nil {
				return m, err
			}
			least(&m.two, took)
		}
		if alone || m.missing != "" || r.small && round > 0 {
			continue
		}
		if took, m.missing, err = p.time(r.at, r.does); err != nil {
			return m, err
		}
		least(&m.theirs, took)
	}
	return m, nil
}

// print writes the line of a row.
func (m *measured) print(w io.Writer, r *row, size measure.Size) {
	peer, times, floor, met := m.missing, "", "", ""
	if m.theirs > 0 {
		peer, times = ms(m.theirs), fmt.Sprintf("%.2f", ratio(m.theirs, m.ours))
		if r.floor > 0 {
			floor, met = fmt.Sprint(r.floor), verdict(ratio(m.theirs, m.ours), r.floor)
		}
	}
	two, gain, gained := "", "", ""
	if m.two > 0 {
		two, gain, gained = ms(m.two), fmt.Sprintf("%.2f", ratio(m.ours, m.two)), verdict(ratio(m.ours, m.two), gainFloor)
	}
	fmt.Fprintf(w, "%v\t%s\t%s\t%s\t%s\t%s\t%s\t%s\t%s\t%s\t%s\t\n", size, r.name, ms(m.ours), r.peer, peer, times, floor, met, two, gain, gained)
}

// ms returns a time in milliseconds with at least three significant digits.
func ms(d time.Duration) string {
	if d < time.Millisecond {
		return fmt.Sprintf("%.4f", d.Seconds()*1e3)
	}
	return fmt.Sprintf("%.2f", d.Seconds()*1e3)
}

func ratio(a, b time.Duration) float64 { return float64(a) / float64(b) }

func verdict(times, floor float64) string {
	if times < floor {
		return "NO"
	}
	return "met"
}

// processor returns the name of the machine's processor.
func processor() string {
	text, _ := os.ReadFile("/proc/cpuinfo")
	for line := range strings.Lines(string(text)) {
		if key, value, ok := strings.Cut(line, ":"); ok && strings.TrimSpace(key) == "model name" {
			return fmt.Sprintf("%s, %d processors", strings.TrimSpace(value), runtime.NumCPU())
		}
	}
	return runtime.GOARCH
}
