// Command filters measures filters beside other libraries, by turns in one run, and prints a
// table with the floors that they are held to. make bench-filters runs it.
package main

import (
	"bufio"
	"cmp"
	_ "embed"
	"flag"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strings"
	"text/tabwriter"
	"time"

	"github.com/boxsum/boxsum"
	"github.com/boxsum/boxsum/filter"
	"github.com/boxsum/boxsum/internal/measure"
)

//go:embed peers.py
var script string

func main() {
	if err := run(os.Stdout); err != nil {
		fmt.Fprintln(os.Stderr, "filters:", err)
		os.Exit(1)
	}
}

func run(w io.Writer) error {
	sizes := flag.String("sizes", "1080p,2160p,8192x8192", "sizes of images")
	level := flag.String("level", "auto", "instructions to use: auto, portable, avx2 or avx512")
	python := flag.String("python", ".venv/bin/python", "Python that has the other libraries")
	only := flag.String("only", "", "rows whose names have this")
	busy := flag.Bool("busy", false, "for a machine that has other work: measure the time on processors, and one worker only")
	seconds := flag.Float64("seconds", 1.5, "time for a row of one size, about")
	flag.Parse()
	all, err := measure.ParseSizes(*sizes)
	if err != nil {
		return err
	}
	l, err := boxsum.ParseLevel(*level)
	if err != nil {
		return err
	}
	fmt.Fprintf(w, "%s, level %s; one worker beside one thread of the peer, the least of several turns in ms; then two workers\n\n", processor(), cmp.Or(*level, "auto"))
	out := tabwriter.NewWriter(w, 0, 0, 2, ' ', tabwriter.AlignRight)
	fmt.Fprintln(out, "size\twhat\tboxsum\tpeer\tms\ttimes\tfloor\t\ttwo workers\ttimes\t")
	for _, size := range all {
		p, err := startPeers(*python, size, *busy)
		if err != nil {
			return err
		}
		im := newImages(size.Width, size.Height)
		for _, r := range rows {
			if strings.Contains(r.name, *only) {
				if err := r.print(out, p, im, l, size, time.Duration(*seconds*float64(time.Second))); err != nil {
					return err
				}
			}
		}
		p.stop()
		if err := out.Flush(); err != nil {
			return err
		}
	}
	return nil
}

// A row is a line of the table: what this library does, and what the peer does, in Python,
// with the names that peers.py has. The peer must do it in at least floor times the time.
type row struct {
	name  string
	floor float64
	ours  func(im *images, opt *filter.Options) error
	peer  string // its name
	does  string
}

// print measures both by turns and prints the line.
func (r *row) print(w io.Writer, p *peers, im *images, level boxsum.Level, size measure.Size, limit time.Duration) error {
	one, two := &filter.Options{Workers: 1, Level: level}, &filter.Options{Workers: 2, Level: level}
	var ours, theirs, both time.Duration
	var missing string
	least := func(to *time.Duration, took time.Duration) {
		if *to == 0 || took < *to {
			*to = took
		}
	}
	started := time.Now()
	clock := func() time.Duration { return time.Since(started) }
	if p.busy {
		clock = processTime
	}
	timed := func(opt *filter.Options) (time.Duration, error) {
		start := clock()
		err := r.ours(im, opt)
		return clock() - start, err
	}
	for start, round := time.Now(), 0; round < 4 || round < 60 && time.Since(start) < limit; round++ {
		took, err := timed(one)
		if err != nil {
			return fmt.Errorf("%s: %w", r.name, err)
		}
		least(&ours, took)
		if !p.busy {
			if took, err = timed(two); err != nil {
				return err
			}
			least(&both, took)
		}
		if missing == "" {
			if took, missing, err = p.time(r.does); err != nil {
				return err
			}
			least(&theirs, took)
		}
	}
	ms := func(d time.Duration) string { return fmt.Sprintf("%.2f", d.Seconds()*1e3) }
	second, more := "", ""
	if both > 0 {
		second, more = ms(both), fmt.Sprintf("%.2f", float64(ours)/float64(both))
	}
	peer, times, verdict := ms(theirs), fmt.Sprintf("%.2f", float64(theirs)/float64(ours)), "yes"
	switch {
	case missing != "":
		peer, times, verdict = missing, "", ""
	case float64(theirs) < r.floor*float64(ours):
		verdict = "NO"
	}
	_, err := fmt.Fprintf(w, "%v\t%s\t%s\t%s\t%s\t%s\t%g\t%s\t%s\t%s\t\n", size, r.name, ms(ours), r.peer, peer, times, r.floor, verdict, second, more)
	return err
}

// peers is a Python that does what it is told, and says how long that took.
type peers struct {
	process *exec.Cmd
	in      io.WriteCloser
	out     *bufio.Reader
	file    string
	busy    bool
}

func startPeers(python string, size measure.Size, busy bool) (*peers, error) {
	folder, err := os.MkdirTemp("", "filters")
	if err != nil {
		return nil, err
	}
	p := &peers{file: folder, busy: busy}
	clock := "perf_counter_ns"
	if busy {
		clock = "process_time_ns"
	}
	path := filepath.Join(folder, "peers.py")
	if err := os.WriteFile(path, []byte(script), 0o600); err != nil {
		return nil, err
	}
	p.process = exec.Command(python, path, fmt.Sprint(size.Width), fmt.Sprint(size.Height), clock)
	p.process.Stderr = os.Stderr
	p.process.Env = append(os.Environ(), "VIPS_CONCURRENCY=1", "OMP_NUM_THREADS=1", "OPENBLAS_NUM_THREADS=1")
	if p.in, err = p.process.StdinPipe(); err != nil {
		return nil, err
	}
	out, err := p.process.StdoutPipe()
	if err != nil {
		return nil, err
	}
	p.out = bufio.NewReader(out)
	return p, p.process.Start()
}

// time is how long a peer takes, or what is missing.
func (p *peers) time(does string) (took time.Duration, missing string, err error) {
	if _, err := fmt.Fprintln(p.in, does); err != nil {
		return 0, "", err
	}
	line, err := p.out.ReadString('\n')
	if err != nil {
		return 0, "", fmt.Errorf("the peers' Python ended: %w", err)
	}
	if why, ok := strings.CutPrefix(line, "missing: "); ok {
		return 0, strings.TrimSpace(why), nil
	}
	_, err = fmt.Sscan(line, &took)
	return took, "", err
}

func (p *peers) stop() {
	p.in.Close()
	p.process.Wait()
	os.RemoveAll(p.file)
}

// processor is the name of the machine's.
func processor() string {
	text, _ := os.ReadFile("/proc/cpuinfo")
	for line := range strings.Lines(string(text)) {
		if key, value, ok := strings.Cut(line, ":"); ok && strings.TrimSpace(key) == "model name" {
			return fmt.Sprintf("%s, %d processors", strings.TrimSpace(value), runtime.NumCPU())
		}
	}
	return runtime.GOARCH
}
