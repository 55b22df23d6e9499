package browser

import (
	"bytes"
	"encoding/base64"
	"fmt"
	"image"
	"image/png"
	"math"
	"strings"
	"testing"

	"github.com/chromedp/cdproto/emulation"
	"github.com/chromedp/cdproto/input"
	"github.com/chromedp/chromedp"

	"github.com/boxsum/boxsum"
	"github.com/boxsum/boxsum/filter"
)

// TestScreenFirst moves a slider: the answer has only the pixels on the screen, follows the image when it is zoomed, and
// becomes the whole image when it is saved.
func TestScreenFirst(t *testing.T) {
	want, err := filter.Box(demoColor, filter.Radius(9), nil)
	if err != nil {
		t.Fatal(err)
	}
	engines(t, func(t *testing.T, address string) {
		b := open(t, address, forms[0])
		b.view("work")
		b.set("radius", 9)
		b.wait(`document.body.dataset.work?.includes('"radius":9')`)
		b.settled()
		size := eval[[]int](b, `[boxsum.stage.result.bitmap.width, boxsum.stage.result.bitmap.height, document.getElementById('image').width, document.getElementById('image').height]`)
		if size[0] > size[2] || size[1] > size[3] || size[0] < size[2]*9/10 {
			t.Errorf("a canvas of %d×%d shows a result of %d×%d", size[2], size[3], size[0], size[1])
		}
		b.do(chromedp.Click("#zoom-one"))
		b.wait(`boxsum.stage.scale === 1 && boxsum.stage.result.at.join() === boxsum.stage.view().join()`)
		b.shows(t, "box blur at 1:1", want)
		// Saving computes the whole image.
		b.do(chromedp.Evaluate(`{ const of = URL.createObjectURL; URL.createObjectURL = (blob) => { window.saved = blob; return of(blob); }; }
			HTMLAnchorElement.prototype.click = function () { window.savedAs = this.download; }; 0`, nil), chromedp.Click("#save-result"))
		b.wait(`window.saved && window.savedAs`)
		if name := eval[string](b, `savedAs`); name != "demo-box.png" {
			t.Errorf("it is saved as %s", name)
		}
		file, err := base64.StdEncoding.DecodeString(eval[string](b, `saved.arrayBuffer().then((a) => { let s = ''; const v = new Uint8Array(a); for (let i = 0; i < v.length; i += 8192) s += String.fromCharCode(...v.subarray(i, i + 8192)); return btoa(s); })`))
		if err != nil {
			t.Fatal(err)
		}
		m, err := png.Decode(bytes.NewReader(file))
		if err != nil || m.Bounds() != image.Rect(0, 0, 1920, 1080) {
			t.Fatalf("the file is %v, %v", m, err)
		}
		if got := boxsum.Color(m); got.Channels < 3 || !sameColors(got, want) {
			t.Error("the file has other pixels than the library makes")
		}
		b.quiet()
	})
}

// sameColors reports whether two images have equal red, green and blue channels.
func sameColors(a, b boxsum.Image[uint8]) bool {
	for y := range b.Height {
		p, q := a.Row(y), b.Row(y)
		for x := range b.Width {
			if !bytes.Equal(p[x*a.Channels:][:3], q[x*b.Channels:][:3]) {
				return false
			}
		}
	}
	return true
}

// TestPhotograph filters a photograph in color.
func TestPhotograph(t *testing.T) {
	t.Parallel()
	address, err := server()
	if err != nil {
		t.Fatal(err)
	}
	photo := astronaut(t)
	b := open(t, address, forms[0])
	b.do(chromedp.SetUploadFiles("#file", []string{photo}, chromedp.ByQuery))
	b.wait(`document.body.dataset.open === 'astronaut.png'`)
	b.view("work")
	for _, method := range []string{"box", "gaussian", "median", "guided", "std", "normalize", "entropy", "percentile", "equalize", "clahe", "denoise"} {
		b.set("filter", method)
		b.wait(`document.body.dataset.work?.includes('"` + method + `"')`)
		b.settled()
		// The suit is orange, and so is its blur.
		r := eval[[]int](b, `(async () => { const q = boxsum.work.request(), r = await boxsum.engine.ask(q), at = 4 * (r.width * 330 + 130); return [r.bytes.length / r.width / r.height, ...r.bytes.slice(at, at + 3)]; })()`)
		if r[0] != 4 {
			t.Fatalf("%s has %d values a pixel", method, r[0])
		}
		if strings.Contains("box gaussian median guided", method) && (r[1] < r[3]+60 || r[1] < r[2]+40) {
			t.Errorf("%s makes an orange suit %v", method, r[1:])
		}
		b.shot("photograph-" + method)
	}
	b.quiet()
}

