package imgio

import (
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"slices"
	"strconv"
	"strings"
)

const (
	npyMagic = "\x93NUMPY"

	// maxNPYHeader is far above any header of plain numbers. NumPy itself warns
	// at 10000.
	maxNPYHeader = 1 << 20
	// maxDims is NumPy's own limit.
	maxDims = 64
)

// npyHeader is the header of a .npy file.
type npyHeader struct {
	descr   string
	fortran bool
	shape   []int
	count   int // elements
	offset  int // position of the data in the file
}

// readNPYHeader reads up to the first byte of data.
func readNPYHeader(r io.Reader) (*npyHeader, error) {
	var pre [12]byte
	if _, err := io.ReadFull(r, pre[:8]); err != nil {
		return nil, cutShort("npy header", err)
	}
	if string(pre[:6]) != npyMagic {
		return nil, fmt.Errorf("not a .npy file: it starts with %q, want \\x93NUMPY", pre[:6])
	}
	lengthBytes := 4
	switch pre[6] {
	case 1:
		lengthBytes = 2
	case 2, 3:
	default:
		return nil, fmt.Errorf("npy version %d.%d is not supported, want 1.0, 2.0 or 3.0", pre[6], pre[7])
	}
	if _, err := io.ReadFull(r, pre[8:8+lengthBytes]); err != nil {
		return nil, cutShort("npy header", err)
	}
	length := binary.LittleEndian.Uint32(pre[8:])
	if length > maxNPYHeader {
		return nil, fmt.Errorf("npy header has %d bytes, want at most %d", length, maxNPYHeader)
	}
	text := make([]byte, length)
	if _, err := io.ReadFull(r, text); err != nil {
		return nil, cutShort("npy header", err)
	}
	h, err := parseNPYHeader(string(text))
	if err != nil {
		return nil, err
	}
	h.offset = 8 + lengthBytes + int(length)
	return h, nil
}

// cutShort describes errors that mean that the input ended too early, and
// returns other errors unchanged.
func cutShort(what string, err error) error {
	if errors.Is(err, io.EOF) || errors.Is(err, io.ErrUnexpectedEOF) {
		return fmt.Errorf("truncated %s: %w", what, io.ErrUnexpectedEOF)
	}
	return fmt.Errorf("reading %s: %w", what, err)
}

// parseNPYHeader parses the Python dictionary of a header: the keys 'descr',
// 'fortran_order' and 'shape', each once, in any order.
func parseNPYHeader(text string) (*npyHeader, error) {
	p := &literal{rest: text}
	h := &npyHeader{}
	var seen []string
	p.expect('{')
	for !p.accept('}') {
		key := p.quoted()
		p.expect(':')
		if p.err == nil && slices.Contains(seen, key) {
			p.fail("key %.20q appears twice", key)
		}
		seen = append(seen, key)
		switch key {
		case "descr":
			h.descr = p.dtype()
		case "fortran_order":
			h.fortran = p.boolean()
		case "shape":
			h.shape = p.tuple()
		default:
			p.fail("key %.20q is unknown", key)
		}
		if p.accept('}') {
			break
		}
		p.expect(',')
		if p.err != nil {
			break
		}
	}
	if p.space(); p.err == nil && p.rest != "" {
		p.fail("%.20q follows the dictionary", p.rest)
	}
	for _, key := range []string{"descr", "fortran_order", "shape"} {
		if !slices.Contains(seen, key) {
			p.fail("key %q is missing", key)
		}
	}
	if p.err != nil {
		return nil, fmt.Errorf("invalid npy header: %w", p.err)
	}
	var err error
	h.count, err = elementCount(h.shape)
	return h, err
}

// literal parses the few kinds of Python literals that a header contains. After
// the first failure, its position no longer changes, and err is set.
type literal struct {
	rest string
	err  error
}

func (p *literal) fail(format string, args ...any) {
	if p.err == nil {
		p.err = fmt.Errorf(format, args...)
	}
}

