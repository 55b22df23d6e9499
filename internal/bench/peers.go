package bench

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"slices"
	"strings"

	"github.com/boxsum/boxsum/internal/measure"
)

const (
	// PeerSizes and PeerTypes are what [Peers] compares by default.
	PeerSizes = "480p,720p,1080p,2160p,4096x4096,8192x8192,16384x16384"
	PeerTypes = "u8:u32,u8:f64,f32:f32,f32:f64,squares,u8:u32x3,tilted"

	// maxScikit is up to how many pixels scikit-image takes part: it needs
	// most of a second there, and would hold up the others' turns.
	maxScikit = 4096 * 4096
)

// PeersConfig says what to compare, and with whom.
type PeersConfig struct {
	// Config says what to measure; Sizes and Cases default to PeerSizes and
	// PeerTypes. Workers is not used: one worker and all cores are compared.
	Config

	// Python is an interpreter that has NumPy, and OpenCV and scikit-image
	// as far as they are to take part.
	Python string

	// Out, if not nil, gets the report: one row as each comparison ends.
	Out io.Writer
}

// Peers compares this library with OpenCV and scikit-image: everyone takes
// turns in one run on the same pixels, and only tables that are equal to ours
// are timed. A peer that is not installed or cannot make a table is left out;
// one whose table differs is, too, and makes an error once all else is done. For
// a 45° table, OpenCV's time is what cv2.integral3 takes over cv2.integral2. Tables
// of volumes are compared with NumPy's three cumsums.
func Peers(ctx context.Context, cfg PeersConfig) ([]Result, error) {
	cfg.Workers = oneAndAll()
	if err := cfg.fill(PeerSizes, PeerTypes); err != nil {
		return nil, err
	}
	if slices.ContainsFunc(cfg.Cases, Case.Rotated) {
		return nil, errors.New("bench: nobody else makes rotated tables: measure them without peers")
	}
	p, err := cfg.plan()
	if err != nil {
		return nil, err
	}
	peers, err := measure.StartPeers(ctx, cfg.Python, false)
	if err != nil {
		return nil, fmt.Errorf("bench: %w", err)
	}
	defer peers.Close()

	report := newPeersReport(cfg.Out, p, peers)
	var all []Result
	var wrong []error
	err = p.each(func(c Case, size Size) error {
		copies := int64(2)
		if c.Tilted() {
			copies = 6 // an upright one, and OpenCV's with squares in float64
		}
		field, w, err := p.onCPU(c, size, copies)
		if err != nil {
			return err
		}
		others, differ, err := rivals(ctx, peers, w, c, size)
		if err != nil {
			return err
		}
		wrong = append(wrong, differ...)
		results, err := p.measure(ctx, append(field, others...))
		if err != nil {
			return err
		}
		results = withExtra(results)
		all = append(all, results...)
		report.row(c, size, results)
		return nil
	}, func(c Case, size Size, why error) {
		all = append(all, leftOut(Boxsum, nil, c, size, 1, why))
		report.line(all[len(all)-1].line())
	})
	return all, errors.Join(cmp.Or(err, measured(all)), report.err, errors.Join(wrong...))
}

// rivals is the peers that can make the tables of a work and make them equal to
// what the work holds now, and the errors about those that do not.
func rivals(ctx context.Context, peers *measure.Peers, w *measure.Work, c Case, size Size) (field []entry, wrong []error, err error) {
	names := []string{OpenCV}
	switch {
	case c.Volume():
		names = []string{NumPy}
	case c.Tilted():
		names = []string{OpenCVTilted, OpenCVUpright}
	case size.Pixels() <= maxScikit:
		names = append(names, ScikitImage)
	}
	able, _, err := peers.Load(names, c, size, w.Pixels)
	if err != nil {
		return nil, nil, err
	}
	for _, name := range able {
		contestant := peers.Contestant(name, w)
		if name == OpenCVUpright {
			contestant.Check = nil // in the arrays of the other
		}
		differs := (*measure.DiffersError)(nil)
		switch err := contestant.Verify(ctx); {
		case errors.As(err, &differs):
			wrong = append(wrong, fmt.Errorf("bench: %v %v: %w", c, size, err))
		case err != nil:
			return nil, nil, err
		default:
			about := peers.Known[name]
			field = append(field, entry{newResult(name+" "+about.Version, nil, c, size, about.Workers, 1, true), contestant})
		}
	}
	return field, wrong, nil
}

// withExtra adds what the tilted table costs OpenCV, which makes it beside the
// others only: the time of cv2.integral3 less that of cv2.integral2.
func withExtra(results []Result) []Result {
	var with, without *Result
	for i := range results {
		switch r := &results[i]; {
		case r.is(OpenCVTilted):
			with = r
		case r.is(OpenCVUpright):
			without = r
		}
	}
	if with == nil || without == nil {
		return results
	}
	extra := *with
	extra.Algorithm = fmt.Sprint(OpenCV, strings.TrimPrefix(with.Algorithm, OpenCVTilted))
	extra.Mean, extra.Min, extra.Max = with.Mean-without.Mean, with.Min-without.Min, with.Max-without.Max
	return append(results, extra)
}
