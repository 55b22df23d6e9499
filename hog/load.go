package hog

import (
	"bytes"
	"errors"
	"fmt"
	"image"
	"io"
	"io/fs"
	"math"
	"os"
	"slices"
	"strconv"
	"strings"

	"github.com/boxsum/boxsum/internal/raster"
)

const (
	maxFile = 512 << 20 // holds maxNumbers
	// typeID marks a descriptor in OpenCV's files.
	typeID = "opencv-object-detector-hog"
)

// LoadFile loads the first descriptor in the named file, with its coefficients if it has
// any. The formats are those of [Load].
func LoadFile(path string) (*Descriptor, error) { return LoadFileNamed(path, "") }

// LoadFileNamed is like [LoadFile] but loads the descriptor with the given name from the
// file, which may contain several. If name is empty, it loads the first one.
func LoadFileNamed(path, name string) (*Descriptor, error) {
	f, err := os.Open(path)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	d, err := LoadNamed(f, name)
	return d, inFile(path, err)
}

// LoadFS is like [LoadFile] but opens the named file in fsys.
func LoadFS(fsys fs.FS, name string) (*Descriptor, error) {
	f, err := fsys.Open(name)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	d, err := Load(f)
	return d, inFile(name, err)
}

func inFile(name string, err error) error {
	if err != nil {
		return fmt.Errorf("%s: %w", name, err)
	}
	return nil
}

// Load reads the first descriptor in a file that OpenCV's HOGDescriptor.save has written as
// XML, YAML or JSON. An error about an entry of the file gives its line number.
func Load(r io.Reader) (*Descriptor, error) { return LoadNamed(r, "") }

// LoadNamed is like [Load] but reads the descriptor with the given name from a file that
// may contain several. If name is empty, it reads the first one. It returns an error if
// the file has no such descriptor.
func LoadNamed(r io.Reader, name string) (*Descriptor, error) {
	if r == nil {
		return nil, errors.New("nil io.Reader")
	}
	text, err := io.ReadAll(io.LimitReader(r, maxFile+1))
	if err != nil {
		return nil, fmt.Errorf("reading a descriptor: %w", err)
	}
	if len(text) > maxFile {
		return nil, raster.Invalid("descriptor: the file is too large, want at most %d MiB", maxFile>>20)
	}
	c, err := parse(text, name)
	if err != nil {
		return nil, raster.Invalid("descriptor: %w", err)
	}
	d, err := New(c)
	if err != nil {
		return nil, raster.Invalid("descriptor: %w", err)
	}
	return d, nil
}

// parse reads a file in the format that its first character shows.
func parse(text []byte, name string) (Config, error) {
	text = bytes.TrimPrefix(text, []byte("\ufeff"))
	r := reader{name: name}
	var err error
	switch start := bytes.TrimLeft(text, " \t\r\n"); {
	case len(start) == 0:
		err = errors.New("the file is empty")
	case start[0] == '<':
		err = r.xml(text)
	case start[0] == '{':
		err = r.json(text)
	case bytes.HasPrefix(start, []byte("%YAML")):
		err = r.yaml(text)
	default:
		err = errors.New("unknown file format, want OpenCV's XML, JSON, or YAML that begins with %YAML")
	}
	if err != nil {
		return Config{}, err
	}
	return r.config()
}

// A field is a named list of numbers in a file, as text.
type field struct {
	name  string
	line  int
	words []string
}

// A reader collects the fields of one descriptor in a file.
type reader struct {
	name   string // of the descriptor; empty for the first one
	fields []field
}

// wants reports whether the descriptor may have this name.
func (r *reader) wants(name string) bool { return r.name == "" || r.name == name }

// named returns the name for errors.
func (r *reader) named() string {
	if r.name == "" {
		return ""
	}
	return fmt.Sprintf(" named %.40q", r.name)
}

// add adds a field.
func (r *reader) add(f field) error {
	if slices.ContainsFunc(r.fields, func(have field) bool { return have.name == f.name }) {
		return fmt.Errorf("line %d: %.40s appears twice, want once", f.line, f.name)
	}
	if len(r.fields) == maxFields {
		return fmt.Errorf("line %d: the descriptor has more entries than the limit, %d", f.line, maxFields)
	}
	r.fields = append(r.fields, f)
	return nil
}

