package imgio

import (
	"bytes"
	"image"
	"image/color"
	"testing"

	"github.com/boxsum/boxsum"
)

// TestDemoColor tests that the color picture converts to the gray one.
func TestDemoColor(t *testing.T) {
	for _, size := range []image.Point{{0, 0}, {-1, 5}, {1, 1}, {64, 36}, {701, 233}, {1920, 1080}} {
		c, want := DemoColor(size.X, size.Y), Demo(size.X, size.Y)
		if c.Channels != 3 || c.Width != want.Width || c.Height != want.Height {
			t.Fatalf("%v: %d×%d with %d channels", size, c.Width, c.Height, c.Channels)
		}
		m := image.NewNRGBA(image.Rect(0, 0, c.Width, c.Height))
		for y := range c.Height {
			for x := range c.Width {
				p := c.Row(y)[3*x:]
				m.SetNRGBA(x, y, color.NRGBA{p[0], p[1], p[2], 255})
			}
		}
		if got := boxsum.Gray(m); !bytes.Equal(got.Pix, want.Pix) {
			t.Errorf("%v: the gray of DemoColor is not Demo", size)
		}
	}
}
