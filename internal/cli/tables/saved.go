package tables

import (
	"errors"
	"fmt"
	"io"
	"math"

	"github.com/boxsum/boxsum/imgio"
	"github.com/boxsum/boxsum/internal/cli/console"
	"github.com/boxsum/boxsum/internal/cli/imagefile"
	"github.com/boxsum/boxsum/internal/engine"
	"github.com/boxsum/boxsum/internal/raster"
	fromsums "github.com/boxsum/boxsum/internal/stats"
)

// A savedTable answers from tables in a file, without the image.
type savedTable struct {
	imagefile.Extent
	answers
	squares bool // the file contains squares, so standard deviations are known
	file    io.Closer
}

func (t *savedTable) size() imagefile.Extent { return t.Extent }

func (t *savedTable) area(b box) int64 { return clip(t.Extent, b).pixels() }

func (t *savedTable) stats(b box, channel int) stats {
	b = clip(t.Extent, b)
	return stats{sum: t.sumOf(b, channel), mean: t.mean(b, channel), std: t.std(b, channel)}
}

// sumOf returns the sum of a box. 32-bit sums may wrap in large boxes, which are therefore summed
// in parts.
func (t *savedTable) sumOf(b box, channel int) fromsums.Sum {
	sum := t.sum(b, channel)
	if sum.Type() != raster.U32 || b.pixels() <= int64(math.MaxUint32/savedBound(raster.U32)) {
		return sum
	}
	n, longest := len(b)/2, 0
	for i := range n {
		if b[n+i]-b[i] > b[n+longest]-b[longest] {
			longest = i
		}
	}
	one, other := append(box(nil), b...), append(box(nil), b...)
	one[n+longest] = b[longest] + (b[n+longest]-b[longest])/2
	other[longest] = one[n+longest]
	return t.sumOf(one, channel).Plus(t.sumOf(other, channel))
}

// pixels returns the number of pixels in a box.
func (b box) pixels() int64 {
	n := int64(1)
	for i := range len(b) / 2 {
		n *= int64(b[len(b)/2+i] - b[i])
	}
	return n
}

// askSaved answers from saved tables.
func (c *Query) askSaved(sh *console.Shell, boxes []box) error {
	switch {
	case c.rotates():
		return console.Usage("--rotate and --rect need the image: a saved table has upright boxes only")
	case c.OnGPU():
		return console.Usage("--table reads a saved table: leave out --on %s", c.On)
	}
	t, err := console.Await(sh.Ctx, func() (*savedTable, error) { return openSaved(sh, c.In, c.Volume) })
	if err != nil {
		return err
	}
	defer t.file.Close()
	if c.whole() {
		boxes = []box{wholeBox(t.Extent)}
	}
	answers, err := c.answers(sh, t, boxes)
	if err != nil {
		return err
	}
	for i := range answers {
		answers[i].noStd = !t.squares
	}
	if c.Verbose {
		sh.Progress.Close()
		fmt.Fprintf(sh.Stderr, "%v from a saved table of %d×%d\n", t.Extent, t.Width+1, t.Height+1)
	}
	return c.print(sh, answers)
}

// openSaved opens the tables at a path.
func openSaved(sh *console.Shell, path string, solid bool) (t *savedTable, err error) {
	const sum, squares = "sum", "squares"
	var arrays map[string]*imgio.Array
	file := io.Closer(new(imgio.Picture)) // nothing to close
	if path == console.Standard {
		path = "standard input"
		arrays, err = imgio.DecodeArrays(sh.Stdin, sum, squares)
	} else {
		arrays, file, err = imgio.OpenArrays(path, sum, squares)
	}
	switch {
	case err != nil:
		return nil, err
	case arrays[sum] == nil:
		return nil, errors.Join(fmt.Errorf("%s has no array named %s (boxsum integrate writes one)", path, sum), file.Close())
	}
	t, err = savedOf(arrays[sum], arrays[squares], solid)
	if err != nil {
		return nil, errors.Join(fmt.Errorf("%s: %w", path, err), file.Close())
	}
	t.file = file
	return t, nil
}

// savedOf returns the tables stored in arrays. squares may be nil.
func savedOf(sum, squares *imgio.Array, solid bool) (*savedTable, error) {
	if n := len(sum.Shape); !solid && n == 3 && sum.Shape[2] > imagefile.MostChannels {
		return nil, fmt.Errorf("table of shape %v has %d channels, want at most %d (add --volume if it is the table of a volume)", sum.Shape, sum.Shape[2], imagefile.MostChannels)
	}
	sums, err := loadSums(sum, solid)
	if err != nil {
		return nil, err
	}
	sums.Known.Bound = savedBound(sums.Type)
	both := memory{sums: sums}
	if squares != nil {
		switch kind := elementType(squares); kind {
		case raster.U64, raster.F64:
		default:
			return nil, fmt.Errorf("the squares have type %v, want uint64 or float64", elementType(squares))
		}
		if both.squares, err = loadSums(squares, solid); err != nil {
			return nil, err
		}
		if a, b := &sums.Extent, &both.squares.Extent; a.Same(b) != nil {
			return nil, fmt.Errorf("the table of squares is %v, want %v like the sums", both.squares.Extent, sums.Extent)
		}
	}
	t := &savedTable{Extent: imagefile.Extent{Width: sums.Width, Height: sums.Height, Channels: sums.Channels}, squares: squares != nil}
	if solid {
		t.Depth = sums.Depth
		tables := &solidTables{memory: both}
		t.answers, err = tables, tables.combine()
	} else {
		tables := &planeTables{memory: both}
		t.answers, err = tables, tables.combine()
	}
	return t, err
}

// loadSums returns an array as the table of an image or a volume.
func loadSums(a *imgio.Array, solid bool) (*engine.Table, error) {
	load := sumForms[elementType(a)].load
	if load == nil {
		return nil, fmt.Errorf("the sums have type %v, want uint32, uint64, int64, float32 or float64", elementType(a))
	}
	return load(a, solid)
}

// savedBound returns an upper bound of the pixels of a saved table. The file does not record
// their type: 32-bit sums are assumed to be of pixels of at most 16 bits.
func savedBound(sum raster.Type) uint64 {
	switch sum {
	case raster.U32:
		return fromsums.Typical(raster.U16, false).Bound
	case raster.U64, raster.I64:
		return fromsums.Assumed(sum, false).Bound
	}
	return 0
}
