package bench

import (
	"bytes"
	"context"
	"strings"
	"testing"

	"github.com/boxsum/boxsum/lab/measure"
)

// TestRotatedBesideUpright tests that the report has the time relative to that of the upright table.
func TestRotatedBesideUpright(t *testing.T) {
	cases, err := measure.ParseTypes("rotated:1/3")
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
	if text := b.String(); !strings.Contains(text, "× upright") || !strings.Contains(text, "u8:u32@1/3") {
		t.Errorf("the report is\n%s", text)
	}
}

func TestBadRotatedTypes(t *testing.T) {
	for _, types := range []string{"rotated:", "rotated:1/0", "u8:u32@", "u8:i16@1/2", "@1/2", "u8:u32+u64@1/2", "u8:u32-tilted@1/2"} {
		if cases, err := measure.ParseTypes(types); err == nil {
			t.Errorf("%q is %v", types, cases)
		}
	}
	cases, err := measure.ParseTypes("rotated:1/2")
	if err != nil {
		t.Fatal(err)
	}
	if _, err := Peers(context.Background(), Config{Cases: cases}); err == nil {
		t.Error("rotated tables have peers")
	}
}
