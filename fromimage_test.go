package boxsum_test

import (
	"fmt"
	"image"
	"image/color"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/boxsum/boxsum"
)

// components is the expected value of one pixel: those that its type stores.
type components struct {
	v    [4]uint32 // in 8 bits, or in 16 where deep
	deep bool
}

func stored(c color.Color) components {
	switch c := c.(type) {
	case color.Gray:
		return components{v: [4]uint32{uint32(c.Y), uint32(c.Y), uint32(c.Y), 255}}
	case color.Gray16:
		return components{v: [4]uint32{uint32(c.Y), uint32(c.Y), uint32(c.Y), 65535}, deep: true}
	case color.RGBA:
		return components{v: [4]uint32{uint32(c.R), uint32(c.G), uint32(c.B), uint32(c.A)}}
	case color.NRGBA:
		return components{v: [4]uint32{uint32(c.R), uint32(c.G), uint32(c.B), uint32(c.A)}}
	case color.RGBA64:
		return components{v: [4]uint32{uint32(c.R), uint32(c.G), uint32(c.B), uint32(c.A)}, deep: true}
	case color.NRGBA64:
		return components{v: [4]uint32{uint32(c.R), uint32(c.G), uint32(c.B), uint32(c.A)}, deep: true}
	case color.Alpha:
		return components{v: [4]uint32{uint32(c.A), uint32(c.A), uint32(c.A), uint32(c.A)}}
	case color.Alpha16:
		return components{v: [4]uint32{uint32(c.A), uint32(c.A), uint32(c.A), uint32(c.A)}, deep: true}
	case color.YCbCr:
		r, g, b := color.YCbCrToRGB(c.Y, c.Cb, c.Cr)
		return stored(color.NRGBA{r, g, b, 255})
	case color.NYCbCrA:
		r, g, b := color.YCbCrToRGB(c.Y, c.Cb, c.Cr)
		return stored(color.NRGBA{r, g, b, c.A})
	case color.CMYK:
		r, g, b := color.CMYKToRGB(c.C, c.M, c.Y, c.K)
		return stored(color.NRGBA{r, g, b, 255})
	}
	return stored(color.NRGBA64Model.Convert(c))
}

func (c components) as16() [4]uint32 {
	if !c.deep {
		for i := range c.v {
			c.v[i] *= 257
		}
	}
	return c.v
}

func (c components) as8() [4]uint32 {
	if c.deep {
		for i := range c.v {
			c.v[i] >>= 8
		}
	}
	return c.v
}

func weigh(v [4]uint32) uint32 { return (9798*v[0] + 19235*v[1] + 3735*v[2] + 16384) >> 15 }

func (c components) gray8() uint32 {
	if c.deep {
		return weigh(c.v) >> 8
	}
	return weigh(c.v)
}

// custom hides an image's type, so that only At is left.
type custom struct{ image.Image }

// pixelColor is a color type unknown to package boxsum.
type pixelColor struct{ r, g, b, a uint32 }

func (c pixelColor) RGBA() (r, g, b, a uint32) { return c.r, c.g, c.b, c.a }

type odd struct{ image.Rectangle }

func (o odd) ColorModel() color.Model {
	return color.ModelFunc(func(c color.Color) color.Color { return c })
}
func (o odd) Bounds() image.Rectangle { return o.Rectangle }
func (o odd) At(x, y int) color.Color {
	return pixelColor{uint32(x*7919+y*31) % 30000, uint32(y*x*17) % 30000, uint32(x+y*1001) % 30000, 40000}
}

type subber interface {
	image.Image
	SubImage(image.Rectangle) image.Image
}

