package browser

import (
	"bytes"
	"encoding/json"
	"fmt"
	"image"
	"math"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/chromedp/cdproto/input"
	"github.com/chromedp/chromedp"
	"github.com/chromedp/chromedp/kb"

	"github.com/boxsum/boxsum"
	"github.com/boxsum/boxsum/detect"
	"github.com/boxsum/boxsum/filter"
	"github.com/boxsum/boxsum/haar"
	"github.com/boxsum/boxsum/histogram"
	"github.com/boxsum/boxsum/imgio"
	"github.com/boxsum/boxsum/moments"
	"github.com/boxsum/boxsum/rotated"
	"github.com/boxsum/boxsum/threshold"
	"github.com/boxsum/boxsum/volume"
)

// screen returns the position of a pixel of the image on the page.
func (b *tab) screen(x, y float64) (float64, float64) {
	b.t.Helper()
	p := eval[[]float64](b, fmt.Sprintf(`(() => { const r = document.getElementById('image').getBoundingClientRect(), [x, y] = boxsum.stage.toScreen(%v, %v); return [r.left + x, r.top + y]; })()`, x, y))
	return p[0], p[1]
}

// drag moves the mouse from one position in the image to another, in steps.
func (b *tab) drag(x0, y0, x1, y1 float64) {
	b.t.Helper()
	b.do(chromedp.ScrollIntoView("#image"))
	sx, sy := b.screen(x0, y0)
	ex, ey := b.screen(x1, y1)
	actions := []chromedp.Action{input.DispatchMouseEvent(input.MousePressed, sx, sy).WithButton(input.Left).WithClickCount(1)}
	for i := 1; i <= 5; i++ {
		f := float64(i) / 5
		actions = append(actions, input.DispatchMouseEvent(input.MouseMoved, sx+(ex-sx)*f, sy+(ey-sy)*f).WithButton(input.Left).WithButtons(1))
	}
	actions = append(actions, input.DispatchMouseEvent(input.MouseReleased, ex, ey).WithButton(input.Left).WithClickCount(1))
	b.do(actions...)
	b.answered()
}

// answered waits for the current numbers of the selected box.
func (b *tab) answered() {
	b.t.Helper()
	b.wait(`(() => { const s = boxsum.boxes.selected; return boxsum.engine.pending === 0 && s && (s.answer || s.error) && s.histogram; })()`)
}

// text returns the text of an element.
func (b *tab) text(id string) string {
	b.t.Helper()
	return eval[string](b, `document.getElementById('`+id+`')?.textContent ?? ''`)
}

// near compares a number on the page with the expected one: its value almost exactly, and its text to six digits.
func (b *tab) near(id string, want float64) {
	b.t.Helper()
	var got, short float64
	value := eval[string](b, `document.getElementById('`+id+`')?.dataset.value ?? ''`)
	if _, err := fmt.Sscan(value, &got); err != nil || math.Abs(got-want) > 2e-8*math.Abs(want)+1e-12 {
		b.t.Errorf("%s is %q, and the library has %v", id, value, want)
	}
	text := strings.ReplaceAll(strings.TrimPrefix(strings.TrimSuffix(b.text(id), " px"), "≈ "), ",", "")
	if _, err := fmt.Sscan(text, &short); err != nil || math.Abs(short-want) > 6e-6*math.Abs(want)+1e-12 {
		b.t.Errorf("%s says %q, and the library has %v", id, b.text(id), want)
	}
}

// corners returns the selected box.
func (b *tab) corners() image.Rectangle {
	b.t.Helper()
	c := eval[[]int](b, `(() => { const s = boxsum.boxes.selected; return [s.x0, s.y0, s.x1, s.y1]; })()`)
	return image.Rect(c[0], c[1], c[2], c[3])
}

var demo = imgio.Demo(1920, 1080)

