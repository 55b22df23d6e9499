package browser

import (
	"fmt"
	"image"
	"strings"
	"testing"

	"github.com/chromedp/cdproto/input"
	"github.com/chromedp/chromedp"
	"github.com/chromedp/chromedp/kb"

	"github.com/boxsum/boxsum/hog"
	"github.com/boxsum/boxsum/imgio"
)

// TestGradients tests that the tab shows the gradients of the cell in the middle of the box, of the one under the
// mouse, and of those that the keyboard moves to.
func TestGradients(t *testing.T) {
	table, err := hog.Integrate(imgio.Demo(1920, 1080), hog.Votes{Linear: true, Spread: 1}, nil)
	if err != nil {
		t.Fatal(err)
	}
	engines(t, func(t *testing.T, address string) {
		for _, f := range forms {
			t.Run(f.name, func(t *testing.T) {
				t.Parallel()
				b := open(t, address, f)
				b.answered()
				b.do(chromedp.Click(`nav a[href="#gradients"]`))
				shows := func(cell image.Rectangle) {
					t.Helper()
					numbers := fmt.Sprintf("%d,%d,%d,%d", cell.Min.X, cell.Min.Y, cell.Max.X, cell.Max.Y)
					b.wait(`document.getElementById('gradient-text').dataset.cell === '` + numbers + `'`)
					want := strings.Join(strings.Fields(strings.Trim(fmt.Sprint(table.Histogram(nil, cell)), "[]")), ",")
					if got := eval[string](b, `document.getElementById('gradient-text').dataset.sums`); got != want {
						t.Errorf("the page shows %s for %v, want %s", got, cell, want)
					}
				}
				shows(image.Rect(1184, 424, 1192, 432)) // the middle of the box
				b.do(chromedp.Evaluate(`document.getElementById('cell-size').value = '32'; document.getElementById('cell-size').onchange(); 0`, nil))
				shows(image.Rect(1184, 416, 1216, 448))
				b.do(chromedp.ScrollIntoView("#image"))
				b.settled()
				x, y := b.screen(1066, 410) // at the edge of the sun
				if f.phone {
					b.do(chromedp.Evaluate(fmt.Sprintf(`(() => { const c = document.getElementById('image'); for (const type of ['pointerdown', 'pointerup'])
						c.dispatchEvent(new PointerEvent(type, { clientX: %v, clientY: %v, pointerType: 'touch', pointerId: 1, isPrimary: true, bubbles: true })); })()`, x, y), nil))
				} else {
					b.do(input.DispatchMouseEvent(input.MouseMoved, x, y))
				}
				shows(image.Rect(1056, 384, 1088, 416))
				b.settled()
				b.shot(f.name + "-gradients")
				b.accessible(f.name + " gradients")
				b.do(chromedp.Focus("#image"), chromedp.KeyEvent(kb.ArrowDown))
				shows(image.Rect(1056, 416, 1088, 448))
				b.do(chromedp.Click(`nav a[href="#boxes"]`))
				b.wait(`!boxsum.gradients.cell && document.getElementById('view-gradients').hidden`)
				b.quiet()
			})
		}
	})
}
