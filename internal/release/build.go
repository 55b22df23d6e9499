package main

import (
	"bytes"
	"cmp"
	"crypto/sha256"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"runtime"
	"slices"
	"strings"
	"time"
)

// platforms are those with programs of their own, each with one that can use GPUs and one that cannot:
// on Linux the former needs the system's C library, and kernels for CUDA are a quarter of it.
var platforms = []string{"linux/amd64", "linux/arm64", "darwin/arm64", "darwin/amd64", "windows/amd64"}

// largest is what a program may have at most, in bytes, if it cannot use GPUs.
const largest = 20e6

type release struct {
	version, commit string
	at              time.Time // of the commit
	folder, work    string
	texts           []file // that go with every program
}

func build(w io.Writer, version, out string, only []string) error {
	if !regexp.MustCompile(`^v\d+\.\d+\.\d+(-[0-9a-z.]+)?$`).MatchString(version) {
		return fmt.Errorf("VERSION=%s is not like v0.2.0", version)
	}
	for _, name := range only {
		if !slices.Contains(platforms, name) {
			return fmt.Errorf("%s is none of %s", name, strings.Join(platforms, ", "))
		}
	}
	r := &release{version: version, folder: out}
	git := func(args ...string) (string, error) {
		text, err := exec.Command("git", args...).Output()
		return strings.TrimSpace(string(text)), err
	}
	commit, err := git("rev-parse", "HEAD")
	if err != nil {
		return fmt.Errorf("git: %w", err)
	}
	when, err := git("show", "-s", "--format=%cI", "HEAD")
	if err != nil {
		return fmt.Errorf("git: %w", err)
	}
	if r.at, err = time.Parse(time.RFC3339, when); err != nil {
		return err
	}
	r.at = r.at.UTC()
	if changed, err := git("status", "--porcelain", "--untracked-files=no"); err != nil {
		return err
	} else if changed != "" {
		commit += "+changes"
		fmt.Fprintln(w, "there are changes that are not committed: the commit is named with +changes")
	}
	r.commit = commit
	if r.work, err = os.MkdirTemp("", "boxsum-release"); err != nil {
		return err
	}
	defer os.RemoveAll(r.work)
	if err := os.MkdirAll(out, 0o755); err != nil {
		return err
	}
	if err := r.writeTexts(); err != nil {
		return err
	}
	for _, platform := range platforms {
		if len(only) > 0 && !slices.Contains(only, platform) {
			continue
		}
		if err := r.platform(w, platform); err != nil {
			return fmt.Errorf("%s: %w", platform, err)
		}
	}
	return r.sbom()
}

// compile makes a program, whose bytes depend on the sources and Go alone.
func (r *release) compile(goos, goarch, tags string) ([]byte, error) {
	path := filepath.Join(r.work, "boxsum-"+goos+"-"+goarch+tags)
	const at = "github.com/boxsum/boxsum/internal/cli."
	set := fmt.Sprintf("-s -w -buildid= -X %srelease=%s -X %scommit=%s -X %sdate=%s", at, r.version, at, r.commit, at, r.at.Format(time.RFC3339))
	tags += ",nethttpomithttp2" // programs speak HTTP/1.1 to web servers, see docs/versions.md
	cmd := exec.Command("go", "build", "-trimpath", "-buildvcs=false", "-tags", tags, "-ldflags", set, "-o", path, "./cmd/boxsum")
	cmd.Env = append(os.Environ(), "CGO_ENABLED=0", "GOOS="+goos, "GOARCH="+goarch, "GOFLAGS=", "GOAMD64=v1", "GOARM64=v8.0")
	cmd.Stderr = os.Stderr
	if err := cmd.Run(); err != nil {
		return nil, fmt.Errorf("go build: %w", err)
	}
	return os.ReadFile(path)
}

