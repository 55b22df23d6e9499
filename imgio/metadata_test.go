package imgio

import (
	"bytes"
	"encoding/binary"
	"errors"
	"fmt"
	"image"
	"math/rand/v2"
	"reflect"
	"testing"

	"github.com/boxsum/boxsum"
)

// profile returns an ICC profile of a color space, of n incompressible bytes.
func profile(space string, n int) []byte {
	p := make([]byte, n)
	noisy(p)
	binary.BigEndian.PutUint32(p, uint32(n))
	copy(p[16:], space)
	copy(p[36:], "acsp")
	return p
}

func TestMetadata(t *testing.T) {
	const metric = 11811 * metersPerInch // as in most PNG files of 300 dpi
	all := []Metadata{
		{},
		{XResolution: 300, YResolution: 300},
		{XResolution: 204, YResolution: 98, Orientation: 6},
		{Orientation: 3, ICCProfile: profile("RGB ", 3145)},
		{XResolution: 600, YResolution: 600, Orientation: 8, ICCProfile: profile("RGB ", 150_000)},
		{XResolution: 300, YResolution: 300, ICCProfile: profile("GRAY", 129)},
	}
	for _, format := range []string{"png", "jpeg", "tiff"} {
		for i, m := range all {
			for _, img := range []any{noise[uint8](37, 23, 1), noise[uint8](37, 23, 3)} {
				channels := img.(boxsum.Image[uint8]).Channels
				var b bytes.Buffer
				if err := EncodeWith(&b, format, img, m); err != nil {
					t.Fatal(err)
				}
				want := m.forChannels(channels)
				if format == "png" && m.XResolution > 0 { // PNG stores whole pixels per meter
					for _, r := range []*float64{&want.XResolution, &want.YResolution} {
						*r = float64(int(*r/metersPerInch+0.5)) * metersPerInch
					}
				}
				p, err := DecodeWith(bytes.NewReader(b.Bytes()), Options{Color: Keep, AsStored: true})
				if err != nil {
					t.Fatalf("%s of %d: %v", format, i, err)
				}
				if !reflect.DeepEqual(p.Metadata, want) {
					t.Errorf("%s of %d, %d channels: %v, want %v", format, i, channels, p.Metadata, want)
				}
				// After the pixels have been rotated, the orientation is 0.
				turned, err := Decode(bytes.NewReader(b.Bytes()), Keep)
				if err != nil {
					t.Fatal(err)
				}
				if m.Orientation >= 5 {
					want.XResolution, want.YResolution = want.YResolution, want.XResolution
				}
				want.Orientation = 0
				if !reflect.DeepEqual(turned.Metadata, want) {
					t.Errorf("%s of %d, turned: %v, want %v", format, i, turned.Metadata, want)
				}
				// The gray version of a color image has no color profile.
				if gray, err := Decode(bytes.NewReader(b.Bytes()), ToGray); err != nil || channels == 3 && gray.Metadata.ICCProfile != nil {
					t.Errorf("%s of %d as gray: %v, %v", format, i, gray.Metadata, err)
				}
			}
		}
	}
	// From every format to every other.
	for _, m := range []Metadata{{XResolution: 300, YResolution: 200}, {XResolution: metric, YResolution: metric}, {XResolution: 118 * 2.54, YResolution: 118 * 2.54}} {
		var b bytes.Buffer
		m.Orientation, m.ICCProfile = 6, profile("RGB ", 700)
		p := &Picture{Image: noise[uint8](9, 8, 3), Metadata: m}
		for _, format := range []string{"tiff", "png", "tiff", "jpeg", "tiff", "png", "jpeg"} {
			b.Reset()
			err := EncodeWith(&b, format, p.Image, p.Metadata)
			if err == nil {
				p, err = DecodeWith(&b, Options{Color: Keep, AsStored: true})
			}
			if err != nil {
				t.Fatal(err)
			}
		}
		got := p.Metadata
		if near := func(a, b float64) bool { return a-b < 0.02 && b-a < 0.02 }; !near(got.XResolution, m.XResolution) || !near(got.YResolution, m.YResolution) || got.Orientation != 6 || !bytes.Equal(got.ICCProfile, m.ICCProfile) {
			t.Errorf("%v became %v", m, got)
		}
	}
	// Formats without metadata still store the pixels.
	for _, format := range []string{"pnm", "gif", "npy"} {
		if err := EncodeWith(&bytes.Buffer{}, format, noise[uint8](9, 8, 1), all[4]); err != nil {
			t.Error(err)
		}
	}
	// Values that no file can hold are omitted.
	for _, m := range []Metadata{{XResolution: -1, YResolution: 300}, {XResolution: 1e300, YResolution: 1e300}, {XResolution: 0.01, YResolution: 300, Orientation: 9, ICCProfile: []byte("short")}} {
		for _, format := range []string{"png", "jpeg"} {
			var b bytes.Buffer
			if err := EncodeWith(&b, format, noise[uint8](9, 8, 1), m); err != nil {
				t.Fatal(err)
			}
			if p, err := Decode(&b, Keep); err != nil || !reflect.DeepEqual(p.Metadata, Metadata{}) {
				t.Errorf("%v as %s: %v, %v", m, format, p.Metadata, err)
			}
		}
	}
}

