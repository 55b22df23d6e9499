package main

import (
	"archive/tar"
	"bytes"
	"compress/gzip"
	"encoding/json"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"
)

var someFiles = []file{{"usr/bin/boxsum", []byte("program"), true}, {"usr/share/doc/a.txt", []byte("text"), false}}

func TestTarGz(t *testing.T) {
	at := time.Unix(1e9, 0)
	var one, two bytes.Buffer
	if err := tarGz(&one, "top", someFiles, at); err != nil {
		t.Fatal(err)
	}
	tarGz(&two, "top", someFiles, at)
	if !bytes.Equal(one.Bytes(), two.Bytes()) {
		t.Error("two archives of the same files differ")
	}
	z, err := gzip.NewReader(&one)
	if err != nil {
		t.Fatal(err)
	}
	var names []string
	for r := tar.NewReader(z); ; {
		h, err := r.Next()
		if err == io.EOF {
			break
		}
		if err != nil {
			t.Fatal(err)
		}
		names = append(names, h.Name)
		if h.Name == "top/usr/bin/boxsum" && h.Mode != 0o755 {
			t.Errorf("the program has mode %o", h.Mode)
		}
	}
	if got, want := strings.Join(names, " "), "top/ top/usr/ top/usr/bin/ top/usr/bin/boxsum top/usr/share/ top/usr/share/doc/ top/usr/share/doc/a.txt"; got != want {
		t.Errorf("%s\nnot %s", got, want)
	}
}

func TestDeb(t *testing.T) {
	if _, err := exec.LookPath("dpkg-deb"); err != nil {
		t.Skip("it takes dpkg-deb")
	}
	path := filepath.Join(t.TempDir(), "a.deb")
	var b bytes.Buffer
	if err := deb(&b, "v1.2.3-rc.1", "amd64", "", someFiles, time.Unix(1e9, 0)); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(path, b.Bytes(), 0o600); err != nil {
		t.Fatal(err)
	}
	for _, args := range [][]string{{"-f", path, "Version"}, {"-c", path}} {
		out, err := exec.Command("dpkg-deb", args...).CombinedOutput()
		if err != nil || !strings.Contains(string(out), map[string]string{"-f": "1.2.3~rc.1", "-c": "./usr/bin/boxsum"}[args[0]]) {
			t.Errorf("dpkg-deb %v: %s %v", args, out, err)
		}
	}
}

func TestLicencesOf(t *testing.T) {
	text, err := os.ReadFile("../../LICENSE")
	if err != nil {
		t.Fatal(err)
	}
	if got, err := licencesOf(string(text)); err != nil || len(got) != 1 || got[0] != "MIT" {
		t.Error(got, err)
	}
	for _, text := range []string{"All rights reserved.", "", string(text)[:200], "Permission is hereby granted, free of charge, to any person obtaining a copy of this software, but not to use it.",
		strings.Repeat("But you must not. ", 100) + string(text)} {
		if got, err := licencesOf(text); err == nil {
			t.Errorf("%.40q is taken for %v", text, got)
		}
	}
}

func TestMistakes(t *testing.T) {
	for _, args := range [][]string{{}, {"deploy"}, {"build"}, {"build", "-version", "0.2"}, {"build", "-version", "v1.0.0", "-only", "plan9/amd64"}, {"sums"}, {"sums", "/no/such/folder"}} {
		if run(args, io.Discard) == nil {
			t.Errorf("release %v was done", args)
		}
	}
}

func TestSBOM(t *testing.T) {
	t.Chdir("../..")
	r := &release{version: "v1.2.3", commit: "0123", at: time.Unix(1e9, 0).UTC(), folder: t.TempDir()}
	if err := r.sbom(); err != nil {
		t.Fatal(err)
	}
	text, err := os.ReadFile(r.folder + "/boxsum.spdx.json")
	if err != nil {
		t.Fatal(err)
	}
	var list struct {
		DocumentNamespace string
		Packages          []struct{ SPDXID, Name, VersionInfo, LicenseConcluded string }
	}
	if err := json.Unmarshal(text, &list); err != nil {
		t.Fatal(err)
	}
	if strings.Contains(list.DocumentNamespace, "#") { // SPDX keeps it for elements
		t.Error(list.DocumentNamespace)
	}
	seen := map[string]bool{}
	for _, p := range list.Packages {
		if seen[p.SPDXID] || p.Name == "" || p.VersionInfo == "" || p.LicenseConcluded == "" {
			t.Errorf("%+v", p)
		}
		seen[p.SPDXID] = true
	}
	if len(seen) < 5 {
		t.Errorf("%d packages", len(seen))
	}
	if path := os.Getenv("BOXSUM_SBOM"); path != "" {
		if err := os.WriteFile(path, text, 0o644); err != nil {
			t.Fatal(err)
		}
	}
}
