package gpu

import (
	"fmt"
	"slices"
	"testing"
	"time"

	"github.com/boxsum/boxsum/gpu/internal/devmem"
	"github.com/boxsum/boxsum/gpu/internal/driver"
	"github.com/boxsum/boxsum/gpu/internal/method"
	"github.com/boxsum/boxsum/internal/fixture"
	"github.com/boxsum/boxsum/internal/launch"
	"github.com/boxsum/boxsum/rotated"
)

// BenchmarkTurned times tilted and rotated tables relative to the upright one of the same image,
// and to a copy of as many bytes as that moves, alternating.
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
	src, err := Upload(d, fixture.Noise[uint8](1, size, size, 1, 0))
	if err != nil {
		bench.Fatal(err)
	}
	type work struct {
		name string
		run  func() error
	}
	var works []work
	moved := int64(size) * int64(size) * 5
	copied, err := launch.NewCopy(d, moved/2)
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
			took, err := d.Time(3, w.run) // the first runs keep the device busy while the host queues
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
	whole := d.inner.Backend
	names, err := launch.Kernels(d, works[3].run)
	if err != nil {
		bench.Fatal(err)
	}
	for _, k := range names {
		d.inner.Backend = onlyKernel{whole, k.Name}
		took, err := d.Time(15, works[3].run)
		d.inner.Backend = whole
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

// onlyKernel launches one kernel and skips all others.
type onlyKernel struct {
	driver.Backend
	name string
}

func (o onlyKernel) CUDA() *driver.CUDABackend { return nil }

func (o onlyKernel) Launch(s driver.Stream, kernel string, groups, group int, args ...driver.Arg) error {
	if kernel != o.name {
		return nil
	}
	return o.Backend.Launch(s, kernel, groups, group, args...)
}

// layOnly lays out the region of a lattice that has pixels.
func layOnly(t *RotatedTable[uint32], src *Image[uint8]) error {
	d := src.inner().Device
	columns, rows := t.lattice.Shape.Size()
	return d.Use(func() error {
		stride := devmem.RoundUp(int64(columns), devmem.ImageRow)
		one := stride * int64(rows)
		space, _, err := d.Workspace(d.Stream, "lattice", one<<t.lattice.Shape.Split)
		if err != nil {
			return err
		}
		job := method.Of(&t.cells, nil, src.inner(), 0)
		return t.lattice.PlacePixels(job, devmem.Batch{Plane: driver.Plane{Memory: space, Stride: stride}, Distance: one}, false)
	})
}
