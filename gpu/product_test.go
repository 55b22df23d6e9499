package gpu

import (
	"context"
	"errors"
	"slices"
	"testing"

	"github.com/boxsum/boxsum"
	"github.com/boxsum/boxsum/histogram"
	"github.com/boxsum/boxsum/internal/fixture"
	"github.com/boxsum/boxsum/rotated"
	"github.com/boxsum/boxsum/tilted"
	"github.com/boxsum/boxsum/volume"
)

// TestSquaresBesideSums checks squares together with sums for tilted tables and volumes, on the
// device and on the host, in new and in existing tables.
func TestSquaresBesideSums(t *testing.T) {
	im := fixture.Noise[uint8](3, 70, 40, 2, 3)
	leaning, err := tilted.IntegrateSquares[uint32, uint64](im, nil)
	if err != nil {
		t.Fatal(err)
	}
	src := randomVolume[uint8](solidShape{width: 20, height: 11, depth: 6, channels: 1, pad: 2})
	solid, err := volume.IntegrateSquares[uint32, uint64](src, nil)
	if err != nil {
		t.Fatal(err)
	}
	sameTilted := func(got *tilted.SquaredTable[uint32, uint64], err error) error {
		if err != nil {
			return err
		}
		for y := range im.Height + 1 {
			for x := range im.Width + 1 {
				for c := range im.Channels {
					if got.Sum.At(x, y, c) != leaning.Sum.At(x, y, c) || got.Squares.At(x, y, c) != leaning.Squares.At(x, y, c) {
						return errors.New("an entry differs")
					}
				}
			}
		}
		return nil
	}
	sameSolid := func(got *volume.SquaredTable[uint32, uint64], err error) error {
		if err != nil {
			return err
		}
		return errors.Join(sameVolume(got.Sum, solid.Sum), sameVolume(got.Squares, solid.Squares))
	}
	eachDevice(t, func(t *testing.T, d *Device) {
		if err := sameTilted(tilted.IntegrateSquares[uint32, uint64](im, &tilted.Options{On: d})); err != nil {
			t.Errorf("tilted from the host: %v", err)
		}
		into, err := tilted.NewSquaredTable[uint32, uint64](im.Width, im.Height, im.Channels)
		if err := sameTilted(into, errors.Join(err, tilted.IntegrateSquaresInto(into, im, &tilted.Options{On: d}))); err != nil {
			t.Errorf("tilted into a table of the host: %v", err)
		}
		table, err := IntegrateTiltedSquares[uint32, uint64](upload(t, d, im), nil)
		if err != nil {
			t.Fatal(err)
		}
		if err := sameTilted(table.Download(0)); err != nil {
			t.Errorf("tilted on the device: %v", err)
		}
		vol, err := UploadVolume(d, src)
		if err != nil {
			t.Fatal(err)
		}
		cube, err := IntegrateVolumeSquares[uint32, uint64](vol, nil)
		if err != nil {
			t.Fatal(err)
		}
		if err := sameSolid(cube.Download()); err != nil {
			t.Errorf("a volume on the device: %v", err)
		}
		again, err := NewSquaredVolumeTable[uint32, uint64](d, src.Width, src.Height, src.Depth, 1)
		if err := errors.Join(err, IntegrateVolumeSquaresInto(again, vol, nil)); err != nil {
			t.Fatal(err)
		}
		if err := sameSolid(again.Download()); err != nil {
			t.Errorf("a volume into tables: %v", err)
		}
		host, err := volume.NewSquaredTable[uint32, uint64](src.Width, src.Height, src.Depth, 1)
		if err := sameSolid(host, errors.Join(err, volume.IntegrateSquaresInto(host, src, &volume.Options{On: d, BandRows: 4}))); err != nil {
			t.Errorf("a volume into tables of the host: %v", err)
		}
		if err := errors.Join(table.Close(), cube.Close(), again.Close(), vol.Close()); err != nil {
			t.Error(err)
		}
	})
}

