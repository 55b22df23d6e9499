package windows

import (
	"fmt"
	"strings"
	"time"

	"github.com/boxsum/boxsum/internal/cli/console"
	"github.com/boxsum/boxsum/internal/cli/display"
	"github.com/boxsum/boxsum/internal/cli/flags"
	"github.com/boxsum/boxsum/internal/cli/imagefile"
)

// A batch holds the images that a command processes, and where the results go.
type batch struct {
	ins       []string
	demo      bool
	out       string
	json      bool                   // print JSON instead of lines
	folder    string                 // suggested for the results of several images
	extension func(in string) string // of a result in a folder
}

// check returns an error unless there are either images or the demo picture.
func (b *batch) check() error {
	switch {
	case b.demo && len(b.ins) > 0:
		return console.Usage("--demo draws its own image: leave out %s", strings.Join(b.ins, " "))
	case !b.demo && len(b.ins) == 0:
		return console.Usage("no image: name a file, or use --demo")
	}
	return nil
}

// run calls one for each image and prints the reports.
func (b *batch) run(sh *console.Shell, one func(in, out string) (report, error)) error {
	if !imagefile.Several(b.ins, b.out) {
		in := ""
		if len(b.ins) > 0 {
			in = b.ins[0]
		}
		r, err := one(in, b.out)
		if err != nil {
			return err
		}
		return printReport(sh, r, b.json)
	}
	switch {
	case b.demo:
		return console.Usage("%s is a folder: name a file for the result of --demo, such as -o demo.png", b.out)
	case b.out == "":
		return imagefile.NoOutput(b.ins, b.folder+"/")
	}
	outs, err := imagefile.InFolder(b.ins, b.out, b.folder, b.extension)
	if err != nil {
		return err
	}
	return imagefile.Each(sh, b.ins, outs, b.out, b.json, func(in, out string) (report, error) {
		r, err := one(in, out)
		if err == nil {
			r.setInput(in)
		}
		return r, err
	})
}

// openImage opens an image, or draws the demo picture.
func openImage(sh *console.Shell, in, out string, how *imagefile.Flags, demo bool) (*imagefile.Source, error) {
	return imagefile.OpenOn(sh, &flags.Place{On: "cpu"}, func() (*imagefile.Source, error) { return imagefile.OpenOrDemo(sh, in, out, how, demo) })
}

// openPages is like openImage, and keeps the other pages of the file for imagefile.SavePages.
func openPages(sh *console.Shell, in, out string, how imagefile.Flags, demo bool) (*imagefile.Source, error) {
	how.AllPages = true
	return openImage(sh, in, out, &how, demo)
}

// openLike is like openPages, and returns the format of the result: that of the image, unless out has another.
func openLike(sh *console.Shell, in, out string, how imagefile.Flags, demo bool) (*imagefile.Source, string, error) {
	if _, err := imagefile.FormatOf(out, "png", ".jpg"); err != nil {
		return nil, "", err
	}
	src, err := openPages(sh, in, out, how, demo)
	if err != nil {
		return nil, "", err
	}
	format, err := imagefile.FormatOf(out, imagefile.FormatLike(src), ".jpg")
	if err != nil {
		src.Close()
		return nil, "", err
	}
	return src, format, nil
}

// A report describes what a command did with one image.
type report interface {
	fmt.Stringer
	setInput(in string) // names the image, for JSON about several images
	output() string
}

// printReport prints a report on standard output, or on standard error if the result was written to standard output.
func printReport(sh *console.Shell, r report, asJSON bool) error {
	w := sh.Reports(r.output())
	if asJSON {
		return display.JSON(w, r)
	}
	_, err := fmt.Fprintln(w, r)
	return err
}

// An inputReport is the beginning of a report.
type inputReport struct {
	imagefile.Extent
	In string `json:"in,omitempty"` // set if there are several inputs
	pagesReport
	Pixels string `json:"pixels"` // such as u8
}

func newInputReport(src *imagefile.Source) inputReport {
	return inputReport{Extent: imagefile.ExtentOf(src.Image), Pixels: src.Image.Type.Short()}
}

func (r *inputReport) setInput(in string) { r.In = in }

// String returns the size, the type of the pixels and the number of pages.
func (r inputReport) String() string {
	return fmt.Sprintf("%v %s%v", r.Extent, r.Pixels, r.pagesReport)
}

// An outputReport is the end of a report.
type outputReport struct {
	Milliseconds float64 `json:"ms"`
	Out          string  `json:"out"`
}

func (r outputReport) output() string { return r.Out }

// took adds the time since start, for one of several pages or results.
func (r *outputReport) took(start time.Time) {
	r.Milliseconds += float64(time.Since(start)) / float64(time.Millisecond)
}

// String returns the time and the name of the file.
func (r outputReport) String() string {
	return fmt.Sprintf("%s → %s", display.Duration(r.Milliseconds), imagefile.NameOf(r.Out))
}
