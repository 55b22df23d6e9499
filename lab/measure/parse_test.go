package measure

import (
	"slices"
	"strings"
	"testing"
)

func TestParseSizes(t *testing.T) {
	for _, test := range []struct {
		list string
		want []Size
	}{
		{"480p", []Size{{Name: "480p", Width: 854, Height: 480}}},
		{"480p,720p,1080p,2160p,4096x4096", []Size{
			{Name: "480p", Width: 854, Height: 480}, {Name: "720p", Width: 1280, Height: 720}, {Name: "1080p", Width: 1920, Height: 1080}, {Name: "2160p", Width: 3840, Height: 2160}, {Name: "4096x4096", Width: 4096, Height: 4096},
		}},
		{"5x6x7", []Size{{Name: "5x6x7", Width: 5, Height: 6, Depth: 7}}},
		{" 1x2 , 3x4 ", []Size{{Name: "1x2", Width: 1, Height: 2}, {Name: "3x4", Width: 3, Height: 4}}},
	} {
		got, err := ParseSizes(test.list)
		if err != nil || !slices.Equal(got, test.want) {
			t.Errorf("ParseSizes(%q) = %v, %v, want %v", test.list, got, err, test.want)
		}
	}
}

func TestParseTypes(t *testing.T) {
	for _, test := range []struct {
		list string
		want []Case
	}{
		{"u8:u32", []Case{{"u8:u32", 1}}},
		{"u8:u32,f32:f64", []Case{{"u8:u32", 1}, {"f32:f64", 1}}},
		{"u8:u32x3, u8:u32x1", []Case{{"u8:u32", 3}, {"u8:u32", 1}}},
		{"squares,u8:u32+u64,squaresx2", []Case{{"u8:u32+u64", 1}, {"u8:u32+u64", 1}, {"u8:u32+u64", 2}}},
	} {
		got, err := ParseTypes(test.list)
		if err != nil || !slices.Equal(got, test.want) {
			t.Errorf("ParseTypes(%q) = %v, %v, want %v", test.list, got, err, test.want)
		}
	}
}

func TestParseErrors(t *testing.T) {
	sizes := func(s string) error { _, err := ParseSizes(s); return err }
	types := func(s string) error { _, err := ParseTypes(s); return err }
	for _, test := range []struct {
		parse func(string) error
		text  string
		want  string // part of the error
	}{
		{sizes, "", `unknown size "": use one of 480p, 720p`},
		{sizes, "480p,,720p", `unknown size ""`},
		{sizes, "999p", `unknown size "999p"`},
		{sizes, "0x5", `"0" is not a number of pixels`},
		{sizes, "5x-1", `"-1" is not a number of pixels`},
		{sizes, "5x5x5x5", `"5x5" is not a number of pixels`},
		{sizes, "1048577x1", "from 1 to 1048576"},
		{sizes, "99999999999999999999x1", "from 1 to 1048576"},
		{types, "", `unknown types "": use one of u8:u32, u8:u64`},
		{types, "u8", `unknown types "u8"`},
		{types, "i16:u32", `unknown types "i16:u32"`},
		{types, "u8:u32x0", `"0" is not a number of channels from 1 to 64`},
		{types, "u8:u32x", `"" is not a number of channels`},
		{types, "u8:u32x65", `"65" is not a number of channels`},
	} {
		err := test.parse(test.text)
		if err == nil || strings.HasPrefix(err.Error(), "measure: ") || !strings.Contains(err.Error(), test.want) {
			t.Errorf("%q gives %v, want an error with %s", test.text, err, test.want)
		}
	}
}

func FuzzParseSizes(f *testing.F) {
	for _, s := range []string{"480p,8192x8192", "1x1", "0x0", "x", "1e3x5", "٣x٤", "1048576x1048576"} {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, list string) {
		sizes, err := ParseSizes(list)
		if err != nil {
			return
		}
		for _, s := range sizes {
			again, err := parseSize(s.String())
			if err != nil || again != s || s.Width < 1 || s.Height < 1 || s.Width > MaxSide || s.Height > MaxSide {
				t.Errorf("%q: %+v is read again as %+v, %v", list, s, again, err)
			}
		}
	})
}

func FuzzParseTypes(f *testing.F) {
	for _, s := range []string{"u8:u32,u8:f64,squares,u8:u32x3,tilted", "squaresx64", "tilted", "f32:f32-tiltedx3", "rotated:1/2", "f32:f64@-2/3x2", "u8:u32@1/0", "rotated:", "u8:u32+u64-tilted", "-tilted", "u8:u32x03", "f64:f64", ":", "+x+"} {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, list string) {
		cases, err := ParseTypes(list)
		if err != nil {
			return
		}
		for _, c := range cases {
			again, err := parseCase(c.String())
			if err != nil || again != c {
				t.Errorf("%q: %+v is read again as %+v, %v", list, c, again, err)
			}
			if read, written := c.Bytes(Size{Width: MaxSide, Height: MaxSide}); read <= 0 || written < read {
				t.Errorf("%v: %d bytes read and %d written", c, read, written)
			}
		}
	})
}
