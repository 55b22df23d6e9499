package detect_test

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"math/rand/v2"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"testing"
	"testing/fstest"
	"testing/iotest"

	"github.com/boxsum/boxsum"
	"github.com/boxsum/boxsum/detect"
	"github.com/boxsum/boxsum/internal/ref"
)

func TestLoad(t *testing.T) {
	ref.SkipRace(t)
	for _, file := range cascadeFiles(t) {
		c := cascade(t, file)
		lbp := strings.HasPrefix(filepath.Base(file), "lbp")
		if c.Stages() == 0 || c.Features() == 0 || c.Window().X < 12 || (c.Kind() == detect.LBP) != lbp {
			t.Errorf("%s is %v, %v, with %d stages and %d features", file, c.Kind(), c.Window(), c.Stages(), c.Features())
		}
	}
}

// small is a cascade in the current format, and smallOld one in that of OpenCV 1. Tests replace the words in braces.
const small = `<?xml version="1.0"?>
<opencv_storage>
<cascade type_id="opencv-cascade-classifier"><stageType>BOOST</stageType>
  <featureType>HAAR</featureType>
  <height>12</height>
  <width>10</width>
  <stageParams><maxWeakCount>2</maxWeakCount></stageParams>
  <featureParams><maxCatCount>0</maxCatCount></featureParams>
  <stageNum>2</stageNum>
  <stages>
    <_>
      <maxWeakCount>2</maxWeakCount>
      <stageThreshold>-1.5</stageThreshold>
      <weakClassifiers>
        <_><internalNodes>0 -1 0 0.01</internalNodes><leafValues>-1. 1e0</leafValues></_>
        <_><internalNodes>2 1 1 0.02 0 -1 0 0.01 -1 -2 2 0</internalNodes><leafValues>-1 1 2</leafValues></_>
      </weakClassifiers>
    </_>
    <!-- the last one -->
    <_>
      <stageThreshold>0.5</stageThreshold>
      <weakClassifiers>
        <_><internalNodes>0 -1 1 -0.01</internalNodes><leafValues>0.25 0.75</leafValues></_>
      </weakClassifiers>
    </_>
  </stages>
  <features>
    <_><rects><_>0 0 10 6 -1.</_><_>0 0 5 6 2.</_></rects></_>
    <_><rects><_>1 1 8 8 -1.</_><_>1 1 4 4 2.</_><_>5 5 4 4 2.</_></rects><tilted>0</tilted></_>
    <_><rects><_>5 0 4 4 -1.</_><_>5 0 2 4 2.</_></rects><tilted>1</tilted></_>
  </features>
</cascade>
</opencv_storage>
`

const smallLBP = `<?xml version="1.0"?>
<opencv_storage><cascade><stageType>BOOST</stageType><featureType>LBP</featureType><height>9</height><width>12</width>
  <featureParams><maxCatCount>256</maxCatCount></featureParams><stageNum>1</stageNum>
  <stages><_><maxWeakCount>1</maxWeakCount><stageThreshold>-0.5</stageThreshold>
    <weakClassifiers><_><internalNodes>0 -1 0 -1 -2 3 4 -5 6 7 2147483647</internalNodes><leafValues>-1 1</leafValues></_></weakClassifiers></_></stages>
  <features><_><rect>0 0 4 3</rect></_></features>
</cascade></opencv_storage>
`

const smallOld = `<?xml version="1.0"?>
<opencv_storage>
<mine type_id="opencv-haar-classifier">
  <size>10 12</size>
  <stages><_>
    <trees>
      <_>
        <_><feature><rects><_>0 0 10 6 -1.</_><_>0 0 5 6 2.</_></rects><tilted>0</tilted></feature>
          <threshold>0.01</threshold><left_node>1</left_node><right_val>2</right_val></_>
        <_><feature><rects><_>5 0 4 4 -1.</_><_>5 0 2 4 2.</_></rects><tilted>1</tilted></feature>
          <threshold>0.02</threshold><left_val>-1</left_val><right_val>1</right_val></_>
      </_>
    </trees>
    <stage_threshold>-0.5</stage_threshold><parent>-1</parent><next>-1</next></_></stages></mine>
</opencv_storage>
`

