package imgio

import (
	"archive/zip"
	"bytes"
	"errors"
	"testing"

	"github.com/google/go-cmp/cmp"
)

func TestNPZ(t *testing.T) {
	write := func() []byte {
		var b bytes.Buffer
		z := NewNPZ(&b)
		if err := WriteNPZ(z, "sum", []int{2, 2}, one([]uint32{1, 2, 3, 4})); err != nil {
			t.Fatal(err)
		}
		if err := WriteNPZ(z, "squares", []int{3}, one([]float64{1, 4, 9})); err != nil {
			t.Fatal(err)
		}
		if err := WriteNPZ(z, "sum", []int{1}, one([]uint8{1})); err == nil {
			t.Error("a name is taken twice")
		}
		if err := WriteNPZ(z, "", []int{1}, one([]uint8{1})); err == nil {
			t.Error("an empty name is taken")
		}
		if err := z.Close(); err != nil {
			t.Fatal(err)
		}
		return b.Bytes()
	}
	file := write()
	if !bytes.Equal(file, write()) {
		t.Error("the same arrays give other bytes")
	}
	archive, err := zip.NewReader(bytes.NewReader(file), int64(len(file)))
	if err != nil {
		t.Fatal(err)
	}
	want := map[string]*Array{
		"sum.npy":     {Shape: []int{2, 2}, Data: []uint32{1, 2, 3, 4}},
		"squares.npy": {Shape: []int{3}, Data: []float64{1, 4, 9}},
	}
	got := map[string]*Array{}
	for _, f := range archive.File {
		if f.Method != zip.Store {
			t.Errorf("%s is compressed", f.Name)
		}
		r, err := f.Open()
		if err != nil {
			t.Fatal(err)
		}
		if got[f.Name], err = ReadNPY(r); err != nil {
			t.Error(err)
		}
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Error(diff)
	}
}

func TestNPZErrors(t *testing.T) {
	z := NewNPZ(failing{})
	err := WriteNPZ(z, "sum", []int{1 << 20}, one(make([]uint8, 1<<20)))
	if !errors.Is(errors.Join(err, z.Close()), errFull) {
		t.Errorf("a failing writer gives %v", err)
	}
	if err := WriteNPZ(z, "late", []int{1}, one([]uint8{1})); err == nil {
		t.Error("a closed archive takes more")
	}
}
