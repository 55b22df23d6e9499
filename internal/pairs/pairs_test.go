package pairs_test

import (
	"fmt"
	"os"
	"strconv"
	"strings"
	"testing"

	"github.com/boxsum/boxsum/internal/pairs"
)

func TestTypes(t *testing.T) {
	for _, typ := range pairs.All() {
		short := typ.String()[:1] + strconv.Itoa(8*typ.Bytes())
		if typ.Short() != short || typ.Float() != (short[0] == 'f') || typ.Signed() != (short[0] != 'u') || typ.Bits().Bytes() != typ.Bytes() {
			t.Errorf("%v is %s, float %v, signed %v", typ, typ.Short(), typ.Float(), typ.Signed())
		}
		for _, name := range []string{typ.String(), typ.Short()} {
			if got, ok := pairs.Parse(name); !ok || got != typ {
				t.Errorf("Parse(%q) is %v, %v", name, got, ok)
			}
		}
	}
	if got := pairs.Of[int16](); got != pairs.I16 {
		t.Errorf("Of[int16] is %v", got)
	}
	if got := pairs.Of[string](); got != 0 {
		t.Errorf("Of[string] is %v", got)
	}
	if got := pairs.F64.NumPy() + pairs.U8.NumPy(); got != "f8u1" {
		t.Errorf("NumPy's names are %s", got)
	}
}

func TestChoices(t *testing.T) {
	list := pairs.List{
		{Pixel: pairs.U8, Sum: pairs.U32, Kinds: pairs.Upright | pairs.Volume}, {Pixel: pairs.U8, Sum: pairs.U64, Kinds: pairs.Upright},
		{Pixel: pairs.U8, Sum: pairs.F64, Kinds: pairs.Upright}, {Pixel: pairs.I16, Sum: pairs.I64, Kinds: pairs.Upright},
	}
	for _, c := range []struct{ got, want string }{
		{list.Choices(pairs.U8), "uint8 pixels sum to uint32, uint64 or float64"},
		{list.Choices(pairs.I16), "int16 pixels sum to int64"},
		{list.Choices(pairs.F32), "pixels are uint8 or int16"},
		{list.Missing(pairs.U8, pairs.I64), "no table of int64 from uint8 pixels: uint8 pixels sum to uint32, uint64 or float64"},
		{list.For(pairs.Volume).Choices(pairs.U8), "uint8 pixels sum to uint32"},
	} {
		if c.got != c.want {
			t.Errorf("%q instead of %q", c.got, c.want)
		}
	}
	if list.Usual(pairs.U8) != pairs.U32 || list.Usual(pairs.F32) != 0 || !list.Has(pairs.U8, pairs.F64) || list.Has(pairs.I16, pairs.F64) {
		t.Error("the usual sums are others")
	}
}

// The table in the documentation of the root package is the list.
func TestDocumented(t *testing.T) {
	doc, err := os.ReadFile("../../doc.go")
	if err != nil {
		t.Fatal(err)
	}
	for _, pixel := range pairs.Pixels() {
		var sums []string
		for _, sum := range pairs.Sums.Of(pixel) {
			sums = append(sums, sum.String())
		}
		line := fmt.Sprintf("//\t%-9v %s\n", pixel, strings.Join(sums, ", "))
		if !strings.Contains(string(doc), line) {
			t.Errorf("doc.go has no line %q", line)
		}
	}
}

func TestNumbers(t *testing.T) {
	for _, c := range []struct{ got, want pairs.Type }{
		{pairs.TypeOf[uint8](), pairs.U8}, {pairs.TypeOf[uint16](), pairs.U16}, {pairs.TypeOf[uint32](), pairs.U32}, {pairs.TypeOf[uint64](), pairs.U64},
		{pairs.TypeOf[int16](), pairs.I16}, {pairs.TypeOf[int32](), pairs.I32}, {pairs.TypeOf[int64](), pairs.I64},
		{pairs.TypeOf[float32](), pairs.F32}, {pairs.TypeOf[float64](), pairs.F64},
	} {
		if c.got != c.want {
			t.Errorf("%v instead of %v", c.got, c.want)
		}
	}
	if n := pairs.NumberTwo[uint8, float64](); n != 19 {
		t.Errorf("uint8 and float64 are number %d", n)
	}
}
