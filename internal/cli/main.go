// Package cli is the command boxsum. It is no main package, so that two binaries can be it: cmd/boxsum, and the one in
// the module cloud, which also takes URLs of object stores.
package cli

import (
	"context"
	"embed"
	"errors"
	"fmt"
	"io"
	"os"
	"reflect"
	"strconv"
	"strings"
	"syscall"
	"unicode"

	"github.com/alecthomas/kong"
)

type commands struct {
	Integrate  integrateCmd  `cmd:"" help:"Make the summed-area table of an image."`
	Query      queryCmd      `cmd:"" help:"Print the sum, mean and standard deviation of boxes of an image."`
	Info       infoCmd       `cmd:"" help:"Say what a Zarr array, group or table is."`
	Convert    convertCmd    `cmd:"" help:"Write an image or array as another: to Zarr and from it."`
	Verify     verifyCmd     `cmd:"" help:"Check every chunk of a table in a store, and make damaged ones anew."`
	Histogram  histogramCmd  `cmd:"" help:"Make the integral histogram of an image, and print the histograms of boxes."`
	Moments    momentsCmd    `cmd:"" help:"Print the moments of boxes of an image: centroid, ellipse, Hu's invariants."`
	Haar       haarCmd       `cmd:"" help:"Print the values of Haar-like features in an image."`
	Blur       blurCmd       `cmd:"" help:"Blur images, by boxes or Gaussians."`
	Local      localCmd      `cmd:"" help:"Make the mean, deviation, contrast, median or entropy of the window round every pixel."`
	Threshold  thresholdCmd  `cmd:"" help:"Make images black and white: scans for OCR and archives."`
	Match      matchCmd      `cmd:"" help:"Find a template in images: the best places and their scores."`
	Compare    compareCmd    `cmd:"" help:"Measure a black and white image beside the truth: F-measure, PSNR, DRD."`
	Detect     detectCmd     `cmd:"" help:"Find faces, eyes, plates: what OpenCV has cascades for."`
	View       viewCmd       `cmd:"" help:"Look at pictures and their tables in a browser: drag boxes, move sliders."`
	Draw       drawCmd       `cmd:"" help:"Draw which pixels rotated boxes and Haar-like features cover."`
	Angles     anglesCmd     `cmd:"" help:"List the angles that boxes can be rotated by, or find one."`
	Bench      benchCmd      `cmd:"" help:"Measure the speed of integration beside what memory allows."`
	Reproduce  reproduceCmd  `cmd:"" help:"Run the experiments of published works, and write a report."`
	Devices    devicesCmd    `cmd:"" help:"List what boxsum can integrate on."`
	Completion completionCmd `cmd:"" help:"Print a script that completes the command line in a shell."`
	Man        manCmd        `cmd:"" hidden:"" help:"Print the manual page."`
	Version    versionCmd    `cmd:"" help:"Print the version."`

	Quiet       bool             `short:"q" help:"Print no reports, notes or progress: only answers and errors."`
	VersionFlag kong.VersionFlag `name:"version" help:"Print the version and exit."`
}

// helps are the long helps of the commands.
//
//go:embed help
var helps embed.FS

// A shell is what a command may touch of the world outside.
type shell struct {
	ctx            context.Context // done on Ctrl-C and other signals
	stdin          io.Reader
	stdout, stderr io.Writer
	progress       *progress
	model          *kong.Application
	notes          []string // to say once the bar is gone
	quiet          bool     // --quiet
}

// startProgress starts a new progress bar, in place of one that was closed.
func (sh *shell) startProgress() {
	if !sh.quiet {
		sh.progress = newProgress(sh.stderr)
	}
}

// results is standard output, once the bar is out of the way.
func (sh *shell) results() io.Writer {
	sh.progress.close()
	return sh.stdout
}

