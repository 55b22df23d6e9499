// Command gopeers does what each line of its input says with another library for Go, and
// prints how long that took in nanoseconds. It is a module of its own, so that nobody else
// needs these libraries.
//
//	gopeers WIDTH HEIGHT PIXELS CLOCK
//
// PIXELS is a file of bytes, which become a gray *image.RGBA: what all three take and work in.
package main

import (
	"bufio"
	"fmt"
	"image"
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
	if len(os.Args) != 5 {
		return fmt.Errorf("it takes a width, a height, a file and a clock")
	}
	w, err := strconv.Atoi(os.Args[1])
	if err != nil {
		return err
	}
	h, err := strconv.Atoi(os.Args[2])
	if err != nil {
		return err
	}
	pix, err := os.ReadFile(os.Args[3])
	if err != nil {
		return err
	}
	clock := wall
	if os.Args[4] == "process_time_ns" {
		clock = onProcessor
	}
	img := image.NewRGBA(image.Rect(0, 0, w, h))
	for i, v := range pix[:w*h] {
		copy(img.Pix[4*i:], []byte{v, v, v, 255})
	}
	mean, gaussian := gift.New(gift.Mean(15, false)), gift.New(gift.GaussianBlur(20))
	out := image.NewRGBA(img.Rect)
	does := map[string]func(){
		"bild.Box 7":       func() { blur.Box(img, 7) },
		"bild.Gaussian 20": func() { blur.Gaussian(img, 20) },
		"gift.Mean 15":     func() { mean.Draw(out, img) },
		"gift.Gaussian 20": func() { gaussian.Draw(out, img) },
		"imaging.Blur 20":  func() { imaging.Blur(img, 20) },
	}
	lines := bufio.NewScanner(os.Stdin)
	for lines.Scan() {
		do := does[strings.TrimSpace(lines.Text())]
		if do == nil {
			fmt.Println("missing: nobody does", lines.Text())
			continue
		}
		start := clock()
		do()
		fmt.Println(int64(clock() - start))
	}
	return lines.Err()
}

var began = time.Now()

func wall() time.Duration { return time.Since(began) }

// onProcessor is how long the process has been on processors.
func onProcessor() time.Duration {
	var u syscall.Rusage
	if syscall.Getrusage(syscall.RUSAGE_SELF, &u) != nil {
		return wall()
	}
	return time.Duration(u.Utime.Nano() + u.Stime.Nano())
}
