package gpu

import (
	"bytes"
	"errors"
	"fmt"
	"image"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"github.com/boxsum/boxsum"
	"github.com/boxsum/boxsum/gpu/internal/driver"
	"github.com/boxsum/boxsum/histogram"
	"github.com/boxsum/boxsum/internal/fixture"
	"github.com/boxsum/boxsum/rotated"
	"github.com/boxsum/boxsum/tilted"
	"github.com/boxsum/boxsum/volume"
)

// TestLittleMemoryLeft checks that work which needs memory besides its tables is cut until it fits:
// into batches, then into bands of an image, boxes into smaller launches. What cannot be cut
// returns an error with the needed and the available memory.
func TestLittleMemoryLeft(t *testing.T) {
	eachDevice(t, func(t *testing.T, real *Device) {
		im := fixture.Noise[uint8](3, 3000, 700, 1, 0)
		v := volume.Volume[uint8]{Pix: im.Pix, Width: 300, Height: 100, Depth: 70}
		bins := histogram.Bins{N: 4}
		const floor = 128 << 10 // two workspaces of the smallest size
		boxes := make([]image.Rectangle, 50_000)
		r := rand.New(rand.NewPCG(1, 2))
		for i := range boxes {
			x, y := r.IntN(im.Width), r.IntN(im.Height)
			boxes[i] = image.Rect(x, y, x+r.IntN(400), y+r.IntN(400))
		}
		want, err := boxsum.IntegrateSquares[uint32, uint64](im, nil)
		if err != nil {
			t.Fatal(err)
		}
		for name, test := range map[string]struct {
			prepare func(d *Device) (work func() error)
			cuts    bool
		}{
			"upright": {func(d *Device) func() error {
				src := upload(t, d, im)
				table, err := NewSquaredTable[uint32, uint64](d, im.Width, im.Height, 1, 1)
				return func() error {
					if err := errors.Join(err, IntegrateSquaresInto(table, src, nil)); err != nil {
						return err
					}
					got, err := table.Download(0)
					if err != nil {
						return err
					}
					return errors.Join(fixture.SameTables(got.Sum, want.Sum), fixture.SameTables(got.Squares, want.Squares))
				}
			}, true},
			"boxes": {func(d *Device) func() error {
				src := upload(t, d, im)
				table, err := Integrate[uint32](src, nil)
				return func() error {
					sums, expected := make([]uint32, len(boxes)), make([]uint32, len(boxes))
					if err := errors.Join(err, table.SumBoxes(0, sums, boxes), want.Sum.SumBoxes(expected, boxes)); err != nil {
						return err
					}
					for i := range sums {
						if sums[i] != expected[i] {
							t.Fatalf("box %v sums to %d, want %d", boxes[i], sums[i], expected[i])
						}
					}
					return nil
				}
			}, true},
			"histogram": {func(d *Device) func() error {
				small := fixture.Noise[uint8](4, 500, 300, 1, 0)
				src := upload(t, d, small)
				h, err := NewHistogram[uint8](d, 500, 300, 1, 1, bins)
				return func() error {
					if err := errors.Join(err, IntegrateHistogramInto(h, src, nil)); err != nil {
						return err
					}
					got, err := h.Download(0)
					if err != nil {
						return err
					}
					expected, err := histogram.Integrate(small, bins, nil)
					if err == nil && !slices.Equal(got.Counts, expected.Counts) {
						t.Error("another histogram")
					}
					return err
				}
			}, true},
			"volume": {func(d *Device) func() error {
				src, err1 := UploadVolume(d, v)
				table, err2 := NewVolumeTable[uint32](d, v.Width, v.Height, v.Depth, 1)
				return func() error {
					if err := errors.Join(err1, err2, IntegrateVolumeInto(table, src, nil)); err != nil {
						return err
					}
					got, err := table.Download()
					if err != nil {
						return err
					}
					expected, err := volume.Integrate[uint32](v, nil)
					return errors.Join(err, sameVolume(got, expected))
				}
			}, true},
			"rotated": {func(d *Device) func() error {
				src := upload(t, d, im)
				table, err := NewRotatedTable[uint32](d, im.Width, im.Height, 1, 1, rotated.Rotation{A: 1, B: 2})
				return func() error { return errors.Join(err, IntegrateRotatedInto(table, src, nil)) }
			}, false},
			"tilted": {func(d *Device) func() error {
				src := upload(t, d, im)
				table, err := NewTiltedTable[uint64](d, im.Width, im.Height, 1, 1)
				return func() error { return errors.Join(err, IntegrateTiltedInto(table, src, nil)) }
			}, false},
			"upload": {func(d *Device) func() error {
				return func() error {
					_, err := Upload(d, im)
					return err
				}
			}, false},
		} {
			d, s := strictly(t, real)
			work := test.prepare(d)
			if err := d.Wait(); err != nil {
				t.Fatal(err)
			}
			s.limit = s.used + floor
			err := work()
			switch {
			case test.cuts && err != nil:
				t.Errorf("%s: %v", name, err)
			case !test.cuts && (!errors.Is(err, boxsum.ErrMemory) || !strings.Contains(err.Error(), "bytes are free")):
				t.Errorf("%s, which cannot be cut: %v", name, err)
			}
			s.limit = 0
			if err := errors.Join(d.Close(), s.left()); err != nil {
				t.Errorf("%s: %v", name, err)
			}
		}
	})
}

