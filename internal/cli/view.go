package cli

import (
	"os"
	"path/filepath"
	"strings"

	"github.com/boxsum/boxsum/internal/cascade/installed"
	"github.com/boxsum/boxsum/internal/cli/console"
	"github.com/boxsum/boxsum/web/explore"
	"github.com/boxsum/boxsum/web/view"
	"golang.org/x/term"
)

type viewCmd struct {
	Files  []string `arg:"" optional:"" name:"FILE" help:"Images, .npy arrays, volumes (TIFF files with pages, folders of slices), Zarr stores, mosaics and reports. Default: a picture that boxsum draws."`
	Port   int      `placeholder:"N" help:"Port to listen on (default: any free port)."`
	Listen string   `placeholder:"HOST[:PORT]" help:"Let other machines open the page too, at this address; the address of the page then contains a token. Default: only this machine can."`
	Open   *bool    `negatable:"" help:"Open the page in a browser. Default: if standard output is a terminal."`
}

// Run serves the page until Ctrl-C.
func (c *viewCmd) Run(sh *console.Shell) error {
	if c.Port < 0 || c.Port > 65535 {
		return console.Usage("--port %d: want 1 to 65535, or 0 for any free port", c.Port)
	}
	o := view.Options{Files: c.Files, Port: c.Port, Listen: c.Listen, Out: sh.Results()}
	if c.Open != nil {
		o.Open = *c.Open
	} else {
		o.Open = term.IsTerminal(int(os.Stdout.Fd()))
	}
	for _, folder := range installed.Folders() {
		files, _ := filepath.Glob(filepath.Join(folder, "*.xml"))
		for _, file := range files {
			o.Cascades = append(o.Cascades, explore.Named{
				Name: strings.TrimSuffix(filepath.Base(file), ".xml"),
				Read: func() ([]byte, error) { return os.ReadFile(file) },
			})
		}
	}
	return view.Serve(sh.Ctx, o)
}