func TestLoadSmall(t *testing.T) {
	for _, text := range []string{small, smallLBP, smallOld} {
		c, err := detect.Load(strings.NewReader(text))
		if err != nil {
			t.Fatal(err)
		}
		img, _ := boxsum.NewImage[uint8](40, 30, 1)
		rng := rand.New(rand.NewPCG(1, 2))
		for i := range img.Pix {
			img.Pix[i] = uint8(rng.Uint32())
		}
		if _, err := c.Detect(img, nil); err != nil {
			t.Error(err)
		}
	}
}

func TestLoadErrors(t *testing.T) {
	for _, c := range []struct{ text, from, to, want string }{
		{"", "", "", "line 1: unexpected end of file"},
		{"hello", "", "", "unexpected end of file"},
		{"<html></html>", "", "", "<opencv_storage> is missing"},
		{"<opencv_storage/>", "", "", "the file is empty"},
		{"<opencv_storage><a type_id='x'/></opencv_storage>", "", "", "is not a cascade"},
		{small, "BOOST", "TREE", `line 3: unknown stage type "TREE"`},
		{small, "HAAR", "HOG", `line 4: unknown feature type "HOG"`},
		{small, "<width>10</width>", "", "line 32: the cascade has no <width>"},
		{small, "<width>10<", "<width>2<", "line 6: number is 2, want an integer from 3"},
		{small, "<width>10<", "<width>9<", "feature 0: box 0 is 0 0 10 6 (x, y, width, height), want one inside the window of 9×12"},
		{small, "<width>10<", "<width>1e9<", "line 6: number is 1e+09, want an integer"},
		{small, "<width>10<", "<width>0x10<", `"0x10" is not a number`},
		{small, "<width>10<", "<width>10 11<", "element has 2 numbers, want 1"},
		{small, "<width>10<", "<width><a/><", "<a> inside a text element"},
		{small, "<height>12</height>", "<height>12</height><height>12</height>", "line 5: <height> appears twice"},
		{small, "<stageNum>2<", "<stageNum>3<", "has 2 stages, but stageNum is 3"},
		{small, "<stageNum>2<", "<stageNum>2000000000<", "from 1 to 1000"},
		{small, "<maxCatCount>0<", "<maxCatCount>256<", "maxCatCount is 256, want 0 for HAAR"},
		{smallLBP, "<maxCatCount>256<", "<maxCatCount>100<", "maxCatCount is 100, want 256 for LBP"},
		{small, "      <maxWeakCount>2<", "<maxWeakCount>3<", "stage 0 has 2 weak classifiers, but maxWeakCount is 3"},
		{small, "<stageThreshold>0.5</stageThreshold>", "", "stage 1 has no <stageThreshold>"},
		{small, "<stageThreshold>0.5<", "<stageThreshold>NaN<", `"NaN" is not a number`},
		{small, "<stageThreshold>0.5<", "<stageThreshold>1e300<", "does not fit in a float32"},
		{small, "0 -1 0 0.01", "0 -1 0", "tree 0: nodes have 3 numbers, want a positive multiple of 4"},
		{small, "0 -1 0 0.01", "0 -2 0 0.01", "node 0 refers to leaf 2, want 0 to 1"},
		{small, "0 -1 0 0.01", "0 1 0 0.01", "node 0 refers to node 1, want 0 to 0"},
		{small, "0 -1 0 0.01", "0 0.5 0 0.01", "want the index of a node"},
		{small, "0 -1 0 0.01", "0 -1 7 0.01", "stage 0, tree 0: feature is 7, want 0 to 2"},
		{small, "0 -1 0 0.01", "0 -1 -7 0.01", "stage 0, tree 0: feature is -7, want 0 to 2"},
		{small, "0 -1 0 0.01", "0 -1 0 1e99", "threshold of node 0 is 1e+99, want a number that fits in a float32"},
		{small, "-1. 1e0", "-1. 1e99", "leaf 1 is 1e+99, want a number that fits in a float32"},
		{small, "2 1 1 0.02 0 -1 0 0.01", "2 1 1 0.02 2 1 0 0.01", "its ancestor, want a descendant"},
		{small, "2 1 1 0.02 0 -1", "2 1 1 0.02 0 1", "its ancestor, want a descendant"},
		{small, "0 0 5 6 2.", "0 0 5 6", "box has 4 numbers, want 5"},
		{small, "0 0 5 6 2.", "0 -1 5 6 2.", "box is [0 -1 5 6], want integers"},
		{small, "0 0 5 6 2.", "0 1.5 5 6 2.", "box is [0 1.5 5 6], want integers"},
		{small, "0 0 5 6 2.", "0 0 5 6 1e99", "weight is 1e+99, want a number that fits in a float32"},
		{small, "5 0 4 4 -1.", "3 0 4 4 -1.", "feature 2: box 0 is 3 0 4 4 (x, y, width, height), want one inside the window"},
		{small, "<_>5 5 4 4 2.</_>", "<_>5 5 4 4 2.</_><_>5 5 4 4 2.</_>", "more than 3 boxes"},
		{small, "<tilted>1<", "<tilted>2<", "from 0 to 1"},
		{small, "<_>5 5 4 4 2.</_>", "<x>5 5 4 4 2.</x>", "<x> in the list of rects"},
		{small, "<!-- the last one -->", "the last one", `unexpected text "the last one" between elements`},
		{small, "<features>", "<none>", "element <none> closed by </features>"},
		{small, "<features>", "<a><a><a><a><a><a><a><a><a><a><a><a><a><a><a><a>", "nested more than 16 deep"},
		{smallLBP, "0 0 4 3", "0 0 4 4", "want one inside the window of 12×9"},
		{smallLBP, "0 0 4 3<", "0 0 4 3 1<", "box has 5 numbers"},
		{smallLBP, "2147483647", "2147483648", "want a 32-bit integer"},
		{smallLBP, "-1 -2 3", "-1 -2", "nodes have 10 numbers, want a positive multiple of 11"},
		{smallOld, "<size>10 12</size>", "", "no <size>"},
		{smallOld, "<size>10 12<", "<size>10<", "size is [10], want two integers"},
		{smallOld, "<size>10 12<", "<size>4000 4000<", "at most"},
		{smallOld, "<left_node>1<", "<left_node>2<", "refers to node 2, want 0 to 1"},
		{smallOld, "<left_node>1</left_node>", "", "either a value or another node"},
		{smallOld, "<left_node>1<", "<left_val>1</left_val><left_node>1<", "either a value or another node"},
		{smallOld, "<left_val>-1</left_val>", "<left_node>1</left_node>", "its ancestor, want a descendant"},
		{smallOld, "<threshold>0.01</threshold>", "", "no <feature> or no <threshold>"},
		{smallOld, "<stage_threshold>-0.5</stage_threshold>", "", "no <stage_threshold>"},
	} {
		text := c.text
		if c.from != "" {
			if !strings.Contains(text, c.from) {
				t.Fatalf("%q is not there", c.from)
			}
			text = strings.Replace(text, c.from, c.to, 1)
		}
		cascade, err := detect.Load(strings.NewReader(text))
		if cascade != nil || !errors.Is(err, boxsum.ErrInvalid) || !strings.Contains(err.Error(), c.want) {
			t.Errorf("%q for %q: error is %v, want %s", c.to, c.from, err, c.want)
		}
	}
}

