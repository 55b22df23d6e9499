package imgio

import (
	"bytes"
	"encoding/binary"
	"encoding/hex"
	"errors"
	"fmt"
	"hash/crc32"
	"image"
	"image/color"
	"image/gif"
	"image/jpeg"
	"image/png"
	"io"
	"math/rand/v2"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"golang.org/x/image/bmp"
	"golang.org/x/image/tiff"

	"github.com/boxsum/boxsum"
)

// Go has no WebP encoder. These four files were made with libwebp. The first two
// contain webpColor in lossless form, the others a black and a white half.
const (
	webpOpaque     = "5249464640000000574542505650384c330000002f038000005f3050028164b0f00723c8b629ce20ee4f7388f90f09001b9fcf3708212008205188258759569a65d288fe07363b00"
	webpAlpha      = "524946464a000000574542505650384c3d0000002f038000105f3050028164b0f00723c8b629ce20ee4f7308c26ca3d71914ecfc1906113200d8eee7e73727848020804421961c665969964923fa1fd8ec00"
	webpLossy      = "524946462800000057454250565038201c0000005001009d012a1000100000c01225a40004740000fe83fffff483c000"
	webpLossyAlpha = "524946464c00000057454250565038580a000000100000000f00000f0000414c50480a0000000107d0a688084444ff03565038201c0000005001009d012a1000100000c01225a40004740000fe83fffff483c000"
)

// faxTIFF is 20×4 pixels in CCITT group 4, the first five of each row white, in
// the polarity that libtiff writes.
const faxTIFF = "49492a001000000026a7ff800800800009000001030001000000140000000101030001000000040000000201030001000000010000000301030001000000040000000601030001000000010000001101040001000000080000001601030001000000040000001701040001000000070000001c010300010000000100000000000000"

func unhex(s string) []byte {
	b, err := hex.DecodeString(s)
	if err != nil {
		panic(err)
	}
	return b
}

// webpColor returns the 4×3 picture in the lossless samples.
func webpColor(alpha bool) boxsum.Image[uint8] {
	im := boxsum.Image[uint8]{Stride: 12, Width: 4, Height: 3, Channels: 3}
	for y := range 3 {
		for x := range 4 {
			im.Pix = append(im.Pix, uint8(x*60), uint8(y*80), uint8(x*y*20))
			if alpha {
				im.Pix = append(im.Pix, uint8((4*y+x)*20+5))
			}
		}
	}
	if alpha {
		im.Stride, im.Channels = 16, 4
	}
	return im
}

func encoded(t testing.TB, encode func(io.Writer, image.Image) error, m image.Image) []byte {
	t.Helper()
	var b bytes.Buffer
	if err := encode(&b, m); err != nil {
		t.Fatal(err)
	}
	return b.Bytes()
}

func asJPEG(w io.Writer, m image.Image) error { return jpeg.Encode(w, m, nil) }
func asGIF(w io.Writer, m image.Image) error  { return gif.Encode(w, m, nil) }
func asTIFF(w io.Writer, m image.Image) error { return tiff.Encode(w, m, nil) }
func asDeflatedTIFF(w io.Writer, m image.Image) error {
	return tiff.Encode(w, m, &tiff.Options{Compression: tiff.Deflate, Predictor: true})
}

// noisy fills a buffer with noise that is the same in every run.
func noisy(b []uint8) {
	rng := rand.New(rand.NewPCG(1, uint64(len(b))))
	for i := range b {
		b[i] = uint8(rng.Uint32())
	}
}

func opaque(b []uint8, step, alphaBytes int) {
	for i := step - alphaBytes; i < len(b); i += step {
		for j := range alphaBytes {
			b[i+j] = 255
		}
	}
}

var size = image.Rect(0, 0, 13, 7)

// pngChunk returns a chunk with its checksum.
func pngChunk(kind string, data []byte) []byte {
	b := binary.BigEndian.AppendUint32(nil, uint32(len(data)))
	b = append(append(b, kind...), data...)
	return binary.BigEndian.AppendUint32(b, crc32.ChecksumIEEE(b[4:]))
}

