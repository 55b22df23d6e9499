package imgio

import (
	"image"
	"image/color"
	"image/color/palette"
	"image/draw"
	"image/gif"
	"io"
	"reflect"
	"slices"

	"github.com/boxsum/boxsum"
	"github.com/boxsum/boxsum/internal/raster"
)

// fromImage returns an image as a boxsum.Image of uint8, or of uint16 if its
// color model has 16 bits: gray; R, G, B if it is opaque; otherwise R, G, B, A
// with straight alpha. Nil gives an image without pixels.
func fromImage(m image.Image) (any, error) {
	if v := reflect.ValueOf(m); v.Kind() == reflect.Pointer && v.IsNil() {
		return boxsum.Image[uint8]{}, nil
	}
	deep := false
	switch m.ColorModel() {
	case color.GrayModel:
		return boxsum.Gray(m), nil
	case color.Gray16Model:
		return boxsum.Gray16(m), nil
	case color.RGBA64Model, color.NRGBA64Model, color.Alpha16Model:
		deep = true
	}
	if b, err := bilevelOf(m); b != nil || err != nil {
		return boxsum.Gray(m), err
	}
	clear := !isOpaque(m)
	if deep {
		return withAlpha(boxsum.Color16(straight(m)), clear), nil
	}
	return withAlpha(boxsum.Color(straight(m)), clear), nil
}

// straight returns an image whose colors are not multiplied by alpha.
func straight(m image.Image) image.Image {
	switch m.(type) {
	case *image.RGBA:
		to := image.NewNRGBA(m.Bounds())
		draw.Draw(to, to.Rect, m, to.Rect.Min, draw.Src)
		return to
	case *image.RGBA64:
		to := image.NewNRGBA64(m.Bounds())
		draw.Draw(to, to.Rect, m, to.Rect.Min, draw.Src)
		return to
	}
	return m
}

// withAlpha returns an image with or without its alpha, if it has any.
func withAlpha[P uint8 | uint16](img boxsum.Image[P], keep bool) boxsum.Image[P] {
	if keep || img.Channels != 4 {
		return img
	}
	to := boxsum.Image[P]{Pix: make([]P, 0, 3*img.Width*img.Height), Stride: 3 * img.Width, Width: img.Width, Height: img.Height, Channels: 3}
	for y := range img.Height {
		for row := img.Row(y); len(row) > 0; row = row[4:] {
			to.Pix = append(to.Pix, row[:3]...)
		}
	}
	return to
}

// isOpaque reports whether no pixel is transparent.
func isOpaque(m image.Image) bool {
	if o, ok := m.(interface{ Opaque() bool }); ok {
		return o.Opaque()
	}
	b := m.Bounds()
	for y := b.Min.Y; y < b.Max.Y; y++ {
		for x := b.Min.X; x < b.Max.X; x++ {
			if _, _, _, a := m.At(x, y).RGBA(); a != 0xffff {
				return false
			}
		}
	}
	return true
}

// grayImage returns a gray image in the form that image/jpeg writes as gray.
func grayImage(m image.Image) image.Image {
	if _, ok := m.(*image.Gray); ok {
		return m
	}
	to := image.NewGray(m.Bounds())
	draw.Draw(to, to.Rect, m, to.Rect.Min, draw.Src)
	return to
}

// encodeGIF writes an image exactly if it is gray or has at most 256 colors,
// and otherwise dithered to 256 fixed colors.
func encodeGIF(w io.Writer, img any) error {
	if deep, ok := img.(boxsum.Image[uint16]); ok {
		return raster.Unsupported("GIF cannot store %s, want uint8 (use .png or .npy)", described(deep))
	}
	b, err := bilevelOf(img)
	if err != nil {
		return err
	}
	if b != nil {
		img = palettedBits(b)
	}
	m, err := shownImage(img)
	if err != nil {
		return err
	}
	size := m.Bounds().Size()
	if most := 1<<16 - 1; size.X < 1 || size.Y < 1 || size.X > most || size.Y > most {
		return raster.Invalid("GIF cannot store %d×%d pixels, only sides of 1 to %d (use .png)", size.X, size.Y, most)
	}
	p, ok := m.(*image.Paletted)
	if !ok {
		if p, err = paletted(m); err != nil {
			return err
		}
	}
	return gif.Encode(w, p, nil)
}

// paletted returns an image with a palette, which consists of its own colors if
// they are at most 256.
func paletted(m image.Image) (*image.Paletted, error) {
	b := m.Bounds()
	to := image.NewPaletted(b, nil)
	if gray, ok := m.(*image.Gray); ok {
		for v := range 256 {
			to.Palette = append(to.Palette, color.Gray{Y: uint8(v)})
		}
		for y := range b.Dy() {
			copy(to.Pix[y*to.Stride:][:to.Stride], gray.Pix[y*gray.Stride:])
		}
		return to, nil
	}
	index := map[color.NRGBA]uint8{}
	exact, clear := true, false
	for y := b.Min.Y; y < b.Max.Y; y++ {
		for x := b.Min.X; x < b.Max.X; x++ {
			c := color.NRGBAModel.Convert(m.At(x, y)).(color.NRGBA)
			switch c.A {
			case 0:
				c, clear = color.NRGBA{}, true
			case 255:
			default:
				return nil, raster.Unsupported("GIF cannot store partly transparent pixels, such as the one at (%d, %d) (use .png)", x, y)
			}
			if !exact {
				continue
			}
			i, known := index[c]
			if !known && len(index) == 256 {
				exact = false
				continue
			}
			if !known {
				i = uint8(len(index))
				index[c] = i
				to.Palette = append(to.Palette, c)
			}
			to.Pix[to.PixOffset(x, y)] = i
		}
	}
	if exact {
		return to, nil
	}
	to.Palette = palette.Plan9
	if clear {
		to.Palette = slices.Clone(to.Palette)
		to.Palette[1] = color.Transparent // replaces one of the dark blues
	}
	draw.FloydSteinberg.Draw(to, b, m, b.Min)
	return to, nil
}

// isGray reports whether encoders write an image as gray.
func isGray(m image.Image) bool {
	switch m.ColorModel() {
	case color.GrayModel, color.Gray16Model:
		return true
	}
	return false
}
