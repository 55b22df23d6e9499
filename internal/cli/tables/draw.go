package tables

import (
	"cmp"
	"fmt"
	"image"
	"image/png"
	"io"
	"path/filepath"
	"strings"

	"github.com/boxsum/boxsum/haar"
	"github.com/boxsum/boxsum/internal/cli/console"
	"github.com/boxsum/boxsum/internal/cli/display"
	"github.com/boxsum/boxsum/internal/cli/imagefile"
	"github.com/boxsum/boxsum/internal/sketch"
	"github.com/boxsum/boxsum/lab/measure"
	"github.com/boxsum/boxsum/rotated"
)

// Draw implements the draw command.
type Draw struct {
	In      string       `arg:"" optional:"" name:"IN" help:"Image (PNG, JPEG, GIF, BMP, TIFF, WebP, PNM) or .npy array; - is standard input. Default: a blank sheet of --size."`
	Out     string       `short:"o" placeholder:"OUT" help:"Output file, a .png; - is standard output."`
	Size    string       `placeholder:"WxH" help:"Size of the blank sheet in pixels (default 32x24)."`
	Box     boxList      `placeholder:"C0,R0,C1,R1" help:"Box to draw: X0,Y0,X1,Y1, or on the lattice of --rotate. May be repeated."`
	Feature featureList  `placeholder:"KIND,X0,Y0,X1,Y1" help:"Haar-like feature to draw: one of ${kinds}, and the lines between which it lies along the axes of --rotate, counted from --at. May be repeated."`
	At      *image.Point `placeholder:"X,Y" help:"The pixel where the window of the features starts. Default: the features are in the middle."`
	rotateFlags
	Zoom  bool `help:"Show only the part of the image around the boxes."`
	Scale int  `placeholder:"N" help:"Width at which a pixel is drawn. Default: as large as fits a picture about 1000 wide."`
	imagefile.Flags
}

// Defaults holds the variables used in help texts.
var Defaults = map[string]string{"kinds": strings.ReplaceAll(strings.Trim(fmt.Sprint(haar.Kinds()), "[]"), " ", ", ")}

// Run executes the command.
func (c *Draw) Run(sh *console.Shell) error {
	if c.Out == "" {
		return console.Usage("no output: name a .png file with -o")
	}
	if c.Out != console.Standard && !imagefile.IsDevice(c.Out) && !strings.EqualFold(filepath.Ext(c.Out), ".png") {
		return console.Usage("%s: pictures are drawn as .png", c.Out)
	}
	if c.Scale < 0 {
		return console.Usage("--scale %d: want 1 or more", c.Scale)
	}
	if len(c.Box) == 0 && len(c.Rect) == 0 && len(c.Feature) == 0 {
		return console.Usage("nothing to draw: give --feature, --box or --rect")
	}
	if err := imagefile.CheckFolder(c.Out); err != nil {
		return err
	}
	questions, err := c.questions(c.Box)
	if err != nil {
		return err
	}
	rot, err := c.rotation(questions)
	if err != nil {
		return err
	}
	figure, err := c.sheet(sh, rot)
	if err != nil {
		return err
	}
	if err := c.place(&figure, questions); err != nil {
		return err
	}
	picture, err := sketch.Draw(figure)
	if err != nil {
		return err
	}
	if err := imagefile.Save(sh, c.Out, 0, func(w io.Writer) error { return png.Encode(w, picture) }); err != nil {
		return err
	}
	plus, minus := sketch.Count(figure.Lattice, figure.Boxes)
	_, err = fmt.Fprintf(sh.Reports(c.Out), "%v, %.2f°: %s +, %d −; %d×%d → %s\n",
		rot, rot.Degrees(), display.Count(plus, "pixel"), minus, picture.Rect.Dx(), picture.Rect.Dy(), imagefile.NameOf(c.Out))
	return err
}

