package gpu

import (
	"errors"
	"slices"
	"testing"

	"github.com/boxsum/boxsum"
	"github.com/boxsum/boxsum/internal/launch"
)

// TestLaunch tests the operations of package launch: cleared memory, copies of rows, and kernels on
// streams that wait for one another.
func TestLaunch(t *testing.T) {
	eachDevice(t, func(t *testing.T, d *Device) {
		l, err := launch.Open(d)
		if err != nil {
			t.Fatal(err)
		}
		const width, height = 5, 3
		b, err := l.Alloc(4 * width * height)
		if err != nil {
			t.Fatal(err)
		}
		host, err := l.AllocHost(width * height * 4)
		if err != nil {
			t.Fatal(err)
		}
		s, err := l.NewStream()
		if err != nil {
			t.Fatal(err)
		}
		// The middle column of the image is set to 1, and then its rows are summed.
		column := []byte{1, 0, 0, 0, 1, 0, 0, 0, 1, 0, 0, 0}
		at := launch.Rows{Buffer: b, Offset: 8, Stride: 4 * width, Bytes: 4, Count: height}
		whole := launch.Rows{Buffer: b, Stride: 4 * width, Bytes: 4 * width, Count: height}
		for _, err := range []error{
			l.CopyIn(l.Main(), at, column, 4),
			l.Join(s, l.Main()),
			l.Launch(s, launch.Kernel("rows", "u32"), 1, 7, b, b, int32(width), int32(height)),
			l.CopyOut(s, host, 4*width, whole),
			l.Join(l.Main(), s),
			d.Wait(),
		} {
			if err != nil {
				t.Fatal(err)
			}
		}
		row := []byte{0, 0, 0, 0, 0, 0, 0, 0, 1, 0, 0, 0, 1, 0, 0, 0, 1, 0, 0, 0}
		if want := slices.Repeat(row, height); !slices.Equal(host, want) {
			t.Errorf("%v, want %v", host, want)
		}

		if err := l.CopyOut(s, make([]byte, 8), 4, at); !errors.Is(err, boxsum.ErrInvalid) {
			t.Errorf("a copy to too few bytes: %v", err)
		}
		if err := l.Launch(s, launch.Kernel("rows", "u32"), 1, 1, "five"); err == nil {
			t.Error("no error for an argument of another type")
		}
		if err := l.Launch(s, "none", 1, 1); err == nil {
			t.Error("no error for a missing kernel")
		}
		for _, err := range []error{l.Wait(s), l.FreeStream(s), l.Free(b), d.Close(), l.FreeHost(host), l.FreeHost(host), l.Free(b), l.FreeStream(s)} {
			if err != nil {
				t.Error(err)
			}
		}
		if _, err := l.Alloc(1); !errors.Is(err, boxsum.ErrClosed) {
			t.Errorf("memory of a closed device: %v", err)
		}
	})
	for _, d := range []*Device{nil, {}} {
		if _, err := launch.Open(d); !errors.Is(err, ErrNoDevice) {
			t.Errorf("no device: %v", err)
		}
	}
}

// TestLaunchLeft checks that streams and memory that were not freed are freed with the device, and
// only once.
func TestLaunchLeft(t *testing.T) {
	eachDevice(t, func(t *testing.T, real *Device) {
		d, counts := strictly(t, real)
		l, err := launch.Open(d)
		if err != nil {
			t.Fatal(err)
		}
		var streams [3]launch.Stream
		for i := range streams {
			if streams[i], err = l.NewStream(); err != nil {
				t.Fatal(err)
			}
		}
		b, err := l.Alloc(64)
		if err != nil {
			t.Fatal(err)
		}
		at := launch.Rows{Buffer: b, Bytes: 64, Count: 1}
		if err := errors.Join(l.FreeStream(streams[0]), l.CopyIn(streams[1], at, make([]byte, 64), 64)); err != nil {
			t.Fatal(err)
		}
		if err := l.FreeStream(streams[0]); !errors.Is(err, boxsum.ErrInvalid) {
			t.Errorf("a stream freed twice: %v", err)
		}
		if err := errors.Join(d.Close(), counts.left()); err != nil {
			t.Error(err)
		}
		if err := errors.Join(l.FreeStream(streams[1]), l.Free(b), counts.left()); err != nil {
			t.Errorf("after Close: %v", err)
		}
	})
}
