package browser

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/chromedp/cdproto/emulation"
	"github.com/chromedp/cdproto/input"
	"github.com/chromedp/chromedp"
	"github.com/chromedp/chromedp/kb"
)

// engines runs a test with the server and with WebAssembly, in parallel with others.
func engines(t *testing.T, run func(t *testing.T, address string)) {
	each(t, func(t *testing.T, address string) {
		t.Parallel()
		run(t, address)
	})
}

func each(t *testing.T, run func(t *testing.T, address string)) {
	for name, open := range map[string]func() (string, error){"server": server, "wasm": site} {
		t.Run(name, func(t *testing.T) {
			address, err := open()
			if err != nil {
				t.Fatal(err)
			}
			run(t, address)
		})
	}
}

// view opens a view of the page and waits until it is drawn.
func (b *tab) view(name string) {
	b.t.Helper()
	b.do(chromedp.Evaluate(`location.hash = '#`+name+`'`, nil))
	b.wait(`boxsum.view === '` + name + `'`)
	switch name {
	case "work":
		b.wait(`boxsum.stage.result`)
	case "detect":
		b.wait(`boxsum.work.found`)
	case "reports":
		b.wait(`document.querySelector('#report-content .card')`)
	}
	b.settled()
}

// accessible fails the test for problems that axe-core finds.
func (b *tab) accessible(name string) {
	b.t.Helper()
	data, err := os.ReadFile("../../../.axe/axe.min.js")
	if err != nil {
		if os.Getenv("CI") == "true" {
			b.t.Fatal(err)
		}
		b.t.Log("axe-core is not here: scripts/setup.sh fetches it")
		return
	}
	if !eval[bool](b, `!!window.axe`) {
		b.do(chromedp.Evaluate(string(data)+";0", nil))
	}
	for _, v := range eval[[]string](b, `axe.run().then((r) => r.violations.map((v) => v.id + ': ' + v.help + ': ' + v.nodes.map((n) => n.html + ' ' + (n.any[0]?.message || '')).join(' | ')))`) {
		b.t.Errorf("%s: %.600s", name, v)
	}
}

// TestViews opens every view on every screen size, with all sections unfolded.
func TestViews(t *testing.T) {
	engines(t, func(t *testing.T, address string) {
		for _, f := range forms {
			t.Run(f.name, func(t *testing.T) {
				t.Parallel()
				b := open(t, address, f)
				for _, name := range []string{"boxes", "work", "detect", "how", "reports"} {
					b.view(name)
					b.shot(f.name + "-" + name)
					b.do(chromedp.Evaluate(`document.querySelectorAll('details').forEach((d) => { d.open = true; }); boxsum.boxes.choose(boxsum.hello.kinds[2]); 0`, nil))
					b.settled()
					if wide := eval[float64](b, `document.documentElement.scrollWidth - innerWidth`); wide > 0 {
						t.Errorf("%s is wider than the screen by %v pixels", name, wide)
					}
					b.accessible(f.name + " " + name)
					if name == "boxes" {
						b.wait(`document.getElementById('moment-hu-1') && boxsum.boxes.selected.feature`)
						b.shot(f.name + "-" + name + "-open")
					}
				}
				if f.dark {
					b.do(chromedp.Evaluate(`document.getElementById('theme').click()`, nil))
					if got := eval[string](b, `document.documentElement.dataset.theme`); got != "light" {
						t.Errorf("the button for dark and light gives %s", got)
					}
				}
				if f.phone {
					b.view("boxes")
					b.do(chromedp.Click("#drag-box"))
					b.touch(300, 700, 900, 900)
					if box := b.corners(); box.Dx() < 550 || box.Dy() < 180 {
						t.Errorf("a finger draws %v", box)
					}
				}
				b.quiet()
				for _, r := range b.requests() {
					if !strings.HasPrefix(r, address) && !strings.HasPrefix(r, "blob:") && !strings.HasPrefix(r, "data:") {
						t.Errorf("the page asks for %s", r)
					}
				}
			})
		}
	})
}