// writeTexts has a program of this machine print its manual page and completions.
func (r *release) writeTexts() error {
	host, err := r.compile(runtime.GOOS, runtime.GOARCH, "nogpu")
	if err != nil {
		return err
	}
	program := filepath.Join(r.work, "host")
	if err := os.WriteFile(program, host, 0o755); err != nil {
		return err
	}
	for _, one := range []struct {
		name string
		args []string
	}{
		{"boxsum.1", []string{"man"}},
		{"completions/boxsum.bash", []string{"completion", "bash"}},
		{"completions/_boxsum", []string{"completion", "zsh"}},
		{"completions/boxsum.fish", []string{"completion", "fish"}},
	} {
		text, err := exec.Command(program, one.args...).Output()
		if err != nil {
			return fmt.Errorf("boxsum %s: %w", strings.Join(one.args, " "), err)
		}
		r.texts = append(r.texts, file{name: one.name, data: text})
	}
	for _, name := range []string{"LICENSE", "README.md", "CHANGELOG.md"} {
		text, err := os.ReadFile(name)
		if err != nil {
			return err
		}
		r.texts = append(r.texts, file{name: name, data: text})
	}
	var texts bytes.Buffer
	if err := licenceTexts(&texts, "./cmd/boxsum"); err != nil {
		return err
	}
	r.texts = append(r.texts, file{name: "LICENCES.txt", data: texts.Bytes()})
	slices.SortFunc(r.texts, func(a, b file) int { return cmp.Compare(a.name, b.name) })
	return nil
}

func (r *release) platform(w io.Writer, platform string) error {
	goos, goarch, _ := strings.Cut(platform, "/")
	name := fmt.Sprintf("boxsum_%s_%s_%s", strings.TrimPrefix(r.version, "v"), goos, goarch)
	small, err := r.compile(goos, goarch, "nogpu")
	if err != nil {
		return err
	}
	if err := r.pack(w, name, goos, small); err != nil {
		return err
	}
	tags := ""
	if goos == "darwin" {
		tags = "nocuda" // which macOS does not have: 4 MB of kernels
	}
	dynamic, err := r.compile(goos, goarch, tags)
	if err != nil {
		return err
	}
	if err := r.pack(w, name+"-gpu", goos, dynamic); err != nil || goos != "linux" {
		return err
	}
	files := []file{{"usr/bin/boxsum", dynamic, true}}
	for _, f := range r.texts {
		switch f.name {
		case "boxsum.1":
			packed, err := gzipped(f.data)
			if err != nil {
				return err
			}
			files = append(files, file{name: "usr/share/man/man1/boxsum.1.gz", data: packed})
		case "completions/boxsum.bash":
			files = append(files, file{name: "usr/share/bash-completion/completions/boxsum", data: f.data})
		case "completions/_boxsum":
			files = append(files, file{name: "usr/share/zsh/vendor-completions/_boxsum", data: f.data})
		case "completions/boxsum.fish":
			files = append(files, file{name: "usr/share/fish/vendor_completions.d/boxsum.fish", data: f.data})
		case "LICENSE":
			files = append(files, file{name: "usr/share/doc/boxsum/copyright", data: f.data})
		default:
			files = append(files, file{name: "usr/share/doc/boxsum/" + f.name, data: f.data})
		}
	}
	slices.SortFunc(files, func(a, b file) int { return cmp.Compare(a.name, b.name) })
	return r.write(w, fmt.Sprintf("boxsum_%s_%s.deb", strings.TrimPrefix(r.version, "v"), goarch), func(to io.Writer) error {
		return deb(to, r.version, goarch, "Depends: libc6\n", files, r.at)
	})
}

func gzipped(data []byte) ([]byte, error) {
	var b bytes.Buffer
	z := newGzip(&b)
	if _, err := z.Write(data); err != nil {
		return nil, err
	}
	err := z.Close()
	return b.Bytes(), err
}

