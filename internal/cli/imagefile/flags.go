package imagefile

import (
	"errors"
	"fmt"

	"github.com/boxsum/boxsum/imgio"
	"github.com/boxsum/boxsum/internal/cli/console"
	"github.com/boxsum/boxsum/internal/pixels"
	"github.com/boxsum/boxsum/internal/raster"
	"github.com/boxsum/boxsum/store/sources"
	"github.com/boxsum/boxsum/zarr"
)

// Flags select how pictures are read.
type Flags struct {
	Color    string `enum:"auto,gray,keep" default:"${color}" help:"What to do with color: gray converts it to one channel, keep keeps the channels, auto is gray for pictures and keep for arrays (.npy, stores) and mosaics (default ${default})."`
	AsStored bool   `help:"Ignore the orientation tag (EXIF) of pictures. By default, pictures are rotated as viewers show them; tiles of mosaics are not."`
	Page     int    `placeholder:"N" help:"Page of a TIFF file or frame of a GIF file, counted from 1."`
	Large    bool   `help:"Also read pictures of more than 2^30 pixels. They are refused by default, because a small hostile file may claim to have that many."`

	Wide     bool `kong:"-"` // accept 64-bit integers that are not pixels
	AllPages bool `kong:"-"` // open all pages, for SavePages
	Volumes  bool `kong:"-"` // the command has --volume, which a note may suggest
}

func (f *Flags) reading() imgio.Options {
	colors := map[string]imgio.ColorMode{"gray": imgio.ToGray, "keep": imgio.Keep}
	return imgio.Options{Color: colors[f.Color], AsStored: f.AsStored, Page: f.Page, Large: f.Large, Wide: f.Wide}
}

// check returns an error for an invalid page number.
func (f *Flags) check(volume bool) error {
	switch {
	case f.Page < 0:
		return console.Usage("--page %d: want 1 or more", f.Page)
	case f.Page > 0 && volume:
		return console.Usage("--page is for images: leave it out with --volume, which reads all pages")
	}
	return nil
}

// CheckStored returns an error if a page other than the first is selected, for images
// that are read in parts and have one page.
func (f *Flags) CheckStored(path string) error {
	if err := f.check(false); err != nil {
		return err
	}
	if f.Page > 1 {
		return console.Usage("--page %d: %s has no pages: leave out --page", f.Page, zarr.Redacted(path))
	}
	return nil
}

// weighed converts an array that is read in parts to gray, if requested. It closes arrays without
// color.
func (f *Flags) weighed(sh *console.Shell, a *zarr.Array) (*zarr.Array, error) {
	if f.Color != "gray" {
		return a, nil
	}
	g, err := sources.Gray(sh.Ctx, a)
	if err != nil {
		a.Close()
		return nil, err
	}
	return g, nil
}

// hint appends advice to the error for a picture that is too large.
func (f *Flags) hint(err error) error {
	if !f.Large && errors.Is(err, imgio.ErrTooLarge) {
		return fmt.Errorf("%w (use --large to read it anyway)", err)
	}
	return err
}

// notePage notes on standard error which page was chosen by default.
func (f *Flags) notePage(sh *console.Shell, path string, p *imgio.Picture) {
	if f.Page > 0 || p.Pages < 2 {
		return
	}
	all := ""
	if f.Volumes && p.Format != "gif" {
		all = ", or --volume for all"
	}
	tellFirst(sh, path, p.Format, p.Pages, all)
}

func tellFirst(sh *console.Shell, path, format string, pages int, all string) {
	sh.Say(fmt.Sprintf("%s has %d %s: reading the first (use --page N for another%s)", InputName(path), pages, partsOf(format), all))
}

// partsOf returns the word for the pictures in a file: pages or frames.
func partsOf(format string) string {
	if format == "gif" {
		return "frames"
	}
	return "pages"
}

// checkChannels returns an error for an array with more channels than a color image has, unless
// they were requested.
func (f *Flags) checkChannels(path string, p *imgio.Picture) error {
	if n := pixels.Of(p.Image).Channels; p.Format == "npy" && n > MostChannels && f.Color != "keep" {
		return fmt.Errorf("%s has %d channels, want at most %d (add --volume if it is a volume, or --color keep if it is an image)", path, n, MostChannels)
	}
	return nil
}

// AsMask returns an image as weights: 0 and 1 for a file with 1 bit per pixel, and the pixel values
// for others.
func AsMask(src *Source) raster.Array {
	img := src.Image
	if img.Type != raster.U8 || src.Bits != 1 {
		return img
	}
	const white = 255
	for y := range img.Height {
		for _, v := range img.Row(y) {
			if v != 0 && v != white { // a palette with two other colors
				return img
			}
		}
	}
	for y := range img.Height {
		row := img.Row(y)
		for x := range row {
			row[x] /= white
		}
	}
	return img
}
