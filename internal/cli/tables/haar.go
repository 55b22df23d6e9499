package tables

import (
	"bufio"
	"errors"
	"fmt"
	"image"
	"strconv"

	"github.com/boxsum/boxsum"
	"github.com/boxsum/boxsum/haar"
	"github.com/boxsum/boxsum/internal/cli/console"
	"github.com/boxsum/boxsum/internal/cli/display"
	"github.com/boxsum/boxsum/internal/cli/flags"
	"github.com/boxsum/boxsum/internal/cli/imagefile"
	"github.com/boxsum/boxsum/internal/raster"
	fromsums "github.com/boxsum/boxsum/internal/stats"
	"github.com/boxsum/boxsum/internal/typed"
	"github.com/boxsum/boxsum/rotated"
)

// Haar implements the haar command.
type Haar struct {
	In        string       `arg:"" name:"IN" help:"Image (PNG, JPEG, GIF, BMP, TIFF, WebP, PNM) or .npy array; - is standard input."`
	Feature   featureList  `placeholder:"KIND,X0,Y0,X1,Y1" help:"Haar-like feature: one of ${kinds}, and the lines between which it lies in its window. May be repeated."`
	At        flags.Points `placeholder:"X,Y" help:"The pixel where a window starts (default 0,0). May be repeated."`
	Rotate    rotationFlag `placeholder:"A/B" help:"Features along the digital lines of a rotation, as for query and draw."`
	Corrected bool         `help:"Correct values for unequal areas, so that they are 0 in a flat image."`
	imagefile.Flags
	JSON bool `name:"json" help:"Print JSON."`
}

// A haarValue is the value of one feature in one window.
type haarValue struct {
	Feature string       `json:"feature"`
	Box     box          `json:"box"` // relative to the window
	At      [2]int       `json:"at"`
	Channel int          `json:"channel"`
	Value   fromsums.Sum `json:"value"`
}

// Run prints the value of every feature in every window.
func (c *Haar) Run(sh *console.Shell) error {
	if len(c.Feature) == 0 {
		return console.Usage("no features: give --feature KIND,X0,Y0,X1,Y1, where KIND is one of %s", Defaults["kinds"])
	}
	if len(c.At) == 0 {
		c.At = flags.Points{{}}
	}
	src, err := imagefile.Open(sh, c.In, &c.Flags, false)
	if err != nil {
		return err
	}
	defer src.File.Close()
	pair, err := pairExact(src.Image, 1)
	if err != nil {
		return err
	}
	values, err := c.values(pair.sum, src.Image, watched(sh, &boxsum.Options{}, "integrating", nil))
	if err != nil {
		return err
	}
	w := bufio.NewWriter(sh.Results())
	if c.JSON {
		err = display.JSONLines(w, values)
		fmt.Fprintln(w)
	} else {
		rows := [][]string{{"feature", "box", "at", "channel", "value"}}
		for _, v := range values {
			rows = append(rows, []string{v.Feature, v.Box.String(), fmt.Sprintf("%d,%d", v.At[0], v.At[1]), strconv.Itoa(v.Channel), plain(v.Value)})
		}
		err = display.Columns(w, rows)
	}
	return errors.Join(err, w.Flush())
}

// values evaluates the features in an image with the given type of sums, on the upright table or,
// with --rotate, along a rotation.
func (c *Haar) values(sum raster.Type, img raster.Array, opt *boxsum.Options) (values []haarValue, err error) {
	e := imagefile.ExtentOf(img)
	var table featureTable
	if !c.Rotate.set || c.Rotate.Rotation == (rotated.Rotation{A: 0, B: 1}) {
		t := &planeTables{memory: memory{types: pair{sum: sum}}}
		if err = t.allocate(e, tableChoice{}); err == nil {
			err = t.fill(img, nil, nil, opt)
		}
		table = t.boxes
	} else {
		table, err = typed.IntegrateRotated(img, sum, 0, c.Rotate.Rotation, rotatedOptions(opt))
	}
	if err != nil {
		return nil, err
	}
	planes := make([]typed.Features, e.Channels)
	for channel := range planes {
		if planes[channel], err = table.Features(channel, typed.Values(sum)); err != nil {
			return nil, err
		}
	}
	for _, at := range c.At {
		for _, f := range c.Feature {
			for channel, plane := range planes {
				r := f.Bounds()
				v := haarValue{Feature: f.Kind().String(), Box: box{r.Min.X, r.Min.Y, r.Max.X, r.Max.Y}, At: [2]int{at.X, at.Y}, Channel: channel}
				if v.Value, err = c.value(plane, f, at); err != nil {
					return nil, err
				}
				values = append(values, v)
			}
		}
	}
	return values, nil
}

// A featureTable provides features for each of its channels.
type featureTable interface {
	Features(channel int, values raster.Type) (typed.Features, error)
}

// value evaluates a feature in a channel of a table. The result is an integer if the sums are
// integers.
func (c *Haar) value(plane typed.Features, f haar.Feature, at image.Point) (fromsums.Sum, error) {
	if c.Corrected {
		value, err := plane.Corrected(f, at)
		return fromsums.SumOf(value), err
	}
	return plane.Value(f, at)
}
