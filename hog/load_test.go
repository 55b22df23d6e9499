package hog_test

import (
	"bytes"
	"errors"
	"fmt"
	"image"
	"io"
	"math/rand/v2"
	"os"
	"path/filepath"
	"reflect"
	"runtime"
	"strings"
	"testing"
	"testing/fstest"
	"testing/iotest"

	"github.com/boxsum/boxsum"
	"github.com/boxsum/boxsum/hog"
	"github.com/boxsum/boxsum/internal/ref"
)

// small returns a descriptor whose file is short.
func small(t testing.TB) *hog.Descriptor {
	t.Helper()
	d, err := hog.New(hog.Config{Window: image.Pt(8, 8), Block: image.Pt(4, 4), Stride: image.Pt(4, 4), Cell: image.Pt(4, 4), Bins: 4,
		Coefficients: []float32{1, 2, 3, 4, 5, 6, 7, 8, -0.1, 1e-20, -3e20, 0, 13, 14, 15, 16, 0.5}})
	if err != nil {
		t.Fatal(err)
	}
	return d
}

func saved(t testing.TB, d *hog.Descriptor, f hog.Format) []byte {
	t.Helper()
	var b bytes.Buffer
	if err := d.Save(&b, f, "small"); err != nil {
		t.Fatal(err)
	}
	return b.Bytes()
}

var formats = map[hog.Format]string{hog.XML: "small.xml", hog.YAML: "small.yml", hog.JSON: "small.json"}

func TestSave(t *testing.T) {
	rng := rand.New(rand.NewPCG(40, 2))
	for i := range 60 {
		c := randomConfig(rng)
		d, err := hog.New(c)
		if err != nil {
			t.Fatal(err)
		}
		if i%4 > 0 {
			c.Coefficients = coefficients(rng, d.Size(), i%2 == 0)
			if d, err = hog.New(c); err != nil {
				t.Fatal(err)
			}
		}
		for f, name := range formats {
			text := saved(t, d, f)
			got, err := hog.Load(bytes.NewReader(text))
			if err != nil || !reflect.DeepEqual(got.Config(), d.Config()) {
				t.Fatalf("%s: %v, %v, want %+v", name, got, err, d.Config())
			}
			if known, err := hog.FormatOf(name); err != nil || known != f {
				t.Errorf("%s has format %v, %v", name, known, err)
			}
		}
	}
	d := small(t)
	for _, bad := range []struct {
		f    hog.Format
		name string
	}{{3, "small"}, {-1, "small"}, {hog.XML, ""}, {hog.XML, "a b"}, {hog.YAML, "a:"}, {hog.JSON, "\""}} {
		if err := d.Save(io.Discard, bad.f, bad.name); !errors.Is(err, boxsum.ErrInvalid) {
			t.Errorf("%v: %v", bad, err)
		}
	}
	if _, err := hog.FormatOf("people.txt"); !errors.Is(err, boxsum.ErrInvalid) {
		t.Error(err)
	}
	if err := d.Save(nil, hog.XML, "small"); err == nil {
		t.Error("saved to nil")
	}
}

// TestFilesOfOpenCV tests that OpenCV reads our files, and we read its own.
func TestFilesOfOpenCV(t *testing.T) {
	py := ref.StartCascades(t, "testdata/hog.py")
	rng := rand.New(rand.NewPCG(40, 3))
	folder := t.TempDir()
	none := boxsum.Image[uint8]{}
	for i := range 12 {
		c := randomConfig(rng)
		c.Clip = 0.2
		d, err := hog.New(c)
		if err != nil {
			t.Fatal(err)
		}
		c.Coefficients = coefficients(rng, d.Size(), i%2 == 0)
		if d, err = hog.New(c); err != nil {
			t.Fatal(err)
		}
		c = d.Config()
		for f, name := range formats {
			path := filepath.Join(folder, name)
			if err := os.WriteFile(path, saved(t, d, f), 0o666); err != nil {
				t.Fatal(err)
			}
			q := query{Do: "load", File: path}
			got, _ := q.ask(t, py, none)
			truth := map[bool]float64{true: 1}
			want := []float64{float64(c.Window.X), float64(c.Window.Y), float64(c.Block.X), float64(c.Block.Y), float64(c.Stride.X), float64(c.Stride.Y),
				float64(c.Cell.X), float64(c.Cell.Y), float64(c.Bins), c.Sigma, c.Clip, truth[!c.Linear], float64(c.Levels), truth[c.Signed]}
			for _, v := range c.Coefficients {
				want = append(want, float64(v))
			}
			if !equal(got, want) {
				t.Fatalf("OpenCV reads %.20v from %s, want %.20v", got, name, want)
			}
			q = query{Do: "save", File: path, Config: configOf(c), SVM: c.Coefficients}
			q.ask(t, py, none)
			theirs, err := hog.LoadFile(path)
			if err != nil || !reflect.DeepEqual(theirs.Config(), c) {
				t.Fatalf("%s of OpenCV: %+v, %v, want %+v", name, theirs.Config(), err, c)
			}
		}
	}
}

