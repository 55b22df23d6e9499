package ref

import (
	"os"
	"testing"
)

// Python is an interpreter with NumPy, OpenCV and scikit-image, the references
// that others wrote. Without one the test is skipped, and fails where CI
// promises it.
func Python(t testing.TB) string {
	t.Helper()
	python := os.Getenv("BOXSUM_PEERS_PYTHON")
	if python != "" {
		return python
	}
	const missing = "BOXSUM_PEERS_PYTHON must name a Python that has numpy, opencv-python-headless and scikit-image; make test sets one up"
	if os.Getenv("CI") != "" {
		t.Fatal(missing)
	}
	t.Skip(missing)
	return ""
}
