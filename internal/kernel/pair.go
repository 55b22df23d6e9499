package kernel

import "unsafe"

// A pair is the kernels of pixels of type P and sums of type S, or of sums of
// squares, by level. Kinds of tables that do not have the pair have none.
type pair[P Pixel, S Sum] struct {
	square  bool
	rotates bool
	asm     [levelCount]routines[P, S]
	plane   [levelCount]Func[P, S]
	columns [levelCount]Columns[P, S]
	volume  [levelCount]VolumeFunc[P, S]
	tilted  [levelCount]TiltedFunc[P, S]
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

// kinds is which kinds of tables have a pair, besides upright ones.
type kinds struct{ tilted, rotated, volume bool }

// newPair makes the kernels of every level. A level without assembly of its own
// takes that of the level below it.
func newPair[P Pixel, S Sum](square bool, has kinds, asm [levelCount]routines[P, S]) any {
	p := &pair[P, S]{square: square, rotates: has.rotated}
	portablePlane := portableSum[P, S]
	if square {
		portablePlane = portableSquare[P, S]
	}
	for l := range levelCount {
		below, r := max(0, l-1), &asm[l]
		if lacksDots(l) {
			r.planeDot, r.volumeDot, r.rotatedDot = asm[below].planeDot, nil, nil
		}
		p.plane[l], p.volume[l], p.tilted[l] = p.plane[below], p.volume[below], p.tilted[below]
		if p.columns[l] = p.columns[below]; !isFloat[S]() && (l == Portable || r.columns != nil) {
			p.columns[l] = columnsFunc(r, portableColumns[P, S](square))
		}
		if l == Portable || r.plane != nil {
			p.plane[l] = planeFunc(r, &asm[below], portablePlane)
		}
		if r.lines[0] != nil {
			p.plane[l] = linesFunc(r.lines, portablePlane)
			if has.volume {
				p.volume[l] = volumeLinesFunc(r, p.plane[l])
			}
		}
		if has.volume && (l == Portable || r.volume != nil) {
			p.volume[l] = volumeFunc(r, p.plane[l], portableVolume(portablePlane, nil))
		}
		if r.tilted == nil {
			r.tilted = asm[below].tilted
		}
		if has.tilted && (l == Portable || r.tilted != nil) {
			p.tilted[l] = (&tiltedKernel[P, S]{square: square, asm: r.tilted, group: r.tiltedGroup}).tile
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
func find[P Pixel, S Sum](square bool) *pair[P, S] {
	for _, p := range table {
		if p, ok := p.(*pair[P, S]); ok && p.square == square {
			return p
		}
	}
	return new(pair[P, S])
}

// Sums is the kernel that adds up pixels of type P in sums of type S, and nil
// for a pair that makes no table.
func Sums[P Pixel, S Sum](level Level) Func[P, S] { return find[P, S](false).plane[level] }

// Squares is the same for the squares of pixels.
func Squares[P Pixel, S Sum](level Level) Func[P, S] { return find[P, S](true).plane[level] }

// Volume is the kernel of volumes, of pixels or of their squares, and nil for a
// pair that makes no table.
func Volume[P Pixel, S Sum](level Level, squares bool) VolumeFunc[P, S] {
	return find[P, S](squares).volume[level]
}

// Tilted is the same for sums along both diagonals.
func Tilted[P Pixel, S Sum](level Level, squares bool) TiltedFunc[P, S] {
	return find[P, S](squares).tilted[level]
}