func (b *tab) checkBox(table *boxsum.SquaredTable[uint32, uint64]) {
	b.t.Helper()
	box := b.corners()
	b.near("stat-sum", float64(table.Sum.Sum(box)))
	b.near("stat-mean", table.Mean(box, 0))
	b.near("stat-standard", table.StdDev(box, 0))
	b.near("stat-area", float64(box.Dx()*box.Dy()))
	counts := make([]uint32, 256)
	for y := box.Min.Y; y < box.Max.Y; y++ {
		for _, p := range demo.Row(y)[box.Min.X:box.Max.X] {
			counts[p]++
		}
	}
	b.near("stat-median", float64(histogram.Median(counts)))
	if got := eval[[]uint32](b, `boxsum.boxes.selected.histogram.counts`); fmt.Sprint(got) != fmt.Sprint(counts) {
		b.t.Errorf("the histogram of %v is %v", box, got)
	}
	var sum float64
	for _, e := range eval[[]struct {
		At    []int
		Value string
		Sign  float64
	}](b, `boxsum.boxes.selected.answer.entries`) {
		var v float64
		fmt.Sscan(e.Value, &v)
		sum += e.Sign * v
		if v != float64(table.Sum.At(e.At[0], e.At[1], 0)) {
			b.t.Errorf("the entry at %v is %s", e.At, e.Value)
		}
	}
	if sum != float64(table.Sum.Sum(box)) {
		b.t.Errorf("the entries give %v", sum)
	}
}

// TestBoxes draws, moves, resizes, types in and rotates boxes.
func TestBoxes(t *testing.T) {
	table, err := boxsum.IntegrateSquares[uint32, uint64](demo, nil)
	if err != nil {
		t.Fatal(err)
	}
	engines(t, func(t *testing.T, address string) {
		b := open(t, address, forms[0])
		b.answered()
		b.checkBox(table)

		b.drag(200, 200, 640, 500)
		if n := eval[int](b, `boxsum.boxes.list.length`); n != 2 {
			t.Fatalf("after a drag there are %d boxes", n)
		}
		b.checkBox(table)
		drawn := b.corners()
		if math.Abs(float64(drawn.Dx()-440)) > 6 || math.Abs(float64(drawn.Dy()-300)) > 6 {
			t.Errorf("the box drawn is %v", drawn)
		}
		b.drag(420, 350, 520, 400) // drag it at its center
		b.checkBox(table)
		if got := b.corners(); got.Size() != drawn.Size() || got == drawn {
			t.Errorf("moved from %v to %v", drawn, got)
		}
		moved := b.corners()
		b.drag(float64(moved.Max.X), float64(moved.Max.Y), float64(moved.Max.X+100), float64(moved.Max.Y+60)) // drag a handle
		b.checkBox(table)
		if got := b.corners(); got.Min != moved.Min || got.Dx() <= moved.Dx()+90 {
			t.Errorf("resized from %v to %v", moved, got)
		}
		before := b.corners()
		b.do(chromedp.Focus("#image"), chromedp.KeyEvent(kb.ArrowRight), chromedp.KeyEvent(kb.ArrowDown), chromedp.KeyEvent(kb.ArrowDown))
		b.answered()
		if got := b.corners(); got != before.Add(image.Pt(1, 2)) {
			t.Errorf("arrow keys moved %v to %v", before, got)
		}
		b.do(chromedp.KeyEvent(kb.ArrowRight, chromedp.KeyModifiers(input.ModifierAlt)))
		b.answered()
		if got := b.corners(); got.Dx() != before.Dx()+1 {
			t.Errorf("Alt and an arrow resized %v to %v", before, got)
		}
		b.checkBox(table)
		b.do(chromedp.Evaluate(`for (const [k, v] of [['x0', 11], ['y0', 22], ['x1', 333], ['y1', 444]]) { const i = document.querySelector('input[name=' + k + ']'); i.value = v; i.dispatchEvent(new Event('change')); }`, nil))
		b.answered()
		if got := b.corners(); got != image.Rect(11, 22, 333, 444) {
			t.Errorf("typed numbers give %v", got)
		}
		b.checkBox(table)

		lines := strings.Split(strings.TrimSpace(eval[string](b, `boxsum.boxes.csv()`)), "\n")
		if want := fmt.Sprintf("Box 2,11,22,333,444,0,%d,", table.Sum.Sum(image.Rect(11, 22, 333, 444))); len(lines) != 3 || !strings.HasPrefix(lines[2], want) {
			t.Errorf("as CSV: %q, want %s", lines, want)
		}
		var export []struct {
			Box []int
			Sum float64
		}
		json.Unmarshal([]byte(eval[string](b, `JSON.stringify(boxsum.boxes.export())`)), &export)
		if len(export) != 2 || export[1].Sum != float64(table.Sum.Sum(image.Rect(11, 22, 333, 444))) {
			t.Errorf("as JSON: %v", export)
		}

		b.feature(t)
		b.turn(t)
		if code := b.code("boxes-code"); !strings.Contains(code, "rotated.IntegrateSquares") {
			t.Errorf("the code of a turned box is %s", code)
		}
		b.do(chromedp.Focus("#image"), chromedp.KeyEvent(kb.Delete))
		b.wait(`boxsum.boxes.list.length === 1`)
		b.do(chromedp.KeyEvent("n"))
		b.wait(`boxsum.boxes.list.length === 2`)
		b.quiet()
	})
}

