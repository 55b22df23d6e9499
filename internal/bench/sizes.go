package bench

import (
	"fmt"
	"strconv"
	"strings"
)

// A Size is an image size under the name that it was asked for by, or that of a
// volume, which has a depth.
type Size struct {
	Name          string
	Width, Height int
	Depth         int
}

// String is the name.
func (s Size) String() string { return s.Name }

func (s Size) pixels() int { return s.Width * s.Height * max(s.Depth, 1) }

var namedSizes = []Size{
	{Name: "480p", Width: 854, Height: 480},
	{Name: "720p", Width: 1280, Height: 720},
	{Name: "1080p", Width: 1920, Height: 1080},
	{Name: "1440p", Width: 2560, Height: 1440},
	{Name: "2160p", Width: 3840, Height: 2160},
	{Name: "4320p", Width: 7680, Height: 4320},
}

// maxSide keeps every product of sides, channels and element sizes in an int64.
const maxSide = 1 << 20

// ParseSizes reads a comma-separated list of sizes: video formats such as
// 1080p, or WIDTHxHEIGHT, or WIDTHxHEIGHTxDEPTH for volumes.
func ParseSizes(list string) ([]Size, error) { return parseList(list, parseSize) }

func parseSize(name string) (Size, error) {
	names := make([]string, len(namedSizes))
	for i, s := range namedSizes {
		if s.Name == name {
			return s, nil
		}
		names[i] = s.Name
	}
	sides := strings.SplitN(name, "x", 3)
	if len(sides) == 1 {
		return Size{}, fmt.Errorf("bench: unknown size %q: use one of %s, or WIDTHxHEIGHT as in 4096x4096",
			name, strings.Join(names, ", "))
	}
	size := Size{Name: name}
	for i, side := range sides {
		n, err := strconv.ParseUint(side, 10, 32)
		if err != nil || n < 1 || n > maxSide {
			return Size{}, fmt.Errorf("bench: size %q: %q is not a number of pixels from 1 to %d", name, side, maxSide)
		}
		*[]*int{&size.Width, &size.Height, &size.Depth}[i] = int(n)
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