func TestLoadFS(t *testing.T) {
	ref.SkipRace(t)
	files := fstest.MapFS{"good.xml": {Data: []byte(small)}, "bad.xml": {Data: []byte(small[:300])}}
	if _, err := detect.LoadFS(files, "good.xml"); err != nil {
		t.Error(err)
	}
	if _, err := detect.LoadFS(files, "bad.xml"); !errors.Is(err, boxsum.ErrInvalid) || !strings.HasPrefix(err.Error(), "bad.xml: ") {
		t.Errorf("error is %v", err)
	}
	if _, err := detect.LoadFS(files, "none.xml"); !errors.Is(err, os.ErrNotExist) {
		t.Errorf("error is %v", err)
	}
	if _, err := detect.LoadFile(filepath.Join(t.TempDir(), "none.xml")); !errors.Is(err, os.ErrNotExist) {
		t.Errorf("error is %v", err)
	}
	broken := errors.New("the disk is gone")
	if _, err := detect.Load(io.MultiReader(strings.NewReader(small[:400]), iotest.ErrReader(broken))); !errors.Is(err, broken) || errors.Is(err, boxsum.ErrInvalid) {
		t.Errorf("error is %v", err)
	}
	endless := io.MultiReader(strings.NewReader("<opencv_storage><cascade><x>"), new(zeros))
	if _, err := detect.Load(endless); !errors.Is(err, boxsum.ErrInvalid) || !strings.Contains(err.Error(), "want at most 16 MiB") {
		t.Errorf("error is %v", err)
	}
}

// zeros is an endless file, at the given position.
type zeros int

