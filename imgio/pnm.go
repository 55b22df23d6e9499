package imgio

import (
	"bytes"
	"fmt"
	"io"
	"math"
	"strconv"
	"strings"

	"github.com/boxsum/boxsum"
	"github.com/boxsum/boxsum/internal/raster"
)

// pnmHeader is the header of a PNM or PAM file.
type pnmHeader struct {
	width, height int
	channels      int
	max           int  // the largest sample
	plain         bool // samples are decimal text
	bitmap        bool // one bit per sample, 1 is black (P1, P4)
	blackWhite    bool // PAM samples 0 and 1, 1 is white
}

// decodePNM decodes the first image of a file, P1 to P7.
func decodePNM(data []byte, mode ColorMode) (any, error) {
	p := &pnmText{rest: data[2:]}
	header := p.header
	if data[1] == '7' {
		header = p.pamHeader
	}
	h, err := header(data[1])
	if err != nil {
		return nil, err
	}
	if err := h.check(len(p.rest)); err != nil {
		return nil, err
	}
	if h.max > math.MaxUint8 {
		return pnmImage[uint16](h, p, mode)
	}
	return pnmImage[uint8](h, p, mode)
}

// check returns an error if the size exceeds the limits or the rest of the
// file.
func (h *pnmHeader) check(rest int) error {
	switch {
	case h.max < 1 || h.max > math.MaxUint16:
		return fmt.Errorf("the maximum value is %d, want 1 to 65535", h.max)
	case h.channels < 1 || h.channels > 4:
		return fmt.Errorf("depth is %d, want 1 to 4", h.channels)
	}
	if err := checkPixels(h.width, h.height); err != nil {
		return err
	}
	if need := h.bytes(); int64(rest) < need {
		return fmt.Errorf("%d×%d pixels need %d bytes, got %d: %w", h.width, h.height, need, rest, io.ErrUnexpectedEOF)
	}
	return nil
}

// bytes returns the minimum number of bytes of the samples.
func (h *pnmHeader) bytes() int64 {
	samples := int64(h.width) * int64(h.height) * int64(h.channels)
	switch {
	case h.bitmap && !h.plain:
		return int64(h.height) * int64((h.width+7)/8)
	case h.bitmap:
		return samples
	case h.plain:
		return max(0, 2*samples-1) // a digit each, and separators
	case h.max > math.MaxUint8:
		return 2 * samples
	}
	return samples
}

func pnmImage[P uint8 | uint16](h *pnmHeader, p *pnmText, mode ColorMode) (any, error) {
	pix, err := readSamples[P](h, p)
	if err != nil {
		return nil, err
	}
	im := boxsum.Image[P]{Pix: pix, Stride: h.width * h.channels, Width: h.width, Height: h.height, Channels: h.channels}
	if mode == ToGray {
		im = weighed(im)
	}
	return im, nil
}

// weighed returns the gray version of an image in the same memory, with the
// weights of boxsum.Gray.
func weighed[P uint8 | uint16](im boxsum.Image[P]) boxsum.Image[P] {
	n := im.Channels
	if n == 1 {
		return im
	}
	for i := range im.Width * im.Height {
		p := im.Pix[i*n:][:n]
		v := p[0]
		if n >= 3 {
			v = P((9798*uint32(p[0]) + 19235*uint32(p[1]) + 3735*uint32(p[2]) + 1<<14) >> 15)
		}
		im.Pix[i] = v
	}
	im.Pix, im.Stride, im.Channels = im.Pix[:im.Width*im.Height:im.Width*im.Height], im.Width, 1
	return im
}

func readSamples[P uint8 | uint16](h *pnmHeader, p *pnmText) ([]P, error) {
	n := h.width * h.height * h.channels
	var pix []P
	if raw, ok := any(p.rest).([]P); ok && !h.bitmap && !h.plain {
		pix = raw[:n:n]
	} else {
		var err error
		if pix, err = raster.Make[P](n); err != nil {
			return nil, fmt.Errorf("%d×%d pixels: %w", h.width, h.height, err)
		}
	}
	switch {
	case h.bitmap && h.plain:
		return pix, p.bits(any(pix).([]uint8))
	case h.bitmap:
		unpackBits(any(pix).([]uint8), p.rest, h.width)
		return pix, nil
	case h.plain:
		for i := range pix {
			v, err := p.number()
			if err != nil {
				return nil, fmt.Errorf("sample %d of %d: %w", i+1, len(pix), err)
			}
			if v > h.max {
				return nil, fmt.Errorf("a sample is %d, want 0 to %d (the maximum in the header)", v, h.max)
			}
			pix[i] = P(v)
		}
	default:
		if size := raster.SizeOf[P](); size == 2 {
			if copy(bytesOf(pix), p.rest); hostIsLittle {
				swapBytes(bytesOf(pix), size)
			}
		}
		for _, v := range pix {
			if int(v) > h.max {
				return nil, fmt.Errorf("a sample is %d, want 0 to %d (the maximum in the header)", v, h.max)
			}
		}
	}
	if h.blackWhite {
		for i := range pix {
			pix[i] *= 255
		}
	}
	return pix, nil
}

