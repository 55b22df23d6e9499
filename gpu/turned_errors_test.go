package gpu

import (
	"errors"
	"testing"

	"github.com/boxsum/boxsum"
	"github.com/boxsum/boxsum/internal/fixture"
	"github.com/boxsum/boxsum/rotated"
	"github.com/boxsum/boxsum/tilted"
)

// TestTurnedErrors checks the errors of invalid calls.
func TestTurnedErrors(t *testing.T) {
	half := rotated.Rotation{A: 1, B: 2}
	eachDevice(t, func(t *testing.T, d *Device) {
		im := upload(t, d, fixture.Noise[uint8](1, 30, 20, 2, 0))
		floats := upload(t, d, fixture.Noise[float32](1, 30, 20, 2, 0))
		upright, err := IntegrateTilted[uint32](im, nil)
		if err != nil {
			t.Fatal(err)
		}
		along, err := IntegrateRotated[uint32](im, half, &Options{Kernels: Portable})
		if err != nil {
			t.Fatal(err)
		}
		other, err := NewTiltedTable[uint32](d, 30, 21, 2, 1)
		if err != nil {
			t.Fatal(err)
		}
		wide, err := NewRotatedTable[uint32](d, 31, 20, 2, 1, half)
		if err != nil {
			t.Fatal(err)
		}
		hostTilted, _ := tilted.NewTable[uint32](30, 21, 2)
		hostRotated, _ := rotated.NewTable[uint32](30, 20, 2, rotated.Rotation{A: 1, B: 3})
		sums := make([]uint32, 2)
		for name, err := range map[string]error{
			"no rotation":               second(IntegrateRotated[uint32](im, rotated.Rotation{A: 1}, nil)),
			"nothing over nothing":      second(IntegrateRotated[uint32](im, rotated.Rotation{}, nil)),
			"a term too large":          second(IntegrateRotated[uint32](im, rotated.Rotation{A: 1, B: 1<<30 + 1}, nil)),
			"no images":                 second(NewRotatedTable[uint32](d, 3, 3, 1, 0, half)),
			"a negative width":          second(NewRotatedTable[uint32](d, -3, 3, 1, 1, half)),
			"negative channels":         second(NewRotatedTable[uint32](d, 3, 3, -1, 1, half)),
			"a lattice too large":       second(NewRotatedTable[uint32](d, 1<<30, 1<<30, 1, 1, half)),
			"a negative height":         second(NewTiltedTable[uint32](d, 3, -3, 1, 1)),
			"tilted no images":          second(IntegrateTilted[uint32]((*Image[uint8])(nil), nil)),
			"rotated no images":         second(IntegrateRotated[uint32]((*Image[uint8])(nil), half, nil)),
			"another tilted size":       IntegrateTiltedInto(other, im, nil),
			"another rotated size":      IntegrateRotatedInto(wide, im, nil),
			"no tilted table":           IntegrateTiltedInto((*TiltedTable[uint32])(nil), im, nil),
			"no rotated table":          IntegrateRotatedInto(&RotatedTable[uint32]{}, im, nil),
			"no such tilted table":      second(upright.Download(1)),
			"no such rotated table":     second(along.Download(-1)),
			"into another size":         upright.DownloadInto(0, hostTilted),
			"into another rotation":     along.DownloadInto(0, hostRotated),
			"into nothing":              along.DownloadInto(0, nil),
			"into nothing tilted":       upright.DownloadInto(0, nil),
			"no room for sums":          upright.SumBoxes(0, sums[:1], []tilted.Box{{}}),
			"no room for sums either":   along.SumBoxes(0, sums[:1], []rotated.Box{{}}),
			"no room for a box outside": upright.SumBoxes(0, sums[:1], []tilted.Box{{X: 1, Y: 1, W: 5, H: 5}}),
			"boxes of no such table":    along.SumBoxes(7, sums, nil),
		} {
			if !errors.Is(err, boxsum.ErrInvalid) {
				t.Errorf("%s: %v", name, err)
			}
		}
		for name, err := range map[string]error{
			"tilted types":    second(IntegrateTilted[uint32](floats, nil)),
			"rotated types":   second(IntegrateRotated[uint32](floats, half, nil)),
			"squares":         second(IntegrateTiltedSquares[float32, uint64](floats, nil)),
			"tilted offset":   second(IntegrateTilted[float32](floats, &Options{Offset: 1})),
			"rotated offset":  second(IntegrateRotated[float32](floats, half, &Options{Offset: 1})),
			"tilted kernels":  second(IntegrateTilted[float32](floats, &Options{Kernels: Fast})),
			"rotated kernels": second(IntegrateRotated[float32](floats, half, &Options{Kernels: 17})),
		} {
			if !errors.Is(err, boxsum.ErrTypes) {
				t.Errorf("%s: %v", name, err)
			}
		}
		if err := errors.Join(upright.Close(), upright.Close(), along.Close(), along.Close()); err != nil {
			t.Error(err)
		}
		for name, err := range map[string]error{
			"tilted":        IntegrateTiltedInto(upright, im, nil),
			"rotated":       IntegrateRotatedInto(along, im, nil),
			"tilted boxes":  upright.SumBoxes(0, sums, []tilted.Box{{}}),
			"rotated boxes": along.SumBoxes(0, sums, []rotated.Box{{}}),
			"a download":    second(along.Download(0)),
		} {
			if !errors.Is(err, boxsum.ErrClosed) {
				t.Errorf("%s after Close: %v", name, err)
			}
		}
		if err := errors.Join((*TiltedTable[uint32])(nil).Close(), (*RotatedTable[uint32])(nil).Close()); err != nil {
			t.Error(err)
		}
	})
}

// TestTurnedEmpty checks that images without pixels have tables, whose boxes are empty.
func TestTurnedEmpty(t *testing.T) {
	eachDevice(t, func(t *testing.T, d *Device) {
		for _, size := range [][2]int{{0, 0}, {0, 7}, {7, 0}} {
			im := fixture.Noise[uint8](1, size[0], size[1], 2, 0)
			table, err := tilted.Integrate[uint32](im, &tilted.Options{On: d})
			if err != nil {
				t.Fatalf("%v: %v", size, err)
			}
			for i := range (size[0] + 1) * 2 {
				if table.Sums[size[1]*table.Stride+i] != 0 {
					t.Errorf("%v: the last row is not zero", size)
				}
			}
			along, err := IntegrateRotated[uint32](upload(t, d, im), rotated.Rotation{A: 1, B: 2}, nil)
			if err != nil {
				t.Fatalf("%v: %v", size, err)
			}
			sums := []uint32{1, 1}
			if err := along.SumBoxes(0, sums, []rotated.Box{{C0: -9, R0: -9, C1: 9, R1: 9}}); err != nil || sums[0] != 0 || sums[1] != 0 {
				t.Errorf("%v: %v, %v", size, sums, err)
			}
			if _, err := along.Download(0); err != nil {
				t.Errorf("%v: %v", size, err)
			}
		}
	})
}
