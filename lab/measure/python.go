package measure

import (
	"bufio"
	"bytes"
	"cmp"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"os/exec"
	"strings"
)

// python is a Python process that makes tables on command. An exception ends it, and every error
// contains its last message.
type python struct {
	ctx    context.Context
	cmd    *exec.Cmd
	in     io.WriteCloser
	pipe   io.Closer // closes the source of out
	out    *bufio.Reader
	stderr bytes.Buffer
}

// A command is one line sent to a script.
type command struct {
	Do    string   `json:"do"`
	Peer  string   `json:"peer,omitempty"`
	Peers []string `json:"peers,omitempty"`
	Types string   `json:"types,omitempty"`
	Shape []int    `json:"shape,omitempty"` // depth (only for a volume), height, width, channels
	Warm  int      `json:"warm"`
}

// A reply is the line that the script returns.
type reply struct {
	Peers   map[string]Peer `json:"peers"`
	Missing []string        `json:"missing"`
	Able    []string        `json:"able"`
	NS      int64           `json:"ns"`
	Bytes   int64           `json:"bytes"`
}

// A Peer is another library.
type Peer struct {
	Version   string `json:"version"`
	Workers   int    `json:"workers"`
	Inclusive bool   `json:"inclusive"` // its tables lack the zero row and column
}

// startPython starts a script.
func startPython(ctx context.Context, interpreter, script string) (*python, error) {
	p := &python{ctx: ctx, cmd: exec.CommandContext(ctx, interpreter, "-c", script)}
	p.cmd.Stderr = &p.stderr
	in, noIn := p.cmd.StdinPipe()
	out, noOut := p.cmd.StdoutPipe()
	if err := cmp.Or(noIn, noOut); err != nil {
		return nil, err
	}
	p.in, p.pipe, p.out = in, out, bufio.NewReaderSize(out, 1<<20)
	if err := p.cmd.Start(); err != nil {
		return nil, fmt.Errorf("cannot start Python: %w", err)
	}
	return p, nil
}

// call sends a command and its payload, and waits for the reply.
func (p *python) call(c command, payload []byte) (reply, error) {
	var r reply
	line, err := json.Marshal(c)
	if err != nil {
		return r, err
	}
	for _, b := range [][]byte{line, {'\n'}, payload} {
		if _, err := p.in.Write(b); err != nil {
			return r, p.died(err)
		}
	}
	if line, err = p.out.ReadBytes('\n'); err != nil {
		return r, p.died(err)
	}
	if err := json.Unmarshal(line, &r); err != nil {
		return r, fmt.Errorf("Python replied %q: %w", line, err)
	}
	return r, nil
}

// died waits for the end of a process that stopped replying, and returns the reason.
func (p *python) died(err error) error {
	if end := p.close(); end != nil {
		err = end
	}
	if ctx := p.ctx.Err(); ctx != nil {
		return ctx
	}
	said := strings.TrimSpace(p.stderr.String())
	if said == "" {
		said = "it said nothing"
	}
	return fmt.Errorf("%s ended early: %w: %s", p.cmd.Path, err, said)
}

// close ends the process. The process reads to the end of its commands, and cannot block on a reply
// that nobody reads.
func (p *python) close() error {
	_ = p.in.Close()
	_ = p.pipe.Close()
	return p.cmd.Wait()
}
