package method

import (
	"bytes"
	"testing"
	"unsafe"

	"github.com/boxsum/boxsum/gpu/internal/kernels"
)

// The kernels read the struct as gpu/internal/kernels/fast.h lays it out.
func TestFastJobLayout(t *testing.T) {
	var j fastJob
	for _, field := range []struct {
		name      string
		got, want uintptr
	}{
		{"map", unsafe.Offsetof(j.boxes), 0},
		{"in", unsafe.Offsetof(j.in), 128},
		{"out", unsafe.Offsetof(j.out), 136},
		{"squares", unsafe.Offsetof(j.squares), 144},
		{"status", unsafe.Offsetof(j.status), 152},
		{"squaresStatus", unsafe.Offsetof(j.squaresStatus), 160},
		{"tickets", unsafe.Offsetof(j.tickets), 168},
		{"inStride", unsafe.Offsetof(j.inStride), 176},
		{"inBatch", unsafe.Offsetof(j.inBatch), 184},
		{"outStride", unsafe.Offsetof(j.outStride), 192},
		{"outBatch", unsafe.Offsetof(j.outBatch), 200},
		{"squaresStride", unsafe.Offsetof(j.squaresStride), 208},
		{"squaresBatch", unsafe.Offsetof(j.squaresBatch), 216},
		{"offset", unsafe.Offsetof(j.offset), 224},
		{"width", unsafe.Offsetof(j.width), 232},
		{"height", unsafe.Offsetof(j.height), 236},
		{"count", unsafe.Offsetof(j.count), 240},
		{"tilesX", unsafe.Offsetof(j.tilesX), 244},
		{"tilesY", unsafe.Offsetof(j.tilesY), 248},
		{"strip", unsafe.Offsetof(j.strip), 252},
		{"lag", unsafe.Offsetof(j.lag), 256},
		{"ahead", unsafe.Offsetof(j.ahead), 260},
		{"turn", unsafe.Offsetof(j.turn), 264},
		{"epoch", unsafe.Offsetof(j.epoch), 268},
		{"base", unsafe.Offsetof(j.base), 272},
		{"inAligned", unsafe.Offsetof(j.inAligned), 276},
		{"outAligned", unsafe.Offsetof(j.outAligned), 280},
		{"squaresAligned", unsafe.Offsetof(j.squaresAligned), 284},
		{"carry", unsafe.Offsetof(j.carry), 288},
		{"spotCount", unsafe.Offsetof(j.spotCount), 292},
		{"spots", unsafe.Offsetof(j.spots), 296},
		{"the end", unsafe.Sizeof(j), 320},
	} {
		if field.got != field.want {
			t.Errorf("%s is at byte %d, not %d", field.name, field.got, field.want)
		}
	}
}

// Every one-pass kernel must be in both images, with its shape.
func TestFastKernelsAreBuilt(t *testing.T) {
	var keys []fastKey
	for channels := 1; channels <= FastChannels; channels++ {
		for _, p := range Sums {
			for _, path := range []string{TilePath, SmallPath, FlatPath} {
				keys = append(keys, fastKey{path, p.Pixel, p.Sum, 0, channels})
			}
			for _, square := range Squares.Of(p.Pixel) {
				keys = append(keys, fastKey{TilePath, p.Pixel, p.Sum, square, channels})
			}
		}
	}
	images := map[string][][]byte{}
	for _, key := range keys {
		module, name := key.module(), key.String()
		if images[module] == nil {
			images[module] = kernels.CUDA(module, 9, 0)
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

// The job of the fast kernels is that of gpu/internal/kernels/histogrampass.h, which says the
// same size.
func TestHistogramPassJob(t *testing.T) {
	if size := unsafe.Sizeof(histogramPassJob{}); size != 152 {
		t.Errorf("%d bytes", size)
	}
}

// The job of the one-pass kernels is that of gpu/internal/kernels/volumejob.h, which says the
// same size.
func TestVolumePassJob(t *testing.T) {
	if size := unsafe.Sizeof(volumePassJob{}); size != 120 {
		t.Errorf("%d bytes", size)
	}
}
