package imgio

import (
	"bytes"
	"image"
	"image/color"
	"image/png"
	"math/rand/v2"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"testing"

	"golang.org/x/image/bmp"

	"github.com/boxsum/boxsum"
)

// samples returns a small valid file of every format and kind.
func samples(t testing.TB) map[string][]byte {
	t.Helper()
	r := image.Rect(0, 0, 19, 11)
	gray, gray16, rgba, nrgba64 := image.NewGray(r), image.NewGray16(r), image.NewNRGBA(r), image.NewNRGBA64(r)
	pal := image.NewPaletted(r, color.Palette{color.Black, color.White, color.RGBA{200, 10, 10, 255}})
	for _, p := range [][]uint8{gray.Pix, gray16.Pix, rgba.Pix, nrgba64.Pix, pal.Pix} {
		noisy(p)
	}
	for i := range pal.Pix {
		pal.Pix[i] %= 3
	}
	var npy, fortran bytes.Buffer
	if err := WriteNPY(&npy, []int{3, 5, 2}, one(make([]uint16, 30))); err != nil {
		t.Fatal(err)
	}
	fortran.Write(rawNPY(2, "{'descr': '>f8', 'fortran_order': True, 'shape': (3, 5)}", make([]byte, 120)))
	return map[string][]byte{
		"png gray": encoded(t, png.Encode, gray), "png gray16": encoded(t, png.Encode, gray16),
		"png rgba": encoded(t, png.Encode, rgba), "png rgba16": encoded(t, png.Encode, nrgba64),
		"png palette": encoded(t, png.Encode, pal),
		"jpeg gray":   encoded(t, asJPEG, gray), "jpeg": encoded(t, asJPEG, rgba),
		"gif": encoded(t, asGIF, pal),
		"bmp": encoded(t, bmp.Encode, rgba), "bmp palette": encoded(t, bmp.Encode, pal),
		"tiff": encoded(t, asTIFF, rgba), "tiff deflate": encoded(t, asDeflatedTIFF, nrgba64), "tiff palette": encoded(t, asTIFF, pal), "tiff floats": floatTIFF(t), "tiff fax": unhex(faxTIFF),
		"webp": unhex(webpOpaque), "webp alpha": unhex(webpAlpha), "webp lossy": unhex(webpLossy), "webp lossy alpha": unhex(webpLossyAlpha),
		"P1": []byte("P1 3 2 1 0 1 0 1 0"), "P2": []byte("P2 # c\n3 1 255 1 2 3"), "P3": []byte("P3 1 1 300 1 2 3"),
		"P4": []byte("P4 9 2\nabcd"), "P5": []byte("P5 2 2 255\nabcd"), "P6": []byte("P6 1 1 65535\nabcdef"),
		"P7":  []byte("P7\nWIDTH 1\nHEIGHT 1\nDEPTH 4\nMAXVAL 255\nENDHDR\nabcd"),
		"npy": npy.Bytes(), "npy fortran": fortran.Bytes(),
	}
}

func floatTIFF(t testing.TB) []byte {
	var b bytes.Buffer
	if err := Encode(&b, "tiff", noise[float32](5, 4, 2)); err != nil {
		t.Fatal(err)
	}
	return b.Bytes()
}

// bounded reports whether the length of a file limits its number of pixels.
func bounded(format string) bool { return format != "webp" && format != "tiff" }

// survives decodes a damaged file. The result must be a consistent picture or an
// error, and use no more memory than its length allows.
func survives(t *testing.T, name string, file []byte, mode ColorMode) {
	t.Helper()
	var p *Picture
	var err error
	allocated := allocatedBy(func() { p, err = Decode(bytes.NewReader(file), mode) })
	format, _ := sniff(file[:min(len(file), sniffBytes)])
	// The maximum is 512 pixels per byte, in progressive JPEG, and 15 bytes per pixel.
	if limit := uint64(4<<20 + 16384*len(file)); bounded(format) && allocated > limit {
		t.Errorf("%s: %d bytes allocated for a file of %d", name, allocated, len(file))
	}
	if err != nil {
		return
	}
	defer p.Close()
	fits := false
	switch im := p.Image.(type) {
	case boxsum.Image[uint8]:
		fits = whole(im)
	case boxsum.Image[uint16]:
		fits = whole(im)
	case boxsum.Image[uint32]:
		fits = whole(im)
	case boxsum.Image[int16]:
		fits = whole(im)
	case boxsum.Image[int32]:
		fits = whole(im)
	case boxsum.Image[float32]:
		fits = whole(im)
	case boxsum.Image[float64]:
		fits = whole(im)
	}
	if !fits {
		t.Errorf("%s: the picture does not fit its buffer", name)
	}
}

