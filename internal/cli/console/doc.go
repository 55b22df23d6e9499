// Package console connects a command to its terminal or pipes: standard streams, a progress bar,
// notes, and errors on one line.
package console