func TestLoad(t *testing.T) {
	d := small(t)
	text := saved(t, d, hog.XML)
	got, err := hog.LoadFS(fstest.MapFS{"a/small.xml": {Data: text}}, "a/small.xml")
	if err != nil || !reflect.DeepEqual(got.Config(), d.Config()) {
		t.Error(got, err)
	}
	if _, err := hog.LoadFile(filepath.Join(t.TempDir(), "none.xml")); !errors.Is(err, os.ErrNotExist) {
		t.Error(err)
	}
	if _, err := hog.Load(iotest.ErrReader(io.ErrClosedPipe)); !errors.Is(err, io.ErrClosedPipe) {
		t.Error(err)
	}
	// Other objects before the descriptor are skipped, and so is everything after it.
	for format, texts := range map[hog.Format][2]string{
		hog.XML:  {"<opencv_storage>", "<opencv_storage><a type_id=\"b\"><c>d<e/></c></a><f>1</f>"},
		hog.YAML: {"---\n", "---\na: 1\nb: !!other\n   c: [ 1,\n      2 ]\n   d:\n      - 3\n"},
		hog.JSON: {"{\n", "{\n \"a\": {\"b\": [1, {\"c\": null}]}, \"d\": [[]],\n"},
	} {
		text := strings.Replace(string(saved(t, d, format)), texts[0], texts[1], 1)
		got, err := hog.Load(strings.NewReader("\ufeff" + text))
		if err != nil || !reflect.DeepEqual(got.Config(), d.Config()) {
			t.Errorf("%v: %v, %v", format, got, err)
		}
	}
}