// TestRotatedHostInto checks that a rotated table on the host is filled with its own rotation.
func TestRotatedHostInto(t *testing.T) {
	im, rot := fixture.Noise[uint8](3, 50, 30, 1, 0), rotated.Rotation{A: 2, B: 5}
	want, err := rotated.Integrate[uint32](im, rot, nil)
	if err != nil {
		t.Fatal(err)
	}
	eachDevice(t, func(t *testing.T, d *Device) {
		got, err := rotated.NewTable[uint32](im.Width, im.Height, 1, rot)
		if err := errors.Join(err, rotated.IntegrateInto(got, im, &rotated.Options{On: d})); err != nil {
			t.Fatal(err)
		}
		bounds := want.Bounds()
		for c := bounds.C0; c < bounds.C1; c += 7 {
			for r := bounds.R0; r < bounds.R1; r += 5 {
				box := rotated.Box{C0: bounds.C0, R0: bounds.R0, C1: c, R1: r}
				if got.Sum(box) != want.Sum(box) {
					t.Fatalf("%v sums to %d, want %d", box, got.Sum(box), want.Sum(box))
				}
			}
		}
	})
}

// TestContextAndProgress checks that a context cancels calls before they begin and between pieces,
// and that progress increases from piece to piece up to 1.
func TestContextAndProgress(t *testing.T) {
	// More pieces than slots can have completed before the first of them is reported.
	im := fixture.Noise[uint8](3, 50, 100, 1, 0)
	src := randomVolume[uint8](solidShape{width: 20, height: 11, depth: 100, channels: 1})
	bins := histogram.Bins{N: 4}
	eachDevice(t, func(t *testing.T, d *Device) {
		calls := map[string]func(*boxsum.Options) error{
			"image": func(o *boxsum.Options) error { return second(boxsum.Integrate[uint32](im, boxsumOn(d, o))) },
			"squares": func(o *boxsum.Options) error {
				return second(boxsum.IntegrateSquares[uint32, uint64](im, boxsumOn(d, o)))
			},
			"volume":    func(o *boxsum.Options) error { return second(volume.Integrate[uint32](src, boxsumOn(d, o))) },
			"histogram": func(o *boxsum.Options) error { return second(histogram.Integrate(im, bins, histogramOn(d, o))) },
			"tilted":    func(o *boxsum.Options) error { return second(tilted.Integrate[uint32](im, tiltedOn(d, o))) },
			"rotated": func(o *boxsum.Options) error {
				return second(rotated.Integrate[uint32](im, rotated.Rotation{A: 1, B: 2}, rotatedOn(d, o)))
			},
		}
		for name, call := range calls {
			var told []float64
			ctx, cancel := context.WithCancel(t.Context())
			if err := call(&boxsum.Options{BandRows: 5, Context: ctx, Progress: func(done float64) { told = append(told, done) }}); err != nil {
				t.Errorf("%s: %v", name, err)
			}
			if len(told) == 0 || told[len(told)-1] != 1 || !slices.IsSorted(told) || (name == "image" && len(told) != 20) {
				t.Errorf("%s: progress is %v", name, told)
			}
			cancel()
			if err := call(&boxsum.Options{Context: ctx}); !errors.Is(err, context.Canceled) {
				t.Errorf("%s, canceled before: %v", name, err)
			}
		}
		for _, name := range []string{"image", "squares", "volume", "histogram"} {
			ctx, cancel := context.WithCancel(t.Context())
			if err := calls[name](&boxsum.Options{BandRows: 1, Context: ctx, Progress: func(float64) { cancel() }}); !errors.Is(err, context.Canceled) {
				t.Errorf("%s, canceled by its first piece: %v", name, err)
			}
		}
		ctx, cancel := context.WithCancel(t.Context())
		cancel()
		if _, err := Integrate[uint32](upload(t, d, im), &Options{Context: ctx}); !errors.Is(err, context.Canceled) {
			t.Errorf("on the device: %v", err)
		}
		if err := calls["image"](nil); err != nil {
			t.Errorf("after all that: %v", err)
		}
	})
}
