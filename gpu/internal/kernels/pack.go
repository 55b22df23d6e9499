package kernels

import (
	"bytes"
	"strconv"
)

// PTX numbers its registers and labels from the first of a kernel to the last, so that code
// that two kernels share looks different in each, and compresses badly. Packed PTX counts
// backwards instead: %r! is the next register, %r1 the one that came last, and $L+2 is two
// labels behind the one before. That is a fifth of the size. Unpacked registers are
// numbered in the order in which they come.

// packed is the first line of PTX that is.
const packed = "// packed\n"

// labels is what nvcc's begin with: the number of the kernel, and _ and that of the label, follow.
const labels = "$L__BB"

// Pack packs PTX as nvcc writes it.
func Pack(ptx []byte) []byte { return append([]byte(packed), recount(ptx, true)...) }

// unpack turns packed PTX to what a driver takes. It takes kernels one by one, too.
func unpack(ptx []byte) []byte {
	rest, ok := bytes.CutPrefix(ptx, []byte(packed))
	if !ok {
		return ptx
	}
	return recount(rest, false)
}

// A class is registers of one type in a kernel: %r, %rd, %p.
type class struct {
	numbers map[string]int // in the order in which they came, by their names
	n       int
}

func recount(ptx []byte, pack bool) []byte {
	out := make([]byte, 0, len(ptx))
	var classes map[string]*class
	label := 0 // the last that was named
	for line := range bytes.Lines(ptx) {
		if bytes.Contains(line, []byte(".entry ")) {
			classes, label = map[string]*class{}, 0
		}
		if declared, ok := bytes.CutPrefix(line, []byte("\t.reg ")); ok {
			_, name, _ := bytes.Cut(declared, []byte("%"))
			if name, _, ok := bytes.Cut(name, []byte("<")); ok && classes != nil {
				classes[string(name)] = &class{numbers: map[string]int{}}
				out = append(out, line...)
				continue
			}
		}
		for len(line) > 0 {
			at := bytes.IndexAny(line, "%$")
			if at < 0 {
				break
			}
			out, line = append(out, line[:at]...), line[at:]
			var took int
			if line[0] == '%' {
				out, took = register(out, line, classes, pack)
			} else {
				out, took = branch(out, line, &label, pack)
			}
			if took == 0 {
				out, took = append(out, line[0]), 1
			}
			line = line[took:]
		}
		out = append(out, line...)
	}
	return out
}

// register writes the register that a text begins with in the other form, and tells how long it was: 0 if it is none.
func register(out, text []byte, classes map[string]*class, pack bool) ([]byte, int) {
	letters := 1 + span(text[1:], 'a', 'z')
	c := classes[string(text[1:letters])]
	end := letters + span(text[letters:], '0', '9')
	switch {
	case c == nil:
		return out, 0
	case !pack && end < len(text) && text[end] == '!':
		out = strconv.AppendInt(append(out, text[:letters]...), int64(c.n), 10)
		c.n++
		return out, end + 1
	case end == letters:
		return out, 0
	case !pack:
		back, _ := strconv.Atoi(string(text[letters:end]))
		return strconv.AppendInt(append(out, text[:letters]...), int64(c.n-back), 10), end
	}
	out = append(out, text[:letters]...)
	name := string(text[letters:end])
	number, ok := c.numbers[name]
	if !ok {
		c.numbers[name] = c.n
		c.n++
		return append(out, '!'), end
	}
	return strconv.AppendInt(out, int64(c.n-number), 10), end
}

// branch is the same for a label.
func branch(out, text []byte, label *int, pack bool) ([]byte, int) {
	if !pack {
		if len(text) < 4 || text[1] != 'L' || text[2] != '+' && text[2] != '-' {
			return out, 0
		}
		end := 3 + span(text[3:], '0', '9')
		far, _ := strconv.Atoi(string(text[2:end]))
		*label += far
		return strconv.AppendInt(append(out, labels+"_"...), int64(*label), 10), end
	}
	if !bytes.HasPrefix(text, []byte(labels)) {
		return out, 0
	}
	at := len(labels) + span(text[len(labels):], '0', '9')
	if at == len(text) || text[at] != '_' {
		return out, 0
	}
	end := at + 1 + span(text[at+1:], '0', '9')
	number, _ := strconv.Atoi(string(text[at+1 : end]))
	far := number - *label
	*label = number
	out = append(out, "$L"...)
	if far >= 0 {
		out = append(out, '+')
	}
	return strconv.AppendInt(out, int64(far), 10), end
}

// span is how many bytes at the start of a text are from a to z.
func span(text []byte, a, z byte) int {
	for i, b := range text {
		if b < a || b > z {
			return i
		}
	}
	return len(text)
}
