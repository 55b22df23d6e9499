package main

import (
	"bytes"
	"cmp"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"

	"github.com/google/licensecheck"
)

// ours is the module, and those in folders of it begin with its name.
const ours = "github.com/boxsum/boxsum"

// A dependency is a module that packages of ours stand on, with its licences.
type dependency struct {
	Path, Version, Dir string
	Licence            string // as SPDX names it
	Texts              []string
}

// allowed are the licences that dependencies may have, as SPDX names them.
var allowed = []string{"Apache-2.0", "BSD-2-Clause", "BSD-3-Clause", "CC0-1.0", "ISC", "MIT", "MPL-2.0", "Unlicense"}

// licencesOf names the licences that the text of one is made of. It is an error if much of the text is none that is known, or one is not allowed.
func licencesOf(text string) (names []string, err error) {
	cover := licensecheck.Scan([]byte(text))
	for _, m := range cover.Match {
		name := strings.TrimSuffix(m.ID, "-Header") // files refer to Apache's by it
		if m.IsURL {
			continue
		}
		if !slices.Contains(allowed, name) {
			return nil, fmt.Errorf("%s is not among those that are allowed", m.ID)
		}
		names = append(names, name)
	}
	slices.Sort(names)
	if names = slices.Compact(names); len(names) == 0 || cover.Percent < 75 {
		return nil, fmt.Errorf("only %.0f%% of the text is known, as %s", cover.Percent, strings.Join(names, " and "))
	}
	return names, nil
}

// dependencies lists the modules of all packages that those named stand on, sorted. With
// tests also those of their tests.
func dependencies(folder string, tests bool, packages ...string) ([]dependency, error) {
	args := []string{"list", "-deps", "-json=Module,Standard"}
	if tests {
		args = append(args, "-test")
	}
	cmd := exec.Command("go", append(args, packages...)...)
	cmd.Dir, cmd.Stderr = folder, os.Stderr
	cmd.Env = append(os.Environ(), "CGO_ENABLED=1") // the library for Python counts, also where there is no C compiler
	out, err := cmd.Output()
	if err != nil {
		return nil, fmt.Errorf("go list in %s: %w", folder, err)
	}
	found := map[string]dependency{}
	for d := json.NewDecoder(bytes.NewReader(out)); ; {
		var p struct {
			Module *struct {
				Path, Version, Dir string
				Main               bool
			}
		}
		if err := d.Decode(&p); errors.Is(err, io.EOF) {
			break
		} else if err != nil {
			return nil, err
		}
		if m := p.Module; m != nil && !m.Main && m.Version != "" && m.Path != ours && !strings.HasPrefix(m.Path, ours+"/") {
			found[m.Path] = dependency{Path: m.Path, Version: m.Version, Dir: m.Dir}
		}
	}
	var all []dependency
	for _, d := range found {
		if err := d.read(); err != nil {
			return nil, err
		}
		all = append(all, d)
	}
	slices.SortFunc(all, func(a, b dependency) int { return cmp.Compare(a.Path, b.Path) })
	return all, nil
}

// read finds the files of the licence.
func (d *dependency) read() error {
	files, err := os.ReadDir(d.Dir)
	if err != nil {
		return err
	}
	var names []string
	for _, f := range files {
		name := strings.ToUpper(f.Name())
		notice := strings.HasPrefix(name, "NOTICE")
		if f.Type().IsRegular() && !strings.HasSuffix(name, ".GO") && (strings.HasPrefix(name, "LICEN") || strings.HasPrefix(name, "UNLICEN") || strings.HasPrefix(name, "COPYING") || notice) {
			text, err := os.ReadFile(filepath.Join(d.Dir, f.Name()))
			if err != nil {
				return err
			}
			d.Texts = append(d.Texts, string(text))
			if notice || strings.HasSuffix(name, ".DOCS") { // what goes with a licence, and that of texts that are not here
				continue
			}
			more, err := licencesOf(string(text))
			if err != nil {
				return fmt.Errorf("%s %s: %s: %w: look at it, and add it to allowed in internal/release/licences.go if it may be used", d.Path, d.Version, f.Name(), err)
			}
			names = append(names, more...)
		}
	}
	slices.Sort(names)
	if d.Licence = strings.Join(slices.Compact(names), " AND "); d.Licence == "" {
		return fmt.Errorf("%s %s: no licence in %s", d.Path, d.Version, d.Dir)
	}
	return nil
}

// licences prints the licence of every dependency of every module of the project, those
// of tests and tools too. An unknown one is an error.
func licences(w io.Writer) error {
	out, err := exec.Command("git", "ls-files", "*go.mod").Output()
	if err != nil {
		return fmt.Errorf("git ls-files: %w", err)
	}
	seen := map[string]bool{}
	for _, file := range strings.Fields(string(out)) {
		if strings.Contains(file, "testdata") {
			continue
		}
		all, err := dependencies(filepath.Dir(file), true, "./...")
		if err != nil {
			return err
		}
		for _, d := range all {
			if line := fmt.Sprintf("%-14s %s %s", d.Licence, d.Path, d.Version); !seen[line] {
				seen[line] = true
				fmt.Fprintln(w, line)
			}
		}
	}
	return nil
}

// licenceTexts prints the licences of the modules that packages stand on, and Go's own:
// programs are copies of them, which have to come with these texts.
func licenceTexts(w io.Writer, packages ...string) error {
	all, err := dependencies(".", false, packages...)
	if err != nil {
		return err
	}
	root, err := exec.Command("go", "env", "GOROOT", "GOVERSION").Output()
	if err != nil {
		return fmt.Errorf("go env: %w", err)
	}
	folder, version, _ := strings.Cut(strings.TrimSpace(string(root)), "\n")
	text, err := os.ReadFile(filepath.Join(folder, "LICENSE"))
	if err != nil {
		return err
	}
	all = append(all, dependency{Path: "go.dev", Version: version, Licence: "BSD-3-Clause", Texts: []string{string(text)}})
	fmt.Fprintf(w, "boxsum is under the MIT licence. It has parts of these, each under its own.\n")
	for _, d := range all {
		fmt.Fprintf(w, "\n%s\n%s %s (%s)\n\n%s", strings.Repeat("=", 80), d.Path, d.Version, d.Licence, strings.Join(d.Texts, "\n"))
	}
	return nil
}
