package bench

import (
	"context"
	"errors"
	"fmt"
	"runtime"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/boxsum/boxsum"
	"github.com/boxsum/boxsum/lab/measure"
)

func TestRun(t *testing.T) {
	sizes, err := measure.ParseSizes("64x48,5x3")
	if err != nil {
		t.Fatal(err)
	}
	cases, err := measure.ParseTypes("u8:u32,f32:f64x2,squares")
	if err != nil {
		t.Fatal(err)
	}
	var last Progress
	results, err := Run(t.Context(), Config{
		Sizes: sizes, Cases: cases, Workers: []int{1, 3}, Repeat: 4, Level: boxsum.Levels()[0],
		Progress: func(p Progress) {
			if p.Done < last.Done || p.Total != 24 || p.What == "" {
				t.Errorf("progress went from %+v to %+v", last, p)
			}
			last = p
		},
	})
	if err != nil {
		t.Fatal(err)
	}
	if last != (Progress{Done: 24, Total: 24, What: "u8:u32+u64 5x3"}) {
		t.Errorf("progress ended with %+v", last)
	}
	var got, want []string
	for _, r := range results {
		got = append(got, fmt.Sprint(r.Case(), " ", r.Size, " ", r.Algorithm, " ", r.Workers))
		if r.Verified != (r.Algorithm == "boxsum portable") || r.Repeat != 4 || r.Min <= 0 || r.Min > r.Mean || r.Mean > r.Max {
			t.Errorf("odd result %+v", r)
		}
	}
	for _, c := range []string{"u8:u32", "f32:f64x2", "u8:u32+u64"} {
		for _, size := range []string{" 64x48 ", " 5x3 "} {
			want = append(want, c+size+"boxsum portable 1", c+size+"boxsum portable 3")
			for _, workers := range []string{" 1", " 3"} {
				for _, limit := range []string{LimitFillRead, LimitFill, LimitCopy} {
					want = append(want, c+size+limit+workers)
				}
			}
		}
	}
	if !slices.Equal(got, want) {
		t.Errorf("got\n%s\nwant\n%s", strings.Join(got, "\n"), strings.Join(want, "\n"))
	}
	if r := results[0]; r.Bytes != 64*48+65*49*4 {
		t.Errorf("%+v moves pixels and sums of %d bytes", r, 64*48+65*49*4)
	}
}

func TestRunErrors(t *testing.T) {
	small := []Size{{Name: "2x2", Width: 2, Height: 2}}
	for _, test := range []struct {
		cfg  Config
		want string
	}{
		{Config{Sizes: small, Workers: []int{0}}, "workers is 0, want 1 or more"},
		{Config{Sizes: small, Repeat: -1}, "repeat is -1"},
		{Config{Sizes: small, Budget: -time.Second}, "budget -1s"},
		{Config{Sizes: small, Cases: []Case{{Types: "u8:u9", Channels: 1}}}, `u8:u9 2x2: unknown types "u8:u9": use one of`},
		{Config{Sizes: small, Cases: []Case{{Types: "u8:u32", Channels: -1}}}, "-1 channels"},
	} {
		if _, err := Run(t.Context(), test.cfg); err == nil || !strings.Contains(err.Error(), test.want) {
			t.Errorf("%+v gives %v, want an error with %q", test.cfg, err, test.want)
		}
	}
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if _, err := Run(ctx, Config{Sizes: small}); !errors.Is(err, context.Canceled) {
		t.Errorf("an ended context gives %v", err)
	}
	if runtime.GOOS == "linux" {
		if _, err := Run(t.Context(), Config{Sizes: []Size{{Name: "huge", Width: measure.MaxSide, Height: measure.MaxSide}}}); err == nil || !strings.Contains(err.Error(), "choose a smaller size") {
			t.Errorf("a table of 5 TB gives %v", err)
		}
	}
}
