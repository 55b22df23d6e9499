package method

import (
	"fmt"
	"math/rand/v2"
	"testing"

	"github.com/boxsum/boxsum"
	"github.com/boxsum/boxsum/rotated"
)

// latticeImages returns the lattices of an image, laid out as on a device.
func latticeImages(s *LatticeShape, im boxsum.Image[uint8]) []boxsum.Image[uint8] {
	columns, rows := s.Size()
	var parts []boxsum.Image[uint8]
	for range 1 << s.Split {
		parts = append(parts, boxsum.Image[uint8]{Pix: make([]uint8, columns*rows), Width: columns, Height: rows, Stride: columns, Channels: 1})
	}
	for y := range s.Height {
		for x := range s.Width {
			column, row := s.cell(x, y)
			at := x
			if s.mirrored {
				at = s.Width - 1 - x
			}
			parts[row&s.Split].Pix[row>>s.Split*columns+column>>s.Split] = im.Pix[y*im.Stride+at]
		}
	}
	return parts
}

// TestRegions checks that entries which a region leaves out of a table can be derived from the
// others, and that the listed tiles compute those, each from what its neighbors have published
// before it.
func TestRegions(t *testing.T) {
	r := rand.New(rand.NewPCG(4, 4))
	for q, quadrant := range quadrants {
		for n := range 12 {
			rot := quadrant.random(r)
			if n%2 == 0 {
				rot = quadrant.ratios[n/2%len(quadrant.ratios)]
			}
			width, height := 1+r.IntN(900), 1+r.IntN(900)
			if n%4 == 3 {
				width = 1 + r.IntN(4)
			}
			if n%4 == 2 {
				height = 1 + r.IntN(4)
			}
			s, err := NewLatticeShape(width, height, rot)
			if err != nil {
				t.Fatal(err)
			}
			bounds := s.Lattice.Bounds()
			if s.exchange {
				bounds = rotated.Box{C0: bounds.R0, C1: bounds.R1, R0: bounds.C0, R1: bounds.C1}
			}
			if s.columns != bounds.C1-bounds.C0 || s.rows != bounds.R1-bounds.R0 {
				t.Fatalf("%d×%d along %v has %d×%d cells in %v", width, height, rot, s.columns, s.rows, bounds)
			}
			for part, cells := range latticeImages(s, noise(r, width, height)) {
				want, err := boxsum.Integrate[uint32](cells, nil)
				if err != nil {
					t.Fatal(err)
				}
				if err := checkRegion(r, s.region, want); err != nil {
					t.Fatalf("quadrant %d, %d×%d along %v, part %d: %v", q, width, height, rot, part, err)
				}
				for _, size := range []tileSize{{256, 128, true}, {128, 128, false}, {64, 64, false}, {32, 64, true}} {
					if err := checkTiles(s.region.tiles(size), size, cells, want); err != nil {
						t.Fatalf("quadrant %d, %d×%d along %v, part %d, tiles of %v: %v", q, width, height, rot, part, size, err)
					}
				}
			}
		}
	}
}

func checkRegion(r *rand.Rand, g region, want *boxsum.Table[uint32]) error {
	got := *want
	got.Sums = append([]uint32{}, want.Sums...)
	for row := 1; row <= want.Height; row++ {
		y := (row - 1) / PieceRows
		for column := 1; column <= want.Width; column++ {
			if x := int32((column - 1) / PieceColumns); x < g.across[2*y] || x > g.across[2*y+1] {
				got.Sums[row*got.Stride+column] = r.Uint32()
			}
		}
	}
	table := newRegionTable(g, &got, 0)
	for row := range want.Height + 1 {
		for column := range want.Width + 1 {
			if v := table.entry(column, row); v != want.At(column, row, 0) {
				return fmt.Errorf("entry (%d, %d) is %d, not %d", column, row, v, want.At(column, row, 0))
			}
		}
	}
	return nil
}

// A regionTable is one channel of a table of a region.
type regionTable[S boxsum.Sum] struct {
	region
	cells         *boxsum.Table[S]
	channel       int
	above, before []S // the sums above each row of pieces and left of each column; the last one is the total
}

func newRegionTable[S boxsum.Sum](g region, cells *boxsum.Table[S], channel int) *regionTable[S] {
	t := &regionTable[S]{region: g, cells: cells, channel: channel}
	var sum S
	for y := range len(g.across) / 2 {
		t.above = append(t.above, sum)
		sum += t.rowsOf(y, min((y+1)*PieceRows, g.rows))
	}
	t.above, sum = append(t.above, sum), 0
	for x := range len(g.down) / 2 {
		t.before = append(t.before, sum)
		sum += t.columnsOf(x, min((x+1)*PieceColumns, g.columns))
	}
	return t
}

// inside, rowsOf, columnsOf and entry are the functions of gpu/internal/kernels/lattice_boxes.cl.
func (t *regionTable[S]) inside(column, row int) S {
	if column == 0 || row == 0 {
		return 0
	}
	x, y := (column-1)/PieceColumns, (row-1)/PieceRows
	if x < int(t.across[2*y]) {
		if int(t.down[2*x]) > y {
			return 0
		}
		row = min((int(t.down[2*x+1])+1)*PieceRows, t.rows)
	} else if x > int(t.across[2*y+1]) {
		column = min((int(t.across[2*y+1])+1)*PieceColumns, t.columns)
	}
	return t.cells.At(column, row, t.channel)
}

func (t *regionTable[S]) rowsOf(y, row int) S {
	end := min((int(t.across[2*y+1])+1)*PieceColumns, t.columns)
	return t.inside(end, row) - t.inside(end, y*PieceRows)
}