func (b *tab) feature(t *testing.T) {
	b.do(chromedp.Evaluate(`document.getElementById('moments-part').open = true; document.querySelector('#palette button[aria-label=LineX]').click()`, nil))
	b.wait(`boxsum.boxes.selected.feature?.value && boxsum.boxes.selected.moments && document.getElementById('feature-value') && document.getElementById('moment-hu-1')`)
	table, _ := boxsum.Integrate[uint32](demo, nil)
	plane, _ := haar.Upright[int64](table, 0)
	box := b.corners()
	f, err := haar.New(haar.LineX, image.Rect(0, 0, box.Dx()/3*3, box.Dy()))
	if err != nil {
		t.Fatal(err)
	}
	v, _ := plane.Value(f, box.Min)
	c, _ := plane.Corrected(f, box.Min)
	b.near("feature-value", float64(v))
	b.near("feature-corrected", c)
	part := demo
	part.Pix, part.Width, part.Height = demo.Pix[box.Min.Y*demo.Stride+box.Min.X:], box.Dx(), box.Dy()
	m, err := moments.Integrate(part, nil)
	if err != nil {
		t.Fatal(err)
	}
	of := m.Moments(image.Rect(0, 0, box.Dx(), box.Dy()), 0)
	b.near("moment-mass-m00", of.M00)
	for i, h := range of.Hu() {
		b.near(fmt.Sprintf("moment-hu-%d", i+1), h)
	}
	b.do(chromedp.Evaluate(`document.querySelector('#palette button').click()`, nil))
}

// turn drags the handle above the box to rotate it to the right by about 26°, which snaps to -1/2.
func (b *tab) turn(t *testing.T) {
	b.do(chromedp.Evaluate(`Object.assign(boxsum.boxes.selected, {x0: 600, y0: 400, x1: 900, y1: 600}); boxsum.boxes.changed(boxsum.boxes.selected)`, nil))
	b.answered()
	h := eval[[]float64](b, `boxsum.boxes.handles(boxsum.boxes.selected).turn`)
	cx, cy := 750.0, 500.0
	r := math.Hypot(h[0]-cx, h[1]-cy)
	a := 26.0 * math.Pi / 180
	b.drag(h[0], h[1], cx+r*math.Sin(a), cy-r*math.Cos(a))
	b.wait(`boxsum.engine.pending === 0 && boxsum.boxes.selected.answer?.ratio && boxsum.boxes.selected.angle === boxsum.boxes.selected.answer.degrees`)
	rot, err := rotated.Parse(eval[string](b, `boxsum.boxes.selected.answer.ratio`))
	if err != nil {
		t.Fatal(err)
	}
	if math.Abs(rot.Degrees()+26) > 4 {
		t.Errorf("it snapped to %v, %v°", rot, rot.Degrees())
	}
	table, err := rotated.IntegrateSquares[uint32, uint64](demo, rot, nil)
	if err != nil {
		t.Fatal(err)
	}
	c := eval[[]int](b, `boxsum.boxes.selected.answer.cells`)
	box := rotated.Box{C0: c[0], R0: c[1], C1: c[2], R1: c[3]}
	b.near("stat-sum", float64(table.Sum.Sum(box)))
	b.near("stat-area", float64(table.Sum.Area(box)))
	b.near("stat-standard", table.StdDev(box, 0))
	// The heat map is now that of the rotated table, and so are the entries.
	if got := eval[string](b, `boxsum.stage.ratio`); got != rot.String() {
		t.Errorf("the table is drawn along %q, want %v", got, rot)
	}
	if got := b.text("heat-caption"); !strings.Contains(got, rot.String()) {
		t.Errorf("the caption of the table is %q", got)
	}
	var sum, area float64
	for _, s := range eval[[][3]int](b, `boxsum.boxes.selected.answer.spans`) {
		for x := s[1]; x < s[2]; x++ {
			sum += float64(demo.Pix[s[0]*demo.Stride+x])
			area++
		}
	}
	b.near("stat-sum", sum)
	b.near("stat-area", area)
	b.shot("turned-" + strings.ReplaceAll(t.Name(), "/", "-"))
}

