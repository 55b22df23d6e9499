package tables

import (
	"cmp"
	"context"
	"fmt"
	"image"
	"io"
	"iter"
	"math"

	"github.com/boxsum/boxsum"
	"github.com/boxsum/boxsum/gpu"
	"github.com/boxsum/boxsum/imgio"
	"github.com/boxsum/boxsum/internal/cli/imagefile"
	"github.com/boxsum/boxsum/internal/raster"
	fromsums "github.com/boxsum/boxsum/internal/stats"
)

// A job makes the tables of an image or a volume of any types. Tables that do not fit in memory are
// streamed: they are written row by row or slice by slice and never kept whole.
type job interface {
	output
	oracle          // needs the table of squares
	types() string  // such as u8:u32, or u8:u32+u64+tilted with squares and the 45° table
	read() int64    // bytes of pixels
	streamed() bool // reports whether the tables do not fit in memory

	// load reads the pixels and touches the memory of the tables, so that timing integrate
	// afterwards measures neither decoding nor page faults. The context cancels it and all later
	// reading.
	load(ctx context.Context, report func(bytes int64)) error
	integrate(d *gpu.Device, opt *boxsum.Options) error // on the CPU if d is nil
	workers(opt *boxsum.Options) int                    // number of goroutines that integrate uses on the CPU
}

// A tableJob is the job of an image or a volume. Whatever depends on their types is behind
// interfaces and functions.
type tableJob struct {
	tableSet
	all    population
	tables tables
	counts func(b box, channel int) int                   // of valid pixels; nil if all are valid
	fill   func(d *gpu.Device, opt *boxsum.Options) error // makes the tables
	opt    *boxsum.Options                                // for streams
	ctx    context.Context                                // cancels reading
}

// tables is a table of sums and optionally one of squares.
type tables interface {
	answers
	allocate(e imagefile.Extent, want tableChoice) error
	clear() // touches the memory of tables that are not made yet
	picture() image.Image
}

// answers answers queries about boxes inside an image or a volume.
type answers interface {
	sum(b box, channel int) fromsums.Sum
	mean(b box, channel int) float64
	std(b box, channel int) float64
	square(b box, channel int) float64 // last corner's entry in the table of squares, for squareNoise
}

// take allocates the tables, or plans to stream them. more is the memory needed besides.
func (j *tableJob) take(more float64, want tableChoice) error {
	if err := j.fit(more, want.stream && want.valid == nil); err != nil || j.streams {
		return err
	}
	return j.tables.allocate(j.Extent, want)
}

func (j *tableJob) workers(opt *boxsum.Options) int {
	switch {
	case j.Depth > 0 && j.streams:
		return j.work(opt).PlanVolume(1).Workers
	case j.Depth > 0:
		return j.work(opt).PlanVolume(j.Depth).Workers
	case j.streams:
		return 1
	}
	return j.work(opt).Plan().Workers
}

func (j *tableJob) load(ctx context.Context, report func(bytes int64)) error {
	j.ctx = ctx
	if j.streams {
		return nil
	}
	if err := j.all.load(report); err != nil {
		return err
	}
	j.tables.clear()
	return nil
}

func (j *tableJob) integrate(d *gpu.Device, opt *boxsum.Options) error {
	if j.opt = opt; j.streams {
		return nil // the tables are made while they are written
	}
	return j.fill(d, opt)
}

func (j *tableJob) picture() image.Image { return j.tables.picture() }

func (j *tableJob) area(b box) int64 { return clip(j.Extent, b).pixels() }

func (j *tableJob) stats(b box, channel int) stats {
	b = clip(j.Extent, b)
	s := sample{n: int(b.pixels()), sum: j.tables.sum(b, channel), runs: runsOf(j.Extent, b), channel: channel}
	var area *int64
	if j.counts != nil {
		if s.n = j.counts(b, channel); s.n == 0 {
			return stats{sum: s.sum, mean: math.NaN(), std: math.NaN(), area: new(int64)}
		}
		valid := int64(s.n)
		s.runs, area = j.validRuns(b, channel), &valid
	}
	s.mean, s.std = j.tables.mean(b, channel), j.tables.std(b, channel)
	s.noise = squareNoise(j.tables.square(b, channel), s.n, b)
	of := j.all.describe(s)
	of.area = area
	return of
}

// validRuns yields the valid pixels of a box, one by one.
func (j *tableJob) validRuns(b box, channel int) iter.Seq[span] {
	return func(yield func(span) bool) {
		for y := b[1]; y < b[3]; y++ {
			for x := b[0]; x < b[2]; x++ {
				if j.counts(box{x, y, x + 1, y + 1}, channel) == 1 && !yield(span{y, x, x + 1}) {
					return
				}
			}
		}
	}
}

// An output writes the tables of a job.
type output interface {
	written() int64 // bytes of all tables
	writeNPY(io.Writer) error
	writeNPZ(io.Writer) error
	picture() image.Image
}

// clip returns the part of a box inside the image or volume, or zeros if there is none.
func clip(e imagefile.Extent, b box) box {
	to, n := [...]int{e.Width, e.Height, e.Depth}, len(b)/2
	clipped := make(box, len(b))
	for i := range n {
		clipped[i], clipped[n+i] = max(b[i], 0), min(b[n+i], to[i])
		if clipped[i] >= clipped[n+i] {
			clear(clipped)
			break
		}
	}
	return clipped
}

