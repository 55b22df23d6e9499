package console

import (
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"strconv"
	"strings"
	"unicode"

	"github.com/alecthomas/kong"
)

// Standard is the path that stands for standard input or output.
const Standard = "-"

// Await gives what do gives, or returns at once on Ctrl-C: do may wait for a
// pipe that stays silent, or that nobody reads from.
func Await[T any](ctx context.Context, do func() (T, error)) (T, error) {
	var value, none T
	var err error
	done := make(chan struct{})
	go func() {
		defer close(done)
		value, err = do()
	}()
	select {
	case <-done:
		return value, err
	case <-ctx.Done():
		return none, ctx.Err()
	}
}

// A Shell is what a command may touch of the world outside.
type Shell struct {
	Ctx            context.Context // done on Ctrl-C and other signals
	Stdin          io.Reader
	Stdout, Stderr io.Writer
	Progress       *Progress
	Model          *kong.Application
	notes          []string // to say once the bar is gone
	Quiet          bool     // --quiet
	Version        string   // of this program, for reports
}

// StartProgress starts a new progress bar, in place of one that was closed.
func (sh *Shell) StartProgress() {
	if !sh.Quiet {
		sh.Progress = newProgress(sh.Stderr)
	}
}

// Results is standard output, once the bar is out of the way.
func (sh *Shell) Results() io.Writer {
	sh.Progress.Close()
	return sh.Stdout
}

// Say says something on standard error, once no bar is in the way.
func (sh *Shell) Say(text string) {
	if sh.Quiet {
		return
	}
	if sh.notes = append(sh.notes, text); sh.Progress == nil {
		sh.SayAll()
	}
}

// SayAll prints the notes that waited for the bar to go.
func (sh *Shell) SayAll() {
	for _, text := range sh.notes {
		fmt.Fprintln(sh.Stderr, "boxsum:", Escape(text))
	}
	sh.notes = nil
}

// Failed says on standard error that one of several files failed.
func (sh *Shell) Failed(path string, err error) {
	text := OneLine(err)
	if name := Escape(path) + ": "; !strings.HasPrefix(text, name) {
		text = name + text
	}
	fmt.Fprintln(sh.Stderr, "boxsum:", text)
}

// OneLine returns an error as one line, without the names of the packages that it
// came through: users need not know of packages. A missing file is named, and not the
// system call that missed it.
func OneLine(err error) string {
	var file *fs.PathError
	if errors.As(err, &file) && errors.Is(file.Err, fs.ErrNotExist) {
		return Escape(file.Path) + ": " + file.Err.Error()
	}
	text := Escape(strings.ReplaceAll(strings.TrimSpace(err.Error()), "\n", "; "))
	for _, name := range []string{"boxsum: ", "imgio: ", "bench: ", "measure: ", "gpu: ", "sketch: ", "papers: ", "reproduce: ", "haar: ", "store: ", "sources: ", "zarr: ", "web: ", "moments: ", "rotated: ", "y4m: "} {
		text = strings.ReplaceAll(strings.TrimPrefix(text, name), ": "+name, ": ")
	}
	return text
}

// Escape spells out what would move or colour a terminal: a file may have it
// in its name.
func Escape(text string) string {
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

// ReportsTo is where to print, which is not where the scores go.
func (sh *Shell) ReportsTo(out string) io.Writer {
	sh.Progress.Close()
	if out == Standard {
		return sh.Stderr
	}
	return sh.Stdout
}

// Reports is where to say what was done: standard output, unless that is where the output went, or
// nowhere with --quiet.
func (sh *Shell) Reports(out string) io.Writer {
	switch {
	case out != "" && sh.Quiet:
		return io.Discard
	case out == Standard:
		sh.Progress.Close()
		return sh.Stderr
	}
	return sh.Results()
}
