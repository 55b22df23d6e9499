package main

import (
	"bufio"
	"encoding/json"
	"fmt"
	"io"
	"os"
	"runtime"
	"runtime/debug"
	"strings"

	"github.com/boxsum/boxsum"
)

type devicesCmd struct {
	JSON bool `name:"json" help:"Print JSON."`
}

// Help is the long help of the command.
func (*devicesCmd) Help() string {
	return `Examples:

    boxsum devices
    boxsum devices --json`
}

// A device is something to integrate on.
type device struct {
	On      string   `json:"on"`
	Name    string   `json:"name"`
	Level   string   `json:"level"`
	Levels  []string `json:"levels"`
	Workers int      `json:"workers"`
}

// Run lists the devices.
func (c *devicesCmd) Run(sh *shell) error {
	devices := []device{theCPU()}
	if c.JSON {
		return printJSON(sh.results(), devices)
	}
	for _, d := range devices {
		_, err := fmt.Fprintf(sh.results(), "%-8s %s\n%8s level %s of %s\n%8s workers %d\n",
			d.On, d.Name, "", d.Level, strings.Join(d.Levels, ", "), "", d.Workers)
		if err != nil {
			return err
		}
	}
	return nil
}

func theCPU() device {
	d := device{On: "cpu", Name: cpuName(), Workers: runtime.GOMAXPROCS(0)}
	for _, level := range boxsum.Levels() {
		d.Levels = append(d.Levels, level.String())
	}
	d.Level = d.Levels[len(d.Levels)-1]
	return d
}

// cpuName is what the processor calls itself where the system tells, and
// otherwise its architecture.
func cpuName() string {
	if f, err := os.Open("/proc/cpuinfo"); err == nil {
		defer f.Close()
		if name := modelName(f); name != "" {
			return name
		}
	}
	return runtime.GOARCH
}

// modelName finds the first processor's name in Linux's cpuinfo.
func modelName(cpuinfo io.Reader) string {
	lines := bufio.NewScanner(cpuinfo)
	for lines.Scan() {
		key, value, _ := strings.Cut(lines.Text(), ":")
		if strings.TrimSpace(key) == "model name" {
			return strings.TrimSpace(value)
		}
	}
	return ""
}

type versionCmd struct{}

// Help is the long help of the command.
func (*versionCmd) Help() string {
	return `Example:

    boxsum version`
}

// Run prints the version.
func (*versionCmd) Run(sh *shell) error {
	_, err := fmt.Fprintln(sh.results(), version())
	return err
}

// version is what the build recorded of itself.
func version() string {
	module := "(devel)"
	if info, ok := debug.ReadBuildInfo(); ok && info.Main.Version != "" {
		module = info.Main.Version
	}
	return fmt.Sprintf("boxsum %s, %s %s/%s", module, runtime.Version(), runtime.GOOS, runtime.GOARCH)
}

// printJSON prints a value as indented JSON.
func printJSON(w io.Writer, value any) error {
	text, err := json.MarshalIndent(value, "", "  ")
	if err != nil {
		return err
	}
	_, err = fmt.Fprintf(w, "%s\n", text)
	return err
}
