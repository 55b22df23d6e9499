package zarr

import (
	"context"
	"errors"
	"io"
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"syscall"
	"time"
)

// An array in a folder or a zip file lists its objects before it reads a region of many chunks, so that
// chunks that do not exist cost nothing: a few bytes of metadata may declare millions of them. It does so
// for regions of at least manyUnits chunks, and not if there are only fewFiles files.
const (
	manyUnits = 64
	fewFiles  = 8
)

// listable reports whether [namesIn] can list the objects of a bucket.
func listable(b Bucket) bool {
	switch b := b.(type) {
	case *folder, *zipReader:
		return true
	case *sub:
		return listable(b.Bucket)
	}
	return false
}

// namesIn returns the names of the files and folders in a folder of a bucket. known is false
// if there may be others, or more than most.
func namesIn(b Bucket, dir string, most int) (names []string, known bool) {
	switch b := b.(type) {
	case *folder:
		return b.names(dir, most)
	case *zipReader:
		return b.names(path.Clean("/" + dir)[1:], most)
	case *sub:
		return namesIn(b.Bucket, b.prefix+dir, most)
	}
	return nil, false
}

func (f *folder) names(dir string, most int) (names []string, known bool) {
	file, err := os.Open(filepath.Join(f.root, filepath.FromSlash(dir)))
	if err != nil {
		return nil, errors.Is(err, fs.ErrNotExist) || errors.Is(err, syscall.ENOTDIR)
	}
	defer file.Close()
	before, err := file.Stat()
	if err != nil || !before.IsDir() {
		return nil, err == nil
	}
	// Listing a folder may miss a file that is replaced at the same time, so a folder that is being
	// changed is not trusted. Times are as coarse as a tick of the clock, or a second.
	if time.Since(before.ModTime()) < 2*time.Second {
		return nil, false
	}
	names, err = file.Readdirnames(most + 1)
	if err != nil && err != io.EOF || len(names) > most {
		return nil, false
	}
	after, err := file.Stat()
	if err != nil || !after.ModTime().Equal(before.ModTime()) {
		return nil, false
	}
	return names, true
}

// eachPresent calls visit for the objects between two positions in the grid of objects,
// inclusive, except for objects that are known to be absent.
func (a *Array) eachPresent(first, last []int, visit func(place []int) error) error {
	place, n := slices.Clone(first), len(first)
	below := make([]int, n+1) // number of objects per position on the axes before
	below[n] = 1
	for k := n - 1; k >= 0; k-- {
		below[k] = below[k+1] * (last[k] - first[k] + 1)
	}
	if a.m.separator != "/" {
		names, known := namesIn(a.bucket, strings.TrimSuffix(a.path, "/"), 4*below[0]+1024)
		if !known {
			return each(first, spans(first, last), slices.Repeat([]int{1}, n), func(place, _, _, _ []int) error { return visit(place) })
		}
		var places [][]int
		for _, name := range names {
			if place := a.m.parse(name); place != nil && within(place, first, last) {
				places = append(places, place)
			}
		}
		slices.SortFunc(places, slices.Compare)
		for _, place := range places {
			if err := visit(place); err != nil {
				return err
			}
		}
		return nil
	}
	var walk func(dir string, axis int) error
	walk = func(dir string, axis int) error {
		if axis == n {
			return visit(slices.Clone(place))
		}
		inside := func(i int) error {
			place[axis] = i
			return walk(dir+"/"+strconv.Itoa(i), axis+1)
		}
		var names []string
		known := false
		if below[axis] >= fewFiles {
			names, known = namesIn(a.bucket, strings.Trim(dir, "/"), 4*(last[axis]-first[axis]+1)+1024)
		}
		if !known {
			for i := first[axis]; i <= last[axis]; i++ {
				if err := inside(i); err != nil {
					return err
				}
			}
			return nil
		}
		var found []int
		for _, name := range names {
			if i, ok := number(name); ok && i >= first[axis] && i <= last[axis] {
				found = append(found, i)
			}
		}
		slices.Sort(found)
		for _, i := range found {
			if err := inside(i); err != nil {
				return err
			}
		}
		return nil
	}
	return walk(a.path+a.m.prefix, 0)
}

// parse returns the position of the object with a key, or nil for other keys.
func (m *metadata) parse(key string) []int {
	if m.prefix != "" {
		rest, ok := strings.CutPrefix(key, m.prefix+m.separator)
		if !ok {
			return nil
		}
		key = rest
	}
	parts := strings.Split(key, m.separator)
	if len(parts) != len(m.shape) {
		return nil
	}
	place := make([]int, len(parts))
	for k, part := range parts {
		i, ok := number(part)
		if !ok {
			return nil
		}
		place[k] = i
	}
	return place
}

// number parses a number as it is written in keys.
func number(text string) (int, bool) {
	i, err := strconv.Atoi(text)
	return i, err == nil && i >= 0 && strconv.Itoa(i) == text
}

func within(place, first, last []int) bool {
	for k, i := range place {
		if i < first[k] || i > last[k] {
			return false
		}
	}
	return true
}

func spans(first, last []int) []int {
	box := make([]int, len(first))
	for k := range box {
		box[k] = last[k] - first[k] + 1
	}
	return box
}

// readPresent reads a box of an array whose bucket is listable.
func (a *Array) readPresent(ctx context.Context, dst []byte, at, box []int, keep bool) error {
	first, last := gridOf(at, box, a.m.object)
	fillBytes(dst, a.m.fill)
	var chunk []byte
	partAt, part := make([]int, len(at)), make([]int, len(at))
	return a.eachPresent(first, last, func(place []int) error {
		for k, size := range a.m.object {
			partAt[k] = max(at[k], place[k]*size)
			part[k] = min(at[k]+box[k], (place[k]+1)*size) - partAt[k]
		}
		return a.readPart(ctx, dst, at, box, partAt, part, keep, &chunk)
	})
}
