package main

import (
	"bytes"
	"fmt"
	"strings"
	"testing"
)

// TestFollow moves a disc from left to right over a gray film, and the box must follow.
func TestFollow(t *testing.T) {
	const width, height, frames = 97, 60, 5
	size := width*height + 2*49*30
	var film bytes.Buffer
	fmt.Fprintf(&film, "YUV4MPEG2 W%d H%d F25:1 Ip A1:1 C420jpeg\n", width, height)
	for f := range frames {
		film.WriteString("FRAME\n")
		planes := bytes.Repeat([]byte{100}, size)
		for y := range height {
			for x := range width {
				if dx, dy := x-10-15*f, y-30; dx*dx+dy*dy < 16 {
					planes[y*width+x] = 200
				}
			}
		}
		film.Write(planes)
	}
	var out bytes.Buffer
	n, err := follow(bytes.NewReader(film.Bytes()), &out)
	if err != nil || n != frames {
		t.Fatal(n, err)
	}
	if out.Len() != film.Len() {
		t.Fatalf("%d bytes came out of %d", out.Len(), film.Len())
	}
	head := strings.IndexByte(film.String(), '\n') + 1
	for f := range frames {
		at := head + f*(size+6) + 6
		drawn := 0
		for _, v := range out.Bytes()[at:][:width*height] {
			if v == 235 {
				drawn++
			}
		}
		if want := map[bool]int{false: 0, true: 10*10 - 6*6}[f > 0]; drawn != want {
			t.Errorf("frame %d has %d pixels of a box, want %d", f, drawn, want)
		}
	}
	for _, bad := range []string{"", "RIFF", "YUV4MPEG2 W0 H9\n", "YUV4MPEG2 W64 H64 C420p10\n", "YUV4MPEG2 W64 H64\nFRAME\nshort", "YUV4MPEG2 W64 H64\nWRONG\n"} {
		if _, err := follow(strings.NewReader(bad), &out); err == nil {
			t.Errorf("%q was taken", bad)
		}
	}
}
