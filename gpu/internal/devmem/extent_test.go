package devmem

import (
	"testing"

	"github.com/boxsum/boxsum/gpu/internal/driver"
	"github.com/boxsum/boxsum/internal/raster"
	"pgregory.net/rapid"
)

// TestOverlaps checks that extents reported as disjoint share no byte, and that halves of one
// memory and alternating images or rows are disjoint.
func TestOverlaps(t *testing.T) {
	draw := func(t *rapid.T, name string) Extent {
		s := Extent{From: rapid.Int64Range(0, 60).Draw(t, name)}
		s.Rows = driver.Rows{Bytes: rapid.Int64Range(0, 6).Draw(t, "bytes"), Count: rapid.Int64Range(0, 3).Draw(t, "rows")}
		s.Stride = s.Bytes + rapid.Int64Range(0, 8).Draw(t, "gap")
		s.Images = rapid.Int64Range(0, 3).Draw(t, "images")
		s.Distance = max(s.image(), 0) + rapid.Int64Range(0, 20).Draw(t, "distance")
		return s
	}
	bytes := func(s Extent) map[int64]bool {
		all := map[int64]bool{}
		for i := range s.Images {
			for y := range s.Count {
				for x := range s.Bytes {
					all[s.From+i*s.Distance+y*s.Stride+x] = true
				}
			}
		}
		return all
	}
	rapid.Check(t, func(t *rapid.T) {
		a, b := draw(t, "a"), draw(t, "b")
		if rapid.Bool().Draw(t, "in step") {
			b.Stride, b.Distance = max(a.Stride, b.Bytes), max(a.Distance, b.Distance)
		}
		shared := false
		for at := range bytes(a) {
			shared = shared || bytes(b)[at]
		}
		if got := a.Overlaps(b); got != b.Overlaps(a) || !got && shared {
			t.Fatalf("%+v and %+v: %t, the other way %t, shared %t", a, b, got, b.Overlaps(a), shared)
		}
	})
	a := Extent{From: 100, Rows: driver.Rows{Bytes: 8, Count: 3}, Stride: 20, Distance: 120, Images: 4}
	for name, c := range map[string]struct {
		change func(*Extent)
		apart  bool
	}{
		"itself":           {func(*Extent) {}, false},
		"its last byte":    {func(s *Extent) { s.From += 3*120 + 2*20 + 7 }, false},
		"behind":           {func(s *Extent) { s.From += 3*120 + 2*20 + 8 }, true},
		"images in turns":  {func(s *Extent) { s.From += 60 }, true},
		"rows in turns":    {func(s *Extent) { s.From += 8 }, true},
		"rows that meet":   {func(s *Extent) { s.From += 7 }, false},
		"rows meet behind": {func(s *Extent) { s.From += 13 }, false},
		"every second row": {func(s *Extent) { s.From, s.Stride, s.Distance = s.From+10, 40, 240 }, true},
		"one among images": {func(s *Extent) { s.From, s.Images = s.From+120+60, 1 }, true},
		"nothing":          {func(s *Extent) { s.Count = 0 }, true},
	} {
		b := a
		if c.change(&b); a.Overlaps(b) == c.apart {
			t.Errorf("%s: apart is %t", name, !c.apart)
		}
	}
	// CUDA addresses locate memory even if it lies inside other memory.
	on := &Device{About: driver.Info{Kind: driver.CUDA}}
	at := func(m driver.Memory, offset int64) *Array {
		return &Array{Device: on, Element: raster.U8, Width: 50, Height: 4, Channels: 1, Count: 1, At: Batch{Plane: driver.Plane{Memory: m, Offset: offset, Stride: 100}}}
	}
	if !at(0x1000, 0).Overlaps(at(0x1100, 0)) || !at(0x1000, 0).Overlaps(at(0x1100, 44)) || at(0x1000, 0).Overlaps(at(0x1200, 0)) {
		t.Error("addresses are taken for handles")
	}
}
