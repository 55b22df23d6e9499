package gpu

import (
	"errors"
	"slices"
	"testing"

	"pgregory.net/rapid"

	"github.com/boxsum/boxsum"
	"github.com/boxsum/boxsum/histogram"
	"github.com/boxsum/boxsum/tilted"
	"github.com/boxsum/boxsum/volume"
)

// What is said to be apart shares no byte, and what is in halves of one memory, or in
// turns of images or rows, is said to be apart.
func TestApart(t *testing.T) {
	draw := func(t *rapid.T, name string) stretch {
		s := stretch{from: rapid.Int64Range(0, 60).Draw(t, name)}
		s.rows = rows{rapid.Int64Range(0, 6).Draw(t, "bytes"), rapid.Int64Range(0, 3).Draw(t, "rows")}
		s.stride = s.bytes + rapid.Int64Range(0, 8).Draw(t, "gap")
		s.images = rapid.Int64Range(0, 3).Draw(t, "images")
		s.distance = max(s.image(), 0) + rapid.Int64Range(0, 20).Draw(t, "distance")
		return s
	}
	bytes := func(s stretch) map[int64]bool {
		all := map[int64]bool{}
		for i := range s.images {
			for y := range s.count {
				for x := range s.bytes {
					all[s.from+i*s.distance+y*s.stride+x] = true
				}
			}
		}
		return all
	}
	rapid.Check(t, func(t *rapid.T) {
		a, b := draw(t, "a"), draw(t, "b")
		if rapid.Bool().Draw(t, "in step") {
			b.stride, b.distance = max(a.stride, b.bytes), max(a.distance, b.distance)
		}
		shared := false
		for at := range bytes(a) {
			shared = shared || bytes(b)[at]
		}
		if got := a.apart(b); got != b.apart(a) || got && shared {
			t.Fatalf("%+v and %+v: %t, the other way %t, shared %t", a, b, got, b.apart(a), shared)
		}
	})
	a := stretch{from: 100, rows: rows{8, 3}, stride: 20, distance: 120, images: 4}
	for name, c := range map[string]struct {
		change func(*stretch)
		apart  bool
	}{
		"itself":           {func(*stretch) {}, false},
		"its last byte":    {func(s *stretch) { s.from += 3*120 + 2*20 + 7 }, false},
		"behind":           {func(s *stretch) { s.from += 3*120 + 2*20 + 8 }, true},
		"images in turns":  {func(s *stretch) { s.from += 60 }, true},
		"rows in turns":    {func(s *stretch) { s.from += 8 }, true},
		"rows that meet":   {func(s *stretch) { s.from += 7 }, false},
		"rows meet behind": {func(s *stretch) { s.from += 13 }, false},
		"every second row": {func(s *stretch) { s.from, s.stride, s.distance = s.from+10, 40, 240 }, true},
		"one among images": {func(s *stretch) { s.from, s.images = s.from+120+60, 1 }, true},
		"nothing":          {func(s *stretch) { s.count = 0 }, true},
	} {
		b := a
		if c.change(&b); a.apart(b) != c.apart {
			t.Errorf("%s: apart is %t", name, !c.apart)
		}
	}
	// Addresses of CUDA say where memory is, also in the middle of other memory.
	on := &Device{about: Info{Kind: CUDA}}
	at := func(m memory, offset int64) *array {
		return &array{device: on, element: u8, width: 50, height: 4, channels: 1, count: 1, at: batch{plane: plane{m, offset, 100}}}
	}
	if at(0x1000, 0).apart(at(0x1100, 0)) || at(0x1000, 0).apart(at(0x1100, 44)) || !at(0x1000, 0).apart(at(0x1200, 0)) {
		t.Error("addresses are taken for handles")
	}
}

