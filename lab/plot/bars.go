package plot

import (
	"cmp"
	"fmt"
)

// Bars is a bar chart with one bar per row, its name on the left and its value to the right of the
// bar. Bars start at zero.
type Bars struct {
	Title string
	Label string // of the values, with the unit
	Note  string // below the label, such as the meaning of the colors
	Rows  []Bar
}

// A Bar is one row.
type Bar struct {
	Name  string
	Value float64
	Text  string // text next to the bar; empty means the value
	Hue   int
	Pale  bool // draw only the outline, for published figures
}

// Check returns an error if the chart cannot be drawn.
func (b *Bars) Check() error {
	for _, r := range b.Rows {
		if r.Value < 0 || !fits(Axis{}, r.Value) {
			return fmt.Errorf("%s: the value of %q is %v, want a finite number of 0 or more", b.Title, r.Name, r.Value)
		}
	}
	if len(b.Rows) == 0 {
		return fmt.Errorf("%s: the chart has no bars", b.Title)
	}
	return nil
}

const barHeight = 30.0

// Size returns the size of the chart.
func (b *Bars) Size() (width, height float64) {
	return chartWidth, margin + 40 + barHeight*float64(len(b.Rows)) + b.below()
}

// below returns the height of the area below the bars.
func (b *Bars) below() float64 {
	if b.Note == "" {
		return 56
	}
	return 78
}

func (b *Bars) title() string { return b.Title }

func (b *Bars) draw(to canvas) {
	width, height := b.Size()
	names, texts, longest := 0.0, 0.0, 0.0
	for _, r := range b.Rows {
		names = max(names, widthOf(r.Name, nameFace))
		texts = max(texts, widthOf(r.text(), nameFace))
		longest = max(longest, r.Value)
	}
	if longest == 0 {
		longest = 1
	}
	x0, x1 := margin+names+12, width-margin-texts-12
	y0, y1 := margin+36, height-b.below()
	s := scale{low: 0, high: longest}
	place := func(v float64) float64 { return x0 + (x1-x0)*s.at(v) }
	to.text(point{margin, margin + 15}, 0, b.Title, titleFace, ink)
	ticks, _ := s.ticks(Axis{})
	lines := stagger(ticks, place)
	for i, t := range ticks {
		x := place(t.At)
		to.line([]point{{x, y0}, {x, y1}}, 1, nil, rule)
		if lines[i] == 0 {
			to.text(point{x, y1 + 19}, 0.5, t.Label, tickFace, ink)
		}
	}
	to.text(point{(x0 + x1) / 2, y1 + 41}, 0.5, b.Label, tickFace, soft)
	if b.Note != "" {
		to.text(point{width / 2, y1 + 63}, 0.5, b.Note, tickFace, soft)
	}
	for i, r := range b.Rows {
		y := y0 + barHeight*(float64(i)+0.5)
		hue := Style{Hue: r.Hue}.color()
		end := max(place(r.Value), x0+1.5)
		outline := 0.0
		if r.Pale {
			outline = 1.8
		}
		to.area(box(x0, y-9, end, y+9), outline, hue)
		to.text(point{x0 - 10, y + 5}, 1, r.Name, nameFace, ink)
		to.text(point{end + 8, y + 5}, 0, r.text(), nameFace, ink)
	}
	to.line([]point{{x0, y0}, {x0, y1}}, 1.2, nil, soft)
}

func (r Bar) text() string { return cmp.Or(r.Text, Number(r.Value)) }
