package browser

import (
	"context"
	"encoding/json"
	"fmt"
	"image"
	"os"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"
	"testing"

	cdpbrowser "github.com/chromedp/cdproto/browser"
	"github.com/chromedp/cdproto/cdp"
	"github.com/chromedp/cdproto/input"
	"github.com/chromedp/chromedp"
	"github.com/chromedp/chromedp/kb"

	"github.com/boxsum/boxsum"
	"github.com/boxsum/boxsum/imgio"
	"github.com/boxsum/boxsum/zarr"
)

// reach presses Tab until an element has the focus, which must then be visible.
func (b *tab) reach(selector string) {
	b.t.Helper()
	for range 80 {
		b.do(chromedp.KeyEvent(kb.Tab))
		if eval[bool](b, `document.activeElement.matches('`+selector+`')`) {
			if !eval[bool](b, `(() => { const s = getComputedStyle(document.activeElement); return document.activeElement.matches(':focus-visible') && s.outlineStyle !== 'none' && parseFloat(s.outlineWidth) >= 2; })()`) {
				b.t.Errorf("%s has the focus, and it is not seen", selector)
			}
			return
		}
	}
	b.t.Fatalf("Tab never comes to %s", selector)
}

// keys presses keys in turn.
func (b *tab) keys(all ...string) {
	b.t.Helper()
	for _, k := range all {
		b.do(chromedp.KeyEvent(k))
	}
	b.settled()
}

// TestKeyboard uses only the keyboard: boxes, numbers, features, the list, saving results, filters, and the explanations.
func TestKeyboard(t *testing.T) {
	table, err := boxsum.IntegrateSquares[uint32, uint64](demo, nil)
	if err != nil {
		t.Fatal(err)
	}
	engines(t, func(t *testing.T, address string) {
		b, dir := open(t, address, forms[0]), t.TempDir()
		saves := strings.HasSuffix(t.Name(), "server") // the download folder is the same for all windows
		if saves {
			if err := cdpbrowser.SetDownloadBehavior(cdpbrowser.SetDownloadBehaviorBehaviorAllow).WithDownloadPath(dir).Do(cdp.WithExecutor(b.ctx, chromedp.FromContext(b.ctx).Browser)); err != nil {
				t.Fatal(err)
			}
		}
		b.answered()
		b.reach("#image")
		b.keys(kb.ArrowRight, kb.ArrowDown)
		if got := b.corners(); got != image.Rect(1051, 291, 1331, 571) {
			t.Errorf("arrows move the box to %v", got)
		}
		b.do(chromedp.KeyEvent(kb.ArrowLeft, chromedp.KeyModifiers(input.ModifierShift)), chromedp.KeyEvent(kb.ArrowUp, chromedp.KeyModifiers(input.ModifierAlt)))
		b.answered()
		if got := b.corners(); got != image.Rect(1041, 291, 1321, 570) {
			t.Errorf("Shift and Alt give %v", got)
		}
		before := eval[float64](b, `boxsum.stage.scale`)
		b.keys("+")
		if got := eval[float64](b, `boxsum.stage.scale`); got <= before {
			t.Errorf("+ gives a scale of %v", got)
		}
		b.keys("0", "n")
		if n := eval[int](b, `boxsum.boxes.list.length`); n != 2 {
			t.Errorf("N: %d boxes", n)
		}
		b.keys("[", "[")
		if a := eval[float64](b, `boxsum.boxes.selected.angle`); a <= 0 {
			t.Errorf("[ turns the box to %v°", a)
		}
		b.keys("]", "]")
		b.reach("#numbers input[name=x0]")
		for _, n := range []string{"100", "200", "400", "500"} {
			b.do(chromedp.KeyEvent("a", chromedp.KeyModifiers(input.ModifierCtrl)), chromedp.KeyEvent(n), chromedp.KeyEvent(kb.Tab))
		}
		b.answered()
		if got := b.corners(); got != image.Rect(100, 200, 400, 500) {
			t.Errorf("typed: %v", got)
		}
		b.checkBox(table)
		b.reach("summary") // that of the table's entries
		b.reach("summary")
		b.keys(kb.Enter)
		b.reach("#palette button[aria-label=EdgeX]")
		b.keys(" ")
		b.wait(`document.getElementById('feature-value')`)
		b.reach("#list input[type=radio]") // the selected one
		b.keys(kb.ArrowUp)
		if got := eval[string](b, `boxsum.boxes.selected.name`); got != "Box 1" {
			t.Errorf("the list chooses %s", got)
		}
		b.reach("#csv")
		b.keys(kb.Enter)
		b.reach("#json")
		b.keys(" ")
		if saves {
			b.saved(dir, table)
		}

		b.reach(`nav a[href="#detect"]`)
		b.keys(kb.Enter)
		b.wait(`boxsum.view === 'detect' && boxsum.work.found?.length`)
		b.reach(`nav a[href="#work"]`)
		b.keys(kb.Enter)
		b.wait(`boxsum.view === 'work' && boxsum.stage.result`)
		b.reach("#settings select")
		b.keys(kb.ArrowDown, kb.ArrowDown)
		b.wait(`document.body.dataset.work.includes('"median"')`)
		b.reach("#settings input[name=radius]")
		b.keys(kb.ArrowRight, kb.ArrowRight)
		b.wait(`document.body.dataset.work.includes('"radius":14')`)
		b.reach("#wipe")
		b.keys(kb.ArrowLeft)
		if part := eval[float64](b, `boxsum.stage.result.part`); part != 0.49 {
			t.Errorf("before and after: %v", part)
		}
		b.reach(`nav a[href="#how"]`)
		b.keys(kb.Enter)
		b.wait(`boxsum.view === 'how'`)
		b.reach("#how-content .player button:nth-child(3)")
		for range 4 {
			b.keys(" ")
		}
		text := eval[string](b, `document.querySelector('#how-content .caption').textContent`)
		if m := regexp.MustCompile(`(\d+) \+ (\d+) = (\d+), the sum of the box`).FindStringSubmatch(text); m == nil || number(m[1])+number(m[2]) != number(m[3]) || number(m[3]) != eval[int](b, fmt.Sprint(sumOfBox)) {
			t.Errorf("four corners: %s", text)
		}
		b.quiet()
	})
}

