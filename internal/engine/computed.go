package engine

import (
	"github.com/boxsum/boxsum/internal/device"
	"github.com/boxsum/boxsum/internal/kernel"
	"github.com/boxsum/boxsum/internal/raster"
	"github.com/boxsum/boxsum/internal/stats"
)

// Computed is the layer of an upright table of numbers that are computed while the table
// is filled, such as the products of the pixels of two images. A layer embeds it and
// provides the numbers as its Source:
//
//	if err := table.AcceptNumbers(raster.U16, &a, &b); err != nil {
//		return err
//	}
//	run := runs.Take()
//	l := &run.Layer
//	l.Source = l
//	p := l.Start(raster.U16, &table, &set)
//	return run.Fill(&set, &p, l)
type Computed struct {
	Base
	sums    summed
	number  raster.Type
	workers []computedWorker

	Source Numbers
}

// Numbers computes the numbers that a table sums.
type Numbers interface {
	// Numbers writes the numbers of row y to dst, from element x on. Several goroutines
	// call it at once.
	Numbers(dst []byte, x, y int)
}

// computedWorker holds the scratch memory of one worker.
type computedWorker struct {
	numbers []byte // the numbers of a group of rows
	_       [kernel.LineBytes]byte
}

// AcceptNumbers checks the memory of a table of numbers of a type against the checked images
// of one size that they are computed from, and sets the defaults of its extent and what is
// known of the numbers.
func (t *Table) AcceptNumbers(number raster.Type, images ...*raster.Array) error {
	for _, img := range images {
		if err := t.Accept(img); err != nil {
			return err
		}
	}
	t.Known = stats.Typical(number, false)
	return nil
}

// Start prepares the layer to sum numbers of the given type into a checked table, and
// returns a plan for the work. Tables of these types must be supported.
func (l *Computed) Start(number raster.Type, dst *Table, set *Settings) Plan {
	l.number = number
	l.sums.start(number, dst, set.Level, false)
	return workOf(&dst.Extent, number.Bytes(), dst.Type.Bytes(), set.workers).Plan()
}

// FillOnDevice makes a checked table of numbers on the device of the settings. The processor
// computes the numbers, and copies them instead of what they are computed from.
func FillOnDevice(source Numbers, number raster.Type, dst *Table, set *Settings) error {
	src, err := raster.NewPixelArray(number, dst.Extent)
	if err != nil {
		return err
	}
	row := src.Stride * number.Bytes()
	if err := set.eachRow(&src, func(_, y int) { source.Numbers(src.Data[y*row:][:row], 0, y) }); err != nil {
		return err
	}
	return set.on.Tables(&device.Tables{Src: src, Sums: dst.Array, Options: set.OnDevice()})
}

// Prepare implements [Layer].
func (l *Computed) Prepare(p *Plan) error {
	l.workers = Workers(l.workers, p.Workers)
	for i := range l.workers[:p.Workers] {
		w := &l.workers[i]
		w.numbers = AtLeast(w.numbers, groupRows*p.TileWidth*l.number.Bytes())
	}
	return l.sums.Prepare(p)
}

// Tile implements [Layer].
func (l *Computed) Tile(worker, x, y, n, rows int) {
	row := n * l.number.Bytes()
	numbers := l.workers[worker].numbers
	for end := y + rows; y < end; y += groupRows {
		group := min(groupRows, end-y)
		for r := range group {
			l.Source.Numbers(numbers[r*row:][:row:row], x, y+r)
		}
		l.sums.sum(worker, numbers, x, y, n, group)
	}
}

func (l *Computed) rowAbove(worker, x, y, n, from int) { l.sums.rowAbove(worker, x, y, n, from) }

// Release implements [Layer].
func (l *Computed) Release() int {
	bytes := l.sums.Release()
	for i := range l.workers {
		bytes += Bytes(l.workers[i].numbers)
	}
	return bytes
}

// A summed is an upright table that sums numbers computed by another layer.
type summed struct {
	upright
	number raster.Array // only the type is used
	table  Table
}

func (t *summed) start(number raster.Type, dst *Table, level kernel.Level, squares bool) {
	t.find(number, dst.Type, level, squares)
	t.number, t.table = raster.Array{Type: number}, *dst
	t.aim(&t.number, &t.table)
}

// sum makes elements [x, x+n) of some rows of a band from numbers, whose rows are n
// elements apart.
func (t *summed) sum(worker int, numbers []byte, x, y, n, rows int) {
	tile := t.pointTile(worker, x, y, n, rows)
	tile.Src, tile.SrcStride = numbers, n
	t.kernel(tile)
}
