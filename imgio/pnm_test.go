package imgio

import (
	"bytes"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/boxsum/boxsum"
)

func pnm8(w, h, c int, pix ...uint8) boxsum.Image[uint8] {
	return boxsum.Image[uint8]{Pix: pix, Stride: w * c, Width: w, Height: h, Channels: c}
}

func pnm16(w, h, c int, pix ...uint16) boxsum.Image[uint16] {
	return boxsum.Image[uint16]{Pix: pix, Stride: w * c, Width: w, Height: h, Channels: c}
}

func TestPNM(t *testing.T) {
	for _, c := range []struct {
		name, file string
		mode       ColorMode
		want       any
	}{
		{"P1", "P1\n# a comment\n3 2\n1 0 1\n0 # more\n1 0\n", Keep, pnm8(3, 2, 1, 0, 255, 0, 255, 0, 255)},
		{"P1 without spaces", "P1 3 2 101010", Keep, pnm8(3, 2, 1, 0, 255, 0, 255, 0, 255)},
		{"P2", "P2 2 2 255 0 1 254 255", Keep, pnm8(2, 2, 1, 0, 1, 254, 255)},
		{"P2 small maximum", "P2 2 1 15 7 15", ToGray, pnm8(2, 1, 1, 7, 15)},
		{"P2 deep", "P2 2 1 1000 256 1000", Keep, pnm16(2, 1, 1, 256, 1000)},
		{"P3", "P3 1 2 255 1 2 3 4 5 6", Keep, pnm8(1, 2, 3, 1, 2, 3, 4, 5, 6)},
		{"P3 to gray", "P3 1 2 255 255 0 0 10 10 10", ToGray, pnm8(1, 2, 1, 76, 10)},
		{"P4", "P4 9 2\n\xaa\x80\x00\x00", Keep, pnm8(9, 2, 1, 0, 255, 0, 255, 0, 255, 0, 255, 0, 255, 255, 255, 255, 255, 255, 255, 255, 255)},
		{"P5", "P5 2 2 255\n\x00#\n\xff", Keep, pnm8(2, 2, 1, 0, '#', '\n', 255)},
		{"P5 comment", "P5#w\n2#h\n 1 #max\n255#data\n\x01\x02", Keep, pnm8(2, 1, 1, 1, 2)},
		{"P5 small maximum", "P5 2 1 15 \x07\x0f", Keep, pnm8(2, 1, 1, 7, 15)},
		{"P5 deep", "P5 2 1 65535\n\x01\x02\xff\xfe", Keep, pnm16(2, 1, 1, 0x0102, 0xfffe)},
		{"P6", "P6 1 1 255\n\x01\x02\x03", Keep, pnm8(1, 1, 3, 1, 2, 3)},
		{"P6 deep", "P6 1 1 256\n\x00\x01\x00\x02\x01\x00", Keep, pnm16(1, 1, 3, 1, 2, 256)},
		{"P6 deep to gray", "P6 1 1 65535\n\xff\xff\x00\x00\x00\x00", ToGray, pnm16(1, 1, 1, 19596)},
		{"two images", "P5 1 1 255\n\x07P5 1 1 255\n\x08", Keep, pnm8(1, 1, 1, 7)},
		{"no pixels", "P5 0 5 255\n", Keep, pnm8(0, 5, 1, []uint8{}...)},
		{"P7 gray+alpha", "P7\nWIDTH 1\nHEIGHT 2\n# comment\nDEPTH 2\n\nMAXVAL 255\nTUPLTYPE GRAYSCALE_ALPHA\nENDHDR\n\x01\x02\x03\x04", Keep, pnm8(1, 2, 2, 1, 2, 3, 4)},
		{"P7 gray+alpha to gray", "P7\nWIDTH 1\nHEIGHT 2\nDEPTH 2\nMAXVAL 255\nENDHDR\n\x01\x02\x03\x04", ToGray, pnm8(1, 2, 1, 1, 3)},
		{"P7 rgba deep", "P7\r\nHEIGHT 1\r\nWIDTH 1\r\nMAXVAL 65535\r\nDEPTH 4\r\nENDHDR\r\n\x01\x02\x03\x04\x05\x06\x07\x08", Keep, pnm16(1, 1, 4, 0x0102, 0x0304, 0x0506, 0x0708)},
		{"P7 black and white", "P7\nWIDTH 2\nHEIGHT 1\nDEPTH 1\nMAXVAL 1\nTUPLTYPE BLACKANDWHITE\nENDHDR\n\x00\x01", Keep, pnm8(2, 1, 1, 0, 255)},
	} {
		t.Run(c.name, func(t *testing.T) {
			got, err := Decode(bytes.NewReader([]byte(c.file)), c.mode)
			if err != nil {
				t.Fatal(err)
			}
			if diff := cmp.Diff(c.want, got.Image); diff != "" || got.Format != "pnm" {
				t.Error(got.Format, diff)
			}
		})
	}
}

func TestPNMErrors(t *testing.T) {
	for file, want := range map[string]string{
		"P5 3 ":                 "height: unexpected EOF",
		"P5 3 x 255\n":          "height: found ",
		"P5 3 3":                "maximum value",
		"P5 -3 3 255\n":         "width: found ",
		"P5 99999999999 1 255 ": "want at most 2147483647",
		"P5 0 2000000 255\n":    "0×2000000 exceeds",
		"P4 2000000000 0\n":     "2000000000×0 exceeds",
		"P5 1 1 0\n1":           "want 1 to 65535",
		"P5 1 1 65536\n11":      "want 1 to 65535",
		"P5 2 2 255\n123":       "2×2 pixels need 4 bytes, got 3",
		"P4 9 2\n123":           "need 4 bytes",
		"P6 1 1 65535\n12345":   "need 6 bytes",
		"P5 1 1 15\n\x10":       "a sample is 16, want 0 to 15 (the maximum in the header)",
		"P5 1 1 256\n\x01\x01":  "a sample is 257, want 0 to 256",
		"P2 1 1 15 16":          "a sample is 16, want 0 to 15",
		"P2 2 2 255 1 2 3x ":    "sample 4 of 4: found ",
		"P2 2 2 255 100 200 3":  "sample 4 of 4: unexpected EOF",
		"P1 2 2 1 0 2 1":        "pixel 3 of 4 is \"2\", want 0 or 1",
		"P1 2 2 1 0 1   ":       "pixel 4 of 4: unexpected EOF",
		"P7\nWIDTH 1\n":         "no ENDHDR",
		"P7\nWIDTH 1\nHEIGHT 1\nDEPTH 1\nENDHDR\n1":            "no line MAXVAL",
		"P7\nWIDTH 1\nHEIGHT 1\nDEPTH 5\nMAXVAL 255\nENDHDR\n": "depth is 5",
		"P7\nWIDTH one\n":      `WIDTH is "one", want`,
		"P7\nCOLOUR 1\n":       "header line is ",
		"P7\nWIDTH 1 2\n":      "header line is ",
		"P7\nWIDTH -1\nENDHDR": `WIDTH is "-1", want`,
	} {
		_, err := Decode(strings.NewReader(file), Keep)
		if err == nil || !strings.HasPrefix(err.Error(), "pnm: ") || !strings.Contains(err.Error(), want) {
			t.Errorf("%q: error is %v, want %q", file, err, want)
		}
	}
}
