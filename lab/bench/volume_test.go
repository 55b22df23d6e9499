package bench

import (
	"slices"
	"strings"
	"testing"

	"github.com/boxsum/boxsum/lab/measure"
)

func TestVolumes(t *testing.T) {
	sizes, err := measure.ParseSizes("17x9x11,5x4x3")
	if err != nil {
		t.Fatal(err)
	}
	cases, err := measure.ParseTypes("volume,f32:f32-volumex3")
	if err != nil {
		t.Fatal(err)
	}
	results, err := Run(t.Context(), Config{Sizes: sizes, Cases: cases, Workers: []int{1, 2}, Repeat: 3})
	if err != nil {
		t.Fatal(err)
	}
	first := results[0]
	if first.Depth != 11 || first.Types != "u8:u32-volume" || first.Bytes != 17*9*11+4*18*10*12 || !first.Verified {
		t.Errorf("odd result %+v", first)
	}
	var out strings.Builder
	if err := WriteTable(&out, results); err != nil || !strings.Contains(out.String(), "\nf32:f32-volumex3") {
		t.Errorf("%v in\n%s", err, &out)
	}
	for _, cfg := range []Config{
		{Sizes: sizes, Cases: []Case{{Types: "u8:u32", Channels: 1}}},
		{Sizes: []Size{{Name: "5x5", Width: 5, Height: 5}}, Cases: cases},
	} {
		if _, err := Run(t.Context(), cfg); err == nil || !strings.Contains(err.Error(), "volume") {
			t.Errorf("%v of %v: %v", cfg.Cases, cfg.Sizes, err)
		}
	}
	if p, err := (Config{Cases: cases}).plan(DefaultSizes, DefaultTypes); err != nil || p.Sizes[0].Depth == 0 {
		t.Errorf("%v: %v", p, err)
	}
	if _, err := (Config{}).plan(DefaultSizes, DefaultTypes); err != nil {
		t.Error(err)
	}
}

// TestVolumePeers compares NumPy's cumsums of a volume with ours.
func TestVolumePeers(t *testing.T) {
	got, report, err := comparePeers(t, "17x9x11,1x1x1", "volume,f32:f64-volume,u16:u64-volumex3")
	if err != nil {
		t.Fatal(err)
	}
	var want []string
	for _, types := range []string{"u8:u32-volume", "f32:f64-volume", "u16:u64-volumex3"} {
		for _, size := range []string{" 17x9x11 ", " 1x1x1 "} {
			want = append(want, types+size+"boxsum", types+size+"numpy")
		}
	}
	if !slices.Equal(got, want) {
		t.Errorf("got\n%s\nwant\n%s", strings.Join(got, "\n"), strings.Join(want, "\n"))
	}
	for _, text := range []string{"numpy: ", "NumPy", "\n17x9x11 "} {
		if !strings.Contains(report, text) {
			t.Errorf("the report lacks %q:\n%s", text, report)
		}
	}
}
