package reproduce

import (
	"encoding/json"
	"encoding/xml"
	"html"
	"io"
	"net/url"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/boxsum/boxsum/internal/ref"
)

// checkPage tests that a page is well-formed, that its links lead to its own parts, and that it
// loads nothing.
func checkPage(t *testing.T, page string) {
	t.Helper()
	d := xml.NewDecoder(strings.NewReader(page))
	d.Strict, d.AutoClose, d.Entity = false, xml.HTMLAutoClose, xml.HTMLEntity
	ids, links := map[string]bool{}, []string{}
	depth := 0
	for {
		token, err := d.Token()
		if err == io.EOF {
			break
		} else if err != nil {
			t.Fatalf("the page: %v", err)
		}
		switch token := token.(type) {
		case xml.EndElement:
			depth--
		case xml.StartElement:
			depth++
			switch token.Name.Local {
			case "script", "link", "iframe", "img", "object", "embed":
				t.Errorf("the page has <%s>", token.Name.Local)
			}
			for _, a := range token.Attr {
				switch a.Name.Local {
				case "id":
					if ids[a.Value] {
						t.Errorf("two parts of the page are called %q", a.Value)
					}
					ids[a.Value] = true
				case "href":
					links = append(links, a.Value)
				case "src":
					t.Errorf("the page loads %s", a.Value)
				}
			}
		}
	}
	if depth != 0 {
		t.Errorf("%d elements are not closed", depth)
	}
	for _, link := range links {
		if name, ok := strings.CutPrefix(link, "#"); !ok || !ids[name] {
			t.Errorf("the page leads to %q", link)
		}
	}
	for _, load := range []string{"url(", "@import"} {
		if strings.Contains(page, load) {
			t.Errorf("the page has %s", load)
		}
	}
}

// chromium returns the path of a browser.
func chromium(t *testing.T) string {
	t.Helper()
	return ref.Program(t, "install Debian's chromium", "chromium", "google-chrome")
}

// look is a script that measures the page in the browser and leaves its findings where --dump-dom
// prints them.
const look = `<script>
const seen = [...document.querySelectorAll("figure")].map(f => {
  const svg = f.querySelector("svg"), box = svg.getBBox(), at = svg.getBoundingClientRect();
  const inside = [...svg.querySelectorAll("text, polyline, polygon")].every(e => {
    const b = e.getBBox();
    return b.x >= -1 && b.y >= -1 && b.x + b.width <= svg.viewBox.baseVal.width + 1 && b.y + b.height <= svg.viewBox.baseVal.height + 1;
  });
  const texts = [...svg.querySelectorAll("text")].map(e => e.getBoundingClientRect());
  const overlaps = texts.filter((a, i) => texts.some((b, j) => j > i && a.left < b.right - 1 && b.left < a.right - 1 && a.top < b.bottom - 3 && b.top < a.bottom - 3)).length;
  const marks = [...svg.querySelectorAll("polyline, polygon")].filter(e => e.getBBox().width + e.getBBox().height > 0).length;
  return {name: f.id, width: at.width, height: at.height, drawn: box.width > 0 && box.height > 0, inside, overlaps, marks};
});
document.body.setAttribute("data-seen", JSON.stringify({plots: seen, wide: document.documentElement.scrollWidth - document.documentElement.clientWidth}));
</script></body>`

// TestBrowser opens reports in a browser, in a wide window and in one as narrow as a phone, and
// tests that every plot is drawn inside its frame, without overlapping texts.
func TestBrowser(t *testing.T) {
	if testing.Short() {
		t.Skip("opens a browser, which takes seconds: leave out -short")
	}
	browser := chromium(t)
	for window, m := range map[string]*Machine{"390,800": pocl, "1200,900": graphics} {
		r := inventedReport(t, m, Config{Quick: m.StandIn})
		page, _ := texts(t, r)
		path := filepath.Join(t.TempDir(), "look.html")
		if err := os.WriteFile(path, []byte(strings.Replace(page, "</body>", look, 1)), 0o666); err != nil {
			t.Fatal(err)
		}
		cmd := exec.Command(browser, "--headless", "--no-sandbox", "--disable-gpu", "--disable-dev-shm-usage", "--user-data-dir="+t.TempDir(),
			"--window-size="+window, "--dump-dom", (&url.URL{Scheme: "file", Path: path}).String())
		out, err := cmd.Output()
		if err != nil {
			t.Fatalf("%s: %v", browser, err)
		}
		found := regexp.MustCompile(`data-seen="([^"]*)"`).FindSubmatch(out)
		if found == nil {
			t.Fatalf("%s: the page was not looked at: %.2000s", window, out)
		}
		var seen struct {
			Plots []struct {
				Name            string
				Width, Height   float64
				Drawn, Inside   bool
				Overlaps, Marks int
			}
			Wide float64
		}
		if err := json.Unmarshal([]byte(html.UnescapeString(string(found[1]))), &seen); err != nil {
			t.Fatal(err)
		}
		if want := len(r.document().Pictures); len(seen.Plots) != want {
			t.Errorf("%s: %d plots of %d", window, len(seen.Plots), want)
		}
		for _, p := range seen.Plots {
			if !p.Drawn || !p.Inside || p.Overlaps > 0 || p.Width < 300 || p.Height < 150 || p.Marks < 3 {
				t.Errorf("%s: %+v", window, p)
			}
		}
		if seen.Wide > 0 {
			t.Errorf("%s: the page is %v pixels wider than the window", window, seen.Wide)
		}
	}
}
