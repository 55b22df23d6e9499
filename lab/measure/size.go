package measure

import (
	"cmp"
	"fmt"
	"strconv"
	"strings"
)

// A Size is the size of an image or a volume. Only volumes have a depth.
type Size struct {
	Width  int    `json:"width"`
	Height int    `json:"height"`
	Depth  int    `json:"depth,omitempty"`
	Name   string `json:"-"` // name by which it was requested, if any
}

// String returns the name by which the size was requested, or its label.
func (s Size) String() string { return cmp.Or(s.Name, s.Label()) }

// Pixels returns the number of pixels or voxels.
func (s Size) Pixels() float64 {
	return float64(s.Width) * float64(s.Height) * float64(max(s.Depth, 1))
}

// Label returns the size for charts: the side of a square or a cube, the name of a video format, or
// all sides.
func (s Size) Label() string {
	switch {
	case s.Depth > 0 && s.Width == s.Height && s.Height == s.Depth:
		return fmt.Sprintf("%d³", s.Width)
	case s.Depth > 0:
		return fmt.Sprintf("%d×%d×%d", s.Width, s.Height, s.Depth)
	case s.Width == s.Height:
		return fmt.Sprintf("%d²", s.Width)
	}
	name := s.Name
	for _, v := range Videos {
		if v.Width == s.Width && v.Height == s.Height {
			name = cmp.Or(name, v.Name)
		}
	}
	return strings.ReplaceAll(cmp.Or(name, fmt.Sprintf("%dx%d", s.Width, s.Height)), "x", "×")
}

// Videos lists the named sizes.
var Videos = []Size{
	{Name: "480p", Width: 854, Height: 480},
	{Name: "720p", Width: 1280, Height: 720},
	{Name: "1080p", Width: 1920, Height: 1080},
	{Name: "1440p", Width: 2560, Height: 1440},
	{Name: "2160p", Width: 3840, Height: 2160},
	{Name: "4320p", Width: 7680, Height: 4320},
}

// MaxSide is the maximum width, height and depth. It ensures that every product of sides, channels
// and element sizes fits an int64.
const MaxSide = 1 << 20

// ParseSizes parses a comma-separated list of sizes: video formats such as 1080p, WIDTHxHEIGHT, or
// WIDTHxHEIGHTxDEPTH for volumes.
func ParseSizes(list string) ([]Size, error) { return parseList(list, parseSize) }

func parseSize(name string) (Size, error) {
	names := make([]string, len(Videos))
	for i, s := range Videos {
		if s.Name == name {
			return s, nil
		}
		names[i] = s.Name
	}
	sides := strings.SplitN(name, "x", 3)
	if len(sides) == 1 {
		return Size{}, fmt.Errorf("unknown size %q: use one of %s, or WIDTHxHEIGHT as in 4096x4096",
			name, strings.Join(names, ", "))
	}
	size := Size{Name: name}
	for i, side := range sides {
		n, err := strconv.ParseUint(side, 10, 32)
		if err != nil || n < 1 || n > MaxSide {
			return Size{}, fmt.Errorf("size %q: %q is not a number of pixels from 1 to %d", name, side, MaxSide)
		}
		*[]*int{&size.Width, &size.Height, &size.Depth}[i] = int(n)
	}
	return size, nil
}

// parseList parses the items of a comma-separated list.
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
