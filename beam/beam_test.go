package beam

import (
	"bytes"
	"context"
	"errors"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/apache/beam/sdks/v2/go/pkg/beam"
	"github.com/apache/beam/sdks/v2/go/pkg/beam/testing/ptest"
	"github.com/boxsum/boxsum/store"
	"github.com/boxsum/boxsum/zarr"

	_ "github.com/apache/beam/sdks/v2/go/pkg/beam/runners/prism"
)

func TestMain(m *testing.M) { ptest.MainWithDefault(m, "prism") }

var ctx = context.Background()

// picture writes an image of noise in a folder.
func picture(t *testing.T, path string, height, width int) {
	a, err := zarr.Create(ctx, zarr.Folder(path), "", &zarr.Spec{Type: zarr.Uint8, Shape: []int{height, width}, Chunk: []int{64, 64}})
	if err != nil {
		t.Fatal(err)
	}
	pix := make([]byte, height*width)
	for i := range pix {
		pix[i] = byte(rand.Uint32())
	}
	if err := zarr.Write(ctx, a, pix, []int{0, 0}, []int{height, width}); err != nil {
		t.Fatal(err)
	}
}

// same compares the files of two folders.
func same(t *testing.T, a, b string) {
	t.Helper()
	files := 0
	filepath.Walk(a, func(path string, info os.FileInfo, err error) error {
		if err != nil || info.IsDir() {
			return err
		}
		files++
		x, _ := os.ReadFile(path)
		y, err := os.ReadFile(b + strings.TrimPrefix(path, a))
		if err != nil || !bytes.Equal(x, y) {
			t.Errorf("%s differs: %v", path, err)
		}
		return nil
	})
	filepath.Walk(b, func(path string, info os.FileInfo, err error) error {
		if err == nil && !info.IsDir() {
			files--
		}
		return err
	})
	if files != 0 {
		t.Errorf("%d files more or fewer", files)
	}
}

func run(w Work) error {
	blocks, err := Begin(ctx, w)
	if err != nil || blocks == 0 {
		return err
	}
	p, s := beam.NewPipelineWithRoot()
	Pipeline(s, w, blocks)
	return ptest.Run(p)
}

// TestPrism makes tables with the pipeline and with the plain runner, and compares the bytes. One is stopped halfway and continued.
func TestPrism(t *testing.T) {
	dir := t.TempDir()
	picture(t, dir+"/in.zarr", 500, 700)
	for name, w := range map[string]Work{"plain": {Block: 128}, "squares": {Block: 128, Chunk: 32, Squares: true}, "compact": {Block: 256, Compact: true, Compression: "none"}} {
		w.From, w.To = dir+"/in.zarr", dir+"/"+name+".zarr"
		want := dir + "/" + name + "-want.zarr"
		if err := store.Integrate(ctx, w.From, want, w.options()); err != nil {
			t.Fatal(err)
		}
		if name == "squares" { // simulate a pipeline that was stopped
			o, err := w.open(ctx)
			if err != nil {
				t.Fatal(err)
			}
			if _, err := o.Begin(ctx); err != nil {
				t.Fatal(err)
			}
			if err := errors.Join(o.Edges(ctx, 0, 0), o.Edges(ctx, 2, 3), o.close()); err != nil {
				t.Fatal(err)
			}
		}
		if err := run(w); err != nil {
			t.Fatalf("%s: %v", name, err)
		}
		same(t, want, w.To)
		if n, err := Begin(ctx, w); n != 0 || err != nil {
			t.Errorf("%s: finished, and %d blocks to do: %v", name, n, err)
		}
		w.Squares = !w.Squares
		if _, err := Begin(ctx, w); !errors.Is(err, store.ErrChanged) {
			t.Errorf("%s: other options: %v", name, err)
		}
	}
	if _, err := Begin(ctx, Work{From: dir + "/in.zarr", To: dir + "/x.zarr.zip"}); err == nil {
		t.Error("a zip file")
	}
}

