package imagefile

import (
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strings"

	"github.com/boxsum/boxsum/imgio"
	"github.com/boxsum/boxsum/internal/cli/console"
	"github.com/boxsum/boxsum/internal/pixels"
)

// openPages opens the first page of a file and keeps the others for SavePages. It returns
// nil for files that have one picture, and if a page has been selected.
func openPages(sh *console.Shell, path string, how *Flags) (*Source, error) {
	if how.Page > 0 || path != console.Standard && !mayHavePages(path) {
		return nil, nil
	}
	pages, err := console.Await(sh.Ctx, func() (*imgio.Pages, error) {
		if path == console.Standard {
			return decode(sh, InputName(path), sh.Stdin, 0, how.reading(), imgio.DecodePages)
		}
		sh.Progress.Begin("reading", 0)
		return imgio.OpenPages(path, how.reading())
	})
	if err != nil {
		return nil, how.hint(err)
	}
	if pages.N == 1 && path != console.Standard {
		return nil, pages.Close()
	}
	src := &Source{pages: pages, Pages: pages.N, path: path, File: pages, ctx: sh.Ctx}
	picture, err := src.turn(sh, 1)
	if err == nil {
		err = how.checkChannels(path, picture)
	}
	if err != nil {
		src.Close()
		return nil, how.hint(err)
	}
	return src, nil
}

// mayHavePages reports whether the name is that of a TIFF or GIF file.
func mayHavePages(path string) bool {
	info, err := os.Stat(path)
	if err != nil || !info.Mode().IsRegular() || IsSource(path) {
		return false
	}
	f, err := os.Open(path)
	if err != nil {
		return false
	}
	defer f.Close()
	var head [4]byte
	if _, err := io.ReadFull(f, head[:]); err != nil {
		return false
	}
	switch string(head[:]) {
	case "II*\x00", "MM\x00*", "GIF8":
		return true
	}
	return false
}

// turn replaces the image by page n, counted from 1.
func (s *Source) turn(sh *console.Shell, n int) (*imgio.Picture, error) {
	sh.Progress.Begin("decoding", 0)
	picture, err := console.Await(sh.Ctx, func() (*imgio.Picture, error) { return s.pages.Page(n) })
	switch {
	case err != nil && s.path == console.Standard:
		return nil, fmt.Errorf("%s: %w", InputName(s.path), err)
	case err != nil:
		return nil, err
	}
	s.Image, s.Format, s.Bits, s.Element, s.Metadata = pixels.Of(picture.Image), picture.Format, picture.Bits, picture.Element, picture.Metadata
	return picture, nil
}

// SavePages writes the image that work makes of src, with the metadata of src. If the format has
// pages, it calls work for every page, with src.Image replaced by that page; otherwise it notes
// that only the first page was used.
func SavePages(sh *console.Shell, out, format string, src *Source, work func() (any, error)) error {
	if src.Pages < 2 || format != "tiff" {
		img, err := work()
		if err != nil {
			return err
		}
		src.TellFirst(sh)
		return Save(sh, out, 0, func(w io.Writer) error { return imgio.EncodeWith(w, format, img, src.Metadata) })
	}
	return Save(sh, out, 0, func(w io.Writer) error {
		t := imgio.NewTIFFWriter(w)
		err := EachPage(sh, src, func(int) error {
			img, err := work()
			if err != nil {
				return err
			}
			return t.Add(img, src.Metadata)
		})
		if err != nil {
			return err
		}
		return t.Close()
	})
}

// EachPage calls work with the number of every page of src, counted from 1, with src.Image
// replaced by that page.
func EachPage(sh *console.Shell, src *Source, work func(n int) error) error {
	if src.Pages < 2 {
		return work(1)
	}
	for n := 1; n <= src.Pages; n++ {
		var err error
		if n > 1 {
			_, err = src.turn(sh, n)
		}
		if err == nil {
			err = work(n)
		}
		if err != nil {
			return fmt.Errorf("page %d: %w", n, err)
		}
	}
	return nil
}

// TellFirst notes on standard error that the result is for the first page, if there are others.
func (s *Source) TellFirst(sh *console.Shell) {
	if s.Pages > 1 {
		tellFirst(sh, s.path, s.Format, s.Pages, ", or a .tif output for all")
	}
}

// PagesIn returns the number of pages that SavePages writes to format. It is 1 if the
// format has no pages.
func (s *Source) PagesIn(format string) int {
	if format == "tiff" {
		return max(1, s.Pages)
	}
	return 1
}

// CheckOnePage returns an error if src has several pages, for flags that apply to one page.
func (s *Source) CheckOnePage(flag string) error {
	if s.Pages > 1 {
		return console.Usage("%s is for one image, and %s has %d %s: choose one with --page", flag, InputName(s.path), s.Pages, partsOf(s.Format))
	}
	return nil
}

// PagedExtension returns ".tif" for a TIFF file of several pages if none is selected, and
// otherwise the given extension.
func (f *Flags) PagedExtension(in, otherwise string) string {
	if f.Page > 0 || in == console.Standard || !strings.HasPrefix(strings.ToLower(filepath.Ext(in)), ".tif") || !mayHavePages(in) {
		return otherwise
	}
	pages, err := imgio.OpenPages(in, f.reading())
	if err != nil {
		return otherwise // the error is reported once the file is read
	}
	defer pages.Close()
	if pages.N > 1 {
		return ".tif"
	}
	return otherwise
}
