package method

import (
	"slices"

	"github.com/boxsum/boxsum"
	"github.com/boxsum/boxsum/gpu/internal/devmem"
	"github.com/boxsum/boxsum/gpu/internal/kernels"
	"github.com/boxsum/boxsum/rotated"
)

// A region is the part of a lattice that has pixels, in whole pieces of PieceColumns columns
// and PieceRows rows. The table is computed only there. The corners of the image are corners of
// the region: from top to bottom, its rows of pieces begin further and further to the left up
// to one of them, and then further to the right; their ends move in the opposite directions.
type region struct {
	columns, rows int     // of the lattice
	across        []int32 // the first and the last piece of each row of pieces
	down          []int32 // the same for each column
}

const PieceColumns, PieceRows = kernels.RegionColumns, kernels.RegionRows

// pieces returns the region of each of a shape's lattices; those of a split shape share one.
func (s *LatticeShape) pieces() region {
	columns, rows := s.Size()
	g := region{columns: columns, rows: rows}
	g.across = make([]int32, 2*devmem.CeilDiv(rows, PieceRows))
	for y := range len(g.across) / 2 {
		g.across[2*y] = int32(devmem.CeilDiv(columns, PieceColumns))
	}
	runs := len(s.edges) - 1
	for row := range s.rows {
		// Columns decrease as x grows, while down increases.
		first, last := max(0, row-(s.Height-1)), min(row, runs-1)
		right := s.Width - 1 - int(s.edges[first]) + int(s.over[row-first])
		left := s.Width - int(s.edges[last+1]) + int(s.over[row-last])
		y := row >> s.Split / PieceRows
		g.across[2*y] = min(g.across[2*y], int32(left>>s.Split/PieceColumns))
		g.across[2*y+1] = max(g.across[2*y+1], int32(right>>s.Split/PieceColumns))
	}
	g.down = make([]int32, 2*devmem.CeilDiv(columns, PieceColumns))
	for x := range len(g.down) / 2 {
		g.down[2*x] = -1
	}
	for y := range len(g.across) / 2 {
		// Pieces to the upper right of all others get the sums above from their left neighbor.
		if y > 0 && g.across[2*y+1] > g.across[2*y-1] {
			g.across[2*y] = min(g.across[2*y], g.across[2*y-1])
		}
		for x := g.across[2*y]; x <= g.across[2*y+1]; x++ {
			if g.down[2*x] < 0 {
				g.down[2*x] = int32(y)
			}
			g.down[2*x+1] = int32(y)
		}
	}
	return g
}

// A regionTile is an entry of the tile list of jobs.PlanePass: a tile of a one-pass kernel, how
// many tiles precede it in its row and in its column, and flags.
type regionTile struct{ x, y, left, above int32 }

// Flags in the left field of a tile.
const (
	lastOfRow      = 1 << 28
	lastOfColumn   = 1 << 29
	cornerFromLeft = 1 << 30  // to the right of everything above
	tellsRight     = -1 << 31 // the next tile in the row has cornerFromLeft
)

// tiles lists the tiles of a region, row by row or diagonal by diagonal. Their sizes divide those
// of pieces.
func (g *region) tiles(size tileSize) []regionTile {
	perColumn, perRow := PieceColumns/size.columns, PieceRows/size.rows
	endX, endY := devmem.CeilDiv(g.columns, size.columns), devmem.CeilDiv(g.rows, size.rows)
	var all []regionTile
	for y := range endY {
		piece := y / perRow
		from, to := int(g.across[2*piece])*perColumn, min((int(g.across[2*piece+1])+1)*perColumn, endX)
		open := endX // tiles from here on have none above and are to the right of everything above
		if piece > 0 && y%perRow == 0 {
			open = (int(g.across[2*piece-1]) + 1) * perColumn
		}
		for x := from; x < to; x++ {
			top, bottom := int(g.down[2*(x/perColumn)])*perRow, min((int(g.down[2*(x/perColumn)+1])+1)*perRow, endY)
			t := regionTile{int32(x), int32(y), int32(x - from), int32(y - top)}
			if x == to-1 {
				t.left |= lastOfRow
			} else if x+1 >= open {
				t.left |= tellsRight
			}
			if y == bottom-1 {
				t.left |= lastOfColumn
			}
			if x >= open {
				t.left |= cornerFromLeft
			}
			all = append(all, t)
		}
	}
	if !size.byRows {
		slices.SortStableFunc(all, func(a, b regionTile) int { return int(a.x+a.y) - int(b.x+b.y) })
	}
	return all
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

// CornerSums returns the function that [rotated.Table.Fill] needs, given the tables of a shape's
// lattices. Its boxes must begin with the first column and row of a lattice.
func CornerSums[S boxsum.Sum](s *LatticeShape, lattices []*boxsum.Table[S]) func(dst []S, boxes []rotated.Box) {
	var parts [][]*regionTable[S] // by lattice, then by channel
	for _, cells := range lattices {
		var channels []*regionTable[S]
		for c := range cells.Channels {
			channels = append(channels, newRegionTable(s.region, cells, c))
		}
		parts = append(parts, channels)
	}
	return func(dst []S, boxes []rotated.Box) {
		n := len(parts[0])
		for odd, channels := range parts {
			for i, box := range boxes {
				end := s.Part(box, odd).Max
				for c, cells := range channels {
					if sum := cells.entry(end.X, end.Y); odd == 0 {
						dst[i*n+c] = sum
					} else {
						dst[i*n+c] += sum
					}
				}
			}
		}
	}
}
