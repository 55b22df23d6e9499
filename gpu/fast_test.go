package gpu

import (
	"bytes"
	"fmt"
	"math/rand/v2"
	"slices"
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
	for channels := 1; channels <= fastChannels; channels++ {
		for pixel, sums := range sumsOf {
			for _, sum := range sums {
				for _, path := range []fastPath{tilePath, smallPath, flatPath} {
					keys = append(keys, fastKey{path, pixel, sum, none, channels})
				}
				for _, square := range squaresOf[pixel] {
					keys = append(keys, fastKey{tilePath, pixel, sum, square, channels})
				}
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

// All paths give the CPU's tables, also where another one would have been
// chosen: sizes up to many tiles each way, batches, bands, any layout.
func TestFastPaths(t *testing.T) {
	count := 8
	if testing.Short() {
		count = 2
	}
	found := false
	for _, info := range devices(t) {
		if info.Kind != CUDA {
			continue
		}
		d := open(t, info)
		if d.notFast(integrateJob{channels: 1}) != "" {
			continue
		}
		found = true
		b := d.backend.(*cudaBackend)
		r := rand.New(rand.NewPCG(6, 7))
		check := func(p pair, s shape) {
			for _, b.fast.only = range []fastPath{tilePath, smallPath, flatPath, anyPath} {
				if !p.check(t, d, s) {
					t.Fatalf("that was path %q", b.fast.only)
				}
			}
		}
		// At 1920x1080 the choice is close; the others have many tiles in line.
		for i, size := range [][2]int{{1920, 1080}, {1919, 1081}, {2500, 1100}, {4400, 65}, {63, 2300}} {
			check(pairs[0], shape{width: size[0], height: size[1], channels: 1, count: 1, seed: uint64(i), kernels: Fast})
			check(sums[float32, float32](), shape{width: size[0], height: size[1], channels: 1, count: 1, seed: uint64(i), kernels: Fast, bandRows: 300})
		}
		check(pairs[0], shape{width: 33, height: 47, channels: 3, count: 70, kernels: Fast})
		n := 0
		for _, p := range pairs {
			for channels := 1; channels <= fastChannels; channels++ {
				for range count {
					s := randomShape(r, p.float)
					s.channels, s.width, s.height = channels, 1+r.IntN(600), 1+r.IntN(400)
					s.count, s.seed, s.kernels, s.bandRows = 1+r.IntN(3), r.Uint64(), Fast, r.IntN(s.height+1)
					check(p, s)
					n++
				}
			}
		}
		fmt.Printf("%s: %d random tables along each path equal the CPU\n", info.Name, n)
	}
	if !found {
		t.Log("no device here has one-pass kernels: they need CUDA and compute capability 8.0")
	}
}

// BenchmarkTurns says how many images of a batch should take turns.
func BenchmarkTurns(bench *testing.B) {
	infos, _ := Devices()
	if len(infos) == 0 || infos[0].Kind != CUDA {
		bench.Skip("no CUDA")
	}
	d, err := Open(infos[0])
	if err != nil {
		bench.Fatal(err)
	}
	defer d.Close()
	const width, height, count = 1920, 1080, 64
	images, err := NewImage[uint8](d, width, height, 1, count)
	if err != nil {
		bench.Fatal(err)
	}
	tables, err := NewTable[uint32](d, width, height, 1, count)
	if err != nil {
		bench.Fatal(err)
	}
	for _, turn := range []int{1, 2, 4, 8, 16, 32, 64} {
		bench.Run(fmt.Sprint(turn), func(bench *testing.B) {
			d.backend.(*cudaBackend).fast.turn = turn
			times, err := d.Time(bench.N, func() error { return IntegrateInto(tables, images, nil) })
			if err != nil {
				bench.Fatal(err)
			}
			slices.Sort(times)
			median := times[len(times)/2]
			bench.ReportMetric(float64(width*height*count*5)/median.Seconds()/1e9, "GB/s")
			bench.ReportMetric(0, "ns/op")
		})
	}
}
