// Package console is what a command sees of the terminal or the pipes that it runs in:
// its standard streams, the progress bar, notes, and errors in one line.
package console
