package bench

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/boxsum/boxsum"
	"github.com/boxsum/boxsum/gpu"
	"github.com/boxsum/boxsum/lab/measure"
)

const (
	// PeerSizes and PeerTypes are the default sizes and types of [Peers].
	PeerSizes = "480p,720p,1080p,2160p,4096x4096,8192x8192,16384x16384"
	PeerTypes = "u8:u32,u8:f64,f32:f32,f32:f64,squares,u8:u32x3,tilted"

	// maxScikit is the maximum number of pixels for scikit-image: at this size it takes most of a
	// second, and larger images would delay the others.
	maxScikit = 4096 * 4096
)

// Peers compares this library with OpenCV and scikit-image. All take turns in one run on the same
// pixels, and only tables equal to boxsum's are timed. A library that is not installed or cannot
// compute a table is left out. So is one whose table differs; Peers then returns an error after all
// other measurements. For a 45° table, OpenCV's time is that of cv2.integral3 minus that of
// cv2.integral2. Tables of volumes are compared with three cumsums in NumPy.
func Peers(ctx context.Context, cfg Config) ([]Result, error) {
	cfg.Workers = oneAndAll()
	p, err := cfg.plan(PeerSizes, PeerTypes)
	if err != nil {
		return nil, err
	}
	if slices.ContainsFunc(p.Cases, Case.Rotated) {
		return nil, errors.New("no other library makes rotated tables: measure them without --peers")
	}
	if err := p.startPeers(ctx, false); err != nil {
		return nil, err
	}
	defer p.Peers.Close()
	p.lead = 14
	p.text("peers", p)
	return p.end(p.cpu(ctx))
}

// startPeers starts the interpreter.
func (p *plan) startPeers(ctx context.Context, cuda bool) (err error) {
	if p.Peers, err = measure.StartPeers(ctx, p.Python, cuda); err != nil {
		return err
	}
	return nil
}

// peersOf returns the peers that make such tables on the CPU.
func peersOf(c Case, size Size) []string {
	switch {
	case c.Volume():
		return []string{NumPy}
	case c.Tilted():
		return []string{OpenCVTilted, OpenCVUpright}
	case size.Pixels() <= maxScikit:
		return []string{OpenCV, ScikitImage}
	}
	return []string{OpenCV}
}

// right returns the peers that can make the tables of a work and whose tables equal those that the
// work holds. Errors about others are recorded.
func (p *plan) right(ctx context.Context, names []string, c Case, size Size, w *measure.Work) (right []string, err error) {
	able, _, err := p.Peers.Load(names, c, size, w.Pixels)
	if err != nil {
		return nil, err
	}
	for _, name := range able {
		contestant := p.Peers.Contestant(name, w)
		if name == OpenCVUpright {
			contestant.Check = nil // its table is in the arrays of the other
		}
		switch err := contestant.Verify(ctx); {
		case errors.As(err, new(*measure.DiffersError)):
			p.wrong = append(p.wrong, fmt.Errorf("%v %v: %w", c, size, err))
		case err != nil:
			return nil, err
		default:
			right = append(right, name)
		}
	}
	return right, nil
}

// peers returns peers that have the pixels, as contestants.
func (p *plan) peers(names []string, c Case, size Size) (field []entry) {
	for _, name := range names {
		r := newResult(name+" "+p.Version(name), nil, c, size, p.Threads(name), 1, true)
		if p.Device != nil {
			r.On = gpu.CUDA.String()
		}
		field = append(field, entry{r, p.Peers.Contestant(name, nil)})
	}
	return field
}

// Methods that describe the contestants in the report.

func (p *plan) Best() string {
	levels := boxsum.Levels()
	if p.Level != (Config{}).Level {
		levels = []boxsum.Level{p.Level}
	}
	return levels[len(levels)-1].String()
}

func (p *plan) All() int                   { return slices.Max(p.Workers) }
func (p *plan) Version(name string) string { return p.Peers.Known[name].Version }
func (p *plan) Threads(name string) int    { return p.Peers.Known[name].Workers }

// Others returns the available peers, in the order of the report.
func (p *plan) Others() []string {
	names := []string{OpenCV, ScikitImage}
	switch {
	case p.Peers == nil:
		return nil
	case p.Device != nil:
		names = slices.Clone(gpuPeerNames)
	case p.Has("Volume"):
		names = []string{NumPy}
	}
	return slices.DeleteFunc(names, func(name string) bool { _, ok := p.Peers.Known[name]; return !ok })
}

func peerColumns(c Case, all int) []column {
	ours, one, theirs, peer := runner{Boxsum, all}, runner{Boxsum, 1}, runner{OpenCV, 0}, "OpenCV"
	if c.Volume() {
		theirs, peer = runner{NumPy, 0}, "NumPy"
	}
	limit, limitOne := runner{LimitFillRead, all}, runner{LimitFillRead, 1}
	columns := []column{
		took("boxsum", ms, ours), took("1 worker", ms, one), took(peer, ms, theirs),
		ratio("ratio", digits("%.2f"), theirs, ours), ratio("ratio 1", digits("%.2f"), theirs, one),
		median("median", ms, ours), p95("p95", ms, ours), median(peer+" median", ms, theirs), p95(peer+" p95", ms, theirs),
		took("fill+read", ms, limit), ratio("of limit", percent, limit, ours),
		took("fill+read 1", ms, limitOne), ratio("of limit 1", percent, limitOne, one),
		took("fill", ms, runner{LimitFill, all}), took("copy", ms, runner{LimitCopy, all}),
	}
	upright, uprightOne := runner{Upright, all}, runner{Upright, 1}
	switch {
	case c.Tilted():
		return append(columns, took("upright", ms, upright), ratio("of upright", percent, ours, upright),
			took("upright 1", ms, uprightOne), ratio("of upright 1", percent, one, uprightOne))
	case !c.Volume():
		return append(columns, took("scikit-image", ms, runner{ScikitImage, 0}))
	}
	return columns
}

// withExtra adds OpenCV's cost of a tilted table, which OpenCV makes only together with the others:
// the time of cv2.integral3 minus that of cv2.integral2.
func withExtra(results []Result) []Result {
	with, without := runner{OpenCVTilted, 0}.find(results), runner{OpenCVUpright, 0}.find(results)
	if with.Algorithm == "" || without.Algorithm == "" {
		return results
	}
	extra := with
	extra.Algorithm = fmt.Sprint(OpenCV, strings.TrimPrefix(with.Algorithm, OpenCVTilted))
	extra.Mean, extra.Min, extra.Max = with.Mean-without.Mean, with.Min-without.Min, with.Max-without.Max
	extra.Median, extra.P95 = with.Median-without.Median, with.P95-without.P95
	return append(results, extra)
}
