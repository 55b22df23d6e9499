package gpu

import (
	"encoding/binary"
	"fmt"
	"math"

	"github.com/boxsum/boxsum"
	"github.com/boxsum/boxsum/rotated"
)

// latticeBand is how many rows of a lattice a band of the table has, and a tile.
const latticeBand = 64

// A latticeShape is where the cells of a lattice lie in rows and columns, see
// gpu/kernels/lattice.h. Of both lines that cross in a pixel one is its row and the
// other its column, so that neighbours in a line of the image are neighbours in
// a row for as long as its pixels are. A sum is that of all cells up to a row and a
// column.
type latticeShape struct {
	lattice       *rotated.Lattice
	width, height int
	exchange      bool // rows are c and columns r
	mirrored      bool // x counts from the right
	rows, columns int
	down, over    []int32 // of each x and each line
	edges         []int32 // where runs of equal down begin, and the width
	longest       int     // run
	low, high     []int32 // columns of each band
	starts        []int64 // elements before it
	elements      int64   // of all bands
	channels      int
}

func newLatticeShape(width, height, channels int, rot rotated.Rotation) (*latticeShape, error) {
	l, err := rotated.NewLattice(width, height, rot)
	if err != nil {
		return nil, fmt.Errorf("gpu: %w", err)
	}
	rot = l.Rotation()
	s := &latticeShape{lattice: l, width: width, height: height, channels: channels}
	if width == 0 || height == 0 {
		return s, nil
	}
	mirror := rot.A < 0
	s.exchange = max(rot.A, -rot.A) > rot.B
	s.mirrored = mirror != s.exchange
	bounds := l.Bounds()
	s.rows, s.columns = bounds.R1-bounds.R0, bounds.C1-bounds.C0
	if s.exchange {
		s.rows, s.columns = s.columns, s.rows
	}
	const margin = 1 << 12 // tiles that stick out are counted in 32 bits too
	if s.columns > (math.MaxInt32-margin)/channels || s.rows > math.MaxInt32-margin {
		return nil, fmt.Errorf("gpu: %w: a lattice of %d×%d cells with %d channels: columns times channels and rows must each be below 2^31",
			boxsum.ErrSize, s.columns, s.rows, channels)
	}
	s.down, s.over = make([]int32, width), make([]int32, height)
	for x := range s.down {
		_, row := s.cell(x, 0)
		s.down[x] = int32(row)
		if x == 0 || s.down[x] != s.down[x-1] {
			s.edges = append(s.edges, int32(x))
		}
	}
	s.edges = append(s.edges, int32(width))
	for d := range s.runs() {
		s.longest = max(s.longest, int(s.edges[d+1]-s.edges[d]))
	}
	for y := range s.over {
		column, _ := s.cell(0, y)
		s.over[y] = int32(column - (width - 1))
	}
	return s, s.cut()
}

func (s *latticeShape) runs() int { return len(s.edges) - 1 }

// cell is the column and row of pixel x of line y.
func (s *latticeShape) cell(x, y int) (column, row int) {
	if s.mirrored {
		x = s.width - 1 - x
	}
	c, r := s.lattice.Cell(x, y)
	box := s.place(rotated.Box{C0: c, R0: r, C1: c + 1, R1: r + 1})
	return box.C0, box.R0
}

// place is a box inside the lattice's bounds as columns and rows.
func (s *latticeShape) place(box rotated.Box) rotated.Box {
	bounds := s.lattice.Bounds()
	if s.exchange {
		return rotated.Box{C0: box.R0 - bounds.R0, C1: box.R1 - bounds.R0, R0: box.C0 - bounds.C0, R1: box.C1 - bounds.C0}
	}
	return rotated.Box{C0: bounds.C1 - box.C1, C1: bounds.C1 - box.C0, R0: box.R0 - bounds.R0, R1: box.R1 - bounds.R0}
}

// leftTurn and rightTurn are the rows with a pixel in the first column, and in
// the last: up to there columns come in on that side, and then they leave.
func (s *latticeShape) leftTurn() int  { return s.runs() - 1 }
func (s *latticeShape) rightTurn() int { return s.height - 1 }

// leftmost and rightmost are the first and the last column of a row that has a
// pixel.
func (s *latticeShape) leftmost(row int) int {
	d := min(row, s.runs()-1)
	return s.width - int(s.edges[d+1]) + int(s.over[row-d])
}

func (s *latticeShape) rightmost(row int) int {
	y := min(row, s.height-1)
	return s.width - 1 - int(s.edges[row-y]) + int(s.over[y])
}

// cut says which columns of each band the table holds. Every row of it starts a
// line of memory.
func (s *latticeShape) cut() error {
	const align = 32
	for first := 0; first < s.rows; first += latticeBand {
		last := min(first+latticeBand, s.rows) - 1
		low := s.leftmost(min(max(s.leftTurn(), first), last)) / align * align
		high := roundUp(int64(s.rightmost(min(max(s.rightTurn(), first), last))+1), align)
		s.low, s.high, s.starts = append(s.low, int32(low)), append(s.high, int32(high)), append(s.starts, s.elements)
		size, ok := product((high-int64(low))*int64(s.channels), int64(last+1-first))
		if s.elements += size; !ok || s.elements > math.MaxInt64/64 {
			return fmt.Errorf("gpu: %w: a table of %d×%d cells with %d channels is more than memory can hold", boxsum.ErrSize, s.columns, s.rows, s.channels)
		}
	}
	return nil
}

// A latticeJob is the Lattice of gpu/kernels/lattice.h, byte for byte.
type latticeJob struct {
	startsAt                               int64
	rowsStart, columnsStart                int64
	downAt, overAt, edgesAt, lowAt, highAt int32
	width, height                          int32
	runs, mirrored                         int32
	lineShift                              int32
	tangent                                float32
	_                                      int32
}

// pack is the arrays as kernels take them, and where each begins. Sums have so
// many bytes.
func (s *latticeShape) pack(bytes int64) ([]byte, latticeJob) {
	rot := s.lattice.Rotation()
	a, b := math.Abs(float64(rot.A)), float64(rot.B)
	j := latticeJob{
		width: int32(s.width), height: int32(s.height), runs: int32(s.runs()), mirrored: flag(s.mirrored),
		tangent: float32(min(a/b, b/max(a, 1))),
	}
	j.rowsStart = roundUp(s.elements*bytes, 256)
	j.columnsStart = j.rowsStart + roundUp(int64(s.rows)*int64(s.channels)*bytes, 256)
	var buf []byte
	for _, v := range s.starts {
		buf = binary.NativeEndian.AppendUint64(buf, uint64(v))
	}
	for _, part := range []struct {
		values []int32
		at     *int32
	}{{s.down, &j.downAt}, {s.over, &j.overAt}, {s.edges, &j.edgesAt}, {s.low, &j.lowAt}, {s.high, &j.highAt}} {
		*part.at = int32(len(buf) / 4)
		for _, v := range part.values {
			buf = binary.NativeEndian.AppendUint32(buf, uint32(v))
		}
	}
	return buf, j
}

// tableBytes is what one table takes: bands, rows, columns.
func (s *latticeShape) tableBytes(j latticeJob, bytes int64) (int64, bool) {
	columns, ok := product(int64(s.columns)*int64(s.channels), bytes)
	return roundUp(j.columnsStart+columns, 256), ok && s.elements < math.MaxInt64/64
}
