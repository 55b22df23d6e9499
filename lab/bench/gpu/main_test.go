package main

import (
	"bytes"
	"strings"
	"testing"

	"github.com/boxsum/boxsum/gpu"
	"github.com/boxsum/boxsum/internal/ref"
)

// TestRun runs a row of each kind of limit on small images, on OpenCL if there is a device.
func TestRun(t *testing.T) {
	d, err := gpu.OpenBest(gpu.OpenCL)
	if err != nil {
		ref.NoDevice(t, err)
	}
	d.Close()
	var out bytes.Buffer
	if err := run(&out, []string{"-on", "opencl", "-scale", "128", "-rounds", "1", "-only", "u8 to u32, 4096²,tensors,host to host,SSIM,CLAHE,rank,non-local,people 640×480"}); err != nil {
		t.Fatal(err)
	}
	for _, want := range []string{"are divided by 128", "u8 to u32, 4096²", "unsupported operation except on CUDA", "1/2, 4096², host to host", "SSIM and its map", "SSIM alone", "CLAHE", "rank mean", "rank median", "non-local means", "people 640×480, 16 frames"} {
		if !strings.Contains(out.String(), want) {
			t.Errorf("%q is missing from\n%s", want, &out)
		}
	}
}

func TestRunFails(t *testing.T) {
	for _, args := range [][]string{{"-rounds", "0"}, {"-scale", "0"}, {"-unknown"}} {
		if err := run(&bytes.Buffer{}, args); err == nil {
			t.Errorf("%v is accepted", args)
		}
	}
}