// code returns the Go code in a panel.
func (b *tab) code(id string) string {
	b.t.Helper()
	b.do(chromedp.Evaluate(`document.querySelector('#`+id+`').closest('details').open = true`, nil))
	b.wait(`document.querySelector('#` + id + ` pre').textContent.length > 40`)
	return eval[string](b, `document.querySelector('#`+id+` pre').textContent`)
}

// set moves a slider or selects an option.
func (b *tab) set(name string, value any) {
	b.t.Helper()
	text, _ := json.Marshal(value)
	b.do(chromedp.Evaluate(fmt.Sprintf(`(() => { const i = document.querySelector('#settings [name=%s]'); i.value = %s; i.dispatchEvent(new Event(i.tagName === 'SELECT' ? 'change' : 'input')); })()`, name, text), nil))
}

// same compares the whole picture computed by the engine with the library's.
func (b *tab) same(t *testing.T, what string, want boxsum.Image[uint8]) {
	t.Helper()
	got := eval[string](b, `(async () => { const r = await boxsum.engine.ask(boxsum.work.request()); const d = await crypto.subtle.digest('SHA-256', r.bytes); return [...new Uint8Array(d)].map((x) => x.toString(16).padStart(2, '0')).join(''); })()`)
	if got != digest(rgba(want)) {
		t.Errorf("%s gives other pixels than the library", what)
	}
}

// shows compares the picture on the screen with the library's: each of its pixels is one of the whole image.
func (b *tab) shows(t *testing.T, what string, want boxsum.Image[uint8]) {
	t.Helper()
	b.settled()
	got := eval[struct {
		View                []int
		Width, Height, Wide int
		Scale               float64
		Pix                 []uint8
	}](b, `(async () => { const q = boxsum.work.onScreen(boxsum.work.request()), r = await boxsum.engine.ask(q);
		return {view: q.view, width: r.width, height: r.height, wide: boxsum.stage.result.bitmap.width, scale: r.scale, pix: [...r.bytes.slice(0, 40000)]}; })()`)
	whole, v := rgba(want), image.Rect(got.View[0], got.View[1], got.View[2], got.View[3])
	n := len(whole) / (want.Width * want.Height)
	if got.Width != got.Wide || got.Width >= want.Width {
		t.Errorf("%s shows %d pixels across, the engine %d", what, got.Wide, got.Width)
	}
	for i, p := range got.Pix {
		x, y := i/n%got.Width, i/n/got.Width
		u, w := v.Min.X+(2*x+1)*v.Dx()/(2*got.Width), v.Min.Y+(2*y+1)*v.Dy()/(2*got.Height)
		if q := whole[(w*want.Width+u)*n+i%n]; p != q {
			t.Fatalf("%s at %d, %d: the screen shows %d, want %d", what, u, w, p, q)
		}
	}
}

// rgba returns the bytes of an image in the format of a canvas. Those of a gray image are unchanged.
func rgba(img boxsum.Image[uint8]) []uint8 {
	if img.Channels == 1 {
		return img.Pix
	}
	pix := make([]uint8, 0, 4*img.Width*img.Height)
	for y := range img.Height {
		for row := img.Row(y); len(row) > 0; row = row[3:] {
			pix = append(pix, row[0], row[1], row[2], 255)
		}
	}
	return pix
}

var demoColor = imgio.DemoColor(1920, 1080)

