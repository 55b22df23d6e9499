package gpu

import (
	"math"
	"unsafe"

	"github.com/boxsum/boxsum/gpu/internal/cuda"
	"github.com/boxsum/boxsum/gpu/kernels"
)

// A histogramTurns is the Turns of gpu/kernels/histogrampass.cu, byte for byte.
type histogramTurns struct {
	tickets                         uint64
	ticketBase, tileBase, carryBase uint32
	tiles, carries, bands           uint32
	teams                           int64
}

// histogramPass is the kernel that makes the histograms of a job in one launch, and
// no name where there is none.
func (d *Device) histogramPass(job histogramJob) (*cudaBackend, string) {
	b, ok := d.backend.(*cudaBackend)
	name, has := kernels.HistogramPassKernel(job.pixel.String())
	if !ok || !has || b.major < 8 || b.histograms.apart {
		return nil, ""
	}
	return b, name
}

// histogramStreams is what launches on each stream leave to the next one: counters
// count on.
type histogramStreams struct {
	apart   bool // three launches, set by tests
	streams map[stream]*histogramTurns
}

// histogramOnce queues the one launch of a job.
func (d *Device) histogramOnce(b *cudaBackend, name string, job histogramJob, c histogramCut, space memory) error {
	f, err := b.function(kernels.Module(name), name)
	if err != nil {
		return err
	}
	use, err := b.use(f, kernels.HistogramGroup, 0)
	if err != nil {
		return err
	}
	units, err := b.attribute(cuda.Multiprocessors)
	if err != nil {
		return err
	}
	counters, fresh, err := d.workspace(job.stream, "histogram turns", 256)
	if err != nil {
		return err
	}
	b.mu.Lock()
	if b.histograms.streams == nil {
		b.histograms.streams = map[stream]*histogramTurns{}
	}
	turns := b.histograms.streams[job.stream]
	if turns == nil || fresh {
		turns = &histogramTurns{}
		b.histograms.streams[job.stream] = turns
	}
	b.mu.Unlock()
	teams := c.teams()
	turns.tickets = uint64(counters)
	turns.tiles, turns.carries = uint32(c.tiles()), uint32(c.carries())
	turns.bands, turns.teams = uint32(ceilDiv(teams, kernels.HistogramGroup/kernels.HistogramTeam)), int64(teams)
	total := uint64(turns.tiles) + uint64(turns.carries) + uint64(turns.bands)
	blocks := min(total, uint64(max(use.blocks*units, 1)), math.MaxInt32)
	in, limits, at, out := uint64(job.in.memory), uint64(job.limits.at), uint64(space), uint64(job.out.memory)
	params := []unsafe.Pointer{
		unsafe.Pointer(&c), unsafe.Pointer(turns), unsafe.Pointer(&in), unsafe.Pointer(&limits), unsafe.Pointer(&at), unsafe.Pointer(&out),
	}
	err = b.run(name, &cuda.Launch{
		Function: f, Grid: [3]int{int(blocks), 1, 1}, Block: [3]int{kernels.HistogramGroup, 1, 1},
		Stream: cuda.Stream(job.stream), Params: params,
	})
	if err == nil { // every block draws one ticket too many
		turns.ticketBase += uint32(total + blocks)
		turns.tileBase += turns.tiles
		turns.carryBase += turns.carries
	}
	return err
}
