package plot

import (
	"fmt"
	"html"
	"image/color"
	"io"
	"strconv"
	"strings"
)

// svgCanvas is a canvas that writes SVG.
type svgCanvas struct{ b strings.Builder }

func newSVG(width, height float64, title string) *svgCanvas {
	v := &svgCanvas{}
	fmt.Fprintf(&v.b, `<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 %s %s" width="%[1]s" height="%[2]s" role="img" aria-label="%s" font-family="Helvetica, Arial, 'Liberation Sans', sans-serif">`+"\n",
		num(width), num(height), html.EscapeString(title))
	fmt.Fprintf(&v.b, "<rect width=\"%s\" height=\"%s\" fill=\"%s\"/>\n", num(width), num(height), hex(paper))
	return v
}

func (v *svgCanvas) write(w io.Writer) error {
	_, err := io.WriteString(w, v.b.String()+"</svg>\n")
	return err
}

func (v *svgCanvas) line(points []point, width float64, dash []float64, c color.RGBA) {
	fmt.Fprintf(&v.b, `<polyline fill="none" stroke="%s" stroke-width="%s" stroke-linejoin="round" points="`, hex(c), num(width))
	v.points(points)
	v.b.WriteString(`"`)
	if dash != nil {
		parts := make([]string, len(dash))
		for i, d := range dash {
			parts[i] = num(d)
		}
		fmt.Fprintf(&v.b, ` stroke-dasharray="%s"`, strings.Join(parts, " "))
	}
	v.b.WriteString("/>\n")
}

func (v *svgCanvas) area(points []point, width float64, c color.RGBA) {
	v.b.WriteString(`<polygon points="`)
	v.points(points)
	if width > 0 {
		fmt.Fprintf(&v.b, "\" fill=\"%s\" stroke=\"%s\" stroke-width=\"%s\"/>\n", hex(paper), hex(c), num(width))
	} else {
		fmt.Fprintf(&v.b, "\" fill=\"%s\"/>\n", hex(c))
	}
}

func (v *svgCanvas) text(at point, anchor float64, s string, f face, c color.RGBA) {
	name := "middle"
	switch anchor {
	case 0:
		name = "start"
	case 1:
		name = "end"
	}
	weight := ""
	if f.bold {
		weight = ` font-weight="bold"`
	}
	fmt.Fprintf(&v.b, "<text x=\"%s\" y=\"%s\" text-anchor=\"%s\" font-size=\"%s\"%s fill=\"%s\">%s</text>\n",
		num(at.x), num(at.y), name, num(f.size), weight, hex(c), html.EscapeString(s))
}

func (v *svgCanvas) points(points []point) {
	for i, p := range points {
		if i > 0 {
			v.b.WriteByte(' ')
		}
		v.b.WriteString(num(p.x) + "," + num(p.y))
	}
}

// num formats a coordinate to a hundredth of a pixel.
func num(f float64) string {
	s := strconv.FormatFloat(f, 'f', 2, 64)
	return strings.TrimSuffix(strings.TrimRight(s, "0"), ".")
}

func hex(c color.RGBA) string { return fmt.Sprintf("#%02x%02x%02x", c.R, c.G, c.B) }
