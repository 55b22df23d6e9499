package gpu

import (
	"fmt"
	"slices"
	"testing"
	"time"

	"github.com/boxsum/boxsum/rotated"
)

// BenchmarkTurned times tilted and rotated tables beside the upright one of the
// same image and a copy of as many bytes as that moves, all by turns.
func BenchmarkTurned(bench *testing.B) {
	for _, info := range devices(bench) {
		bench.Run(fmt.Sprintf("%s%d", info.Kind, info.Index), func(bench *testing.B) { benchTurned(bench, info) })
	}
}

func benchTurned(bench *testing.B, info Info) {
	size := 8192
	if info.CPU {
		size = 512
	}
	d, err := Open(info)
	if err != nil {
		bench.Fatal(err)
	}
	defer d.Close()
	src, err := Upload(d, randomImage[uint8](1, size, size, 1, 0))
	if err != nil {
		bench.Fatal(err)
	}
	type work struct {
		name string
		run  func() error
	}
	var works []work
	moved := int64(size) * int64(size) * 5
	copied, err := d.NewCopy(moved / 2)
	if err != nil {
		bench.Fatal(err)
	}
	works = append(works, work{"copy", copied.Run})
	upright, err := NewTable[uint32](d, size, size, 1, 1)
	if err != nil {
		bench.Fatal(err)
	}
	works = append(works, work{"upright", func() error { return IntegrateInto(upright, src, nil) }})
	works = append(works, work{"portable", func() error { return IntegrateInto(upright, src, &Options{Kernels: Portable}) }})
	tilted, err := NewTiltedTable[uint32](d, size, size, 1, 1)
	if err != nil {
		bench.Fatal(err)
	}
	works = append(works, work{"tilted", func() error { return IntegrateTiltedInto(tilted, src, nil) }})
	var tables []*RotatedTable[uint32]
	rotations := []rotated.Rotation{{A: 0, B: 1}, {A: 1, B: 10}, {A: 1, B: 2}, {A: 2, B: 3}, {A: 1, B: 1}, {A: -1, B: 2}, {A: 2, B: 1}, {A: -5, B: 1}, {A: 3, B: 4}, {A: 3, B: 5}, {A: -7, B: 9}, {A: 99, B: 100}}
	for _, rot := range rotations {
		table, err := NewRotatedTable[uint32](d, size, size, 1, 1, rot)
		if err != nil {
			bench.Fatal(err)
		}
		works = append(works, work{rot.String(), func() error { return IntegrateRotatedInto(table, src, nil) }})
		tables = append(tables, table)
	}
	times := make([][]time.Duration, len(works))
	for range 25 {
		for i, w := range works {
			took, err := d.Time(3, w.run) // the first keep the device busy while the host queues
			if err != nil {
				bench.Fatal(err)
			}
			times[i] = append(times[i], took[2])
		}
	}
	for i := range times {
		slices.Sort(times[i])
	}
	up := times[1][len(times[1])/2]
	for i, w := range works {
		median := times[i][len(times[i])/2]
		fmt.Printf("%-10s %8.1f µs, best %8.1f, %5.2f times upright\n", w.name, median.Seconds()*1e6, times[i][0].Seconds()*1e6, median.Seconds()/up.Seconds())
	}
	whole := d.backend
	names, err := d.Kernels(works[3].run)
	if err != nil {
		bench.Fatal(err)
	}
	for _, k := range names {
		d.backend = onlyKernel{whole, k.Name}
		took, err := d.Time(15, works[3].run)
		d.backend = whole
		if err != nil {
			bench.Fatal(err)
		}
		slices.Sort(took)
		fmt.Printf("%-10s %8.1f µs %s: %d blocks of %d, %d registers, %d B shared, %d B local, occupancy %.2f\n",
			works[3].name, took[7].Seconds()*1e6, k.Name, k.Blocks, k.Threads, k.Registers, k.Shared, k.Local, k.Occupancy)
	}
	for i, table := range tables {
		took, err := d.Time(15, func() error { return layOnly(table, src) })
		if err != nil {
			bench.Fatal(err)
		}
		slices.Sort(took)
		fmt.Printf("%-10s %8.1f µs to lay the lattice out\n", rotations[i], took[7].Seconds()*1e6)
	}
	bench.ReportMetric(0, "ns/op")
}

// onlyKernel launches one of the kernels and leaves the others out.
type onlyKernel struct {
	backend
	name string
}

func (o onlyKernel) launch(s stream, kernel string, grid, block [3]int, shared int, args ...arg) error {
	if kernel != o.name {
		return nil
	}
	return o.backend.launch(s, kernel, grid, block, shared, args...)
}

// layOnly lays out the part of a lattice that has pixels.
func layOnly(t *RotatedTable[uint32], src *Image[uint8]) error {
	d := src.device
	return d.use(func() error {
		stride := roundUp(int64(t.job.columns), imageRow)
		one := stride * int64(t.job.rows)
		space, _, err := d.workspace(d.stream, "lattice", one<<t.job.split)
		if err != nil {
			return err
		}
		job := integrateJob{stream: d.stream, pixel: src.element, channels: 1, width: src.width, height: src.height, count: 1, in: src.at}
		return d.layLattice(job, t.job, t.at, batch{plane{memory: space, stride: stride}, one})
	})
}
