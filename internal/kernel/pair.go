package kernel

import (
	"unsafe"

	"github.com/boxsum/boxsum/internal/pairs"
)

// A pair is the kernels of one type of pixels and sums of type S, or of sums of
// squares, by level. Kinds of tables that do not have the pair have none.
type pair[S Sum] struct {
	pixel   pairs.Type
	square  bool
	rotates bool
	loops   portables[S]
	asm     [levelCount]routines[byte, S]
	plane   [levelCount]Func[S]
	columns [levelCount]Columns[S]
	volume  [levelCount]VolumeFunc[S]
	tilted  [levelCount]TiltedFunc[S]
}

// routines is the assembly of a pair at one level, nil where there is none. Those
// called dot are for one channel: they sum bytes by dot products.
type routines[P Pixel, S Sum] struct {
	vector              int // bytes
	plane, planeDot     routine[P, S]
	planeGroups         bool // plane takes groups of rows only
	columns             func(sums *S, src *P, stride, groups, n int)
	volume, volumeDot   volumeRoutine[P, S]
	lay                 func(dst, over *S, n int) // a row of a plane on a slice
	tilted              tiltedRoutine[P, S]
	tiltedGroup         tiltedGroup[P, S]
	rotated, rotatedDot rotatedRoutine

	lines       [FastChannels]lineRoutine[P, S] // plane tables, by channels
	volumeLines [FastChannels]lineVolume[P, S]  // volumes, by channels
}

// portables is the loops of a pair in Go, which are all that is compiled for each.
type portables[S Sum] struct {
	plane                  Func[S]
	columns                Columns[S] // of integers
	tilted                 tiltedSpan[S]
	rotated, rotatedSingle rotatedLoop[S] // of any channels, and of one
}

// kinds is which kinds of tables have a pair, besides upright ones.
type kinds struct{ tilted, rotated, volume bool }

// newSums makes the kernels of a pair from its assembly and its loops.
func newSums[P Pixel, S Sum](has kinds, asm [levelCount]routines[P, S]) any {
	loops := portables[S]{plane: portableSum[P, S], tilted: tiltedSums[P, S], rotated: rotatedBlocks[P, S], rotatedSingle: rotatedBlocks[P, S]}
	if !isFloat[S]() {
		loops.columns, loops.rotatedSingle = portableColumns[P, S], rotatedSingle[P, S]
	}
	return makePair(pairs.TypeOf[P](), false, has, ofBytes(asm), loops)
}

// newSquares is newSums for squares, which rotated tables have not.
func newSquares[P Pixel, S Sum](has kinds, asm [levelCount]routines[P, S]) any {
	loops := portables[S]{plane: portableSquare[P, S], tilted: tiltedSquares[P, S]}
	if !isFloat[S]() {
		loops.columns = portableSquareColumns[P, S]
	}
	return makePair(pairs.TypeOf[P](), true, has, ofBytes(asm), loops)
}

// ofBytes is assembly that gets pixels as bytes: what points at one may point at the other.
func ofBytes[P Pixel, S Sum](asm [levelCount]routines[P, S]) [levelCount]routines[byte, S] {
	return *(*[levelCount]routines[byte, S])(unsafe.Pointer(&asm))
}

// makePair makes the kernels of every level. A level without assembly of its own
// takes that of the level below it.
func makePair[S Sum](pixel pairs.Type, square bool, has kinds, asm [levelCount]routines[byte, S], loops portables[S]) *pair[S] {
	p := &pair[S]{pixel: pixel, square: square, rotates: has.rotated, loops: loops}
	for l := range levelCount {
		below, r := max(0, l-1), &asm[l]
		if lacksDots(l) {
			r.planeDot, r.volumeDot, r.rotatedDot = asm[below].planeDot, nil, nil
		}
		p.plane[l], p.volume[l], p.tilted[l] = p.plane[below], p.volume[below], p.tilted[below]
		if p.columns[l] = p.columns[below]; !isFloat[S]() && (l == Portable || r.columns != nil) {
			p.columns[l] = columnsFunc(r, loops.columns, pixel.Bytes())
		}
		if l == Portable || r.plane != nil {
			p.plane[l] = planeFunc(r, &asm[below], loops.plane)
		}
		if r.lines[0] != nil {
			p.plane[l] = linesFunc(r.lines, loops.plane)
			if has.volume {
				p.volume[l] = volumeLinesFunc(r, p.plane[l])
			}
		}
		if has.volume && (l == Portable || r.volume != nil) {
			p.volume[l] = volumeFunc(r, p.plane[l], portableVolume(loops.plane, nil))
		}
		if r.tilted == nil {
			r.tilted = asm[below].tilted
		}
		if has.tilted && (l == Portable || r.tilted != nil) {
			p.tilted[l] = (&tiltedKernel[S]{span: loops.tilted, asm: r.tilted, group: r.tiltedGroup}).tile
		}
	}
	p.asm = asm
	return p
}

// signedSums is the assembly of uint64 for int64, whose sums are the same bits.
func signedSums[P Pixel](asm [levelCount]routines[P, uint64]) [levelCount]routines[P, int64] {
	return *(*[levelCount]routines[P, int64])(unsafe.Pointer(&asm))
}

// find is the pair, and one without kernels where it makes no table.
func find[S Sum](pixel pairs.Type, square bool) *pair[S] {
	for _, p := range table {
		if p, ok := p.(*pair[S]); ok && p.pixel == pixel && p.square == square {
			return p
		}
	}
	return new(pair[S])
}

// Plane is the kernel that adds up pixels of a type, or their squares, in sums of
// type S, and nil for a pair that makes no table.
func Plane[S Sum](pixel pairs.Type, level Level, squares bool) Func[S] {
	return find[S](pixel, squares).plane[level]
}

// Volume is the same for volumes.
func Volume[S Sum](pixel pairs.Type, level Level, squares bool) VolumeFunc[S] {
	return find[S](pixel, squares).volume[level]
}

// Tilted is the same for sums along both diagonals.
func Tilted[S Sum](pixel pairs.Type, level Level, squares bool) TiltedFunc[S] {
	return find[S](pixel, squares).tilted[level]
}
