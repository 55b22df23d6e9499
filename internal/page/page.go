// Package page draws pages of text as seen by scanners and cameras, together with their ground truth, for
// tests of thresholds and for the pictures and figures about them.
package page

import (
	"image"
	"math"
	"math/rand/v2"
	"strings"

	"golang.org/x/image/font"
	"golang.org/x/image/font/gofont/goregular"
	"golang.org/x/image/font/opentype"
	"golang.org/x/image/math/fixed"

	"github.com/boxsum/boxsum"
)

// A Kind is a kind of damage to a page.
type Kind int

const (
	Even    Kind = iota // even light with a little noise
	Lit                 // light from one side
	Shadow              // a shadow with a sharp edge
	Stained             // stains of coffee and damp
	Faint               // pale ink on gray paper
	Bleed               // text of the other side shines through
	Noisy               // strong noise
	kinds
)

var names = [kinds]string{"even light", "light from one side", "a shadow", "stains", "faint ink", "ink from the other side", "noise"}

func (k Kind) String() string { return names[k] }

// Kinds returns all kinds.
func Kinds() (all []Kind) {
	for k := range kinds {
		all = append(all, k)
	}
	return all
}

// Text is the text on a page.
const Text = `The mean of the pixels round a pixel says how bright the paper is there. ` +
	`What is clearly darker than that is ink. A scanner that stands by a window, a lamp on one side, the fold of a book and old coffee change ` +
	`the light from place to place, and no single threshold is right for all of a page. Running sums give the mean and the deviation of every ` +
	`window in the same few steps, whatever its size, so that thresholds of this kind take no longer than reading the image twice.`

// A Page holds pixels and their ground truth: 0 for ink, 255 elsewhere.
type Page struct {
	Gray, Truth boxsum.Image[uint8]
	Words       []string // words on the page
}

// Draw draws a page with letters of the given size in pixels.
func Draw(k Kind, width, height int, size float64) (*Page, error) {
	ink, words, err := write(Text, width, height, size, 0)
	if err != nil {
		return nil, err
	}
	var back []float64
	if k == Bleed {
		if back, _, err = write(reversed(Text), width, height, size, size/3); err != nil {
			return nil, err
		}
	}
	p := &Page{Words: words}
	if p.Gray, err = boxsum.NewImage[uint8](width, height, 1); err != nil {
		return nil, err
	}
	if p.Truth, err = boxsum.NewImage[uint8](width, height, 1); err != nil {
		return nil, err
	}
	rng := rand.New(rand.NewPCG(uint64(k), 18))
	for y := range height {
		for x := range width {
			i := y*width + x
			p.Truth.Pix[i] = 255
			if ink[i] >= 0.5 {
				p.Truth.Pix[i] = 0
			}
			light, dark, noise := k.at(float64(x)/float64(width), float64(y)/float64(height))
			v := light * (1 - dark*ink[i])
			if back != nil {
				mirrored := y*width + width - 1 - x
				v *= 1 - 0.28*back[mirrored]
			}
			p.Gray.Pix[i] = uint8(math.Round(min(255, max(0, 255*v+noise*rng.NormFloat64()))))
		}
	}
	return p, nil
}

// at returns the brightness of the paper at a position, the fraction that ink absorbs, and the noise.
func (k Kind) at(x, y float64) (light, dark, noise float64) {
	switch k {
	case Lit:
		return 0.10 + 0.85*math.Pow(x, 1.4)*(0.85+0.15*y), 0.75, 2.5
	case Shadow:
		if light = 0.9; y > 0.35+0.3*x {
			light = 0.32
		}
		return light, 0.75, 3
	case Stained:
		light = 0.88
		for _, s := range [][4]float64{{0.25, 0.35, 0.16, 0.45}, {0.7, 0.6, 0.22, 0.35}, {0.5, 0.95, 0.3, 0.25}} {
			d := math.Hypot(x-s[0], (y-s[1])*0.7) / s[2]
			light -= s[3] * 0.6 / (1 + math.Exp(14*(d-1)))
			light -= s[3] * 0.5 * math.Exp(-200*(d-1)*(d-1)) // the rim
		}
		return light, 0.7, 3
	case Faint:
		return 0.62 + 0.1*x, 0.22, 3
	case Bleed:
		return 0.85 - 0.1*x, 0.75, 3
	case Noisy:
		return 0.8 - 0.2*x, 0.6, 22
	}
	return 0.92, 0.8, 2
}

// write sets a text in lines as wide as the page. It returns the amount of ink of every pixel, 0 to 1, and the
// words that fit on the page.
func write(text string, width, height int, size, shift float64) (ink []float64, words []string, err error) {
	parsed, err := opentype.Parse(goregular.TTF)
	if err != nil {
		return nil, nil, err
	}
	face, err := opentype.NewFace(parsed, &opentype.FaceOptions{Size: size, DPI: 72})
	if err != nil {
		return nil, nil, err
	}
	defer face.Close()
	canvas := image.NewGray(image.Rect(0, 0, width, height))
	for i := range canvas.Pix {
		canvas.Pix[i] = 255
	}
	d := font.Drawer{Dst: canvas, Src: image.Black, Face: face}
	margin, step := 1.5*size, 1.6*size
	line := ""
	y := margin + size/2 + shift
	put := func() bool {
		if y > float64(height)-margin/2 {
			return false
		}
		d.Dot = fixed.P(int(margin), int(y))
		d.DrawString(line)
		words = append(words, strings.Fields(line)...)
		y += step
		return true
	}
	for again := true; again; {
		for _, word := range strings.Fields(text) {
			longer := strings.TrimSpace(line + " " + word)
			if float64(d.MeasureString(longer).Round()) <= float64(width)-2*margin {
				line = longer
				continue
			}
			if again = put(); !again {
				break
			}
			line = word
		}
	}
	ink = make([]float64, width*height)
	for i, v := range canvas.Pix {
		ink[i] = 1 - float64(v)/255
	}
	return ink, words, nil
}

// reversed returns the words of a text in reverse order.
func reversed(text string) string {
	words := strings.Fields(text)
	for i, j := 0, len(words)-1; i < j; i, j = i+1, j-1 {
		words[i], words[j] = words[j], words[i]
	}
	return strings.Join(words, " ")
}
