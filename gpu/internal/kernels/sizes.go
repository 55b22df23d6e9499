package kernels

// A tile of a lattice has LatticeGroup work-items at most, rows of LatticeValues
// values, and LatticeRows of these, divided by the bytes of a value; one of a gray
// image has GrayGroup, GrayCells and GrayRows. RegionColumns and RegionRows are those of
// lattice.h.
const (
	LatticeGroup  = 256
	LatticeValues = 256
	LatticeRows   = 64
	GrayGroup     = 128
	GrayCells     = 128
	GrayRows      = 128
	RegionColumns = 256
	RegionRows    = 128
)

// SumsGroup is how many work-items carry the sums of tilted tables on, on CUDA.
// QuadsGroup is how many share a tile of quads: on CUDA a warp.
const (
	SumsGroup  = 512
	QuadsGroup = 32
)

// How integral histograms are cut, see histogram.h: tiles of HistogramTile columns and
// bands of HistogramBand rows, of which HistogramAcross and HistogramBands are counted
// together. A team of HistogramTeam work-items has HistogramQuads times four bins; the
// work-groups of HistogramFinish are one, and those of the others HistogramGroup.
const (
	HistogramTile   = 32
	HistogramAcross = 2
	HistogramBand   = 32
	HistogramBands  = 2
	HistogramQuads  = 8
	HistogramTeam   = 32
	HistogramGroup  = 128
)

// How the kernels of HistogramPassKernels cut images: tiles and strips of columns,
// blocks of HistogramPassThreads for a row, and batches of rows that a strip goes down
// at a time.
const (
	HistogramPassTile    = 32
	HistogramPassStrip   = 16
	HistogramPassThreads = 128
	HistogramPassBatch   = 32
)

// HistogramPassWriters is how many threads have a strip.
func HistogramPassWriters(across int) int { return min(32*HistogramPassStrip/across, 256) }

// FilterGroup is how many work-items the work-groups of portable filters have at most.
const FilterGroup = 128

// MatchGroup is the same for templates.
const MatchGroup = 128

// DetectGroup is the same for detectors. It is a multiple of 32 everywhere.
const DetectGroup = 128

// What the kernels of FilterPassShapes are for: blocks of so many warps, windows that reach
// over so many lanes, and of so many pixels where squares are summed.
const (
	FilterPassWarps = 4
	FilterPassReach = 16
	FilterPassArea  = 33025
)

// What the kernels of FilterStripShapes are for: blocks of so many warps, windows of so many
// columns, and of so many rows and pixels. A lane decides for so many pixels, and has as many columns of
// each of two strips for means.
const (
	FilterStripWarps  = 4
	FilterStripReach  = 256
	FilterStripRows   = 257     // of bytes, whose sum fits 16 bits
	FilterStripSmall  = 257     // the same of pixels
	FilterStripRing   = 16      // rows of small windows
	FilterStripArea   = 1 << 14 // of decisions: sums are the last bits of floats
	FilterStripLane   = 16
	FilterStripMeans  = 8
	FilterStripLanes  = 32
	FilterStripChunks = 16 // columns of a chunk at the edge
)

// What the kernels of FilterWindowShapes are for: rows take so many bytes of shared memory, of which a block has so many without asking and a
// processor so many. Windows have up to so many pixels where their sums are the last bits of floats, or are divided in one step.
const (
	FilterWindowRow       = 640
	FilterWindowShared    = 48 << 10
	FilterWindowProcessor = 227 << 10
	FilterWindowSquares   = 500
	FilterWindowMeans     = 257
	FilterWindowArea      = 1 << 14
)
