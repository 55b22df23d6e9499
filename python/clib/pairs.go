//go:build cgo

package main

import (
	"slices"
	"strings"

	"github.com/boxsum/boxsum"
	"github.com/boxsum/boxsum/internal/raster"
	"github.com/boxsum/boxsum/moments"
	"github.com/boxsum/boxsum/rotated"
)

//go:generate go run github.com/boxsum/boxsum/internal/raster/expand -out pairs_list.go -kind device -before "//go:build cgo\n\npackage main\n\nvar allPairs = []*pair{" -line "newPair[{{.Sum}}, {{.Pixel}}]()," -after "}"
//go:generate go run github.com/boxsum/boxsum/internal/raster/expand -out ../src/boxsum/_pairs.py -kind device -before "# Pixels and their sums, the usual one first.\nSUMS = (" -line "    (\"{{.Pixel.NumPy}}\", \"{{.Sum.NumPy}}\")," -after ")"

// A pair is the functions of all packages for one type of pixels and one of sums.
type pair struct {
	pixel, sum element

	sums    func(*job)
	squares map[element]func(*job) // by the type of the squares
	usual   element                // that of the squares of most calls
	first   func(*job)             // makes those
	valid   map[element]func(*validJob)
	rotated func(*job, rotated.Rotation) lattice

	// What goes by the pixels alone, and by the sums.
	count    func(*counting)
	weigh    func(v *view, workers int) *moments.Table
	answer   func(*query)
	tilted   func(*query)
	features func(*view, *features)
}

func newPair[S boxsum.Sum, P boxsum.Pixel]() *pair {
	p := &pair{
		pixel: elementOf(raster.TypeNamed[P]()), sum: elementOf(raster.TypeNamed[S]()),
		sums: sums[S, P], squares: map[element]func(*job){}, valid: map[element]func(*validJob){}, rotated: rotate[S, P],
		count: count[P], weigh: weigh[P],
		answer: answer[S], tilted: tiltedAnswer[S], features: uprightFeatures[S],
	}
	for _, t := range raster.SquarePairs.Of(raster.TypeNamed[P]()) {
		switch t {
		case raster.U64:
			p.squares[u64], p.valid[u64] = squares[S, uint64, P], sumValid[S, uint64, P]
		case raster.F64:
			p.squares[f64], p.valid[f64] = squares[S, float64, P], sumValid[S, float64, P]
		}
	}
	p.usual = u64
	if p.squares[u64] == nil || p.pixel.bytes > 2 {
		p.usual = f64
	}
	p.first = p.squares[p.usual]
	return p
}

// squaresOf is what makes squares of a type, nil for none.
func (p *pair) squaresOf(t element) func(*job) {
	if t == p.usual {
		return p.first
	}
	return p.squares[t]
}

// The pairs by their types, and one for each type of pixels and each of sums.
var byTypes, byPixel, bySum = tabulate(allPairs)

func tabulate(all []*pair) (both map[[2]element]*pair, byPixel, bySum map[element]*pair) {
	both, byPixel, bySum = map[[2]element]*pair{}, map[element]*pair{}, map[element]*pair{}
	for _, p := range all {
		both[[2]element{p.pixel, p.sum}], byPixel[p.pixel], bySum[p.sum] = p, p, p
	}
	bySum[i32] = bySum[u32] // has the same bits
	return both, byPixel, bySum
}

// find is the pair of these types. Signed and unsigned sums have the same bits: a
// table may be of either.
func find(pixel, sum element) *pair {
	bits := sum
	if sum.kind == 'i' && pixel.kind == 'u' || sum.kind == 'u' && pixel.kind == 'i' {
		bits.kind = pixel.kind
	}
	for _, p := range allPairs { // in less time than a map takes
		if p.pixel == pixel && p.sum == bits {
			return p
		}
	}
	p := byTypes[[2]element{pixel, bits}]
	if p == nil {
		have := map[element]bool{}
		for _, p := range allPairs {
			if p.pixel == pixel {
				have[p.sum] = true
			}
		}
		must(wrongTypes("pixels of %v have no table of %v: they have %s", pixel, sum, names(have)))
	}
	return p
}

// names lists the types that something has.
func names[V any](of map[element]V) string {
	var all []string
	for e := range of {
		all = append(all, e.String())
	}
	slices.Sort(all)
	return strings.Join(all, ", ")
}
