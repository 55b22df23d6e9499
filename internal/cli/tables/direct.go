package tables

import (
	"fmt"
	"math"
	"math/bits"
	"time"

	"github.com/boxsum/boxsum"
	"github.com/boxsum/boxsum/internal/cli/console"
	"github.com/boxsum/boxsum/internal/cli/display"
	"github.com/boxsum/boxsum/internal/cli/imagefile"
	"github.com/boxsum/boxsum/internal/raster"
	fromsums "github.com/boxsum/boxsum/internal/stats"
)

// direct answers from the pixels of the boxes. For a few boxes this is faster than making a table,
// needs no memory, and reads only their rows of a mapped file.
type direct struct {
	*pixelRows
	all population
}

func newDirect(img raster.Array) oracle {
	rows := rowsOf(img)
	return &direct{rows, population{pixelReader: rows}}
}

func (d *direct) size() imagefile.Extent { return d.Extent }

func (d *direct) area(b box) int64 { return clip(d.Extent, b).pixels() }

func (d *direct) stats(b box, channel int) stats {
	b = clip(d.Extent, b)
	n := int(b.pixels())
	if d.pixel.Float() {
		return d.floats(b, n, channel)
	}
	var sum, squares, carry uint64
	for y := b[1]; y < b[3]; y++ {
		s, q, lost := rowSums(d.pixel, d.src.Row(y), b[0]*d.Channels+channel, b[2]*d.Channels, d.Channels)
		sum += s
		var c uint64
		squares, c = bits.Add64(squares, q, 0)
		carry |= c | lost
	}
	of := stats{sum: fromsums.SumOf(sum)}
	if d.pixel.Signed() {
		of.sum = fromsums.SumOf(int64(sum))
	}
	of.mean = fromsums.Mean(n, of.sum)
	variance := fromsums.Variance(n, of.sum, fromsums.SumOf(squares), nil, nil)
	if of.std = math.Sqrt(variance); carry != 0 {
		of.std = d.all.deviation(sample{n: n, mean: of.mean, runs: runsOf(d.Extent, b), channel: channel})
	}
	return of
}

// floats sums floats, and reads them a second time for the deviation, which is then accurate to
// nearly all digits.
func (d *direct) floats(b box, n, channel int) stats {
	sum := 0.0
	for r := range runsOf(d.Extent, b) {
		ofRow := 0.0 // one sum per row rounds less than one for the box
		for _, v := range d.channel(r, channel) {
			ofRow += v
		}
		sum += ofRow
	}
	of := stats{sum: fromsums.SumOf(sum)}
	of.mean = fromsums.Mean(n, of.sum)
	if n > 0 {
		of.std = d.all.deviation(sample{n: n, mean: of.mean, runs: runsOf(d.Extent, b), channel: channel})
	}
	return of
}

// rowSums calls sumsOfEvery for part of a row of integers.
func rowSums(pixel raster.Type, row []byte, from, to, step int) (sum, squares, carry uint64) {
	switch pixel {
	case raster.U8:
		return sumsOfEvery(row[from:to], step)
	case raster.U16:
		return sumsOfEvery(raster.Elems[uint16](row)[from:to], step)
	case raster.U32:
		return sumsOfEvery(raster.Elems[uint32](row)[from:to], step)
	case raster.I16:
		return sumsOfEvery(raster.Elems[int16](row)[from:to], step)
	case raster.I32:
		return sumsOfEvery(raster.Elems[int32](row)[from:to], step)
	}
	return 0, 0, 0
}

// sumsOfEvery returns the sum of every step-th pixel and the sum of their squares. carry is 1 if
// the squares overflow 64 bits.
func sumsOfEvery[P boxsum.Pixel](row []P, step int) (sum, squares, carry uint64) {
	if row, ok := any(row).([]uint8); ok && step == 1 {
		for len(row) >= 4 {
			a, b, c, d := uint64(row[0]), uint64(row[1]), uint64(row[2]), uint64(row[3])
			sum += a + b + c + d
			squares += a*a + b*b + c*c + d*d
			row = row[4:]
		}
		for _, v := range row {
			sum += uint64(v)
			squares += uint64(v) * uint64(v)
		}
		return sum, squares, 0
	}
	for i := 0; i < len(row); i += step {
		v := uint64(int64(row[i])) // negative values wrap to the right sums, modulo 2^64
		sum += v
		var c uint64
		squares, c = bits.Add64(squares, v*v, 0)
		carry |= c
	}
	return sum, squares, carry
}

// few reports whether the boxes have so few pixels that reading them is faster than making a table.
func few(of oracle, boxes []box) bool {
	e, all := of.size(), int64(0)
	for _, b := range boxes {
		if all += of.area(b); all > int64(e.Width)*int64(e.Height) {
			return false
		}
	}
	return true
}

// askDirectly answers without making a table.
func (c *Query) askDirectly(sh *console.Shell, pixels oracle, boxes []box) ([]answer, error) {
	start := time.Now()
	answers, err := console.Await(sh.Ctx, func() ([]answer, error) { return c.answers(sh, pixels, boxes) })
	if err == nil && c.Verbose {
		sh.Progress.Close()
		ms := float64(time.Since(start)) / float64(time.Millisecond)
		fmt.Fprintf(sh.Stderr, "%v, no table, boxes from their pixels: %d, %s\n", pixels.size(), len(boxes), display.Duration(ms))
	}
	return answers, err
}
