package imgio

import (
	"bytes"
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"iter"
	"math"
	"os"
	"path/filepath"
	"reflect"
	"strings"
	"testing"
	"testing/iotest"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"

	"github.com/boxsum/boxsum"
	"github.com/boxsum/boxsum/internal/raster"
)

// rawNPY returns a .npy file with the given text as its header.
func rawNPY(version byte, dict string, data []byte) []byte {
	b := append([]byte(npyMagic), version, 0)
	if version == 1 {
		b = binary.LittleEndian.AppendUint16(b, uint16(len(dict)))
	} else {
		b = binary.LittleEndian.AppendUint32(b, uint32(len(dict)))
	}
	return append(append(b, dict...), data...)
}

func one[T any](s []T) iter.Seq[[]T] { return func(yield func([]T) bool) { yield(s) } }

func TestReadNPYHeaders(t *testing.T) {
	data := []byte{1, 2, 3, 4, 5, 6}
	want := &Array{Shape: []int{2, 3}, Data: data}
	for name, dict := range map[string]string{
		"as NumPy writes it": "{'descr': '|u1', 'fortran_order': False, 'shape': (2, 3), }          \n",
		"other order":        "{'shape': (2, 3), 'fortran_order': False, 'descr': '|u1'}",
		"double quotes":      `{"descr": "|u1", "fortran_order": False, "shape": (2, 3)}`,
		"no spaces":          "{'descr':'<u1','fortran_order':False,'shape':(2,3,)}",
		"odd spaces":         " {\t'descr' :\n'>u1' , 'fortran_order' : False,\r\n'shape' : ( 2 , 3 , ) , } \x20\n\n",
		"python 2 longs":     "{'descr': '=u1', 'fortran_order': False, 'shape': (2L, 3L)}",
		"booleans":           "{'descr': '|b1', 'fortran_order': False, 'shape': (2, 3)}",
	} {
		for _, version := range []byte{1, 2, 3} {
			got, err := ReadNPY(bytes.NewReader(rawNPY(version, dict, append(data[:6:6], "trailing"...))))
			if err != nil {
				t.Errorf("%s, version %d: %v", name, version, err)
			} else if diff := cmp.Diff(want, got); diff != "" {
				t.Errorf("%s, version %d:\n%s", name, version, diff)
			}
		}
	}
}

