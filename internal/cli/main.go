// Package cli implements the boxsum command. It is separate from package main because two programs
// use it: cmd/boxsum, and the one in module cloud, which also opens URLs of object stores.
package cli

import (
	"context"
	"embed"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"reflect"
	"slices"
	"strings"
	"syscall"

	"github.com/alecthomas/kong"
	"github.com/boxsum/boxsum/internal/cli/console"
	"github.com/boxsum/boxsum/internal/cli/detection"
	"github.com/boxsum/boxsum/internal/cli/flags"
	"github.com/boxsum/boxsum/internal/cli/imagefile"
	"github.com/boxsum/boxsum/internal/cli/labs"
	"github.com/boxsum/boxsum/internal/cli/stores"
	"github.com/boxsum/boxsum/internal/cli/tables"
	"github.com/boxsum/boxsum/internal/cli/windows"
)

type commands struct {
	Integrate  tables.Integrate  `cmd:"" help:"Make the summed-area table of an image."`
	Query      tables.Query      `cmd:"" help:"Print the sum, mean and standard deviation of boxes of an image."`
	Info       stores.Info       `cmd:"" help:"Describe a picture, an array, or a Zarr store: format, size, pages, resolution."`
	Convert    stores.Convert    `cmd:"" help:"Convert pictures, .npy arrays and Zarr arrays to each other."`
	Verify     stores.Verify     `cmd:"" help:"Check every chunk of a table in a store, and repair damaged ones."`
	Histogram  tables.Histogram  `cmd:"" help:"Make the integral histogram of an image, and print the histograms of boxes."`
	Moments    tables.Moments    `cmd:"" help:"Print the moments of boxes of an image: centroid, ellipse, Hu's invariants."`
	Haar       tables.Haar       `cmd:"" help:"Print the values of Haar-like features in an image."`
	Blur       windows.Blur      `cmd:"" help:"Blur images, by boxes or Gaussians."`
	Local      windows.Local     `cmd:"" help:"Compute the mean, deviation, contrast, median or entropy of the window around every pixel."`
	Equalize   windows.Equalize  `cmd:"" help:"Bring out detail: equalize the contrast of images locally (CLAHE)."`
	Boxes      windows.Boxes     `cmd:"" help:"Filter with weighted sums of boxes: find blobs and radar targets."`
	Denoise    windows.Denoise   `cmd:"" help:"Remove noise by non-local means."`
	Rank       windows.Rank      `cmd:"" help:"Filter by local histograms: percentile, extremes, local equalization, Otsu and others."`
	Threshold  windows.Threshold `cmd:"" help:"Make images black and white: scans for OCR and archives."`
	Match      windows.Match     `cmd:"" help:"Find a template in images, and print the best positions and their scores."`
	Compare    windows.Compare   `cmd:"" help:"Compare an image with the truth: SSIM and PSNR, or F-measure and DRD of black and white."`
	Detect     detection.Detect  `cmd:"" help:"Find faces by cascades, people by gradients, and other objects."`
	View       viewCmd           `cmd:"" help:"Explore images and their tables in a browser."`
	Draw       tables.Draw       `cmd:"" help:"Draw which pixels rotated boxes and Haar-like features cover."`
	Angles     tables.Angles     `cmd:"" help:"List the angles that boxes can be rotated by, or find one."`
	Bench      labs.Bench        `cmd:"" help:"Measure the speed of integration, compared with that of memory."`
	Reproduce  labs.Reproduce    `cmd:"" help:"Repeat the experiments of published works, and write a report."`
	Devices    labs.Devices      `cmd:"" help:"List the devices that boxsum can use."`
	Completion completionCmd     `cmd:"" help:"Print a completion script for a shell."`
	Man        manCmd            `cmd:"" hidden:"" help:"Print the manual page."`
	Version    versionCmd        `cmd:"" help:"Print the version."`

	Quiet       bool             `short:"q" help:"Print only results and errors, no reports, notes or progress."`
	VersionFlag kong.VersionFlag `name:"version" help:"Print the version and exit."`
}

// helps are the long helps of the commands.
//
//go:embed help
var helps embed.FS

// Main runs the command and exits.
func Main() {
	os.Exit(run(untilSignal(), os.Args[1:], os.Stdin, os.Stdout, os.Stderr))
}

// run executes the command line and returns the exit code.
func run(ctx context.Context, args []string, stdin io.Reader, stdout, stderr io.Writer) int {
	switch {
	case len(args) == 0:
		args = []string{"--help"}
	case args[0] == "help":
		args = append(args[1:len(args):len(args)], "--help")
	}
	out := &console.CheckedWriter{Writer: stdout}
	command, err := parse(args, out, stderr)
	if command != nil {
		sh := &console.Shell{Ctx: ctx, Stdin: stdin, Stdout: out, Stderr: stderr, Model: command.Model, Quiet: command.Model.Target.Interface().(commands).Quiet, Version: thisBuild().String()}
		sh.StartProgress()
		err = command.Run(sh)
		sh.Progress.Close()
		sh.SayAll()
	}
	if err == nil || out.Err != nil && ctx.Err() == nil {
		err = out.Err
	}
	switch {
	case err == nil:
	case ctx.Err() == nil && errors.Is(out.Err, syscall.EPIPE):
		return exitSignal + int(syscall.SIGPIPE) // the exit code of a program that SIGPIPE ended
	case ctx.Err() != nil:
		fmt.Fprintln(stderr, "boxsum: interrupted")
	default:
		fmt.Fprintln(stderr, "boxsum: error:", console.OneLine(err))
	}
	return exitCode(ctx, err)
}