// say says something on standard error, once no bar is in the way.
func (sh *shell) say(text string) {
	if sh.quiet {
		return
	}
	if sh.notes = append(sh.notes, text); sh.progress == nil {
		sh.sayAll()
	}
}

func (sh *shell) sayAll() {
	for _, text := range sh.notes {
		fmt.Fprintln(sh.stderr, "boxsum:", escape(text))
	}
	sh.notes = nil
}

// Main is the command, from its arguments to its exit code.
func Main() {
	os.Exit(run(untilSignal(), os.Args[1:], os.Stdin, os.Stdout, os.Stderr))
}

// run does what the arguments say and returns the exit code.
func run(ctx context.Context, args []string, stdin io.Reader, stdout, stderr io.Writer) int {
	switch {
	case len(args) == 0:
		args = []string{"--help"}
	case args[0] == "help":
		args = append(args[1:len(args):len(args)], "--help")
	}
	out := &checkedWriter{Writer: stdout}
	command, err := parse(args, out, stderr)
	if command != nil {
		sh := &shell{ctx: ctx, stdin: stdin, stdout: out, stderr: stderr, model: command.Model, quiet: command.Model.Target.Interface().(commands).Quiet}
		sh.startProgress()
		err = command.Run(sh)
		sh.progress.close()
		sh.sayAll()
	}
	if err == nil || out.err != nil && ctx.Err() == nil {
		err = out.err
	}
	switch {
	case err == nil:
	case ctx.Err() == nil && errors.Is(out.err, syscall.EPIPE):
		return exitSignal + int(syscall.SIGPIPE) // as of a program that the signal stopped
	case ctx.Err() != nil:
		fmt.Fprintln(stderr, "boxsum: interrupted")
	default:
		fmt.Fprintln(stderr, "boxsum: error:", oneLine(err))
	}
	return exitCode(ctx, err)
}

// parse returns the command to run, or nil if --help or --version was all that was asked for.
func parse(args []string, stdout, stderr io.Writer) (*kong.Context, error) {
	exited := false
	parser, err := kong.New(new(commands), append(flagTypes,
		kong.Name("boxsum"),
		kong.Description("boxsum makes summed-area tables (integral images) and answers questions from them: the sum, mean or standard deviation of any box in constant time."),
		kong.Vars{"version": thisBuild().String(), "color": "auto"},
		kong.Vars(benchDefaults),
		kong.Vars(drawDefaults),
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
		return nil, usage("%w (try --help)", err)
	}
	for _, path := range command.Path {
		flag := path.Flag
		if flag == nil || flag.Target.Kind() != reflect.String {
			continue
		}
		switch {
		case flag.Target.Len() == 0: // as an empty variable of a shell gives it
			return nil, usage("--%s is empty (try --help)", flag.Name)
		case flag.Name == "out" && flag.Target.String() == standard && isTerminal(stdout):
			return nil, usage("-o -: a terminal shows no images and tables: redirect standard output, or name a file")
		}
	}
	return command, nil
}

// oneLine is an error in one line, without the names of the packages that it
// came through: users need not know of packages.
func oneLine(err error) string {
	text := escape(strings.ReplaceAll(strings.TrimSpace(err.Error()), "\n", "; "))
	for _, name := range []string{"boxsum: ", "imgio: ", "bench: ", "measure: ", "gpu: ", "sketch: ", "papers: ", "reproduce: ", "haar: ", "store: ", "sources: ", "zarr: ", "web: ", "moments: ", "rotated: ", "y4m: "} {
		text = strings.ReplaceAll(strings.TrimPrefix(text, name), ": "+name, ": ")
	}
	return text
}

// escape spells out what would move or colour a terminal: a file may have it
// in its name.
func escape(text string) string {
	var b strings.Builder
	for _, r := range text {
		if unicode.IsControl(r) {
			quoted := strconv.QuoteRune(r)
			b.WriteString(quoted[1 : len(quoted)-1])
		} else {
			b.WriteRune(r)
		}
	}
	return b.String()
}