func TestReadNPYErrors(t *testing.T) {
	header := func(descr, shape string) string {
		return fmt.Sprintf("{'descr': %s, 'fortran_order': False, 'shape': %s}", descr, shape)
	}
	for _, c := range []struct{ name, dict, want string }{
		{"complex", header("'<c8'", "(2,)"), `"<c8" is not supported, want u1, u2, u4, u8, i1, i2, i4, i8, f2, f4, f8 or b1`},
		{"long double", header("'<f16'", "(2,)"), `"<f16"`},
		{"long", header("'"+strings.Repeat("a", 1000)+"'", "(2,)"), `dtype "aaaaaaaaaaaaaaaaaaaa" is`},
		{"complex", header("'<c16'", "(2,)"), `"<c16"`},
		{"string", header("'<U5'", "(2,)"), `"<U5"`},
		{"object", header("'|O'", "(2,)"), `"|O"`},
		{"wide without order", header("'|u2'", "(2,)"), `"|u2"`},
		{"strange order", header("'!u2'", "(2,)"), `"!u2"`},
		{"structure", header("[('a', '<u2')]", "(2,)"), "a structure is not supported, want u1, u2, u4"},
		{"negative", header("'|u1'", "(-2, 3)"), "negative"},
		{"huge dimension", header("'|u1'", "(99999999999999999999,)"), "too large"},
		{"huge product", header("'<f8'", "(4294967296, 4294967296)"), "does not fit in an int"},
		{"promises too much", header("'<f8'", "(1000000, 1000000)"), "truncated npy data: shape (1000000, 1000000) of <f8 needs 8000000000000 bytes, got 8"},
		{"dimensions", header("'|u1'", "("+strings.Repeat("1,", 65)+")"), "more than 64"},
		{"not a tuple", header("'|u1'", "(3)"), "not a tuple"},
		{"no comma", header("'|u1'", "(3 4)"), "expected ','"},
		{"empty element", header("'|u1'", "(,)"), "expected a number"},
		{"float shape", header("'|u1'", "(2.0,)"), "expected"},
		{"bad flag", "{'descr': '|u1', 'fortran_order': 0, 'shape': (1,)}", "True or False"},
		{"missing key", "{'descr': '|u1', 'shape': (1,)}", "fortran_order"},
		{"twice", "{'descr': '|u1', 'descr': '|u1', 'fortran_order': False, 'shape': (1,)}", "twice"},
		{"unknown key", "{'descr': '|u1', 'fortran_order': False, 'shape': (1,), 'x': 1}", `"x" is unknown`},
		{"open string", "{'descr", "plain string"},
		{"escape", `{'desc\x72': '|u1'}`, "plain string"},
		{"no string", "{descr: 1}", "expected a string"},
		{"no colon", "{'descr' '|u1'}", "expected ':'"},
		{"no brace", "", "expected '{'"},
		{"after it", header("'|u1'", "(1,)") + " x", "follows"},
		{"no end", "{'descr': '|u1'", "expected ','"},
	} {
		_, err := ReadNPY(bytes.NewReader(rawNPY(2, c.dict, make([]byte, 8))))
		if err == nil || !strings.Contains(err.Error(), c.want) || strings.HasPrefix(err.Error(), "imgio: ") {
			t.Errorf("%s: error is %v, want %q in it", c.name, err, c.want)
		}
	}
	whole := rawNPY(1, header("'<u2'", "(2, 2)"), make([]byte, 8))
	for n := range whole {
		for _, r := range []io.Reader{bytes.NewReader(whole[:n]), iotest.OneByteReader(bytes.NewReader(whole[:n]))} {
			if _, err := ReadNPY(r); !errors.Is(err, io.ErrUnexpectedEOF) {
				t.Errorf("cut to %d bytes: %v", n, err)
			}
		}
	}
	for name, b := range map[string][]byte{
		"magic":   []byte("\x93NUMPX\x01\x00v\x00"),
		"version": rawNPY(9, "", nil),
		"length":  append([]byte(npyMagic), 2, 0, 255, 255, 255, 255),
	} {
		if _, err := ReadNPY(bytes.NewReader(b)); err == nil {
			t.Errorf("bad %s is taken", name)
		}
	}
	broken := errors.New("broken")
	for _, r := range []io.Reader{iotest.ErrReader(broken), io.MultiReader(bytes.NewReader(whole[:len(whole)-1]), iotest.ErrReader(broken))} {
		if _, err := ReadNPY(r); !errors.Is(err, broken) {
			t.Errorf("a failing reader gives %v", err)
		}
	}
}

// TestReadNPYTakesNoMemoryOnTrust tests that a header alone does not cause the allocation of the memory that it declares.
func TestReadNPYTakesNoMemoryOnTrust(t *testing.T) {
	file := rawNPY(1, "{'descr': '<f8', 'fortran_order': False, 'shape': (65536, 65536)}", make([]byte, 100))
	allocated := allocatedBy(func() {
		if _, err := ReadNPY(iotest.DataErrReader(bytes.NewReader(file))); !errors.Is(err, io.ErrUnexpectedEOF) {
			t.Errorf("error is %v", err)
		}
	})
	if allocated > 8<<20 {
		t.Errorf("%d bytes were allocated", allocated)
	}
}

// TestReadNPYGrows reads a stream of unknown length that is longer than the first allocation.
func TestReadNPYGrows(t *testing.T) {
	want := make([]uint16, 500_001)
	for i := range want {
		want[i] = uint16(i * 7)
	}
	var file bytes.Buffer
	if err := WriteNPY(&file, []int{len(want)}, one(want)); err != nil {
		t.Fatal(err)
	}
	got, err := ReadNPY(io.MultiReader(&file))
	if err != nil || !reflect.DeepEqual(got.Data, want) {
		t.Fatalf("differs, %v", err)
	}
}

func TestNPYRoundTrip(t *testing.T) {
	t.Run("uint8", roundTrip[uint8])
	t.Run("uint16", roundTrip[uint16])
	t.Run("uint32", roundTrip[uint32])
	t.Run("uint64", roundTrip[uint64])
	t.Run("int16", roundTrip[int16])
	t.Run("int32", roundTrip[int32])
	t.Run("int64", roundTrip[int64])
	t.Run("float32", roundTrip[float32])
	t.Run("float64", roundTrip[float64])
	t.Run("foreign byte order", func(t *testing.T) {
		defer func(little bool) { hostIsLittle = little }(hostIsLittle)
		hostIsLittle = !hostIsLittle
		t.Run("uint16", roundTrip[uint16])
		t.Run("float64", roundTrip[float64])
	})
}