// rotation returns the rotation shared by all boxes and features. A picture has only one lattice.
func (c *Draw) rotation(questions []question) (rotated.Rotation, error) {
	rot := rotated.Rotation{A: 0, B: 1}
	if c.Rotate.set {
		rot = c.Rotate.Rotation
	} else if len(questions) > 0 {
		rot = questions[len(questions)-1].rot
	}
	for _, q := range questions {
		if q.rot != rot {
			return rot, fmt.Errorf("boxes have rotations %v and %v, want only one in a picture (choose it with --rotate)", q.rot, rot)
		}
	}
	return rot, nil
}

// sheet returns a figure of the image, or a blank sheet, to draw on.
func (c *Draw) sheet(sh *console.Shell, rot rotated.Rotation) (sketch.Figure, error) {
	figure := sketch.Figure{Scale: c.Scale}
	var width, height int
	if c.In == "" {
		sizes, err := measure.ParseSizes(cmp.Or(c.Size, "32x24"))
		if err != nil {
			return figure, console.Usage("--size: %w", err)
		}
		if len(sizes) != 1 {
			return figure, console.Usage("--size %s: want one size, such as 32x24", c.Size)
		}
		width, height = sizes[0].Width, sizes[0].Height
	} else {
		if c.Size != "" {
			return figure, console.Usage("--size is for a drawing without an image: leave out --size %s", c.Size)
		}
		src, err := imagefile.OpenOrDemo(sh, c.In, c.Out, &c.Flags, false)
		if err != nil {
			return figure, err
		}
		defer src.File.Close()
		figure.Image = sketch.Show(src.Image)
		width, height = figure.Image.Bounds().Dx(), figure.Image.Bounds().Dy()
	}
	var err error
	figure.Lattice, err = rotated.NewLattice(width, height, rot)
	return figure, err
}

// place adds the requested boxes and features to the figure.
func (c *Draw) place(figure *sketch.Figure, questions []question) error {
	l := figure.Lattice
	for i := range questions {
		box, err := questions[i].place(l, c.Corner)
		if err != nil {
			return err
		}
		figure.Boxes = append(figure.Boxes, sketch.Box{Box: box, Weight: 1})
		if rect := questions[i].rect; rect != nil {
			figure.Outlines = append(figure.Outlines, rect.inImage(c.Corner))
		}
	}
	if len(c.Feature) > 0 {
		var all image.Rectangle
		for _, f := range c.Feature {
			all = all.Union(f.Bounds())
		}
		at := sketch.Middle(l, all)
		if c.At != nil {
			at = *c.At
		}
		if width, height := l.Size(); !at.In(image.Rect(0, 0, width, height)) {
			if c.At == nil {
				return fmt.Errorf("features of %d×%d lines do not fit in the image of %d×%d", all.Dx(), all.Dy(), width, height)
			}
			return fmt.Errorf("--at is %d,%d, want a pixel of the image of %d×%d", at.X, at.Y, width, height)
		}
		for _, f := range c.Feature {
			figure.Boxes = append(figure.Boxes, sketch.Feature(l, f, at)...)
		}
	}
	if c.Zoom {
		if figure.View = sketch.Around(l, figure.Boxes, 4); figure.View.Empty() {
			width, height := l.Size()
			return fmt.Errorf("--zoom shows the boxes, which are outside the image of %d×%d", width, height)
		}
	}
	return nil
}

// parseFeature parses KIND,X0,Y0,X1,Y1.
func parseFeature(text string) (haar.Feature, error) {
	name, lines, found := strings.Cut(text, ",")
	if !found {
		return haar.Feature{}, fmt.Errorf("feature is %.60q, want KIND,X0,Y0,X1,Y1", text)
	}
	kind, err := haar.ParseKind(strings.TrimSpace(name))
	if err != nil {
		return haar.Feature{}, err
	}
	b, err := parseBox(lines, 4)
	if err != nil {
		return haar.Feature{}, fmt.Errorf("feature %.60q: %w", text, err)
	}
	return haar.New(kind, b.rectangle())
}
