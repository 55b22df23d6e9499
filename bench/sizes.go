package bench

import (
	"fmt"
	"strconv"
	"strings"
)

// A Size is an image size under the name that it was asked for by.
type Size struct {
	Name          string
	Width, Height int
}

// String is the name.
func (s Size) String() string { return s.Name }

func (s Size) pixels() int { return s.Width * s.Height }

var namedSizes = []Size{
	{"480p", 854, 480},
	{"720p", 1280, 720},
	{"1080p", 1920, 1080},
	{"1440p", 2560, 1440},
	{"2160p", 3840, 2160},
	{"4320p", 7680, 4320},
}

// maxSide keeps every product of sides, channels and element sizes in an int64.
const maxSide = 1 << 20

// ParseSizes reads a comma-separated list of sizes: video formats such as
// 1080p, or WIDTHxHEIGHT.
func ParseSizes(list string) ([]Size, error) { return parseList(list, parseSize) }

func parseSize(name string) (Size, error) {
	names := make([]string, len(namedSizes))
	for i, s := range namedSizes {
		if s.Name == name {
			return s, nil
		}
		names[i] = s.Name
	}
	w, h, ok := strings.Cut(name, "x")
	if !ok {
		return Size{}, fmt.Errorf("bench: unknown size %q: use one of %s, or WIDTHxHEIGHT as in 4096x4096",
			name, strings.Join(names, ", "))
	}
	size := Size{Name: name}
	for _, side := range []struct {
		text string
		n    *int
	}{{w, &size.Width}, {h, &size.Height}} {
		n, err := strconv.ParseUint(side.text, 10, 32)
		if err != nil || n < 1 || n > maxSide {
			return Size{}, fmt.Errorf("bench: size %q: %q is not a number of pixels from 1 to %d", name, side.text, maxSide)
		}
		*side.n = int(n)
	}
	return size, nil
}

// parseList reads the items of a comma-separated list.
func parseList[T any](list string, parse func(string) (T, error)) ([]T, error) {
	var items []T
	for text := range strings.SplitSeq(list, ",") {
		item, err := parse(strings.TrimSpace(text))
		if err != nil {
			return nil, err
		}
		items = append(items, item)
	}
	return items, nil
}
