package cli

import (
	"context"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/boxsum/boxsum/imgio"
	"github.com/boxsum/boxsum/internal/page"
	"github.com/boxsum/boxsum/internal/ref"
)

// Tesseract reads more words of a page that is lit from one side after boxsum threshold
// than before, and nearly all.
func TestOCR(t *testing.T) {
	ref.Program(t, "install Debian's tesseract-ocr", "tesseract")
	dir := t.TempDir()
	before, after := filepath.Join(dir, "before.png"), filepath.Join(dir, "after.tiff")
	p, err := page.Draw(page.Lit, 1000, 300, 24)
	if err != nil {
		t.Fatal(err)
	}
	if err := imgio.Save(before, p.Gray); err != nil {
		t.Fatal(err)
	}
	if code := run(context.Background(), []string{"threshold", before, "-o", after, "--method", "isauvola", "--window", "75"}, strings.NewReader(""), io.Discard, os.Stderr); code != 0 {
		t.Fatalf("boxsum threshold left with %d", code)
	}
	gray, black := wordsRead(t, before, p.Words), wordsRead(t, after, p.Words)
	t.Logf("of %d words, tesseract read %d before and %d after", len(p.Words), gray, black)
	if black <= gray || black < len(p.Words)*9/10 {
		t.Errorf("of %d words, tesseract read %d before and %d after", len(p.Words), gray, black)
	}
}

// wordsRead counts the words that Tesseract reads, each at most as often as it occurs.
func wordsRead(t *testing.T, path string, words []string) (n int) {
	t.Helper()
	cmd := exec.Command("tesseract", path, "-")
	cmd.Env = append(os.Environ(), "OMP_THREAD_LIMIT=1")
	out, err := cmd.Output()
	if err != nil {
		t.Fatal(err)
	}
	left := map[string]int{}
	for _, word := range words {
		left[word]++
	}
	for _, word := range strings.Fields(string(out)) {
		if left[word] > 0 {
			left[word]--
			n++
		}
	}
	return n
}
