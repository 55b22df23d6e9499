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

// Standard is the path that selects standard input or output.
const Standard = "-"

// Await calls do and returns its results, or the error of the context as soon as that is
// done: do may be waiting for a pipe that stays silent or that nobody reads.
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

// A Shell holds a command's environment: the standard streams, the progress bar, and the global
// flags.
type Shell struct {
	Ctx            context.Context // canceled on Ctrl-C and other signals
	Stdin          io.Reader
	Stdout, Stderr io.Writer
	Progress       *Progress
	Model          *kong.Application
	notes          []string // to print once the bar is removed
	Quiet          bool     // --quiet
	Version        string   // of this program, for reports
}

// StartProgress starts a progress bar, in place of one that was closed.
func (sh *Shell) StartProgress() {
	if !sh.Quiet {
		sh.Progress = newProgress(sh.Stderr)
	}
}

// Results closes the progress bar and returns standard output.
func (sh *Shell) Results() io.Writer {
	sh.Progress.Close()
	return sh.Stdout
}

// Say prints a note on standard error once the progress bar is closed.
func (sh *Shell) Say(text string) {
	if sh.Quiet {
		return
	}
	if sh.notes = append(sh.notes, text); sh.Progress == nil {
		sh.SayAll()
	}
}

// SayAll prints the notes that waited for the progress bar to close.
func (sh *Shell) SayAll() {
	for _, text := range sh.notes {
		fmt.Fprintln(sh.Stderr, "boxsum:", Escape(text))
	}
	sh.notes = nil
}

// Failed prints on standard error that one of several files failed.
func (sh *Shell) Failed(path string, err error) {
	text := OneLine(err)
	if name := Escape(path) + ": "; !strings.HasPrefix(text, name) {
		text = name + text
	}
	fmt.Fprintln(sh.Stderr, "boxsum:", text)
}

// OneLine returns an error as one line. For a missing file it names the file rather than the system
// call.
func OneLine(err error) string {
	var file *fs.PathError
	if errors.As(err, &file) && errors.Is(file.Err, fs.ErrNotExist) {
		return Escape(file.Path) + ": " + file.Err.Error()
	}
	return Escape(strings.ReplaceAll(strings.TrimSpace(err.Error()), "\n", "; "))
}

// Escape replaces control characters by their escape sequences: file names may contain
// some that move the cursor or change the color of a terminal.
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

// ReportsTo is like Reports for commands whose reports are their results, which --quiet does not
// suppress.
func (sh *Shell) ReportsTo(out string) io.Writer {
	sh.Progress.Close()
	if out == Standard {
		return sh.Stderr
	}
	return sh.Stdout
}

// Reports returns the writer for reports: standard output, standard error if the output
// of the command goes to standard output, or a writer that discards them with --quiet.
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
