package y4m

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"reflect"
	"strings"
	"testing"
)

// stream returns a stream of frames whose samples count up.
func stream(header string, bytes, frames int) string {
	var b strings.Builder
	b.WriteString(header + "\n")
	for i := range frames {
		b.WriteString("FRAME\n")
		for k := range bytes {
			b.WriteByte(byte(i + k))
		}
	}
	return b.String()
}

func TestLayouts(t *testing.T) {
	for layout, want := range map[string]string{
		"":           "5×3 3×2 3×2",
		" C420jpeg":  "5×3 3×2 3×2",
		" C411":      "5×3 2×3 2×3",
		" C422":      "5×3 3×3 3×3",
		" C444":      "5×3 5×3 5×3",
		" C444alpha": "5×3 5×3 5×3 5×3",
		" Cmono":     "5×3",
	} {
		r, err := NewReader(strings.NewReader(Magic + " W5 H3 F25:1 Ip" + layout + "\nFRAME Ip\n" + strings.Repeat("x", 100)))
		if err != nil {
			t.Fatal(err)
		}
		var f Frame
		if err := r.Read(&f); err != nil {
			t.Fatal(err)
		}
		var sizes []string
		for _, p := range f.Planes {
			sizes = append(sizes, fmt.Sprintf("%d×%d", p.Width, p.Height))
		}
		if got := strings.Join(sizes, " "); got != want {
			t.Errorf("%q: planes %s, want %s", layout, got, want)
		}
		if got := r.String(); got != Magic+" W5 H3 F25:1 Ip"+layout {
			t.Errorf("%q: the header is written as %q", layout, got)
		}
		if len(f.Others) != 1 || f.Others[0] != "Ip" {
			t.Errorf("%q: parameters %q of the frame", layout, f.Others)
		}
	}
}

// TestThere tests that a stream is written as it was read, reusing memory.
func TestThere(t *testing.T) {
	in := stream(Magic+" W4 H2 F25:1 C420jpeg", 12, 3)
	r, err := NewReader(strings.NewReader(in))
	if err != nil {
		t.Fatal(err)
	}
	var out bytes.Buffer
	w, err := NewWriter(&out, r.Header)
	if err != nil {
		t.Fatal(err)
	}
	var f Frame
	for range 3 {
		if err := r.Read(&f); err != nil {
			t.Fatal(err)
		}
		if err := w.Write(&f); err != nil {
			t.Fatal(err)
		}
	}
	if err := r.Read(&f); err != io.EOF {
		t.Errorf("after the last frame: %v", err)
	}
	if out.String() != in {
		t.Errorf("%q became %q", in, &out)
	}
	f.Planes[1].Width++
	if err := w.Write(&f); err == nil {
		t.Error("a plane of another size is written")
	}
	f.Planes = f.Planes[:1]
	if err := w.Write(&f); err == nil {
		t.Error("a frame without color is written")
	}
	if _, err := NewWriter(&out, Header{}); err == nil {
		t.Error("a stream of no size is written")
	}
}

func TestErrors(t *testing.T) {
	for text, want := range map[string]string{
		"":                                "stream is empty",
		"P5 4 4 255\n":                    "want YUV4MPEG2",
		"YUV4MPEG2X W4 H4\n":              "want YUV4MPEG2",
		"YUV4MPEG2 W4 H4":                 "the Y4M stream ends in the",
		"YUV4MPEG2 W4\n":                  "frames are 4×0 pixels",
		"YUV4MPEG2 W-4 H4\n":              "frames are -4×4 pixels",
		"YUV4MPEG2 W99999999 H99999999\n": "frames are 99999999×99999999",
		"YUV4MPEG2 Wx H4\n":               "size in the header of the Y4M stream is",
		"YUV4MPEG2 W4 H4 C420p10\n":       `unsupported Y4M color space "420p10"`,
		"YUV4MPEG2 W4 H4 " + strings.Repeat("X", 5000) + "\n": "header line of the Y4M stream is too long, want at most",
		"YUV4MPEG2 W2 H2\nFRAME\n12345":                       "the Y4M stream ends in frame 0",
		"YUV4MPEG2 W2 H2\nFRAMES\n123456":                     "frame 0: the Y4M stream has \"FRAMES\\n\", want FRAME",
		"YUV4MPEG2 W2 H2\nFRAME\n123456FR":                    "frame 1: ",
	} {
		r, err := NewReader(strings.NewReader(text))
		for err == nil {
			err = r.Read(new(Frame))
		}
		if err == io.EOF || !strings.Contains(err.Error(), want) {
			t.Errorf("%.60q: %v, want %q", text, err, want)
		}
	}
}

func FuzzReader(f *testing.F) {
	f.Add([]byte(stream(Magic+" W4 H2 F25:1 C420jpeg", 12, 2)))
	f.Add([]byte(stream(Magic+" W3 H1 Cmono Xa", 3, 2)))
	f.Add([]byte(Magic + " W30000 H4000 C444\nFRAME\n"))
	f.Fuzz(func(t *testing.T, data []byte) {
		r, err := NewReader(bytes.NewReader(data))
		if err != nil || r.Width*r.Height > 1<<20 {
			return
		}
		var out bytes.Buffer
		w, err := NewWriter(&out, r.Header)
		if err != nil {
			t.Fatal(err)
		}
		var frames []Frame
		for {
			var f Frame
			if err := r.Read(&f); err != nil {
				if err != io.EOF && !errors.Is(err, io.ErrUnexpectedEOF) && !strings.Contains(err.Error(), "Y4M") {
					t.Fatalf("an error of another kind: %v", err)
				}
				break
			}
			if err := w.Write(&f); err != nil {
				t.Fatal(err)
			}
			frames = append(frames, f)
		}
		again, err := NewReader(&out)
		if err != nil {
			t.Fatal(err)
		}
		for i := range frames {
			var f Frame
			if err := again.Read(&f); err != nil || !reflect.DeepEqual(f.Planes, frames[i].Planes) {
				t.Fatalf("frame %d is another when it is read again: %v", i, err)
			}
		}
	})
}