// TestBilevelMetadata tests that bilevel images keep gray profiles, like gray
// images, and lose those of color.
func TestBilevelMetadata(t *testing.T) {
	for _, width := range []int{1, 7, 8, 9, 250} {
		const height = 11
		data := make([]byte, (width+7)/8*height)
		noisy(data)
		bits := &packedBits{data, (width + 7) / 8, width, height}
		for _, format := range []string{"png", "tiff"} {
			for space, kept := range map[string]bool{"GRAY": true, "RGB ": false, "CMYK": false} {
				m := Metadata{XResolution: 300, YResolution: 300, Orientation: 3, ICCProfile: profile(space, 588)}
				var b bytes.Buffer
				if err := EncodeWith(&b, format, bits, m); err != nil {
					t.Fatal(err)
				}
				p, err := DecodeWith(&b, Options{Color: Keep, AsStored: true})
				if err != nil {
					t.Fatal(err)
				}
				want := m.ICCProfile
				if !kept {
					want = nil
				}
				if got := p.Metadata; !bytes.Equal(got.ICCProfile, want) || got.Orientation != 3 || got.XResolution < 299.9 || got.XResolution > 300.1 {
					t.Errorf("%s with a profile of %s: %v", format, space, got)
				}
				img, ok := p.Image.(boxsum.Image[uint8])
				if !ok || p.Bits != 1 || img.Channels != 1 || img.Width != width || img.Height != height {
					t.Fatalf("%s: %T of %d bits", format, p.Image, p.Bits)
				}
				for y := range height {
					for x, v := range img.Row(y) {
						if want := 255 * (1 - bits.ColorIndexAt(x, y)); v != want {
							t.Fatalf("%s of width %d: %d at (%d, %d), want %d", format, width, v, x, y, want)
						}
					}
				}
			}
		}
	}
}

// TestDamagedMetadata tests that pixels are read even if the metadata is damaged.
func TestDamagedMetadata(t *testing.T) {
	img := tight(noise[uint8](16, 16, 3))
	m := Metadata{XResolution: 300, YResolution: 300, Orientation: 6, ICCProfile: profile("RGB ", 2000)}
	for _, format := range []string{"png", "jpeg", "tiff"} {
		var plain, b bytes.Buffer
		if err := errors.Join(Encode(&plain, format, img), EncodeWith(&b, format, img, m)); err != nil {
			t.Fatal(err)
		}
		want, err := Decode(&plain, Keep)
		if err != nil {
			t.Fatal(err)
		}
		file := b.Bytes()
		from, to := pngStart+8, len(file)
		switch format {
		case "png":
			to = bytes.Index(file, []byte("IDAT")) - 4
		case "jpeg":
			from, to = jpegStart+4, jpegStart+len(m.jpegSegments())
		case "tiff":
			from = tiffHeader + 16*16*3
		}
		rng := rand.New(rand.NewPCG(1, 2))
		reads := 0
		for i := range 500 {
			damaged := bytes.Clone(file)
			at := from + rng.IntN(to-from)
			structure := false // bytes that contain the position of other data
			switch format {
			case "png":
				structure = inHeaders(file, at)
			case "jpeg":
				structure = inSegments(file, at)
			case "tiff": // everything except the profile, which is the last value
				structure = at < to-2000
			}
			if structure {
				continue
			}
			damaged[at] ^= 1 << rng.IntN(8)
			p, err := DecodeWith(bytes.NewReader(damaged), Options{Color: Keep, AsStored: true})
			if err != nil || !reflect.DeepEqual(p.Image, want.Image) {
				t.Fatalf("%s, byte %d (try %d): %v", format, at, i, err)
			}
			reads++
		}
		if reads < 100 {
			t.Errorf("%s: %d files", format, reads)
		}
	}
}

// inHeaders reports whether a byte of a PNG file belongs to the length or name of a chunk.
func inHeaders(file []byte, at int) bool {
	for i := 8; i+12 <= len(file); i += 12 + int(binary.BigEndian.Uint32(file[i:])) {
		if at >= i && at < i+8 {
			return true
		}
	}
	return false
}

// inSegments is like inHeaders for the markers and lengths in a JPEG file.
func inSegments(file []byte, at int) bool {
	i := jpegStart
	for _, contents := range jpegSegments(file) {
		if at >= i && at < i+4 {
			return true
		}
		i += 4 + len(contents)
	}
	return false
}

