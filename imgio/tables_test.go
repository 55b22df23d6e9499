package imgio

import (
	"archive/zip"
	"bytes"
	"image"
	"path/filepath"
	"testing"

	"github.com/boxsum/boxsum"
)

// TestTablesRoundTrip saves tables, reads them back and compares queries.
func TestTablesRoundTrip(t *testing.T) {
	for _, size := range []image.Point{{3, 2}, {700, 600}} { // the latter is mapped
		img := Demo(size.X, size.Y)
		want, err := boxsum.IntegrateSquares[uint32, uint64](img, nil)
		if err != nil {
			t.Fatal(err)
		}
		dir := t.TempDir()
		for _, name := range []string{"t.npy", "t.npz"} {
			path := filepath.Join(dir, name)
			if err := SaveTable(path, want.Sum); err != nil {
				t.Fatal(err)
			}
			got, c, err := OpenTable[uint32](path)
			if err != nil {
				t.Fatal(err)
			}
			box := image.Rect(1, 1, size.X, size.Y)
			if got.Sum(box) != want.Sum.Sum(box) || got.Bounds() != want.Sum.Bounds() {
				t.Errorf("%s: %d in %v, want %d", name, got.Sum(box), got.Bounds(), want.Sum.Sum(box))
			}
			if err := c.Close(); err != nil {
				t.Error(err)
			}
			if _, _, err := OpenTable[float64](path); err == nil {
				t.Errorf("%s: opened with sums of another type", name)
			}
		}
		path := filepath.Join(dir, "both.npz")
		if err := SaveSquaredTable(path, want); err != nil {
			t.Fatal(err)
		}
		got, c, err := OpenSquaredTable[uint32, uint64](path)
		if err != nil {
			t.Fatal(err)
		}
		defer c.Close()
		if box := image.Rect(0, 1, size.X, size.Y); got.Variance(box, 0) != want.Variance(box, 0) {
			t.Errorf("variance %v, want %v", got.Variance(box, 0), want.Variance(box, 0))
		}
	}
}

func TestNPZIsAligned(t *testing.T) {
	var b bytes.Buffer
	z := NewNPZ(&b)
	for _, name := range []string{"sum", "a_longer_name", "x"} {
		if err := WriteNPZ(z, name, []int{3}, func(yield func([]uint64) bool) { yield([]uint64{1, 2, 3}) }); err != nil {
			t.Fatal(err)
		}
	}
	if err := z.Close(); err != nil {
		t.Fatal(err)
	}
	r, err := zip.NewReader(bytes.NewReader(b.Bytes()), int64(b.Len()))
	if err != nil {
		t.Fatal(err)
	}
	for _, f := range r.File {
		if at, err := f.DataOffset(); err != nil || at%64 != 0 {
			t.Errorf("%s is at %d, %v", f.Name, at, err)
		}
	}
}

func TestSaveTableRefuses(t *testing.T) {
	img := boxsum.Image[float32]{Pix: []float32{1, 2}, Width: 2, Height: 1}
	shifted, err := boxsum.Integrate[float64](img, &boxsum.Options{Offset: 1})
	if err != nil {
		t.Fatal(err)
	}
	path := filepath.Join(t.TempDir(), "t.npy")
	if err := SaveTable(path, shifted); err == nil {
		t.Error("a table with an offset was saved")
	}
	if err := SaveTable[uint32](path, nil); err == nil {
		t.Error("nil was saved")
	}
	if err := SaveTable(filepath.Join(t.TempDir(), "t.png"), shifted); err == nil {
		t.Error("a picture was saved")
	}
	for _, shape := range [][]int{{4}, {0, 4}, {2, 2, 0}, {9, 9}} {
		if _, err := TableOf[uint32](&Array{Shape: shape, Data: make([]uint32, 4)}); err == nil {
			t.Errorf("%v is a table", shape)
		}
	}
	if _, err := TableOf[uint32](&Array{Shape: []int{2, 2}, Data: []uint32{0, 1, 0, 1}}); err == nil {
		t.Error("an array that does not start with zeros is a table")
	}
}

func FuzzDecodeArrays(f *testing.F) {
	var b bytes.Buffer
	z := NewNPZ(&b)
	if err := WriteNPZ(z, "sum", []int{2, 2}, func(yield func([]uint32) bool) { yield([]uint32{0, 0, 0, 1}) }); err != nil {
		f.Fatal(err)
	}
	if err := z.Close(); err != nil {
		f.Fatal(err)
	}
	f.Add(b.Bytes())
	f.Fuzz(func(t *testing.T, data []byte) {
		arrays, err := readArchive(bytes.NewReader(data), int64(len(data)), []string{"sum"}, data)
		if err == nil {
			TableOf[uint32](arrays["sum"])
		}
	})
}
