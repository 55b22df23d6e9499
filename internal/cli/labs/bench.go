package labs

import (
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/boxsum/boxsum/gpu"
	"github.com/boxsum/boxsum/imgio"
	"github.com/boxsum/boxsum/internal/cli/console"
	"github.com/boxsum/boxsum/internal/cli/display"
	"github.com/boxsum/boxsum/internal/cli/flags"
	"github.com/boxsum/boxsum/internal/cli/imagefile"
	"github.com/boxsum/boxsum/lab/bench"
	"github.com/boxsum/boxsum/lab/measure"
)

// algorithms measures published algorithms.
func (c *Bench) algorithms(sh *console.Shell, cfg bench.Config) (_ []bench.Result, err error) {
	if cfg.Algorithms, err = bench.ParseAlgorithms(c.Algorithms, cfg.Device != nil); err != nil {
		return nil, err
	}
	if c.Batch > 1 {
		cfg.Batch = c.Batch
	}
	return bench.Algorithms(sh.Ctx, cfg)
}

// Bench implements the bench command.
type Bench struct {
	Sizes      string `placeholder:"LIST" help:"Image sizes, such as 480p,1080p,4096x4096. Default: ${sizes}; with --peers ${peersizes}; on a GPU ${gpusizes}."`
	Types      string `placeholder:"LIST" help:"Tables to measure, by pixel and sum type, such as u8:u32,f32:f64, or u8:u32x3 for three channels. squares makes sums and squares in one pass, tilted the 45° table, rotated:1/2 the table along the lines of a rotation, volume the table of a volume (with sizes such as 256x256x256), and histogram:32 an integral histogram of 32 bins. Default: ${types}; with --peers ${peertypes}; on a GPU ${gputypes}."`
	Workers    []int  `placeholder:"N" help:"Numbers of workers, such as 1,2. Default: one, and all processors."`
	Repeat     *int   `placeholder:"N" help:"Number of measurements, of which the fastest is reported (${repeat}), or on a GPU the median (${gpurepeat})."`
	Batch      int    `default:"1" placeholder:"N" help:"On a GPU: number of images per launch (default ${default})."`
	Kernels    string `enum:"auto,portable,fast" default:"auto" help:"On a GPU: auto (the fastest available), portable or fast kernels."`
	Pipeline   bool   `help:"On a GPU: measure a pipeline of ${pipelineimages} images from memory to memory, compared with its copies alone. Default: ${pipelinesizes}, ${pipelinetypes}."`
	Peers      string `placeholder:"PYTHON" help:"Also measure other libraries in the same run, if this Python interpreter has them: OpenCV and scikit-image, NumPy for volumes; on a GPU NPP, PyTorch and CuPy."`
	Algorithms string `placeholder:"LIST" help:"Measure published algorithms, each compared with boxsum's own, such as intimg/parallel,bilgic/sequential:f64, the name of a work, or all; help lists them. Default sizes: ${algorithmsizes}. --batch sets the number of images for algorithms that process many at once (${algorithmbatch})."`
	JSON       string `name:"json" placeholder:"FILE" help:"Also write the results as JSON; - prints only the JSON, to standard output."`
	Plot       string `placeholder:"DIR" help:"Also draw the results, as SVG and PNG: time by size, throughput compared with the limits, and speed-up by workers."`
	flags.Engine
}

// Defaults holds the variables used in help texts.
var Defaults = map[string]string{
	"sizes":          spaced(bench.DefaultSizes),
	"types":          spaced(bench.DefaultTypes),
	"peersizes":      spaced(bench.PeerSizes),
	"peertypes":      spaced(bench.PeerTypes),
	"repeat":         fmt.Sprint(bench.DefaultRepeat),
	"gpusizes":       spaced(bench.GPUSizes),
	"gputypes":       spaced(bench.GPUTypes),
	"gpurepeat":      fmt.Sprint(bench.GPURepeat),
	"pipelineimages": fmt.Sprint(bench.PipelineImages),
	"pipelinesizes":  bench.PipelineSizes,
	"pipelinetypes":  bench.PipelineTypes,
	"algorithmsizes": spaced(bench.AlgorithmSizes),
	"algorithmbatch": fmt.Sprint(bench.AlgorithmBatch),
}