// TestLoadErrors tests that errors name the line and what is wrong.
func TestLoadErrors(t *testing.T) {
	d := small(t)
	for _, c := range []struct {
		format        hog.Format
		old, new      string
		want          string
		onlyTruncated bool
	}{
		{hog.XML, "winSize>8 8", "winSize>8 8 8", "line 4: winSize has 3 numbers, want 2", false},
		{hog.XML, "winSize>8 8", "winSize>8 0", "line 4: winSize is [8 0], want sizes from 1 to 4096", false},
		{hog.XML, "nbins>4", "nbins>four", `line 8: nbins contains "four", want numbers`, false},
		{hog.XML, "nbins>4", "nbins>0x4", `line 8: nbins contains "0x4", want numbers`, false},
		{hog.XML, "nbins>4", "nbins>4.5", "line 8: nbins is 4.5, want an integer from 1 to 256", false},
		{hog.XML, "nbins>4", "nbins>400", "line 8: nbins is 400, want an integer from 1 to 256", false},
		{hog.XML, "cellSize", "cellsize", "the descriptor has no cellSize", false},
		{hog.XML, "derivAperture", "nbins", "line 9: nbins appears twice", false},
		{hog.XML, "</nbins>", "<a/></nbins>", "line 8: <nbins> contains <a>, want numbers", false},
		{hog.XML, "opencv-object-detector-hog", "opencv-haar-classifier", "the file has no descriptor, want an element with type_id opencv-object-detector-hog", false},
		{hog.XML, "opencv_storage>", "storage>", "line 2: root element is <storage>, want <opencv_storage>", false},
		{hog.XML, "-3.00000006e+20", "-3e200", "line 16: coefficient 10 of SVMDetector is -3e+200, want a number that fits in a float32", false},
		{hog.XML, "-3.00000006e+20", "nan", "line 16: SVMDetector contains \"nan\", want numbers", false},
		{hog.XML, "-3.00000006e+20", "", "16 coefficients", true},
		{hog.XML, "-3.00000006e+20", "1 1 1", "number of coefficients is 19, want 16, or 17 with a constant", false},
		{hog.XML, "0</histogramNormType", "1</histogramNormType", "line 11: histogramNormType is 1, want an integer from 0 to 0", false},
		{hog.XML, "blockStride>4 4", "blockStride>3 4", "block stride is 3×4, want sizes that divide the window minus the block, 4×4", false},
		{hog.XML, "cellSize>4 4", "cellSize>4 3", "cell is 4×3, want sizes that divide the block, 4×4", false},
		{hog.XML, "blockSize>4 4", "blockSize>12 4", "block is 12×4", false},
		{hog.YAML, "nbins: 4", "nbins 4", `line 8: unexpected "nbins 4", want a name, a colon and a value`, false},
		{hog.YAML, "nbins: 4", "nbins: [ 4 ] 4", `line 8: nbins: " 4" follows the list, want the end of the line`, false},
		{hog.YAML, "small: !!opencv-object-detector-hog", "small: !!other", "the file has no descriptor, want a mapping with the tag !!opencv-object-detector-hog", false},
		{hog.JSON, `"nbins": 4`, `"nbins": {}`, "nbins: unexpected {, want numbers", false},
		{hog.JSON, `"nbins": 4`, `"nbins": null`, "nbins: unexpected <nil>, want numbers", false},
		{hog.JSON, `"nbins": 4`, `"nbins" 4`, "invalid character", false},
		{hog.JSON, `"type_id"`, `"id"`, "the file has no descriptor, want an object with type_id opencv-object-detector-hog", false},
	} {
		text := string(saved(t, d, c.format))
		if !strings.Contains(text, c.old) {
			t.Fatalf("no %q in\n%s", c.old, text)
		}
		got, err := hog.Load(strings.NewReader(strings.ReplaceAll(text, c.old, c.new)))
		if c.onlyTruncated { // 16 coefficients, without a constant, are valid
			if err != nil {
				t.Error(err)
			}
			continue
		}
		if got != nil || !errors.Is(err, boxsum.ErrInvalid) || !strings.Contains(err.Error(), c.want) {
			t.Errorf("%s for %s: error is %v, want %s", c.new, c.old, err, c.want)
		}
	}
	for format := range formats {
		text := saved(t, d, format)
		for n := range text {
			got, err := hog.Load(bytes.NewReader(text[:n]))
			if err == nil && strings.TrimSpace(string(text[n:])) != "" && format != hog.XML && !sameNumbers(got, d) {
				t.Fatalf("%d bytes of format %v are valid:\n%s", n, format, text[:n])
			} else if err != nil && (got != nil || !errors.Is(err, boxsum.ErrInvalid)) {
				t.Fatal(got, err)
			}
		}
	}
	for _, text := range []string{"", " \n", "hello", "%YAML:1.0\n---\n", "{}", "{", "[]", "<a/>", "<opencv_storage/>", "<opencv_storage>", "\x1f\x8b", "{\"a\":1}"} {
		if got, err := hog.Load(strings.NewReader(text)); got != nil || !errors.Is(err, boxsum.ErrInvalid) {
			t.Errorf("%q: %v, %v", text, got, err)
		}
	}
}

// sameNumbers reports whether a descriptor of a truncated file lacks nothing but coefficients.
func sameNumbers(got, want *hog.Descriptor) bool {
	a, b := got.Config(), want.Config()
	a.Coefficients, b.Coefficients, a.Signed, b.Signed = nil, nil, false, false
	a.Levels = b.Levels // optional
	return reflect.DeepEqual(a, b)
}

// damage returns a file with one mistake.
func damage(rng *rand.Rand, text []byte) []byte {
	text = bytes.Clone(text)
	at, n := rng.IntN(len(text)), rng.IntN(200)
	end := min(len(text), at+n)
	switch rng.IntN(4) {
	case 0: // bytes
		for range 1 + rng.IntN(4) {
			text[rng.IntN(len(text))] = byte(rng.Uint32())
		}
	case 1:
		text = text[:at]
	case 2:
		text = append(bytes.Clone(text[:end]), text[at:]...)
	case 3: // a number, replaced by another
		number := []string{"2147483647", "-2147483648", "1e308", "4096", "0", "1", "-1", "99999999999999999999", ".Nan"}[rng.IntN(9)]
		if i := bytes.IndexAny(text[at:], "0123456789"); i >= 0 {
			end := at + i
			for end < len(text) && strings.IndexByte("0123456789-.e+", text[end]) >= 0 {
				end++
			}
			text = append(append(bytes.Clone(text[:at+i]), number...), text[end:]...)
		}
	}
	return text
}

