package method

import (
	"slices"

	"github.com/boxsum/boxsum/gpu/internal/devmem"
	"github.com/boxsum/boxsum/gpu/internal/kernels"
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
