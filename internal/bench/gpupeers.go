package bench

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"time"

	"github.com/boxsum/boxsum"
)

// maxCumsum is up to how many pixels everyone but NPP takes part: PyTorch and
// CuPy take whole tables of memory in between.
const maxCumsum = 16384 * 16384

// gpuPeerNames are those whom gpupeers.py knows, in the order of the report.
var gpuPeerNames = []string{NPP, Torch, TorchCompile, CuPy}

// gpuPeers are libraries that make tables on a CUDA device in a process of
// their own and time themselves by events, while ours is idle. Nil is nobody.
type gpuPeers struct {
	*python
	hello   reply
	checked map[Case][]string // who made a right table of it
	errs    []error           // of those who did not
}

func startGPUPeers(ctx context.Context, interpreter string) (*gpuPeers, error) {
	p, hello, err := startPython(ctx, interpreter, gpuPeersScript)
	if err != nil {
		return nil, err
	}
	return &gpuPeers{python: p, hello: hello, checked: map[Case][]string{}}, nil
}

// wrong is the error about all who made a wrong table.
func (p *gpuPeers) wrong() error {
	if p == nil {
		return nil
	}
	return errors.Join(p.errs...)
}

// field is the peers that can make the tables of a work, ready to take turns.
func (p *gpuPeers) field(w *deviceWork, c Case, report *gpuReport) ([]contestant, error) {
	if p == nil || w.batch > 1 {
		return nil, nil
	}
	peers, err := p.right(c)
	if err != nil {
		return nil, err
	}
	if w.size.pixels() > maxCumsum {
		peers = slices.DeleteFunc(peers, func(name string) bool { return name != NPP })
	}
	if len(peers) == 0 {
		return nil, nil
	}
	loaded, err := p.load(c, w.size, peers, w.pixels)
	if err != nil {
		return nil, err
	}
	for _, missing := range loaded.Missing {
		report.line(fmt.Sprint("left out, ", c, " ", w.size, ": ", missing))
	}
	read, written := c.bytes(w.size)
	var field []contestant
	for _, peer := range loaded.Able {
		r := newResult(peer+" "+p.hello.Peers[peer].Version, c, w.size, 0, read+written, true)
		r.On = "cuda"
		field = append(field, contestant{r, p.turn(peer)})
	}
	return field, nil
}

// right is who makes a right table of a case, as seen on a small image.
func (p *gpuPeers) right(c Case) ([]string, error) {
	if peers, ok := p.checked[c]; ok {
		return slices.Clone(peers), nil
	}
	size := Size{Name: "509x383", Width: 509, Height: 383}
	w, err := prepare(c, size, []int{1}, boxsum.Level{})
	if err != nil {
		return nil, err
	}
	loaded, err := p.load(c, size, gpuPeerNames, w.pixels)
	if err != nil {
		return nil, err
	}
	var right []string
	for _, peer := range loaded.Able {
		if _, err := p.turn(peer)(0); err != nil {
			return nil, err
		}
		err := p.compare(w, peer, p.hello.Peers[peer].Inclusive)
		if differs := (*errDiffers)(nil); errors.As(err, &differs) {
			p.errs = append(p.errs, fmt.Errorf("bench: %v %v: %s: %w", c, size, peer, err))
			continue
		}
		if err != nil {
			return nil, err
		}
		right = append(right, peer)
	}
	p.checked[c] = right
	return slices.Clone(right), nil
}

func (p *gpuPeers) load(c Case, size Size, peers []string, pixels []byte) (reply, error) {
	return p.call(command{
		Do: "load", Peers: peers, Types: c.Types, Shape: []int{size.Height, size.Width, c.Channels},
	}, pixels)
}

// turn is the turn of one peer.
func (p *gpuPeers) turn(peer string) func(warm int) (time.Duration, error) {
	return func(warm int) (time.Duration, error) {
		r, err := p.call(command{Do: "run", Peer: peer, Warm: warm}, nil)
		return time.Duration(r.NS), err
	}
}
