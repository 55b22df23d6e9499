// Package installed finds cascades by name in the folders where systems and Python packages install
// those of OpenCV.
package installed

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
)

// variable is the environment variable that lists folders to search first.
const variable = "BOXSUM_CASCADES"

// Find returns the path of a cascade, given a path or the name of an installed one, such as
// "frontalface_alt2". It searches the given folders first, and then [Folders]. The error for an unknown
// name is a [fs.ErrNotExist].
func Find(name string, first ...string) (string, error) {
	folders := compact(slices.Concat(first, Folders()))
	if _, err := os.Stat(name); err == nil || strings.ContainsRune(name, os.PathSeparator) || strings.EqualFold(filepath.Ext(name), ".xml") && !inSome(folders, name) {
		return name, nil
	}
	name = strings.TrimSuffix(name, ".xml")
	for _, form := range []string{"%s", "haarcascade_%s", "haarcascade_%s_default", "lbpcascade_%s"} {
		for _, folder := range folders {
			path := filepath.Join(folder, fmt.Sprintf(form, name)+".xml")
			if info, err := os.Stat(path); err == nil && !info.IsDir() {
				return path, nil
			}
		}
	}
	var known []string
	found := map[string]string{} // files whose names contain the name
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
		return "", fmt.Errorf("several cascades are named %.60q, want one of %s", name, strings.Join(known, ", "))
	}
	named := slices.Concat(first, filepath.SplitList(os.Getenv(variable))) // listed even if missing: the name may be mistyped
	unnamed := func(folder string) bool { return missingFolder(folder) && !slices.Contains(named, folder) }
	if present := slices.DeleteFunc(slices.Clone(folders), unnamed); len(present) > 0 {
		folders = present
	}
	where := "looked in " + strings.Join(folders, ", ")
	if len(known) > 0 {
		return "", notFound("no cascade is named %.60q, want one of %s (%s)", name, strings.Join(known, ", "), where)
	}
	return "", notFound("no cascade is named %.60q: name one of OpenCV's .xml files, install Debian's opencv-data, or set %s to their folder (%s)", name, variable, where)
}

// notFound returns an error that is a [fs.ErrNotExist] and has only the given text.
func notFound(format string, values ...any) error {
	return missing(fmt.Sprintf(format, values...))
}

type missing string

func (m missing) Error() string      { return string(m) }
func (missing) Is(target error) bool { return target == fs.ErrNotExist }

func missingFolder(path string) bool {
	_, err := os.Stat(path)
	return err != nil
}

// inSome reports whether a folder has a file of this name.
func inSome(folders []string, name string) bool {
	return slices.ContainsFunc(folders, func(folder string) bool {
		_, err := os.Stat(filepath.Join(folder, name))
		return !errors.Is(err, os.ErrNotExist)
	})
}

// Folders lists the folders in which cascades may be: those in the environment variable BOXSUM_CASCADES,
// those where systems install OpenCV's data, and those of Python packages.
func Folders() (folders []string) {
	folders = Listed(os.Getenv(variable))
	for _, parent := range []string{"/usr/share", "/usr/local/share", "/opt/homebrew/share"} {
		for _, name := range []string{"opencv4", "opencv"} {
			folders = append(folders, parts(filepath.Join(parent, name))...)
		}
	}
	var pythons []string // folders that contain lib/python3.x
	for _, name := range []string{"python3", "python"} {
		if path, err := exec.LookPath(name); err == nil { // symbolic links are not resolved: that of a virtual environment is in its folder
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
	return compact(folders)
}

// Listed returns the folders of a list in the form of BOXSUM_CASCADES, each followed by its parts.
func Listed(list string) (folders []string) {
	for _, folder := range filepath.SplitList(list) {
		if folder != "" {
			folders = append(append(folders, folder), parts(folder)...)
		}
	}
	return folders
}

// parts returns the subfolders into which OpenCV sorts its cascades.
func parts(folder string) []string {
	return []string{filepath.Join(folder, "haarcascades"), filepath.Join(folder, "lbpcascades")}
}

// compact removes duplicates.
func compact(paths []string) (once []string) {
	for _, p := range paths {
		if !slices.Contains(once, p) {
			once = append(once, p)
		}
	}
	return once
}
