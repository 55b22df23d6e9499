package gpu

import (
	"errors"
	"testing"

	"github.com/boxsum/boxsum"
	"github.com/boxsum/boxsum/volume"
)

// TestCornerOfHostTable checks that only the corner is written if a page-locked table holds a
// smaller one in its corner.
func TestCornerOfHostTable(t *testing.T) {
	const width, height, guard = 60, 40, 7
	eachDevice(t, func(t *testing.T, d *Device) {
		whole, release, err := NewHostTable[uint32](d, width, height, 1)
		if err != nil {
			t.Fatal(err)
		}
		for _, size := range [][2]int{{50, 30}, {width, 30}, {50, height}, {1, 1}, {0, height}, {width, height}} {
			for i := range whole.Sums {
				whole.Sums[i] = guard
			}
			f := goodFrame(t, 1, size[0], size[1], 1, 0)
			part := &boxsum.Table[uint32]{Sums: whole.Sums, Stride: whole.Stride, Width: size[0], Height: size[1], Channels: 1}
			for got, err := range PipelineInto(t.Context(), d, func(yield func(*boxsum.Table[uint32], boxsum.Image[uint8]) bool) { yield(part, f.image) }, nil) {
				if err := f.check(got, err); err != nil {
					t.Errorf("%v: %v", size, err)
				}
			}
			for y := range height + 1 {
				for x := range width + 1 {
					if (x > size[0] || y > size[1]) && whole.At(x, y, 0) != guard {
						t.Fatalf("%v: entry (%d, %d) outside of the table is %d", size, x, y, whole.At(x, y, 0))
					}
				}
			}
		}
		if err := release(); err != nil {
			t.Error(err)
		}
	})
}

// TestSpareHostMemory checks that cached page-locked memory is freed if it is needed, whoever needs
// it.
func TestSpareHostMemory(t *testing.T) {
	small, large := goodFrame(t, 1, 40, 30, 1, 0), goodFrame(t, 2, 80, 60, 1, 0)
	viaPipeline := func(f frame) func(d *Device) error {
		return func(d *Device) error {
			return checkPipeline(d, []frame{f}, &PipelineOptions{InFlight: 1, Kernels: Portable})
		}
	}
	viaBands := func(f frame) func(d *Device) error {
		return func(d *Device) error {
			got, err := boxsum.Integrate[uint32](f.image, &boxsum.Options{On: d, Level: portable, BandRows: f.image.Height})
			return f.check(got, err)
		}
	}
	inVolume := func(d *Device) error {
		src := randomVolume[uint8](solidShape{width: 40, height: 20, depth: 10, channels: 1})
		_, err := volume.Integrate[uint32](src, &volume.Options{On: d, Level: portable, BandRows: 10})
		return err
	}
	inSlots := func(d *Device) error {
		err := viaPipeline(large)(d)
		if err == nil && roomOfImages(d) == 0 {
			err = errors.New("the image went in bands")
		}
		return err
	}
	page := func(d *Device) error {
		_, release, err := NewHostTable[uint32](d, 80, 60, 1)
		if err != nil {
			return err
		}
		return release()
	}
	eachDevice(t, func(t *testing.T, real *Device) {
		for _, c := range []struct {
			name        string
			first, then func(d *Device) error
		}{
			{"image after pipeline", viaPipeline(small), page},
			{"image after bands", viaBands(small), page},
			{"pipeline after bands", viaBands(small), inSlots},
			{"bands after pipeline", viaPipeline(small), viaBands(large)},
			{"volume after pipeline", viaPipeline(small), inVolume},
		} {
			// The memory of a run alone must be enough.
			alone, s := strictly(t, real)
			if err := c.then(alone); err != nil {
				t.Fatal(err)
			}
			need := s.mostLocked
			if err := errors.Join(alone.Close(), s.left()); err != nil {
				t.Fatal(err)
			}
			d, s := strictly(t, real)
			err := c.first(d)
			s.hostLimit = max(s.locked, need)
			if err := errors.Join(err, c.then(d)); err != nil {
				t.Errorf("%s: %v", c.name, err)
			}
			if err := errors.Join(d.Close(), s.left()); err != nil {
				t.Errorf("%s: %v", c.name, err)
			}
		}
	})
}

// roomOfImages returns the device memory that is kept for the next pipeline.
func roomOfImages(d *Device) int64 { return d.slots.Kept() }
