package hog

import (
	"bytes"
	"errors"
	"io"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"

	"github.com/boxsum/boxsum/internal/raster"
)

// A Format is a file format in which OpenCV stores descriptors: XML, YAML or JSON.
type Format int

const (
	XML Format = iota
	YAML
	JSON
)

// FormatOf returns the format that OpenCV chooses for a file with the given name: XML
// for .xml, YAML for .yml and .yaml, and JSON for .json. It returns an error that wraps
// [boxsum.ErrInvalid] for any other extension.
func FormatOf(name string) (Format, error) {
	switch strings.ToLower(filepath.Ext(name)) {
	case ".xml":
		return XML, nil
	case ".yml", ".yaml":
		return YAML, nil
	case ".json":
		return JSON, nil
	}
	return 0, raster.Invalid("extension of %q is %q, want .xml, .yml, .yaml or .json", name, filepath.Ext(name))
}

// named matches the names that all formats accept.
var named = regexp.MustCompile(`^[A-Za-z_][A-Za-z0-9_-]*$`)

// Save writes the descriptor and its coefficients to w in the format f, under the
// given name, as OpenCV's HOGDescriptor.save does. [LoadNamed] and OpenCV 4 read
// the result. The name consists of letters, digits, - and _, and begins with a
// letter or _; Save returns an error for any other name.
func (d *Descriptor) Save(w io.Writer, f Format, name string) error {
	if err := d.valid(); err != nil {
		return err
	}
	if f < XML || f > JSON {
		return raster.Invalid("unknown format %d, want XML, YAML or JSON", f)
	}
	if !named.MatchString(name) {
		return raster.Invalid("name is %.40q, want letters, digits, - and _, beginning with a letter or _", name)
	}
	if w == nil {
		return errors.New("nil io.Writer")
	}
	_, err := w.Write(d.encode(f, name))
	return err
}

// encode returns the file.
func (d *Descriptor) encode(f Format, name string) []byte {
	c := &d.config
	number := func(v float64) string {
		text := strconv.FormatFloat(v, 'g', 17, 64)
		if !strings.ContainsAny(text, ".e") {
			text += ".0"
		}
		return text
	}
	integer := strconv.Itoa
	truth := func(v bool) string {
		if v {
			return "1"
		}
		return "0"
	}
	var svm []string
	for _, v := range c.Coefficients {
		svm = append(svm, strconv.FormatFloat(float64(v), 'g', 9, 32))
	}
	type entry struct {
		name   string
		values []string
		list   bool
	}
	entries := []entry{
		{"winSize", []string{integer(c.Window.X), integer(c.Window.Y)}, true},
		{"blockSize", []string{integer(c.Block.X), integer(c.Block.Y)}, true},
		{"blockStride", []string{integer(c.Stride.X), integer(c.Stride.Y)}, true},
		{"cellSize", []string{integer(c.Cell.X), integer(c.Cell.Y)}, true},
		{"nbins", []string{integer(c.Bins)}, false},
		{"derivAperture", []string{"1"}, false},
		{"winSigma", []string{number(c.Sigma)}, false},
		{"histogramNormType", []string{"0"}, false},
		{"L2HysThreshold", []string{number(c.Clip)}, false},
		{"gammaCorrection", []string{truth(!c.Linear)}, false},
		{"nlevels", []string{integer(c.Levels)}, false},
		{"signedGradient", []string{truth(c.Signed)}, false},
	}
	if svm != nil {
		entries = append(entries, entry{"SVMDetector", svm, true})
	}
	var b bytes.Buffer
	switch f {
	case XML:
		b.WriteString("<?xml version=\"1.0\"?>\n<opencv_storage>\n<" + name + " type_id=\"" + typeID + "\">\n")
		for _, e := range entries {
			b.WriteString("  <" + e.name + ">")
			wrap(&b, e.values, " ", "\n    ")
			b.WriteString("</" + e.name + ">\n")
		}
		b.WriteString("</" + name + ">\n</opencv_storage>\n")
	case YAML:
		b.WriteString("%YAML:1.0\n---\n" + name + ": !!" + typeID + "\n")
		for _, e := range entries {
			b.WriteString("   " + e.name + ": ")
			if e.list {
				b.WriteString("[ ")
			}
			wrap(&b, e.values, ", ", "\n       ")
			if e.list {
				b.WriteString(" ]")
			}
			b.WriteString("\n")
		}
	case JSON:
		b.WriteString("{\n    \"" + name + "\": {\n        \"type_id\": \"" + typeID + "\"")
		for _, e := range entries {
			b.WriteString(",\n        \"" + e.name + "\": ")
			if e.list {
				b.WriteString("[ ")
			}
			wrap(&b, e.values, ", ", "\n            ")
			if e.list {
				b.WriteString(" ]")
			}
		}
		b.WriteString("\n    }\n}\n")
	}
	return b.Bytes()
}

// wrap writes values, several to a line.
func wrap(b *bytes.Buffer, values []string, separator, newline string) {
	const perLine = 5
	for i, v := range values {
		switch {
		case i == 0:
		case i%perLine == 0:
			b.WriteString(strings.TrimRight(separator, " ") + newline)
		default:
			b.WriteString(separator)
		}
		b.WriteString(v)
	}
}