// spaced separates the items of a list by spaces too, so that help texts can wrap it.
func spaced(items string) string { return strings.ReplaceAll(items, ",", ", ") }

var kernelChoices = map[string]gpu.Kernels{"auto": gpu.AutoKernels, "portable": gpu.Portable, "fast": gpu.Fast}

// Run measures and reports the results.
func (c *Bench) Run(sh *console.Shell) error {
	if c.Algorithms == "help" {
		return listAlgorithms(sh.Results())
	}
	cfg, err := c.config(sh)
	if err != nil {
		return console.AsUsage(err)
	}
	if err := imagefile.CheckFolder(c.JSON); err != nil {
		return err
	}
	if err := plotFolder(c.Plot); err != nil {
		return err
	}
	device, err := c.Open()
	if err != nil {
		return err
	}
	defer device.Close()
	if c.Kernels == "fast" && device != nil && device.Info().Kind != gpu.CUDA {
		return console.Usage("--kernels fast needs CUDA: leave it out with --on %s", c.On)
	}
	if len(device.Members()) > 1 && (c.Batch > 1 || c.Peers != "") {
		return console.Usage("--batch and --peers are for one device: leave them out with --on %s", c.On)
	}
	results, err := c.measure(sh, cfg, device)
	flags.TellFailed(sh, device)
	if !anyMeasured(results) {
		return err
	}
	// Completed measurements are kept after an error, and each file is written even if the other
	// fails.
	return errors.Join(err, c.writeJSON(sh, results), writePlots(c.Plot, results))
}

// listAlgorithms lists the published algorithms in lines of at most 80 columns.
func listAlgorithms(w io.Writer) error {
	var list strings.Builder
	if err := bench.WriteAlgorithms(&list); err != nil {
		return err
	}
	for line := range strings.Lines(list.String()) {
		text := strings.TrimLeft(line, " ")
		if indent := len(line) - len(text); indent != 2 { // 2: a row of columns
			line = line[:indent] + display.Wrap(text, 80-indent, indent) + "\n"
		}
		if _, err := io.WriteString(w, line); err != nil {
			return err
		}
	}
	return nil
}

// anyMeasured reports whether any result has a time.
func anyMeasured(results []bench.Result) bool {
	return slices.ContainsFunc(results, func(r bench.Result) bool { return r.LeftOut == "" })
}

func (c *Bench) writeJSON(sh *console.Shell, results []bench.Result) error {
	switch c.JSON {
	case "":
		return nil
	case console.Standard:
		return bench.WriteJSON(sh.Results(), results)
	}
	return imgio.WriteFile(c.JSON, func(w io.Writer) error { return bench.WriteJSON(w, results) })
}

// measure runs the benchmarks. It prints results as they come, unless JSON goes to standard output.
func (c *Bench) measure(sh *console.Shell, cfg bench.Config, device *gpu.Device) ([]bench.Result, error) {
	text := c.text(sh)
	cfg.Device, cfg.Kernels, cfg.Python, cfg.Out = device, kernelChoices[c.Kernels], c.Peers, text
	switch {
	case c.Algorithms != "":
		return c.algorithms(sh, cfg)
	case c.Pipeline:
		return bench.Pipeline(sh.Ctx, cfg)
	case device != nil && len(device.Members()) > 1:
		return bench.Several(sh.Ctx, cfg)
	case device != nil:
		cfg.Batch = c.Batch
		return bench.GPU(sh.Ctx, cfg)
	case c.Peers != "":
		return bench.Peers(sh.Ctx, cfg)
	}
	results, err := bench.Run(sh.Ctx, cfg)
	if !anyMeasured(results) {
		return nil, err
	}
	sh.Progress.Close()
	return results, errors.Join(err, bench.WriteTable(text, results))
}