// TestChanged makes a table again in the same process after its image has changed.
func TestChanged(t *testing.T) {
	dir := t.TempDir()
	w := Work{From: dir + "/in.zarr", To: dir + "/out.zarr", Block: 64, Restart: true}
	for _, want := range []string{dir + "/one.zarr", dir + "/two.zarr"} {
		picture(t, w.From, 150, 200)
		if err := store.Integrate(ctx, w.From, want, w.options()); err != nil {
			t.Fatal(err)
		}
		if err := run(w); err != nil {
			t.Fatal(err)
		}
		same(t, want, w.To)
	}
}

// TestDamaged tests that a damaged chunk gives an error and no table.
func TestDamaged(t *testing.T) {
	dir := t.TempDir()
	picture(t, dir+"/in.zarr", 200, 200)
	os.WriteFile(dir+"/in.zarr/c/1/1", []byte("short"), 0o666)
	if err := run(Work{From: dir + "/in.zarr", To: dir + "/out.zarr"}); err == nil {
		t.Fatal("no error for a damaged chunk")
	}
	if _, err := store.Open(ctx, dir+"/out.zarr", nil); !errors.Is(err, store.ErrIncomplete) {
		t.Errorf("a table from it: %v", err)
	}
}

// TestFlink runs the command on Flink in one Java process. BOXSUM_FLINK is the folder with the jars of Beam's Flink runner,
// which flink/fetch.sh downloads.
func TestFlink(t *testing.T) {
	jars := os.Getenv("BOXSUM_FLINK")
	if jars == "" {
		t.Skip("BOXSUM_FLINK must name the folder with the jars of Beam's Flink runner, which flink/fetch.sh fetches")
	}
	dir := t.TempDir()
	binary := dir + "/boxsum-beam"
	if out, err := exec.Command("go", "build", "-o", binary, "./cmd/boxsum-beam").CombinedOutput(); err != nil {
		t.Fatalf("%v: %s", err, out)
	}
	const endpoint = "127.0.0.1:18099"
	server := exec.Command("java", "-Xmx1g", "-XX:TieredStopAtLevel=1", "-XX:+UseSerialGC", "-cp", jars+"/*", "org.apache.beam.runners.flink.FlinkJobServerDriver", "--flink-master=[local]",
		"--job-host=127.0.0.1", "--job-port=18099", "--artifact-port=18098", "--expansion-port=-1", "--artifacts-dir="+dir+"/artifacts")
	log, _ := os.Create(dir + "/flink.log")
	defer log.Close()
	server.Stdout, server.Stderr = log, log
	if err := server.Start(); err != nil {
		t.Fatal(err)
	}
	defer func() { server.Process.Kill(); server.Wait() }()
	for n := 0; ; n++ {
		text, _ := os.ReadFile(dir + "/flink.log")
		if bytes.Contains(text, []byte("JobService started")) {
			break
		}
		if n == 600 {
			t.Fatalf("Flink does not start: %s", text)
		}
		time.Sleep(100 * time.Millisecond)
	}
	picture(t, dir+"/in.zarr", 600, 900)
	if err := store.Integrate(ctx, dir+"/in.zarr", dir+"/want.zarr", &store.Options{Block: 128, Compression: "zstd"}); err != nil {
		t.Fatal(err)
	}
	out, err := exec.Command(binary, "-in", dir+"/in.zarr", "-out", dir+"/out.zarr", "-chunk", "128",
		"--runner=universal", "--endpoint="+endpoint, "--environment_type=LOOPBACK", "--parallelism=2").CombinedOutput()
	if err != nil {
		text, _ := os.ReadFile(dir + "/flink.log")
		t.Fatalf("%v: %s\n%s", err, out, text[max(0, len(text)-3000):])
	}
	if !bytes.Contains(out, []byte("40 blocks in")) {
		t.Errorf("the report is %s", out)
	}
	same(t, dir+"/want.zarr", dir+"/out.zarr")
}