// pack puts a program and its texts into an archive.
func (r *release) pack(w io.Writer, name, goos string, program []byte) error {
	if fmt.Fprintf(w, "%s: the program has %.1f MB\n", name, float64(len(program))/1e6); len(program) > largest && !strings.HasSuffix(name, "-gpu") {
		return fmt.Errorf("%s: a program of %d bytes: it may have %d, see docs/versions.md", name, len(program), int(largest))
	}
	if goos == "windows" {
		files := append([]file{{"boxsum.exe", program, true}}, r.texts...)
		return r.write(w, name+".zip", func(to io.Writer) error { return zipped(to, name, files, r.at) })
	}
	files := append([]file{{"boxsum", program, true}}, r.texts...)
	return r.write(w, name+".tar.gz", func(to io.Writer) error { return tarGz(to, name, files, r.at) })
}

func (r *release) write(w io.Writer, name string, fill func(io.Writer) error) (err error) {
	to, err := os.Create(filepath.Join(r.folder, name))
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, to.Close()) }()
	if err := fill(to); err != nil {
		return err
	}
	info, err := to.Stat()
	if err == nil {
		fmt.Fprintf(w, "%s  %.1f MB\n", name, float64(info.Size())/1e6)
	}
	return err
}

// sbom lists what programs and wheels are made of, as SPDX 2.3.
func (r *release) sbom() error {
	all, err := dependencies(".", false, "./cmd/boxsum", "./python/clib")
	if err != nil {
		return err
	}
	version, err := exec.Command("go", "env", "GOVERSION").Output()
	if err != nil {
		return err
	}
	all = append(all, dependency{Path: "std", Version: strings.TrimPrefix(strings.TrimSpace(string(version)), "go"), Licence: "BSD-3-Clause"})
	type item = map[string]any
	one := func(id, name, version, licence string) item {
		return item{"SPDXID": "SPDXRef-" + id, "name": name, "versionInfo": version, "downloadLocation": "NOASSERTION", "filesAnalyzed": false,
			"licenseConcluded": licence, "licenseDeclared": licence, "copyrightText": "NOASSERTION",
			"externalRefs": []item{{"referenceCategory": "PACKAGE-MANAGER", "referenceType": "purl", "referenceLocator": "pkg:golang/" + name + "@" + version}}}
	}
	packages := []item{one("boxsum", "github.com/boxsum/boxsum", r.version, "MIT")}
	related := []item{{"spdxElementId": "SPDXRef-DOCUMENT", "relationshipType": "DESCRIBES", "relatedSpdxElement": "SPDXRef-boxsum"}}
	for i, d := range all {
		id := fmt.Sprintf("module-%d", i+1)
		packages = append(packages, one(id, d.Path, d.Version, d.Licence))
		related = append(related, item{"spdxElementId": "SPDXRef-boxsum", "relationshipType": "DEPENDS_ON", "relatedSpdxElement": "SPDXRef-" + id})
	}
	text, err := json.MarshalIndent(item{
		"spdxVersion": "SPDX-2.3", "dataLicense": "CC0-1.0", "SPDXID": "SPDXRef-DOCUMENT", "name": "boxsum " + r.version,
		"documentNamespace": "https://github.com/boxsum/boxsum/releases/download/" + r.version + "/boxsum.spdx.json/" + r.commit,
		"creationInfo":      item{"created": r.at.Format(time.RFC3339), "creators": []string{"Tool: boxsum internal/release"}},
		"packages":          packages, "relationships": related,
	}, "", "  ")
	if err != nil {
		return err
	}
	return os.WriteFile(filepath.Join(r.folder, "boxsum.spdx.json"), append(text, '\n'), 0o644)
}

// sums writes SHA256SUMS of all other files of a folder.
func sums(folder string) error {
	files, err := os.ReadDir(folder)
	if err != nil {
		return err
	}
	var text strings.Builder
	for _, f := range files {
		if f.Name() == "SHA256SUMS" || !f.Type().IsRegular() {
			continue
		}
		data, err := os.ReadFile(filepath.Join(folder, f.Name()))
		if err != nil {
			return err
		}
		fmt.Fprintf(&text, "%x  %s\n", sha256.Sum256(data), f.Name())
	}
	return os.WriteFile(filepath.Join(folder, "SHA256SUMS"), []byte(text.String()), 0o644)
}
