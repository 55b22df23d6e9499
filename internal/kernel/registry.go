package kernel

import "github.com/boxsum/boxsum/internal/raster"

// A pair holds the kernels of one pixel type and one sum type, by level. Kernels of tables that do
// not support the pair are nil.
type pair struct {
	pixel, sum raster.Type
	rotates    bool
	loops      portables
	asm        [levelCount]routines
	plane      [levelCount]Func
	columns    [levelCount]Columns
	volume     [levelCount]VolumeFunc
	tilted     [levelCount]TiltedFunc
}

// routines holds the assembly of a pair at one level; missing routines are nil. The dot routines
// are for one channel of bytes and use dot products.
type routines struct {
	vector              int // size in bytes
	plane, planeDot     routine
	planeGroups         bool // plane supports only whole groups of rows
	columns             func(sums, src *byte, stride, groups, n int)
	volume, volumeDot   volumeRoutine
	lay                 func(dst, over *byte, n int) // adds a slice to a row of a plane
	tilted              tiltedRoutine
	tiltedGroup         tiltedGroup
	rotated, rotatedDot rotatedRoutine

	lines       [FastChannels]lineRoutine // plane tables, by number of channels
	volumeLines [FastChannels]lineVolume  // volumes, by number of channels
}

// portables holds the portable loops of a pair, the only code that is compiled for its types.
type portables struct {
	plane                  Func
	columns                columnLoops // integers only
	lay                    func(dst, over []byte)
	tilted                 tiltedSpan
	rotated, rotatedSingle rotatedLoop // any number of channels, and one channel
}

// kinds lists the kinds of tables, besides upright ones, that support a pair.
type kinds struct{ tilted, rotated, volume bool }

// newSums returns the kernels that sum pixels of type P in sums of type S.
func newSums[P Pixel, S Sum](has kinds, asm [levelCount]routines) *pair {
	loops := portables{plane: portableSum[P, S], lay: layRow[S], tilted: tiltedSums[P, S], rotated: rotatedBlocks[P, S], rotatedSingle: rotatedBlocks[P, S]}
	if !isFloat[S]() {
		loops.columns, loops.rotatedSingle = columnLoops{portableColumns[P, S], addRow[S], subRow[S], prefixRow[S]}, rotatedSingle[P, S]
	}
	return newPair(raster.TypeOf[P](), raster.TypeOf[S](), has, asm, loops)
}

// newSquares is like newSums for squares, which rotated tables do not support.
func newSquares[P Pixel, S Sum](has kinds, asm [levelCount]routines) *pair {
	loops := portables{plane: portableSquare[P, S], lay: layRow[S], tilted: tiltedSquares[P, S]}
	if !isFloat[S]() {
		loops.columns = columnLoops{portableSquareColumns[P, S], addRow[S], subRow[S], prefixRow[S]}
	}
	return newPair(raster.TypeOf[P](), raster.TypeOf[S](), has, asm, loops)
}

// newPair builds the kernels of every level. A level without assembly of its own uses that of the
// level below.
func newPair(pixel, sum raster.Type, has kinds, asm [levelCount]routines, loops portables) *pair {
	p := &pair{pixel: pixel, sum: sum, rotates: has.rotated, loops: loops}
	size := sizes{pixel.Bytes(), sum.Bytes()}
	for l := range levelCount {
		below, r := max(0, l-1), &asm[l]
		if lacksDots(l) {
			r.planeDot, r.volumeDot, r.rotatedDot = asm[below].planeDot, nil, nil
		}
		p.plane[l], p.volume[l], p.tilted[l] = p.plane[below], p.volume[below], p.tilted[below]
		if p.columns[l] = p.columns[below]; !sum.Float() && (l == Portable || r.columns != nil) {
			p.columns[l] = newColumns(r, loops.columns, size)
		}
		if l == Portable || r.plane != nil {
			p.plane[l] = planeFunc(r, &asm[below], loops.plane, size)
		}
		if r.lines[0] != nil {
			p.plane[l] = linesFunc(r.lines, loops.plane, size)
			if has.volume {
				p.volume[l] = volumeLinesFunc(r, p.plane[l], loops.lay, size)
			}
		}
		if has.volume && (l == Portable || r.volume != nil) {
			p.volume[l] = volumeFunc(r, p.plane[l], &loops, size)
		}
		if r.tilted == nil {
			r.tilted = asm[below].tilted
		}
		if has.tilted && (l == Portable || r.tilted != nil) {
			p.tilted[l] = (&tiltedKernel{span: loops.tilted, asm: r.tilted, group: r.tiltedGroup, size: size, line: LineBytes / size.sum, float: sum.Float()}).tile
		}
	}
	p.asm = asm
	return p
}

// find returns the pair of two types, or a pair without kernels if no table supports them.
func find(pixel, sum raster.Type, square bool) *pair {
	p := sums[pixel][sum]
	if square {
		p = squares[pixel][sum]
	}
	if p == nil {
		return &noPair
	}
	return p
}

var noPair pair

// Plane returns the kernel that sums pixels, or their squares. It returns nil for types that no
// table supports.
func Plane(pixel, sum raster.Type, level Level, squares bool) Func {
	return find(pixel, sum, squares).plane[level]
}

// Volume is like [Plane] for volumes.
func Volume(pixel, sum raster.Type, level Level, squares bool) VolumeFunc {
	return find(pixel, sum, squares).volume[level]
}

// Tilted is like [Plane] for tables tilted by 45°.
func Tilted(pixel, sum raster.Type, level Level, squares bool) TiltedFunc {
	return find(pixel, sum, squares).tilted[level]
}
