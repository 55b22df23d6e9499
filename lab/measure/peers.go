package measure

import (
	"context"
	_ "embed"
	"errors"
	"fmt"
	"io"
	"slices"
	"time"
)

// Scripts that make tables on command, with libraries for the CPU and for CUDA.
var (
	//go:embed peers.py
	peersScript string
	//go:embed gpupeers.py
	gpuPeersScript string
)

// Peers runs other libraries, which compute tables in a separate Python process while this one is
// idle. Libraries for a CUDA device time themselves with events.
type Peers struct {
	Known   map[string]Peer
	Missing []string // peers that are not available, and why
	*python
}

// StartPeers starts a Python interpreter and finds out which libraries it has, for the CPU or for
// CUDA. The caller must close the result.
func StartPeers(ctx context.Context, interpreter string, cuda bool) (*Peers, error) {
	script := peersScript
	if cuda {
		script = gpuPeersScript
	}
	process, err := startPython(ctx, interpreter, script)
	if err != nil {
		return nil, err
	}
	hello, err := process.call(command{Do: "hello"}, nil)
	return &Peers{hello.Peers, hello.Missing, process}, err
}

// Close ends the process.
func (p *Peers) Close() { _ = p.close() }

// Load sends pixels to the named libraries. It returns those that can compute the tables of the
// case, and the reasons why others cannot.
func (p *Peers) Load(names []string, c Case, size Size, pixels []byte) (able, missing []string, err error) {
	shape := []int{size.Height, size.Width, c.Channels}
	if c.Volume() {
		shape = append([]int{size.Depth}, shape...)
	}
	loaded, err := p.call(command{Do: "load", Peers: names, Types: c.Types, Shape: shape}, pixels)
	if err != nil {
		return nil, nil, err
	}
	able = slices.DeleteFunc(slices.Clone(names), func(name string) bool { return !slices.Contains(loaded.Able, name) })
	return able, loaded.Missing, nil
}

// Contestant returns a library with its pixels as a contestant. Its check compares the library's
// tables with those of a work, and returns a DiffersError if they differ.
func (p *Peers) Contestant(name string, w *Work) *Contestant {
	run := func(n, warm int) ([]time.Duration, error) {
		times := make([]time.Duration, n)
		for i := range times {
			r, err := p.call(command{Do: "run", Peer: name, Warm: warm}, nil)
			if err != nil {
				return nil, err
			}
			times[i], warm = time.Duration(r.NS), 0
		}
		return times, nil
	}
	return &Contestant{Run: run, Check: func() error {
		if _, err := run(1, 0); err != nil {
			return err
		}
		if err := p.compare(w, name); err != nil {
			return fmt.Errorf("%s: %w", name, err)
		}
		return nil
	}}
}

// compare compares a library's tables with those of a work.
func (p *Peers) compare(w *Work, name string) error {
	dump, err := p.call(command{Do: "dump", Peer: name}, nil)
	if err != nil {
		return err
	}
	tables := &io.LimitedReader{R: p.out, N: dump.Bytes}
	var wrong error
	for _, t := range w.Tables {
		err := t.equal(tables, p.Known[name].Inclusive)
		if differs := (*DiffersError)(nil); err != nil && !errors.As(err, &differs) {
			return p.died(err)
		}
		wrong = errors.Join(wrong, err)
	}
	if tables.N != 0 {
		return fmt.Errorf("expected %d more bytes of tables", tables.N)
	}
	return wrong
}
