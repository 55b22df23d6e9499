package cli

import (
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"os/signal"
	"syscall"
)

// What run returns to the shell. A signal gives 128 and its number.
const (
	exitOK          = 0
	exitError       = 1
	exitUsage       = 2 // the arguments cannot be, whatever the files are
	exitSignal      = 128
	exitInterrupted = exitSignal + int(syscall.SIGINT)
)

// exitCode is the code of an error. The context tells which signal came.
func exitCode(ctx context.Context, err error) int {
	var by interruption
	switch {
	case err == nil:
		return exitOK
	case errors.As(context.Cause(ctx), &by):
		return exitSignal + int(by.signal)
	case ctx.Err() != nil:
		return exitInterrupted
	case errors.As(err, new(usageError)):
		return exitUsage
	}
	return exitError
}

// A usageError is in the arguments themselves.
type usageError struct{ error }

func (e usageError) Unwrap() error { return e.error }

func usage(format string, args ...any) error { return usageError{fmt.Errorf(format, args...)} }

// asUsage is an error as one of the arguments.
func asUsage(err error) error {
	if err == nil {
		return nil
	}
	return usageError{err}
}

// An interruption is a signal that asks to stop.
type interruption struct{ signal syscall.Signal }

func (i interruption) Error() string { return i.signal.String() }

// untilSignal is a context that Ctrl-C, SIGTERM and SIGHUP end. The second signal ends
// the process at once. SIGPIPE is an error of writing instead, so that files are
// cleaned up.
func untilSignal() context.Context {
	signals := []os.Signal{os.Interrupt, syscall.SIGTERM}
	if !signal.Ignored(syscall.SIGHUP) { // as nohup has it
		signals = append(signals, syscall.SIGHUP)
	}
	ctx, cancel := context.WithCancelCause(context.Background())
	came := make(chan os.Signal, 1)
	signal.Notify(came, signals...)
	go func() {
		s := <-came
		signal.Stop(came)
		number, _ := s.(syscall.Signal)
		cancel(interruption{number})
	}()
	signal.Notify(make(chan os.Signal, 1), syscall.SIGPIPE)
	return ctx
}

// A checkedWriter remembers that writing failed, for those who do not look.
type checkedWriter struct {
	io.Writer
	err error
}

func (c *checkedWriter) Write(b []byte) (int, error) {
	n, err := c.Writer.Write(b)
	if err != nil && c.err == nil {
		var path *fs.PathError
		if c.err = err; errors.As(err, &path) {
			c.err = path.Err
		}
		c.err = fmt.Errorf("writing standard output: %w", c.err)
	}
	return n, err
}