func (z *zeros) Read(p []byte) (int, error) {
	for i := range p {
		p[i] = "<!-- -->\n"[*z%9]
		*z++
	}
	return len(p), nil
}

// damage returns a file that was cut, mutated, or announces data that does not exist.
func damage(rng *rand.Rand, text []byte) []byte {
	text = bytes.Clone(text)
	switch rng.IntN(5) {
	case 0:
		return text[:rng.IntN(len(text))]
	case 1:
		for range 1 + rng.IntN(20) {
			text[rng.IntN(len(text))] = byte(rng.Uint32())
		}
	case 2: // a digit
		for range 1 + rng.IntN(20) {
			if i := bytes.IndexAny(text[rng.IntN(len(text)):], "0123456789"); i >= 0 {
				text[i] = "0123456789-.e "[rng.IntN(14)]
			}
		}
	case 3: // a number, replaced by a large one or by one that makes a cycle
		number := []string{"2147483647", "-2147483648", "1e308", "4294967296", "0", "1", "-1", "99999999999999999999"}[rng.IntN(8)]
		start := rng.IntN(len(text))
		if i := bytes.IndexAny(text[start:], " >\n"); i >= 0 {
			end := start + i + 1
			for end < len(text) && strings.IndexByte("0123456789-.e", text[end]) >= 0 {
				end++
			}
			text = append(append(bytes.Clone(text[:start+i+1]), number...), text[end:]...)
		}
	case 4: // a part, repeated or removed
		from, n := rng.IntN(len(text)), rng.IntN(2000)
		end := min(len(text), from+n)
		if rng.IntN(2) == 0 {
			text = append(bytes.Clone(text[:end]), text[from:]...)
		} else {
			text = append(bytes.Clone(text[:from]), text[end:]...)
		}
	}
	return text
}

// TestDamaged tests that damaged files give errors or usable cascades, without a panic, a hang, or more memory than a
// few times that of the file.
func TestDamaged(t *testing.T) {
	var sources [][]byte
	for _, text := range []string{small, smallLBP, smallOld} {
		sources = append(sources, []byte(text))
	}
	for _, name := range []string{"licence_plate", "russian_plate", "lbpcascade_frontalface.xml", "lbpcascade_silverware"} {
		text, err := os.ReadFile(fileOf(t, name))
		if err != nil {
			t.Fatal(err)
		}
		sources = append(sources, text)
	}
	rng := rand.New(rand.NewPCG(ref.Seed(t, 19), 2))
	img, _ := boxsum.NewImage[uint8](80, 40, 1)
	for i := range img.Pix {
		img.Pix[i] = uint8(rng.Uint32())
	}
	failed, n := 0, 0
	for i := range ref.Trials(t, 400) {
		n++
		text := damage(rng, sources[i%len(sources)])
		var before, after runtime.MemStats
		runtime.ReadMemStats(&before)
		c, err := detect.Load(bytes.NewReader(text))
		runtime.ReadMemStats(&after)
		if used := after.TotalAlloc - before.TotalAlloc; used > uint64(100*len(text)+1<<20) {
			t.Errorf("run %d: a file of %d bytes took %d", i, len(text), used)
		}
		if err != nil {
			failed++
			if c != nil || !errors.Is(err, boxsum.ErrInvalid) {
				t.Errorf("run %d: error is %v", i, err)
			}
			continue
		}
		if _, err := c.Detect(img, &detect.Options{Ungrouped: true}); err != nil {
			t.Errorf("run %d: %v", i, err)
		}
	}
	t.Logf("%d of %d files were refused", failed, n)
}

func FuzzLoad(f *testing.F) {
	for _, text := range []string{small, smallLBP, smallOld} {
		f.Add([]byte(text))
	}
	img, _ := boxsum.NewImage[uint8](24, 18, 1)
	for i := range img.Pix {
		img.Pix[i] = uint8(i * i * 7)
	}
	f.Fuzz(func(t *testing.T, text []byte) {
		c, err := detect.Load(bytes.NewReader(text))
		if err != nil {
			if c != nil || !errors.Is(err, boxsum.ErrInvalid) {
				t.Error(err)
			}
			return
		}
		var want []detect.Result
		for i, level := range boxsum.Levels() {
			got, err := c.Detect(img, &detect.Options{Ungrouped: true, NearMisses: c.Stages(), Level: level, Scale: 1.5})
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
