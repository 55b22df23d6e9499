package imgio

import (
	"bytes"
	"encoding/binary"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// TestLostPages tests that a TIFF file whose second page is cut off is an error for readers of all pages, and that
// its first page can still be read.
func TestLostPages(t *testing.T) {
	page := tiffPage{3, 2, 0, []uint8{1, 2, 3, 4, 5, 6}}
	whole := pagedTIFF(binary.LittleEndian, page, page)
	if p, err := DecodePages(bytes.NewReader(whole), Options{}); err != nil || p.N != 2 {
		t.Fatal(err)
	}
	cut := whole[:len(whole)-10]
	path := filepath.Join(t.TempDir(), "cut.tiff")
	if err := os.WriteFile(path, cut, 0o600); err != nil {
		t.Fatal(err)
	}
	_, decoded := DecodePages(bytes.NewReader(cut), Options{})
	_, opened := OpenPages(path, Options{})
	_, second := DecodeWith(bytes.NewReader(cut), Options{Page: 2})
	for name, err := range map[string]error{"DecodePages": decoded, "OpenPages": opened, "page 2": second} {
		if err == nil || !strings.Contains(err.Error(), "directory 2") || !strings.Contains(err.Error(), "truncated") {
			t.Errorf("%s: %v", name, err)
		}
	}
	if p, err := DecodeWith(bytes.NewReader(cut), Options{}); err != nil || p.Pages != 1 {
		t.Errorf("the first page: %v", err)
	}
}
