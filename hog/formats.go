package hog

import (
	"bytes"
	"encoding/json"
	"encoding/xml"
	"errors"
	"fmt"
	"io"
	"strings"
)

// maxDepth limits how deeply elements of a file are nested.
const maxDepth = 16

// xml reads a file in XML: <opencv_storage>, with a descriptor inside.
func (r *reader) xml(text []byte) error {
	x := xmlReader{reader: r, decoder: xml.NewDecoder(bytes.NewReader(text))}
	for {
		t, err := x.decoder.Token()
		if err != nil {
			return x.broken(err)
		}
		switch t := t.(type) {
		case xml.StartElement:
			err = x.open(t)
		case xml.CharData:
			if x.depth == 3 && x.inside {
				x.words.Write(t)
			}
		case xml.EndElement:
			if x.depth == 2 && x.inside { // of the descriptor
				return nil
			}
			err = x.close()
		}
		if err != nil {
			return err
		}
	}
}

// An xmlReader reads the fields of a descriptor in XML.
type xmlReader struct {
	*reader
	decoder *xml.Decoder
	depth   int  // of the current element
	inside  bool // the element of depth 2 is the descriptor
	field   field
	words   strings.Builder
}

func (x *xmlReader) fail(format string, args ...any) error {
	line, _ := x.decoder.InputPos()
	return fmt.Errorf("line %d: %w", line, fmt.Errorf(format, args...))
}

// broken returns the error for a file that ends or is not XML.
func (x *xmlReader) broken(err error) error {
	var syntax *xml.SyntaxError
	switch {
	case (err == io.EOF || errors.Is(err, io.ErrUnexpectedEOF)) && x.depth == 0:
		return x.fail("the file has no descriptor, want an element%s with type_id %s", x.named(), typeID)
	case err == io.EOF || errors.Is(err, io.ErrUnexpectedEOF):
		return x.fail("unexpected end of file")
	case errors.As(err, &syntax):
		return fmt.Errorf("line %d: %s", syntax.Line, syntax.Msg)
	}
	return x.fail("%w", err)
}

// open begins an element.
func (x *xmlReader) open(t xml.StartElement) error {
	x.depth++
	switch {
	case x.depth > maxDepth:
		return x.fail("elements are nested more than %d deep", maxDepth)
	case x.depth == 1 && t.Name.Local != "opencv_storage":
		return x.fail("root element is <%.40s>, want <opencv_storage>", t.Name.Local)
	case x.depth == 2 && x.wants(t.Name.Local):
		for _, a := range t.Attr {
			x.inside = x.inside || a.Name.Local == "type_id" && a.Value == typeID
		}
	case x.depth == 3 && x.inside:
		line, _ := x.decoder.InputPos()
		x.field = field{name: t.Name.Local, line: line}
		x.words.Reset()
	case x.depth > 3 && x.inside:
		return x.fail("<%.40s> contains <%.40s>, want numbers", x.field.name, t.Name.Local)
	}
	return nil
}

// close ends an element.
func (x *xmlReader) close() error {
	x.depth--
	if x.depth != 2 || !x.inside {
		return nil
	}
	x.field.words = strings.Fields(x.words.String())
	return x.add(x.field)
}

// json reads a file in JSON: an object of objects, of which one is a descriptor.
func (r *reader) json(text []byte) error {
	d := json.NewDecoder(bytes.NewReader(text))
	line := func() int { return 1 + bytes.Count(text[:d.InputOffset()], []byte("\n")) }
	fail := func(err error) error {
		if err == io.EOF || errors.Is(err, io.ErrUnexpectedEOF) {
			err = errors.New("unexpected end of file")
		}
		return fmt.Errorf("line %d: %w", line(), err)
	}
	if _, err := d.Token(); err != nil { // the opening brace
		return fail(err)
	}
	for d.More() {
		name, err := d.Token()
		if err != nil {
			return fail(err)
		}
		var object json.RawMessage
		if err := d.Decode(&object); err != nil {
			return fail(err)
		}
		var head struct {
			TypeID string `json:"type_id"`
		}
		if text, _ := name.(string); r.wants(text) && json.Unmarshal(object, &head) == nil && head.TypeID == typeID {
			return r.jsonObject(object, line()-bytes.Count(object, []byte("\n")))
		}
	}
	if _, err := d.Token(); err != nil { // the closing brace
		return fail(err)
	}
	return fmt.Errorf("the file has no descriptor, want an object%s with type_id %s", r.named(), typeID)
}

