package browser

import (
	"bytes"
	"fmt"
	"image"
	"image/png"
	"math"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/chromedp/chromedp"

	"github.com/boxsum/boxsum"
	"github.com/boxsum/boxsum/detect"
	"github.com/boxsum/boxsum/imgio"
	"github.com/boxsum/boxsum/internal/ref"
)

// astronaut writes a photograph with one face, which comes with scikit-image.
func astronaut(t *testing.T) string {
	t.Helper()
	python := ref.Python(t)
	out, err := exec.Command(python, "-c", "import os, skimage; print(os.path.join(os.path.dirname(skimage.__file__), 'data', 'astronaut.png'))").Output()
	if err != nil {
		t.Fatalf("BOXSUM_PEERS_PYTHON %q: %v", python, err)
	}
	return strings.TrimSpace(string(out))
}

// turned writes a picture rotated clockwise about its center.
func turned(t *testing.T, name string, degrees float64) string {
	t.Helper()
	data, err := os.ReadFile(name)
	if err != nil {
		t.Fatal(err)
	}
	photo, _, err := image.Decode(bytes.NewReader(data))
	if err != nil {
		t.Fatal(err)
	}
	src := boxsum.Gray(photo)
	dst := image.NewGray(image.Rect(0, 0, src.Width, src.Height))
	sin, cos := math.Sincos(degrees * math.Pi / 180)
	cx, cy := float64(src.Width-1)/2, float64(src.Height-1)/2
	for y := range src.Height {
		for x := range src.Width {
			u, v := float64(x)-cx, float64(y)-cy
			fx, fy := cx+u*cos+v*sin, cy-u*sin+v*cos
			if fx < 0 || fy < 0 || fx >= float64(src.Width-1) || fy >= float64(src.Height-1) {
				continue
			}
			i, j := int(fx), int(fy)
			ax, ay := fx-float64(i), fy-float64(j)
			at := func(i, j int) float64 { return float64(src.Pix[j*src.Stride+i]) }
			dst.Pix[y*dst.Stride+x] = uint8((at(i, j)*(1-ax)+at(i+1, j)*ax)*(1-ay) + (at(i, j+1)*(1-ax)+at(i+1, j+1)*ax)*ay + 0.5)
		}
	}
	to := filepath.Join(t.TempDir(), "turned.png")
	f, err := os.Create(to)
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	if err := png.Encode(f, dst); err != nil {
		t.Fatal(err)
	}
	return to
}

// TestFaces detects a face in a photograph, upright and rotated, with a cascade sent to the page, and compares position,
// angle and score with the library's, both in the table and as drawn.
func TestFaces(t *testing.T) {
	photo := astronaut(t)
	if _, err := os.Stat(cascadeFile); err != nil {
		ref.Missing(t, "no cascade: install Debian's opencv-data: "+err.Error())
	}
	cascade, err := detect.LoadFile(cascadeFile)
	if err != nil {
		t.Fatal(err)
	}
	leaning := turned(t, photo, 30)
	engines(t, func(t *testing.T, address string) {
		b := open(t, address, forms[0])
		b.do(chromedp.SetUploadFiles("#file", []string{photo}, chromedp.ByQuery))
		b.wait(`document.body.dataset.open === 'astronaut.png'`)
		b.do(chromedp.SetUploadFiles("#file", []string{cascadeFile}, chromedp.ByQuery))
		b.wait(`boxsum.view === 'detect' && boxsum.work.what === 'detect' && boxsum.work.values.cascade === 'haarcascade_frontalface_alt2'`)
		for _, c := range []struct {
			file   string
			angle  float64
			all    bool
			angles []float64
		}{{photo, 0, false, nil}, {leaning, 30, false, []float64{30}}, {leaning, 0, true, detect.AllAngles()}} {
			if c.all && strings.HasSuffix(t.Name(), "wasm") {
				continue // sixteen angles take seconds in WebAssembly
			}
			img, file, err := imgio.OpenImage[uint8](c.file, imgio.Options{})
			if err != nil {
				t.Fatal(err)
			}
			want, err := cascade.Detect(img, &detect.Options{Scale: 1.1, Neighbors: 3, Min: image.Pt(60, 60), Angles: c.angles})
			file.Close()
			if err != nil || len(want) == 0 {
				t.Fatalf("the library finds %v, %v", want, err)
			}
			name := filepath.Base(c.file)
			if eval[string](b, `boxsum.stage.doc.name`) != name {
				b.do(chromedp.SetUploadFiles("#file", []string{c.file}, chromedp.ByQuery))
				b.wait(`document.body.dataset.open === '` + name + `'`)
			}
			b.set("least", 60)
			b.set("angle", c.angle)
			b.do(chromedp.Evaluate(fmt.Sprintf(`(() => { const i = document.querySelector('#settings [name=all]'); i.checked = %v; i.dispatchEvent(new Event('change')); })()`, c.all), nil))
			b.settled()
			type face struct {
				X, Y, Width, Height, Neighbors int
				Angle, Score                   float64
				Label                          string
			}
			got := eval[[]face](b, `boxsum.work.found`)
			if len(got) != len(want) {
				t.Fatalf("%v: found %v, and the library %v", c, got, want)
			}
			for i, f := range got {
				w := want[i]
				if image.Rect(f.X, f.Y, f.X+f.Width, f.Y+f.Height) != w.Rect || f.Angle != w.Angle || f.Score != w.Score || f.Neighbors != w.Neighbors {
					t.Errorf("%v: found %v, and the library %v", c, f, w)
				}
				if want := fmt.Sprintf("%.1f, %.0f°", w.Score, w.Angle); f.Label != want {
					t.Errorf("the label is %q, want %q", f.Label, want)
				}
				row := eval[[]string](b, fmt.Sprintf(`[...document.querySelectorAll('#found tbody tr')[%d].cells].map((c) => c.textContent)`, i))
				if row[1] != fmt.Sprintf("%.2f", w.Score) || row[2] != fmt.Sprint(w.Rect.Min.X) || row[4] != fmt.Sprint(w.Rect.Dx()) {
					t.Errorf("the table says %q of %v", row, w)
				}
			}
			if over := eval[float64](b, `(() => { const s = document.querySelector('#found .scroll'); return s.scrollWidth - s.clientWidth; })()`); over > 0 {
				t.Errorf("the table of what was found is too wide by %v pixels", over)
			}
			if c.angle != 0 && math.Abs(got[0].Angle-c.angle) > 20 {
				t.Errorf("a face turned by %v° is found at %v°", c.angle, got[0].Angle)
			}
			// A corner of the first detection is drawn in green.
			if green := eval[bool](b, `(() => { const s = boxsum.stage, f = boxsum.work.found[0], c = document.getElementById('image'), r = c.width / c.clientWidth;
				const [x, y] = s.toScreen(...f.corners[2]), d = c.getContext('2d').getImageData(x * r - 4, y * r - 4, 8, 8).data;
				for (let i = 0; i < d.length; i += 4) if (d[i] < 160 && d[i + 1] > 220 && d[i + 2] < 200) return true; return false; })()`); !green {
				t.Errorf("%v: no corner is drawn", c)
			}
			b.shot(fmt.Sprintf("faces-%v-%v-%s", c.angle, c.all, filepath.Base(t.Name())))
		}
		b.quiet()
	})
}
