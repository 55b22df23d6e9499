// Package y4m reads and writes streams of uncompressed frames in the format of FFmpeg's yuv4mpegpipe and the MJPEG
// tools: a line for the stream, and then for each frame a line and the samples of its planes, brightness first.
//
//	r, err := y4m.NewReader(os.Stdin)
//	w, err := y4m.NewWriter(os.Stdout, r.Header)
//	var f y4m.Frame
//	for {
//		if err := r.Read(&f); err == io.EOF {
//			break
//		}
//		f.Planes[0].Pix[0] = 255
//		err = w.Write(&f)
//	}
//
// Samples have 8 bits.
package y4m

import (
	"bufio"
	"bytes"
	"errors"
	"fmt"
	"io"
	"slices"
	"strconv"
	"strings"
)

// Magic is the start of a stream.
const Magic = "YUV4MPEG2"

const (
	frameMagic = "FRAME"
	maxLine    = 4096
	maxSamples = 1 << 27 // in a plane
)

// A Header describes all frames of a stream.
type Header struct {
	Width, Height int
	Layout        string   // of the planes: 420jpeg, 422, 444, mono …; empty means 420
	Others        []string // other parameters, unchanged: F25:1 Ip A1:1
}

// A Plane holds samples of one kind, without gaps between rows.
type Plane struct {
	Pix           []byte
	Width, Height int
}

// A Frame holds the planes of a picture: brightness, two of color, opacity.
type Frame struct {
	Planes []Plane
	Others []string // parameters of the frame, unchanged
}

// planes returns the number of planes, and the number of pixels across and down per color sample.
func (h *Header) planes() (n, across, down int, err error) {
	switch h.Layout {
	case "", "420", "420jpeg", "420mpeg2", "420paldv":
		return 3, 2, 2, nil
	case "411":
		return 3, 4, 1, nil
	case "422":
		return 3, 2, 1, nil
	case "444":
		return 3, 1, 1, nil
	case "444alpha":
		return 4, 1, 1, nil
	case "mono":
		return 1, 1, 1, nil
	}
	return 0, 0, 0, fmt.Errorf("unsupported Y4M color space %.20q, want 8-bit 420, 411, 422, 444, 444alpha or mono (with ffmpeg: -pix_fmt yuv420p)", h.Layout)
}

// check returns an error if a header is invalid.
func (h *Header) check() error {
	if h.Width < 1 || h.Height < 1 || h.Width > maxSamples/h.Height {
		return fmt.Errorf("Y4M frames are %d×%d pixels, want 1×1 to %d pixels in total", h.Width, h.Height, maxSamples)
	}
	_, _, _, err := h.planes()
	return err
}

// String returns the first line of a stream.
func (h *Header) String() string {
	all := []string{Magic, "W" + strconv.Itoa(h.Width), "H" + strconv.Itoa(h.Height)}
	all = append(all, h.Others...)
	if h.Layout != "" {
		all = append(all, "C"+h.Layout)
	}
	return strings.Join(all, " ")
}

// size returns the width and height of a plane in samples.
func (h *Header) size(plane int) (width, height int) {
	if plane == 1 || plane == 2 {
		_, across, down, _ := h.planes()
		return (h.Width + across - 1) / across, (h.Height + down - 1) / down
	}
	return h.Width, h.Height
}

// A Reader reads a stream.
type Reader struct {
	Header
	r *bufio.Reader
	n int // frames so far
}

// NewReader reads the first line of a stream.
func NewReader(r io.Reader) (*Reader, error) {
	in := &Reader{r: bufio.NewReaderSize(r, 1<<16)}
	words, err := in.line(Magic)
	if err == io.EOF {
		err = errors.New("the Y4M stream is empty")
	}
	if err != nil {
		return nil, err
	}
	for _, word := range words {
		value := word[1:]
		switch word[0] {
		case 'W':
			in.Width, err = strconv.Atoi(value)
		case 'H':
			in.Height, err = strconv.Atoi(value)
		case 'C':
			in.Layout = value
		default:
			in.Others = append(in.Others, word)
		}
		if err != nil {
			return nil, fmt.Errorf("size in the header of the Y4M stream is %.40q, want W or H and an integer", word)
		}
	}
	return in, in.check()
}

// line reads a line that starts with the given word, and returns the other words.
func (r *Reader) line(first string) ([]string, error) {
	line, err := r.r.ReadSlice('\n')
	switch {
	case err == io.EOF && len(line) == 0:
		return nil, io.EOF
	case len(line) > maxLine || err == bufio.ErrBufferFull:
		return nil, fmt.Errorf("a header line of the Y4M stream is too long, want at most %d bytes", maxLine)
	case err != nil && err != io.EOF:
		return nil, err
	case !bytes.HasPrefix(line, []byte(first)) || len(line) > len(first) && line[len(first)] != ' ' && line[len(first)] != '\n':
		return nil, fmt.Errorf("the Y4M stream has %.20q, want %s", line, first)
	case err == io.EOF:
		return nil, fmt.Errorf("the Y4M stream ends in the %s line: %w", first, io.ErrUnexpectedEOF)
	}
	return strings.Fields(string(line[len(first):])), nil
}

// Read reads the next frame. After the last one it returns [io.EOF].
func (r *Reader) Read(f *Frame) error {
	words, err := r.line(frameMagic)
	if err == io.EOF {
		return err
	}
	if err != nil {
		return fmt.Errorf("frame %d: %w", r.n, err)
	}
	f.Others = words
	n, _, _, err := r.planes()
	if err != nil {
		return err
	}
	f.Planes = slices.Grow(f.Planes[:0], n)[:n]
	for i := range f.Planes {
		p := &f.Planes[i]
		p.Width, p.Height = r.size(i)
		p.Pix = slices.Grow(p.Pix[:0], p.Width*p.Height)[:p.Width*p.Height]
		if _, err := io.ReadFull(r.r, p.Pix); err == io.EOF || err == io.ErrUnexpectedEOF {
			return fmt.Errorf("the Y4M stream ends in frame %d: %w", r.n, io.ErrUnexpectedEOF)
		} else if err != nil {
			return err
		}
	}
	r.n++
	return nil
}

// A Writer writes a stream.
type Writer struct {
	Header
	w *bufio.Writer
}

// NewWriter writes the first line of a stream.
func NewWriter(w io.Writer, h Header) (*Writer, error) {
	if err := h.check(); err != nil {
		return nil, err
	}
	out := &Writer{Header: h, w: bufio.NewWriterSize(w, 1<<16)}
	fmt.Fprintln(out.w, h.String())
	return out, out.w.Flush()
}

// Write writes a complete frame.
func (w *Writer) Write(f *Frame) error {
	n, _, _, err := w.planes()
	if err != nil {
		return err
	}
	if len(f.Planes) != n {
		return fmt.Errorf("Y4M frame has %d planes, want %d", len(f.Planes), n)
	}
	for i, p := range f.Planes {
		if width, height := w.size(i); p.Width != width || p.Height != height || len(p.Pix) != width*height {
			return fmt.Errorf("plane %d of the Y4M frame is %d×%d samples, want %d×%d", i, p.Width, p.Height, width, height)
		}
	}
	fmt.Fprintln(w.w, strings.Join(append([]string{frameMagic}, f.Others...), " "))
	for _, p := range f.Planes {
		w.w.Write(p.Pix)
	}
	return w.w.Flush()
}
