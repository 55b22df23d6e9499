package cli

import (
	"bufio"
	"errors"
	"fmt"
	"image"
	"strconv"

	"github.com/boxsum/boxsum"
	"github.com/boxsum/boxsum/haar"
	"github.com/boxsum/boxsum/internal/exact"
	"github.com/boxsum/boxsum/rotated"
)

type haarCmd struct {
	In        string       `arg:"" name:"IN" help:"Image (PNG, JPEG, GIF, BMP, TIFF, WebP, PNM) or .npy array; - is standard input."`
	Feature   featureList  `placeholder:"KIND,X0,Y0,X1,Y1" help:"Haar-like feature: one of ${kinds}, and the lines between which it lies in its window. May be given again."`
	At        pointList    `placeholder:"X,Y" help:"The pixel where a window starts (0,0). May be given again."`
	Rotate    rotationFlag `placeholder:"A/B" help:"Features along the digital lines of a rotation, as for query and draw."`
	Corrected bool         `help:"Values corrected for uneven areas: 0 in a flat image."`
	pictureFlags
	JSON bool `name:"json" help:"Print JSON."`
}

// pointList is a flag that may be given again.
type pointList []image.Point

// A haarValue is that of one feature in one window.
type haarValue struct {
	Feature string `json:"feature"`
	Box     box    `json:"box"` // in the window
	At      [2]int `json:"at"`
	Channel int    `json:"channel"`
	Value   any    `json:"value"`
}

// Run prints the value of every feature in every window.
func (c *haarCmd) Run(sh *shell) error {
	if len(c.Feature) == 0 {
		return usage("no features: give --feature KIND,X0,Y0,X1,Y1, with one of %v", haar.Kinds())
	}
	if len(c.At) == 0 {
		c.At = pointList{{}}
	}
	src, err := sh.openSource(c.In, &c.pictureFlags, false)
	if err != nil {
		return err
	}
	defer src.file.Close()
	pair, err := pairExact(src.image, 1)
	if err != nil {
		return err
	}
	values, err := pair.haar(c, src.image, sh.watched(&boxsum.Options{}, "integrating", nil))
	if err != nil {
		return err
	}
	w := bufio.NewWriter(sh.results())
	if c.JSON {
		err = printLinesJSON(w, values)
		fmt.Fprintln(w)
	} else {
		rows := [][]string{{"feature", "box", "at", "channel", "value"}}
		for _, v := range values {
			rows = append(rows, []string{v.Feature, v.Box.String(), fmt.Sprintf("%d,%d", v.At[0], v.At[1]), strconv.Itoa(v.Channel), plain(v.Value)})
		}
		err = printColumns(w, rows)
	}
	return errors.Join(err, w.Flush())
}

// haarOf evaluates the features in an image of P with sums of S: in a table that is upright, or
// along --rotate.
func haarOf[P boxsum.Pixel, S boxsum.Sum](c *haarCmd, img any, opt *boxsum.Options) ([]haarValue, error) {
	src := img.(boxsum.Image[P])
	if !c.Rotate.set || c.Rotate.Rotation == (rotated.Rotation{A: 0, B: 1}) {
		t, err := boxsum.Integrate[S](src, opt)
		if err != nil {
			return nil, err
		}
		return haarUpright(c, src.Channels, t)
	}
	t, err := integrateAlong[S](nil, src, c.Rotate.Rotation, opt)
	if err != nil {
		return nil, err
	}
	return haarAlong(c, src.Channels, t)
}

// haarUpright and haarAlong evaluate them in a table, as whole numbers where its sums are.
func haarUpright[S boxsum.Sum](c *haarCmd, channels int, t *boxsum.Table[S]) ([]haarValue, error) {
	if exact.IsFloat[S]() {
		return haarValues(c, channels, func(channel int) (*haar.Plane[float64, S], error) { return haar.Upright[float64](t, channel) })
	}
	return haarValues(c, channels, func(channel int) (*haar.Plane[int64, S], error) { return haar.Upright[int64](t, channel) })
}

func haarAlong[S boxsum.Sum](c *haarCmd, channels int, t *rotated.Table[S]) ([]haarValue, error) {
	if exact.IsFloat[S]() {
		return haarValues(c, channels, func(channel int) (*haar.Plane[float64, S], error) { return haar.Rotated[float64](t, channel) })
	}
	return haarValues(c, channels, func(channel int) (*haar.Plane[int64, S], error) { return haar.Rotated[int64](t, channel) })
}

// haarValues evaluates them in the channels of a table.
func haarValues[S boxsum.Sum, V haar.Number](c *haarCmd, channels int, plane func(channel int) (*haar.Plane[V, S], error)) ([]haarValue, error) {
	var values []haarValue
	for _, at := range c.At {
		for _, f := range c.Feature {
			for channel := range max(channels, 1) {
				p, err := plane(channel)
				if err != nil {
					return nil, err
				}
				r := f.Bounds()
				v := haarValue{Feature: f.Kind().String(), Box: box{r.Min.X, r.Min.Y, r.Max.X, r.Max.Y}, At: [2]int{at.X, at.Y}, Channel: channel}
				if c.Corrected {
					var value float64
					value, err = p.Corrected(f, at)
					v.Value = finite(value)
				} else {
					var value V
					value, err = p.Value(f, at)
					v.Value = finite(value)
				}
				if err != nil {
					return nil, err
				}
				values = append(values, v)
			}
		}
	}
	return values, nil
}