// roundTrip writes arrays of one type in random runs and reads them back.
func roundTrip[T Element](t *testing.T) {
	write := func(w io.Writer, z *NPZ, shape []int, data []byte, cut int) error {
		all := raster.Elems[T](data)
		rows := func(yield func([]T) bool) { _ = yield(all[:cut]) && yield(all[cut:]) }
		return errors.Join(WriteNPY(w, shape, rows), WriteNPZ(z, "a", shape, rows))
	}
	memory := func(a *Array) (data []byte, ok bool) {
		elems, ok := a.Data.([]T)
		return raster.Bytes(elems), ok
	}
	rapid.Check(t, func(t *rapid.T) { roundTripOf(t, raster.TypeOf[T](), write, memory) })
}

// roundTripOf writes elements in two runs, the second from element cut on, and reads them. It
// then reads the same bytes as big-endian and in Fortran order, and compares them by index.
func roundTripOf(t *rapid.T, kind raster.Type, write func(w io.Writer, z *NPZ, shape []int, data []byte, cut int) error, memory func(*Array) ([]byte, bool)) {
	shape := rapid.SliceOfN(rapid.IntRange(0, 9), 0, 3).Draw(t, "shape")
	count, _ := elementCount(shape)
	size := kind.Bytes()
	data := raster.Aligned(count * size)
	copy(data, rapid.SliceOfN(rapid.Byte(), len(data), len(data)).Draw(t, "bytes"))
	cut := rapid.IntRange(0, count).Draw(t, "cut")

	var file, untyped, archive, archive2 bytes.Buffer
	asBytes := func(yield func([]byte) bool) { _ = yield(data[:cut*size]) && yield(data[cut*size:]) }
	z, z2 := NewNPZ(&archive), NewNPZ(&archive2)
	if err := errors.Join(
		write(&file, z, shape, data, cut), WriteNPYBytes(&untyped, kind.String(), shape, asBytes), z2.WriteBytes("a", kind.String(), shape, asBytes), z.Close(), z2.Close(),
	); err != nil || !bytes.Equal(untyped.Bytes(), file.Bytes()) || !bytes.Equal(archive.Bytes(), archive2.Bytes()) {
		t.Fatalf("elements given as bytes are written differently: %v", err)
	}
	start := file.Len() - len(data)
	if start%64 != 0 {
		t.Fatalf("data starts at %d", start)
	}
	check := func(file, want []byte) {
		got, err := ReadNPY(bytes.NewReader(file))
		if err != nil {
			t.Fatal(err)
		}
		have, ok := memory(got)
		if !ok || !reflect.DeepEqual(append([]int{}, got.Shape...), append([]int{}, shape...)) {
			t.Fatalf("shape %v of %T, want %v of %v", got.Shape, got.Data, shape, kind)
		}
		if !bytes.Equal(have, want) {
			t.Fatalf("data %v, want %v", have, want)
		}
	}
	check(file.Bytes(), data)
	letters := strings.TrimLeft(descr(kind), "<|")
	turned := bytes.Clone(file.Bytes()[start:])
	swapBytes(turned, size)
	check(rawNPY(1, fmt.Sprintf("{'descr': '>%s', 'fortran_order': False, 'shape': %s}", letters, shapeString(shape)), turned), data)
	check(rawNPY(1, fmt.Sprintf("{'descr': '<%s', 'fortran_order': True, 'shape': %s}", letters, shapeString(shape)), file.Bytes()[start:]), fromFortran(data, size, shape))
}

// fromFortran reorders an array from Fortran order, element by element.
func fromFortran(data []byte, size int, shape []int) []byte {
	out := make([]byte, len(data))
	for i := range len(data) / size {
		rest, from := i, 0
		for d := len(shape) - 1; d >= 0; d-- {
			below := 1
			for _, n := range shape[:d] {
				below *= n
			}
			from += rest % shape[d] * below
			rest /= shape[d]
		}
		copy(out[i*size:][:size], data[from*size:])
	}
	return out
}

func TestFortranBlocks(t *testing.T) {
	shape := []int{70, 3, 41}
	data := make([]int32, 70*3*41)
	for i := range data {
		data[i] = int32(i)
	}
	want := fromFortran(raster.Bytes(data), 4, shape)
	if got := rowMajor(data, make([]int32, len(data)), shape); !bytes.Equal(raster.Bytes(got), want) {
		t.Error("differs")
	}
}

