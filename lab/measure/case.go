package measure

import (
	"cmp"
	"fmt"
	"slices"
	"strconv"
	"strings"

	"github.com/boxsum/boxsum/histogram"
	"github.com/boxsum/boxsum/internal/raster"
	"github.com/boxsum/boxsum/rotated"
)

// A Case is a kind of table with its types of pixels and sums.
type Case struct {
	// Types is the pixel type and the sum type, such as "u8:u32". If a table of squares is computed in
	// the same pass, a plus and its type follow: "u8:u32+u64". A 45° table is "u8:u32-tilted", a table
	// along the lines of 1/2 is "u8:u32@1/2", the table of a volume is "u8:u32-volume", and an
	// integral histogram is "u8:u32-histogram:32".
	Types string
	// Channels is the number of values per pixel.
	Channels int
}

// String returns the case in the form that [ParseTypes] parses, such as "u8:u32", or "u8:u32x3" for
// three channels.
func (c Case) String() string {
	if c.Channels == 1 {
		return c.Types
	}
	return fmt.Sprintf("%sx%d", c.Types, c.Channels)
}

const (
	// usual is the pair that words such as tilted stand for, and squares is what the word squares
	// stands for.
	usual   = "u8:u32"
	squares = usual + "+u64"

	// Suffixes of a pair of types for other kinds of tables.
	TiltedSuffix  = "-tilted"
	volumeSuffix  = "-volume"
	RotatedMark   = "@"
	histogramMark = "-histogram:"

	histogramBins = "32" // used by the word histogram
	maxChannels   = 64
)

// parts splits Types into the pair of types, the mark of another kind of table than the upright one,
// and the rest.
func (c Case) parts() (pair, mark, rest string) {
	for _, mark := range []string{RotatedMark, histogramMark, TiltedSuffix, volumeSuffix} {
		if pair, rest, ok := strings.Cut(c.Types, mark); ok {
			return pair, mark, rest
		}
	}
	return c.Types, "", ""
}

// Tilted, Volume, Rotated and Histogram report whether the table of the case is of that kind.
func (c Case) Tilted() bool    { return c.marked(TiltedSuffix) }
func (c Case) Volume() bool    { return c.marked(volumeSuffix) }
func (c Case) Rotated() bool   { return c.marked(RotatedMark) }
func (c Case) Histogram() bool { return c.marked(histogramMark) }

func (c Case) marked(by string) bool { _, mark, _ := c.parts(); return mark == by }

// ParseTypes parses a comma-separated list of cases:
//
//   - u8:u32 is a table of uint32 sums of uint8 pixels.
//   - u8:u32x3 is the same with three channels.
//   - u8:u32+u64, or squares, computes the sums and the squares in one pass.
//   - u8:u32-tilted, or tilted, is the 45° table.
//   - u8:u32@1/2, or rotated:1/2, is the table along the lines of that rotation.
//   - u8:u32-volume, or volume, is the table of a volume.
//   - u8:u32-histogram:32, or histogram or histogram:32, is an integral histogram.
func ParseTypes(list string) ([]Case, error) { return parseList(list, parseCase) }

func parseCase(text string) (Case, error) {
	types, channels, many := strings.Cut(text, "x")
	c := Case{Types: longTypes(types), Channels: 1}
	if many {
		n, err := strconv.ParseUint(channels, 10, 32)
		if err != nil || n < 1 || n > maxChannels {
			return Case{}, fmt.Errorf("types %q: %q is not a number of channels from 1 to %d", text, channels, maxChannels)
		}
		c.Channels = int(n)
	}
	if _, err := c.kind(); err != nil {
		return Case{}, err
	}
	return c, nil
}

// longTypes expands a word in a list of types.
func longTypes(word string) string {
	for short, long := range map[string]string{"histogram:": usual + histogramMark, "rotated:": usual + RotatedMark} {
		if rest, ok := strings.CutPrefix(word, short); ok {
			return long + rest
		}
	}
	long := map[string]string{
		"squares": squares, "tilted": usual + TiltedSuffix, "volume": usual + volumeSuffix, "histogram": usual + histogramMark + histogramBins,
	}[word]
	return cmp.Or(long, word)
}

