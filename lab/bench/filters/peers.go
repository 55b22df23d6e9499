package main

import (
	"bufio"
	_ "embed"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"time"

	"github.com/boxsum/boxsum"
	"github.com/boxsum/boxsum/lab/measure"
)

//go:embed peers.py
var script string

// A place is the process in which a peer runs.
type place int

const (
	inPython place = iota // OpenCV and most others
	inDoxa                // a separate, newer Python
	inGo
	placeCount
)

// places holds the paths of the programs.
type places struct{ python, doxa, golang string }

// peers runs the processes of other libraries, each started when it is first needed.
type peers struct {
	where     places
	size      measure.Size
	level     boxsum.Level
	busy      bool
	folder    string
	began     time.Time
	processes [placeCount]*process
}

// A process executes lines and replies with the time that each took.
type process struct {
	cmd     *exec.Cmd
	in      io.WriteCloser
	out     *bufio.Reader
	missing string // reason why it could not be started
}

// newPeers writes the images that peers read.
func newPeers(where places, im *images, size measure.Size, level boxsum.Level, busy bool) (*peers, error) {
	folder, err := os.MkdirTemp("", "filters")
	if err != nil {
		return nil, err
	}
	p := &peers{where: where, size: size, level: level, busy: busy, folder: folder, began: time.Now()}
	files := map[string][]byte{"peers.py": []byte(script), "photo": im.a.Pix, "page": im.page.Pix}
	for name, bytes := range files {
		if err := os.WriteFile(filepath.Join(folder, name), bytes, 0o600); err != nil {
			p.stop()
			return nil, err
		}
	}
	return p, nil
}

// calls returns the number of calls that are timed together: images smaller than 512×512 pixels are filtered
// repeatedly, from a cache.
func calls(size measure.Size) int { return max(1, 1<<18/max(1, size.Width*size.Height)) }

// clock returns the time by the clock that is used for both sides.
func (p *peers) clock() time.Duration {
	if p.busy {
		return processTime()
	}
	return time.Since(p.began)
}

// withoutAVX512 makes OpenCV, the IPP in it and NumPy behave as on a processor that has no AVX-512, so
// that both sides of a row at the level avx2 use the same instructions.
var withoutAVX512 = []string{
	"OPENCV_CPU_DISABLE=AVX512-SKX", "OPENCV_IPP=avx2",
	"NPY_DISABLE_CPU_FEATURES=AVX512F AVX512CD AVX512_SKX AVX512_CLX AVX512_CNL AVX512_ICL AVX512_SPR",
}

// start starts the process of a place.
func (p *peers) start(at place) *process {
	c := &process{}
	clock := "perf_counter_ns"
	if p.busy {
		clock = "process_time_ns"
	}
	size := []string{fmt.Sprint(p.size.Width), fmt.Sprint(p.size.Height), fmt.Sprint(calls(p.size))}
	photo := filepath.Join(p.folder, "photo")
	switch at {
	case inGo:
		binary := filepath.Join(p.folder, "gopeers")
		if text, err := exec.Command("go", "build", "-C", p.where.golang, "-o", binary, ".").CombinedOutput(); err != nil {
			c.missing = "not built: " + firstLine(string(text)+err.Error())
			return c
		}
		c.cmd = exec.Command(binary, append(size, photo, clock)...)
		c.cmd.Env = append(os.Environ(), "GOMAXPROCS=1")
	default:
		python := []string{p.where.python, p.where.doxa}[at]
		c.cmd = exec.Command(python, append([]string{filepath.Join(p.folder, "peers.py")}, append(size, p.folder, clock)...)...)
		c.cmd.Env = append(os.Environ(), "VIPS_CONCURRENCY=1", "OMP_NUM_THREADS=1", "OPENBLAS_NUM_THREADS=1")
		if p.level.String() == "avx2" {
			c.cmd.Env = append(c.cmd.Env, withoutAVX512...)
		}
	}
	c.cmd.Stderr = os.Stderr
	in, err := c.cmd.StdinPipe()
	if err == nil {
		c.in = in
		var out io.Reader
		if out, err = c.cmd.StdoutPipe(); err == nil {
			c.out = bufio.NewReader(out)
			err = c.cmd.Start()
		}
	}
	if err != nil {
		c.missing = firstLine(err.Error())
	}
	return c
}

func firstLine(text string) string {
	line, _, _ := strings.Cut(text, "\n")
	return line[:min(len(line), 60)]
}

// time returns the time that a peer takes, or the reason why it is missing.
func (p *peers) time(at place, does string) (took time.Duration, missing string, err error) {
	if p.processes[at] == nil {
		p.processes[at] = p.start(at)
	}
	c := p.processes[at]
	if c.missing != "" {
		return 0, c.missing, nil
	}
	if _, err := fmt.Fprintln(c.in, does); err != nil {
		return 0, "", err
	}
	line, err := c.out.ReadString('\n')
	if err != nil {
		return 0, "", fmt.Errorf("the peer's process ended: %w", err)
	}
	if why, ok := strings.CutPrefix(line, "missing: "); ok {
		return 0, firstLine(why), nil
	}
	_, err = fmt.Sscan(line, &took)
	return took, "", err
}

// stop ends the processes and removes the files.
func (p *peers) stop() {
	for _, c := range p.processes {
		if c != nil && c.missing == "" {
			c.in.Close()
			c.cmd.Wait()
		}
	}
	os.RemoveAll(p.folder)
}

// how holds the options for our side.
type how struct {
	workers int
	level   boxsum.Level
}
