package transfer

import (
	"errors"
	"testing"

	"github.com/boxsum/boxsum"
	"github.com/boxsum/boxsum/gpu/internal/devmem"
	"github.com/boxsum/boxsum/gpu/internal/devtest"
	"github.com/boxsum/boxsum/gpu/internal/driver"
	"github.com/boxsum/boxsum/gpu/internal/method"
	"github.com/boxsum/boxsum/internal/raster"
)

// TestLargePoolsAreFreed checks that slots which take too much memory are not kept.
func TestLargePoolsAreFreed(t *testing.T) {
	devtest.Each(t, func(t *testing.T, m *devmem.Device) {
		d := NewDevice(m)
		for _, bytes := range []int64{keptBytes, keptBytes + 1} {
			on, err := d.Backend.NewStream()
			if err != nil {
				t.Fatal(err)
			}
			p := &pool{device: d, kind: forPieces, streams: []driver.Stream{on}, slots: []*slot{{sides: [3]staging{{room: bytes}}}}}
			if err := keepPieces(p, nil); err != nil {
				t.Error(err)
			}
			spare := d.takeSpare(forPieces)
			if kept := spare == p; kept != (bytes == keptBytes) {
				t.Errorf("%d bytes: kept is %t", bytes, kept)
			}
			if spare != nil {
				if err := spare.free(); err != nil {
					t.Error(err)
				}
			}
			if p.streams != nil {
				t.Error("the streams are left")
			}
		}
	})
}

// TestBandsOfShortRows checks that bands stay within their limits of memory, however short their
// rows are.
func TestBandsOfShortRows(t *testing.T) {
	for _, width := range []int{1, 3, 40, 300, 5000, 1 << 20} {
		for _, height := range []int{1, 1000, 2_000_000, 1 << 30} {
			for _, square := range []raster.Type{0, raster.U64} {
				w := &Work{Units: height, Job: method.Job{Pixel: raster.U8, Sum: raster.U32, Square: square, Channels: 1, Width: width, Height: height, Count: 1}}
				rows, slots := w.sizes()
				total := int64(0)
				for i := range w.Sides {
					if band := w.array(i, rows); band.Element != 0 {
						bytes, err := band.Layout()
						if err != nil {
							t.Fatal(err)
						}
						total += bytes
					}
				}
				if total *= int64(slots); rows < 1 || slots < 2 || rows > 1 && total > 300<<20 {
					t.Errorf("%d×%d: %d slots of %d rows take %d bytes", width, height, slots, rows, total)
				}
			}
		}
	}
}

// TestPoolsAreBounded checks that pools do not allocate so much that the host would suffer.
func TestPoolsAreBounded(t *testing.T) {
	devtest.Each(t, func(t *testing.T, d *devmem.Device) {
		p, err := takePool(NewDevice(d), forImages, 2)
		if err != nil {
			t.Fatal(err)
		}
		w := &Work{Units: 20_000, Job: method.Job{Device: d, Pixel: raster.U8, Sum: raster.U32, Channels: 1, Width: 40_000, Height: 20_000, Count: 1}}
		if err := p.fit(p.slots[0], w, w.Units, false, poolBytes); !errors.Is(err, boxsum.ErrMemory) || p.bytes() != 0 {
			t.Errorf("gigabytes for one of two slots: %v, %d bytes", err, p.bytes())
		}
		if err := p.free(); err != nil {
			t.Error(err)
		}
	})
}
