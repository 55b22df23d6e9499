// Command boxsum makes summed-area tables of images and queries them. Run
// boxsum --help for a list of its subcommands.
package main

import "github.com/boxsum/boxsum/internal/cli"

func main() { cli.Main() }
