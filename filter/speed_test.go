package filter_test

import (
	"bufio"
	"fmt"
	"os"
	"os/exec"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/boxsum/boxsum"
	"github.com/boxsum/boxsum/filter"
	"github.com/boxsum/boxsum/internal/ref"
)

// TestSpeed prints the least times of filters and of the same in OpenCV and SciPy, one
// after the other in turns: BOXSUM_SPEED is the size, such as 1920x1080. BOXSUM_WORKERS
// and BOXSUM_LEVEL are options. It asserts nothing.
func TestSpeed(t *testing.T) {
	var width, height int
	if n, _ := fmt.Sscanf(os.Getenv("BOXSUM_SPEED"), "%dx%d", &width, &height); n != 2 {
		t.Skip("set BOXSUM_SPEED to 1920x1080 to print times")
	}
	peer := exec.Command(ref.Python(t), "testdata/speed.py", fmt.Sprint(width), fmt.Sprint(height))
	peer.Stderr = os.Stderr
	in, _ := peer.StdinPipe()
	out, _ := peer.StdoutPipe()
	if err := peer.Start(); err != nil {
		t.Fatal(err)
	}
	defer peer.Wait()
	defer in.Close()
	answers := bufio.NewReader(out)

	img, img16, img32, rgb := photo[uint8](width, height, 1), photo[uint16](width, height, 1), photo[float32](width, height, 1), photo[uint8](width, height, 3)
	dst, dst16, dst32, dstRGB := photo[uint8](width, height, 1), photo[uint16](width, height, 1), photo[float32](width, height, 1), photo[uint8](width, height, 3)
	dev := photo[float32](width, height, 1)
	small, _ := boxsum.NewImage[uint8]((width+1)/2, (height+1)/2, 1)
	opt := &filter.Options{Workers: 1}
	fmt.Sscan(os.Getenv("BOXSUM_WORKERS"), &opt.Workers)
	if l := os.Getenv("BOXSUM_LEVEL"); l != "" {
		opt.Level, _ = boxsum.ParseLevel(l)
	}
	clip := *opt
	clip.Border = filter.Clip
	type job struct {
		name        string
		do          func() error
		ours, peers time.Duration
	}
	jobs := []job{
		{name: "copy 0", do: func() error { copy(dst.Pix, img.Pix); return nil }},
		{name: "u16 15", do: func() error { return filter.BoxInto(dst16, img16, filter.Square(15), opt) }},
		{name: "f32 15", do: func() error { return filter.BoxInto(dst32, img32, filter.Square(15), opt) }},
		{name: "rgb 15", do: func() error { return filter.BoxInto(dstRGB, rgb, filter.Square(15), opt) }},
		{name: "clip 15", do: func() error { return filter.BoxInto(dst, img, filter.Square(15), &clip) }},
		{name: "mean+std 15", do: func() error { return filter.MeanStdDevInto(dst32, dev, img, filter.Square(15), opt) }},
		{name: "gauss 20", do: func() error { return filter.GaussianInto(dst, img, filter.Sigma{X: 20, Y: 20}, opt) }},
		{name: "gauss 20 by 4", do: func() error { return filter.GaussianInto(dst, img, filter.Sigma{X: 20, Y: 20, Passes: 4}, opt) }},
		{name: "guided 33", do: func() error { return filter.GuidedInto(dst, img, img, filter.Radius(16), 100, opt) }},
		{name: "median 5", do: func() error { return filter.MedianInto(dst, img, filter.Square(5), opt) }},
		{name: "half 2", do: func() error { return filter.DownsampleInto(small, img, 2, 2, opt) }},
	}
	for _, k := range []int{3, 5, 9, 15, 17, 31, 63, 127, 255} {
		jobs = append(jobs, job{name: fmt.Sprint("u8 ", k), do: func() error { return filter.BoxInto(dst, img, filter.Square(k), opt) }})
	}
	if only := os.Getenv("BOXSUM_ONLY"); only != "" {
		jobs = slices.DeleteFunc(jobs, func(j job) bool { return !strings.Contains(j.name, only) })
	}
	for start, round := time.Now(), 0; round < 5 || round < 80 && time.Since(start) < 20*time.Second; round++ {
		for i := range jobs {
			j := &jobs[i]
			if round > 2 && j.ours > 50*time.Millisecond {
				continue
			}
			from := time.Now()
			if err := j.do(); err != nil {
				t.Fatal(err)
			}
			if d := time.Since(from); round == 0 || d < j.ours {
				j.ours = d
			}
			fmt.Fprintln(in, j.name)
			var ns time.Duration
			line, err := answers.ReadString('\n')
			if err != nil {
				t.Fatal(err)
			}
			fmt.Sscan(line, &ns)
			if round == 0 || ns < j.peers {
				j.peers = ns
			}
		}
	}
	for _, j := range jobs {
		t.Logf("%-14s %8.3f ms, peer %8.3f ms, %5.2f times", j.name, j.ours.Seconds()*1e3, j.peers.Seconds()*1e3, float64(j.peers)/float64(j.ours))
	}
}
