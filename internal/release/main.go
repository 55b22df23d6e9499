// Command release builds what a release has: programs, packages, lists of what is in them.
// scripts/release.sh runs it, as go -C internal/release run . and so on; paths are from the project's folder. It is a module
// of its own, so that what knows licences is no dependency of boxsum.
//
//	release licences                       the licence of every dependency of the project
//	release licences -texts ./cmd/boxsum   the licences of what a program has, in full
//	release build -version v0.2.0 -o dist  programs, archives, .deb files, SBOM
//	release sums dist                      SHA256SUMS of all files
package main

import (
	"flag"
	"fmt"
	"io"
	"os"
	"strings"
)

func main() {
	if err := os.Chdir("../.."); err != nil { // from its own folder
		fmt.Fprintln(os.Stderr, "release:", err)
		os.Exit(1)
	}
	if err := run(os.Args[1:], os.Stdout); err != nil {
		fmt.Fprintln(os.Stderr, "release:", err)
		os.Exit(1)
	}
}

func run(args []string, w io.Writer) error {
	if len(args) == 0 {
		return fmt.Errorf("what? licences, build or sums")
	}
	flags := flag.NewFlagSet(args[0], flag.ContinueOnError)
	switch args[0] {
	case "licences":
		texts := flags.Bool("texts", false, "those of packages, in full")
		if err := flags.Parse(args[1:]); err != nil {
			return err
		}
		if *texts {
			return licenceTexts(w, flags.Args()...)
		}
		return licences(w)
	case "build":
		version := flags.String("version", "", "such as v0.2.0")
		out := flags.String("o", "dist", "`folder`")
		only := flags.String("only", "", "`platforms`, such as linux/amd64,windows/amd64; all of them unless told")
		if err := flags.Parse(args[1:]); err != nil {
			return err
		}
		var names []string
		if *only != "" {
			names = strings.Split(*only, ",")
		}
		return build(w, *version, *out, names)
	case "sums":
		if len(args) != 2 {
			return fmt.Errorf("sums of which folder?")
		}
		return sums(args[1])
	}
	return fmt.Errorf("%s is nothing to do: licences, build or sums", args[0])
}