// grayAlphaPNG converts a PNG of gray samples, twice as wide, to one of gray and
// alpha, which Go cannot write.
func grayAlphaPNG(t testing.TB, w, h int, deep bool, samples []uint8) []byte {
	t.Helper()
	var wide image.Image = &image.Gray{Pix: samples, Stride: 2 * w, Rect: image.Rect(0, 0, 2*w, h)}
	if deep {
		wide = &image.Gray16{Pix: samples, Stride: 4 * w, Rect: image.Rect(0, 0, 2*w, h)}
	}
	// Without filters, the rows of both kinds consist of the same bytes.
	var b bytes.Buffer
	if err := (&png.Encoder{CompressionLevel: png.NoCompression}).Encode(&b, wide); err != nil {
		t.Fatal(err)
	}
	file := b.Bytes()
	header := append([]byte(nil), file[16:29]...)
	binary.BigEndian.PutUint32(header, uint32(w))
	header[9] = pngGrayAlpha
	return append(append(append([]byte(nil), file[:8]...), pngChunk("IHDR", header)...), file[33:]...)
}

func check(t *testing.T, name string, file []byte, mode ColorMode, format string, want any) {
	t.Helper()
	got, err := Decode(bytes.NewReader(file), mode)
	if err != nil {
		t.Errorf("%s: %v", name, err)
		return
	}
	if got.Format != format {
		t.Errorf("%s: format is %q, want %q", name, got.Format, format)
	}
	if diff := cmp.Diff(want, got.Image); diff != "" {
		t.Errorf("%s:\n%s", name, diff)
	}
}

func rows8(pix []uint8, channels int) boxsum.Image[uint8] {
	return boxsum.Image[uint8]{Pix: pix, Stride: size.Dx() * channels, Width: size.Dx(), Height: size.Dy(), Channels: channels}
}

func rows16(be []uint8, channels int) boxsum.Image[uint16] {
	im := boxsum.Image[uint16]{Stride: size.Dx() * channels, Width: size.Dx(), Height: size.Dy(), Channels: channels}
	for ; len(be) > 0; be = be[2:] {
		im.Pix = append(im.Pix, binary.BigEndian.Uint16(be))
	}
	return im
}

// without removes every fourth sample, each of the given size in bytes.
func without(pix []uint8, bytes int) []uint8 {
	var out []uint8
	for i := 0; i < len(pix); i += 4 * bytes {
		out = append(out, pix[i:i+3*bytes]...)
	}
	return out
}

// TestDecodeExact tests that lossless files are read back bit for bit.
func TestDecodeExact(t *testing.T) {
	gray, gray16 := image.NewGray(size), image.NewGray16(size)
	rgb, rgb16 := image.NewRGBA(size), image.NewRGBA64(size)
	rgba, rgba16 := image.NewNRGBA(size), image.NewNRGBA64(size)
	for _, b := range [][]uint8{gray.Pix, gray16.Pix, rgb.Pix, rgb16.Pix, rgba.Pix, rgba16.Pix} {
		noisy(b)
	}
	opaque(rgb.Pix, 4, 1)
	opaque(rgb16.Pix, 8, 2)
	for format, encode := range map[string]func(io.Writer, image.Image) error{"png": png.Encode, "tiff": asTIFF, "tiff ": asDeflatedTIFF} {
		format, name := strings.TrimSpace(format), format
		check(t, name+" gray", encoded(t, encode, gray), Keep, format, rows8(gray.Pix, 1))
		check(t, name+" gray16", encoded(t, encode, gray16), Keep, format, rows16(gray16.Pix, 1))
		check(t, name+" rgba", encoded(t, encode, rgba), Keep, format, rows8(rgba.Pix, 4))
		check(t, name+" rgba16", encoded(t, encode, rgba16), Keep, format, rows16(rgba16.Pix, 4))

		check(t, name+" gray to gray", encoded(t, encode, gray), ToGray, format, rows8(gray.Pix, 1))
		check(t, name+" gray16 to gray", encoded(t, encode, gray16), ToGray, format, rows16(gray16.Pix, 1))
		check(t, name+" rgba to gray", encoded(t, encode, rgba), ToGray, format, boxsum.Gray(rgba))
		check(t, name+" rgba16 to gray", encoded(t, encode, rgba16), ToGray, format, boxsum.Gray16(rgba16))
	}
	// Go writes opaque color to PNG without alpha, and to TIFF with it.
	check(t, "png rgb", encoded(t, png.Encode, rgb), Keep, "png", rows8(without(rgb.Pix, 1), 3))
	check(t, "png rgb16", encoded(t, png.Encode, rgb16), Keep, "png", rows16(without(rgb16.Pix, 2), 3))
	check(t, "png rgb16 to gray", encoded(t, png.Encode, rgb16), ToGray, "png", boxsum.Gray16(rgb16))
	check(t, "tiff rgba", encoded(t, asTIFF, rgb), Keep, "tiff", rows8(rgb.Pix, 4))
	check(t, "tiff rgb", rgbTIFF(without(rgb.Pix, 1)), Keep, "tiff", rows8(without(rgb.Pix, 1), 3))

	samples := make([]uint8, 2*size.Dx()*size.Dy())
	noisy(samples)
	check(t, "png gray+alpha", grayAlphaPNG(t, size.Dx(), size.Dy(), false, samples), Keep, "png", rows8(samples, 2))
	samples = make([]uint8, 4*size.Dx()*size.Dy())
	noisy(samples)
	check(t, "png gray16+alpha", grayAlphaPNG(t, size.Dx(), size.Dy(), true, samples), Keep, "png", rows16(samples, 2))

	// A color declared transparent does not add a channel.
	keyed := encoded(t, png.Encode, gray)
	keyed = append(append(append([]byte(nil), keyed[:33]...), pngChunk("tRNS", []byte{0, gray.Pix[3]})...), keyed[33:]...)
	check(t, "png with tRNS", keyed, Keep, "png", rows8(gray.Pix, 1))

	check(t, "bmp gray", encoded(t, bmp.Encode, gray), ToGray, "bmp", rows8(gray.Pix, 1))
	check(t, "bmp rgb", encoded(t, bmp.Encode, rgb), Keep, "bmp", rows8(without(rgb.Pix, 1), 3))
	// Go writes alpha with the 40-byte header, which cannot declare it.
	opaque(rgba.Pix, 4, 1)
	rgba.Pix[3] = 254
	check(t, "bmp 32 bits", encoded(t, bmp.Encode, rgba), Keep, "bmp", bmpWant(t, encoded(t, bmp.Encode, rgba), rgba))

	check(t, "webp", unhex(webpOpaque), Keep, "webp", webpColor(false))
	check(t, "webp alpha", unhex(webpAlpha), Keep, "webp", webpColor(true))
	check(t, "webp to gray", unhex(webpAlpha), ToGray, "webp", weighed(webpColor(true)))
}

