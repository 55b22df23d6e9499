package method

import "github.com/boxsum/boxsum/gpu/internal/cuda"

// The structs of this file are those of the kernels, byte for byte.

// A portableJob is the Job of gpu/internal/kernels/job.h, byte for byte.
type portableJob struct {
	inStart, inStride, inDistance                                int64
	outStart, outStride, outDistance                             int64
	squaresStart, squaresStride, squaresDistance                 int64
	columnsStart, rowsStart, squareColumnsStart, squareRowsStart int64
	width, height, channels                                      int32
	lanes, laneGroups                                            int32
	tilePixels, tileRows, tilesAcross, tilesDown                 int32
	carry                                                        int32
	offset                                                       float32
	lanesInverse                                                 int32
}

// The Carry, Climb and Boxes of gpu/internal/kernels/job.h.
type (
	portableCarry struct {
		start, length int64
		steps, _      int32
		groups        uint32
		groupsAcross  uint32
	}
	portableClimb struct {
		start                            int64
		height, channels, tilesAcross, _ int32
	}
	portableBoxes struct{ start, stride, channels, count int64 }
)

// A tiltedJob is the Tilted of gpu/internal/kernels/tilted.h, byte for byte.
type tiltedJob struct {
	inStart, inStride, inDistance        int64
	outStart, outStride, outDistance     int64
	fallingStart, risingStart, sumsStart int64
	carryStride                          int64
	width, height, channels              int32
	lanes, laneGroups, lanesInverse      int32
	tilePixels, tilesAcross, strips      int32
	squares                              int32
}

// A tiltedDiagonals is the Diagonals of gpu/internal/kernels/tilted.h.
type tiltedDiagonals struct {
	fallingStart, risingStart, sumsStart, carryStride int64
	lines                                             int64
	values, step, strips, channels                    int32
	linesAcross, windowsAcross, sumsAcross            uint32
	_                                                 int32
}

// A latticeJob is the Lattice of gpu/internal/kernels/lattice.h, byte for byte.
type latticeJob struct {
	inStart, inStride, inDistance     int64
	outStart, outStride, outDistance  int64
	downsAt, overAt, edgesAt          int32
	startsAt, acrossAt                int32
	width, height, channels           int32
	rows, columns, split              int32
	runs, overs, mirrored             int32
	everywhere                        int32
	lanes, laneGroups, lanesInverse   int32
	tileCells, tilesAcross, tilesDown int32
	wide                              int32
	tangent                           float32
}

// A latticeBoxes is the LatticeBoxes of gpu/internal/kernels/lattice.h, byte for byte.
type latticeBoxes struct {
	start, stride            int64
	channels, count          int64
	columns, rows            int32
	acrossAt, downAt         int32
	piecesAcross, piecesDown int32
}

// A volumeBlocks is the Blocks of gpu/internal/kernels/volume.h.
type volumeBlocks struct{ start, stride, slice, channels, count int64 }

// A histogramCut is the Histogram of gpu/internal/kernels/histogram.h, byte for byte.
type histogramCut struct {
	inStart, inStride, inDistance           int64
	outStart, outStride, outDistance        int64
	planesStart, rowsStart, columnsStart    int64
	totalsStart, leftStart, aboveStart      int64
	width, height, channels, bins           int32
	limits, quads, allQuads, groupQuads     int32
	tilesAcross, bands, bundles, quadGroups int32
	count, carry, quadsIn, wide             int32
}

// A histogramPassJob is the BoxsumHistogram of gpu/internal/kernels/histogrampass.h, byte for
// byte.
type histogramPassJob struct {
	in, out, limits, table         int64
	plane, left, written           int64
	inStride, inDistance           int64
	outStride, outDistance         int64
	width, height, channels, count int32
	bins, limitCount               int32
	lanes, groups                  int32 // bins of a group; groups of a channel
	slots                          int32
	tiles, strips                  int32 // across
	carry, quadsIn                 int32
	company, batches               int32 // blocks that wait for each other; batches of all companies
	_                              int32
}

// A fastShape is what a module tells of a one-pass kernel of images.
type fastShape struct {
	width, height int32 // of a tile, in values
	threads       int32
	shared        int32 // bytes
	sumWords      int32 // of 16 bytes, which a tile has for others to read
	squareWords   int32
	jobBytes      int32
	strip         int32 // tiles of a row that are worked on together, row by row; 0: along diagonals
	lag           int32 // the logarithm of how many tiles a row is ahead of the next at most, along diagonals
	ahead         int32 // how many tiles later comes the one to ask the memory for; 0: none
}

// A fastJob is the BoxsumJob of gpu/internal/kernels/fast.h, byte for byte.
type fastJob struct {
	boxes                 cuda.TensorMap
	in, out, squares      uint64
	status                uint64
	squaresStatus         int64
	tickets               uint64
	inStride, inBatch     int64
	outStride, outBatch   int64
	squaresStride         int64
	squaresBatch          int64
	offset                float64
	width, height, count  int32
	tilesX, tilesY        int32
	strip, lag, ahead     int32
	turn                  int32
	epoch, base           uint32
	inAligned, outAligned int32
	squaresAligned        int32
	carry                 int32
	spotCount             int32
	spots                 uint64
	_                     [16]byte
}

// A volumeShape is what a module tells of a one-pass kernel of volumes.
type volumeShape struct {
	width, height int32 // of a tile
	threads       int32
	shared        int32 // bytes
	words         int32 // of 16 bytes, which a tile tells others of a slice
	jobBytes      int32
}

// A volumePassJob is the BoxsumVolume of gpu/internal/kernels/volumejob.h, byte for byte.
type volumePassJob struct {
	in, out, edges, tickets uint64
	planes                  uint64
	inStride, inSlice       int64
	outStride, outSlice     int64
	offset                  float64
	width, height, depth    int32
	tilesX, tilesY          int32
	epoch, base             uint32
	carry                   int32
	columnBytes, slabDepth  int32
}

// Sizes is what a launch of the kernel takes.
func (s fastShape) Sizes() (threads, shared, jobBytes int) {
	return int(s.threads), int(s.shared), int(s.jobBytes)
}

// Sizes is what a launch of the kernel takes.
func (s volumeShape) Sizes() (threads, shared, jobBytes int) {
	return int(s.threads), int(s.shared), int(s.jobBytes)
}
