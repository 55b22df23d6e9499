package interop

import (
	"errors"
	"slices"
	"testing"

	"github.com/boxsum/boxsum"
	"github.com/boxsum/boxsum/gpu"
	"github.com/boxsum/boxsum/histogram"
	"github.com/boxsum/boxsum/internal/fixture"
	"github.com/boxsum/boxsum/tilted"
	"github.com/boxsum/boxsum/volume"
)

// TestOverlap checks that no call computes a table in the memory of its image or of another table,
// as on the CPU, or touches that memory.
func TestOverlap(t *testing.T) {
	const width, height = 30, 20
	buf := make([]uint32, 4*(width+1)*(height+1))
	im := boxsum.Image[uint32]{Pix: buf, Stride: width + 1, Width: width, Height: height, Channels: 1}
	vol := volume.Volume[uint32]{Pix: buf, Width: 5, Height: 6, Depth: 7, Channels: 1}
	longs := make([]uint64, (width+1)*(height+1)+height*width)
	small := fixture.Noise[uint8](1, width, height, 1, 0)
	eachDevice(t, func(t *testing.T, d *gpu.Device) {
		handle, err := Take(d, 1<<20)
		if err != nil {
			t.Fatal(err)
		}
		for _, from := range []int{0, 1, (height - 1) * (width + 1)} {
			for i := range buf {
				buf[i] = 7
			}
			table := &boxsum.Table[uint32]{Sums: buf[from:], Stride: width + 1, Width: width, Height: height, Channels: 1}
			leaning := &tilted.Table[uint32]{Sums: buf[from:], Width: width, Height: height, Channels: 1}
			counts := &histogram.Table[uint32]{Counts: buf[from:][:2*(width+1)*(height+1)], Width: width, Height: height, Channels: 1, Bins: histogram.Bins{N: 2, High: 300}}
			solid := &volume.Table[uint32]{Sums: buf[min(from, 200):], Width: 5, Height: 6, Depth: 7, Channels: 1}
			double := func(shift int) *boxsum.SquaredTable[uint64, uint64] {
				return &boxsum.SquaredTable[uint64, uint64]{
					Sum:     &boxsum.Table[uint64]{Sums: longs, Width: width, Height: height, Channels: 1},
					Squares: &boxsum.Table[uint64]{Sums: longs[shift:], Width: width, Height: height, Channels: 1},
				}
			}
			at := Foreign{Handle: handle, Width: width, Height: height, Count: 2, Stride: 256, Distance: 256 * 30}
			over := at
			over.Offset = int64(4 * from)
			wide := at
			wide.Offset = int64(4 * from &^ 7)
			src, err := ImageOver[uint32](d, at)
			dst, err1 := TableOver[uint32](d, over)
			turned, err2 := TiltedTableOver[uint32](d, over)
			voxels, err3 := VolumeOver[uint32](d, at)
			sums, err4 := VolumeTableOver[uint32](d, over)
			first, err5 := TableOver[uint64](d, at)
			second, err6 := TableOver[uint64](d, wide)
			bytes, err7 := gpu.Upload(d, small, small)
			if err := errors.Join(err, err1, err2, err3, err4, err5, err6, err7); err != nil {
				t.Fatal(err)
			}
			shift := min(from, width*height)
			var piped, pipedSquares error
			for _, err := range gpu.PipelineInto(t.Context(), d, func(yield func(*boxsum.Table[uint32], boxsum.Image[uint32]) bool) { yield(table, im) }, nil) {
				piped = err
			}
			for _, err := range gpu.PipelineSquaresInto(t.Context(), d, func(yield func(*boxsum.SquaredTable[uint64, uint64], boxsum.Image[uint8]) bool) {
				yield(double(shift), small)
			}, nil) {
				pipedSquares = err
			}
			for name, err := range map[string]error{
				"on the CPU":          boxsum.IntegrateInto(table, im, nil),
				"host":                boxsum.IntegrateInto(table, im, &boxsum.Options{On: d}),
				"host squares":        boxsum.IntegrateSquaresInto(double(shift), small, &boxsum.Options{On: d}),
				"host, tilted":        tilted.IntegrateInto(leaning, im, &tilted.Options{On: d}),
				"host, histogram":     histogram.IntegrateInto(counts, im, &histogram.Options{On: d}),
				"host, volume":        volume.IntegrateInto(solid, vol, &volume.Options{On: d}),
				"pipeline":            piped,
				"pipeline of squares": pipedSquares,
				"device":              gpu.IntegrateInto(dst, src, nil),
				"device, tilted":      gpu.IntegrateTiltedInto(turned, src, nil),
				"device, volume":      gpu.IntegrateVolumeInto(sums, voxels, nil),
				"device squares":      gpu.IntegrateSquaresInto(&gpu.SquaredTable[uint64, uint64]{Sum: first, Squares: second}, bytes, nil),
			} {
				if !errors.Is(err, boxsum.ErrOverlap) {
					t.Errorf("%s, %d entries on: %v", name, from, err)
				}
			}
			if slices.ContainsFunc(buf, func(v uint32) bool { return v != 7 }) || slices.ContainsFunc(longs, func(v uint64) bool { return v != 0 }) {
				t.Fatalf("%d entries on: memory has changed", from)
			}
		}
	})
}

// TestPartsOfOneMemory puts images and tables in one memory, one after another or interleaved.
func TestPartsOfOneMemory(t *testing.T) {
	const width, height, count, row, table = 30, 20, 3, 8 * 31, 8 * 31 * 21
	images := []boxsum.Image[uint8]{}
	for i := range count {
		images = append(images, fixture.Noise[uint8](uint64(i), width, height, 1, 0))
	}
	eachDevice(t, func(t *testing.T, d *gpu.Device) {
		src := upload(t, d, images...)
		handle, err := Take(d, 2*count*table)
		if err != nil {
			t.Fatal(err)
		}
		for name, at := range map[string]struct{ offset, stride, distance int64 }{
			"halves":          {count * table, row, table},
			"images in turns": {table, row, 2 * table},
			"rows in turns":   {row, 2 * row, 2 * table},
		} {
			f := Foreign{Handle: handle, Width: width, Height: height, Count: count, Stride: at.stride, Distance: at.distance}
			first, err1 := TableOver[uint64](d, f)
			f.Offset = at.offset
			second, err2 := TableOver[uint64](d, f)
			both := &gpu.SquaredTable[uint64, uint64]{Sum: first, Squares: second}
			if err := errors.Join(err1, err2, gpu.IntegrateSquaresInto(both, src, nil)); err != nil {
				t.Errorf("%s: %v", name, err)
				continue
			}
			for i, im := range images {
				want, err := boxsum.IntegrateSquares[uint64, uint64](im, nil)
				if err != nil {
					t.Fatal(err)
				}
				got, err := both.Download(i)
				if err == nil {
					err = errors.Join(fixture.SameTables(got.Sum, want.Sum), fixture.SameTables(got.Squares, want.Squares))
				}
				if err != nil {
					t.Errorf("%s, image %d: %v", name, i, err)
				}
			}
		}
		// The same on the host.
		buf := make([]uint64, 2*table/8)
		host := &boxsum.SquaredTable[uint64, uint64]{
			Sum:     &boxsum.Table[uint64]{Sums: buf[:table/8], Width: width, Height: height, Channels: 1},
			Squares: &boxsum.Table[uint64]{Sums: buf[table/8:], Width: width, Height: height, Channels: 1},
		}
		if err := boxsum.IntegrateSquaresInto(host, images[0], &boxsum.Options{On: d}); err != nil {
			t.Error(err)
		}
	})
}