// rect returns the position of an element in the window: left, top, right, bottom.
func (b *tab) rect(selector string) (r [4]float64) {
	b.t.Helper()
	copy(r[:], eval[[]float64](b, `(() => { const r = document.querySelector('`+selector+`').getBoundingClientRect(); return [r.left, r.top, r.right, r.bottom]; })()`))
	return r
}

// TestLayout tests that the image fills its area, stays in place while the panel scrolls, and follows the window's size,
// and that the important elements are visible without scrolling.
func TestLayout(t *testing.T) {
	t.Parallel()
	address, err := server()
	if err != nil {
		t.Fatal(err)
	}
	b := open(t, address, forms[0])
	b.answered()
	if r := b.rect("#entries"); r[3] > 900 {
		t.Errorf("the entries of the table end at %v of 900 pixels", r[3])
	}
	if r := b.rect("#facts"); r[3] > 900 || r[3] < 780 {
		t.Errorf("the image with its facts ends at %v of 900 pixels", r[3])
	}
	b.view("work")
	fits := func(w, h int64) {
		t.Helper()
		b.wait(fmt.Sprintf(`innerWidth === %d && Math.abs(boxsum.stage.scale - Math.min(document.getElementById('image').clientWidth / 1920, document.getElementById('image').clientHeight / 1080)) < 1e-9`, w))
		if r := b.rect("#image"); w > 960 && (r[3] < 0.8*float64(h) || r[3] > float64(h) || r[2] < 0.6*float64(w)) {
			t.Errorf("in a window of %d×%d, the image is at %v", w, h, r)
		}
	}
	fits(1440, 900)
	b.do(emulation.SetDeviceMetricsOverride(1100, 700, 1, false))
	fits(1100, 700)
	b.do(emulation.SetDeviceMetricsOverride(1440, 600, 1, false))
	fits(1440, 600)
	b.do(chromedp.Evaluate(`document.querySelectorAll('#view-work details').forEach((d) => { d.open = true; })`, nil))
	b.wait(`document.documentElement.scrollHeight > innerHeight + 300`)
	before := b.rect("#image")
	b.do(chromedp.Evaluate(`scrollTo(0, 250)`, nil))
	b.wait(`scrollY === 250`)
	if after := b.rect("#image"); math.Abs(after[1]-before[1]) > 16 || after[3] > 600 {
		t.Errorf("the image goes from %v to %v when the panel scrolls", before, after)
	}
	b.quiet()
}