// bmpWant returns four channels if the file's header has an alpha mask, and three
// otherwise.
func bmpWant(t *testing.T, file []byte, m *image.NRGBA) any {
	t.Helper()
	if binary.LittleEndian.Uint32(file[14:]) > 40 {
		return rows8(m.Pix, 4)
	}
	return rows8(without(m.Pix, 1), 3)
}

// rgbTIFF returns an uncompressed TIFF with three samples per pixel.
func rgbTIFF(pix []uint8) []byte {
	const entries, data = 9, 8 + 2 + 9*12 + 4 + 6
	b := []byte("II*\x00\x08\x00\x00\x00")
	b = binary.LittleEndian.AppendUint16(b, entries)
	for _, e := range [][4]uint32{ // tag, type, count, value
		{256, 3, 1, uint32(size.Dx())}, {257, 3, 1, uint32(size.Dy())}, {258, 3, 3, data - 6}, {259, 3, 1, 1}, {262, 3, 1, 2},
		{273, 4, 1, data}, {277, 3, 1, 3}, {278, 3, 1, uint32(size.Dy())}, {279, 4, 1, uint32(len(pix))},
	} {
		b = binary.LittleEndian.AppendUint16(b, uint16(e[0]))
		b = binary.LittleEndian.AppendUint16(b, uint16(e[1]))
		b = binary.LittleEndian.AppendUint32(b, e[2])
		b = binary.LittleEndian.AppendUint32(b, e[3])
	}
	b = append(b, 0, 0, 0, 0, 8, 0, 8, 0, 8, 0)
	return append(b, pix...)
}

