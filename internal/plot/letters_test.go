package plot

import (
	"bytes"
	"image"
	"testing"

	"golang.org/x/image/font"
	"golang.org/x/image/font/gofont/gobold"
	"golang.org/x/image/font/gofont/goregular"
	"golang.org/x/image/font/opentype"
	"golang.org/x/image/math/fixed"
)

// Letters are, pixel by pixel, those that package opentype draws from the fonts.
func TestLettersAsFonts(t *testing.T) {
	for bold, data := range map[bool][]byte{false: goregular.TTF, true: gobold.TTF} {
		parsed, err := opentype.Parse(data)
		if err != nil {
			t.Fatal(err)
		}
		for _, size := range []float64{13.5, 17, 29} {
			want, err := opentype.NewFace(parsed, &opentype.FaceOptions{Size: size, DPI: 72, Hinting: font.HintingNone})
			if err != nil {
				t.Fatal(err)
			}
			got := fontFace(face{size, bold}, 1)
			drawn := 0
			for r := rune(0); r < 0x3000; r++ {
				dot := fixed.Point26_6{X: 100 + fixed.Int26_6(r%64), Y: 2000 + 3*fixed.Int26_6(r%64)}
				wantRect, wantMask, _, wantAdvance, wantOK := want.Glyph(dot, r)
				rect, mask, _, advance, ok := got.Glyph(dot, r)
				if rect != wantRect || advance != wantAdvance || ok != wantOK || !bytes.Equal(mask.(*image.Alpha).Pix, wantMask.(*image.Alpha).Pix) {
					t.Fatalf("%q of %v points, bold %v: %v %v %v, want %v %v %v", r, size, bold, rect, advance, ok, wantRect, wantAdvance, wantOK)
				}
				if a, ok := got.GlyphAdvance(r); a != wantAdvance || ok != wantOK || got.Kern('A', r) != want.Kern('A', r) {
					t.Fatalf("%q of %v points: advance %v", r, size, a)
				}
				bounds, _, _ := got.GlyphBounds(r)
				if wantBounds, _, _ := want.GlyphBounds(r); bounds != wantBounds {
					t.Fatalf("%q of %v points: bounds %v, want %v", r, size, bounds, wantBounds)
				}
				if ok {
					drawn++
				}
			}
			if drawn < 600 {
				t.Errorf("%d glyphs", drawn)
			}
		}
	}
}
