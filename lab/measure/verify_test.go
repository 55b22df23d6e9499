package measure

import (
	"bytes"
	"errors"
	"slices"
	"testing"

	"github.com/boxsum/boxsum"
	"github.com/boxsum/boxsum/histogram"
	"github.com/boxsum/boxsum/internal/pixels"
	"github.com/boxsum/boxsum/internal/raster"
	"github.com/boxsum/boxsum/rotated"
	"github.com/boxsum/boxsum/volume"
)

// TestPrepareHistogram tests that integral histograms are verified at every level, and report their size in bytes.
func TestPrepareHistogram(t *testing.T) {
	size := Size{Name: "70x30", Width: 70, Height: 30}
	cases, err := ParseTypes("histogram,histogram:5x3,u8:u32-histogram:256")
	if err != nil || !slices.Equal(cases, []Case{{"u8:u32-histogram:32", 1}, {"u8:u32-histogram:5", 3}, {"u8:u32-histogram:256", 1}}) {
		t.Fatal(cases, err)
	}
	for _, c := range cases {
		for _, level := range boxsum.Levels() {
			w, err := Prepare(c, size, []int{1, 2}, Options{Level: level})
			if err != nil {
				t.Fatalf("%v %v: %v", c, level, err)
			}
			read, written := c.Bytes(size)
			if int64(len(w.Pixels)) != read || int64(len(w.Tables[0].output)) != written {
				t.Errorf("%v: %d and %d bytes, want %d and %d", c, len(w.Pixels), len(w.Tables[0].output), read, written)
			}
		}
	}
	for _, list := range []string{"histogram:1", "histogram:257", "histogram:", "histogram:x", "f32:u32-histogram:8", "histograms", "u8:u32-histogram:"} {
		if _, err := ParseTypes(list); err == nil {
			t.Errorf("no error for %q", list)
		}
	}
}

// TestOneWrongCount tests that a single wrong count is found, wherever it is.
func TestOneWrongCount(t *testing.T) {
	img, err := randomOf[uint8, uint32](Size{Width: 4, Height: 3}, 2)
	if err != nil {
		t.Fatal(err)
	}
	table, err := histogram.Integrate(img, histogram.Bins{N: 3}, nil)
	if err != nil {
		t.Fatal(err)
	}
	if err := verifyHistogram(countsOf(table), img); err != nil {
		t.Fatal(err)
	}
	for i := range table.Counts {
		table.Counts[i]++
		if err := verifyHistogram(countsOf(table), img); err == nil {
			t.Errorf("count %d is wrong and was not found", i)
		}
		table.Counts[i]--
	}
}

// TestPrepareRotated tests that rotated tables of all types are verified at every level.
func TestPrepareRotated(t *testing.T) {
	for _, pair := range raster.SumPairs.For(raster.Rotated) {
		types := pair.String()
		for _, rot := range []string{"1/2", "-2/3", "5/1", "-7/2"} {
			cases, err := ParseTypes(types + "@" + rot + "x2")
			if err != nil {
				t.Fatal(err)
			}
			for _, level := range boxsum.Levels() {
				w, err := Prepare(cases[0], Size{Name: "70x30", Width: 70, Height: 30}, []int{1, 2}, Options{Level: level})
				if err != nil {
					t.Fatalf("%v %v: %v", cases[0], level, err)
				}
				read, written := cases[0].Bytes(Size{Name: "70x30", Width: 70, Height: 30})
				if int64(len(w.Pixels)) != read || int64(len(w.Tables[0].output)) != written || w.Upright == nil {
					t.Errorf("%v: %d and %d bytes, want %d and %d", cases[0], len(w.Pixels), len(w.Tables[0].output), read, written)
				}
			}
		}
	}
}

// TestOneWrongRotated tests that a single wrong sum is found.
func TestOneWrongRotated(t *testing.T) {
	img, err := randomOf[uint8, uint32](Size{Width: 6, Height: 5}, 2)
	if err != nil {
		t.Fatal(err)
	}
	table, err := rotated.Integrate[uint32](img, rotated.Rotation{A: -1, B: 2}, nil)
	if err != nil {
		t.Fatal(err)
	}
	src := pixels.Of(img)
	check := func() error { return verifyRotated(table, &src) }
	if err := check(); err != nil {
		t.Fatal(err)
	}
	for i := range img.Pix {
		img.Pix[i]++
		if differs := (*DiffersError)(nil); !errors.As(check(), &differs) {
			t.Errorf("pixel %d was another, and nobody said so", i)
		}
		img.Pix[i]--
	}
}

// TestOneWrongVolumeEntry tests that a single wrong entry of a volume's table is found, wherever it is.
func TestOneWrongVolumeEntry(t *testing.T) {
	src := volume.Volume[uint8]{Pix: bytes.Repeat([]byte{1, 2, 3}, 40), Width: 2, Height: 3, Depth: 5, Channels: 4}
	table, err := volume.Integrate[uint32](src, nil)
	if err != nil {
		t.Fatal(err)
	}
	var all, inside []uint32
	for z := range table.Depth + 1 {
		for y := range table.Height + 1 {
			all = append(all, table.Slice(z).Row(y)...)
		}
		for y := range table.Inclusive(z).Height {
			inside = append(inside, table.Inclusive(z).Row(y)...)
		}
	}
	voxels := raster.ArrayOf(src.Pix, raster.VolumeExtent(2, 3, 5, 4, 8, 24))
	entries := raster.ArrayOf(table.Sums, raster.VolumeExtent(2, 3, 5, 4, table.Stride, table.SliceStride))
	check := func() []error {
		return []error{
			verifyVolume[uint32](&entries, &voxels),
			equalVolume[uint32](bytes.NewReader(raster.Bytes(all)), &entries, false),
			equalVolume[uint32](bytes.NewReader(raster.Bytes(inside)), &entries, true),
		}
	}
	for i, err := range check() {
		if err != nil {
			t.Errorf("check %d of a right table: %v", i, err)
		}
	}
	for z := range table.Depth + 1 {
		for y := range table.Height + 1 {
			for i := range table.Slice(z).Row(y) {
				entry := &table.Slice(z).Row(y)[i]
				*entry++
				errs := check()
				if errs[0] == nil || errs[1] == nil || (errs[2] == nil) != (z == 0 || y == 0 || i < table.Channels) {
					t.Errorf("slice %d, row %d, entry %d: %v", z, y, i, errs)
				}
				*entry--
			}
		}
	}
}
