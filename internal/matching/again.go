package matching

import (
	"slices"

	"github.com/boxsum/boxsum/internal/kernel/transforms"
)

// An again recomputes scores directly where float32 transforms of two blocks of bytes are
// not accurate enough: low-contrast windows next to high-contrast ones.
type again struct {
	directWorker
	groups  []scoreGroup
	factors []float32 // of all groups, in order
}

// A scoreGroup is a block of scores at (x, y), at most 64 wide and 2 high.
type scoreGroup struct{ x, y, width, height int }

// againCost is the number of products per pixel of the blocks that take as long as float64
// transforms.
const againCost = 2048

// againArea is the largest template, in pixels, whose correlations fit in 32 bits.
const againArea = 1 << 16

// collect finds the groups with factors above limit and saves their factors. It reports
// whether recomputing them is cheaper than recomputing the blocks.
func (l *blockLayer) collect(a *again, blocks [2]int, limit float64) bool {
	if !l.directly {
		return false
	}
	a.groups, a.factors = a.groups[:0], a.factors[:0]
	most := againCost * 2 * l.nx * l.ny / (2 * 2 * transforms.CorrelateSpan * l.count)
	for _, block := range blocks {
		if block >= l.blocks {
			continue
		}
		x0, y0 := l.place(block)
		for row := 0; ; row += 2 {
			first := l.scores(block, row)
			if first == nil {
				break
			}
			rows := [2][]float32{first, l.scores(block, row+1)}
			for x := 0; x < len(first); x += transforms.CorrelateSpan {
				g := scoreGroup{x0 + x, y0 + row, min(transforms.CorrelateSpan, len(first)-x), 0}
				var top lineOfSums
				for _, r := range rows {
					if r != nil {
						g.height++
						transforms.UpdateMax(l.job.set.Level, &top, r[x:][:g.width])
					}
				}
				if float64(slices.Max(top[:])) <= limit {
					continue
				}
				if len(a.groups) == most {
					return false
				}
				a.groups = append(a.groups, g)
				for _, r := range rows[:g.height] {
					a.factors = append(a.factors, r[x:][:g.width]...)
				}
			}
		}
	}
	return true
}

// makeAgain recomputes the scores of the collected groups.
func (l *blockLayer) makeAgain(a *again, scale float64) {
	t, factors := &l.job, a.factors
	byProducts, bySums := l.direct.numerator(t.Method)
	if t.Method == ZNCC {
		scale /= l.direct.area
	}
	for _, g := range a.groups {
		a.at(&l.direct, &t.Src, g.x, g.y)
		products := a.sums
		a.at(&l.sumsDirect, &t.Src, g.x, g.y)
		for j := range g.height {
			to := t.dst[(g.y+j)*t.stride+g.x:][:g.width]
			for i := range to {
				v := float64(byProducts*float64(products[j][i])) + float64(bySums*float64(a.sums[j][i]))
				to[i] = clamped(float64(v*scale) * float64(factors[i]))
			}
			factors = factors[g.width:]
		}
	}
}
