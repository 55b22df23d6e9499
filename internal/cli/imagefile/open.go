package imagefile

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"strings"

	"github.com/boxsum/boxsum/gpu"
	"github.com/boxsum/boxsum/imgio"
	"github.com/boxsum/boxsum/internal/cli/console"
	"github.com/boxsum/boxsum/internal/cli/flags"
	"github.com/boxsum/boxsum/internal/pixels"
	"github.com/boxsum/boxsum/internal/raster"
	"github.com/boxsum/boxsum/store/sources"
)

// A Source is an image, or a volume if Stack is set, with the device on which to make its tables,
// or nil for the CPU.
type Source struct {
	Image   raster.Array // the first slice of a volume
	Format  string       // of the file
	Bits    int          // bits per sample in the file
	Element string       // element type of an array file
	Stack   *imgio.Stack
	Device  *gpu.Device
	File    io.Closer // keeps the image's memory valid
	ctx     context.Context

	Metadata imgio.Metadata // of the picture
	Pages    int            // pages in the file, if all of them were opened
	pages    *imgio.Pages
	path     string
}

// OpenOn opens a device and then a source.
func OpenOn(sh *console.Shell, place *flags.Place, open func() (*Source, error)) (*Source, error) {
	device, err := place.Open()
	if err != nil {
		return nil, err
	}
	src, err := open()
	if err != nil {
		device.Close()
		return nil, err
	}
	src.Device, src.ctx = device, sh.Ctx
	return src, nil
}

// Close closes the source and its device. After an interrupt a slice may be half read or the device
// busy; both then stay open until the process ends.
func (s *Source) Close() {
	if s.ctx.Err() == nil {
		s.File.Close()
		s.Device.Close()
	}
}

// Slices returns the number of slices of a volume, or 1 for an image.
func (s *Source) Slices() int {
	if s.Stack != nil {
		return s.Stack.Depth
	}
	return 1
}

// Open opens an image or a volume.
func Open(sh *console.Shell, path string, how *Flags, volume bool) (*Source, error) {
	if err := how.check(volume); err != nil {
		return nil, err
	}
	opt := how.reading()
	if how.AllPages {
		if src, err := openPages(sh, path, how); src != nil || err != nil {
			return src, err
		}
	}
	if !volume {
		picture, err := console.Await(sh.Ctx, func() (*imgio.Picture, error) { return Read(sh, path, how) })
		if err != nil {
			return nil, how.hint(err)
		}
		if err := how.checkChannels(path, picture); err != nil {
			return nil, errors.Join(err, picture.Close())
		}
		how.notePage(sh, path, picture)
		return &Source{Image: pixels.Of(picture.Image), Format: picture.Format, Bits: picture.Bits, Element: picture.Element, Metadata: picture.Metadata, File: picture}, nil
	}
	stack, err := console.Await(sh.Ctx, func() (*imgio.Stack, error) {
		if path != console.Standard {
			return imgio.OpenStackWith(path, opt)
		}
		return decode(sh, InputName(path), sh.Stdin, 0, opt, imgio.DecodeStackWith)
	})
	if err != nil {
		return nil, how.hint(err)
	}
	return &Source{Image: pixels.Of(stack.First), Element: stack.Element, Stack: stack, File: stack}, nil
}

// OpenOrDemo opens an image, or draws the demo picture. It returns an error if the output
// would replace the image.
func OpenOrDemo(sh *console.Shell, in, out string, how *Flags, demo bool) (*Source, error) {
	switch {
	case demo && in != "":
		return nil, console.Usage("--demo draws its own image: leave out %s", in)
	case demo:
		return &Source{Image: pixels.Of(imgio.Demo(1920, 1080)), File: new(imgio.Picture)}, nil
	case in == "":
		return nil, console.Usage("no image: name a file, or use --demo")
	}
	if err := CheckApart(in, out, false); err != nil {
		return nil, err
	}
	return Open(sh, in, how, false)
}

// Read reads a picture.
func Read(sh *console.Shell, path string, how *Flags) (*imgio.Picture, error) {
	opt := how.reading()
	if path == console.Standard {
		return decode(sh, InputName(path), sh.Stdin, 0, opt, imgio.DecodeWith)
	}
	if IsSource(path) {
		if err := how.CheckStored(path); err != nil {
			return nil, err
		}
		return ReadStore(sh, path, how)
	}
	f, err := os.Open(path)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	info, err := f.Stat()
	if err != nil {
		return nil, err
	}
	if info.IsDir() || info.Mode().IsRegular() && isArray(f) {
		return imgio.OpenWith(path, opt) // maps arrays, so nothing is read yet
	}
	picture, err := decode(sh, path, f, info.Size(), opt, imgio.DecodeWith)
	if err != nil && how.Page <= 1 {
		if numbers := readNumbers(sh, path, how); numbers != nil {
			return numbers, nil
		}
	}
	return picture, err
}

// readNumbers reads a TIFF file of floats or signed integers. It returns nil for other files and
// for files with several pages.
func readNumbers(sh *console.Shell, path string, how *Flags) *imgio.Picture {
	pages, err := imgio.OpenPages(path, how.reading())
	if err != nil {
		return nil
	}
	defer pages.Close()
	if pages.Format != "tiff" || pages.N > 1 {
		return nil
	}
	a, err := sources.OpenTIFF(sh.Ctx, path)
	if err != nil {
		return nil
	}
	defer a.Close()
	if kind := a.Type().String(); strings.HasPrefix(kind, "uint") {
		return nil
	}
	picture, err := readArray(sh, a, nil)
	if err != nil {
		return nil
	}
	picture.Format = "tiff"
	return picture
}

func isArray(f *os.File) bool {
	const magic = "\x93NUMPY"
	head := make([]byte, len(magic))
	_, err := f.ReadAt(head, 0)
	return err == nil && string(head) == magic
}

// decode decodes a stream of about size bytes, or 0 if unknown.
func decode[T any](sh *console.Shell, name string, r io.Reader, size int64, opt imgio.Options, by func(io.Reader, imgio.Options) (T, error)) (T, error) {
	sh.Progress.Begin("reading", size)
	value, err := by(&meteredReader{r, sh.Progress}, opt)
	if err != nil {
		err = fmt.Errorf("%s: %w", name, err)
	}
	return value, err
}

// A meteredReader reports the bytes it reads to the progress bar.
type meteredReader struct {
	r        io.Reader
	progress *console.Progress
}

func (m *meteredReader) Read(b []byte) (int, error) {
	n, err := m.r.Read(b)
	m.progress.Add(int64(n))
	if err == io.EOF {
		m.progress.Begin("decoding", 0)
	}
	return n, err
}