// A tableSet describes the tables of a job and writes them.
type tableSet struct {
	imagefile.Extent
	name       string
	pixelBytes int
	streams    bool
	layers     []outputTable
}

// newTableSet plans the tables for a pair of types.
func newTableSet(p pair, e imagefile.Extent, want tableChoice) tableSet {
	t := tableSet{Extent: e, name: p.pixel.Short() + ":" + p.sum.Short(), pixelBytes: p.pixel.Bytes()}
	if want.squares {
		t.name += "+" + p.square.Short()
	}
	if want.tilted {
		t.name += "+tilted"
	}
	return t
}

// A tableChoice selects the tables besides the sums, and whether they may be streamed.
type tableChoice struct {
	squares, tilted, stream bool
	valid                   *boxsum.Valid // pixels to sum, or nil for all
}

func (t *tableSet) size() imagefile.Extent { return t.Extent }

func (t *tableSet) types() string { return t.name }

func (t *tableSet) streamed() bool { return t.streams }

func (t *tableSet) read() int64 { return int64(t.Values()) * int64(t.pixelBytes) }

func (t *tableSet) written() int64 { return int64(t.Entries()) * int64(t.sumBytes()) }

// sumBytes returns the bytes per value of all tables together.
func (t *tableSet) sumBytes() int {
	n := 0
	for _, l := range t.layers {
		n += l.sum.Bytes()
	}
	return n
}

// fit checks whether the tables and the additional memory fit, and otherwise decides to stream the
// tables.
func (t *tableSet) fit(more float64, stream bool) error {
	err := raster.Check(t.Entries()*float64(t.sumBytes()) + more)
	if t.streams = err != nil && stream && t.Height > 0; t.streams {
		return nil
	}
	if err != nil {
		return fmt.Errorf("%w: split the %s, or write its table to a .npy file, %[3]s by %[3]s", err, t.What(), t.Part())
	}
	return nil
}

func (t *tableSet) writeNPY(w io.Writer) error { return t.write(&t.layers[0], w, nil) }

func (t *tableSet) writeNPZ(w io.Writer) error {
	z := imgio.NewNPZ(w)
	for i := range t.layers {
		if err := t.write(&t.layers[i], nil, z); err != nil {
			return err
		}
	}
	return z.Close()
}

// An outputTable is a table to be written: its entries if it is in memory, or its stream.
type outputTable struct {
	name    string
	sum     raster.Type
	shape   []int
	entries func() iter.Seq[raster.Array]
	stream  func() (parts, error)
}

// parts returns the i-th row or slice of a streamed table. The extent of a part describes its
// entries.
type parts func(i int) (raster.Array, error)

// write writes a table to w or, if z is not nil, as a file of the archive.
func (t *tableSet) write(l *outputTable, w io.Writer, z *imgio.NPZ) error {
	if !t.streams {
		return l.write(l.entries(), w, z)
	}
	part, err := l.stream()
	if err != nil {
		return err
	}
	var failed error // an error ends the sequence of rows early
	err = l.write(streamedParts(t.Extent, l.sum, part, &failed), w, z)
	return cmp.Or(failed, err)
}

// write writes entries to w or, if z is not nil, to an archive.
func (l *outputTable) write(entries iter.Seq[raster.Array], w io.Writer, z *imgio.NPZ) error {
	rows := func(yield func([]byte) bool) {
		for part := range entries {
			for y := range part.Height {
				if !yield(part.Row(y)) {
					return
				}
			}
		}
	}
	if z != nil {
		return z.WriteBytes(l.name, l.sum.String(), l.shape, rows)
	}
	return imgio.WriteNPYBytes(w, l.sum.String(), l.shape, rows)
}

// oneRow returns elements as an array of a single row.
func oneRow(t raster.Type, data []byte) raster.Array {
	n := len(data) / t.Bytes()
	return raster.Array{Data: data, Type: t, Extent: raster.PlaneExtent(n, 1, 1, n)}
}

// singlePart yields the entries of a table that is in memory.
func singlePart(part raster.Array) iter.Seq[raster.Array] {
	return func(yield func(raster.Array) bool) { yield(part) }
}

// streamedParts yields zeros for the first row or slice and then the parts of a table as they are
// made.
func streamedParts(e imagefile.Extent, sum raster.Type, part parts, failed *error) iter.Seq[raster.Array] {
	first, n := 1, e.Height
	if e.Depth > 0 {
		first, n = e.Height+1, e.Depth
	}
	return func(yield func(raster.Array) bool) {
		zeros := oneRow(sum, make([]byte, (e.Width+1)*e.Channels*sum.Bytes()))
		for range first {
			if !yield(zeros) {
				return
			}
		}
		for i := range n {
			var next raster.Array
			if next, *failed = part(i); *failed != nil || !yield(next) {
				return
			}
		}
	}
}

const smallestPage = 4096

// readPages reads one byte of every page, so that the system maps them. The sum keeps the compiler
// from removing the loop.
func readPages(memory []byte) (sum byte) {
	for i := 0; i < len(memory); i += smallestPage {
		sum += memory[i]
	}
	if len(memory) > 0 {
		sum += memory[len(memory)-1]
	}
	return sum
}

// clearPages writes to every page of a table that is not made yet, so that the system maps them.
func clearPages(memory []byte) {
	for i := 0; i < len(memory); i += smallestPage {
		memory[i] = 0
	}
	if len(memory) > 0 {
		memory[len(memory)-1] = 0
	}
}
