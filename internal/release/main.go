// Command release builds what a release has: programs, packages, lists of what is in them.
// make release runs it.
package main

import (
	"fmt"
	"os"
)

func main() {
	if err := run(os.Args[1:]); err != nil {
		fmt.Fprintln(os.Stderr, "release:", err)
		os.Exit(1)
	}
}

func run(args []string) error {
	if len(args) == 0 {
		return fmt.Errorf("what? licences")
	}
	switch args[0] {
	case "licences":
		return licences(os.Stdout)
	}
	return fmt.Errorf("%s is nothing to do", args[0])
}