// TestSwipe moves a finger over the image on a phone: this scrolls the page, unless a box is begun with the button, by
// holding still, or at a handle.
func TestSwipe(t *testing.T) {
	t.Parallel()
	address, err := server()
	if err != nil {
		t.Fatal(err)
	}
	b := open(t, address, forms[2])
	b.do(emulation.SetTouchEmulationEnabled(true))
	b.answered()
	// rest holds the page at the top until it no longer scrolls from the swipe before.
	rest := func() {
		t.Helper()
		b.do(chromedp.Evaluate(`window.moved = performance.now()`, nil))
		b.wait(`(() => { if (scrollY !== 0) { scrollTo(0, 0); window.moved = performance.now(); } return performance.now() - window.moved > 300; })()`)
	}
	swipe := func(x0, y0, x1, y1 float64, hold string) {
		t.Helper()
		rest()
		sx, sy := b.screen(x0, y0)
		ex, ey := b.screen(x1, y1)
		b.do(input.DispatchTouchEvent(input.TouchStart, []*input.TouchPoint{{X: sx, Y: sy}}))
		if hold != "" {
			b.wait(hold)
		}
		for i := 1; i <= 8; i++ {
			f := float64(i) / 8
			b.do(input.DispatchTouchEvent(input.TouchMove, []*input.TouchPoint{{X: sx + (ex-sx)*f, Y: sy + (ey-sy)*f}}))
		}
		b.do(input.DispatchTouchEvent(input.TouchEnd, []*input.TouchPoint{}))
	}
	boxes := func() int { t.Helper(); return eval[int](b, `boxsum.boxes.list.length`) }
	swipe(400, 900, 400, 200, "")
	b.wait(`scrollY > 40`)
	if n := boxes(); n != 1 {
		t.Errorf("a swipe over the image drew a box: there are %d", n)
	}
	rest() // or the click misses the button
	b.do(chromedp.Click("#drag-box"))
	swipe(300, 700, 800, 1000, "")
	b.answered()
	if n, box := boxes(), b.corners(); n != 2 || box.Dx() < 400 {
		t.Errorf("after the button there are %d boxes, the last %v", n, box)
	}
	swipe(400, 600, 400, 100, "")
	b.wait(`scrollY > 40`)
	swipe(200, 100, 700, 400, `boxsum.stage.drag`)
	b.answered()
	if n, box := boxes(), b.corners(); n != 3 || box.Dx() < 400 || eval[float64](b, `scrollY`) != 0 {
		t.Errorf("after holding there are %d boxes, the last %v", n, box)
	}
	drawn := b.corners()
	swipe(float64(drawn.Max.X), float64(drawn.Max.Y), float64(drawn.Max.X)+200, float64(drawn.Max.Y)+300, "")
	b.answered()
	if box := b.corners(); boxes() != 3 || box.Dx() < drawn.Dx()+100 || eval[float64](b, `scrollY`) != 0 {
		t.Errorf("a finger at a handle makes %v of %v", box, drawn)
	}
	b.quiet()
}

// TestNumbers tests that numbers have commas between thousands and at most six digits unless they are integers.
func TestNumbers(t *testing.T) {
	t.Parallel()
	address, err := server()
	if err != nil {
		t.Fatal(err)
	}
	b := open(t, address, forms[0])
	for value, want := range map[string]string{
		`0`: "0", `-12`: "-12", `1234`: "1,234", `17884493`: "17,884,493", `'18446744073709551615'`: "18,446,744,073,709,551,615", `'-1000'`: "-1,000",
		`228.11853316`: "228.119", `27.6138602`: "27.6139", `1234567.89`: "1,234,570", `'12345.678'`: "12,345.7", `0.5`: "0.5", `0.000012345678`: "1.23457e-5", `1.5e15`: "1.5e15",
		`2.5e300`: "2.5e300", `null`: "–", `'1/2'`: "1/2",
	} {
		if got := eval[string](b, `import('./dom.js').then((m) => m.number(`+value+`))`); got != want {
			t.Errorf("%s is written %q, want %q", value, got, want)
		}
	}
	b.quiet()
}

// TestDetectTab opens the detection view from the navigation on a phone, where its table must fit.
func TestDetectTab(t *testing.T) {
	t.Parallel()
	address, err := server()
	if err != nil {
		t.Fatal(err)
	}
	b := open(t, address, forms[2])
	b.do(chromedp.Click(`nav a[href="#detect"]`))
	b.wait(`boxsum.view === 'detect' && document.querySelector('#found tbody tr')`)
	b.settled()
	if over := eval[float64](b, `(() => { const s = document.querySelector('#found .scroll'); return s.scrollWidth - s.clientWidth; })()`); over > 0 {
		t.Errorf("the table is too wide by %v pixels", over)
	}
	if got := eval[string](b, `document.getElementById('work-title').textContent + [...document.querySelectorAll('#operations button:not([hidden])')].map((b) => b.textContent)`); got != "DetectObjects,Template" {
		t.Errorf("the panel has %s", got)
	}
	b.quiet()
}

// TestBundledReport tests that the report that comes with the page is shown if none was opened.
func TestBundledReport(t *testing.T) {
	engines(t, func(t *testing.T, address string) {
		b := open(t, address+"#reports", forms[0])
		b.wait(`document.querySelectorAll('#report-content svg.chart').length > 3`)
		if text := eval[string](b, `document.getElementById('report-content').textContent`); !strings.Contains(text, "H200") {
			t.Error("the report does not name its machine")
		}
		b.quiet()
	})
}
