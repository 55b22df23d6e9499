package imgio

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"math"
	"strconv"
	"strings"
)

// pnmText reads the words of a header, or of plain samples.
type pnmText struct{ rest []byte }

func isSpace(c byte) bool { return c == ' ' || c >= '\t' && c <= '\r' }

// header reads the numbers of P1 to P6, and the one character behind them.
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

// pamHeader reads the lines of P7 up to ENDHDR.
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
					return nil, fmt.Errorf("the header has no %s", name)
				}
			}
			h.blackWhite = h.max == 1 && strings.HasPrefix(tuple, "BLACKANDWHITE")
			return h, nil
		case words[0] == "TUPLTYPE":
			tuple = strings.Join(words[1:], " ")
		case fields[words[0]] == nil || len(words) != 2:
			return nil, fmt.Errorf("bad header line %.30q", strings.Join(words, " "))
		default:
			v, err := strconv.ParseUint(words[1], 10, 31)
			if err != nil {
				return nil, fmt.Errorf("bad %s %.20q", words[0], words[1])
			}
			*fields[words[0]] = int(v)
		}
	}
}

// line is the rest of this line.
func (p *pnmText) line() string {
	line, rest, _ := bytes.Cut(p.rest, []byte("\n"))
	p.rest = rest
	return string(line)
}

// skip passes white space and comments.
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

// number is the next decimal number, below 2^31.
func (p *pnmText) number() (int, error) {
	p.skip()
	v, i := int64(0), 0
	for ; i < len(p.rest) && p.rest[i] >= '0' && p.rest[i] <= '9'; i++ {
		v = v*10 + int64(p.rest[i]-'0')
		if v > math.MaxInt32 {
			return 0, errors.New("a number is too large")
		}
	}
	if i == 0 {
		if len(p.rest) == 0 {
			return 0, io.ErrUnexpectedEOF
		}
		return 0, fmt.Errorf("a number expected at %.10q", p.rest)
	}
	p.rest = p.rest[i:]
	return int(v), nil
}

// bits reads the digits of P1, which need nothing between them.
func (p *pnmText) bits(pix []uint8) error {
	for i := range pix {
		p.skip()
		switch {
		case len(p.rest) == 0:
			return fmt.Errorf("pixel %d of %d: %w", i+1, len(pix), io.ErrUnexpectedEOF)
		case p.rest[0] == '0':
			pix[i] = 255
		case p.rest[0] != '1':
			return fmt.Errorf("pixel %d of %d: 0 or 1 expected at %.10q", i+1, len(pix), p.rest)
		}
		p.rest = p.rest[1:]
	}
	return nil
}