// text returns the writer for the tables of results.
func (c *Bench) text(sh *console.Shell) io.Writer {
	if c.JSON == console.Standard {
		return io.Discard
	}
	return sh.Stdout
}

// check returns an error for flags that are invalid or cannot be combined.
func (c *Bench) check() error {
	switch {
	case c.Repeat != nil && *c.Repeat < 1:
		return console.Usage("--repeat %d: want 1 or more", *c.Repeat)
	case c.Batch < 1:
		return console.Usage("--batch %d: want 1 or more", c.Batch)
	case (c.Peers != "" || c.OnGPU()) && c.Workers != nil:
		return console.Usage("--workers is for the CPU: leave it out with --on, and with --peers, which measures one worker and all of them")
	case (c.Batch > 1 || c.Pipeline || c.Kernels != "auto") && !c.OnGPU():
		return console.Usage("--batch, --kernels and --pipeline are for a GPU: add --on cuda or --on opencl")
	case c.Algorithms != "" && (c.Types != "" || c.Peers != "" || c.Pipeline || c.Kernels != "auto"):
		return console.Usage("--algorithms measures algorithms in their own types: leave out --types, --peers, --pipeline and --kernels")
	case c.Pipeline && (c.Batch > 1 || c.Peers != ""):
		return console.Usage("--pipeline cannot be combined with other measurements: leave out --batch and --peers")
	}
	return nil
}

// config returns the configuration described by the flags. Package bench has the defaults.
func (c *Bench) config(sh *console.Shell) (bench.Config, error) {
	none := bench.Config{}
	if err := c.check(); err != nil {
		return none, err
	}
	opt, err := c.Options(0)
	if err != nil {
		return none, err
	}
	cfg := bench.Config{Workers: c.Workers, Level: opt.Level}
	if c.Repeat != nil {
		cfg.Repeat = *c.Repeat
	}
	if c.Sizes != "" {
		if cfg.Sizes, err = measure.ParseSizes(c.Sizes); err != nil {
			return none, err
		}
	}
	if c.Types != "" {
		if cfg.Cases, err = measure.ParseTypes(c.Types); err != nil {
			return none, err
		}
	}
	// A progress bar would mix with rows that are printed as they come.
	if c.Peers == "" && !c.OnGPU() && c.Algorithms == "" || !console.IsTerminal(sh.Stdout) {
		cfg.Progress = func(p measure.Progress) { sh.Progress.Reach(p.What, p.Done, p.Total) }
	}
	return cfg, nil
}

// plotFolder creates the folder for plots, if one is requested, and checks that it can be written.
func plotFolder(dir string) error {
	if dir == "" {
		return nil
	}
	if info, err := os.Stat(dir); err == nil && !info.IsDir() {
		return fmt.Errorf("--plot %s is a file: name a folder", dir)
	}
	if err := os.MkdirAll(dir, 0o777); err != nil {
		return err
	}
	entries, err := os.ReadDir(dir)
	if err != nil {
		return err
	}
	for _, e := range entries {
		if extension := filepath.Ext(e.Name()); e.IsDir() && (extension == ".svg" || extension == ".png") {
			return fmt.Errorf("--plot %s: %s is a folder in the place of a plot: choose another folder", dir, e.Name())
		}
	}
	probe, err := os.CreateTemp(dir, ".boxsum-*")
	if err != nil {
		return err
	}
	return errors.Join(probe.Close(), os.Remove(probe.Name()))
}

// writePlots writes charts of the results to a folder.
func writePlots(dir string, results []bench.Result) error {
	if dir == "" {
		return nil
	}
	for _, p := range bench.Plots(results) {
		path := filepath.Join(dir, p.Name)
		if err := errors.Join(imgio.WriteFile(path+".svg", p.SVG), imgio.WriteFile(path+".png", p.PNG)); err != nil {
			return err
		}
	}
	return nil
}
