package imgio

import (
	"bytes"
	"compress/zlib"
	"encoding/binary"
	"errors"
	"io"
	"math"
	"path/filepath"
	"reflect"
	"strings"
	"testing"

	"github.com/boxsum/boxsum"
)

// numbersTIFF returns a TIFF file of one strip in the given byte order.
func numbersTIFF(order binary.AppendByteOrder, width, height, bits, format, compression uint32, strip []byte, more ...[2]uint32) []byte {
	const entries = 10
	b := []byte("II*\x00")
	if order.AppendUint16(nil, 1)[0] == 0 {
		b = []byte("MM\x00*")
	}
	b = order.AppendUint32(b, uint32(8+len(strip)+len(strip)&1))
	b = append(b, strip...)
	b = append(b, make([]byte, len(strip)&1)...)
	all := append([][2]uint32{{tiffWidth, width}, {tiffHeight, height}, {tiffBitsPerSample, bits}, {tiffCompression, compression}, {tiffPhotometric, 1},
		{tiffStripOffsets, 8}, {tiffSamples, 1}, {tiffRowsPerStrip, height}, {tiffStripCounts, uint32(len(strip))}, {tiffSampleFormat, format}}, more...)
	b = order.AppendUint16(b, uint16(len(all)))
	for _, e := range all {
		b = order.AppendUint16(b, uint16(e[0]))
		b = order.AppendUint16(b, tiffLong)
		b = order.AppendUint32(order.AppendUint32(b, 1), e[1])
	}
	return order.AppendUint32(b, 0)
}

// TestTIFFNumbers tests types, byte orders and compressions that Encode does not write.
func TestTIFFNumbers(t *testing.T) {
	deflated := func(b []byte) []byte {
		var to bytes.Buffer
		w := zlib.NewWriter(&to)
		w.Write(b)
		w.Close()
		return to.Bytes()
	}
	be, le := binary.BigEndian, binary.LittleEndian
	singles := func(order binary.AppendByteOrder) (b []byte) {
		for _, v := range []float32{1, -2.5, 1e30, 0} {
			b = order.AppendUint32(b, math.Float32bits(v))
		}
		return b
	}
	floats := []float32{1, -2.5, 1e30, 0}
	for _, test := range []struct {
		file    []byte
		element string
		pix     any
	}{
		{numbersTIFF(be, 2, 2, 32, 3, 1, singles(be)), "float32", floats},
		{numbersTIFF(le, 2, 2, 32, 3, 8, deflated(singles(le))), "float32", floats},
		{numbersTIFF(be, 2, 2, 32, 3, 32946, deflated(singles(be))), "float32", floats},
		{numbersTIFF(le, 2, 2, 8, 2, 1, []byte{1, 0xff, 0x80, 0x7f}), "int8", []int16{1, -1, -128, 127}},
		{numbersTIFF(le, 2, 1, 16, 3, 1, []byte{0, 0x3c, 0, 0xc0}), "float16", []float32{1, -2}},
		{numbersTIFF(be, 1, 2, 64, 2, 1, be.AppendUint64(be.AppendUint64(nil, 1<<64-3), 7)), "int64", []int32{-3, 7}},
		{numbersTIFF(le, 1, 1, 64, 1, 1, le.AppendUint64(nil, 1<<32-1)), "uint64", []uint32{1<<32 - 1}},
	} {
		p, err := Decode(bytes.NewReader(test.file), Keep)
		if err != nil {
			t.Errorf("%s: %v", test.element, err)
			continue
		}
		if pix := reflect.ValueOf(p.Image).FieldByName("Pix").Interface(); !reflect.DeepEqual(pix, test.pix) || p.Element != test.element || p.Format != "tiff" || p.Bits != 0 {
			t.Errorf("%s: %v of %s in %s with %d bits, want %v", test.element, pix, p.Element, p.Format, p.Bits, test.pix)
		}
	}
	for _, test := range []struct {
		file []byte
		says string
	}{
		{numbersTIFF(le, 2, 2, 24, 3, 1, make([]byte, 12)), "tiff: TIFF files with float24 are not supported (save the image as .npy)"},
		{numbersTIFF(le, 2, 2, 32, 3, 50000, singles(le)), "tiff: TIFF files with float32 and compression 50000 are not supported (save the image as .npy)"},
		{numbersTIFF(le, 2, 2, 32, 3, 1, singles(le), [2]uint32{317, 3}), "tiff: TIFF files with float32 and a predictor are not supported (save the image as .npy)"},
		{numbersTIFF(le, 2, 2, 32, 3, 1, singles(le), [2]uint32{322, 16}), "tiff: TIFF files with float32 and tiles are not supported (save the image as .npy)"},
		{numbersTIFF(le, 0, 2, 32, 3, 1, nil), "tiff: the picture is empty"},
		{numbersTIFF(le, 3, 2, 32, 3, 1, singles(le)), "tiff: "},
		{numbersTIFF(le, 1<<30, 1<<30, 32, 3, 8, deflated(singles(le))), "tiff: "},
		{numbersTIFF(le, 300, 3, 64, 3, 8, deflated(singles(le))), "tiff: "},
	} {
		if _, err := Decode(bytes.NewReader(test.file), Keep); err == nil || !strings.HasPrefix(err.Error(), test.says) {
			t.Errorf("%v, want %q", err, test.says)
		}
	}
	if _, err := Decode(bytes.NewReader(numbersTIFF(le, 2, 2, 32, 3, 8, deflated(singles(le)[:13]))), Keep); !errors.Is(err, io.ErrUnexpectedEOF) {
		t.Errorf("a strip that is too short: %v", err)
	}
}

// TestSavedNumbers tests that the pages, the metadata and the orientation of TIFF files of numbers are read.
func TestSavedNumbers(t *testing.T) {
	path := filepath.Join(t.TempDir(), "depth.tif")
	img := noise[float32](7, 5, 1)
	if err := SaveWith(path, img, Metadata{Orientation: 6, XResolution: 300, YResolution: 300}); err != nil {
		t.Fatal(err)
	}
	upright, file, err := OpenImage[float32](path, Options{})
	if err != nil {
		t.Fatal(err)
	}
	defer file.Close()
	if upright.Width != 5 || upright.Height != 7 || upright.Row(0)[0] != img.Row(4)[0] || upright.Row(6)[4] != img.Row(0)[6] {
		t.Errorf("a turned image is %d×%d, or has other pixels", upright.Width, upright.Height)
	}
	stored, err := OpenWith(path, Options{AsStored: true})
	if err != nil || !reflect.DeepEqual(stored.Image, tight(img)) || stored.Metadata.XResolution != 300 {
		t.Errorf("as stored: %v, %+v", err, stored)
	}
	if _, _, err := OpenImage[uint8](path, Options{}); !errors.Is(err, boxsum.ErrTypes) {
		t.Errorf("floats as bytes: %v", err)
	}
}
