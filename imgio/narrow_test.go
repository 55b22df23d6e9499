package imgio_test

import (
	"bytes"
	"encoding/binary"
	"errors"
	"fmt"
	"math"
	"os"
	"path/filepath"
	"reflect"
	"strings"
	"testing"

	"github.com/boxsum/boxsum"
	"github.com/boxsum/boxsum/imgio"
)

// npyOf returns a .npy file of any dtype and order, with numbers of the size of T.
func npyOf[T any](descr string, fortran bool, shape string, values ...T) []byte {
	header := fmt.Sprintf("{'descr': '%s', 'fortran_order': %s, 'shape': %s, }", descr, map[bool]string{false: "False", true: "True"}[fortran], shape)
	header += strings.Repeat(" ", 63-(10+len(header))%64) + "\n"
	var b bytes.Buffer
	b.WriteString("\x93NUMPY\x01\x00")
	binary.Write(&b, binary.LittleEndian, uint16(len(header)))
	b.WriteString(header)
	var order binary.ByteOrder = binary.LittleEndian
	if descr[0] == '>' {
		order = binary.BigEndian
	}
	binary.Write(&b, order, values)
	return b.Bytes()
}

// TestOtherTypes tests that element types that are not pixel types are converted to ones that hold all of their values.
func TestOtherTypes(t *testing.T) {
	const large = 1 << 40
	for name, tc := range map[string]struct {
		file []byte
		want any // the pixels
	}{
		"int8":               {npyOf("|i1", false, "(2, 2)", int8(-128), int8(127), int8(-1), int8(0)), []int16{-128, 127, -1, 0}},
		"int8, Fortran":      {npyOf("|i1", true, "(2, 2)", int8(-128), int8(127), int8(-1), int8(0)), []int16{-128, -1, 127, 0}},
		"float16":            {npyOf("<f2", false, "(1, 4)", uint16(0x3c00), uint16(0xfbff), uint16(0x0001), uint16(0x7c00)), []float32{1, -65504, 0x1p-24, float32(math.Inf(1))}},
		"float16, swapped":   {npyOf(">f2", false, "(1, 2)", uint16(0x3c00), uint16(0x8000)), []float32{1, float32(math.Copysign(0, -1))}},
		"int64":              {npyOf("<i8", false, "(1, 3)", int64(math.MinInt32), int64(0), int64(math.MaxInt32)), []int32{math.MinInt32, 0, math.MaxInt32}},
		"int64, swapped":     {npyOf(">i8", false, "(1, 2)", int64(-7), int64(9)), []int32{-7, 9}},
		"int64, Fortran":     {npyOf("<i8", true, "(2, 2)", int64(1), int64(2), int64(3), int64(-4)), []int32{1, 3, 2, -4}},
		"int64 in uint32":    {npyOf("<i8", false, "(1, 2)", int64(0), int64(math.MaxUint32)), []uint32{0, math.MaxUint32}},
		"int64 in float64":   {npyOf("<i8", false, "(1, 2)", int64(-1<<53), int64(1<<53)), []float64{-1 << 53, 1 << 53}},
		"uint64":             {npyOf("<u8", false, "(1, 2)", uint64(1), uint64(math.MaxUint32)), []uint32{1, math.MaxUint32}},
		"uint64 in float64":  {npyOf("<u8", false, "(1, 2)", uint64(1), uint64(1<<53)), []float64{1, 1 << 53}},
		"int64 beyond":       {npyOf("<i8", false, "(1, 2)", int64(-1<<53-1), int64(4)), "values of int64 from -9007199254740993 to 4"},
		"uint64 beyond":      {npyOf("<u8", false, "(1, 2)", uint64(3), uint64(math.MaxUint64)), "values of uint64 from 3 to 18446744073709551615"},
		"int64, no elements": {npyOf[int64]("<i8", false, "(0, 5)"), []int32{}},
	} {
		p, err := imgio.Decode(bytes.NewReader(tc.file), imgio.ToGray)
		if text, ok := tc.want.(string); ok {
			if !errors.Is(err, boxsum.ErrTypes) || !strings.Contains(err.Error(), text) {
				t.Errorf("%s: error %v, want one with %q", name, err, text)
			}
			continue
		}
		if err != nil {
			t.Errorf("%s: %v", name, err)
			continue
		}
		if got := reflect.ValueOf(p.Image).FieldByName("Pix").Interface(); !reflect.DeepEqual(got, tc.want) {
			t.Errorf("%s: pixels %v of %T, want %v of %T", name, got, got, tc.want, tc.want)
		}
		if want, _, _ := strings.Cut(strings.ReplaceAll(name, ",", " "), " "); p.Element != want {
			t.Errorf("%s: elements of %q", name, p.Element)
		}
	}
	for name, tc := range map[string]struct {
		file []byte
		want any
	}{
		"wide":     {npyOf("<i8", false, "(1, 2)", int64(math.MinInt64), int64(1)), boxsum.Image[int64]{Pix: []int64{math.MinInt64, 1}, Stride: 2, Width: 2, Height: 1, Channels: 1}},
		"unsigned": {npyOf(">u8", false, "(1, 1, 2)", uint64(large), uint64(1)), boxsum.Image[uint64]{Pix: []uint64{large, 1}, Stride: 2, Width: 1, Height: 1, Channels: 2}},
		"small":    {npyOf("<i8", false, "(1, 1)", int64(5)), boxsum.Image[int32]{Pix: []int32{5}, Stride: 1, Width: 1, Height: 1, Channels: 1}},
		"bytes":    {npyOf("|u1", false, "(1, 1)", uint8(5)), boxsum.Image[uint8]{Pix: []uint8{5}, Stride: 1, Width: 1, Height: 1, Channels: 1}},
	} {
		p, err := imgio.DecodeWith(bytes.NewReader(tc.file), imgio.Options{Wide: true})
		if err != nil || !reflect.DeepEqual(p.Image, tc.want) {
			t.Errorf("%s: %v, %v; want %v", name, p, err, tc.want)
		}
	}
}