// No call makes a table in the memory of its image or of another table, as on the CPU,
// and none touches that memory.
func TestOverlap(t *testing.T) {
	const width, height = 30, 20
	buf := make([]uint32, 4*(width+1)*(height+1))
	im := boxsum.Image[uint32]{Pix: buf, Stride: width + 1, Width: width, Height: height, Channels: 1}
	vol := volume.Volume[uint32]{Pix: buf, Width: 5, Height: 6, Depth: 7, Channels: 1}
	longs := make([]uint64, (width+1)*(height+1)+height*width)
	small := randomImage[uint8](1, width, height, 1, 0)
	eachDevice(t, func(t *testing.T, d *Device) {
		handle, err := d.Take(1 << 20)
		if err != nil {
			t.Fatal(err)
		}
		for _, from := range []int{0, 1, (height - 1) * (width + 1)} {
			for i := range buf {
				buf[i] = 7
			}
			table := &boxsum.Table[uint32]{Sums: buf[from:], Stride: width + 1, Width: width, Height: height, Channels: 1}
			leaning := &tilted.Table[uint32]{Sums: buf[from:], Width: width, Height: height, Channels: 1}
			counts := &histogram.Table[uint32]{Counts: buf[from:], Width: width, Height: height, Channels: 1, Bins: histogram.Bins{N: 2}}
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
			bytes, err7 := Upload(d, small, small)
			if err := errors.Join(err, err1, err2, err3, err4, err5, err6, err7); err != nil {
				t.Fatal(err)
			}
			shift := min(from, width*height)
			var piped, pipedSquares error
			for _, err := range PipelineInto(t.Context(), d, func(yield func(*boxsum.Table[uint32], boxsum.Image[uint32]) bool) { yield(table, im) }, nil) {
				piped = err
			}
			for _, err := range PipelineSquaresInto(t.Context(), d, func(yield func(*boxsum.SquaredTable[uint64, uint64], boxsum.Image[uint8]) bool) {
				yield(double(shift), small)
			}, nil) {
				pipedSquares = err
			}
			for name, err := range map[string]error{
				"on the CPU":          boxsum.IntegrateInto(table, im, nil),
				"host":                IntegrateHostInto(d, table, im, nil),
				"host squares":        IntegrateSquaresHostInto(d, double(shift), small, nil),
				"host, tilted":        IntegrateTiltedHostInto(d, leaning, im, nil),
				"host, histogram":     IntegrateHistogramHostInto(d, counts, im, nil),
				"host, volume":        IntegrateVolumeHostInto(d, solid, vol, nil),
				"pipeline":            piped,
				"pipeline of squares": pipedSquares,
				"device":              IntegrateInto(dst, src, nil),
				"device, tilted":      IntegrateTiltedInto(turned, src, nil),
				"device, volume":      IntegrateVolumeInto(sums, voxels, nil),
				"device squares":      IntegrateSquaresInto(&SquaredTable[uint64, uint64]{first, second}, bytes, nil),
			} {
				if !errors.Is(err, boxsum.ErrInvalid) {
					t.Errorf("%s, %d entries on: %v", name, from, err)
				}
			}
			if slices.ContainsFunc(buf, func(v uint32) bool { return v != 7 }) || slices.ContainsFunc(longs, func(v uint64) bool { return v != 0 }) {
				t.Fatalf("%d entries on: memory has changed", from)
			}
		}
	})
}

// Images and tables may be parts of one memory, one after another or in turns.
func TestPartsOfOneMemory(t *testing.T) {
	const width, height, count, row, table = 30, 20, 3, 8 * 31, 8 * 31 * 21
	images := []boxsum.Image[uint8]{}
	for i := range count {
		images = append(images, randomImage[uint8](uint64(i), width, height, 1, 0))
	}
	eachDevice(t, func(t *testing.T, d *Device) {
		src := upload(t, d, images...)
		handle, err := d.Take(2 * count * table)
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
			both := &SquaredTable[uint64, uint64]{first, second}
			if err := errors.Join(err1, err2, IntegrateSquaresInto(both, src, nil)); err != nil {
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
					err = errors.Join(sameBits(got.Sum, want.Sum), sameBits(got.Squares, want.Squares))
				}
				if err != nil {
					t.Errorf("%s, image %d: %v", name, i, err)
				}
			}
		}
		// And one on the host.
		buf := make([]uint64, 2*table/8)
		host := &boxsum.SquaredTable[uint64, uint64]{
			Sum:     &boxsum.Table[uint64]{Sums: buf[:table/8], Width: width, Height: height, Channels: 1},
			Squares: &boxsum.Table[uint64]{Sums: buf[table/8:], Width: width, Height: height, Channels: 1},
		}
		if err := IntegrateSquaresHostInto(d, host, images[0], nil); err != nil {
			t.Error(err)
		}
	})
}