// saved compares the two files of the list with the table.
func (b *tab) saved(dir string, table *boxsum.SquaredTable[uint32, uint64]) {
	b.t.Helper()
	csv := strings.Split(strings.TrimSpace(string(arrived(b.t, dir, "boxes.csv"))), "\n")
	if want := fmt.Sprintf("Box 2,100,200,400,500,0,%d,", table.Sum.Sum(image.Rect(100, 200, 400, 500))); len(csv) != 3 || !strings.HasPrefix(csv[2], want) {
		b.t.Errorf("boxes.csv is %q, want %s", csv, want)
	}
	var list []struct {
		Box []int
		Sum float64
	}
	if err := json.Unmarshal(arrived(b.t, dir, "boxes.json"), &list); err != nil || len(list) != 2 || list[0].Sum != float64(table.Sum.Sum(image.Rect(1041, 291, 1321, 570))) {
		b.t.Errorf("boxes.json is %v, %v", list, err)
	}
}

func number(s string) int { n, _ := strconv.Atoi(s); return n }

// sumOfBox sums the pixels in the example of the four corners: those in the box of its grid.
const sumOfBox = `(() => { let s = 0; for (let y = 2; y < 6; y++) for (let x = 3; x < 8; x++) s += ((x * 7 + y * 5 + ((x * y) % 4) * 3) % 9) + 1; return s; })()`

// arrived returns a file that the browser has saved.
func arrived(t *testing.T, dir, name string) []byte {
	t.Helper()
	var data []byte
	var err error
	until(t, func() bool {
		data, err = os.ReadFile(filepath.Join(dir, name))
		return err == nil && len(data) > 0
	}, "no "+name+" was saved")
	return data
}

// TestHow steps through every animation.
func TestHow(t *testing.T) {
	t.Parallel()
	address, err := server()
	if err != nil {
		t.Fatal(err)
	}
	b := open(t, address, forms[0])
	b.view("how")
	for i, want := range []string{"with four reads", "All 24 tiles are made in", "All know their prefix"} {
		last := eval[string](b, fmt.Sprintf(`(() => { const card = document.querySelectorAll('#how-content .card')[%d], [play, back, step] = card.querySelectorAll('button'), seen = new Set();
			for (let k = 0; k < 60; k++) { const text = card.querySelector('.caption').textContent; if (seen.has(text)) return text; seen.add(text); step.click(); } return ''; })()`, i))
		if !strings.Contains(last, want) {
			t.Errorf("player %d ends with %q", i, last)
		}
	}
	b.shot("how-end")
	// Step forward, then some steps back.
	b.do(chromedp.Evaluate(`document.querySelectorAll('#how-content .card').forEach((c, k) => { const r = c.querySelector('input'); r.value = [3, 5, 8][k]; r.dispatchEvent(new Event('input')); })`, nil))
	if got := eval[string](b, `document.querySelectorAll('#how-content .caption')[1].textContent`); !arithmetic(got) {
		t.Errorf("the step says %q", got)
	}
	b.shot("how-middle")
	b.do(chromedp.Evaluate(`document.querySelector('#how-content .player button').click()`, nil))
	b.wait(`document.querySelector('#how-content .caption').textContent.includes('four reads')`)
	b.quiet()
}

