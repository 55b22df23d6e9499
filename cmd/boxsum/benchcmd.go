package main

import (
	"cmp"
	"errors"
	"fmt"
	"io"

	"github.com/boxsum/boxsum/bench"
	"github.com/boxsum/boxsum/imgio"
)

type benchCmd struct {
	Sizes   string `placeholder:"LIST" help:"Image sizes, such as 480p,1080p,4096x4096. Unless told: ${sizes}; with --peers ${peersizes}."`
	Types   string `placeholder:"LIST" help:"Pixel and sum types, such as u8:u32,f32:f64; u8:u32x3 has three channels, and squares are sums and squares in one pass. Unless told: ${types}; with --peers ${peertypes}."`
	Workers []int  `placeholder:"N" help:"Numbers of workers, such as 1,2. Unless told: one, and all processors."`
	Repeat  int    `default:"${repeat}" placeholder:"N" help:"How many times to measure; the best counts (${default})."`
	Peers   string `placeholder:"PYTHON" help:"Measure OpenCV and scikit-image in the same run, by this Python interpreter that has them."`
	JSON    string `name:"json" placeholder:"FILE" help:"Also write the results as JSON; - writes only that, to standard output."`
	engineFlags
}

// benchDefaults are the variables of the help above.
var benchDefaults = map[string]string{
	"sizes":     bench.DefaultSizes,
	"types":     bench.DefaultTypes,
	"peersizes": bench.PeerSizes,
	"peertypes": bench.PeerTypes,
	"repeat":    fmt.Sprint(bench.DefaultRepeat),
}

// Help is the long help of the command.
func (*benchCmd) Help() string {
	return `Every table is checked before it is timed, and its time stands beside what the memory allows in the same run.

Examples:

    boxsum bench
    boxsum bench --sizes 1080p,4096x4096 --types u8:u32,squares --workers 1,2 --json results.json
    boxsum bench --peers python3 --sizes 2160p`
}

// Run measures, and reports what was measured.
func (c *benchCmd) Run(sh *shell) error {
	cfg, err := c.config(sh)
	if err != nil {
		return err
	}
	if err := checkFolder(c.JSON); err != nil {
		return err
	}
	results, err := c.measure(sh, cfg)
	if err != nil {
		return err
	}
	switch c.JSON {
	case "":
		return nil
	case standard:
		return bench.WriteJSON(sh.results(), results)
	}
	return imgio.WriteFile(c.JSON, func(w io.Writer) error { return bench.WriteJSON(w, results) })
}

// measure prints what it measures, unless JSON goes where that would.
func (c *benchCmd) measure(sh *shell, cfg bench.Config) ([]bench.Result, error) {
	text := sh.stdout
	if c.JSON == standard {
		text = io.Discard
	}
	if c.Peers != "" {
		return bench.Peers(sh.ctx, bench.PeersConfig{Config: cfg, Python: c.Peers, Out: text})
	}
	results, err := bench.Run(sh.ctx, cfg)
	if err != nil {
		return nil, err
	}
	sh.progress.close()
	return results, bench.WriteTable(text, results)
}

// config is what the flags say to measure.
func (c *benchCmd) config(sh *shell) (bench.Config, error) {
	none := bench.Config{}
	if c.Repeat < 1 {
		return none, fmt.Errorf("--repeat %d: measure once at least", c.Repeat)
	}
	if c.Peers != "" && c.Workers != nil {
		return none, errors.New("--peers compares one worker and all of them: leave out --workers")
	}
	opt, err := c.options(0)
	if err != nil {
		return none, err
	}
	sizes, types := bench.DefaultSizes, bench.DefaultTypes
	if c.Peers != "" {
		sizes, types = bench.PeerSizes, bench.PeerTypes
	}
	cfg := bench.Config{Workers: c.Workers, Repeat: c.Repeat, Level: opt.Level}
	if cfg.Sizes, err = bench.ParseSizes(cmp.Or(c.Sizes, sizes)); err != nil {
		return none, err
	}
	if cfg.Cases, err = bench.ParseTypes(cmp.Or(c.Types, types)); err != nil {
		return none, err
	}
	// The rows that --peers prints as it goes would run into a bar.
	if c.Peers == "" || !isTerminal(sh.stdout) {
		cfg.Progress = func(p bench.Progress) { sh.progress.reach(p.What, p.Done, p.Total) }
	}
	return cfg, nil
}
