// Command gopeers executes each line of its input with another Go library and prints how long that
// took in nanoseconds. It is a separate module so that nobody else needs these libraries.
//
//	gopeers WIDTH HEIGHT CALLS PIXELS CLOCK
//
// The time is the mean of some calls.
// PIXELS is a file of bytes. They are converted to an *image.RGBA, the type that all three libraries
// use, or to an *image.Gray for lines that begin with gray.
package main

import (
	"bufio"
	"fmt"
	"image"
	"image/draw"
	"os"
	"strconv"
	"strings"
	"syscall"
	"time"

	"github.com/anthonynsimon/bild/blur"
	"github.com/disintegration/gift"
	"github.com/disintegration/imaging"
)

func main() {
	if err := run(); err != nil {
		fmt.Fprintln(os.Stderr, "gopeers:", err)
		os.Exit(1)
	}
}

func run() error {
	if len(os.Args) != 6 {
		return fmt.Errorf("got %d arguments, want 5: width, height, number of calls, file and clock", len(os.Args)-1)
	}
	w, err := strconv.Atoi(os.Args[1])
	if err != nil {
		return err
	}
	h, err := strconv.Atoi(os.Args[2])
	if err != nil {
		return err
	}
	calls, err := strconv.Atoi(os.Args[3])
	if err != nil {
		return err
	}
	pix, err := os.ReadFile(os.Args[4])
	if err != nil {
		return err
	}
	clock := wall
	if os.Args[5] == "process_time_ns" {
		clock = onProcessor
	}
	img := image.NewRGBA(image.Rect(0, 0, w, h))
	for i, v := range pix[:w*h] {
		copy(img.Pix[4*i:], []byte{v, v, v, 255})
	}
	gray := &image.Gray{Pix: pix, Stride: w, Rect: img.Rect}
	does := map[string]func(){}
	for _, kind := range []struct {
		before string
		img    image.Image
		out    draw.Image
	}{{"", img, image.NewRGBA(img.Rect)}, {"gray ", gray, image.NewGray(img.Rect)}} {
		mean, gaussian := gift.New(gift.Mean(15, false)), gift.New(gift.GaussianBlur(20))
		does[kind.before+"bild.Box 7"] = func() { blur.Box(kind.img, 7) }
		does[kind.before+"bild.Gaussian 20"] = func() { blur.Gaussian(kind.img, 20) }
		does[kind.before+"gift.Mean 15"] = func() { mean.Draw(kind.out, kind.img) }
		does[kind.before+"gift.Gaussian 20"] = func() { gaussian.Draw(kind.out, kind.img) }
		does[kind.before+"imaging.Blur 20"] = func() { imaging.Blur(kind.img, 20) }
	}
	lines := bufio.NewScanner(os.Stdin)
	for lines.Scan() {
		do := does[strings.TrimSpace(lines.Text())]
		if do == nil {
			fmt.Println("missing: nobody does", lines.Text())
			continue
		}
		start := clock()
		for range calls {
			do()
		}
		fmt.Println(int64(clock()-start) / int64(calls))
	}
	return lines.Err()
}

var began = time.Now()

func wall() time.Duration { return time.Since(began) }

// onProcessor returns the processor time used by the process.
func onProcessor() time.Duration {
	var u syscall.Rusage
	if syscall.Getrusage(syscall.RUSAGE_SELF, &u) != nil {
		return wall()
	}
	return time.Duration(u.Utime.Nano() + u.Stime.Nano())
}
