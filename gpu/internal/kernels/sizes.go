package kernels

// The sizes of tiles of lattices. A tile has at most LatticeGroup work-items, rows of
// LatticeValues values, and LatticeRows rows divided by the size of a value in bytes. A tile of
// a gray image has GrayGroup, GrayCells and GrayRows instead. RegionColumns and RegionRows are
// defined in lattice.h.
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

// SumsGroup is the number of work-items that propagate the sums of tilted tables on CUDA.
// QuadsGroup is the number that share a tile of quads: on CUDA a warp.
const (
	SumsGroup  = 512
	QuadsGroup = 32
)

// The partition of integral histograms, see histogram.h: tiles of HistogramTile columns and
// bands of HistogramBand rows, of which HistogramAcross and HistogramBands are counted
// together. A team of HistogramTeam work-items processes HistogramQuads times four bins. A
// work-group of HistogramFinish is one team; those of the other kernels have HistogramGroup
// work-items.
const (
	HistogramTile   = 32
	HistogramAcross = 2
	HistogramBand   = 32
	HistogramBands  = 2
	HistogramQuads  = 8
	HistogramTeam   = 32
	HistogramGroup  = 128
)

// The partition of images by HistogramPassKernels: tiles and strips of columns, blocks of
// HistogramPassThreads for a row, and the batches of rows in which a strip is processed. Strips of
// HistogramPassWide columns need fewer blocks.
const (
	HistogramPassTile    = 32
	HistogramPassStrip   = 16
	HistogramPassWide    = 32
	HistogramPassThreads = 128
	HistogramPassBatch   = 32
)

// HistogramPassWriters returns the number of threads of a strip.
func HistogramPassWriters(across int, wide bool) int {
	if wide {
		return 512
	}
	return min(32*HistogramPassStrip/across, 256)
}

// FilterGroup is the largest work-group size of portable filters.
const FilterGroup = 128

// MatchGroup is the largest work-group size of template matching.
const MatchGroup = 128

// SSIMGroup is the largest work-group size of comparisons. A work-item has SSIMColumns columns. Windows of bytes with up to
// SSIMNarrow pixels have products of sums of 32 bits.
const (
	SSIMGroup   = 128
	SSIMColumns = 8
	SSIMNarrow  = 181
)

// The partition of images by CLAHE: the largest work-group size, the words with the counts of bytes (the smallest
// work-group size), the pixels of a work-item in a row, and the rows of a work-group.
const (
	CLAHEGroup    = 128
	CLAHECounters = 64
	CLAHEPixels   = 4
	CLAHERows     = 64
)

// The partition of images by rank filters: the largest work-group size of means, the columns of a work-item, and the
// widest window; then the largest work-group size of histograms.
const (
	RankGroup          = 128
	RankColumns        = 8
	RankWidth          = 512
	RankHistogramGroup = 64
)

// The largest work-group size of non-local means, the number of channels, and how far patches may reach from their middle.
const (
	NLMGroup    = 128
	NLMChannels = 4
	NLMPatch    = 32
)

// DetectGroup is the largest work-group size of detectors. The actual size is always a multiple of
// 32.
const DetectGroup = 128

// HOGGroup is the largest work-group size of histograms of oriented gradients. HOGChunk is the number
// of bins that are counted together, in 4·HOGChunk bytes of local memory for each work-item.
const (
	HOGGroup = 128
	HOGChunk = 18
)

// The limits of the kernels of FilterPassShapes: the number of warps in a block, the number of
// lanes that a window may span, and the number of its pixels if squares are summed.
const (
	FilterPassWarps = 4
	FilterPassReach = 16
	FilterPassArea  = 33025
)

// The limits of the kernels of FilterStripShapes: the number of warps in a block, and of the
// columns, rows and pixels of windows. A lane decides FilterStripLane pixels; for means it has
// as many columns of each of two strips.
const (
	FilterStripWarps  = 4
	FilterStripReach  = 256
	FilterStripRows   = 257     // rows of bytes whose sum fits 16 bits
	FilterStripSmall  = 257     // pixels of bytes whose sum fits 16 bits
	FilterStripRing   = 16      // rows of small windows
	FilterStripArea   = 1 << 14 // pixels of decisions: sums are the low bits of floats
	FilterStripLane   = 16
	FilterStripMeans  = 8
	FilterStripLanes  = 32
	FilterStripChunks = 16 // columns of a chunk at the edge
)

// The limits of the kernels of FilterWindowShapes: the shared memory of a row, of a block
// without further attributes, and of a multiprocessor, in bytes; then the number of pixels of
// windows for which sums of squares fit the low bits of floats, of windows whose sums are
// divided in one step, and of all windows.
const (
	FilterWindowRow       = 640
	FilterWindowShared    = 48 << 10
	FilterWindowProcessor = 227 << 10
	FilterWindowSquares   = 500
	FilterWindowMeans     = 257
	FilterWindowArea      = 1 << 14
)