// arithmetic reports whether the sum in a text is correct.
func arithmetic(text string) bool {
	m := regexp.MustCompile(`(\d+) \(above\) \+ (\d+) \(its row so far\) \+ (\d+) \(the pixel\) = (\d+)`).FindStringSubmatch(text)
	return m != nil && number(m[1])+number(m[2])+number(m[3]) == number(m[4])
}

// TestDrop drops files and folders like a file manager.
func TestDrop(t *testing.T) {
	dir := t.TempDir()
	ctx := context.Background()
	at := filepath.Join(dir, "some.zarr")
	bucket, err := zarr.OpenBucket(ctx, at, true)
	if err != nil {
		t.Fatal(err)
	}
	a, err := zarr.Create(ctx, bucket, "", &zarr.Spec{Type: zarr.Uint16, Shape: []int{50, 70}, Chunk: []int{32, 32}, Fill: 7, Compression: "zstd"})
	if err != nil {
		t.Fatal(err)
	}
	if err := zarr.Write(ctx, a, []uint16{1000, 2000}, []int{20, 30}, []int{1, 2}); err != nil {
		t.Fatal(err)
	}
	bucket.Close()
	slices := filepath.Join(dir, "slices")
	os.Mkdir(slices, 0o755)
	for z := range 3 {
		img, _ := boxsum.NewImage[uint8](20, 10, 1)
		for i := range img.Pix {
			img.Pix[i] = uint8(z + 1)
		}
		if err := imgio.Save(filepath.Join(slices, fmt.Sprintf("s%d.png", z)), img); err != nil {
			t.Fatal(err)
		}
	}
	picture := photo(t, 60, 40)
	engines(t, func(t *testing.T, address string) {
		b := open(t, address, forms[0])
		for _, name := range []string{picture, at, slices} {
			data := &input.DragData{Items: []*input.DragDataItem{}, Files: []string{name}, DragOperationsMask: 1}
			for _, kind := range []input.DispatchDragEventType{input.DragEnter, input.DragOver, input.Drop} {
				b.do(input.DispatchDragEvent(kind, 400, 300, data))
				if kind == input.DragOver && eval[bool](b, `document.getElementById('drop').hidden`) {
					t.Error("nothing says that files can be dropped")
				}
			}
			b.wait(`document.body.dataset.open === '` + filepath.Base(name) + `'`)
			b.answered()
			b.do(chromedp.Evaluate(`(() => { const s = boxsum.boxes.selected, d = boxsum.stage.doc; Object.assign(s, {x0: 0, y0: 0, x1: d.width, y1: d.height, z0: 0, z1: d.depth}); boxsum.boxes.changed(s); })()`, nil))
			b.answered()
			switch name {
			case at:
				b.near("stat-sum", 7*(50*70-2)+3000)
			case slices:
				b.near("stat-sum", (1+2+3)*200)
			}
		}
		b.quiet()
	})
}

// TestHover moves the mouse over a chart of a report, which must show the values of the table.
func TestHover(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	if err := os.WriteFile(filepath.Join(dir, "results.json"), []byte(`{"title":"Some times","results":[
		{"algorithm":"one","width":100,"height":100,"median_ms":1.25,"verified":true},{"algorithm":"one","width":1000,"height":1000,"median_ms":20.5,"verified":true},
		{"algorithm":"two","width":100,"height":100,"median_ms":3.125,"verified":true},{"algorithm":"two","width":1000,"height":1000,"median_ms":400.75,"verified":true}]}`), 0o644); err != nil {
		t.Fatal(err)
	}
	b := open(t, serve(t, dir), forms[0])
	b.wait(`boxsum.view === 'reports' && document.querySelectorAll('#report-content svg.chart .dot').length === 4`)
	rows := eval[[][]string](b, `[...document.querySelectorAll('#report-content tbody tr')].map((r) => [...r.cells].map((c) => c.textContent))`)
	for i, row := range rows {
		p := eval[[]float64](b, fmt.Sprintf(`(() => { const r = document.querySelectorAll('#report-content svg.chart .dot')[%d].getBoundingClientRect(); return [r.left + r.width / 2, r.top + r.height / 2]; })()`, i))
		b.do(input.DispatchMouseEvent(input.MouseMoved, p[0], p[1]))
		if tip := eval[string](b, `document.querySelector('#report-content .tip').textContent`); !strings.Contains(tip, row[0]) || !strings.Contains(tip, row[1]) || !strings.Contains(tip, row[2]) {
			t.Errorf("the point of %q says %q", row, tip)
		}
	}
	if len(rows) != 4 {
		t.Errorf("the table is %q", rows)
	}
	b.shot("hover")
	b.quiet()
}