// TestWork moves the sliders of filters, thresholds, template matching and detection.
func TestWork(t *testing.T) {
	engines(t, func(t *testing.T, address string) {
		b := open(t, address, forms[0])
		b.view("work")
		b.set("radius", 7)
		b.wait(`document.body.dataset.work?.includes('"radius":7')`)
		box, _ := filter.Box(demoColor, filter.Radius(7), nil)
		b.same(t, "box blur", box)
		b.shows(t, "box blur", box)
		b.set("filter", "median")
		b.wait(`document.body.dataset.work?.includes('median')`)
		median, _ := filter.Median(demoColor, filter.Radius(7), nil)
		b.same(t, "median", median)
		if code := b.code("work-code"); !strings.Contains(code, "filter.Median") {
			t.Errorf("code: %s", code)
		}
		b.do(chromedp.Evaluate(`document.getElementById('wipe').value = 20; document.getElementById('wipe').dispatchEvent(new Event('input'))`, nil))
		b.wait(`boxsum.stage.result.part === 0.2`)
		b.set("filter", "box")
		b.wait(`document.body.dataset.work?.includes('"box"')`)
		// The chart covers the range of the slider from its start.
		b.do(chromedp.Evaluate(`document.getElementById('timing').open = true`, nil))
		if got := eval[[]float64](b, `[...document.querySelectorAll('#times svg text[text-anchor]')].map((t) => Number(t.textContent)).filter((v) => v === 0 || v >= 100)`); len(got) < 3 {
			t.Errorf("the axes of the chart start with %v", got)
		}
		b.do(chromedp.Click("#sweep"))
		b.wait(`!document.getElementById('sweep').disabled && boxsum.work.times.size >= 8`)
		b.shot("sweep-" + strings.ReplaceAll(t.Name(), "/", "-"))

		b.do(chromedp.Click("[data-work=threshold]"))
		b.set("window", 51)
		b.set("k", 0.3)
		b.wait(`document.body.dataset.work?.includes('"k":0.3')`)
		rule := threshold.New(threshold.Sauvola, 51)
		rule.K = 0.3
		black, _ := threshold.Binarize(demo, rule, nil)
		b.same(t, "Sauvola", black)
		b.shows(t, "Sauvola", black)
		b.settled()
		b.shot("threshold-" + strings.ReplaceAll(t.Name(), "/", "-"))

		b.view("detect")
		b.do(chromedp.Click("[data-work=match]"))
		b.wait(`boxsum.work.found?.length`)
		if got := eval[[]float64](b, `[boxsum.work.found[0].x, boxsum.work.found[0].y, boxsum.work.found[0].score]`); got[0] != 1050 || got[1] != 290 || got[2] < 0.9999 {
			t.Errorf("the template is found at %v", got)
		}
		b.settled()
		b.shot("match-" + strings.ReplaceAll(t.Name(), "/", "-"))

		b.do(chromedp.Click("[data-work=detect]"))
		b.wait(`document.querySelector('#settings [name=least]')`)
		b.set("least", 100)
		b.wait(`boxsum.work.found && document.body.dataset.work?.includes('"least":100')`)
		data, err := os.ReadFile("../../explore/sun.xml")
		if err != nil {
			t.Fatal(err)
		}
		cascade, err := detect.Load(bytes.NewReader(data))
		if err != nil {
			t.Fatal(err)
		}
		found, err := cascade.Detect(demo, &detect.Options{Scale: 1.1, Neighbors: 3, Min: image.Pt(100, 100)})
		if err != nil || len(found) == 0 {
			t.Fatal(found, err)
		}
		b.settled()
		b.shot("detect-" + strings.ReplaceAll(t.Name(), "/", "-"))
		if got := eval[[]int](b, `[boxsum.work.found.length, boxsum.work.found[0].x, boxsum.work.found[0].y, boxsum.work.found[0].width]`); fmt.Sprint(got) != fmt.Sprint([]int{len(found), found[0].Rect.Min.X, found[0].Rect.Min.Y, found[0].Rect.Dx()}) {
			t.Errorf("found %v, and the library %v", got, found)
		}
		b.quiet()
	})
}

