package papers

import (
	"bytes"
	"testing"

	"github.com/boxsum/boxsum/internal/launch"
	"pgregory.net/rapid"
)

// guarded is a device with guard values after all memory.
type guarded struct {
	launch.Device
	ends map[launch.Buffer]int64
}

var guard = bytes.Repeat([]byte{0xa5}, 4096)

func (g guarded) end(b launch.Buffer, at int64) launch.Rows {
	n := int64(len(guard))
	return launch.Rows{Buffer: b, Offset: at, Stride: n, Bytes: n, Count: 1}
}

func (g guarded) Alloc(size int64) (launch.Buffer, error) {
	b, err := g.Device.Alloc(size + int64(len(guard)))
	if err != nil {
		return 0, err
	}
	g.ends[b] = size
	return b, g.CopyIn(g.Main(), g.end(b, size), guard, int64(len(guard)))
}

// TestGuards tests that no kernel writes past the end of its memory, for any size of image.
func TestGuards(t *testing.T) {
	g := guarded{ends: map[launch.Buffer]int64{}}
	open := func(d launch.Opener) (launch.Device, error) {
		var err error
		clear(g.ends)
		g.Device, err = launch.Open(d)
		return g, err
	}
	var onGPU []*Algorithm
	for _, a := range All() {
		if a.Place == GPU {
			onGPU = append(onGPU, a)
		}
	}
	d := device(t)
	rapid.Check(t, func(t *rapid.T) {
		a := rapid.SampledFrom(onGPU).Draw(t, "algorithm")
		p := rapid.SampledFrom(a.Precisions).Draw(t, "precision")
		most := rapid.SampledFrom([]int{3, 40, 600}).Draw(t, "most")
		width, height := rapid.IntRange(1, most).Draw(t, "width"), rapid.IntRange(1, 3000/most).Draw(t, "height")
		img, err := ExactImage[int32](width, height, p)
		if err != nil {
			t.Fatal(err)
		}
		job, err := Prepare(a, &Options{Device: d, Precision: p, open: open}, img)
		if err != nil {
			t.Fatal(err)
		}
		defer job.Close()
		if err := job.Run(); err != nil {
			t.Fatal(err)
		}
		if err := job.Verify(); err != nil {
			t.Error(err)
		}
		for b, at := range g.ends {
			got := make([]byte, len(guard))
			if err := g.CopyOut(g.Main(), got, int64(len(guard)), g.end(b, at)); err != nil {
				t.Fatal(err)
			}
			if !bytes.Equal(got, guard) {
				t.Errorf("%v in %v, %d×%d: written past the end of %d bytes", a, p, width, height, at)
			}
		}
	})
}

// TestAnySize tests that every algorithm on the CPU is right for any size and number of threads.
func TestAnySize(t *testing.T) {
	var onCPU []*Algorithm
	for _, a := range All() {
		if a.Place == CPU {
			onCPU = append(onCPU, a)
		}
	}
	rapid.Check(t, func(t *rapid.T) {
		a := rapid.SampledFrom(onCPU).Draw(t, "algorithm")
		p := rapid.SampledFrom(a.Precisions).Draw(t, "precision")
		width, height := rapid.IntRange(1, 70).Draw(t, "width"), rapid.IntRange(1, 70).Draw(t, "height")
		img, err := ExactImage[int32](width, height, p)
		if err != nil {
			t.Fatal(err)
		}
		job, err := Prepare(a, &Options{Precision: p, Threads: rapid.IntRange(1, 90).Draw(t, "threads")}, img)
		if err != nil {
			t.Fatal(err)
		}
		if err := job.Run(); err != nil {
			t.Fatal(err)
		}
		if err := job.Verify(); err != nil {
			t.Error(err)
		}
	})
}