// maxFields is the maximum number of entries of a descriptor in a file; OpenCV writes 13.
const maxFields = 64

// config returns the configuration that the fields describe.
func (r *reader) config() (c Config, err error) {
	var gamma, signed, aperture, norm int
	c.Levels = usualLevels
	points := []struct {
		name string
		to   *image.Point
	}{{"winSize", &c.Window}, {"blockSize", &c.Block}, {"blockStride", &c.Stride}, {"cellSize", &c.Cell}}
	for _, p := range points {
		v, err := r.numbers(p.name, 2, true)
		if err != nil {
			return c, err
		}
		if *p.to, err = pointOf(v); err != nil {
			return c, fmt.Errorf("line %d: %s is %v, want sizes from 1 to %d", r.line(p.name), p.name, v, maxWindow)
		}
	}
	for _, i := range []struct {
		name        string
		to          *int
		least, most int
		required    bool
	}{
		{"nbins", &c.Bins, 1, maxBins, true}, {"nlevels", &c.Levels, 1, maxLevels, false}, {"gammaCorrection", &gamma, 0, 1, true},
		{"signedGradient", &signed, 0, 1, false}, {"derivAperture", &aperture, math.MinInt32, math.MaxInt32, false},
		{"histogramNormType", &norm, 0, 0, false},
	} {
		v, err := r.numbers(i.name, 1, i.required)
		if err != nil {
			return c, err
		}
		if v == nil {
			continue
		}
		if !(v[0] >= float64(i.least) && v[0] <= float64(i.most) && v[0] == math.Trunc(v[0])) {
			return c, fmt.Errorf("line %d: %s is %v, want an integer from %d to %d", r.line(i.name), i.name, v[0], i.least, i.most)
		}
		*i.to = int(v[0])
	}
	for _, f := range []struct {
		name string
		to   *float64
	}{{"winSigma", &c.Sigma}, {"L2HysThreshold", &c.Clip}} {
		v, err := r.numbers(f.name, 1, true)
		if err != nil {
			return c, err
		}
		*f.to = v[0]
	}
	if c.Sigma < 0 { // OpenCV's mark for the default
		c.Sigma = 0
	}
	if c.Clip == 0 {
		return c, fmt.Errorf("line %d: L2HysThreshold is 0, want more than 0", r.line("L2HysThreshold"))
	}
	c.Linear, c.Signed = gamma == 0, signed == 1
	svm, err := r.numbers("SVMDetector", -1, false)
	if err != nil {
		return c, err
	}
	for i, v := range svm {
		if v := float32(v); v-v != 0 {
			return c, fmt.Errorf("line %d: coefficient %d of SVMDetector is %g, want a number that fits in a float32", r.line("SVMDetector"), i, svm[i])
		}
		c.Coefficients = append(c.Coefficients, float32(v))
	}
	return c, nil
}

func pointOf(v []float64) (p image.Point, err error) {
	for i, to := range []*int{&p.X, &p.Y} {
		if !(v[i] >= 1 && v[i] <= maxWindow && v[i] == math.Trunc(v[i])) {
			return p, errors.New("not a size")
		}
		*to = int(v[i])
	}
	return p, nil
}

func (r *reader) find(name string) *field {
	for i := range r.fields {
		if r.fields[i].name == name {
			return &r.fields[i]
		}
	}
	return nil
}

// line returns the line of a field.
func (r *reader) line(name string) int { return r.find(name).line }

// numbers returns the n numbers of a field, or any number of them if n is negative. It returns
// nil if a field is missing that is not required.
func (r *reader) numbers(name string, n int, required bool) ([]float64, error) {
	f := r.find(name)
	if f == nil {
		if required {
			return nil, fmt.Errorf("the descriptor has no %s", name)
		}
		return nil, nil
	}
	if n >= 0 && len(f.words) != n {
		return nil, fmt.Errorf("line %d: %s has %d numbers, want %d", f.line, name, len(f.words), n)
	}
	all := make([]float64, 0, len(f.words))
	for _, word := range f.words {
		v, err := strconv.ParseFloat(word, 64)
		if err != nil || strings.ContainsAny(word, "xXpP_iInN") { // forms that only Go accepts
			return nil, fmt.Errorf("line %d: %s contains %.20q, want numbers", f.line, name, word)
		}
		all = append(all, v)
	}
	return all, nil
}
