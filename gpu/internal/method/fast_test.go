package method

import (
	"bytes"
	"slices"
	"testing"

	"github.com/boxsum/boxsum/gpu/internal/driver"
	"github.com/boxsum/boxsum/gpu/internal/kernels"
	"github.com/boxsum/boxsum/internal/raster"
)

// TestFastKernelsAreBuilt checks that every one-pass kernel is in both images, with its shape.
func TestFastKernelsAreBuilt(t *testing.T) {
	var keys []driver.PlaneKey
	for channels := 1; channels <= FastChannels; channels++ {
		for _, p := range Sums.For(raster.OnePass) {
			for _, square := range append([]raster.Type{0}, Squares.For(raster.OnePass).Of(p.Pixel)...) {
				for _, path := range []string{TilePath, FlatPath, SmallPath, TallPath} {
					key := driver.PlaneKey{Path: path, Pixel: p.Pixel, Sum: p.Sum, Square: square, Channels: channels}
					types := kernels.Types{Pixel: p.Pixel.Short(), Sum: accumulator(p.Sum)}
					if square != 0 {
						types.Square = accumulator(square)
					}
					if kernels.HasPath(path, types, channels) {
						keys = append(keys, key)
					}
				}
			}
		}
	}
	images := map[string][][]byte{}
	for _, key := range keys {
		module, name := key.Module(), key.String()
		if images[module] == nil {
			images[module] = slices.Collect(kernels.CUDA(module, 9, 0))
		}
		if len(images[module]) != 2 {
			t.Fatalf("%d images of %s: run make kernels", len(images[module]), module)
		}
		code, ptx := images[module][0], images[module][1]
		if !bytes.Contains(code, []byte(".text."+name+"\x00")) || !bytes.Contains(code, []byte("\x00shape_"+name+"\x00")) {
			t.Errorf("%s is not in the machine code: run make kernels", name)
		}
		if !bytes.Contains(ptx, []byte(".entry "+name+"(")) || !bytes.Contains(ptx, []byte(" shape_"+name+"[")) {
			t.Errorf("%s is not in the PTX: run make kernels", name)
		}
	}
}
