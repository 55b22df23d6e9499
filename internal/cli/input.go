package cli

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"

	"github.com/boxsum/boxsum/gpu"
	"github.com/boxsum/boxsum/imgio"
)

// standard is the path that stands for standard input or output.
const standard = "-"

// await gives what do gives, or returns at once on Ctrl-C: do may wait for a
// pipe that stays silent, or that nobody reads from.
func await[T any](ctx context.Context, do func() (T, error)) (T, error) {
	var value, none T
	var err error
	done := make(chan struct{})
	go func() {
		defer close(done)
		value, err = do()
	}()
	select {
	case <-done:
		return value, err
	case <-ctx.Done():
		return none, ctx.Err()
	}
}

// A source is an image, or a volume, which has a stack, and the device that its tables are made
// on, nil for the CPU.
type source struct {
	image   any    // the first slice of a volume
	format  string // of the image's file
	bits    int    // of a sample there
	element string // of an array there
	stack   *imgio.Stack
	device  *gpu.Device
	file    io.Closer // that the image stands on
	ctx     context.Context
}

// source opens a device and then what is to be read.
func (sh *shell) source(place *placeFlag, open func() (*source, error)) (*source, error) {
	device, err := place.open()
	if err != nil {
		return nil, err
	}
	src, err := open()
	if err != nil {
		device.Close()
		return nil, err
	}
	src.device, src.ctx = device, sh.ctx
	return src, nil
}

// close closes what was opened. Ctrl-C may have left a slice half read or the device at
// work: they must then stay until the process ends.
func (s *source) close() {
	if s.ctx.Err() == nil {
		s.file.Close()
		s.device.Close()
	}
}

// slices is how many images like the first there are.
func (s *source) slices() int {
	if s.stack != nil {
		return s.stack.Depth
	}
	return 1
}

// openSource reads the image or the volume of a path.
func (sh *shell) openSource(path string, how *pictureFlags, volume bool) (*source, error) {
	if err := how.check(volume); err != nil {
		return nil, err
	}
	opt := how.reading()
	if !volume {
		picture, err := await(sh.ctx, func() (*imgio.Picture, error) { return sh.read(path, how) })
		if err != nil {
			return nil, how.hint(err)
		}
		if err := how.checkChannels(path, picture); err != nil {
			return nil, errors.Join(err, picture.Close())
		}
		how.tell(sh, path, picture)
		return &source{image: picture.Image, format: picture.Format, bits: picture.Bits, element: picture.Element, file: picture}, nil
	}
	stack, err := await(sh.ctx, func() (*imgio.Stack, error) {
		if path != standard {
			return imgio.OpenStackWith(path, opt)
		}
		return decode(sh, "standard input", sh.stdin, 0, opt, imgio.DecodeStackWith)
	})
	if err != nil {
		return nil, how.hint(err)
	}
	return &source{image: stack.First, element: stack.Element, stack: stack, file: stack}, nil
}

// imageOrDemo is the image of a path, or the one that boxsum draws. It may not be
// where the output goes.
func (sh *shell) imageOrDemo(in, out string, how *pictureFlags, demo bool) (*source, error) {
	switch {
	case demo && in != "":
		return nil, usage("--demo draws its own image: leave out %s", in)
	case demo:
		return &source{image: imgio.Demo(1920, 1080), file: new(imgio.Picture)}, nil
	case in == "":
		return nil, usage("no image: name a file, or let --demo draw one")
	}
	if err := checkApart(in, out, false); err != nil {
		return nil, err
	}
	return sh.openSource(in, how, false)
}

// read reads the picture of a path.
func (sh *shell) read(path string, how *pictureFlags) (*imgio.Picture, error) {
	opt := how.reading()
	if path == standard {
		return decode(sh, "standard input", sh.stdin, 0, opt, imgio.DecodeWith)
	}
	if isSource(path) {
		if err := how.checkStored(path); err != nil {
			return nil, err
		}
		return sh.readStore(path, how)
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
		return imgio.OpenWith(path, opt) // which maps arrays, and so reads nothing yet
	}
	return decode(sh, path, f, info.Size(), opt, imgio.DecodeWith)
}

func isArray(f *os.File) bool {
	const magic = "\x93NUMPY"
	head := make([]byte, len(magic))
	_, err := f.ReadAt(head, 0)
	return err == nil && string(head) == magic
}

// decode reads a stream of about this many bytes, or 0 where nobody can tell.
func decode[T any](sh *shell, name string, r io.Reader, size int64, opt imgio.Options, by func(io.Reader, imgio.Options) (T, error)) (T, error) {
	sh.progress.begin("reading", size)
	value, err := by(&meteredReader{r, sh.progress}, opt)
	if err != nil {
		err = fmt.Errorf("%w, in %s", err, name)
	}
	return value, err
}

// A meteredReader counts what it reads. Pictures are decoded once all of them
// is there.
type meteredReader struct {
	r        io.Reader
	progress *progress
}

func (m *meteredReader) Read(b []byte) (int, error) {
	n, err := m.r.Read(b)
	m.progress.add(int64(n))
	if err == io.EOF {
		m.progress.begin("decoding", 0)
	}
	return n, err
}
