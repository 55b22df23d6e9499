package browser

import (
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/chromedp/chromedp"
)

// TestSite opens the site that make site writes as files, without a server: the search finds, and leads there.
func TestSite(t *testing.T) {
	t.Parallel()
	folder := t.TempDir()
	if out, err := exec.Command("go", "-C", "../../../docs/site", "run", ".", "../..", folder).CombinedOutput(); err != nil {
		t.Fatalf("%v\n%s", err, out)
	}
	for _, page := range []string{"index.html", "docs/cookbook.html"} {
		b := open(t, "file://"+filepath.ToSlash(filepath.Join(folder, page)), forms[0])
		for words, want := range map[string]string{"median": "Salt and pepper: a median", "box_std": "boxsum.box_std", "zarr s3": "Where stores are", "nosuchword": "Nothing has all of these words."} {
			b.do(chromedp.Evaluate(`document.getElementById('site-search').value = ''`, nil), chromedp.SendKeys("#site-search", words))
			if got := eval[string](b, `document.querySelector('#site-found li').innerText`); !strings.HasPrefix(got, want) {
				t.Errorf("%s: %q finds %q first, not %q", page, words, got, want)
			}
		}
		b.do(chromedp.Evaluate(`document.getElementById('site-search').value = ''`, nil), chromedp.SendKeys("#site-search", "sauvola\r"))
		b.wait(`location.hash !== '' && document.getElementById(decodeURIComponent(location.hash.slice(1))) !== null`)
		b.quiet()
	}
}