// TestFloat16 compares the float32 of every float16 with the formula.
func TestFloat16(t *testing.T) {
	values := make([]uint16, 1<<16)
	for i := range values {
		values[i] = uint16(i)
	}
	a, err := imgio.ReadNPY(bytes.NewReader(npyOf("<f2", false, "(256, 256)", values...)))
	if err != nil {
		t.Fatal(err)
	}
	for i, got := range a.Data.([]float32) {
		exponent, fraction := i>>10&31, float64(i&1023)
		want := math.Ldexp(1+fraction/1024, exponent-15)
		switch {
		case exponent == 0:
			want = math.Ldexp(fraction/1024, -14)
		case exponent == 31 && fraction != 0:
			want = math.NaN()
		case exponent == 31:
			want = math.Inf(1)
		}
		if i>>15 == 1 {
			want = -want
		}
		if float64(got) != want && !(math.IsNaN(want) && got != got) || math.Signbit(float64(got)) != (i>>15 == 1) {
			t.Fatalf("%#04x is %v, want %v", i, got, want)
		}
	}
}

// TestOtherTypesOfLargeFiles tests that large files are mapped, and that all slices of volumes of 64-bit integers have one type.
func TestOtherTypesOfLargeFiles(t *testing.T) {
	const side = 1100
	bytes8, wide := make([]int8, side*side), make([]int64, 3*400*300)
	for i := range bytes8 {
		bytes8[i] = int8(i * 7)
	}
	wide[len(wide)-1] = 1 << 33
	dir := t.TempDir()
	write := func(name string, data []byte) string {
		path := filepath.Join(dir, name)
		if err := os.WriteFile(path, data, 0o644); err != nil {
			t.Fatal(err)
		}
		return path
	}
	path := write("bytes.npy", npyOf("|i1", false, fmt.Sprintf("(%d, %d)", side, side), bytes8...))
	img, file, err := imgio.OpenImage[int16](path, imgio.Options{})
	if err != nil {
		t.Fatal(err)
	}
	defer file.Close()
	for i, v := range img.Pix {
		if v != int16(bytes8[i]) {
			t.Fatalf("pixel %d is %d, want %d", i, v, bytes8[i])
		}
	}
	signs := make([]int8, 3*1000*400)
	signs[len(signs)-1] = -1
	stack, err := imgio.OpenStack(write("signs.npy", npyOf("|i1", false, "(3, 1000, 400)", signs...)), imgio.ToGray)
	if err != nil {
		t.Fatal(err)
	}
	defer stack.Close()
	if last, err := stack.Slice(2); err != nil || last.(boxsum.Image[int16]).Pix[1000*400-1] != -1 || stack.Element != "int8" || stack.Whole != nil {
		t.Errorf("slices of %T, from %s: %v", last, stack.Element, err)
	}
	for _, descr := range []string{"<i8", ">i8"} {
		stack, err := imgio.OpenStack(write("volume.npy", npyOf(descr, false, "(3, 400, 300)", wide...)), imgio.ToGray)
		if err != nil {
			t.Fatal(descr, err)
		}
		last, err := stack.Slice(2)
		if err != nil {
			t.Fatal(descr, err)
		}
		slice, ok := last.(boxsum.Image[float64])
		if _, first := stack.First.(boxsum.Image[float64]); !ok || !first || slice.Pix[400*300-1] != 1<<33 {
			t.Errorf("%s: slices of %T and %T", descr, stack.First, last)
		}
		if err := stack.Close(); err != nil {
			t.Error(err)
		}
	}
}

// TestOpenImage64 tests that OpenImage converts 64-bit integers to the requested type if it holds them.
func TestOpenImage64(t *testing.T) {
	path := filepath.Join(t.TempDir(), "small.npy")
	if err := os.WriteFile(path, npyOf("<i8", false, "(1, 3)", int64(0), int64(200), int64(7)), 0o644); err != nil {
		t.Fatal(err)
	}
	as8, _, err := imgio.OpenImage[uint8](path, imgio.Options{})
	if err != nil || !reflect.DeepEqual(as8.Pix, []uint8{0, 200, 7}) {
		t.Errorf("%v, %v", as8, err)
	}
	asFloat, _, err := imgio.OpenImage[float64](path, imgio.Options{})
	if err != nil || !reflect.DeepEqual(asFloat.Pix, []float64{0, 200, 7}) {
		t.Errorf("%v, %v", asFloat, err)
	}
	if err := os.WriteFile(path, npyOf("<i8", false, "(1, 1)", int64(-1)), 0o644); err != nil {
		t.Fatal(err)
	}
	if _, _, err := imgio.OpenImage[uint16](path, imgio.Options{}); !errors.Is(err, boxsum.ErrTypes) || !strings.Contains(err.Error(), "from -1 to -1") {
		t.Errorf("-1 in uint16: %v", err)
	}
}
