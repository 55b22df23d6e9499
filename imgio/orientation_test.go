package imgio

import (
	"bytes"
	"encoding/binary"
	"fmt"
	"hash/crc32"
	"image"
	"image/color"
	"image/gif"
	"image/jpeg"
	"image/png"
	"slices"
	"strings"
	"testing"

	"github.com/boxsum/boxsum"
)

// exif returns a small TIFF file with an orientation.
func exif(order binary.ByteOrder, tag uint16) []byte {
	b := []byte("II*\x00")
	if order == binary.BigEndian {
		b = []byte("MM\x00*")
	}
	add := func(numbers ...any) {
		for _, n := range numbers {
			b, _ = binary.Append(b, order, n)
		}
	}
	add(uint32(8), uint16(1), uint16(tiffOrientation), uint16(3), uint32(1), tag, uint16(0), uint32(0))
	return b
}

// with inserts bytes after the first n bytes of a file.
func with(file []byte, n int, more ...[]byte) []byte {
	return slices.Concat(file[:n], slices.Concat(more...), file[n:])
}

func TestOrientation(t *testing.T) {
	// Rows as shown by a viewer, of a picture with rows 1 2 3 and 4 5 6, by tag.
	want := map[uint16][][]uint8{
		0: {{1, 2, 3}, {4, 5, 6}}, 1: {{1, 2, 3}, {4, 5, 6}}, 2: {{3, 2, 1}, {6, 5, 4}}, 3: {{6, 5, 4}, {3, 2, 1}}, 4: {{4, 5, 6}, {1, 2, 3}},
		5: {{1, 4}, {2, 5}, {3, 6}}, 6: {{4, 1}, {5, 2}, {6, 3}}, 7: {{6, 3}, {5, 2}, {4, 1}}, 8: {{3, 6}, {2, 5}, {1, 4}}, 9: {{1, 2, 3}, {4, 5, 6}},
	}
	var plain bytes.Buffer
	if err := png.Encode(&plain, &image.Gray{Pix: []uint8{1, 2, 3, 4, 5, 6}, Stride: 3, Rect: image.Rect(0, 0, 3, 2)}); err != nil {
		t.Fatal(err)
	}
	for tag, rows := range want {
		for _, order := range []binary.ByteOrder{binary.LittleEndian, binary.BigEndian} {
			body := append([]byte("eXIf"), exif(order, tag)...)
			file := with(plain.Bytes(), 33, binary.BigEndian.AppendUint32(nil, uint32(len(body)-4)), body, binary.BigEndian.AppendUint32(nil, crc32.ChecksumIEEE(body)))
			p, err := Decode(bytes.NewReader(file), ToGray)
			if err != nil {
				t.Fatal(err)
			}
			img := p.Image.(boxsum.Image[uint8])
			for y, row := range rows {
				if img.Height != len(rows) || !slices.Equal(img.Row(y), row) {
					t.Fatalf("tag %d: row %d of %d is %v, want %v", tag, y, img.Height, img.Row(y), row)
				}
			}
			p, err = DecodeWith(bytes.NewReader(file), Options{AsStored: true})
			if err != nil {
				t.Fatal(err)
			}
			if img := p.Image.(boxsum.Image[uint8]); !slices.Equal(img.Row(0), want[1][0]) {
				t.Errorf("tag %d as stored: %v", tag, img.Row(0))
			}
		}
	}
}

