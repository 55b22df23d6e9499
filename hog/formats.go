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
	d := xml.NewDecoder(bytes.NewReader(text))
	fail := func(format string, args ...any) error {
		line, _ := d.InputPos()
		return fmt.Errorf("line %d: %w", line, fmt.Errorf(format, args...))
	}
	var f field
	var words strings.Builder
	depth, inside := 0, false
	for {
		t, err := d.Token()
		var syntax *xml.SyntaxError
		switch {
		case err == io.EOF || errors.Is(err, io.ErrUnexpectedEOF):
			if depth == 0 {
				return fail("no descriptor: want an element with type_id %s", typeID)
			}
			return fail("unexpected end of file")
		case errors.As(err, &syntax):
			return fmt.Errorf("line %d: %s", syntax.Line, syntax.Msg)
		case err != nil:
			return fail("%w", err)
		}
		switch t := t.(type) {
		case xml.StartElement:
			depth++
			switch {
			case depth > maxDepth:
				return fail("elements are nested more than %d deep", maxDepth)
			case depth == 1 && t.Name.Local != "opencv_storage":
				return fail("<%.40s>, want <opencv_storage>", t.Name.Local)
			case depth == 2:
				for _, a := range t.Attr {
					inside = inside || a.Name.Local == "type_id" && a.Value == typeID
				}
			case depth == 3 && inside:
				line, _ := d.InputPos()
				f = field{name: t.Name.Local, line: line}
				words.Reset()
			case depth > 3 && inside:
				return fail("<%.40s> inside <%.40s>, want numbers", t.Name.Local, f.name)
			}
		case xml.CharData:
			if depth == 3 && inside {
				words.Write(t)
			}
		case xml.EndElement:
			if depth == 3 && inside {
				f.words = strings.Fields(words.String())
				if err := r.add(f); err != nil {
					return err
				}
			}
			if depth == 2 && inside {
				return nil
			}
			depth--
		}
	}
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
		if _, err := d.Token(); err != nil { // the name
			return fail(err)
		}
		var object json.RawMessage
		if err := d.Decode(&object); err != nil {
			return fail(err)
		}
		var head struct {
			TypeID string `json:"type_id"`
		}
		if json.Unmarshal(object, &head) == nil && head.TypeID == typeID {
			return r.jsonObject(object, line()-bytes.Count(object, []byte("\n")))
		}
	}
	if _, err := d.Token(); err != nil { // the closing brace
		return fail(err)
	}
	return fmt.Errorf("no descriptor: want an object with type_id %s", typeID)
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
	return "", fmt.Errorf("%.40v, want numbers", t)
}

// yaml reads a file in the part of YAML that OpenCV writes: a mapping of names to mappings with
// a tag, whose values are numbers or lists of numbers in brackets.
func (r *reader) yaml(text []byte) error {
	inside := false
	var f field
	open := false // f is a list whose closing bracket is missing
	line := 0
	for row := range strings.Lines(string(text)) {
		line++
		row = strings.TrimRight(row, " \t\r\n")
		body := strings.TrimLeft(row, " \t")
		top := body == row // not indented
		switch {
		case body == "" || body[0] == '#' || line == 1:
			continue
		case top && !open && inside: // the next object
			return nil
		case top && !open:
			// A name may have any other value: it is not a descriptor.
			inside = strings.HasSuffix(body, ": !!"+typeID)
			continue
		case !inside:
			continue
		}
		if !open {
			name, value, ok := strings.Cut(body, ":")
			if !ok || value != "" && value[0] != ' ' {
				return fmt.Errorf("line %d: %.40q, want a name, a colon and a value", line, body)
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
		words, rest, ends := strings.Cut(body, "]")
		if rest != "" {
			return fmt.Errorf("line %d: %.40s: text %.20q after a list", line, f.name, rest)
		}
		for word := range strings.SplitSeq(words, ",") {
			if word = strings.TrimSpace(word); word != "" {
				f.words = append(f.words, word)
			}
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
		return fmt.Errorf("no descriptor: want a mapping with the tag !!%s", typeID)
	}
	return nil
}