// TestUnreadTIFF tests that unsupported files are distinguished from damaged ones,
// with errors that say what to do.
func TestUnreadTIFF(t *testing.T) {
	whole := rgbTIFF(make([]uint8, 3*size.Dx()*size.Dy()))
	for _, test := range []struct {
		tag, value uint16
		says       string
	}{
		{tiffSampleFormat, 3, "tiff: TIFF files with float8 are not supported (save the image as .npy)"},
		{tiffPlanar, 2, "tiff: TIFF files with separate color planes are not supported (save the image with planar configuration 1, or as .npy)"},
		{tiffCompression, 34712, "tiff: unsupported feature: compression value 34712: save it as .npy, or as PNG of 8 or 16 bits"},
	} {
		const rowsPerStrip = 278
		file := bytes.Clone(whole)
		at := bytes.Index(file, binary.LittleEndian.AppendUint16(nil, rowsPerStrip))
		if test.tag == tiffCompression {
			at = bytes.Index(file, binary.LittleEndian.AppendUint16(nil, tiffCompression))
		}
		binary.LittleEndian.PutUint16(file[at:], test.tag)
		binary.LittleEndian.PutUint16(file[at+8:], test.value)
		if _, err := Decode(bytes.NewReader(file), Keep); err == nil || err.Error() != test.says {
			t.Errorf("%d is %d: %v", test.tag, test.value, err)
		}
	}
	check(t, "interleaved", whole, Keep, "tiff", rows8(make([]uint8, 3*size.Dx()*size.Dy()), 3))
}

func TestDecodePalette(t *testing.T) {
	plain := color.Palette{color.RGBA{1, 2, 3, 255}, color.RGBA{250, 100, 7, 255}, color.RGBA{9, 99, 199, 255}}
	clear := append(color.Palette{color.NRGBA{200, 100, 50, 128}}, plain...)
	for name, p := range map[string]color.Palette{"opaque": plain, "transparent": clear} {
		m := image.NewPaletted(size, p)
		for i := range m.Pix {
			m.Pix[i] = uint8(i % len(p))
		}
		check(t, "png "+name, encoded(t, png.Encode, m), Keep, "png", boxsum.Color(m))
		check(t, "png to gray "+name, encoded(t, png.Encode, m), ToGray, "png", boxsum.Gray(m))
		if name == "opaque" {
			check(t, "gif", encoded(t, asGIF, m), Keep, "gif", boxsum.Color(m))
			check(t, "bmp", encoded(t, bmp.Encode, m), Keep, "bmp", boxsum.Color(m))
			check(t, "tiff", encoded(t, asTIFF, m), Keep, "tiff", boxsum.Color(m))
			check(t, "tiff to gray", encoded(t, asTIFF, m), ToGray, "tiff", boxsum.Gray(m))
		}
	}
	// A frame smaller than its canvas is returned in its own size.
	frame := image.NewPaletted(image.Rect(3, 4, 8, 9), plain)
	var b bytes.Buffer
	err := gif.EncodeAll(&b, &gif.GIF{Image: []*image.Paletted{frame}, Delay: []int{5}, Config: image.Config{Width: 9000, Height: 9000}})
	if err != nil {
		t.Fatal(err)
	}
	check(t, "small frame", b.Bytes(), ToGray, "gif", boxsum.Gray(frame))
}

func TestDecodeLossy(t *testing.T) {
	m := image.NewRGBA(image.Rect(0, 0, 40, 24))
	for i := range m.Pix {
		m.Pix[i] = uint8(i / 160 * 10)
	}
	opaque(m.Pix, 4, 1)
	file := encoded(t, asJPEG, m)
	decoded, err := jpeg.Decode(bytes.NewReader(file))
	if err != nil {
		t.Fatal(err)
	}
	check(t, "jpeg", file, Keep, "jpeg", boxsum.Color(decoded))
	check(t, "jpeg to gray", file, ToGray, "jpeg", boxsum.Gray(decoded))

	// Lossy WebP uses part of the range; white must become 255 again.
	for name, file := range map[string]string{"lossy": webpLossy, "lossy with alpha": webpLossyAlpha} {
		for mode, channels := range map[ColorMode]int{ToGray: 1, Keep: 3 + strings.Count(name, "alpha")} {
			p, err := Decode(bytes.NewReader(unhex(file)), mode)
			if err != nil {
				t.Fatal(err)
			}
			im := p.Image.(boxsum.Image[uint8])
			if im.Channels != channels || im.Row(3)[0] > 2 || im.Row(3)[15*channels] < 253 {
				t.Errorf("%s: %d channels, black is %d and white %d", name, im.Channels, im.Row(3)[0], im.Row(3)[15*channels])
			}
		}
	}
}

