package ref

import (
	"bufio"
	"io"
	"os"
	"os/exec"
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

// Doxa is an interpreter with doxapy, the reference of thresholds. Without one the test is
// skipped, and fails where CI promises it.
func Doxa(t testing.TB) string {
	t.Helper()
	python := os.Getenv("BOXSUM_DOXA_PYTHON")
	if python != "" {
		return python
	}
	const missing = "BOXSUM_DOXA_PYTHON must name a Python that has doxapy; make test sets one up"
	if os.Getenv("CI") != "" {
		t.Fatal(missing)
	}
	t.Skip(missing)
	return ""
}

// Cascades is an interpreter with OpenCV 4, the reference of cascades, which later ones have
// not. Without one the test is skipped, and fails where CI promises it.
func Cascades(t testing.TB) string {
	t.Helper()
	python := os.Getenv("BOXSUM_CASCADES_PYTHON")
	if python != "" {
		return python
	}
	const missing = "BOXSUM_CASCADES_PYTHON must name a Python that has opencv-python-headless below 5; make test sets one up"
	if os.Getenv("CI") != "" {
		t.Fatal(missing)
	}
	t.Skip(missing)
	return ""
}

// A Script is a Python process that answers on standard output what it is asked on
// standard input.
type Script struct {
	In  io.Writer
	Out *bufio.Reader
}

// StartPython runs a script of a reference until the test ends, which fails if the
// script does.
func StartPython(t testing.TB, script string) Script {
	t.Helper()
	return start(t, Python(t), script)
}

// StartDoxa is the same with the Python that has doxapy.
func StartDoxa(t testing.TB, script string) Script {
	t.Helper()
	return start(t, Doxa(t), script)
}

// StartCascades is the same with the Python that has OpenCV 4.
func StartCascades(t testing.TB, script string) Script {
	t.Helper()
	return start(t, Cascades(t), script)
}

func start(t testing.TB, python, script string) Script {
	t.Helper()
	cmd := exec.Command(python, script)
	cmd.Stderr = os.Stderr
	in, err := cmd.StdinPipe()
	if err != nil {
		t.Fatal(err)
	}
	out, err := cmd.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		in.Close()
		if t.Failed() { // it may be writing what nobody reads
			cmd.Process.Kill()
		}
		if err := cmd.Wait(); err != nil && !t.Failed() {
			t.Errorf("%s: %v", script, err)
		}
	})
	return Script{in, bufio.NewReaderSize(out, 1<<20)}
}
