package method

import (
	"encoding/binary"
	"image"
	"math"

	"github.com/boxsum/boxsum/gpu/internal/devmem"
	"github.com/boxsum/boxsum/internal/raster"
	"github.com/boxsum/boxsum/rotated"
)

// A LatticeShape maps pixels to the columns and rows of a lattice, see
// gpu/internal/kernels/lattice.h. Two lines of the rotation cross in every pixel. The one that
// becomes its row is chosen so that neighbors in a line of the image stay neighbors in a row of the
// lattice for as long as possible.
type LatticeShape struct {
	Lattice       *rotated.Lattice
	Width, Height int  // of the image
	exchange      bool // rows are c and columns are r
	mirrored      bool // x counts from the right
	rows, columns int
	down, over    []int32 // for each x and each line
	edges         []int32 // where runs of equal down begin, followed by the width
	starts        []int32 // the first line of each over

	// Split is 1 if the cells of even and of odd rows form two lattices, each without the columns
	// in which it has no pixels.
	Split  int
	region region // of each lattice
}

// LatticeSize returns a shape that has only a size. Computing the rest takes time and memory
// for every line of the image.
func LatticeSize(width, height int, rot rotated.Rotation) (*LatticeShape, error) {
	rot, err := rot.Reduce()
	if err != nil {
		return nil, err
	}
	s := &LatticeShape{Width: width, Height: height}
	if width == 0 || height == 0 {
		return s, nil
	}
	a, b := int64(max(rot.A, -rot.A)), int64(rot.B)
	if a == b {
		s.Split = 1
	}
	a, b = min(a, b), max(a, b)
	columns, rows := int64(width)+a*int64(height-1)/b, int64(height)+a*int64(width-1)/b
	const margin = 1 << 12 // tiles that extend beyond the image are counted in 32 bits too
	if max(columns, rows) > math.MaxInt32-margin {
		return nil, raster.Invalid("lattice has %d×%d cells, want at most %d columns and rows on a device", columns, rows, math.MaxInt32-margin)
	}
	s.columns, s.rows = int(columns), int(rows)
	return s, nil
}

func NewLatticeShape(width, height int, rot rotated.Rotation) (*LatticeShape, error) {
	s, err := LatticeSize(width, height, rot)
	if err != nil {
		return nil, err
	}
	if s.Lattice, err = rotated.NewLattice(width, height, rot); err != nil {
		return nil, err
	}
	if width == 0 || height == 0 {
		return s, nil
	}
	rot = s.Lattice.Rotation()
	s.exchange = max(rot.A, -rot.A) > rot.B
	s.mirrored = (rot.A < 0) != s.exchange
	s.down, s.over = make([]int32, width), make([]int32, height)
	for x := range s.down {
		_, row := s.cell(x, 0)
		s.down[x] = int32(row)
		if x == 0 || s.down[x] != s.down[x-1] {
			s.edges = append(s.edges, int32(x))
		}
	}
	s.edges = append(s.edges, int32(width))
	for y := range s.over {
		column, _ := s.cell(0, y)
		s.over[y] = int32(column - (width - 1))
		if y == 0 || s.over[y] != s.over[y-1] {
			s.starts = append(s.starts, int32(y))
		}
	}
	s.region = s.pieces()
	return s, nil
}

// cell returns the column and row of pixel x in line y.
func (s *LatticeShape) cell(x, y int) (column, row int) {
	if s.mirrored {
		x = s.Width - 1 - x
	}
	c, r := s.Lattice.Cell(x, y)
	box := s.place(rotated.Box{C0: c, R0: r, C1: c + 1, R1: r + 1})
	return box.C0, box.R0
}

// place converts a box inside the lattice's bounds to columns and rows.
func (s *LatticeShape) place(box rotated.Box) rotated.Box {
	bounds := s.Lattice.Bounds()
	if s.exchange {
		return rotated.Box{C0: box.R0 - bounds.R0, C1: box.R1 - bounds.R0, R0: box.C0 - bounds.C0, R1: box.C1 - bounds.C0}
	}
	return rotated.Box{C0: bounds.C1 - box.C1, C1: bounds.C1 - box.C0, R0: box.R0 - bounds.R0, R1: box.R1 - bounds.R0}
}

// Part returns the columns and rows of a box in one of the lattices. The first one (odd = 0) has
// the even rows.
func (s *LatticeShape) Part(box rotated.Box, odd int) image.Rectangle {
	box = s.place(box)
	if s.Split == 0 {
		return image.Rect(box.C0, box.R0, box.C1, box.R1)
	}
	oddColumns := s.oddColumns(odd)
	half := func(n, odd int) int { return (n - odd + 1) / 2 } // how many of the numbers below n have this parity
	return image.Rect(half(box.C0, oddColumns), half(box.R0, odd), half(box.C1, oddColumns), half(box.R1, odd))
}

// oddColumns returns 1 if the pixels of a part of a split lattice are in odd columns, and 0 if they are in even
// ones. x counts from the last column, so the pixels of even rows are in columns of the same parity as that column.
func (s *LatticeShape) oddColumns(odd int) int { return (s.Width - 1 + odd) % 2 }

// Size returns the columns and rows of each lattice.
func (s *LatticeShape) Size() (columns, rows int) {
	return (s.columns + s.Split) >> s.Split, (s.rows + s.Split) >> s.Split
}

// pack returns the arrays as the kernel expects them, and the job without their locations.
func (s *LatticeShape) pack() ([]byte, latticeJob) {
	rot := s.Lattice.Rotation()
	a, b := math.Abs(float64(rot.A)), float64(rot.B)
	columns, rows := s.Size()
	j := latticeJob{
		Width: int32(s.Width), Height: int32(s.Height), Rows: int32(rows), Columns: int32(columns), Split: int32(s.Split),
		Runs: int32(len(s.edges) - 1), Overs: int32(len(s.starts) - 1), Mirrored: flag(s.mirrored), Tangent: float32(min(a/b, b/max(a, 1))),
	}
	downs := make([]int32, devmem.RoundUp(int64(s.Width), 8))
	for x, v := range s.down {
		if s.mirrored {
			x = s.Width - 1 - x
		}
		downs[x] = v
	}
	for x := s.Width; x < len(downs); x++ {
		downs[x] = downs[x-1]
	}
	var buf []byte
	for _, part := range []struct {
		values []int32
		at     *int32
	}{{downs, &j.DownsAt}, {s.over, &j.OverAt}, {s.edges, &j.EdgesAt}, {s.starts, &j.StartsAt}, {s.region.across, &j.AcrossAt}, {s.region.down, nil}} {
		if part.at != nil {
			*part.at = int32(len(buf) / 4)
		}
		for _, v := range part.values {
			buf = binary.NativeEndian.AppendUint32(buf, uint32(v))
		}
	}
	return buf, j
}