// sources returns images of every kind, filled with noise, and the number of channels
// that Color returns for each.
func sources(r image.Rectangle) map[string]struct {
	img      image.Image
	channels int
} {
	rng := rand.New(rand.NewPCG(uint64(r.Dx()), uint64(r.Dy())))
	noise := func(b []uint8) {
		for i := range b {
			b[i] = uint8(rng.Uint32())
		}
	}
	type source = struct {
		img      image.Image
		channels int
	}
	all := map[string]source{}

	gray, gray16, alpha, alpha16 := image.NewGray(r), image.NewGray16(r), image.NewAlpha(r), image.NewAlpha16(r)
	rgba, nrgba, rgba64, nrgba64 := image.NewRGBA(r), image.NewNRGBA(r), image.NewRGBA64(r), image.NewNRGBA64(r)
	cmyk := image.NewCMYK(r)
	for _, p := range [][]uint8{gray.Pix, gray16.Pix, alpha.Pix, alpha16.Pix, rgba.Pix, nrgba.Pix, rgba64.Pix, nrgba64.Pix, cmyk.Pix} {
		noise(p)
	}
	all["gray"], all["gray16"] = source{gray, 1}, source{gray16, 1}
	all["rgba"], all["nrgba"] = source{rgba, 4}, source{nrgba, 4}
	all["rgba64"], all["nrgba64"] = source{rgba64, 4}, source{nrgba64, 4}
	all["cmyk"] = source{cmyk, 3}
	all["alpha"], all["alpha16"] = source{alpha, 4}, source{alpha16, 4}
	all["custom rgba"], all["custom nrgba64"] = source{custom{rgba}, 4}, source{custom{nrgba64}, 4}
	all["custom gray"], all["custom cmyk"] = source{custom{gray}, 4}, source{custom{cmyk}, 4}
	all["odd"] = source{odd{r}, 4}

	for _, ratio := range []image.YCbCrSubsampleRatio{
		image.YCbCrSubsampleRatio444, image.YCbCrSubsampleRatio422, image.YCbCrSubsampleRatio420,
		image.YCbCrSubsampleRatio440, image.YCbCrSubsampleRatio411, image.YCbCrSubsampleRatio410,
	} {
		m, n := image.NewYCbCr(r, ratio), image.NewNYCbCrA(r, ratio)
		for _, p := range [][]uint8{m.Y, m.Cb, m.Cr, n.Y, n.Cb, n.Cr, n.A} {
			noise(p)
		}
		all[ratio.String()] = source{m, 3}
		all["N"+ratio.String()] = source{n, 4}
	}

	var opaque, clear, deep color.Palette
	for range 200 {
		v := rng.Uint32()
		opaque = append(opaque, color.RGBA{uint8(v), uint8(v >> 8), uint8(v >> 16), 255})
		clear = append(clear, color.NRGBA{uint8(v), uint8(v >> 8), uint8(v >> 16), uint8(v >> 24)})
		deep = append(deep, color.NRGBA64{uint16(v), uint16(v >> 8), uint16(v >> 16), 65535})
	}
	for name, p := range map[string]color.Palette{"opaque": opaque, "clear": clear, "deep": deep} {
		m := image.NewPaletted(r, p)
		for i := range m.Pix {
			m.Pix[i] = uint8(rng.IntN(len(p)))
		}
		channels := 3
		if name == "clear" {
			channels = 4
		}
		all["palette "+name] = source{m, channels}
	}
	return all
}

// values returns the rows of an image without gaps.
func values[P boxsum.Pixel](im boxsum.Image[P]) []P {
	var out []P
	for y := range im.Height {
		out = append(out, im.Row(y)...)
	}
	return out
}

func TestFromImage(t *testing.T) {
	for _, r := range []image.Rectangle{
		image.Rect(0, 0, 1, 1), image.Rect(0, 0, 17, 9), image.Rect(5, 3, 18, 16), image.Rect(-7, -5, 6, 8),
	} {
		for name, src := range sources(r) {
			t.Run(fmt.Sprint(name, r), func(t *testing.T) { checkImage(t, src.img, src.channels) })
			if s, ok := src.img.(subber); ok {
				inner := image.Rectangle{Min: r.Min.Add(image.Pt(1, 3)), Max: r.Max.Sub(image.Pt(2, 1))}
				t.Run(fmt.Sprint(name, r, "part"), func(t *testing.T) { checkImage(t, s.SubImage(inner), src.channels) })
			}
		}
	}
}

func checkImage(t *testing.T, img image.Image, channels int) {
	b := img.Bounds()
	var gray, color8 []uint8
	var gray16, color16 []uint16
	for y := b.Min.Y; y < b.Max.Y; y++ {
		for x := b.Min.X; x < b.Max.X; x++ {
			c := stored(img.At(x, y))
			switch m := img.(type) {
			case *image.YCbCr:
				gray, gray16 = append(gray, m.YCbCrAt(x, y).Y), append(gray16, uint16(m.YCbCrAt(x, y).Y)*257)
			case *image.NYCbCrA:
				gray, gray16 = append(gray, m.YCbCrAt(x, y).Y), append(gray16, uint16(m.YCbCrAt(x, y).Y)*257)
			default:
				gray, gray16 = append(gray, uint8(c.gray8())), append(gray16, uint16(weigh(c.as16())))
			}
			v8, v16 := c.as8(), c.as16()
			for i := range channels {
				color8, color16 = append(color8, uint8(v8[i])), append(color16, uint16(v16[i]))
			}
		}
	}
	expect(t, "Gray", boxsum.Gray(img), b, 1, gray)
	expect(t, "Gray16", boxsum.Gray16(img), b, 1, gray16)
	if !b.Empty() {
		expect(t, "Color", boxsum.Color(img), b, channels, color8)
		expect(t, "Color16", boxsum.Color16(img), b, channels, color16)
	}
}

func expect[P boxsum.Pixel](t *testing.T, what string, got boxsum.Image[P], b image.Rectangle, channels int, want []P) {
	t.Helper()
	if b.Empty() {
		if got.Pix != nil || got.Width != 0 || got.Height != 0 {
			t.Errorf("%s of an empty image is %v", what, got)
		}
		return
	}
	if got.Width != b.Dx() || got.Height != b.Dy() || got.Channels != channels {
		t.Fatalf("%s is %d×%d×%d, want %d×%d×%d", what, got.Width, got.Height, got.Channels, b.Dx(), b.Dy(), channels)
	}
	if have := values(got); !slices.Equal(have, want) {
		for i := range want {
			if have[i] != want[i] {
				t.Fatalf("%s: value %d is %v, want %v", what, i, have[i], want[i])
			}
		}
		t.Fatalf("%s: %d values, want %d", what, len(have), len(want))
	}
}

