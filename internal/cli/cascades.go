package cli

import (
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
)

// cascadesVariable names folders of cascades, those to look in first.
const cascadesVariable = "BOXSUM_CASCADES"

// findCascade is the file of a cascade: a path, or the name of one that is installed.
func findCascade(name string) (string, error) {
	if _, err := os.Stat(name); err == nil || strings.ContainsRune(name, os.PathSeparator) || strings.EqualFold(filepath.Ext(name), ".xml") && !inSome(name) {
		return name, nil
	}
	name = strings.TrimSuffix(name, ".xml")
	folders := cascadeFolders()
	for _, form := range []string{"%s", "haarcascade_%s", "haarcascade_%s_default", "lbpcascade_%s"} {
		for _, folder := range folders {
			path := filepath.Join(folder, fmt.Sprintf(form, name)+".xml")
			if info, err := os.Stat(path); err == nil && !info.IsDir() {
				return path, nil
			}
		}
	}
	var known []string
	found := map[string]string{} // files with the name in theirs
	for _, folder := range folders {
		entries, _ := os.ReadDir(folder)
		for _, e := range entries {
			stem, ok := strings.CutSuffix(e.Name(), ".xml")
			if !ok || slices.Contains(known, stem) {
				continue
			}
			known = append(known, stem)
			if strings.Contains(stem, name) {
				found[stem] = filepath.Join(folder, e.Name())
			}
		}
	}
	slices.Sort(known)
	switch {
	case len(found) == 1:
		for _, path := range found {
			return path, nil
		}
	case len(found) > 1:
		known = slices.DeleteFunc(known, func(stem string) bool { return found[stem] == "" })
		return "", fmt.Errorf("several cascades are called %.60q: name one of %s", name, strings.Join(known, ", "))
	}
	where := "looked in " + strings.Join(folders, ", ")
	if len(known) > 0 {
		return "", fmt.Errorf("no cascade is called %.60q: there are %s (%s)", name, strings.Join(known, ", "), where)
	}
	return "", fmt.Errorf("no cascade is called %.60q: name an .xml file of OpenCV's, install Debian's opencv-data, or let %s name their folder (%s)", name, cascadesVariable, where)
}

// inSome reports whether a folder has a file of this name.
func inSome(name string) bool {
	return slices.ContainsFunc(cascadeFolders(), func(folder string) bool {
		_, err := os.Stat(filepath.Join(folder, name))
		return !errors.Is(err, os.ErrNotExist)
	})
}

// cascadeFolders is where cascades may be: what the user says, where systems put OpenCV's
// data, and where Python packages have it.
func cascadeFolders() (folders []string) {
	add := func(parent string) {
		for _, sub := range []string{"haarcascades", "lbpcascades"} {
			folders = append(folders, filepath.Join(parent, sub))
		}
	}
	for _, folder := range filepath.SplitList(os.Getenv(cascadesVariable)) {
		if folder != "" {
			folders = append(folders, folder)
			add(folder)
		}
	}
	for _, parent := range []string{"/usr/share", "/usr/local/share", "/opt/homebrew/share"} {
		for _, name := range []string{"opencv4", "opencv"} {
			add(filepath.Join(parent, name))
		}
	}
	var pythons []string // folders with lib/python3.x in them
	for _, name := range []string{"python3", "python"} {
		if path, err := exec.LookPath(name); err == nil { // as it is: a link of a virtual environment is in it
			pythons = append(pythons, filepath.Dir(filepath.Dir(path)))
		}
	}
	if home, err := os.UserHomeDir(); err == nil {
		pythons = append(pythons, filepath.Join(home, ".local"))
	}
	for _, python := range append(pythons, os.Getenv("VIRTUAL_ENV"), "/usr/local", "/usr") {
		if python == "" {
			continue
		}
		for _, packages := range []string{"site-packages", "dist-packages"} {
			data, _ := filepath.Glob(filepath.Join(python, "lib", "python3*", packages, "cv2", "data"))
			folders = append(folders, data...)
		}
	}
	return compactPaths(folders)
}

// compactPaths leaves out what comes again.
func compactPaths(paths []string) (once []string) {
	for _, p := range paths {
		if !slices.Contains(once, p) {
			once = append(once, p)
		}
	}
	return once
}