func TestOpen(t *testing.T) {
	dir := t.TempDir()
	put := func(name string, b []byte) string {
		path := filepath.Join(dir, name)
		if err := os.WriteFile(path, b, 0o600); err != nil {
			t.Fatal(err)
		}
		return path
	}
	gray := image.NewGray(size)
	noisy(gray.Pix)
	// The format depends on the content, not on the name.
	p, err := Open(put("wrong.jpg", encoded(t, png.Encode, gray)), ToGray)
	if err != nil || p.Format != "png" || p.Close() != nil {
		t.Error(err)
	}
	array := func(shape []int, n int) []byte {
		var b bytes.Buffer
		if err := WriteNPY(&b, shape, one(make([]int32, n))); err != nil {
			t.Fatal(err)
		}
		return b.Bytes()
	}
	for _, shape := range [][]int{{3, 4, 2}, {700, 800, 1}} {
		n, _ := elementCount(shape)
		p, err := Open(put("array", array(shape, n)), ToGray)
		if err != nil {
			t.Fatal(err)
		}
		im := p.Image.(boxsum.Image[int32])
		if p.Format != "npy" || im.Height != shape[0] || im.Width != shape[1] || im.Channels != shape[2] {
			t.Errorf("%v gives %d×%d×%d", shape, im.Height, im.Width, im.Channels)
		}
		if err := p.Close(); err != nil {
			t.Error(err)
		}
	}
	for name, c := range map[string]struct {
		file []byte
		want string
	}{
		"empty":   {nil, "empty"},
		"text":    {[]byte("hello, world"), "unknown file format"},
		"zip":     {[]byte("PK\x03\x04aaaaaaaaaa"), "archive"},
		"bigtiff": {[]byte("II+\x00aaaaaaaaaa"), "BigTIFF"},
		"cut.png": {encoded(t, png.Encode, gray)[:50], "png: invalid format: not enough pixel data"},
		"cut.npy": {array([]int{3, 3}, 9)[:130], "truncated"},
		"1d.npy":  {array([]int{9}, 9), "(9,)"},
		"big.npy": {array([]int{400000}, 400000), "(400000,)"},
	} {
		path := put(name, c.file)
		_, err := Open(path, ToGray)
		if err == nil || !strings.Contains(err.Error(), c.want) || !strings.Contains(err.Error(), path) || strings.HasPrefix(err.Error(), "imgio: ") {
			t.Errorf("%s: %v", name, err)
		}
	}
	if _, err := Open(dir, ToGray); err == nil || !strings.Contains(err.Error(), "folder") {
		t.Errorf("folder: %v", err)
	}
	if _, err := Open(filepath.Join(dir, "none"), ToGray); !errors.Is(err, os.ErrNotExist) {
		t.Errorf("no file: %v", err)
	}
}

func TestDecodeStreams(t *testing.T) {
	gray := image.NewGray(size)
	noisy(gray.Pix)
	file := encoded(t, png.Encode, gray)
	r, w, err := os.Pipe()
	if err != nil {
		t.Fatal(err)
	}
	go func() {
		w.Write(file)
		w.Close()
	}()
	p, err := Decode(r, ToGray)
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(rows8(gray.Pix, 1), p.Image); diff != "" {
		t.Error(diff)
	}
	broken := errors.New("broken")
	for n := range 3 {
		r := io.MultiReader(bytes.NewReader(file[:n*12]), errReader{broken})
		if _, err := Decode(r, ToGray); !errors.Is(err, broken) {
			t.Errorf("after %d bytes: %v", n*12, err)
		}
	}
}

type errReader struct{ error }

func (e errReader) Read([]byte) (int, error) { return 0, e.error }