// expand replaces the variables of labs and tables in the help of flags. As kong's own variables they would be
// expanded again for each flag, which takes most of the time of a short command.
func expand(k *kong.Kong) error {
	var pairs []string
	for _, defaults := range []map[string]string{labs.Defaults, tables.Defaults} {
		for name, value := range defaults {
			pairs = append(pairs, "${"+name+"}", value)
		}
	}
	replacer := strings.NewReplacer(pairs...)
	return kong.Visit(k.Model, func(node kong.Visitable, next kong.Next) error {
		if flag, ok := node.(*kong.Flag); ok {
			flag.Help, flag.Default = replacer.Replace(flag.Help), replacer.Replace(flag.Default)
			if flag.Name == "help" {
				flag.Help = "Show this help."
			}
		}
		return next(nil)
	})
}

// parse returns the command to run, or nil for --help and --version.
func parse(args []string, stdout, stderr io.Writer) (*kong.Context, error) {
	exited := false
	parser, err := kong.New(new(commands), append(slices.Concat(flags.Mappers, tables.Mappers, detection.Mappers),
		kong.Name("boxsum"),
		kong.Description("boxsum makes summed-area tables (integral images) and answers questions from them: the sum, mean or standard deviation of any box in constant time."),
		kong.Vars{"version": thisBuild().String(), "color": "auto"},
		kong.PostBuild(expand),
		kong.Writers(stdout, stderr),
		kong.Exit(func(int) { exited = true }),
		kong.ConfigureHelp(kong.HelpOptions{Compact: true, WrapUpperBound: 100}),
	)...)
	if err != nil {
		return nil, err
	}
	for _, verb := range parser.Model.Children {
		text, err := helps.ReadFile("help/" + verb.Name + ".txt")
		if err != nil {
			return nil, err
		}
		verb.Detail = strings.TrimSuffix(string(text), "\n")
	}
	command, err := parser.Parse(args)
	switch {
	case exited:
		return nil, nil
	case err != nil:
		return nil, console.Usage("%s (%s)", message(err), hint(err))
	}
	for _, path := range command.Path {
		if out := path.Positional; out != nil && out.Name == "OUT" && out.Target.String() == console.Standard && console.IsTerminal(stdout) {
			return nil, console.Usage("OUT is -, and standard output is a terminal: redirect it, or name a file")
		}
		flag := path.Flag
		if flag == nil {
			continue
		}
		if err := checkFlag(flag, command); err != nil {
			return nil, err
		}
		if flag.Target.Kind() != reflect.String {
			continue
		}
		switch {
		case flag.Target.Len() == 0: // such as from an empty shell variable
			return nil, console.Usage("--%s is empty (try --help)", flag.Name)
		case (flag.Name == "out" || flag.Name == "map") && flag.Target.String() == console.Standard && console.IsTerminal(stdout):
			return nil, console.Usage("--%s -: standard output is a terminal: redirect it, or name a file", flag.Name)
		}
	}
	return command, nil
}

// forStores is how the help of flags begins that are only for results in Zarr arrays.
const forStores = "For OUT.zarr: "

// checkFlag returns an error for a flag whose value is invalid in every command, and for one that does not apply to the output.
func checkFlag(flag *kong.Flag, command *kong.Context) error {
	value := reflect.Indirect(flag.Target)
	switch kind := value.Kind(); {
	case kind == reflect.Float64 && value.Float()-value.Float() != 0:
		return console.Usage("--%s %v: want a finite number", flag.Name, value.Float())
	case kind == reflect.Int && flag.Name == "workers" && value.Int() == 0:
		return console.Usage("--workers 0: want 1 or more (without --workers, all processors work)")
	case strings.HasPrefix(flag.Help, forStores) && !imagefile.IsStore(output(command)):
		return console.Usage("--%s is for results in a Zarr array: leave it out, or write to a path that ends in .zarr", flag.Name)
	}
	return nil
}

// output returns the value of --out or OUT, or nothing.
func output(command *kong.Context) string {
	for _, path := range command.Path {
		switch {
		case path.Flag != nil && path.Flag.Name == "out":
			return path.Flag.Target.String()
		case path.Positional != nil && path.Positional.Name == "OUT":
			return path.Positional.Target.String()
		}
	}
	return ""
}

// message returns the message of an error of the command line, without the parser's terms.
func message(err error) string {
	text := err.Error()
	if before, missing := strings.CutSuffix(text, ` value but got "EOL" (<EOL>)`); missing {
		flag, _, _ := strings.Cut(before, ": expected ")
		return flag + ": the value is missing"
	}
	if names, missing := strings.CutPrefix(text, `expected "<`); missing {
		return "missing argument: " + strings.NewReplacer("<", "", ">", "", `"`, "").Replace(names)
	}
	if before, isFloat := strings.CutSuffix(text, " (string)"); isFloat {
		text = before
	}
	return strings.NewReplacer("expected a valid 64 bit int but got", "want an integer, got", "expected a float but got", "want a number, got", `","`, `", "`).Replace(text)
}

// hint returns what to try after an error of the command line: -o, if an argument that is
// one too many looks like the output, or else --help.
func hint(err error) string {
	var failed *kong.ParseError
	name, extra := strings.CutPrefix(err.Error(), "unexpected argument ")
	if extra && filepath.Ext(name) != "" && errors.As(err, &failed) {
		verb := failed.Context.Selected()
		_, missing := os.Stat(name)
		if errors.Is(missing, fs.ErrNotExist) && verb != nil && slices.ContainsFunc(verb.Flags, func(f *kong.Flag) bool { return f.Name == "out" }) {
			return "to write it, use -o " + name
		}
	}
	return "try --help"
}