// kind returns how the table of a case is made.
func (c Case) kind() (kind, error) {
	pair, mark, rest := c.parts()
	i := slices.IndexFunc(raster.SumPairs, func(p raster.Pair) bool { return p.String() == pair })
	known := i >= 0
	switch {
	case mark == RotatedMark:
		rot, err := rotated.Parse(rest)
		if err == nil && !known {
			err = fmt.Errorf("unknown types %q of a rotated table: use a pair such as %s%s%v", c.Types, usual, RotatedMark, rot)
		}
		if err != nil {
			return kind{}, err
		}
		return rotatedKind(raster.SumPairs[i], rot), nil
	case mark == histogramMark:
		bins, err := strconv.Atoi(rest)
		if err != nil || pair != usual || bins < histogram.MinBins || bins > histogram.MaxBins {
			return kind{}, fmt.Errorf("types %q: integral histograms are %s with a number of bins from %d to %d", c.Types, usual+histogramMark+"32, or histogram:32,", histogram.MinBins, histogram.MaxBins)
		}
		return histogramKind(histogram.Bins{N: bins}), nil
	case c.Types == squares:
		return squaresKind, nil
	case known && rest == "":
		switch mark {
		case TiltedSuffix:
			return tiltedKind(raster.SumPairs[i]), nil
		case volumeSuffix:
			return volumeKind(raster.SumPairs[i]), nil
		}
		return uprightKind(raster.SumPairs[i]), nil
	}
	var names []string
	for _, p := range raster.SumPairs {
		names = append(names, p.String())
	}
	return kind{}, fmt.Errorf("unknown types %q: use one of %s, squares, tilted, rotated:1/2, volume, histogram:32, with "+TiltedSuffix+" after a pair for its 45° table, "+RotatedMark+"1/2 for a rotated one, "+volumeSuffix+" for one of a volume and x3 for three channels",
		c.Types, strings.Join(append(names, squares), ", "))
}

// OnDevice and InPipeline report whether devices and pipelines support the tables of the case.
func (c Case) OnDevice() (bool, error)   { kind, err := c.kind(); return kind.device != nil, err }
func (c Case) InPipeline() (bool, error) { kind, err := c.kind(); return kind.pipeline != nil, err }

// Bytes returns the number of bytes that a table of this case has to read and write: every pixel is
// read once and every entry is written once.
func (c Case) Bytes(size Size) (read, written int64) {
	pair, mark, rest := c.parts()
	pixel, tables, _ := strings.Cut(pair, ":")
	read = int64(size.Pixels()) * int64(c.Channels) * elementBytes(pixel)
	entries := int64(size.Width+1) * int64(size.Height+1)
	if rot, err := rotated.Parse(rest); mark == RotatedMark && err == nil {
		entries = rotatedCells(rot, size)
	}
	if size.Depth > 0 {
		entries *= int64(size.Depth) + 1
	}
	if bins, err := strconv.Atoi(rest); mark == histogramMark && err == nil {
		entries *= int64(bins)
	}
	for _, t := range strings.Split(tables, "+") {
		written += entries * int64(c.Channels) * elementBytes(t)
	}
	return read, written
}

// elementBytes returns the size of a type by its name: 4 for "u32".
func elementBytes(name string) int64 {
	if t, _ := raster.ParseType(name); t != 0 {
		return int64(t.Bytes())
	}
	return 0
}

// FitMemory returns an error that wraps [boxsum.ErrMemory] if the given number of copies of the
// case's buffers need more memory than is free.
func (c Case) FitMemory(size Size, copies int64) error {
	read, written := c.Bytes(size)
	if err := raster.Check(float64(copies) * float64(read+written)); err != nil {
		return fmt.Errorf("%w: choose a smaller size", err)
	}
	return nil
}
