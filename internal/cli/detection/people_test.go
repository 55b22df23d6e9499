package detection

import (
	"context"
	"crypto/sha256"
	"encoding/binary"
	"encoding/hex"
	"image"
	"path/filepath"
	"strings"
	"testing"

	"github.com/boxsum/boxsum/internal/ref"
)

// TestPeople tests that OpenCV's detectors are those of the installed OpenCV.
func TestPeople(t *testing.T) {
	t.Setenv("VIRTUAL_ENV", filepath.Dir(filepath.Dir(ref.Cascades(t))))
	d, err := loadHOG(context.Background(), "people")
	if err != nil {
		t.Fatal(err)
	}
	sum := sha256.New()
	if err := binary.Write(sum, binary.LittleEndian, d.Config().Coefficients); err != nil {
		t.Fatal(err)
	}
	// All versions from 2 to 5 have the same coefficients.
	if got := hex.EncodeToString(sum.Sum(nil)); len(d.Config().Coefficients) != 3781 || got[:8] != "cb219895" {
		t.Errorf("%d coefficients with SHA-256 %s", len(d.Config().Coefficients), got)
	}
	d, err = loadHOG(context.Background(), "daimler")
	if err != nil || len(d.Config().Coefficients) != 1981 || d.Config().Window != image.Pt(48, 96) {
		t.Errorf("daimler: %v, %v", d, err)
	}
	done, cancel := context.WithCancel(context.Background())
	cancel()
	if _, err := loadHOG(done, "people"); err == nil {
		t.Error("loaded after the context was done")
	}
	t.Setenv("VIRTUAL_ENV", "")
	t.Setenv("PATH", t.TempDir())
	if _, err := loadHOG(context.Background(), "people"); err == nil || !strings.Contains(err.Error(), "not available: python3 is not installed (install opencv-python-headless below 5") {
		t.Errorf("without Python: %v", err)
	}
}
