package match

import (
	"slices"

	"github.com/boxsum/boxsum/internal/kernel"
)

// An again makes those scores of two blocks of bytes directly for which transforms in float32
// are not exact enough: windows of little contrast beside others that have much.
type again struct {
	directWorker
	groups  []scoreGroup
	factors []float32 // of all groups
}

// A scoreGroup is a place in the scores, and 64 across and 2 down from there, as far as the block
// goes.
type scoreGroup struct{ x, y, width, height int }

// againCost is how many products for each pixel of the blocks take as long as transforms in
// float64 do.
const againCost = 2048

// againArea is how many pixels a template may have so that correlations fit in 32 bits.
const againArea = 1 << 16

// collect finds the groups that have factors above a limit, and keeps their factors. It
// reports whether to make them again is less work than to make the blocks again.
func (l *blockLayer) collect(a *again, blocks [2]int, limit float64) bool {
	if !l.directly {
		return false
	}
	a.groups, a.factors = a.groups[:0], a.factors[:0]
	most := againCost * 2 * l.nx * l.ny / (2 * 2 * kernel.CorrelateSpan * l.count)
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
			for x := 0; x < len(first); x += kernel.CorrelateSpan {
				g := scoreGroup{x0 + x, y0 + row, min(kernel.CorrelateSpan, len(first)-x), 0}
				var top lineOfSums
				for _, r := range rows {
					if r != nil {
						g.height++
						kernel.Most(l.task.set.Level, &top, r[x:][:g.width])
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

// makeAgain writes the scores of the groups.
func (l *blockLayer) makeAgain(a *again, scale float64) {
	t, factors := &l.task, a.factors
	byProducts, bySums := l.direct.numerator(t.method)
	if t.method == ZNCC {
		scale /= l.direct.area
	}
	for _, g := range a.groups {
		a.at(&l.direct, &t.src, g.x, g.y)
		products := a.sums
		a.at(&l.sumsDirect, &t.src, g.x, g.y)
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
