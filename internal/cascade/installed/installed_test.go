package installed

import (
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

func TestFind(t *testing.T) {
	named, more := t.TempDir(), t.TempDir()
	t.Setenv(variable, named)
	for _, path := range []string{
		filepath.Join(named, "haarcascade_zebra.xml"), filepath.Join(named, "lbpcascade_zebra_left.xml"), filepath.Join(more, "haarcascade_okapi_default.xml"),
		filepath.Join(named, "haarcascades", "haarcascade_kudu.xml"), filepath.Join(more, "haarcascade_kudu_default.xml"),
	} {
		if err := os.MkdirAll(filepath.Dir(path), 0o777); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(path, nil, 0o666); err != nil {
			t.Fatal(err)
		}
	}
	for name, want := range map[string]string{
		"zebra":                     filepath.Join(named, "haarcascade_zebra.xml"),
		"haarcascade_zebra":         filepath.Join(named, "haarcascade_zebra.xml"),
		"haarcascade_zebra.xml":     filepath.Join(named, "haarcascade_zebra.xml"),
		"zebra_l":                   filepath.Join(named, "lbpcascade_zebra_left.xml"),
		"okapi":                     filepath.Join(more, "haarcascade_okapi_default.xml"),
		"kudu":                      filepath.Join(named, "haarcascades", "haarcascade_kudu.xml"),
		"none/there":                "none/there", // a path, which the caller opens
		"none-there-either.xml":     "none-there-either.xml",
		filepath.Join(more, "file"): filepath.Join(more, "file"),
	} {
		got, err := Find(filepath.FromSlash(name), more)
		if err != nil || got != filepath.FromSlash(want) {
			t.Errorf("Find(%q) = %q, %v, want %q", name, got, err, want)
		}
	}
	if _, err := Find("quagga"); !errors.Is(err, fs.ErrNotExist) || !strings.Contains(err.Error(), `no cascade is named "quagga", want one of `) {
		t.Errorf("Find of an unknown name: %v", err)
	}
	if _, err := Find("ebra"); err == nil || !strings.Contains(err.Error(), "haarcascade_zebra, lbpcascade_zebra_left") {
		t.Errorf("Find of a part of two names: %v", err)
	}
}
