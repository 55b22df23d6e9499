package ref

import (
	"bufio"
	"cmp"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"testing"
)

// Missing skips a test for which this machine lacks something, or fails the test if the environment variable CI is
// "true". what says what is missing and how to get it.
func Missing(t testing.TB, what string) {
	t.Helper()
	if os.Getenv("CI") == "true" {
		t.Fatal(what)
	}
	t.Skip(what)
}

// NoDevice is like Missing for a test that needs a GPU, or a processor under OpenCL. err says why there is none.
func NoDevice(t testing.TB, err error) {
	t.Helper()
	Missing(t, fmt.Sprintf("%v (PoCL, Debian's pocl-opencl-icd, makes an OpenCL device of the processor)", err))
}

// Program returns the path of the first of some programs that is installed. Without any, Missing skips the test; how
// says how to install one.
func Program(t testing.TB, how string, names ...string) string {
	t.Helper()
	for _, name := range names {
		if path, err := exec.LookPath(name); err == nil {
			return path
		}
	}
	Missing(t, fmt.Sprintf("%s is not installed: %s", names[0], how))
	return ""
}

// CascadeFolder returns the folder with OpenCV's cascades. Without them, Missing skips the test.
func CascadeFolder(t testing.TB) string {
	t.Helper()
	folder := cmp.Or(os.Getenv("BOXSUM_CASCADES"), "/usr/share/opencv4")
	if files, _ := filepath.Glob(filepath.Join(folder, "*cascades", "*.xml")); len(files) == 0 {
		Missing(t, "no cascades in "+folder+": install Debian's opencv-data, or let BOXSUM_CASCADES name their folder")
	}
	return folder
}

// Python returns an interpreter with NumPy, OpenCV and scikit-image, for comparisons. Without one, Missing skips the
// test.
func Python(t testing.TB) string {
	t.Helper()
	return interpreter(t, "BOXSUM_PEERS_PYTHON", "numpy, opencv-contrib-python-headless, scikit-image and tifffile")
}

// Doxa is like Python for an interpreter with doxapy, the reference for thresholds.
func Doxa(t testing.TB) string {
	t.Helper()
	return interpreter(t, "BOXSUM_DOXA_PYTHON", "doxapy")
}

// Cascades is like Python for an interpreter with OpenCV 4, the reference for cascades, which later versions lack.
func Cascades(t testing.TB) string {
	t.Helper()
	return interpreter(t, "BOXSUM_CASCADES_PYTHON", "opencv-contrib-python-headless below 5")
}

// Stores is like Python for an interpreter with zarr, TensorStore and rasterio, the references for files of arrays.
func Stores(t testing.TB) string {
	t.Helper()
	return interpreter(t, "BOXSUM_STORE_PYTHON", "zarr, tensorstore and rasterio")
}

// interpreter returns the Python that an environment variable names.
func interpreter(t testing.TB, variable, packages string) string {
	t.Helper()
	python := os.Getenv(variable)
	if python == "" {
		Missing(t, fmt.Sprintf("%s must name a Python that has %s; make test sets one up", variable, packages))
	}
	return python
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