func TestOpenNPY(t *testing.T) {
	dir := t.TempDir()
	big := make([]float32, mapBytes/4+5)
	for i := range big {
		big[i] = float32(i)
	}
	for name, data := range map[string][]float32{"small": big[:100], "mapped": big} {
		path := filepath.Join(dir, name)
		err := WriteFile(path, func(w io.Writer) error { return WriteNPY(w, []int{1, len(data)}, one(data)) })
		if err != nil {
			t.Fatal(err)
		}
		before, _ := os.ReadFile(path)
		a, c, err := OpenNPY(path)
		if err != nil {
			t.Fatal(err)
		}
		got := a.Data.([]float32)
		if !reflect.DeepEqual(got, data) {
			t.Errorf("%s: differs", name)
		}
		got[0] = -1 // changes memory, not the file
		for range 2 {
			if err := c.Close(); err != nil {
				t.Error(err)
			}
		}
		if after, _ := os.ReadFile(path); !bytes.Equal(before, after) {
			t.Errorf("%s: the file has changed", name)
		}
		if err := os.Truncate(path, int64(len(before)-1)); err != nil {
			t.Fatal(err)
		}
		if _, _, err := OpenNPY(path); !errors.Is(err, io.ErrUnexpectedEOF) || !strings.Contains(err.Error(), path) {
			t.Errorf("%s: truncated: %v", name, err)
		}
	}
	if _, _, err := OpenNPY(filepath.Join(dir, "none")); !errors.Is(err, os.ErrNotExist) {
		t.Errorf("no file: %v", err)
	}
	// Data that is misaligned, in the other byte order, or in Fortran order is read instead of mapped.
	for name, dict := range map[string]string{
		"odd":     "{'descr': '<f4', 'fortran_order': False, 'shape': (2, 200000)}",
		"swapped": "{'descr': '>f4', 'fortran_order': False, 'shape': (2, 200000)}",
		"fortran": "{'descr': '<f4', 'fortran_order': True, 'shape': (2, 200000)}",
	} {
		if len(dict)%2 == 0 {
			dict += " "
		}
		path := filepath.Join(dir, name)
		if err := os.WriteFile(path, rawNPY(1, dict, bytesOf(make([]float32, 400000))), 0o600); err != nil {
			t.Fatal(err)
		}
		a, c, err := OpenNPY(path)
		if err != nil || len(a.Data.([]float32)) != 400000 {
			t.Errorf("%s: %v", name, err)
			continue
		}
		c.Close()
	}
}

func TestArrayImage(t *testing.T) {
	got, err := (&Array{Shape: []int{2, 3, 4}, Data: make([]int16, 24)}).Image()
	want := boxsum.Image[int16]{Pix: make([]int16, 24), Stride: 12, Width: 3, Height: 2, Channels: 4}
	if diff := cmp.Diff(want, got); err != nil || diff != "" {
		t.Error(err, diff)
	}
	for _, data := range []any{make([]uint8, 6), make([]uint16, 6), make([]uint32, 6), make([]int32, 6), make([]float32, 6), make([]float64, 6), make([]int64, 6), make([]uint64, 6)} {
		if _, err := (&Array{Shape: []int{2, 3}, Data: data}).Image(); err != nil {
			t.Errorf("%T: %v", data, err)
		}
	}
	for _, a := range []*Array{
		{Shape: []int{6}, Data: make([]uint8, 6)},
		{Shape: []int{1, 1, 2, 3}, Data: make([]uint8, 6)},
		{Shape: []int{2, 3, 0}, Data: []uint8{}},
		{Shape: []int{0, 1 << 30}, Data: []uint8{}},
		{Shape: []int{1 << 11, 0, 1 << 11}, Data: []uint8{}},
		{Shape: []int{2, 4}, Data: make([]uint8, 6)},
		{Shape: []int{-2, 4}, Data: make([]uint8, 6)},
		{Shape: []int{math.MaxInt / 2, 4}, Data: make([]uint8, 6)},
		{Shape: []int{2, 4}, Data: make([]uint64, 6)},
		{Shape: []int{2, 3}, Data: make([]int8, 6)},
		{Shape: []int{2, 3}},
	} {
		if img, err := a.Image(); err == nil {
			t.Errorf("shape %v of %T gives %v", a.Shape, a.Data, img)
		}
	}
}

