package cli

import (
	"cmp"
	"context"
	"fmt"
	"image"
	"io"
	"iter"
	"unsafe"

	"github.com/boxsum/boxsum"
	"github.com/boxsum/boxsum/gpu"
	"github.com/boxsum/boxsum/imgio"
	"github.com/boxsum/boxsum/internal/grid"
)

// A job is an image or a volume and the tables to make of it, whatever their types.
// Tables that do not fit in memory are not made: they are written as their rows or
// slices come.
type job interface {
	output
	oracle          // which needs the table of squares
	types() string  // as in u8:u32, or u8:u32+u64+tilted with squares and the 45° table
	read() int64    // bytes of pixels
	streamed() bool // the tables do not fit in memory

	// load brings pixels and tables into memory, so that what is timed afterwards is
	// integration, and neither decoding nor the system finding pages. The context
	// ends it, and all reading afterwards.
	load(ctx context.Context, report func(bytes int64)) error
	integrate(d *gpu.Device, opt *boxsum.Options) error // on the CPU where d is nil
	workers(opt *boxsum.Options) int                    // that integrate takes on the CPU
}

// A typedJob is a job of some types. What they have in common is not theirs, and so is not
// compiled for each.
type typedJob struct {
	*tableSet
	typed
}

type typed interface {
	boxes
	load(ctx context.Context, report func(bytes int64)) error
	integrate(d *gpu.Device, opt *boxsum.Options) error
	workers(opt *boxsum.Options) int
	picture() image.Image
}

// A typedOracle is an oracle of some types.
type typedOracle struct {
	*tableSet
	boxes
}

type boxes interface {
	area(b box) int64
	stats(b box, channel int) stats
}

// An output is tables as they are written.
type output interface {
	written() int64 // bytes of all tables
	writeNPY(io.Writer) error
	writeNPZ(io.Writer) error
	picture() image.Image
}

// An extent is the size of an image, or of a volume, which has a depth.
type extent struct {
	Width    int `json:"width"`
	Height   int `json:"height"`
	Depth    int `json:"depth,omitempty"`
	Channels int `json:"channels"`
}

func (e extent) String() string {
	s := fmt.Sprintf("%d×%d", e.Width, e.Height)
	if e.Depth > 0 {
		s += fmt.Sprintf("×%d", e.Depth)
	}
	if e.Channels > 1 {
		s += fmt.Sprintf("×%d", e.Channels)
	}
	return s
}

// values is how many values all pixels have, and entries how many sums a table.
func (e extent) values() float64 {
	return float64(e.Width) * float64(e.Height) * float64(max(e.Depth, 1)) * float64(e.Channels)
}

func (e extent) entries() float64 {
	n := float64(e.Width+1) * float64(e.Height+1) * float64(e.Channels)
	if e.Depth > 0 {
		n *= float64(e.Depth + 1)
	}
	return n
}

// shape is that of a table.
func (e extent) shape() []int {
	shape := []int{e.Height + 1, e.Width + 1}
	if e.Depth > 0 {
		shape = append([]int{e.Depth + 1}, shape...)
	}
	if e.Channels > 1 {
		shape = append(shape, e.Channels)
	}
	return shape
}

// what and part are what has such an extent, and what it is streamed by.
func (e extent) what() string { return map[bool]string{false: "image", true: "volume"}[e.Depth > 0] }
func (e extent) part() string { return map[bool]string{false: "row", true: "slice"}[e.Depth > 0] }

// tableSet is what all jobs have: which tables there are, and how they are written.
type tableSet struct {
	extent
	name       string
	pixelBytes int
	streams    bool
	layers     []layer
}

// newTableSet plans the tables of a pair of types.
//
//go:noinline
func newTableSet[P boxsum.Pixel, S boxsum.Sum, Q boxsum.Square](e extent, want tableChoice) tableSet {
	t := tableSet{extent: e, name: typeName[P]() + ":" + typeName[S](), pixelBytes: int(sizeOf[P]())}
	if want.squares {
		t.name += "+" + typeName[Q]()
	}
	if want.tilted {
		t.name += "+tilted"
	}
	return t
}