func (p *literal) space() { p.rest = strings.TrimLeft(p.rest, " \t\r\n\f\v") }

// accept skips the next character if it is c.
func (p *literal) accept(c byte) bool {
	p.space()
	if p.err != nil || p.rest == "" || p.rest[0] != c {
		return false
	}
	p.rest = p.rest[1:]
	return true
}

func (p *literal) expect(c byte) {
	if !p.accept(c) {
		p.fail("expected %q at %.20q", c, p.rest)
	}
}

func (p *literal) quoted() string {
	p.space()
	if p.err != nil {
		return ""
	}
	if p.rest == "" || p.rest[0] != '\'' && p.rest[0] != '"' {
		p.fail("expected a string at %.20q", p.rest)
		return ""
	}
	s, rest, ok := strings.Cut(p.rest[1:], p.rest[:1])
	if !ok || strings.ContainsAny(s, "\\\n") {
		p.fail("expected a plain string at %.20q", p.rest)
		return ""
	}
	p.rest = rest
	return s
}

// dtype parses a string, or returns the text of the list that describes a
// structure.
func (p *literal) dtype() string {
	if p.space(); p.rest != "" && p.rest[0] == '[' {
		p.fail("%w", unsupportedDtype("a structure"))
		return ""
	}
	return p.quoted()
}

func (p *literal) boolean() bool {
	p.space()
	for _, word := range []string{"True", "False"} {
		if rest, ok := strings.CutPrefix(p.rest, word); ok {
			p.rest = rest
			return word == "True"
		}
	}
	p.fail("expected True or False at %.20q", p.rest)
	return false
}

// tuple parses a Python tuple of integers.
func (p *literal) tuple() []int {
	shape := []int{}
	p.expect('(')
	comma := false
	for p.err == nil && !p.accept(')') {
		if len(shape) > 0 && !comma {
			p.fail("expected ',' at %.20q", p.rest)
			break
		}
		if len(shape) == maxDims {
			p.fail("more than %d dimensions", maxDims)
			break
		}
		shape = append(shape, p.integer())
		comma = p.accept(',')
	}
	if len(shape) == 1 && !comma {
		p.fail("shape (%d) is not a tuple, want (%[1]d,)", shape[0])
	}
	return shape
}

// integer parses a dimension. Python 2 appended an L to some.
func (p *literal) integer() int {
	p.space()
	if strings.HasPrefix(p.rest, "-") {
		p.fail("a dimension is negative at %.20q", p.rest)
		return 0
	}
	end := strings.IndexFunc(p.rest, func(r rune) bool { return r < '0' || r > '9' })
	if end < 0 {
		end = len(p.rest)
	}
	n, err := strconv.Atoi(p.rest[:end])
	switch {
	case errors.Is(err, strconv.ErrRange):
		p.fail("a dimension is too large at %.30q", p.rest)
	case err != nil:
		p.fail("expected a number at %.20q", p.rest)
	}
	p.rest = strings.TrimPrefix(p.rest[end:], "L")
	return n
}

// An NPYHeader describes the data of a .npy file, for callers that read parts
// of it.
type NPYHeader struct {
	// Element is the name of the element type, such as "uint8".
	Element string
	// BigEndian reports whether the most significant byte comes first.
	BigEndian bool
	// Fortran reports whether the first axis varies fastest, rather than the last.
	Fortran bool
	Shape   []int
	// Offset is the position of the data in the file.
	Offset int64
}

// ReadNPYHeader reads the header of a .npy file, up to the first byte of data.
func ReadNPYHeader(r io.Reader) (*NPYHeader, error) {
	h, err := readNPYHeader(r)
	if err != nil {
		return nil, err
	}
	d, err := h.dtype()
	if err != nil {
		return nil, err
	}
	return &NPYHeader{Element: h.element(), BigEndian: d.swap == hostIsLittle && d.size > 1, Fortran: h.fortran, Shape: h.shape, Offset: int64(h.offset)}, nil
}
