// Command letters writes the outlines of the Go fonts, as internal/plot draws them: without what a font has for
// hinting, which is most of it. It is for go:generate.
package main

import (
	"bytes"
	"compress/flate"
	"encoding/binary"
	"fmt"
	"os"

	"golang.org/x/image/font"
	"golang.org/x/image/font/gofont/gobold"
	"golang.org/x/image/font/gofont/goregular"
	"golang.org/x/image/font/sfnt"
	"golang.org/x/image/math/fixed"
)

func main() {
	if err := write(os.Args[1]); err != nil {
		fmt.Fprintln(os.Stderr, "letters:", err)
		os.Exit(1)
	}
}

// write writes both fonts: numbers as varints, compressed.
func write(path string) error {
	var plain, packed bytes.Buffer
	for _, data := range [][]byte{goregular.TTF, gobold.TTF} {
		if err := outlines(&plain, data); err != nil {
			return err
		}
	}
	w, err := flate.NewWriter(&packed, flate.BestCompression)
	if err != nil {
		return err
	}
	if _, err := w.Write(plain.Bytes()); err != nil {
		return err
	}
	if err := w.Close(); err != nil {
		return err
	}
	return os.WriteFile(path, packed.Bytes(), 0o644)
}

// outlines writes a font: its units, its glyphs, and which runes have which. Points are apart from the one before.
func outlines(b *bytes.Buffer, data []byte) error {
	f, err := sfnt.Parse(data)
	if err != nil {
		return err
	}
	number := func(n int) { b.Write(binary.AppendVarint(nil, int64(n))) }
	units := fixed.Int26_6(f.UnitsPerEm()) // at this size, points are in units of the font
	number(int(units))
	number(f.NumGlyphs())
	var buf sfnt.Buffer
	for i := range f.NumGlyphs() {
		advance, err := f.GlyphAdvance(&buf, sfnt.GlyphIndex(i), units, font.HintingNone)
		if err != nil {
			return err
		}
		segments, err := f.LoadGlyph(&buf, sfnt.GlyphIndex(i), units, nil)
		if err != nil {
			return err
		}
		number(int(advance))
		number(len(segments))
		var last fixed.Point26_6
		for _, s := range segments {
			points, ok := map[sfnt.SegmentOp]int{sfnt.SegmentOpMoveTo: 1, sfnt.SegmentOpLineTo: 1, sfnt.SegmentOpQuadTo: 2}[s.Op]
			if !ok {
				return fmt.Errorf("glyph %d has a segment %d", i, s.Op)
			}
			number(int(s.Op))
			for _, p := range s.Args[:points] {
				number(int(p.X - last.X))
				number(int(p.Y - last.Y))
				last = p
			}
		}
	}
	var runes []rune
	for r := rune(0); r < 0x20000; r++ {
		if i, err := f.GlyphIndex(&buf, r); err != nil {
			return err
		} else if i != 0 {
			runes = append(runes, r)
		}
	}
	number(len(runes))
	last := rune(0)
	for _, r := range runes {
		i, _ := f.GlyphIndex(&buf, r)
		number(int(r - last))
		number(int(i))
		last = r
	}
	for _, r0 := range runes {
		for _, r1 := range runes {
			x0, _ := f.GlyphIndex(&buf, r0)
			x1, _ := f.GlyphIndex(&buf, r1)
			if k, err := f.Kern(&buf, x0, x1, units, font.HintingNone); err == nil && k != 0 {
				return fmt.Errorf("%c and %c are kerned, which is not written", r0, r1)
			}
		}
	}
	return nil
}
