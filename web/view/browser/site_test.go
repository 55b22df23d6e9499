package browser

import (
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/chromedp/chromedp"
)

// TestSite opens the documentation as files, without a server: the search must find pages, and nothing may contact another
// server. BOXSUM_SITE names a site built by scripts/site.sh.
func TestSite(t *testing.T) {
	t.Parallel()
	folder := os.Getenv("BOXSUM_SITE")
	if folder == "" {
		folder = t.TempDir()
		cmd := exec.Command("scripts/site.sh", folder)
		cmd.Dir = "../../.."
		if out, err := cmd.CombinedOutput(); err != nil {
			t.Fatalf("%v\n%s", err, out)
		}
	}
	for _, page := range []string{"index.html", "guides/blur.html"} {
		for words, want := range map[string]string{"salt-and-pepper": "Remove salt-and-pepper noise", "box_std": "box_std", "azblob": "Object stores", "sauvola": "Sauvola"} {
			b := navigate(t, "file://"+filepath.ToSlash(filepath.Join(folder, page))+"?q="+words, forms[0])
			b.wait(`document.querySelector('.md-search-result__item') !== null`)
			if got := eval[string](b, `document.querySelector('.md-search-result__list').innerText`); !strings.Contains(got, want) {
				t.Errorf("%s: %q finds %q, want %q", page, words, got, want)
			}
			for _, r := range b.requests() {
				if strings.HasPrefix(r, "http") {
					t.Errorf("%s asks for %s", page, r)
				}
			}
		}
	}
	b := navigate(t, "file://"+filepath.ToSlash(filepath.Join(folder, "index.html")), forms[0])
	b.do(chromedp.Evaluate(`document.querySelector('article a[href="guides/boxes.html"]').click()`, nil))
	b.wait(`document.querySelector('h1').innerText.startsWith('Statistics of boxes')`)
}
