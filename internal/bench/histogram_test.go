package bench

import (
	"slices"
	"strings"
	"testing"

	"github.com/boxsum/boxsum"
	"github.com/boxsum/boxsum/histogram"
)

// Integral histograms are verified at every level, and say how many bytes they have.
func TestPrepareHistogram(t *testing.T) {
	size := Size{Name: "70x30", Width: 70, Height: 30}
	cases, err := ParseTypes("histogram,histogram:5x3,u8:u32-histogram:256")
	if err != nil || !slices.Equal(cases, []Case{{"u8:u32-histogram:32", 1}, {"u8:u32-histogram:5", 3}, {"u8:u32-histogram:256", 1}}) {
		t.Fatal(cases, err)
	}
	for _, c := range cases {
		for _, level := range boxsum.Levels() {
			w, err := prepare(c, size, []int{1, 2}, level)
			if err != nil {
				t.Fatalf("%v %v: %v", c, level, err)
			}
			read, written := c.bytes(size)
			if int64(len(w.pixels)) != read || int64(len(w.tables[0].output)) != written {
				t.Errorf("%v: %d and %d bytes, want %d and %d", c, len(w.pixels), len(w.tables[0].output), read, written)
			}
		}
	}
	for _, list := range []string{"histogram:1", "histogram:257", "histogram:", "histogram:x", "f32:u32-histogram:8", "histograms", "u8:u32-histogram:"} {
		if _, err := ParseTypes(list); err == nil {
			t.Errorf("%q is no error", list)
		}
	}
}

// A single wrong count, wherever it is, is found.
func TestOneWrongCount(t *testing.T) {
	img, err := randomImage[uint8, uint32](Size{Width: 4, Height: 3}, 2)
	if err != nil {
		t.Fatal(err)
	}
	table, err := histogram.Integrate(img, histogram.Bins{N: 3}, nil)
	if err != nil {
		t.Fatal(err)
	}
	if err := verifyHistogram(table, img); err != nil {
		t.Fatal(err)
	}
	for i := range table.Counts {
		table.Counts[i]++
		if err := verifyHistogram(table, img); err == nil {
			t.Errorf("count %d is wrong and was not found", i)
		}
		table.Counts[i]--
	}
}

func TestGPUVolumesAndHistograms(t *testing.T) {
	got, report, err := measureGPU(t, GPUConfig{}, "17x9x11", "volume,f32:f64-volume")
	if err != nil {
		t.Fatal(err)
	}
	var want []string
	for _, c := range []string{"u8:u32-volume", "f32:f64-volume"} {
		want = append(want, c+" 17x9x11 "+Boxsum, c+" 17x9x11 "+LimitDevice, c+" 17x9x11 "+EndToEnd)
	}
	if !slices.Equal(got, want) || !strings.Contains(report, "× copy") {
		t.Errorf("got %v and\n%s", got, report)
	}
	got, report, err = measureGPU(t, GPUConfig{Batch: 2}, "33x21", "histogram:7")
	if err != nil {
		t.Fatal(err)
	}
	want = []string{"u8:u32-histogram:7 33x21 " + Boxsum, "u8:u32-histogram:7 33x21 " + LimitDeviceFill}
	if !slices.Equal(got, want) || !strings.Contains(report, "× fill") {
		t.Errorf("got %v and\n%s", got, report)
	}
	if _, _, err := measureGPU(t, GPUConfig{Batch: 2}, "5x4x3", "volume"); err == nil || !strings.Contains(err.Error(), "--batch") {
		t.Errorf("a batch of volumes gives %v", err)
	}
}
