package cli

import (
	"context"
	"errors"
	"os"
	"os/signal"
	"syscall"

	"github.com/boxsum/boxsum/internal/cli/console"
)

// Exit codes. A signal gives 128 plus its number.
const (
	exitOK          = 0
	exitError       = 1
	exitUsage       = 2 // the arguments are invalid, regardless of files
	exitSignal      = 128
	exitInterrupted = exitSignal + int(syscall.SIGINT)
)

// exitCode returns the exit code for an error. The cause of the context tells which signal arrived.
func exitCode(ctx context.Context, err error) int {
	var by interruption
	switch {
	case err == nil:
		return exitOK
	case errors.As(context.Cause(ctx), &by):
		return exitSignal + int(by.signal)
	case ctx.Err() != nil:
		return exitInterrupted
	case errors.As(err, new(console.UsageError)):
		return exitUsage
	}
	return exitError
}

// An interruption is the cause of a context that a signal canceled.
type interruption struct{ signal syscall.Signal }

func (i interruption) Error() string { return i.signal.String() }

// untilSignal returns a context that Ctrl-C, SIGTERM and SIGHUP cancel. A second signal ends the
// process at once. SIGPIPE causes a write error instead, so that files are cleaned up.
func untilSignal() context.Context {
	signals := []os.Signal{os.Interrupt, syscall.SIGTERM}
	if !signal.Ignored(syscall.SIGHUP) { // nohup ignores it
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
