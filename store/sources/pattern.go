package sources

import (
	"cmp"
	"context"
	"math"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"

	"github.com/boxsum/boxsum/zarr"
)

// isPattern reports whether a location stands for many files: it contains {row} and
// {column}, or {x} and {y}, or a * for TIFF files that contain their position.
func isPattern(location string) bool {
	if strings.Contains(location, "://") || !patternOf(location).stands() {
		return false
	}
	_, err := os.Lstat(location) // a file may have this name
	return err != nil
}

// IsMosaic reports whether [Open] treats a location as many images: a list (.csv), a
// virtual file of GDAL (.vrt), or a pattern of file names.
func IsMosaic(location string) bool {
	if isPattern(location) {
		return true
	}
	switch strings.ToLower(filepath.Ext(location)) {
	case ".vrt", ".csv":
		return !strings.Contains(location, "://")
	}
	return false
}

// openPattern opens the files whose names match a pattern.
func openPattern(ctx context.Context, pattern string, in nest) (*zarr.Array, error) {
	pattern = filepath.Clean(pattern)
	names, seen := patternOf(pattern), map[string]bool{}
	for _, part := range names {
		switch {
		case part.place == "" || part.place == "*":
		case seen[part.place]:
			return nil, bad("pattern %s has {%s} twice, want once", pattern, part.place)
		default:
			seen[part.place] = true
		}
	}
	found, err := fitting(pattern)
	if err != nil {
		return nil, err
	}
	list := placed{byGrid: seen["row"] || seen["column"]}
	for _, path := range found {
		texts, ok := names.fit(path)
		if !ok {
			continue
		}
		var at [2]int
		for i, part := range names {
			axis, ok := map[string]int{"x": 0, "column": 0, "y": 1, "row": 1}[part.place]
			if !ok {
				continue
			}
			if at[axis], err = strconv.Atoi(texts[i]); err != nil || at[axis] > math.MaxInt32 {
				return nil, bad("%s: %s is %s, want 0 to %d", path, part.place, texts[i], math.MaxInt32)
			}
		}
		list.tiles = append(list.tiles, Tile{path, at[0], at[1]})
	}
	switch {
	case len(list.tiles) == 0:
		return nil, bad("no file matches %s", pattern)
	case len(seen) == 0:
		paths := make([]string, len(list.tiles))
		for i, t := range list.tiles {
			paths[i] = t.Location
		}
		tiles, err := PlaceTIFFs(ctx, paths)
		if err != nil {
			return nil, err
		}
		return openTiles(ctx, tiles, in)
	case !(seen["row"] && seen["column"] && len(seen) == 2 || seen["x"] && seen["y"] && len(seen) == 2):
		return nil, bad("pattern %s has no position, want {row} and {column}, or {x} and {y}", pattern)
	}
	return list.open(ctx, in)
}

// A namePattern is a pattern of paths, split into parts.
type namePattern []namePart

// A namePart is literal text or, if place is not empty, a position, a number, or * for
// anything within a file name.
type namePart struct{ text, place string }

// patternOf parses a pattern, or a part of one.
func patternOf(pattern string) (p namePattern) {
	last := 0
	for i := range len(pattern) {
		for _, of := range [...]namePart{{"*", "*"}, {"{row}", "row"}, {"{col}", "column"}, {"{column}", "column"}, {"{x}", "x"}, {"{y}", "y"}} {
			if strings.HasPrefix(pattern[i:], of.text) {
				p = append(p, namePart{text: pattern[last:i]}, of)
				last = i + len(of.text)
			}
		}
	}
	return append(p, namePart{text: pattern[last:]})
}

// stands reports whether the pattern can match other names than its own text.
func (p namePattern) stands() bool { return len(p) > 1 }

// fit returns the text of each part in a name, and reports whether the name matches.
func (p namePattern) fit(name string) (texts []string, ok bool) {
	texts = make([]string, len(p))
	return texts, p.fitRest(name, texts, map[[2]int]bool{})
}

// fitRest makes each part as long as possible, earlier parts first. It records failed
// positions, which come up repeatedly.
func (p namePattern) fitRest(name string, texts []string, not map[[2]int]bool) bool {
	at := [2]int{len(p), len(name)}
	if len(p) == 0 || not[at] {
		return len(p) == 0 && name == ""
	}
	least, most := p[0].lengths(name)
	for n := most; n >= least; n-- {
		if p[1:].fitRest(name[n:], texts[1:], not) {
			texts[0] = name[:n]
			return true
		}
	}
	not[at] = true
	return false
}

// lengths returns the range of lengths that a part may have at the start of a name. least
// exceeds most if it does not match.
func (p namePart) lengths(name string) (least, most int) {
	switch p.place {
	case "":
		if !strings.HasPrefix(name, p.text) {
			return 1, 0
		}
		return len(p.text), len(p.text)
	case "*":
		return 0, len(name) - len(strings.TrimLeftFunc(name, func(r rune) bool { return r != '/' && r != '\\' }))
	}
	return 1, len(name) - len(strings.TrimLeft(name, "0123456789"))
}

// fitting returns the paths that a clean pattern matches, sorted. It reads folders, so only
// the parts of a pattern are special in their names.
func fitting(pattern string) ([]string, error) {
	volume := filepath.VolumeName(pattern)
	found := []string{volume}
	for i, part := range strings.Split(pattern[len(volume):], string(filepath.Separator)) {
		names := patternOf(part)
		var next []string
		for _, folder := range found {
			switch {
			case i == 0 && part == "":
				next = append(next, folder+string(filepath.Separator))
				continue
			case !names.stands():
				if path := filepath.Join(folder, part); pathExists(path) {
					next = append(next, path)
				}
				continue
			}
			entries, err := os.ReadDir(cmp.Or(folder, "."))
			if info, failed := os.Stat(cmp.Or(folder, ".")); failed == nil && info.IsDir() && err != nil {
				return nil, err
			}
			for _, e := range entries {
				if _, ok := names.fit(e.Name()); ok {
					next = append(next, filepath.Join(folder, e.Name()))
				}
			}
		}
		found = next
	}
	slices.Sort(found)
	return found, nil
}

func pathExists(path string) bool {
	_, err := os.Stat(path)
	return err == nil
}