// TestTIFFWriter writes pages of all kinds and reads them back.
func TestTIFFWriter(t *testing.T) {
	bits := &packedBits{[]byte{0xf0, 0x80, 1, 0, 0x0f, 0x80}, 2, 9, 3}
	pages := []any{
		noise[uint8](7, 5, 1), bits, noise[uint8](300, 401, 3), noise[uint16](5, 3, 4), bits, noise[uint8](3, 3, 1), image.NewGray(image.Rect(3, 4, 8, 7)),
	}
	var b bytes.Buffer
	w := NewTIFFWriter(&b)
	for i, img := range pages {
		if err := w.Add(img, Metadata{XResolution: float64(100 + i), YResolution: 72}); err != nil {
			t.Fatal(err)
		}
	}
	if err := w.Close(); err != nil {
		t.Fatal(err)
	}
	if err := w.Add(bits, Metadata{}); !errors.Is(err, boxsum.ErrClosed) {
		t.Errorf("a page after Close: %v", err)
	}
	if err := w.Close(); !errors.Is(err, boxsum.ErrClosed) {
		t.Errorf("Close twice: %v", err)
	}
	p, err := DecodePages(bytes.NewReader(b.Bytes()), Options{Color: Keep})
	if err != nil {
		t.Fatal(err)
	}
	defer p.Close()
	if p.N != len(pages) || p.Format != "tiff" {
		t.Fatalf("%d pages of %s", p.N, p.Format)
	}
	for _, n := range []int{7, 1, 2, 3, 4, 5, 6, 7, 2} {
		got, err := p.Page(n)
		if err != nil {
			t.Fatal(err)
		}
		want, err := arrayOf(pages[n-1])
		if err != nil {
			t.Fatal(err)
		}
		have, err := arrayOf(got.Image)
		if err != nil || have.Width != want.Width || have.Height != want.Height || have.Channels != want.Channels || have.Type != want.Type {
			t.Fatalf("page %d is %v, %v", n, have.Extent, err)
		}
		for y := range want.Height {
			if !bytes.Equal(have.Row(y), want.Row(y)) {
				t.Fatalf("page %d, row %d: %v, want %v", n, y, have.Row(y), want.Row(y))
			}
		}
		if got.Page != n || got.Pages != len(pages) || got.Metadata.XResolution != float64(99+n) || (got.Bits == 1) != (pages[n-1] == any(bits)) {
			t.Errorf("page %d: %d of %d, %v, %d bits", n, got.Page, got.Pages, got.Metadata, got.Bits)
		}
	}
	for _, n := range []int{0, 8} {
		if _, err := p.Page(n); err == nil {
			t.Errorf("page %d of 7", n)
		}
	}
	if err := NewTIFFWriter(&b).Close(); !errors.Is(err, boxsum.ErrInvalid) {
		t.Errorf("no pages: %v", err)
	}
	failing := NewTIFFWriter(&b)
	first := failing.Add("text", Metadata{})
	if !errors.Is(first, boxsum.ErrTypes) || failing.Add(bits, Metadata{}) != first || failing.Close() != first {
		t.Errorf("after an error: %v", first)
	}
	// Pages that are too large give an error, however large they are.
	huge := boxsum.Image[uint8]{Pix: make([]uint8, 1), Width: 1 << 20, Height: 1 << 12, Stride: 1}
	if err := NewTIFFWriter(&b).Add(huge, Metadata{}); !errors.Is(err, boxsum.ErrInvalid) {
		t.Errorf("too large: %v", err)
	}
}

func FuzzMetadata(f *testing.F) {
	m := Metadata{XResolution: 300, YResolution: 150, Orientation: 5, ICCProfile: profile("RGB ", 200)}
	for i, format := range []string{"png", "jpeg", "tiff"} {
		var b bytes.Buffer
		if err := EncodeWith(&b, format, noise[uint8](8, 8, 3), m); err != nil {
			f.Fatal(err)
		}
		f.Add(b.Bytes(), i)
	}
	f.Add([]byte(fmt.Sprintf("RIFF....WEBPICCP%s", m.ICCProfile)), 3)
	f.Add([]byte("BM............\x28\x00\x00\x00......................\x01\x00\x00\x00\x01\x00\x00\x00"), 4)
	f.Fuzz(func(t *testing.T, data []byte, n int) {
		format := []string{"png", "jpeg", "tiff", "webp", "bmp"}[uint(n)%5]
		if format == "png" {
			data = withoutDamage(data)
		}
		got := readMetadata(format, data)
		if got.Orientation < 0 || got.Orientation > 8 || got.XResolution < 0 || (got.XResolution > 0) != (got.YResolution > 0) {
			t.Errorf("%v", got)
		}
		if p := got.ICCProfile; p != nil && (len(p) < 128 || len(p) > maxProfile) {
			t.Errorf("a profile of %d bytes", len(p))
		}
		// Pictures that were read can be written.
		for _, format := range []string{"png", "jpeg", "tiff"} {
			var b bytes.Buffer
			if err := EncodeWith(&b, format, noise[uint8](8, 8, 3), got); err != nil {
				t.Fatal(err)
			}
			if _, err := Decode(&b, Keep); err != nil {
				t.Fatal(err)
			}
		}
	})
}