// jsonObject reads a valid object that begins in a line of the file.
func (r *reader) jsonObject(text []byte, first int) error {
	d := json.NewDecoder(bytes.NewReader(text))
	d.UseNumber()
	if _, err := d.Token(); err != nil {
		return err
	}
	lines, at := first, 0 // up to text[at]
	for d.More() {
		name, err := d.Token()
		if err != nil {
			return err
		}
		end := int(d.InputOffset())
		lines, at = lines+bytes.Count(text[at:end], []byte("\n")), end
		f := field{line: lines}
		f.name, _ = name.(string)
		if f.words, err = jsonWords(d); err != nil {
			return fmt.Errorf("line %d: %.40s: %w", f.line, f.name, err)
		}
		if f.name == "type_id" {
			continue
		}
		if err := r.add(f); err != nil {
			return err
		}
	}
	return nil
}

// jsonWords returns a value as text: a number, a string, or a list of them.
func jsonWords(d *json.Decoder) ([]string, error) {
	t, err := d.Token()
	if err != nil {
		return nil, err
	}
	if t != json.Delim('[') {
		word, err := jsonWord(t)
		return []string{word}, err
	}
	words := []string{}
	for d.More() {
		if t, err = d.Token(); err != nil {
			return nil, err
		}
		word, err := jsonWord(t)
		if err != nil {
			return nil, err
		}
		words = append(words, word)
	}
	_, err = d.Token()
	return words, err
}

func jsonWord(t json.Token) (string, error) {
	switch t := t.(type) {
	case json.Number:
		return t.String(), nil
	case string:
		return t, nil
	}
	return "", fmt.Errorf("unexpected %.40v, want numbers", t)
}

// yaml reads a file in the part of YAML that OpenCV writes: a mapping of names to mappings with
// a tag, whose values are numbers or lists of numbers in brackets.
func (r *reader) yaml(text []byte) error {
	inside := false // the current mapping is the descriptor
	var f field
	open := false // f is a list whose closing bracket is missing
	line := 0
	for row := range strings.Lines(string(text)) {
		line++
		row = strings.TrimRight(row, " \t\r\n")
		body := strings.TrimLeft(row, " \t")
		if body == "" || body[0] == '#' || line == 1 {
			continue
		}
		if body == row && !open { // not indented: the next object
			if inside {
				return nil
			}
			// A name may have any other value: it is not a descriptor.
			name, ok := strings.CutSuffix(body, ": !!"+typeID)
			inside = ok && r.wants(strings.Trim(name, `"`))
			continue
		}
		if !inside {
			continue
		}
		if !open {
			name, value, ok := strings.Cut(body, ":")
			if !ok || value != "" && value[0] != ' ' {
				return fmt.Errorf("line %d: unexpected %.40q, want a name, a colon and a value", line, body)
			}
			f = field{name: strings.Trim(name, `"`), line: line}
			if body = strings.TrimLeft(value, " "); !strings.HasPrefix(body, "[") {
				f.words = strings.Fields(body)
				if err := r.add(f); err != nil {
					return err
				}
				continue
			}
			body = body[1:]
		}
		ends, err := f.yamlWords(body, line)
		if err != nil {
			return err
		}
		if open = !ends; ends {
			if err := r.add(f); err != nil {
				return err
			}
		}
	}
	switch {
	case open:
		return fmt.Errorf("line %d: the list %.40s has no closing bracket", f.line, f.name)
	case !inside:
		return fmt.Errorf("the file has no descriptor, want a mapping%s with the tag !!%s", r.named(), typeID)
	}
	return nil
}

// yamlWords reads a line of a list, and reports whether it ends the list.
func (f *field) yamlWords(body string, line int) (ends bool, err error) {
	words, rest, ends := strings.Cut(body, "]")
	if rest != "" {
		return false, fmt.Errorf("line %d: %.40s: %.20q follows the list, want the end of the line", line, f.name, rest)
	}
	for word := range strings.SplitSeq(words, ",") {
		if word = strings.TrimSpace(word); word != "" {
			f.words = append(f.words, word)
		}
	}
	return ends, nil
}