// A tableChoice is which tables there shall be besides the sums, and whether they may be
// streamed.
type tableChoice struct {
	squares, tilted, stream bool
	valid                   *boxsum.Valid // pixels to sum; nil for all
}

func (t *tableSet) size() extent   { return t.extent }
func (t *tableSet) types() string  { return t.name }
func (t *tableSet) streamed() bool { return t.streams }
func (t *tableSet) read() int64    { return int64(t.values()) * int64(t.pixelBytes) }
func (t *tableSet) written() int64 { return int64(t.entries()) * int64(t.sumBytes()) }

// sumBytes is what the sums of a value take in all tables.
func (t *tableSet) sumBytes() int {
	n := 0
	for _, l := range t.layers {
		n += l.bytes
	}
	return n
}

// fit finds out whether there is memory for the tables, and more, or whether they are to
// be streamed.
func (t *tableSet) fit(more float64, stream bool) error {
	err := grid.Check(t.entries()*float64(t.sumBytes()) + more)
	if t.streams = err != nil && stream && t.Height > 0; t.streams {
		return nil
	}
	if err != nil {
		return fmt.Errorf("%w: cut the %s up, or write its table to a .npy file, which goes %[3]s by %[3]s", err, t.what(), t.part())
	}
	return nil
}

func (t *tableSet) writeNPY(w io.Writer) error { return t.layers[0].npy(w) }

func (t *tableSet) writeNPZ(w io.Writer) error {
	z := imgio.NewNPZ(w)
	for _, l := range t.layers {
		if err := l.npz(z); err != nil {
			return err
		}
	}
	return z.Close()
}

// A layer is one table as it is written.
type layer struct {
	bytes int // of a sum
	npy   func(w io.Writer) error
	npz   func(z *imgio.NPZ) error
}

// parts are the rows or slices of a table, as they come.
type parts[T boxsum.Sum] func(i int) (boxsum.View[T], error)

// addLayer adds a table: its rows where it is in memory, and its stream where it is not.
//
//go:noinline
func addLayer[T boxsum.Sum](t *tableSet, name string, shape []int, rows func() iter.Seq[[]T], stream func() (parts[T], error)) {
	write := func(to func(iter.Seq[[]T]) error) error {
		if !t.streams {
			return to(rows())
		}
		part, err := stream()
		if err != nil {
			return err
		}
		var failed error // what keeps rows from coming ends them early
		err = to(streamedRows(t.extent, part, &failed))
		return cmp.Or(failed, err)
	}
	t.layers = append(t.layers, layer{
		bytes: int(sizeOf[T]()),
		npy: func(w io.Writer) error {
			return write(func(all iter.Seq[[]T]) error { return imgio.WriteNPY(w, shape, all) })
		},
		npz: func(z *imgio.NPZ) error {
			return write(func(all iter.Seq[[]T]) error { return imgio.WriteNPZ(z, name, shape, all) })
		},
	})
}

// streamedRows is the rows of a table as its parts come, after the rows of zeros.
func streamedRows[T boxsum.Sum](e extent, part parts[T], failed *error) iter.Seq[[]T] {
	zeros, n := 1, e.Height
	if e.Depth > 0 {
		zeros, n = e.Height+1, e.Depth
	}
	return func(yield func([]T) bool) {
		none := make([]T, (e.Width+1)*e.Channels)
		for range zeros {
			if !yield(none) {
				return
			}
		}
		for i := range n {
			var view boxsum.View[T]
			if view, *failed = part(i); *failed != nil {
				return
			}
			for y := range view.Height {
				if !yield(view.Row(y)) {
					return
				}
			}
		}
	}
}

// touchPages calls touch for one element of every page of s at least.
func touchPages[T any](s []T, touch func(*T)) {
	const smallestPage = 4096
	for i := 0; i < len(s); i += smallestPage / int(sizeOf[T]()) {
		touch(&s[i])
	}
	if len(s) > 0 {
		touch(&s[len(s)-1])
	}
}

// clearPages finds the pages of a table that is not made yet.
func clearPages[T boxsum.Sum](sums []T) { touchPages(sums, func(s *T) { *s = 0 }) }

func sizeOf[T any]() int64 { return int64(unsafe.Sizeof(*new(T))) }
