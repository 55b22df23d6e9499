package main

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"

	"github.com/boxsum/boxsum/imgio"
	"github.com/boxsum/boxsum/internal/bench"
)

// plotFolder makes the folder for plots, if there shall be any, and says at once
// if nothing can be written there.
func plotFolder(dir string) error {
	if dir == "" {
		return nil
	}
	if info, err := os.Stat(dir); err == nil && !info.IsDir() {
		return fmt.Errorf("--plot %s is a file: name a folder", dir)
	}
	if err := os.MkdirAll(dir, 0o777); err != nil {
		return err
	}
	entries, err := os.ReadDir(dir)
	if err != nil {
		return err
	}
	for _, e := range entries {
		if extension := filepath.Ext(e.Name()); e.IsDir() && (extension == ".svg" || extension == ".png") {
			return fmt.Errorf("--plot %s: %s in it is a folder, where a plot may have to go: choose another", dir, e.Name())
		}
	}
	probe, err := os.CreateTemp(dir, ".boxsum-*")
	if err != nil {
		return err
	}
	return errors.Join(probe.Close(), os.Remove(probe.Name()))
}

// writePlots draws results into a folder.
func writePlots(dir string, results []bench.Result) error {
	if dir == "" {
		return nil
	}
	for _, p := range bench.Plots(results) {
		path := filepath.Join(dir, p.Name)
		if err := errors.Join(imgio.WriteFile(path+".svg", p.SVG), imgio.WriteFile(path+".png", p.PNG)); err != nil {
			return err
		}
	}
	return nil
}
