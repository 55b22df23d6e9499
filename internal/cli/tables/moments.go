package tables

import (
	"bufio"
	"encoding/json"
	"errors"
	"fmt"
	"image"
	"math"
	"strconv"

	"github.com/boxsum/boxsum"
	"github.com/boxsum/boxsum/internal/cli/console"
	"github.com/boxsum/boxsum/internal/cli/display"
	"github.com/boxsum/boxsum/internal/cli/imagefile"
	"github.com/boxsum/boxsum/internal/engine"
	"github.com/boxsum/boxsum/internal/moment"
	"github.com/boxsum/boxsum/internal/raster"
	"github.com/boxsum/boxsum/moments"
)

// Moments implements the moments command.
type Moments struct {
	In    string  `arg:"" name:"IN" help:"Image (PNG, JPEG, GIF, BMP, TIFF, WebP, PNM) or .npy array; - is standard input."`
	Box   boxList `placeholder:"X0,Y0,X1,Y1" help:"Box whose moments to print, which excludes column X1 and row Y1. May be repeated."`
	Boxes string  `placeholder:"FILE" help:"File with a box per line, as for query; - is standard input."`
	imagefile.Flags
	JSON bool `name:"json" help:"Print JSON, with all moments."`
}

// Run prints the moments of every box, or of the whole image.
func (c *Moments) Run(sh *console.Shell) error {
	boxes, err := console.Await(sh.Ctx, func() ([]box, error) { return boxesOf(c.Box, c.Boxes, c.In, sh.Stdin, 4) })
	if err != nil {
		return err
	}
	src, err := imagefile.Open(sh, c.In, &c.Flags, false)
	if err != nil {
		return err
	}
	defer src.File.Close()
	direct := directOf(src.Image)
	if size := direct.size(); len(boxes) == 0 && c.Boxes == "" {
		boxes = []box{{0, 0, size.Width, size.Height}}
	}
	opt := watched(sh, &boxsum.Options{}, "integrating", nil)
	of, err := momentsOf(src.Image, few(direct, boxes), engineOptions(opt))
	if err != nil {
		return err
	}
	var answers []boxMoments
	for _, b := range boxes {
		for channel := range direct.size().Channels {
			m, err := of(b.rectangle(), channel)
			if err != nil {
				return err
			}
			answers = append(answers, newBoxMoments(b, direct, channel, m))
		}
	}
	w := bufio.NewWriter(sh.Results())
	if c.JSON {
		err = display.JSONLines(w, answers)
		fmt.Fprintln(w)
	} else {
		err = display.Columns(w, momentRows(answers, direct.size().Channels > 1))
	}
	return errors.Join(err, w.Flush())
}

// momentsOf returns a function that computes the moments of boxes, from a table of each box alone
// or from a table of the whole image, which needs more memory.
func momentsOf(src raster.Array, alone bool, opt engine.Options) (func(b image.Rectangle, channel int) (moments.Moments, error), error) {
	whole := image.Rect(0, 0, src.Width, src.Height)
	if !alone {
		t, err := moment.Integrate(src, opt)
		return func(b image.Rectangle, channel int) (moments.Moments, error) {
			return moments.Moments(t.Moments(b, channel)), nil
		}, err
	}
	return func(b image.Rectangle, channel int) (moments.Moments, error) {
		b = b.Intersect(whole)
		if b.Empty() {
			return moments.Moments{}, nil
		}
		part := src
		part.Data = src.From(b.Min.Y*src.Stride + b.Min.X*src.Channels)
		part.SetPlane(b.Dx(), b.Dy(), src.Channels, src.Stride)
		t, err := moment.Integrate(part, opt)
		if err != nil {
			return moments.Moments{}, err
		}
		return moments.Moments(t.Moments(image.Rect(0, 0, b.Dx(), b.Dy()), channel)), nil
	}, nil
}

// boxMoments holds the results for one channel of a box.
type boxMoments struct {
	box     box
	channel int
	moments.Moments
	area         int64
	x, y         float64 // centroid, in coordinates of the image
	major, minor float64
	degrees      float64
}

func newBoxMoments(b box, of oracle, channel int, m moments.Moments) boxMoments {
	a := boxMoments{box: b, channel: channel, Moments: m, area: of.area(b)}
	if m.M00 != 0 {
		x, y := m.Centroid()
		a.x, a.y = float64(max(b[0], 0))+x, float64(max(b[1], 0))+y
	}
	var angle float64
	a.major, a.minor, angle = m.Ellipse()
	a.degrees = angle * 180 / math.Pi
	return a
}

// momentRows returns a row for every channel of every box.
func momentRows(answers []boxMoments, several bool) [][]string {
	row := func(box, channel string, rest ...string) []string {
		if several {
			return append([]string{box, channel}, rest...)
		}
		return append([]string{box}, rest...)
	}
	rows := [][]string{row("box", "channel", "m00", "x", "y", "major", "minor", "degrees", "area")}
	number := func(v float64) string { return fmt.Sprintf("%.7g", v) }
	for _, a := range answers {
		rows = append(rows, row(a.box.String(), strconv.Itoa(a.channel), display.Plain(a.M00), number(a.x), number(a.y),
			number(a.major), number(a.minor), number(a.degrees), strconv.FormatInt(a.area, 10)))
	}
	return rows
}

// MarshalJSON encodes the moments under OpenCV's names.
func (a boxMoments) MarshalJSON() ([]byte, error) {
	m, hu := a.Moments, a.Hu()
	all := map[string]any{}
	for name, v := range map[string]float64{
		"m00": m.M00, "m10": m.M10, "m01": m.M01, "m20": m.M20, "m11": m.M11, "m02": m.M02, "m30": m.M30, "m21": m.M21, "m12": m.M12, "m03": m.M03,
		"mu20": m.Mu20, "mu11": m.Mu11, "mu02": m.Mu02, "mu30": m.Mu30, "mu21": m.Mu21, "mu12": m.Mu12, "mu03": m.Mu03,
		"nu20": m.Nu20, "nu11": m.Nu11, "nu02": m.Nu02, "nu30": m.Nu30, "nu21": m.Nu21, "nu12": m.Nu12, "nu03": m.Nu03,
	} {
		all[name] = display.Finite(v)
	}
	return json.Marshal(struct {
		Box      box            `json:"box"`
		Channel  int            `json:"channel"`
		Area     int64          `json:"area"`
		Centroid []any          `json:"centroid"` // in coordinates of the image
		Ellipse  []any          `json:"ellipse"`  // half axes, and the clockwise angle of the major axis in degrees
		Moments  map[string]any `json:"moments"`  // raw moments are relative to the first pixel of the box
		Hu       []any          `json:"hu"`
	}{a.box, a.channel, a.area, display.Finites([]float64{a.x, a.y}), display.Finites([]float64{a.major, a.minor, a.degrees}), all, display.Finites(hu[:])})
}