// unpackBits expands rows of packed bits, where 1 is black, to 0 and 255.
func unpackBits(pix []uint8, bits []byte, width int) {
	stride := (width + 7) / 8
	for ; len(pix) > 0; pix, bits = pix[width:], bits[stride:] {
		for x := range width {
			if bits[x/8]<<(x%8)&0x80 == 0 {
				pix[x] = 255
			}
		}
	}
}

// pnmText parses the words of a header, or plain samples.
type pnmText struct{ rest []byte }

func isSpace(c byte) bool { return c == ' ' || c >= '\t' && c <= '\r' }

// header parses the numbers of P1 to P6, and the one character after them.
func (p *pnmText) header(kind byte) (*pnmHeader, error) {
	h := &pnmHeader{channels: 1, max: 1, plain: kind <= '3', bitmap: kind == '1' || kind == '4'}
	if kind == '3' || kind == '6' {
		h.channels = 3
	}
	fields := []*int{&h.width, &h.height, &h.max}
	if h.bitmap {
		fields = fields[:2]
	}
	for i, field := range fields {
		v, err := p.number()
		if err != nil {
			return nil, fmt.Errorf("the %s: %w", [...]string{"width", "height", "maximum value"}[i], err)
		}
		*field = v
	}
	if len(p.rest) > 0 && p.rest[0] == '#' {
		p.line()
	} else if len(p.rest) > 0 && isSpace(p.rest[0]) {
		p.rest = p.rest[1:]
	}
	return h, nil
}

// pamHeader parses the lines of P7 up to ENDHDR.
func (p *pnmText) pamHeader(byte) (*pnmHeader, error) {
	h := &pnmHeader{width: -1, height: -1, channels: -1, max: -1}
	fields := map[string]*int{"WIDTH": &h.width, "HEIGHT": &h.height, "DEPTH": &h.channels, "MAXVAL": &h.max}
	tuple := ""
	for {
		if len(p.rest) == 0 {
			return nil, fmt.Errorf("the header has no ENDHDR: %w", io.ErrUnexpectedEOF)
		}
		words := strings.Fields(p.line())
		switch {
		case len(words) == 0 || words[0][0] == '#':
		case words[0] == "ENDHDR":
			for name, field := range fields {
				if *field < 0 {
					return nil, fmt.Errorf("the header has no line %s, want WIDTH, HEIGHT, DEPTH and MAXVAL", name)
				}
			}
			h.blackWhite = h.max == 1 && strings.HasPrefix(tuple, "BLACKANDWHITE")
			return h, nil
		case words[0] == "TUPLTYPE":
			tuple = strings.Join(words[1:], " ")
		case fields[words[0]] == nil || len(words) != 2:
			return nil, fmt.Errorf("header line is %.30q, want WIDTH, HEIGHT, DEPTH or MAXVAL and a number, TUPLTYPE or ENDHDR", strings.Join(words, " "))
		default:
			v, err := strconv.ParseUint(words[1], 10, 31)
			if err != nil {
				return nil, fmt.Errorf("%s is %.20q, want 0 to %d", words[0], words[1], math.MaxInt32)
			}
			*fields[words[0]] = int(v)
		}
	}
}

// line returns the rest of the line.
func (p *pnmText) line() string {
	line, rest, _ := bytes.Cut(p.rest, []byte("\n"))
	p.rest = rest
	return string(line)
}

// skip skips white space and comments.
func (p *pnmText) skip() {
	for len(p.rest) > 0 {
		switch c := p.rest[0]; {
		case isSpace(c):
			p.rest = p.rest[1:]
		case c == '#':
			p.line()
		default:
			return
		}
	}
}

// number parses the next decimal number, below 2^31.
func (p *pnmText) number() (int, error) {
	p.skip()
	v, i := int64(0), 0
	for ; i < len(p.rest) && p.rest[i] >= '0' && p.rest[i] <= '9'; i++ {
		v = v*10 + int64(p.rest[i]-'0')
		if v > math.MaxInt32 {
			return 0, fmt.Errorf("the number is %d or more, want at most %d", v, math.MaxInt32)
		}
	}
	if i == 0 {
		if len(p.rest) == 0 {
			return 0, io.ErrUnexpectedEOF
		}
		return 0, fmt.Errorf("found %.10q, want a number", p.rest)
	}
	p.rest = p.rest[i:]
	return int(v), nil
}

// bits parses the digits of P1, which need no separators.
func (p *pnmText) bits(pix []uint8) error {
	for i := range pix {
		p.skip()
		switch {
		case len(p.rest) == 0:
			return fmt.Errorf("pixel %d of %d: %w", i+1, len(pix), io.ErrUnexpectedEOF)
		case p.rest[0] == '0':
			pix[i] = 255
		case p.rest[0] != '1':
			return fmt.Errorf("pixel %d of %d is %.1q, want 0 or 1", i+1, len(pix), p.rest)
		}
		p.rest = p.rest[1:]
	}
	return nil
}