// TestReadme takes the two screenshots in the README if BOXSUM_SHOTS names docs/images. They show times: the machine should be idle.
func TestReadme(t *testing.T) {
	folder := os.Getenv("BOXSUM_SHOTS")
	if filepath.Base(folder) != "images" {
		t.Skip("set BOXSUM_SHOTS=../../../docs/images to take the pictures again")
	}
	address, err := server()
	if err != nil {
		t.Fatal(err)
	}
	keep := func(b *tab, name string) {
		var data []byte
		b.do(chromedp.Evaluate(`document.activeElement.blur(); scrollTo(0, 0)`, nil), input.DispatchMouseEvent(input.MouseMoved, 700, 980))
		b.settled()
		b.do(chromedp.CaptureScreenshot(&data))
		if err := os.WriteFile(filepath.Join(folder, name), data, 0o644); err != nil {
			t.Fatal(err)
		}
	}
	b := open(t, address, form{width: 1440, height: 940, scale: 0.75})
	b.answered()
	b.do(chromedp.Evaluate(`boxsum.boxes.add({x0: 600, y0: 400, x1: 900, y1: 600})`, nil))
	b.answered()
	b.turn(t)
	for range 40 { // the table at that angle exists by now; repeat, because other programs may interfere
		b.do(chromedp.Focus("#image"), chromedp.KeyEvent(kb.ArrowRight))
		b.answered()
		b.do(chromedp.KeyEvent(kb.ArrowLeft))
		b.answered()
		if eval[float64](b, `boxsum.boxes.selected.latency`) < 6 {
			break
		}
	}
	keep(b, "view-boxes.png")
	b = open(t, address, form{width: 1440, height: 800, scale: 0.75})
	b.view("work")
	b.do(chromedp.Evaluate(`document.getElementById('wipe').value = 20; document.getElementById('wipe').dispatchEvent(new Event('input'))`, nil))
	b.do(chromedp.Evaluate(`document.getElementById('timing').open = true`, nil))
	for range 5 {
		b.do(chromedp.Click("#sweep"))
		b.wait(`!document.getElementById('sweep').disabled && boxsum.work.times.size >= 8`)
		b.set("radius", 12)
		b.settled()
	}
	keep(b, "view-filters.png")
}

// TestWidths tests that nothing overflows at widths from 360 pixels to 4K.
func TestWidths(t *testing.T) {
	t.Parallel()
	address, err := server()
	if err != nil {
		t.Fatal(err)
	}
	b := open(t, address, forms[0])
	for _, width := range []int64{360, 414, 768, 1024, 1920, 3840} {
		b.do(emulation.SetDeviceMetricsOverride(width, width*9/16, 1, false))
		b.wait(fmt.Sprintf(`innerWidth === %d`, width))
		for _, name := range []string{"boxes", "work", "detect", "gradients", "how"} {
			b.view(name)
			if wide := eval[float64](b, `document.documentElement.scrollWidth - innerWidth`); wide > 0 {
				t.Errorf("%s sticks out by %v of %d pixels", name, wide, width)
			}
			b.shot(fmt.Sprintf("width-%d-%s", width, name))
		}
	}
	b.quiet()
}

// touch moves a finger over the picture.
func (b *tab) touch(x0, y0, x1, y1 float64) {
	b.t.Helper()
	b.do(chromedp.Evaluate(`scrollTo(0, 0)`, nil))
	b.wait(`scrollY === 0`)
	b.settled()
	sx, sy := b.screen(x0, y0)
	ex, ey := b.screen(x1, y1)
	actions := []chromedp.Action{input.DispatchTouchEvent(input.TouchStart, []*input.TouchPoint{{X: sx, Y: sy}})}
	for i := 1; i <= 5; i++ {
		f := float64(i) / 5
		actions = append(actions, input.DispatchTouchEvent(input.TouchMove, []*input.TouchPoint{{X: sx + (ex-sx)*f, Y: sy + (ey-sy)*f}}))
	}
	b.do(append(actions, input.DispatchTouchEvent(input.TouchEnd, []*input.TouchPoint{}))...)
	b.answered()
}
