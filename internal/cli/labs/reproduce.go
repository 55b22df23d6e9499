package labs

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/boxsum/boxsum/gpu"
	"github.com/boxsum/boxsum/internal/cli/console"
	"github.com/boxsum/boxsum/internal/cli/display"
	"github.com/boxsum/boxsum/internal/cli/flags"
	"github.com/boxsum/boxsum/lab/measure"
	"github.com/boxsum/boxsum/lab/reproduce"
	"github.com/boxsum/boxsum/papers"
)

// Reproduce implements the reproduce command.
type Reproduce struct {
	Names  []string `arg:"" optional:"" name:"NAME" help:"Works (bilgic, intimg, messom, bertazzini), their parts, gpu, or all; list prints the names. Default: list."`
	Out    string   `short:"o" default:"boxsum-report" placeholder:"DIR" help:"Folder for the report (default ${default})."`
	Quick  bool     `help:"Use fewer sizes and runs: about a minute."`
	Sizes  string   `placeholder:"LIST" help:"Sizes to use instead of the published ones, such as 480p,1000x700."`
	Repeat *int     `placeholder:"N" help:"Run everything N times instead of as often as published."`
	On     string   `enum:"auto,cpu,cuda,opencl" default:"auto" help:"Device for the GPU algorithms: cuda, opencl, or auto for the best available, which may be OpenCL on the CPU; cpu leaves them out."`
	From   string   `placeholder:"FILE" help:"Write the report of this results.json again, without measuring."`
}

// Run measures and writes the report.
func (c *Reproduce) Run(sh *console.Shell) error {
	asksForList := slices.Contains(c.Names, "list") || slices.Contains(c.Names, "help")
	switch {
	case asksForList && len(c.Names) > 1:
		return fmt.Errorf("%s: list cannot be combined with names of experiments", strings.Join(c.Names, " "))
	case asksForList:
		return listExperiments(sh.Results())
	case c.From != "":
		return c.again(sh)
	case len(c.Names) == 0 && (c.Quick || c.Sizes != "" || c.Repeat != nil || c.On != "auto"):
		return errors.New("no experiment: name one, or all (boxsum reproduce list lists them)")
	case len(c.Names) == 0:
		return listExperiments(sh.Results())
	}
	cfg, err := c.config(sh)
	if err != nil {
		return err
	}
	if _, err := reproduce.Select(c.Names); err != nil {
		return err
	}
	// Work on a device cannot be interrupted, but after Ctrl-C the report is still written. Each of
	// its files appears complete or not at all.
	late, cancel := delayed(sh.Ctx, grace)
	defer cancel()
	if cfg.Device, err = c.device(); err != nil {
		return err
	}
	defer func() {
		if late.Err() == nil { // otherwise the device may still be in use
			cfg.Device.Close()
		}
	}()
	out, err := reproduce.NewWriter(c.Out)
	if err != nil {
		return err
	}
	cfg.Ready = out.Write
	start := time.Now()
	report, err := console.Await(late, func() (*reproduce.Report, error) { return reproduce.Run(sh.Ctx, cfg) })
	if report != nil {
		verified := 0
		for _, r := range report.Results {
			if r.Verified && r.Runs > 0 {
				verified++
			}
		}
		if report.People != nil {
			verified += len(report.People.Blocks)
		}
		fmt.Fprintf(sh.Results(), "%s verified and measured in %s: %s\n", display.Count(verified, "result"), display.Duration(float64(time.Since(start))/float64(time.Millisecond)), filepath.Join(c.Out, "report.html"))
	}
	return err
}

// grace is the time allowed for writing the report after Ctrl-C.
const grace = 3 * time.Second

// delayed returns a context that ends the given time after ctx.
func delayed(ctx context.Context, by time.Duration) (context.Context, context.CancelFunc) {
	late, cancel := context.WithCancel(context.WithoutCancel(ctx))
	stop := context.AfterFunc(ctx, func() { time.AfterFunc(by, cancel) })
	return late, func() { stop(); cancel() }
}