func TestWriteNPYErrors(t *testing.T) {
	for name, c := range map[string]struct {
		shape []int
		rows  []uint8
	}{
		"too few": {[]int{2, 2}, make([]uint8, 3)}, "too many": {[]int{2, 2}, make([]uint8, 5)},
		"negative": {[]int{-1}, nil}, "dimensions": {make([]int, 65), nil}, "huge": {[]int{math.MaxInt, 2}, nil},
	} {
		if err := WriteNPY(io.Discard, c.shape, one(c.rows)); err == nil {
			t.Errorf("%s is taken", name)
		}
	}
	for _, dtype := range []string{"", "u8", "int8", "float16"} {
		if err := WriteNPYBytes(io.Discard, dtype, []int{1}, one([]byte{0})); !errors.Is(err, boxsum.ErrTypes) {
			t.Errorf("dtype %q: %v", dtype, err)
		}
		if err := NewNPZ(io.Discard).WriteBytes("a", dtype, []int{1}, one([]byte{0})); !errors.Is(err, boxsum.ErrTypes) {
			t.Errorf("dtype %q: %v", dtype, err)
		}
	}
	if err := WriteNPYBytes(io.Discard, "uint16", []int{2}, one(make([]byte, 3))); err == nil {
		t.Error("three bytes of uint16 are taken")
	}
	for _, n := range []int{1, 1 << 20} {
		if err := WriteNPY(failing{}, []int{n}, one(make([]uint8, n))); !errors.Is(err, errFull) {
			t.Errorf("a failing writer gives %v", err)
		}
	}
}

var errFull = errors.New("disk full")

type failing struct{}

func (failing) Write([]byte) (int, error) { return 0, errFull }

func TestViews(t *testing.T) {
	table, err := boxsum.NewTable[uint32](3, 2, 2)
	if err != nil {
		t.Fatal(err)
	}
	for y := range 3 {
		for x := range 4 {
			for c := range 2 {
				table.Sums[y*table.Stride+x*2+c] = uint32(100*y + 10*x + c)
			}
		}
	}
	var file bytes.Buffer
	v := table.Inclusive()
	if err := WriteNPY(&file, ViewShape(v), ViewRows(v)); err != nil {
		t.Fatal(err)
	}
	got, err := ReadNPY(&file)
	want := &Array{Shape: []int{2, 3, 2}, Data: []uint32{110, 111, 120, 121, 130, 131, 210, 211, 220, 221, 230, 231}}
	if diff := cmp.Diff(want, got); err != nil || diff != "" {
		t.Error(err, diff)
	}
	flat := boxsum.View[float64]{Sums: []float64{1, 2}, Stride: 2, Width: 2, Height: 1, Channels: 1}
	if got := ViewShape(flat); !reflect.DeepEqual(got, []int{1, 2}) {
		t.Errorf("shape %v", got)
	}
	for range ViewRows(flat) {
		break
	}
	for _, empty := range []boxsum.View[float64]{{Width: 0, Height: 3, Channels: 1}, {Width: 3, Height: 0, Channels: 1}} {
		if err := WriteNPY(io.Discard, ViewShape(empty), ViewRows(empty)); err != nil {
			t.Error(err)
		}
	}
}

// TestNamedDtypes tests that the error for an unsupported type names only types that
// are supported as images.
func TestNamedDtypes(t *testing.T) {
	bad := func(descr string) error {
		_, err := Decode(bytes.NewReader(rawNPY(1, "{'descr': '"+descr+"', 'fortran_order': False, 'shape': (1, 1)}", make([]byte, 8))), Keep)
		return err
	}
	names := map[string]string{
		"uint8": "u1", "uint16": "u2", "uint32": "u4", "int16": "i2", "int32": "i4", "float32": "f4", "float64": "f8",
		"u1": "u1", "u2": "u2", "u4": "u4", "u8": "u8", "i1": "i1", "i8": "i8", "f2": "f2", "i2": "i2", "i4": "i4", "f4": "f4", "f8": "f8", "b1": "b1",
	}
	for _, descr := range []string{"<c8", "<f16", "|S1", "<M8"} {
		err := bad(descr)
		if err == nil {
			t.Fatalf("%s is read", descr)
		}
		_, list, found := strings.Cut(err.Error(), "is not supported, want ")
		if !found {
			t.Errorf("%s: %v", descr, err)
		}
		for name := range strings.FieldsFuncSeq(strings.ReplaceAll(list, " or ", ", "), func(r rune) bool { return r == ',' || r == ' ' }) {
			if err := bad("<" + names[name]); err != nil {
				t.Errorf("%s is told of %s: %v", descr, name, err)
			}
		}
	}
}