// TestDamaged tests that damaged files give errors or usable descriptors, without a panic, a hang, or much more memory than
// their size.
func TestDamaged(t *testing.T) {
	rng := rand.New(rand.NewPCG(ref.Seed(t, 40), 4))
	img := drawnPattern(30, 24, 1)
	var sources [][]byte
	for format := range hog.Format(3) {
		sources = append(sources, saved(t, small(t), format))
	}
	failed, n := 0, 0
	for i := range ref.Trials(t, 400) {
		n++
		text := damage(rng, sources[i%len(sources)])
		var before, after runtime.MemStats
		runtime.ReadMemStats(&before)
		d, err := hog.Load(bytes.NewReader(text))
		runtime.ReadMemStats(&after)
		if used := after.TotalAlloc - before.TotalAlloc; used > uint64(100*len(text)+32<<20) {
			t.Errorf("run %d: a file of %d bytes took %d", i, len(text), used)
		}
		if err != nil {
			failed++
			if d != nil || !errors.Is(err, boxsum.ErrInvalid) {
				t.Errorf("run %d: error is %v", i, err)
			}
			continue
		}
		if _, err := d.Compute(img, nil); err != nil {
			t.Errorf("run %d: %v", i, err)
		}
	}
	t.Logf("%d of %d files were refused", failed, n)
}

func FuzzLoad(f *testing.F) {
	for format := range hog.Format(3) {
		f.Add(saved(f, small(f), format))
	}
	f.Add([]byte("%YAML:1.0\n---\na: !!opencv-object-detector-hog\n   b: [ 1,\n 2]\n"))
	img := drawnPattern(20, 18, 1)
	f.Fuzz(func(t *testing.T, text []byte) {
		d, err := hog.Load(bytes.NewReader(text))
		if err != nil {
			if d != nil || !errors.Is(err, boxsum.ErrInvalid) {
				t.Error(err)
			}
			return
		}
		for format := range hog.Format(3) {
			again, err := hog.Load(bytes.NewReader(saved(t, d, format)))
			if err != nil || !reflect.DeepEqual(again.Config(), d.Config()) {
				t.Errorf("%v, %v, want %+v", again, err, d.Config())
			}
		}
		if c := d.Config(); c.Window.X*c.Window.Y > 1e4 {
			return
		}
		var want []float32
		for i, level := range boxsum.Levels() {
			got, err := d.Compute(img, &hog.WindowOptions{Level: level})
			if err != nil {
				t.Fatal(err)
			}
			if i == 0 {
				want = got
			} else if fmt.Sprint(got) != fmt.Sprint(want) {
				t.Errorf("%v at level %v, %v in portable Go", got, level, want)
			}
		}
	})
}

// TestLoadNamed tests that one of several objects in a file is read by its name.
func TestLoadNamed(t *testing.T) {
	one := small(t)
	c := one.Config()
	c.Coefficients = nil
	c.Bins = 5
	other, err := hog.New(c)
	if err != nil {
		t.Fatal(err)
	}
	for f, ends := range map[hog.Format][2]string{ // what is between the objects, and what is after them
		hog.XML:  {"<opencv_storage>", "</opencv_storage>"},
		hog.YAML: {"---", ""},
		hog.JSON: {"{", "}"},
	} {
		var second bytes.Buffer
		if err := other.Save(&second, f, "other"); err != nil {
			t.Fatal(err)
		}
		_, body, _ := strings.Cut(second.String(), ends[0])
		text := string(saved(t, one, f))
		if ends[1] != "" {
			text = text[:strings.LastIndex(text, ends[1])]
		}
		if f == hog.JSON {
			text += ","
		}
		text += body
		for name, want := range map[string]*hog.Descriptor{"": one, "small": one, "other": other} {
			got, err := hog.LoadNamed(strings.NewReader(text), name)
			if err != nil || !reflect.DeepEqual(got.Config(), want.Config()) {
				t.Errorf("%v, %q: %v, %v", f, name, got, err)
			}
		}
		if _, err := hog.LoadNamed(strings.NewReader(text), "third"); !errors.Is(err, boxsum.ErrInvalid) || !strings.Contains(err.Error(), `named "third"`) {
			t.Errorf("%v: %v", f, err)
		}
	}
	if _, err := hog.LoadNamed(nil, ""); err == nil {
		t.Error("loaded from nil")
	}
}
