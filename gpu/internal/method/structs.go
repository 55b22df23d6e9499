package method

import "github.com/boxsum/boxsum/gpu/internal/kernels/jobs"

// The jobs of kernels, by the names used in this package.
type (
	portableJob      = jobs.Job
	portableCarry    = jobs.Carry
	portableClimb    = jobs.Climb
	portableBoxes    = jobs.Boxes
	tiltedJob        = jobs.Tilted
	tiltedDiagonals  = jobs.Diagonals
	latticeJob       = jobs.Lattice
	latticeBoxes     = jobs.LatticeBoxes
	latticeLines     = jobs.LatticeLines
	volumeBlocks     = jobs.Blocks
	histogramPassJob = jobs.HistogramPass
	fastJob          = jobs.PlanePass
	volumePassJob    = jobs.VolumePass
	kernelFilter     = jobs.Filter
	kernelMatch      = jobs.Match
	kernelSSIM       = jobs.SSIM
	kernelSSIMTotal  = jobs.SSIMTotal
	kernelCLAHE      = jobs.CLAHE
	kernelRank       = jobs.Rank
	kernelNLM        = jobs.NLM
	filterPass       = jobs.FilterPass
	filterStrip      = jobs.FilterStrip
	filterWindow     = jobs.FilterWindow
)

type histogramCut struct{ jobs.Histogram }
