package detection

import (
	"bytes"
	"cmp"
	"context"
	"encoding/binary"
	"errors"
	"fmt"
	"image"
	"io/fs"
	"math"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"time"

	"github.com/boxsum/boxsum/hog"
)

// A trained detector is one of OpenCV's, whose coefficients are compiled into its library.
type trained struct {
	function string // of cv2 that returns the coefficients
	window   image.Point
}

var ofOpenCV = map[string]trained{
	"people":  {"HOGDescriptor_getDefaultPeopleDetector", image.Pt(64, 128)},
	"daimler": {"HOGDescriptor_getDaimlerPeopleDetector", image.Pt(48, 96)},
}

// loadHOG loads a descriptor from a file or, given the name of one of OpenCV's, from an installed
// OpenCV.
func loadHOG(ctx context.Context, name string) (d *hog.Descriptor, err error) {
	t, known := ofOpenCV[name]
	if _, err := os.Stat(name); !known || err == nil {
		d, err = hog.LoadFile(name)
		if err == nil && len(d.Config().Coefficients) == 0 {
			return nil, fmt.Errorf("%s: the descriptor has no coefficients (its SVMDetector is missing)", name)
		}
		if errors.Is(err, fs.ErrNotExist) && !known && filepath.Ext(name) == "" {
			err = fmt.Errorf("no file is named %q: name one that HOGDescriptor.save wrote, or people or daimler for the detectors of an installed OpenCV", name)
		}
		return d, err
	}
	coefficients, err := askOpenCV(ctx, t.function)
	if err != nil {
		return nil, fmt.Errorf("no file is named %q, and OpenCV's detector of that name is not available: %w "+
			"(install opencv-python-headless below 5 or opencv-contrib-python-headless, or name a file that HOGDescriptor.save wrote)", name, err)
	}
	return hog.New(hog.Config{Window: t.window, Coefficients: coefficients})
}

// askOpenCV returns what a function of the Python module cv2 returns: a list of float32.
func askOpenCV(ctx context.Context, function string) ([]float32, error) {
	ctx, cancel := context.WithTimeout(ctx, time.Minute)
	defer cancel()
	// No module is imported from the current folder, which may hold anything.
	script := "import sys; sys.path = [p for p in sys.path if p]; import cv2; sys.stdout.buffer.write(cv2." + function + "().astype('<f4').tobytes())"
	err := errors.New("python3 is not installed")
	for _, python := range pythons() {
		var stderr bytes.Buffer
		cmd := exec.CommandContext(ctx, python, "-c", script)
		cmd.Stderr, cmd.WaitDelay = &stderr, time.Second
		answer, failed := cmd.Output()
		if ctx.Err() != nil {
			return nil, ctx.Err()
		}
		if failed != nil {
			lines := strings.Split(strings.TrimSpace(stderr.String()), "\n")
			err = fmt.Errorf("%s: %.200s", python, cmp.Or(lines[len(lines)-1], failed.Error()))
			continue
		}
		all := make([]float32, len(answer)/4)
		for i := range all {
			all[i] = math.Float32frombits(binary.LittleEndian.Uint32(answer[4*i:]))
		}
		return all, nil
	}
	return nil, err
}

// pythons lists the interpreters to ask: that of the active virtual environment, and those on the
// PATH.
func pythons() (paths []string) {
	if environment := os.Getenv("VIRTUAL_ENV"); environment != "" {
		for _, name := range []string{"bin/python", "Scripts/python.exe"} {
			path := filepath.Join(environment, filepath.FromSlash(name))
			if _, err := os.Stat(path); err == nil {
				paths = append(paths, path)
			}
		}
	}
	for _, name := range []string{"python3", "python"} {
		if path, err := exec.LookPath(name); err == nil {
			paths = append(paths, path)
		}
	}
	return paths
}
