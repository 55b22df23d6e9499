package cli

import (
	"fmt"
	"runtime"
	"runtime/debug"

	"github.com/boxsum/boxsum/internal/cli/console"
	"github.com/boxsum/boxsum/internal/cli/display"
)

// Set by the linker in releases.
var release, commit, date string

type versionCmd struct {
	JSON bool `help:"Print JSON."`
}

// Run prints the version.
func (c *versionCmd) Run(sh *console.Shell) error {
	if c.JSON {
		return display.JSON(sh.Results(), thisBuild())
	}
	_, err := fmt.Fprintln(sh.Results(), thisBuild())
	return err
}

// A build describes how the program was built.
type build struct {
	Version  string `json:"version"`
	Commit   string `json:"commit,omitempty"`
	Date     string `json:"date,omitempty"` // of the commit
	Modified bool   `json:"modified,omitempty"`
	Go       string `json:"go"`
	OS       string `json:"os"`
	Arch     string `json:"arch"`
}

func (b build) String() string {
	return fmt.Sprintf("boxsum %s, %s %s/%s", b.Version, b.Go, b.OS, b.Arch)
}

// thisBuild returns the build recorded by the release or the go command.
func thisBuild() build {
	b := build{Version: release, Commit: commit, Date: date, Go: runtime.Version(), OS: runtime.GOOS, Arch: runtime.GOARCH}
	if b.Version != "" {
		return b
	}
	b.Version = "(devel)"
	info, ok := debug.ReadBuildInfo()
	if !ok {
		return b
	}
	if info.Main.Version != "" {
		b.Version = info.Main.Version
	}
	for _, s := range info.Settings {
		switch s.Key {
		case "vcs.revision":
			b.Commit = s.Value
		case "vcs.time":
			b.Date = s.Value
		case "vcs.modified":
			b.Modified = s.Value == "true"
		}
	}
	return b
}
