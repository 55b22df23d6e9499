package raster_test

import (
	"flag"
	"fmt"
	"os"
	"strconv"
	"strings"
	"testing"

	"github.com/boxsum/boxsum/internal/raster"
)

func TestTypes(t *testing.T) {
	for _, typ := range raster.AllTypes() {
		short := typ.String()[:1] + strconv.Itoa(8*typ.Bytes())
		if typ.Short() != short || typ.Float() != (short[0] == 'f') || typ.Signed() != (short[0] != 'u') || typ.Bits().Bytes() != typ.Bytes() {
			t.Errorf("%v is %s, float %v, signed %v", typ, typ.Short(), typ.Float(), typ.Signed())
		}
		for _, name := range []string{typ.String(), typ.Short()} {
			if got, ok := raster.ParseType(name); !ok || got != typ {
				t.Errorf("Parse(%q) is %v, %v", name, got, ok)
			}
		}
	}
	if got := raster.TypeNamed[int16](); got != raster.I16 {
		t.Errorf("Of[int16] is %v", got)
	}
	if got := raster.TypeNamed[string](); got != 0 {
		t.Errorf("Of[string] is %v", got)
	}
	if got := raster.F64.NumPy() + raster.U8.NumPy(); got != "f8u1" {
		t.Errorf("NumPy's names are %s", got)
	}
}

func TestChoices(t *testing.T) {
	list := raster.PairList{
		{Pixel: raster.U8, Sum: raster.U32, Kinds: raster.Upright | raster.Volume}, {Pixel: raster.U8, Sum: raster.U64, Kinds: raster.Upright},
		{Pixel: raster.U8, Sum: raster.F64, Kinds: raster.Upright}, {Pixel: raster.I16, Sum: raster.I64, Kinds: raster.Upright},
	}
	for _, c := range []struct{ got, want string }{
		{list.Choices(raster.U8), "uint8 pixels sum to uint32, uint64 or float64"},
		{list.Choices(raster.I16), "int16 pixels sum to int64"},
		{list.Choices(raster.F32), "pixels are uint8 or int16"},
		{list.Missing(raster.U8, raster.I64), "no table of int64 from uint8 pixels: uint8 pixels sum to uint32, uint64 or float64"},
		{list.For(raster.Volume).Choices(raster.U8), "uint8 pixels sum to uint32"},
	} {
		if c.got != c.want {
			t.Errorf("%q instead of %q", c.got, c.want)
		}
	}
	if list.Default(raster.U8) != raster.U32 || list.Default(raster.F32) != 0 || !list.Has(raster.U8, raster.F64) || list.Has(raster.I16, raster.F64) {
		t.Error("the usual sums are others")
	}
}

//go:generate go test -run TestDocumented . -update

var update = flag.Bool("update", false, "write the table of types in ../../doc.go anew")

// TestDocumented compares the table in the documentation of the root package with
// the list.
func TestDocumented(t *testing.T) {
	const path, head = "../../doc.go", "//\tpixels    sums, the usual one first\n"
	doc, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	before, rest, ok := strings.Cut(string(doc), head)
	got, after, closed := strings.Cut(rest, "//\n")
	if !ok || !closed {
		t.Fatalf("%s has no table of types", path)
	}
	var want strings.Builder
	for _, pixel := range raster.PixelTypes() {
		var sums []string
		for _, sum := range raster.SumPairs.Of(pixel) {
			sums = append(sums, sum.String())
		}
		fmt.Fprintf(&want, "//\t%-9v %s\n", pixel, strings.Join(sums, ", "))
	}
	switch {
	case got == want.String():
	case *update:
		if err := os.WriteFile(path, []byte(before+head+want.String()+"//\n"+after), 0o666); err != nil {
			t.Fatal(err)
		}
	default:
		t.Errorf("the table of types in %s is stale: run go generate ./internal/raster\n%s", path, want.String())
	}
}

func TestNumbers(t *testing.T) {
	for _, c := range []struct{ got, want raster.Type }{
		{raster.TypeOf[uint8](), raster.U8}, {raster.TypeOf[uint16](), raster.U16}, {raster.TypeOf[uint32](), raster.U32}, {raster.TypeOf[uint64](), raster.U64},
		{raster.TypeOf[int16](), raster.I16}, {raster.TypeOf[int32](), raster.I32}, {raster.TypeOf[int64](), raster.I64},
		{raster.TypeOf[float32](), raster.F32}, {raster.TypeOf[float64](), raster.F64},
	} {
		if c.got != c.want {
			t.Errorf("%v instead of %v", c.got, c.want)
		}
	}
}
