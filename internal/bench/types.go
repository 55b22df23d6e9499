package bench

import (
	"fmt"
	"strconv"
	"strings"

	"github.com/boxsum/boxsum"
)

// A Case is a kind of table: of which pixels, and of which sums.
type Case struct {
	// Types is the pixel type and the sum type, as in "u8:u32". A table of
	// squares made in the same pass follows after a plus: "u8:u32+u64". A 45°
	// table is "u8:u32-tilted", one along the lines of 1/2 "u8:u32@1/2", that of
	// a volume "u8:u32-volume", and an integral histogram "u8:u32-histogram:32".
	Types string
	// Channels is how many values a pixel has.
	Channels int
}

// String is the case as [ParseTypes] reads it: "u8:u32", and "u8:u32x3" for
// three channels.
func (c Case) String() string {
	if c.Channels == 1 {
		return c.Types
	}
	return fmt.Sprintf("%sx%d", c.Types, c.Channels)
}

// A kind is what can be measured: on the CPU, on a device, and in a pipeline
// through one.
type kind struct {
	types    string
	make     func(Size, int) (*work, error)
	device   func(deviceJob) (*deviceWork, error)   // nil for none
	pipeline func(deviceJob) (*pipelineWork, error) // nil for none
}

// kinds is all of them. The last type of each is what the reference adds in.
var kinds = []kind{
	sumsOf[uint8, uint32, int64]("u8:u32"),
	sumsOf[uint8, uint64, int64]("u8:u64"),
	sumsOf[uint8, float32, float64]("u8:f32"),
	sumsOf[uint8, float64, float64]("u8:f64"),
	sumsOf[uint16, uint64, int64]("u16:u64"),
	sumsOf[uint16, float64, float64]("u16:f64"),
	sumsOf[uint32, uint64, int64]("u32:u64"),
	sumsOf[uint32, uint32, int64]("u32:u32"),
	sumsOf[int16, int64, int64]("i16:i64"),
	sumsOf[int32, int64, int64]("i32:i64"),
	sumsOf[float32, float64, float64]("f32:f64"),
	sumsOf[float32, float32, float64]("f32:f32"),
	sumsOf[float64, float64, float64]("f64:f64"),
	{squares, newSquares[uint8, uint32, uint64, int64], newDeviceSquares[uint8, uint32, uint64, int64], nil},
	tiltedOf[uint8, uint32, int64]("u8:u32"),
	tiltedOf[uint8, uint64, int64]("u8:u64"),
	tiltedOf[uint8, float32, float64]("u8:f32"),
	tiltedOf[uint8, float64, float64]("u8:f64"),
	tiltedOf[uint16, uint64, int64]("u16:u64"),
	tiltedOf[uint16, float64, float64]("u16:f64"),
	tiltedOf[uint32, uint64, int64]("u32:u64"),
	tiltedOf[uint32, uint32, int64]("u32:u32"),
	tiltedOf[int16, int64, int64]("i16:i64"),
	tiltedOf[int32, int64, int64]("i32:i64"),
	tiltedOf[float32, float64, float64]("f32:f64"),
	tiltedOf[float32, float32, float64]("f32:f32"),
	tiltedOf[float64, float64, float64]("f64:f64"),
	volumeOf[uint8, uint32, int64]("u8:u32"),
	volumeOf[uint8, uint64, int64]("u8:u64"),
	volumeOf[uint8, float32, float64]("u8:f32"),
	volumeOf[uint8, float64, float64]("u8:f64"),
	volumeOf[uint16, uint64, int64]("u16:u64"),
	volumeOf[uint16, float64, float64]("u16:f64"),
	volumeOf[uint32, uint64, int64]("u32:u64"),
	volumeOf[uint32, uint32, int64]("u32:u32"),
	volumeOf[int16, int64, int64]("i16:i64"),
	volumeOf[int32, int64, int64]("i32:i64"),
	volumeOf[float32, float64, float64]("f32:f64"),
	volumeOf[float32, float32, float64]("f32:f32"),
	volumeOf[float64, float64, float64]("f64:f64"),
}

