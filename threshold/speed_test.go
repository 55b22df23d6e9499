package threshold_test

import (
	"bufio"
	"fmt"
	"io"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/boxsum/boxsum"
	"github.com/boxsum/boxsum/filter"
	"github.com/boxsum/boxsum/internal/ref"
	"github.com/boxsum/boxsum/threshold"
)

// strokesPage is dark strokes on paper that is lit from one side, with noise.
func strokesPage(width, height int) boxsum.Image[uint8] {
	img, _ := boxsum.NewImage[uint8](width, height, 1)
	rng := rand.New(rand.NewPCG(1, 18))
	noise := make([]float64, 1<<12)
	for i := range noise {
		noise[i] = 4 * rng.NormFloat64()
	}
	for y := range height {
		row, at := img.Row(y), rng.IntN(1<<12)
		for x := range row {
			v := 250 * (0.4 + 0.6*float64(x)/float64(width)) * (0.8 + 0.2*float64(y)/float64(height))
			if y%34 > 10 && y%34 < 26 && (x*7+y/34*131)%97 < 60 && (x/5+y/5*3)%3 == 0 {
				v *= 0.2
			}
			row[x] = uint8(max(0, min(255, v+noise[(x+at)&(1<<12-1)])))
		}
	}
	return img
}

// A peer is a Python process that says how long it takes.
type peer struct {
	in  io.Writer
	out *bufio.Reader
}

func startPeer(t *testing.T, python string, img boxsum.Image[uint8], file string) peer {
	t.Helper()
	cmd := exec.Command(python, "testdata/speed.py", fmt.Sprint(img.Width), fmt.Sprint(img.Height), file)
	cmd.Stderr = os.Stderr
	in, _ := cmd.StdinPipe()
	out, _ := cmd.StdoutPipe()
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		in.Close()
		cmd.Wait()
	})
	return peer{in, bufio.NewReader(out)}
}

func (p peer) time(t *testing.T, name string) (ns time.Duration) {
	t.Helper()
	fmt.Fprintln(p.in, name)
	line, err := p.out.ReadString('\n')
	if err != nil {
		t.Fatal(err)
	}
	fmt.Sscan(line, &ns)
	return ns
}

// TestSpeed prints the least times of thresholds and of the same in Doxa, OpenCV and
// scikit-image, one after the other in turns: BOXSUM_SPEED is the size, such as 1920x1080.
// BOXSUM_WORKERS, BOXSUM_t.set.Level, BOXSUM_WINDOW and BOXSUM_ONLY are options. It asserts
// nothing.
func TestSpeed(t *testing.T) {
	var width, height int
	if n, _ := fmt.Sscanf(os.Getenv("BOXSUM_SPEED"), "%dx%d", &width, &height); n != 2 {
		t.Skip("set BOXSUM_SPEED to 1920x1080 to print times")
	}
	img := strokesPage(width, height)
	if kind := os.Getenv("BOXSUM_IMAGE"); kind == "noise" {
		img = drawn(rand.New(rand.NewPCG(1, 1)), width, height, 0)
	} else if kind == "flat" {
		img = drawn(rand.New(rand.NewPCG(1, 1)), width, height, 1)
	}
	file := filepath.Join(t.TempDir(), "image")
	if err := os.WriteFile(file, img.Pix, 0o600); err != nil {
		t.Fatal(err)
	}
	doxa, others := startPeer(t, ref.Doxa(t), img, file), startPeer(t, ref.Python(t), img, file)
	opt, size := &threshold.Options{Workers: 1}, 25
	fmt.Sscan(os.Getenv("BOXSUM_WORKERS"), &opt.Workers)
	fmt.Sscan(os.Getenv("BOXSUM_WINDOW"), &size)
	if l := os.Getenv("BOXSUM_t.set.Level"); l != "" {
		opt.Level, _ = boxsum.ParseLevel(l)
	}
	type job struct {
		name        string
		peer        peer
		do          func() error
		ours, peers time.Duration
	}
	dst, _ := boxsum.NewImage[uint8](width, height, 1)
	jobs := []job{{name: fmt.Sprint("map ", size), peer: others}}
	var thresholds boxsum.Image[float64]
	jobs[0].do = func() (err error) {
		if thresholds.Pix == nil {
			if thresholds, err = boxsum.NewImage[float64](width, height, 1); err != nil {
				return err
			}
		}
		r := threshold.New(threshold.Sauvola, size)
		r.Border, r.R = filter.Reflect101, 127.5
		return threshold.MapInto(thresholds, img, r, opt)
	}
	for _, m := range threshold.Methods() {
		p := doxa
		if m == threshold.MeanC {
			p = others
		}
		jobs = append(jobs, job{name: fmt.Sprint(m, " ", size), peer: p, do: func() error {
			return threshold.BinarizeInto(dst, img, threshold.New(m, size), opt)
		}})
	}
	if only := os.Getenv("BOXSUM_ONLY"); only != "" {
		jobs = slices.DeleteFunc(jobs, func(j job) bool { return !strings.Contains(j.name, only) })
	}
	limit := 20 * time.Second
	for start, round := time.Now(), 0; round < 3 || round < 60 && time.Since(start) < limit; round++ {
		for i := range jobs {
			j := &jobs[i]
			if round > 2 && j.peers > time.Second {
				continue
			}
			from := time.Now()
			if err := j.do(); err != nil {
				t.Fatal(err)
			}
			if d := time.Since(from); round == 0 || d < j.ours {
				j.ours = d
			}
			if ns := j.peer.time(t, j.name); round == 0 || ns < j.peers {
				j.peers = ns
			}
		}
	}
	for _, j := range jobs {
		t.Logf("%-14s %9.3f ms, peer %9.3f ms, %5.2f times", j.name, j.ours.Seconds()*1e3, j.peers.Seconds()*1e3, float64(j.peers)/float64(j.ours))
	}
}
