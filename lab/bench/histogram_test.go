package bench

import (
	"slices"
	"strings"
	"testing"
)

func TestGPUVolumesAndHistograms(t *testing.T) {
	got, report, err := measureGPU(t, Config{}, "17x9x11", "volume,f32:f64-volume")
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
	got, report, err = measureGPU(t, Config{Batch: 2}, "33x21", "histogram:7")
	if err != nil {
		t.Fatal(err)
	}
	want = []string{"u8:u32-histogram:7 33x21 " + Boxsum, "u8:u32-histogram:7 33x21 " + LimitDeviceFill}
	if !slices.Equal(got, want) || !strings.Contains(report, "× fill") {
		t.Errorf("got %v and\n%s", got, report)
	}
	if _, _, err := measureGPU(t, Config{Batch: 2}, "5x4x3", "volume"); err == nil || !strings.Contains(err.Error(), "--batch") {
		t.Errorf("a batch of volumes gives %v", err)
	}
}
