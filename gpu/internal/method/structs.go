package method

import "github.com/boxsum/boxsum/gpu/internal/kernels/jobs"

// What the kernels take, by the names that are used here.
type (
	portableJob      = jobs.Job
	portableCarry    = jobs.Carry
	portableClimb    = jobs.Climb
	portableBoxes    = jobs.Boxes
	tiltedJob        = jobs.Tilted
	tiltedDiagonals  = jobs.Diagonals
	latticeJob       = jobs.Lattice
	latticeBoxes     = jobs.LatticeBoxes
	volumeBlocks     = jobs.Blocks
	histogramPassJob = jobs.HistogramPass
	fastJob          = jobs.PlanePass
	volumePassJob    = jobs.VolumePass
	kernelFilter     = jobs.Filter
	kernelMatch      = jobs.Match
	filterPass       = jobs.FilterPass
	filterStrip      = jobs.FilterStrip
	filterWindow     = jobs.FilterWindow
)

type (
	histogramCut struct{ jobs.Histogram }
	fastShape    struct{ jobs.PlaneShape }
	volumeShape  struct{ jobs.VolumeShape }
)

// Sizes is what a launch of the kernel takes.
func (s fastShape) Sizes() (threads, shared, jobBytes int) {
	return int(s.Threads), int(s.Shared), int(s.JobBytes)
}

// Sizes is what a launch of the kernel takes.
func (s volumeShape) Sizes() (threads, shared, jobBytes int) {
	return int(s.Threads), int(s.Shared), int(s.JobBytes)
}