func whole[P boxsum.Pixel](im boxsum.Image[P]) bool {
	for y := range im.Height {
		if len(im.Row(y)) != im.Width*im.Channels {
			return false
		}
	}
	return im.Channels > 0
}

func TestDamagedFiles(t *testing.T) {
	for name, file := range samples(t) {
		rng := rand.New(rand.NewPCG(3, uint64(len(name)))) // the same for any order of samples
		for _, mode := range []ColorMode{ToGray, Keep} {
			if _, err := Decode(bytes.NewReader(file), mode); err != nil {
				t.Fatalf("%s: %v", name, err)
			}
		}
		for i := range 200 {
			damaged := append([]byte(nil), file...)
			for range 1 + rng.IntN(4) {
				damaged[rng.IntN(len(damaged))] = uint8(rng.Uint32())
			}
			if i%2 == 0 {
				damaged[rng.IntN(min(len(damaged), 60))] ^= 1 << rng.IntN(8)
			}
			if i%3 == 0 {
				damaged = damaged[:rng.IntN(len(damaged))]
			}
			survives(t, name, damaged, ColorMode(i%2))
		}
		for n := range min(len(file), 200) {
			survives(t, name, file[:n], Keep)
		}
	}
}

// TestDamagedFilesOnDisk writes damaged arrays to files, which may be mapped.
func TestDamagedFilesOnDisk(t *testing.T) {
	rng := rand.New(rand.NewPCG(5, 6))
	path := filepath.Join(t.TempDir(), "file")
	var npy bytes.Buffer
	if err := WriteNPY(&npy, []int{1024, 600}, one(make([]uint16, 1024*600))); err != nil {
		t.Fatal(err)
	}
	for range 40 {
		damaged := append([]byte(nil), npy.Bytes()...)
		damaged[rng.IntN(128)] = "0123456789(),<>u'"[rng.IntN(17)]
		if err := os.WriteFile(path, damaged[:len(damaged)-rng.IntN(3)], 0o600); err != nil {
			t.Fatal(err)
		}
		p, err := Open(path, Keep)
		if err != nil {
			continue
		}
		if err := p.Close(); err != nil {
			t.Error(err)
		}
	}
}

func FuzzDecode(f *testing.F) {
	pixelLimit = 1 << 16 // in some formats, a few bytes decode to a picture that takes seconds
	defer func() { pixelLimit = MaxPixels }()
	for _, file := range samples(f) {
		f.Add(file, true)
	}
	f.Fuzz(func(t *testing.T, file []byte, keep bool) {
		mode := ToGray
		if keep {
			mode = Keep
		}
		survives(t, "fuzz", file, mode)
	})
}

func FuzzReadNPY(f *testing.F) {
	for name, file := range samples(f) {
		if strings.HasPrefix(name, "npy") {
			f.Add(file)
		}
	}
	f.Add(rawNPY(1, "{'shape': (), \"descr\":'|b1', 'fortran_order' : True, } \n", []byte{1}))
	f.Fuzz(func(t *testing.T, file []byte) {
		a, err := ReadNPY(bytes.NewReader(file))
		if err != nil {
			return
		}
		n, err := elementCount(a.Shape)
		if err != nil {
			t.Fatal(err)
		}
		if b, ok := a.Data.([]uint8); ok && len(b) != n || n > len(file) {
			t.Errorf("shape %v from %d bytes", a.Shape, len(file))
		}
	})
}

// allocatedBy returns the number of bytes that f allocates.
func allocatedBy(f func()) uint64 {
	var before, after runtime.MemStats
	runtime.ReadMemStats(&before)
	f()
	runtime.ReadMemStats(&after)
	return after.TotalAlloc - before.TotalAlloc
}
