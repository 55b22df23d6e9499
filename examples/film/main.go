// Command film draws a box around what moves most in a film, frame by frame, as the frames arrive:
//
//	ffmpeg -v error -i in.mp4 -f yuv4mpegpipe -pix_fmt yuv420p - | go run ./examples/film | ffmpeg -v error -i - -y out.mp4
//
// Frames have FFmpeg's format yuv4mpegpipe: a line of text, then for each frame a line and its planes,
// brightness first.
package main

import (
	"bufio"
	"bytes"
	"fmt"
	"image"
	"io"
	"os"
	"strconv"
	"strings"

	"github.com/boxsum/boxsum"
	"github.com/boxsum/boxsum/filter"
)

func main() {
	frames, err := follow(os.Stdin, os.Stdout)
	if err != nil {
		fmt.Fprintln(os.Stderr, "film:", err)
		os.Exit(1)
	}
	fmt.Fprintln(os.Stderr, frames, "frames")
}

// quietest is the minimum average difference of a box's pixels from the previous frame.
const quietest = 4

func follow(from io.Reader, to io.Writer) (frames int, err error) {
	in, out := bufio.NewReaderSize(from, 1<<20), bufio.NewWriterSize(to, 1<<20)
	head, err := in.ReadString('\n')
	if err != nil || !strings.HasPrefix(head, "YUV4MPEG2 ") {
		return 0, fmt.Errorf("standard input is not a Y4M stream (make one with ffmpeg -i VIDEO -f yuv4mpegpipe -)")
	}
	width, height, size, err := layout(head)
	if err != nil {
		return 0, err
	}
	out.WriteString(head)

	planes, last := make([]byte, size), make([]byte, width*height)
	change := boxsum.Image[uint8]{Pix: make([]uint8, width*height), Width: width, Height: height}
	side := max(8, min(width, height)/6)
	for ; ; frames++ {
		line, err := in.ReadBytes('\n')
		if err == io.EOF && len(line) == 0 {
			return frames, out.Flush()
		}
		if err != nil || !bytes.HasPrefix(line, []byte("FRAME")) {
			return frames, fmt.Errorf("frame %d begins with %.20q, want FRAME", frames, line)
		}
		if _, err := io.ReadFull(in, planes); err != nil {
			return frames, fmt.Errorf("frame %d: %w", frames, err)
		}
		bright := planes[:width*height]
		for i, v := range bright {
			change.Pix[i] = max(v, last[i]) - min(v, last[i])
		}
		copy(last, bright)
		if frames > 0 {
			found, err := filter.Brightest(change, side, side, 1, nil)
			if err != nil {
				return frames, err
			}
			if len(found) > 0 && found[0].Mean >= quietest {
				outline(bright, width, found[0].Box)
			}
		}
		out.Write(line)
		if _, err := out.Write(planes); err != nil {
			return frames, err
		}
	}
}

// layout returns the size of frames and the number of bytes of each.
func layout(head string) (width, height, size int, err error) {
	chroma := "420"
	for _, word := range strings.Fields(head)[1:] {
		switch value := word[1:]; word[0] {
		case 'W':
			width, _ = strconv.Atoi(value)
		case 'H':
			height, _ = strconv.Atoi(value)
		case 'C':
			chroma = value
		}
	}
	if width < 8 || height < 8 || width > 1<<14 || height > 1<<14 {
		return 0, 0, 0, fmt.Errorf("size in %q is %d×%d, want sides of 8 to %d", strings.TrimSpace(head), width, height, 1<<14)
	}
	half := func(n int) int { return (n + 1) / 2 }
	switch {
	case strings.HasPrefix(chroma, "420") && !strings.Contains(chroma, "p1"): // p10 has 10 bits
		size = width*height + 2*half(width)*half(height)
	case chroma == "422":
		size = width*height + 2*half(width)*height
	case chroma == "444":
		size = 3 * width * height
	case chroma == "mono":
		size = width * height
	default:
		return 0, 0, 0, fmt.Errorf("color space is %s, want 8-bit 420, 422, 444 or mono (with ffmpeg: -pix_fmt yuv420p)", chroma)
	}
	return width, height, size, nil
}

// outline draws a white frame of two pixels.
func outline(bright []byte, width int, box image.Rectangle) {
	for y := box.Min.Y; y < box.Max.Y; y++ {
		for x := box.Min.X; x < box.Max.X; x++ {
			if !image.Pt(x, y).In(box.Inset(2)) {
				bright[y*width+x] = 235
			}
		}
	}
}
