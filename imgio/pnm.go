package imgio

import (
	"fmt"
	"io"
	"math"

	"github.com/boxsum/boxsum"
)

// pnmHeader is what stands before the samples of a PNM or PAM file.
type pnmHeader struct {
	width, height int
	channels      int
	max           int  // the largest sample
	plain         bool // samples are decimal text
	bitmap        bool // one bit a sample, 1 is black (P1, P4)
	blackWhite    bool // PAM samples 0 and 1, 1 is white
}

// decodePNM reads the first image of a file, P1 to P7.
func decodePNM(data []byte, mode ColorMode) (any, error) {
	p := &pnmText{rest: data[2:]}
	var h *pnmHeader
	var err error
	if data[1] == '7' {
		h, err = p.pamHeader()
	} else {
		h, err = p.header(data[1])
	}
	if err != nil {
		return nil, err
	}
	if err := h.check(len(p.rest)); err != nil {
		return nil, err
	}
	if h.max > math.MaxUint8 {
		return pnmImage(h, p, mode, samples16)
	}
	return pnmImage(h, p, mode, samples8)
}

// check refuses what the limits or the rest of the file cannot hold.
func (h *pnmHeader) check(rest int) error {
	switch {
	case h.max < 1 || h.max > math.MaxUint16:
		return fmt.Errorf("the maximum value %d is not in 1…65535", h.max)
	case h.channels < 1 || h.channels > 4:
		return fmt.Errorf("a depth of %d is not supported: 1 to 4 are", h.channels)
	}
	if err := checkPixels(h.width, h.height); err != nil {
		return err
	}
	if need := h.bytes(); int64(rest) < need {
		return fmt.Errorf("%d×%d pixels need %d bytes, the file has %d: %w", h.width, h.height, need, rest, io.ErrUnexpectedEOF)
	}
	return nil
}

// bytes is how many the samples take, at least.
func (h *pnmHeader) bytes() int64 {
	samples := int64(h.width) * int64(h.height) * int64(h.channels)
	switch {
	case h.bitmap && !h.plain:
		return int64(h.height) * int64((h.width+7)/8)
	case h.bitmap:
		return samples
	case h.plain:
		return max(0, 2*samples-1) // a digit each, and something between them
	case h.max > math.MaxUint8:
		return 2 * samples
	}
	return samples
}

func pnmImage[P uint8 | uint16](h *pnmHeader, p *pnmText, mode ColorMode, read func(*pnmHeader, *pnmText) ([]P, error)) (any, error) {
	pix, err := read(h, p)
	if err != nil {
		return nil, err
	}
	im := boxsum.Image[P]{Pix: pix, Stride: h.width * h.channels, Width: h.width, Height: h.height, Channels: h.channels}
	if mode == ToGray {
		im = weighed(im)
	}
	return im, nil
}

// weighed is the grey version of an image in the same memory, with the weights
// of boxsum.Gray.
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

func samples8(h *pnmHeader, p *pnmText) ([]uint8, error) {
	n := h.width * h.height * h.channels
	var pix []uint8
	switch {
	case h.bitmap && h.plain:
		return p.bits(n)
	case h.bitmap:
		return unpackBits(p.rest, h.width, h.height), nil
	case h.plain:
		var err error
		if pix, err = plainSamples[uint8](p, n, h.max); err != nil {
			return nil, err
		}
	default:
		pix = p.rest[:n:n]
		if err := checkSamples(pix, h.max); err != nil {
			return nil, err
		}
	}
	if h.blackWhite {
		for i := range pix {
			pix[i] *= 255
		}
	}
	return pix, nil
}

func samples16(h *pnmHeader, p *pnmText) ([]uint16, error) {
	n := h.width * h.height * h.channels
	if h.plain {
		return plainSamples[uint16](p, n, h.max)
	}
	pix := make([]uint16, n)
	copy(bytesOf(pix), p.rest)
	if hostIsLittle {
		swapBytes(bytesOf(pix), 2)
	}
	return pix, checkSamples(pix, h.max)
}

func checkSamples[P uint8 | uint16](pix []P, most int) error {
	if most == int(^P(0)) {
		return nil
	}
	for _, v := range pix {
		if int(v) > most {
			return fmt.Errorf("a sample of %d is above the maximum of %d", v, most)
		}
	}
	return nil
}

func plainSamples[P uint8 | uint16](p *pnmText, n, most int) ([]P, error) {
	pix := make([]P, n)
	for i := range pix {
		v, err := p.number()
		if err != nil {
			return nil, fmt.Errorf("sample %d of %d: %w", i+1, n, err)
		}
		if v > most {
			return nil, fmt.Errorf("a sample of %d is above the maximum of %d", v, most)
		}
		pix[i] = P(v)
	}
	return pix, nil
}

// unpackBits turns rows of packed bits, 1 for black, into 0 and 255.
func unpackBits(bits []byte, width, height int) []uint8 {
	pix := make([]uint8, width*height)
	stride := (width + 7) / 8
	for y := range height {
		row := bits[y*stride:]
		for x := range width {
			if row[x/8]<<(x%8)&0x80 == 0 {
				pix[y*width+x] = 255
			}
		}
	}
	return pix
}