// TestDecodeRefusesSizes tests that headers that declare larger pictures than the
// file can contain are refused before memory is allocated.
func TestDecodeRefusesSizes(t *testing.T) {
	gray := image.NewGray(image.Rect(0, 0, 64, 64))
	rgba := image.NewRGBA(gray.Rect)
	grow := func(file []byte, at int, order binary.ByteOrder, bytes int, v uint32) []byte {
		file = append([]byte(nil), file...)
		if bytes == 2 {
			order.PutUint16(file[at:], uint16(v))
			order.PutUint16(file[at+2:], uint16(v))
		} else {
			order.PutUint32(file[at:], v)
			order.PutUint32(file[at+4:], v)
		}
		return file
	}
	asPNG := encoded(t, png.Encode, gray)
	ihdr := grow(asPNG, 16, binary.BigEndian, 4, 30000)[16:29]
	jpg := encoded(t, asJPEG, gray)
	frame := encoded(t, asGIF, gray)
	frame = grow(frame, 6, binary.LittleEndian, 2, 30000)
	descriptor := bytes.IndexByte(frame[13+768:], ',') + 13 + 768
	tif := encoded(t, asTIFF, rgba)
	dir := int(binary.LittleEndian.Uint32(tif[4:])) + 2
	tif = append([]byte(nil), tif...)
	binary.LittleEndian.PutUint16(tif[dir+8:], 30000)
	binary.LittleEndian.PutUint16(tif[dir+12+8:], 30000)
	for name, file := range map[string][]byte{
		"png":        append(append(append([]byte(nil), asPNG[:8]...), pngChunk("IHDR", ihdr)...), asPNG[33:]...),
		"jpeg":       grow(jpg, bytes.Index(jpg, []byte{0xff, 0xc0})+5, binary.BigEndian, 2, 30000),
		"gif":        grow(frame, descriptor+5, binary.LittleEndian, 2, 30000),
		"bmp":        grow(encoded(t, bmp.Encode, rgba), 18, binary.LittleEndian, 4, 30000),
		"bmp beyond": grow(encoded(t, bmp.Encode, rgba), 18, binary.LittleEndian, 4, 1<<17),
		"tiff":       tif,
		"webp canvas": append(append([]byte("RIFF\x1e\x00\x00\x00WEBPVP8X\x0a\x00\x00\x00\x10\x00\x00\x00"),
			0xff, 0x7f, 0, 0xff, 0x7f, 0), make([]byte, 40)...),
		"pnm":        []byte("P5 30000 30000 255\n1234"),
		"pnm beyond": []byte("P5 2000000000 2000000000 255\n1234"),
		"pnm plain":  []byte("P2 30000 30000 255\n1 2 3 4"),
		"pam":        []byte("P7\nWIDTH 30000\nHEIGHT 30000\nDEPTH 4\nMAXVAL 65535\nENDHDR\n1234"),
		"npy":        rawNPY(1, "{'descr': '<f8', 'fortran_order': False, 'shape': (30000, 30000)}", nil),
	} {
		allocated := allocatedBy(func() {
			p, err := Decode(bytes.NewReader(file), Keep)
			if err == nil {
				t.Errorf("%s: decodes as %T", name, p.Image)
			} else if !strings.Contains(err.Error(), "30000") && !strings.Contains(err.Error(), "exceeds") {
				t.Errorf("%s: the error does not tell the size: %v", name, err)
			}
		})
		if allocated > 1<<20 {
			t.Errorf("%s: %d bytes were allocated", name, allocated)
		}
	}
}

func TestDecodePanicIsAnError(t *testing.T) {
	if _, err := decodeBytes("png", nil, Options{}); err == nil {
		t.Error("no bytes decode")
	}
	if _, err := decodeBytes("no such format", nil, Options{}); err == nil || !strings.Contains(err.Error(), "damaged") {
		t.Errorf("error is %v", err)
	}
}

func TestFaxTIFF(t *testing.T) {
	file := unhex(faxTIFF)
	want := boxsum.Image[uint8]{Pix: make([]uint8, 80), Stride: 20, Width: 20, Height: 4, Channels: 1}
	for i := range want.Pix {
		if i%20 < 5 {
			want.Pix[i] = 255
		}
	}
	check(t, "black is zero", file, Keep, "tiff", want)
	photometric := bytes.Index(file, []byte{0x06, 0x01, 3, 0}) + 8
	file[photometric] = 0
	for i := range want.Pix {
		want.Pix[i] = 255 - want.Pix[i]
	}
	check(t, "white is zero", file, Keep, "tiff", want)
}

func TestTIFFTag(t *testing.T) {
	file := rgbTIFF(nil)
	for tag, want := range map[uint16][2]uint32{256: {1, 13}, 258: {3, 8}, 273: {1, 128}, 999: {0, 0}} {
		if count, first := tiffTag(file, tag); [2]uint32{count, first} != want {
			t.Errorf("tag %d is %d, %d, want %v", tag, count, first, want)
		}
	}
	for n := range file {
		for _, tag := range []uint16{256, 258, 279} {
			tiffTag(file[:n], tag) // must not fail, whatever is missing
		}
	}
}

func ExampleDecode() {
	picture, err := Decode(strings.NewReader("P2 3 2 255\n10 20 30\n40 50 60\n"), ToGray)
	if err != nil {
		fmt.Println(err)
		return
	}
	defer picture.Close()
	img := picture.Image.(boxsum.Image[uint8])
	fmt.Println(picture.Format, img.Width, img.Height, img.Row(1))
	// Output: pnm 3 2 [40 50 60]
}
