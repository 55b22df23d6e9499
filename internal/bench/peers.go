package bench

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"slices"
	"time"
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
	if err := cfg.defaults(); err != nil {
		return nil, err
	}
	p, err := cfg.plan()
	if err != nil {
		return nil, err
	}
	py, hello, err := startPython(ctx, cfg.Python, peersScript)
	if err != nil {
		return nil, fmt.Errorf("bench: %w", err)
	}
	defer func() { _ = py.close() }()

	report := newPeersReport(cfg.Out, p, hello)
	var all []Result
	var wrong []error
	err = p.each(func(c Case, size Size) error {
		copies := int64(2)
		if c.tilted() {
			copies = 6 // an upright one, and OpenCV's with squares in float64
		}
		if err := fitsMemory(c, size, copies); err != nil {
			return err
		}
		w, err := prepare(c, size, p.Workers, p.Level)
		if err != nil {
			return err
		}
		field := w.field(c, size, p.Workers, p.Level)
		peers, err := py.field(w, c, size, hello)
		if differs := (*errDiffers)(nil); errors.As(err, &differs) {
			wrong = append(wrong, fmt.Errorf("bench: %v %v: %w", c, size, err))
		} else if err != nil {
			return err
		}
		results, err := p.measure(ctx, c, size, append(field, peers...))
		if err != nil {
			return err
		}
		results = withExtra(results)
		all = append(all, results...)
		report.row(c, size, results)
		return nil
	}, func(c Case, size Size, why error) {
		all = append(all, leftOut(Boxsum, "cpu", c, size, 1, why))
		report.line(all[len(all)-1].line())
	})
	return all, errors.Join(cmp.Or(err, measured(all)), report.err, errors.Join(wrong...))
}

func (cfg *PeersConfig) defaults() (err error) {
	cfg.Workers = oneAndAll()
	if err := cfg.matchSizes(); err != nil {
		return err
	}
	if cfg.Sizes == nil {
		if cfg.Sizes, err = ParseSizes(PeerSizes); err != nil {
			return err
		}
	}
	if cfg.Cases == nil {
		cfg.Cases, err = ParseTypes(PeerTypes)
	}
	if slices.ContainsFunc(cfg.Cases, Case.turned) {
		return errors.New("bench: nobody else makes rotated tables: measure them without peers")
	}
	return err
}

// field is the peers that can make the tables of a work and make them equal to
// what the work holds now. Its error may be of those that do not, beside those
// that do.
func (p *python) field(w *work, c Case, size Size, hello reply) ([]contestant, error) {
	peers := []string{OpenCV}
	shape := []int{size.Height, size.Width, c.Channels}
	switch {
	case c.volume():
		peers, shape = []string{NumPy}, append([]int{size.Depth}, shape...)
	case c.tilted():
		peers = []string{OpenCVTilted, OpenCVUpright}
	case size.pixels() <= maxScikit:
		peers = append(peers, ScikitImage)
	}
	loaded, err := p.call(command{
		Do: "load", Peers: peers, Types: c.Types, Shape: shape,
	}, w.pixels)
	if err != nil {
		return nil, err
	}
	read, written := c.bytes(size)
	var field []contestant
	var wrong error
	for _, peer := range peers {
		if !slices.Contains(loaded.Able, peer) {
			continue
		}
		run := func(warm int) (time.Duration, error) {
			r, err := p.call(command{Do: "run", Peer: peer, Warm: warm}, nil)
			return time.Duration(r.NS), err
		}
		if _, err := run(0); err != nil {
			return nil, err
		}
		about := hello.Peers[peer]
		err := error(nil)
		if peer != OpenCVUpright {
			err = p.compare(w, peer, about.Inclusive)
		}
		if err != nil {
			if differs := (*errDiffers)(nil); !errors.As(err, &differs) {
				return nil, err
			}
			wrong = errors.Join(wrong, fmt.Errorf("%s: %w", peer, err))
			continue
		}
		field = append(field, contestant{
			Result: newResult(peer+" "+about.Version, c, size, about.Workers, read+written, true),
			run:    run,
		})
	}
	return field, wrong
}

// compare holds a peer's tables against those of a work.
func (p *python) compare(w *work, peer string, inclusive bool) error {
	dump, err := p.call(command{Do: "dump", Peer: peer}, nil)
	if err != nil {
		return err
	}
	tables := &io.LimitedReader{R: p.out, N: dump.Bytes}
	var wrong error
	for _, t := range w.tables {
		err := t.equal(tables, inclusive)
		if differs := (*errDiffers)(nil); err != nil && !errors.As(err, &differs) {
			return p.died(err)
		}
		wrong = errors.Join(wrong, err)
	}
	if tables.N != 0 {
		return fmt.Errorf("%s sent %d bytes more than a table has", peer, tables.N)
	}
	return wrong
}
