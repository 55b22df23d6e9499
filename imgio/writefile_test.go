package imgio

import (
	"errors"
	"io"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

func text(s string) func(io.Writer) error {
	return func(w io.Writer) error { _, err := io.WriteString(w, s); return err }
}

func content(t *testing.T, path string) string {
	t.Helper()
	b, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	return string(b)
}

// only fails the test if a folder contains anything but the given names.
func only(t *testing.T, dir string, names ...string) {
	t.Helper()
	entries, err := os.ReadDir(dir)
	if err != nil {
		t.Fatal(err)
	}
	var got []string
	for _, e := range entries {
		got = append(got, e.Name())
	}
	if strings.Join(got, " ") != strings.Join(names, " ") {
		t.Errorf("the folder holds %q, want %q", got, names)
	}
}

func TestWriteFile(t *testing.T) {
	dir := t.TempDir()
	path := filepath.Join(dir, "out")
	if err := WriteFile(path, text("first")); err != nil {
		t.Fatal(err)
	}
	plain, err := os.Create(filepath.Join(t.TempDir(), "plain"))
	if err != nil {
		t.Fatal(err)
	}
	defer plain.Close()
	wantMode, _ := plain.Stat()
	if info, _ := os.Stat(path); info.Mode() != wantMode.Mode() {
		t.Errorf("mode %v, want %v as of any new file", info.Mode(), wantMode.Mode())
	}

	broken := errors.New("broken")
	err = WriteFile(path, func(w io.Writer) error { return errors.Join(text("half")(w), broken) })
	if !errors.Is(err, broken) || content(t, path) != "first" {
		t.Errorf("error %v, content %q", err, content(t, path))
	}
	func() {
		defer func() {
			if recover() != "help" {
				t.Error("the panic is lost")
			}
		}()
		_ = WriteFile(path, func(w io.Writer) error { _ = text("half")(w); panic("help") })
	}()
	only(t, dir, "out")

	if err := os.Chmod(path, 0o640); err != nil {
		t.Fatal(err)
	}
	if err := os.Symlink("out", filepath.Join(dir, "link")); err != nil {
		t.Fatal(err)
	}
	if err := WriteFile(filepath.Join(dir, "link"), text("second")); err != nil {
		t.Fatal(err)
	}
	if info, _ := os.Lstat(path); content(t, path) != "second" || info.Mode() != 0o640 {
		t.Errorf("%q, mode %v", content(t, path), info.Mode())
	}
	if info, _ := os.Lstat(filepath.Join(dir, "link")); info.Mode()&os.ModeSymlink == 0 {
		t.Error("the link is gone")
	}
	only(t, dir, "link", "out")

	for _, long := range []string{strings.Repeat("é", 120), strings.Repeat("日", 83)} {
		if err := WriteFile(filepath.Join(dir, long), text("x")); err != nil {
			t.Error(err)
		}
	}
}

func TestWriteFileRefuses(t *testing.T) {
	dir := t.TempDir()
	never := func(io.Writer) error { t.Error("write was called"); return nil }
	if err := WriteFile(dir, never); err == nil {
		t.Error("a folder is written")
	}
	if err := WriteFile(filepath.Join(dir, "no", "file"), never); !errors.Is(err, os.ErrNotExist) {
		t.Errorf("no folder: %v", err)
	}
	file := filepath.Join(dir, "file")
	if err := WriteFile(file, text("x")); err != nil {
		t.Fatal(err)
	}
	if err := WriteFile(filepath.Join(file, "below"), never); err == nil {
		t.Error("a file is taken for a folder")
	}
	only(t, dir, "file")
}

func TestWriteFileDevice(t *testing.T) {
	if err := WriteFile(os.DevNull, text("gone")); err != nil {
		t.Error(err)
	}
	broken := errors.New("broken")
	if err := WriteFile(os.DevNull, func(io.Writer) error { return broken }); !errors.Is(err, broken) {
		t.Error(err)
	}
	if info, err := os.Stat(os.DevNull); err != nil || info.Mode().IsRegular() {
		t.Fatal("the null device was removed", err)
	}
}

func TestWriteFileNamesNoOther(t *testing.T) {
	dir := t.TempDir()
	path := filepath.Join(dir, "out.npy")
	for name, write := range map[string]func(io.Writer) error{
		"closed": func(w io.Writer) error {
			w.(unnamed).Writer.(*os.File).Close()
			_, err := w.Write([]byte{1})
			return err
		},
		"gone": func(io.Writer) error { return os.RemoveAll(dir) },
	} {
		err := WriteFile(path, write)
		if err == nil || strings.Contains(err.Error(), ".tmp") || !strings.Contains(err.Error(), "out.npy") {
			t.Errorf("%s: %v", name, err)
		}
		os.MkdirAll(dir, 0o777)
	}
	if err := WriteFile(filepath.Join(dir, "none", "out"), text("x")); err == nil || strings.Contains(err.Error(), ".tmp") {
		t.Errorf("no folder: %v", err)
	}
}