func TestFromImageShares(t *testing.T) {
	r := image.Rect(2, 1, 11, 9)
	part := image.Rect(4, 3, 9, 8)
	for name, src := range sources(r) {
		img := src.img
		if s, ok := img.(subber); ok {
			img = s.SubImage(part)
		}
		var pix []uint8
		sharesGray, sharesColor := false, false
		switch m := img.(type) {
		case *image.Gray:
			pix, sharesGray, sharesColor = m.Pix, true, true
		case *image.RGBA:
			pix, sharesColor = m.Pix, true
		case *image.NRGBA:
			pix, sharesColor = m.Pix, true
		case *image.YCbCr:
			pix, sharesGray = m.Y, true
		case *image.NYCbCrA:
			pix, sharesGray = m.Y, true
		default:
			continue
		}
		if got := &boxsum.Gray(img).Pix[0] == &pix[0]; got != sharesGray {
			t.Errorf("%s: Gray shares memory: %v, want %v", name, got, sharesGray)
		}
		if got := &boxsum.Color(img).Pix[0] == &pix[0]; got != sharesColor {
			t.Errorf("%s: Color shares memory: %v, want %v", name, got, sharesColor)
		}
		allocs := testing.AllocsPerRun(10, func() { boxsum.Gray(img) })
		if sharesGray && allocs != 0 {
			t.Errorf("%s: Gray allocates %v times", name, allocs)
		}
	}
}

func TestFromImageNothing(t *testing.T) {
	empty := image.Rect(3, 3, 3, 9)
	for name, img := range map[string]image.Image{
		"nil": nil, "nil pointer": (*image.Gray)(nil), "nil palette": (*image.Paletted)(nil), "zero": &image.RGBA{},
		"gray": image.NewGray(empty), "ycbcr": image.NewYCbCr(empty, image.YCbCrSubsampleRatio420), "odd": odd{empty},
		"paletted": image.NewPaletted(empty, nil), "cmyk": image.NewCMYK(empty),
	} {
		checkNothing(t, name, boxsum.Gray(img))
		checkNothing(t, name, boxsum.Gray16(img))
		checkNothing(t, name, boxsum.Color(img))
		checkNothing(t, name, boxsum.Color16(img))
	}
}

func checkNothing[P boxsum.Pixel](t *testing.T, name string, im boxsum.Image[P]) {
	t.Helper()
	if im.Pix != nil || im.Width != 0 || im.Height != 0 {
		t.Errorf("%s gives %v, want an empty image", name, im)
	}
}

// TestFromImageBroken tests that an image whose buffer is too short keeps its size and
// loses its pixels, so that integrating it is an error and does not panic.
func TestFromImageBroken(t *testing.T) {
	r := image.Rect(0, 0, 4, 4)
	short := make([]uint8, 10)
	for name, img := range map[string]image.Image{
		"gray":     &image.Gray{Pix: short, Stride: 4, Rect: r},
		"stride":   &image.Gray{Pix: make([]uint8, 100), Stride: 1, Rect: r},
		"gray16":   &image.Gray16{Pix: short, Stride: 8, Rect: r},
		"rgba":     &image.RGBA{Pix: short, Stride: 16, Rect: r},
		"nrgba64":  &image.NRGBA64{Pix: short, Stride: 32, Rect: r},
		"cmyk":     &image.CMYK{Pix: short, Stride: 16, Rect: r},
		"paletted": &image.Paletted{Pix: short, Stride: 4, Rect: r, Palette: color.Palette{color.Black}},
		"ycbcr":    &image.YCbCr{Y: short, Cb: short, Cr: short, YStride: 4, CStride: 4, Rect: r},
	} {
		if g := boxsum.Gray(img); g.Pix != nil || g.Width != 4 || g.Height != 4 {
			t.Errorf("%s: Gray is %v", name, g)
		}
		if c := boxsum.Color16(img); c.Pix != nil || c.Width != 4 || c.Height != 4 {
			t.Errorf("%s: Color16 is %v", name, c)
		}
	}
	chroma := &image.YCbCr{Y: make([]uint8, 16), Cb: short, Cr: short, YStride: 4, CStride: 4, Rect: r}
	if c := boxsum.Color(chroma); c.Pix != nil {
		t.Errorf("short chroma: %v", c)
	}
	if c := boxsum.Color(image.NewUniform(color.White)); c.Pix != nil {
		t.Errorf("an endless image has %d pixels", len(c.Pix))
	}
	beyond := &image.Paletted{Pix: []uint8{0, 1, 200, 255}, Stride: 2, Rect: image.Rect(0, 0, 2, 2), Palette: color.Palette{color.White, color.White}}
	if g := boxsum.Gray(beyond); !slices.Equal(g.Pix, []uint8{255, 255, 0, 0}) {
		t.Errorf("indices beyond the palette give %v", g.Pix)
	}
}
