package cli

import (
	"errors"
	"fmt"
	"io"

	"github.com/boxsum/boxsum"
	"github.com/boxsum/boxsum/imgio"
	"github.com/boxsum/boxsum/internal/exact"
	"github.com/boxsum/boxsum/volume"
)

// A savedTable answers from the tables of a file, without their image.
type savedTable struct {
	extent
	answers
	squares bool // are there too: the deviation is known
	file    io.Closer
}

func (t *savedTable) size() extent     { return t.extent }
func (t *savedTable) area(b box) int64 { return t.clip(b).pixels() }

func (t *savedTable) stats(b box, channel int) stats {
	b = t.clip(b)
	return stats{sum: t.sumOf(b, channel), mean: t.mean(b, channel), std: t.std(b, channel)}
}

// sumOf is the sum of a box. Those of 32 bits wrap in large boxes: they are summed in
// parts that fit.
func (t *savedTable) sumOf(b box, channel int) any {
	if _, narrow := t.sum(make(box, len(b)), 0).(uint32); !narrow {
		return t.sum(b, channel)
	}
	return t.inParts(b, channel)
}

func (t *savedTable) inParts(b box, channel int) uint64 {
	if b.pixels() <= int64(savedPixels[uint32]().Most) {
		return uint64(t.sum(b, channel).(uint32))
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
	return t.inParts(one, channel) + t.inParts(other, channel)
}

// pixels is how many a box has.
func (b box) pixels() int64 {
	n := int64(1)
	for i := range len(b) / 2 {
		n *= int64(b[len(b)/2+i] - b[i])
	}
	return n
}

// askSaved answers from saved tables.
func (c *queryCmd) askSaved(sh *shell, boxes []box) error {
	switch {
	case c.rotates():
		return usage("--rotate and --rect need the image: a saved table has upright boxes only")
	case c.onGPU():
		return usage("--table integrates nothing: leave out --on %s", c.On)
	}
	t, err := await(sh.ctx, func() (*savedTable, error) { return sh.openSaved(c.In, c.Volume) })
	if err != nil {
		return err
	}
	defer t.file.Close()
	answers, err := c.answers(sh, t, boxes)
	if err != nil {
		return err
	}
	for i := range answers {
		answers[i].noStd = !t.squares
	}
	if c.Verbose {
		sh.progress.close()
		fmt.Fprintf(sh.stderr, "%v from a saved table of %d×%d\n", t.extent, t.Width+1, t.Height+1)
	}
	return c.print(sh, answers)
}

// openSaved reads the tables of a path.
func (sh *shell) openSaved(path string, solid bool) (t *savedTable, err error) {
	const sum, squares = "sum", "squares"
	var arrays map[string]*imgio.Array
	file := io.Closer(new(imgio.Picture)) // has nothing to close
	if path == standard {
		path = "standard input"
		arrays, err = imgio.DecodeArrays(sh.stdin, sum, squares)
	} else {
		arrays, file, err = imgio.OpenArrays(path, sum, squares)
	}
	switch {
	case err != nil:
		return nil, err
	case arrays[sum] == nil:
		return nil, errors.Join(fmt.Errorf("%s has no array named %s: a .npz file that integrate wrote has one", path, sum), file.Close())
	}
	for _, of := range []func(sum, squares *imgio.Array, solid bool) (*savedTable, error){
		savedOf[uint32, uint64], savedOf[uint32, float64], savedOf[uint64, uint64], savedOf[uint64, float64], savedOf[int64, uint64],
		savedOf[int64, float64], savedOf[float32, uint64], savedOf[float32, float64], savedOf[float64, uint64], savedOf[float64, float64],
	} {
		if t, err = of(arrays[sum], arrays[squares], solid); t != nil || err != nil {
			break
		}
	}
	if t == nil && err == nil {
		err = fmt.Errorf("sums of %T are of no table: those have u32, u64, i64, f32 or f64", arrays[sum].Data)
	}
	if err != nil {
		return nil, errors.Join(fmt.Errorf("%w, in %s", err, path), file.Close())
	}
	t.file = file
	return t, nil
}

// savedOf is the tables of these types, and nil where the arrays have others.
func savedOf[S boxsum.Sum, Q boxsum.Square](sum, squares *imgio.Array, solid bool) (*savedTable, error) {
	if _, ok := sum.Data.([]S); !ok {
		return nil, nil
	}
	if squares != nil {
		if _, ok := squares.Data.([]Q); !ok {
			return nil, nil
		}
	}
	if solid {
		return savedSolid[S, Q](sum, squares)
	}
	return savedPlane[S, Q](sum, squares)
}

func savedPlane[S boxsum.Sum, Q boxsum.Square](sum, squares *imgio.Array) (*savedTable, error) {
	if n := len(sum.Shape); n == 3 && sum.Shape[2] > mostChannels {
		return nil, fmt.Errorf("a table of shape %v has %d channels: for a volume, add --volume", sum.Shape, sum.Shape[2])
	}
	t, err := imgio.TableOf[S](sum)
	if err != nil {
		return nil, err
	}
	t.Know(savedPixels[S]())
	both := new(planeTables[S, Q])
	if both.Sum = t; squares != nil {
		if both.Squares, err = imgio.TableOf[Q](squares); err != nil {
			return nil, err
		}
		if both.Squares.Bounds() != t.Bounds() || both.Squares.Channels != t.Channels {
			return nil, errors.New("the sums and the squares differ in size")
		}
	}
	return &savedTable{extent: extent{Width: t.Width, Height: t.Height, Channels: t.Channels}, answers: both, squares: squares != nil}, nil
}

func savedSolid[S boxsum.Sum, Q boxsum.Square](sum, squares *imgio.Array) (*savedTable, error) {
	t, err := volumeTable[S](sum)
	if err != nil {
		return nil, err
	}
	t.Know(savedPixels[S]())
	both := new(solidTables[S, Q])
	if both.Sum = t; squares != nil {
		if both.Squares, err = volumeTable[Q](squares); err != nil {
			return nil, err
		}
		if both.Squares.Bounds() != t.Bounds() || both.Squares.Channels != t.Channels {
			return nil, errors.New("the sums and the squares differ in size")
		}
	}
	return &savedTable{extent: extent{t.Width, t.Height, t.Depth, t.Channels}, answers: both, squares: squares != nil}, nil
}

// volumeTable is an array of shape (D+1, H+1, W+1) or (D+1, H+1, W+1, C) as a table.
func volumeTable[S boxsum.Sum](a *imgio.Array) (*volume.Table[S], error) {
	shape, channels := a.Shape, 1
	if len(shape) == 4 {
		shape, channels = shape[:3], shape[3]
	}
	if len(shape) != 3 || min(shape[0], shape[1], shape[2], channels) < 1 {
		return nil, fmt.Errorf("an array of shape %v is not the table of a volume: that has (D+1, H+1, W+1) or (D+1, H+1, W+1, C)", a.Shape)
	}
	stride := shape[2] * channels
	// Slice 0 is zero, which makes one table of all rows.
	flat := append([]int{shape[0] * shape[1], shape[2]}, a.Shape[3:]...)
	if _, err := imgio.TableOf[S](&imgio.Array{Shape: flat, Data: a.Data}); err != nil {
		return nil, err
	}
	return &volume.Table[S]{
		Sums: a.Data.([]S), Stride: stride, SliceStride: shape[1] * stride,
		Width: shape[2] - 1, Height: shape[1] - 1, Depth: shape[0] - 1, Channels: channels,
	}, nil
}

// savedPixels is what is known of the pixels of a saved table. Those of 32-bit sums have
// 8 bits, or 16 where integrate was told so: a file does not say which.
func savedPixels[S boxsum.Sum]() exact.Pixels {
	if _, ok := any(*new(S)).(uint32); ok {
		return exact.Pixels{Most: exact.Most[uint16, S](false)}
	}
	return exact.Usual[S](false)
}
