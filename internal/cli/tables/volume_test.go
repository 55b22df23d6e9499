package tables

import (
	"bytes"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/boxsum/boxsum"
	"github.com/boxsum/boxsum/imgio"
	"github.com/boxsum/boxsum/internal/cli/console"
	"github.com/boxsum/boxsum/internal/cli/imagefile"
)

// sliceFolder is a folder of four slices.
func sliceFolder(t *testing.T) string {
	t.Helper()
	folder := t.TempDir()
	for _, name := range []string{"1", "2", "3", "4"} {
		if err := os.WriteFile(filepath.Join(folder, name+".pgm"), []byte("P2 3 2 255 1 2 3 4 5 "+name), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	return folder
}

// TestSliceBySlice writes tables as their slices come, which are those of tables
// in memory.
func TestSliceBySlice(t *testing.T) {
	stack, err := imgio.OpenStack(sliceFolder(t), imgio.ToGray)
	if err != nil {
		t.Fatal(err)
	}
	made, err := newSolid(pairOf[uint8, uint32, uint64](), stack, tableChoice{squares: true})
	if err != nil {
		t.Fatal(err)
	}
	if err := made.load(t.Context(), func(int64) {}); err != nil {
		t.Fatal(err)
	}
	streamed := planSolid(pairOf[uint8, uint32, uint64](), stack, tableChoice{squares: true})
	streamed.streams = true
	var files [4]bytes.Buffer
	for i, work := range []job{made, streamed} {
		if work.streamed() != (i == 1) {
			t.Fatalf("job %d goes slice by slice, or not", i)
		}
		if err := work.integrate(nil, &boxsum.Options{}); err != nil {
			t.Fatal(err)
		}
		if err := work.writeNPY(&files[i]); err != nil {
			t.Fatal(err)
		}
		if err := work.writeNPZ(&files[2+i]); err != nil {
			t.Fatal(err)
		}
	}
	if !bytes.Equal(files[0].Bytes(), files[1].Bytes()) || !bytes.Equal(files[2].Bytes(), files[3].Bytes()) {
		t.Error("the files differ")
	}
	if r := newReport(streamed, nil, &boxsum.Options{}, 1, ""); !strings.HasPrefix(r.String(), "3×2×4 u8→u32+u64, slice by slice, ") {
		t.Error(r)
	}
}

// TestSliceFails ends a file that has been begun at a slice that cannot be read,
// and leaves none behind.
func TestSliceFails(t *testing.T) {
	folder := sliceFolder(t)
	stack, err := imgio.OpenStack(folder, imgio.ToGray)
	if err != nil {
		t.Fatal(err)
	}
	work := planSolid(pairOf[uint8, uint32, uint64](), stack, tableChoice{squares: true})
	work.streams = true
	if err := os.WriteFile(filepath.Join(folder, "3.pgm"), []byte("P2 3 2 255 1 2"), 0o600); err != nil {
		t.Fatal(err)
	}
	dir := t.TempDir()
	sh := &console.Shell{Ctx: t.Context(), Stdout: t.Output(), Stderr: t.Output()}
	for name, write := range map[string]func(io.Writer) error{"out.npy": work.writeNPY, "out.npz": work.writeNPZ} {
		if err := imagefile.Save(sh, filepath.Join(dir, name), 0, write); err == nil || !strings.Contains(err.Error(), "3.pgm") {
			t.Errorf("%s: error is %v", name, err)
		}
	}
	wantEmpty(t, dir)
}

// FuzzParseBlock holds that what parses is printed as it parses again.
func FuzzParseBlock(f *testing.F) {
	for _, text := range []string{"0,0,0,1,1,1", "-1, 2 ,3,4,5,6", "1,2,3", "0,0,0,99999999999999999999,1,1", "1,0,0,0,1,1"} {
		f.Add(text)
	}
	f.Fuzz(func(t *testing.T, text string) {
		b, err := parseBox(text, 6)
		if err != nil {
			return
		}
		if again, err := parseBox(b.String(), 6); err != nil || !slices.Equal(again, b) {
			t.Errorf("%q is %v, which is %v: %v", text, b, again, err)
		}
	})
}

func wantEmpty(t *testing.T, dir string) {
	t.Helper()
	if entries, err := os.ReadDir(dir); err != nil || len(entries) > 0 {
		t.Errorf("%s has %v, %v", dir, entries, err)
	}
}
