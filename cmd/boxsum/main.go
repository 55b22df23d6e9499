// Command boxsum makes summed-area tables of images and answers questions
// from them. Run boxsum --help for what it can do.
package main

import "github.com/boxsum/boxsum/internal/cli"

func main() { cli.Main() }