// config returns the configuration described by the flags.
func (c *Reproduce) config(sh *console.Shell) (cfg reproduce.Config, err error) {
	cfg = reproduce.Config{Names: c.Names, Quick: c.Quick, CPU: cpuName(), Version: sh.Version, Command: c.command(),
		Progress: func(p measure.Progress) { sh.Progress.Reach(p.What, p.Done, p.Total) }}
	if c.Repeat != nil {
		if cfg.Repeat = *c.Repeat; cfg.Repeat < 1 {
			return cfg, console.Usage("--repeat %d: want 1 or more", cfg.Repeat)
		}
	}
	if c.Sizes == "" {
		return cfg, nil
	}
	sizes, err := measure.ParseSizes(c.Sizes)
	if err != nil {
		return cfg, console.AsUsage(err)
	}
	for _, s := range sizes {
		if s.Depth > 0 {
			return cfg, console.Usage("--sizes %s: want sizes of images, not of volumes", s)
		}
		cfg.Sizes = append(cfg.Sizes, measure.Size{Width: s.Width, Height: s.Height})
	}
	return cfg, nil
}

// command returns the command line, for the report.
func (c *Reproduce) command() string {
	parts := append([]string{"boxsum", "reproduce"}, c.Names...)
	if c.Quick {
		parts = append(parts, "--quick")
	}
	if c.Sizes != "" {
		parts = append(parts, "--sizes", c.Sizes)
	}
	if c.Repeat != nil {
		parts = append(parts, "--repeat", fmt.Sprint(*c.Repeat))
	}
	if c.On != "auto" {
		parts = append(parts, "--on", c.On)
	}
	return strings.Join(parts, " ")
}

// device opens the device for the GPU algorithms. It returns nil if there is none, unless a device
// was selected by name.
func (c *Reproduce) device() (*gpu.Device, error) {
	switch c.On {
	case "cpu":
		return nil, nil
	case "auto":
		d, err := gpu.OpenBest(gpu.CUDA, gpu.OpenCL)
		if err != nil {
			return nil, nil // the report marks its rows as missing
		}
		return d, nil
	}
	f := flags.Place{On: flags.DeviceName(c.On)}
	return f.Open()
}

// again writes the report from saved results.
func (c *Reproduce) again(sh *console.Shell) error {
	if len(c.Names) > 0 || c.Quick || c.Sizes != "" || c.Repeat != nil {
		return console.Usage("--from rewrites a report without measuring: leave out names, --quick, --sizes and --repeat")
	}
	f, err := os.Open(c.From)
	if err != nil {
		return err
	}
	defer f.Close()
	report, err := reproduce.Load(f)
	if err != nil {
		return fmt.Errorf("%s: %w", c.From, err)
	}
	out, err := reproduce.NewWriter(c.Out)
	if err != nil {
		return err
	}
	if err := out.Write(report); err != nil {
		return err
	}
	_, err = fmt.Fprintln(sh.Results(), filepath.Join(c.Out, "report.html"))
	return err
}

// listExperiments prints the experiments, grouped by work.
func listExperiments(w io.Writer) error {
	const names, columns = 21, 80
	var b strings.Builder
	last := ""
	for _, e := range reproduce.Experiments() {
		if work := e.Work(); work != last {
			last = work
			about := "all works on one device"
			works := papers.Works()
			if i := slices.IndexFunc(works, func(w *papers.Work) bool { return w.Name == work }); i >= 0 {
				about = strings.Join(slices.DeleteFunc([]string{works[i].Authors, works[i].Title}, func(s string) bool { return s == "" }), ": ")
			}
			fmt.Fprintf(&b, "%-20s %s\n", work, display.Wrap(about, columns-names, names))
		}
		fmt.Fprintf(&b, "  %-18s %s\n", e.Name, display.Wrap(e.Title, columns-names, names))
	}
	fmt.Fprintf(&b, "all                  everything\n\nboxsum reproduce NAME... measures them and writes a report; --help says more.\n")
	_, err := io.WriteString(w, b.String())
	return err
}
