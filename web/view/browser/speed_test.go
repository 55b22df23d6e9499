package browser

import (
	"fmt"
	"math/rand/v2"
	"path/filepath"
	"slices"
	"testing"
	"time"

	"github.com/chromedp/chromedp"
)

// TestSpeed prints the speed of the page with an image of 4096×4096 pixels. It asserts no times, because machines are busy.
func TestSpeed(t *testing.T) {
	name := filepath.Join(t.TempDir(), "large.npy")
	pix := make([]uint8, 4096*4096)
	rnd := rand.New(rand.NewPCG(3, 4))
	for i := range pix {
		pix[i] = uint8(rnd.Uint32() >> 24)
	}
	write(t, name, []int{4096, 4096}, pix, 4096)
	each(t, func(t *testing.T, address string) {
		start := time.Now()
		b := open(t, address, forms[0])
		b.settled()
		t.Logf("first view after %v; the page itself says %.0f ms until the first picture", time.Since(start).Round(time.Millisecond), eval[float64](b, `performance.getEntriesByName('first-picture')[0]?.startTime ?? 0`))
		b.do(chromedp.SetUploadFiles("#file", []string{name}, chromedp.ByQuery))
		b.wait(`document.body.dataset.open === 'large.npy'`)
		b.settled()
		b.answered()
		t.Logf("tables of 4096×4096 took %.0f ms", eval[float64](b, `boxsum.stage.doc.ms`))
		var least, sum float64 = 1e9, 0
		for i := range 20 {
			b.do(chromedp.Evaluate(fmt.Sprintf(`document.body.dataset.latency = ''; Object.assign(boxsum.boxes.selected, {x0: %d, y0: %d, x1: %d, y1: %d}); boxsum.boxes.changed(boxsum.boxes.selected)`, i*10, i*20, 2000+i*50, 3000+i*30), nil))
			b.wait(`document.body.dataset.latency`)
			v := eval[float64](b, `Number(document.body.dataset.latency)`)
			least, sum = min(least, v), sum+v
			b.wait(`boxsum.boxes.selected.histogram`)
		}
		t.Logf("from a moved box to its numbers: %.1f ms at best, %.1f on average", least, sum/20)
		// Times from moving a slider to the picture on the screen, for results from tables and others.
		b.view("work")
		for _, k := range []struct{ work, choose, name, slider string }{
			{"filter", "filter", "box", "radius"}, {"filter", "filter", "std", "radius"}, {"filter", "filter", "median", "radius"}, {"filter", "filter", "gaussian", "sigma"}, {"threshold", "method", "sauvola", "window"}, {"threshold", "method", "wolf", "window"},
		} {
			b.do(chromedp.Click("[data-work=" + k.work + "]"))
			b.set(k.choose, k.name)
			b.wait(`document.body.dataset.work.includes('"` + k.name + `"')`)
			b.settled()
			var times []float64
			for i := range 9 {
				b.do(chromedp.Evaluate(`document.body.dataset.slid = ''`, nil))
				b.set(k.slider, 21+4*i)
				b.wait(`document.body.dataset.slid`)
				times = append(times, eval[float64](b, `Number(document.body.dataset.slid)`))
				b.settled()
			}
			slices.Sort(times)
			t.Logf("from a moved slider to the picture, %s: %.1f ms at best, %.1f median, for %s", k.name, times[0], times[4], b.text("took"))
		}
	})
}
