package ref

import (
	"bufio"
	"io"
	"os"
	"os/exec"
	"testing"
)

// Python returns an interpreter with NumPy, OpenCV and scikit-image, for comparisons. If there is none, the test
// is skipped, or fails in CI jobs that have one.
func Python(t testing.TB) string {
	t.Helper()
	python := os.Getenv("BOXSUM_PEERS_PYTHON")
	if python != "" {
		return python
	}
	const missing = "BOXSUM_PEERS_PYTHON must name a Python that has numpy, opencv-contrib-python-headless and scikit-image; make test sets one up"
	if os.Getenv("CI") != "" {
		t.Fatal(missing)
	}
	t.Skip(missing)
	return ""
}

// Doxa returns an interpreter with doxapy, the reference for thresholds. If there is none, the test is skipped,
// or fails in CI jobs that have one.
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

// Cascades returns an interpreter with OpenCV 4, the reference for cascades, which later versions lack. If there
// is none, the test is skipped, or fails in CI jobs that have one.
func Cascades(t testing.TB) string {
	t.Helper()
	python := os.Getenv("BOXSUM_CASCADES_PYTHON")
	if python != "" {
		return python
	}
	const missing = "BOXSUM_CASCADES_PYTHON must name a Python that has opencv-contrib-python-headless below 5; make test sets one up"
	if os.Getenv("CI") != "" {
		t.Fatal(missing)
	}
	t.Skip(missing)
	return ""
}

// A Script is a Python process that answers requests on its standard input on its standard output.
type Script struct {
	In  io.Writer
	Out *bufio.Reader
}

// StartPython runs a script until the test ends. The test fails if the script does.
func StartPython(t testing.TB, script string) Script {
	t.Helper()
	return start(t, Python(t), script)
}

// StartDoxa is like StartPython with the interpreter that has doxapy.
func StartDoxa(t testing.TB, script string) Script {
	t.Helper()
	return start(t, Doxa(t), script)
}

// StartCascades is like StartPython with the interpreter that has OpenCV 4.
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
		if t.Failed() { // the script may be blocked on output that nobody reads
			cmd.Process.Kill()
		}
		if err := cmd.Wait(); err != nil && !t.Failed() {
			t.Errorf("%s: %v", script, err)
		}
	})
	return Script{in, bufio.NewReaderSize(out, 1<<20)}
}
