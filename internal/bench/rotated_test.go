package bench

import (
	"bytes"
	"context"
	"errors"
	"strings"
	"testing"

	"github.com/boxsum/boxsum"
	"github.com/boxsum/boxsum/rotated"
)

// Rotated tables of all types are verified at every level.
func TestPrepareRotated(t *testing.T) {
	for types := range rotatedMakers {
		for _, rot := range []string{"1/2", "-2/3", "5/1", "-7/2"} {
			cases, err := ParseTypes(types + "@" + rot + "x2")
			if err != nil {
				t.Fatal(err)
			}
			for _, level := range boxsum.Levels() {
				w, err := prepare(cases[0], Size{Name: "70x30", Width: 70, Height: 30}, []int{1, 2}, level)
				if err != nil {
					t.Fatalf("%v %v: %v", cases[0], level, err)
				}
				read, written := cases[0].bytes(Size{Name: "70x30", Width: 70, Height: 30})
				if int64(len(w.pixels)) != read || int64(len(w.tables[0].output)) != written || w.upright == nil {
					t.Errorf("%v: %d and %d bytes, want %d and %d", cases[0], len(w.pixels), len(w.tables[0].output), read, written)
				}
			}
		}
	}
}

// A single wrong sum is found.
func TestOneWrongRotated(t *testing.T) {
	img, err := randomImage[uint8, uint32](Size{Width: 6, Height: 5}, 2)
	if err != nil {
		t.Fatal(err)
	}
	table, err := rotated.Integrate[uint32](img, rotated.Rotation{A: -1, B: 2}, nil)
	if err != nil {
		t.Fatal(err)
	}
	if err := verifyRotated[int64](table, img); err != nil {
		t.Fatal(err)
	}
	for i := range img.Pix {
		img.Pix[i]++
		if differs := (*errDiffers)(nil); !errors.As(verifyRotated[int64](table, img), &differs) {
			t.Errorf("pixel %d was another, and nobody said so", i)
		}
		img.Pix[i]--
	}
}

// The report has how many times as long as the upright table it takes.
func TestRotatedBesideUpright(t *testing.T) {
	cases, err := ParseTypes("rotated:1/3")
	if err != nil {
		t.Fatal(err)
	}
	results, err := Run(context.Background(), Config{Cases: cases, Sizes: []Size{{Name: "40x30", Width: 40, Height: 30}}, Workers: []int{1}, Repeat: 3})
	if err != nil {
		t.Fatal(err)
	}
	var b bytes.Buffer
	if err := WriteTable(&b, results); err != nil {
		t.Fatal(err)
	}
	if text := b.String(); !strings.Contains(text, "of upright") || !strings.Contains(text, "u8:u32@1/3") {
		t.Errorf("the report is\n%s", text)
	}
}

func TestBadRotatedTypes(t *testing.T) {
	for _, types := range []string{"rotated:", "rotated:1/0", "u8:u32@", "u8:i64@1/2", "@1/2", "u8:u32+u64@1/2", "u8:u32-tilted@1/2"} {
		if cases, err := ParseTypes(types); err == nil {
			t.Errorf("%q is %v", types, cases)
		}
	}
	cases, err := ParseTypes("rotated:1/2")
	if err != nil {
		t.Fatal(err)
	}
	if _, err := Peers(context.Background(), PeersConfig{Config: Config{Cases: cases}}); err == nil {
		t.Error("rotated tables have peers")
	}
}