// TestLittleMemoryTilted checks that tilted tables of sums and of squares are computed one after
// the other if both do not fit.
func TestLittleMemoryTilted(t *testing.T) {
	eachDevice(t, func(t *testing.T, real *Device) {
		im := fixture.Noise[int16](3, 300, 200, 1, 0)
		want, err := tilted.IntegrateSquares[int64, uint64](im, nil)
		if err != nil {
			t.Fatal(err)
		}
		worked, failed := 0, 0
		for limit := int64(2 << 20); limit > 100<<10; limit -= 200 << 10 {
			d, s := strictly(t, real)
			s.limit = limit
			got, err := tilted.IntegrateSquares[int64, uint64](im, &tilted.Options{On: d})
			switch {
			case errors.Is(err, boxsum.ErrMemory):
				failed++
			case err != nil:
				t.Errorf("%d bytes: %v", limit, err)
			case failed > 0:
				t.Errorf("%d bytes are enough where more were not", limit)
			default:
				worked++
				if !sameTilted(got.Sum, want.Sum) || !sameTilted(got.Squares, want.Squares) {
					t.Errorf("%d bytes: another table", limit)
				}
			}
			if err := errors.Join(d.Close(), s.left()); err != nil {
				t.Errorf("%d bytes: %v", limit, err)
			}
		}
		// Both tables need a megabyte; one of them with the image and its carries needs less.
		if worked < 5 || failed == 0 {
			t.Errorf("%d limits were enough and %d too little", worked, failed)
		}
	})
}

func sameTilted[S boxsum.Sum](got, want *tilted.Table[S]) bool {
	plane := func(t *tilted.Table[S]) *boxsum.Table[S] {
		return &boxsum.Table[S]{Sums: t.Sums, Stride: t.Stride, Width: t.Width, Height: t.Height, Channels: t.Channels}
	}
	return fixture.SameTables(plane(got), plane(want)) == nil
}

// noHostMemory is a backend without page-locked memory after the first few allocations.
type noHostMemory struct {
	driver.Backend
	left int
}

func (b *noHostMemory) AllocHost(bytes int64) (driver.HostMemory, error) {
	if b.left--; b.left < 0 {
		return driver.HostMemory{}, fmt.Errorf("page-locked %w", boxsum.ErrMemory)
	}
	return b.Backend.AllocHost(bytes)
}

// TestLargeCopies checks that images which are copied in parts, through page-locked memory or not,
// arrive as they are, and that the gaps between rows on the host are left alone.
func TestLargeCopies(t *testing.T) {
	eachDevice(t, func(t *testing.T, d *Device) {
		real := d.inner.Backend
		defer func() { d.inner.Backend = real }()
		for _, lanes := range []int{0, 1, 100} {
			d.inner.Backend = &noHostMemory{real, lanes}
			for _, size := range [][3]int{{3001, 1403, 0}, {3001, 1403, 13}, {1 << 20, 3, 1}, {3 << 20, 1, 0}, {3, 1 << 20, 2}} {
				im := fixture.Noise[uint8](7, size[0], size[1], 1, size[2])
				src := upload(t, d, im)
				got := fixture.Noise[uint8](8, size[0], size[1], 1, size[2])
				want := slices.Clone(got.Pix)
				for y := range im.Height {
					copy(want[y*im.Stride:], im.Row(y))
				}
				if err := src.DownloadInto(0, got); err != nil {
					t.Fatal(err)
				}
				if !bytes.Equal(got.Pix, want) {
					t.Errorf("%v with page-locked memory for %d parts: the image differs", size, lanes)
				}
				if err := src.Close(); err != nil {
					t.Fatal(err)
				}
			}
		}
	})
}