func TestOrientationOfFormats(t *testing.T) {
	var b bytes.Buffer
	if err := jpeg.Encode(&b, image.NewGray(image.Rect(0, 0, 70, 40)), nil); err != nil {
		t.Fatal(err)
	}
	body := append([]byte("Exif\x00\x00"), exif(binary.BigEndian, 6)...)
	file := with(b.Bytes(), 2, []byte{0xff, 0xe0, 0, 3, 0, 0xff, 0xe1}, binary.BigEndian.AppendUint16(nil, uint16(len(body)+2)), body)
	p, err := Decode(bytes.NewReader(file), Keep)
	if err != nil {
		t.Fatal(err)
	}
	if img := p.Image.(boxsum.Image[uint8]); img.Width != 40 || img.Height != 70 {
		t.Errorf("JPEG of %d×%d, want 40×70", img.Width, img.Height)
	}
	riff := slices.Concat([]byte("RIFF....WEBPabcd\x03\x00\x00\x00xyz\x00EXIF"), binary.LittleEndian.AppendUint32(nil, uint32(len(body))), body)
	for format, data := range map[string][]byte{"webp": riff, "tiff": exif(binary.LittleEndian, 6), "jpeg": file} {
		if got := orientation(format, data); got != 6 {
			t.Errorf("%s: %d, want 6", format, got)
		}
		for n := range data {
			orientation(format, data[:n]) // must not fail, whatever is missing
		}
	}
}

func TestFrames(t *testing.T) {
	palette := color.Palette{color.Transparent, color.White, color.Black}
	frame := func(r image.Rectangle, index uint8) *image.Paletted {
		m := image.NewPaletted(r, palette)
		for i := range m.Pix {
			m.Pix[i] = index
		}
		return m
	}
	all := &gif.GIF{
		Image:    []*image.Paletted{frame(image.Rect(0, 0, 4, 2), 2), frame(image.Rect(1, 0, 3, 1), 1), frame(image.Rect(0, 1, 1, 2), 1), frame(image.Rect(3, 1, 4, 2), 1)},
		Delay:    make([]int, 4),
		Disposal: []byte{gif.DisposalNone, gif.DisposalPrevious, gif.DisposalNone, gif.DisposalNone},
	}
	var b bytes.Buffer
	if err := gif.EncodeAll(&b, all); err != nil {
		t.Fatal(err)
	}
	for page, want := range []string{
		1: "[0 0 0 0][0 0 0 0]", 2: "[0 255 255 0][0 0 0 0]", 3: "[0 0 0 0][255 0 0 0]", 4: "[0 0 0 0][255 0 0 255]",
	} {
		if page == 0 {
			continue
		}
		p, err := DecodeWith(bytes.NewReader(b.Bytes()), Options{Page: page})
		if err != nil {
			t.Fatal(err)
		}
		img := p.Image.(boxsum.Image[uint8])
		if got := fmt.Sprint(img.Row(0)) + fmt.Sprint(img.Row(1)); got != want || p.Page != page || p.Pages != 4 {
			t.Errorf("frame %d of %d: %s, want %s", p.Page, p.Pages, got, want)
		}
	}
	if _, err := DecodeWith(bytes.NewReader(b.Bytes()), Options{Page: 5}); err == nil {
		t.Error("frame 5 of 4 decodes")
	}
	for n := range b.Len() {
		DecodeWith(bytes.NewReader(b.Bytes()[:n]), Options{Page: 3}) // must not fail, whatever is missing
	}
}

func TestLarge(t *testing.T) {
	pixelLimit = 16
	defer func() { pixelLimit = MaxPixels }()
	var b bytes.Buffer
	if err := png.Encode(&b, image.NewGray(image.Rect(0, 0, 5, 5))); err != nil {
		t.Fatal(err)
	}
	for name, file := range map[string][]byte{"png": b.Bytes(), "pnm": []byte("P2 17 1 1 " + strings.Repeat("1 ", 17))} {
		if _, err := Decode(bytes.NewReader(file), ToGray); err == nil {
			t.Errorf("%s: decodes above the limit", name)
		}
		if _, err := DecodeWith(bytes.NewReader(file), Options{Large: true}); err != nil {
			t.Errorf("%s: %v", name, err)
		}
		if _, err := Decode(bytes.NewReader(file), ToGray); err == nil {
			t.Errorf("%s: the limit is gone", name)
		}
	}
}