func sumsOf[P boxsum.Pixel, S boxsum.Sum, A accumulator](types string) kind {
	return kind{types, newSums[P, S, A], newDeviceSums[P, S, A], newPipeline[P, S, A]}
}

const (
	// squares is what the word "squares" stands for in a list of types.
	squares     = "u8:u32+u64"
	maxChannels = 64
)

// ParseTypes reads a comma-separated list of cases: u8:u32 is a table of
// uint32 from uint8 pixels, u8:u32x3 the same with three channels, u8:u32+u64,
// or just squares, the sums and the squares in one pass, u8:u32-tilted, or
// just tilted, the 45° table, and u8:u32@1/2, or just rotated:1/2, the one along
// the lines of that rotation. u8:u32-volume, or just volume, is the table of a
// volume, and u8:u32-histogram:32, or just histogram or histogram:32, an integral
// histogram.
func ParseTypes(list string) ([]Case, error) { return parseList(list, parseCase) }

func parseCase(text string) (Case, error) {
	types, channels, many := strings.Cut(text, "x")
	switch types {
	case "squares":
		types = squares
	case "tilted":
		types = tiltedTypes
	case "volume":
		types = volumeTypes
	}
	types, _ = histogramCase(types)
	if rot, ok := strings.CutPrefix(types, rotatedWord); ok {
		types = rotatedTypes + rot
	}
	c := Case{Types: types, Channels: 1}
	if many {
		n, err := strconv.ParseUint(channels, 10, 32)
		if err != nil || n < 1 || n > maxChannels {
			return Case{}, fmt.Errorf("bench: types %q: %q is not a number of channels from 1 to %d", text, channels, maxChannels)
		}
		c.Channels = int(n)
	}
	if _, err := c.kind(); err != nil {
		return Case{}, fmt.Errorf("bench: %w", err)
	}
	return c, nil
}

func (c Case) kind() (kind, error) {
	if k, err := c.rotatedKind(); err != nil {
		return kind{}, err
	} else if k != nil {
		return *k, nil
	}
	if k, err := c.histogramKind(); err != nil {
		return kind{}, err
	} else if k != nil {
		return *k, nil
	}
	var names []string
	for _, k := range kinds {
		if k.types == c.Types {
			return k, nil
		}
		if !strings.HasSuffix(k.types, tiltedSuffix) && !strings.HasSuffix(k.types, volumeSuffix) {
			names = append(names, k.types)
		}
	}
	return kind{}, fmt.Errorf("unknown types %q: use one of %s, squares, tilted, rotated:1/2, volume, histogram:32, with "+tiltedSuffix+" after a pair for its 45° table, "+rotatedMark+"1/2 for a rotated one, "+volumeSuffix+" for one of a volume and x3 for three channels",
		c.Types, strings.Join(names, ", "))
}

// elements is the pixel type and the types of the tables.
func (c Case) elements() (pixel string, tables []string) {
	types, _, _ := strings.Cut(strings.TrimSuffix(strings.TrimSuffix(c.Types, tiltedSuffix), volumeSuffix), rotatedMark)
	types, _, _ = strings.Cut(types, histogramMark)
	pixel, sums, _ := strings.Cut(types, ":")
	return pixel, strings.Split(sums, "+")
}

// bytes is what a table of this case has to move: every pixel read once and
// every entry written once.
func (c Case) bytes(size Size) (read, written int64) {
	pixel, tables := c.elements()
	read = int64(size.pixels()) * int64(c.Channels) * elementBytes(pixel)
	if rot, ok := c.rotation(); ok {
		return read, rotatedCells(rot, size) * int64(c.Channels) * elementBytes(tables[0])
	}
	for _, t := range tables {
		written += int64(size.Width+1) * int64(size.Height+1) * int64(c.Channels) * elementBytes(t)
	}
	if size.Depth > 0 {
		written *= int64(size.Depth) + 1
	}
	if bins, ok := c.bins(); ok {
		written *= int64(bins)
	}
	return read, written
}

// elementBytes is the size of a type from its name: 4 for "u32".
func elementBytes(name string) int64 {
	bits, err := strconv.Atoi(strings.TrimLeft(name, "uif"))
	if err != nil {
		return 0
	}
	return int64(bits / 8)
}