func (t *regionTable[S]) columnsOf(x, column int) S {
	end := min((int(t.down[2*x+1])+1)*PieceRows, t.rows)
	return t.inside(column, end) - t.inside(x*PieceColumns, end)
}

func (t *regionTable[S]) entry(column, row int) S {
	if column > 0 && row > 0 {
		x, y := (column-1)/PieceColumns, (row-1)/PieceRows
		if x > int(t.across[2*y+1]) && int(t.down[2*x]) <= y {
			return t.above[y] + t.rowsOf(y, row) + (t.before[x] + t.columnsOf(x, column)) - t.above[len(t.above)-1]
		}
	}
	return t.inside(column, row)
}

// checkTiles computes the tiles of a table like listedPlace in gpu/internal/kernels/plane_tile.h.
func checkTiles(list []regionTile, size tileSize, cells boxsum.Image[uint8], want *boxsum.Table[uint32]) error {
	type told struct {
		Rows, columns []uint32 // prefix sums
		corner, right uint32
		flags         int32
	}
	tiles := map[[2]int32]*told{}
	for _, at := range list {
		flags, left := at.left&^(lastOfRow-1), at.left&(lastOfRow-1)
		before, over := make([]uint32, size.rows), make([]uint32, size.columns)
		var corner uint32
		if left > 0 {
			other := tiles[[2]int32{at.x - 1, at.y}]
			if other == nil || other.flags&lastOfRow != 0 {
				return fmt.Errorf("tile %v: nothing from the left", at)
			}
			before = other.Rows
		}
		if at.above > 0 {
			other := tiles[[2]int32{at.x, at.y - 1}]
			if other == nil || other.flags&lastOfColumn != 0 {
				return fmt.Errorf("tile %v: nothing from above", at)
			}
			over, corner = other.columns, other.corner
		}
		if flags&cornerFromLeft != 0 {
			other := tiles[[2]int32{at.x - 1, at.y}]
			if other == nil || other.flags&tellsRight == 0 || at.above > 0 {
				return fmt.Errorf("tile %v: no corner from the left", at)
			}
			corner = other.right
		}
		tell := &told{Rows: make([]uint32, size.rows), columns: make([]uint32, size.columns), corner: corner, flags: flags}
		tell.right = corner + over[size.columns-1]
		own := make([]uint32, size.columns) // of the tile's own table, row by row
		sum := corner
		for r := range size.rows {
			row, inRow := int(at.y)*size.rows+r, uint32(0)
			sum += before[r]
			tell.corner += before[r]
			for c := range size.columns {
				if column := int(at.x)*size.columns + c; row < cells.Height && column < cells.Width {
					inRow += uint32(cells.Pix[row*cells.Stride+column])
					own[c] += inRow
					if v := sum + over[c] + own[c]; v != want.At(column+1, row+1, 0) {
						return fmt.Errorf("tile %v: entry (%d, %d) is %d, not %d", at, column+1, row+1, v, want.At(column+1, row+1, 0))
					}
				} else {
					own[c] += inRow
				}
			}
			tell.Rows[r] = before[r] + inRow
		}
		for c := range tell.columns {
			tell.columns[c] = over[c] + own[c]
		}
		tiles[[2]int32{at.x, at.y}] = tell
	}
	return nil
}

// noise returns random bytes.
func noise(r *rand.Rand, width, height int) boxsum.Image[uint8] {
	im := boxsum.Image[uint8]{Pix: make([]uint8, width*height), Stride: width, Width: width, Height: height, Channels: 1}
	for i := range im.Pix {
		im.Pix[i] = uint8(r.Uint32())
	}
	return im
}

// quadrants holds ratios of each of the four orientations, besides random ones.
var quadrants = []struct {
	name   string
	ratios []rotated.Rotation
	random func(r *rand.Rand) rotated.Rotation
}{
	{"0 to 1", []rotated.Rotation{{A: 1, B: 1}, {A: 1, B: 2}, {A: 2, B: 3}, {A: 3, B: 5}, {A: 1, B: 10}, {A: 0, B: 1}, {A: 1, B: 1 << 30}},
		func(r *rand.Rand) rotated.Rotation {
			b := 1 + r.IntN(40)
			return rotated.Rotation{A: r.IntN(b + 1), B: b}
		}},
	{"-1 to 0", []rotated.Rotation{{A: -1, B: 1}, {A: -1, B: 2}, {A: -2, B: 3}, {A: -3, B: 5}, {A: -1, B: 10}, {A: 1 - 1<<30, B: 1 << 30}},
		func(r *rand.Rand) rotated.Rotation {
			b := 1 + r.IntN(40)
			return rotated.Rotation{A: -1 - r.IntN(b), B: b}
		}},
	{"above 1", []rotated.Rotation{{A: 5, B: 1}, {A: 2, B: 1}, {A: 3, B: 2}, {A: 5, B: 3}, {A: 10, B: 1}, {A: 1 << 30, B: 1}},
		func(r *rand.Rand) rotated.Rotation {
			b := 1 + r.IntN(20)
			return rotated.Rotation{A: b + 1 + r.IntN(40), B: b}
		}},
	{"below -1", []rotated.Rotation{{A: -5, B: 1}, {A: -2, B: 1}, {A: -3, B: 2}, {A: -5, B: 3}, {A: -10, B: 1}, {A: -1 << 30, B: 1}},
		func(r *rand.Rand) rotated.Rotation {
			b := 1 + r.IntN(20)
			return rotated.Rotation{A: -b - 1 - r.IntN(40), B: b}
		}},
}
