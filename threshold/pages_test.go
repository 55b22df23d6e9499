package threshold_test

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/boxsum/boxsum/imgio"
	"github.com/boxsum/boxsum/internal/page"
	"github.com/boxsum/boxsum/threshold"
)

// TestPages measures the methods on pages whose truth is known, and prints the table of
// docs/guides/binarize.md with -v. BOXSUM_PAGES names a folder to write the pages to.
func TestPages(t *testing.T) {
	if testing.Short() {
		t.Skip("runs every method on every kind of page, which takes long: leave out -short")
	}
	lines := []string{"| |"}
	for _, m := range threshold.Methods() {
		lines = append(lines, fmt.Sprintf("| %v |", m))
	}
	for _, k := range page.Kinds() {
		p, err := page.Draw(k, 1000, 500, 24)
		if err != nil {
			t.Fatal(err)
		}
		lines[0] += fmt.Sprintf(" %v |", k)
		best := 0.0
		for i, m := range threshold.Methods() {
			r := threshold.New(m, 75)
			if m == threshold.Su {
				r = threshold.New(m, 0)
			}
			got, err := threshold.Binarize(p.Gray, r, nil)
			if err != nil {
				t.Fatal(err)
			}
			s, err := threshold.Compare(p.Truth, got)
			if err != nil {
				t.Fatal(err)
			}
			lines[i+1] += fmt.Sprintf(" %.1f |", s.FMeasure)
			best = max(best, s.FMeasure)
			if dir := os.Getenv("BOXSUM_PAGES"); dir != "" {
				imgio.Save(filepath.Join(dir, fmt.Sprintf("%d-%v.png", k, m)), got)
				imgio.Save(filepath.Join(dir, fmt.Sprintf("%d.png", k)), p.Gray)
			}
		}
		if best < 85 {
			t.Errorf("%v: the best method has an F-measure of %.1f", k, best)
		}
	}
	t.Logf("\n%s", strings.Join(lines, "\n"))
}