// TestFiles adds files to the page: a color picture, a volume, an array with NaN, a report, and damaged files.
func TestFiles(t *testing.T) {
	dir := t.TempDir()
	v, _ := volume.New[uint16](40, 30, 20, 1)
	for i := range v.Pix {
		v.Pix[i] = uint16(i * 7919 % 4099)
	}
	write(t, filepath.Join(dir, "scan.npy"), []int{20, 30, 40}, v.Pix, 40)
	values := make([]float32, 50*60)
	for i := range values {
		values[i] = float32(i%61) / 7
	}
	values[5*60+5] = float32(math.NaN())
	write(t, filepath.Join(dir, "depth.npy"), []int{50, 60}, values, 60)
	os.WriteFile(filepath.Join(dir, "bad.png"), []byte("\x89PNG\r\n\x1a\nxxxx"), 0o644)
	table, err := volume.IntegrateSquares[uint64, uint64](v, nil)
	if err != nil {
		t.Fatal(err)
	}
	valid, err := boxsum.IntegrateValid[float64, float64](boxsum.Image[float32]{Pix: values, Stride: 60, Width: 60, Height: 50, Channels: 1}, boxsum.Valid{SkipNaN: true}, nil)
	if err != nil {
		t.Fatal(err)
	}
	engines(t, func(t *testing.T, address string) {
		b := open(t, address, forms[0])
		add := func(name string) {
			b.do(chromedp.SetUploadFiles("#file", []string{name}, chromedp.ByQuery))
			b.wait(`document.body.dataset.open === '` + filepath.Base(name) + `'`)
			b.settled()
			b.answered()
		}
		add(photo(t, 500, 300))
		if !eval[bool](b, `boxsum.stage.doc.color`) {
			t.Error("the picture is not in color")
		}
		b.shot("photo-" + strings.ReplaceAll(t.Name(), "/", "-"))
		add(filepath.Join(dir, "scan.npy"))
		if got := eval[int](b, `boxsum.boxes.selected.answer.entries.length`); got != 8 {
			t.Errorf("a box of a volume has %d entries", got)
		}
		c := eval[[]int](b, `boxsum.boxes.corners(boxsum.boxes.selected)`)
		box := volume.NewBox(c[0], c[1], c[2], c[3], c[4], c[5])
		b.near("stat-sum", float64(table.Sum.Sum(box)))
		b.near("stat-standard", table.StdDev(box, 0))
		b.do(chromedp.Evaluate(`document.getElementById('slice').value = 3; document.getElementById('slice').dispatchEvent(new Event('input'))`, nil))
		b.wait(`boxsum.stage.z === 3`)
		b.settled()
		b.shot("volume-" + strings.ReplaceAll(t.Name(), "/", "-"))
		add(filepath.Join(dir, "depth.npy"))
		b.do(chromedp.Evaluate(`Object.assign(boxsum.boxes.selected, {x0: 0, y0: 0, x1: 30, y1: 20}); boxsum.boxes.changed(boxsum.boxes.selected)`, nil))
		b.answered()
		b.near("stat-sum", valid.Sum.Sum(image.Rect(0, 0, 30, 20)))
		b.near("stat-area", 599)
		b.near("stat-mean", valid.Mean(image.Rect(0, 0, 30, 20), 0))
		// Drop files, and paste them.
		for _, event := range []string{`new DragEvent('drop', {dataTransfer: data, bubbles: true, cancelable: true})`, `new ClipboardEvent('paste', {clipboardData: data, bubbles: true})`} {
			b.do(chromedp.Evaluate(`(async () => {
				document.body.dataset.open = ''; // before anything is awaited: both files have the same name
				const c = new OffscreenCanvas(30, 20); c.getContext('2d').fillStyle = '#808080'; c.getContext('2d').fillRect(0, 0, 30, 20);
				const data = new DataTransfer(); data.items.add(new File([await c.convertToBlob()], 'flat.png', {type: 'image/png'}));
				document.body.dispatchEvent(`+event+`); })()`, nil))
			b.wait(`document.body.dataset.open === 'flat.png'`)
			b.answered()
			b.near("stat-mean", 128)
		}
		b.do(chromedp.SetUploadFiles("#file", []string{filepath.Join(dir, "bad.png")}, chromedp.ByQuery))
		b.wait(`document.getElementById('message').textContent.includes('png')`)
		report, err := filepath.Abs("../../../docs/reports/h200/results.json")
		if err != nil {
			t.Fatal(err)
		}
		b.do(chromedp.SetUploadFiles("#file", []string{report}, chromedp.ByQuery))
		b.wait(`boxsum.view === 'reports' && document.querySelectorAll('#report-content svg.chart').length > 1`)
		if n := eval[int](b, `document.querySelectorAll('#report-content details tbody tr').length`); n < 50 {
			t.Errorf("the tables of the report have %d rows", n)
		}
		b.do(chromedp.Focus(`#report-content svg.chart`), chromedp.KeyEvent(kb.ArrowRight))
		if got := eval[string](b, `document.querySelector('#report-content .tip').textContent`); !strings.Contains(got, "ms") {
			t.Errorf("a point of the chart says %q", got)
		}
		b.accessible("report")
		b.shot("report-" + strings.ReplaceAll(t.Name(), "/", "-"))
		b.quiet()
	})
}

// write writes a .npy file.
func write[T imgio.Element](t *testing.T, name string, shape []int, data []T, row int) {
	t.Helper()
	f, err := os.Create(name)
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	if err := imgio.WriteNPY(f, shape, func(yield func([]T) bool) {
		for ; len(data) > 0; data = data[row:] {
			if !yield(data[:row]) {
				return
			}
		}
	}); err != nil {
		t.Fatal(err)
	}
}
