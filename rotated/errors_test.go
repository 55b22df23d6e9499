package rotated_test

import (
	"errors"
	"math"
	"strings"
	"testing"

	"github.com/boxsum/boxsum"
	"github.com/boxsum/boxsum/rotated"
)

func TestErrors(t *testing.T) {
	half := rotated.Rotation{A: 1, B: 2}
	good := boxsum.Image[uint8]{Pix: make([]uint8, 12), Width: 4, Height: 3}
	table, err := rotated.Integrate[uint32](good, half, nil)
	if err != nil {
		t.Fatal(err)
	}
	integrate := func(img boxsum.Image[uint8], rot rotated.Rotation, opt *rotated.Options) error {
		_, err := rotated.Integrate[uint32](img, rot, opt)
		return err
	}
	lattice := func(width, height int) error {
		_, err := rotated.NewLattice(width, height, half)
		return err
	}
	_, types := rotated.Integrate[uint32](boxsum.Image[int32]{}, half, nil)
	_, channels := rotated.NewTable[uint32](4, 3, -1, half)
	_, memory := rotated.NewTable[uint64](1<<22, 1<<22, 1, half)
	_, many := rotated.NewTable[uint64](4, 3, math.MaxInt, half)
	for _, test := range []struct {
		name string
		err  error
		is   error
	}{
		{"0/0", integrate(good, rotated.Rotation{}, nil), boxsum.ErrInvalid},
		{"1/0", integrate(good, rotated.Rotation{A: 1}, nil), boxsum.ErrInvalid},
		{"a large term", integrate(good, rotated.Rotation{A: math.MaxInt, B: 2}, nil), boxsum.ErrInvalid},
		{"the least term", integrate(good, rotated.Rotation{A: math.MinInt, B: 3}, nil), boxsum.ErrInvalid},
		{"short", integrate(boxsum.Image[uint8]{Pix: make([]uint8, 11), Width: 4, Height: 3}, half, nil), boxsum.ErrInvalid},
		{"negative width", integrate(boxsum.Image[uint8]{Width: -4, Height: 3}, half, nil), boxsum.ErrInvalid},
		{"negative stride", integrate(boxsum.Image[uint8]{Pix: good.Pix, Stride: -4, Width: 4, Height: 3}, half, nil), boxsum.ErrInvalid},
		{"short stride", integrate(boxsum.Image[uint8]{Pix: good.Pix, Stride: 3, Width: 4, Height: 3}, half, nil), boxsum.ErrInvalid},
		{"huge stride", integrate(boxsum.Image[uint8]{Pix: good.Pix, Stride: math.MaxInt, Width: 4, Height: 3}, half, nil), boxsum.ErrInvalid},
		{"negative channels", integrate(boxsum.Image[uint8]{Pix: good.Pix, Width: 4, Height: 3, Channels: -1}, half, nil), boxsum.ErrInvalid},
		{"workers", integrate(good, half, &rotated.Options{Workers: -1}), boxsum.ErrInvalid},
		{"types", types, boxsum.ErrTypes},
		{"channels", channels, boxsum.ErrInvalid},
		{"memory", memory, boxsum.ErrMemory},
		{"many channels", many, boxsum.ErrInvalid},
		{"wide", lattice(1<<30+1, 1), boxsum.ErrInvalid},
		{"tall", lattice(1, math.MaxInt), boxsum.ErrInvalid},
		{"negative", lattice(-1, 1), boxsum.ErrInvalid},
		{"other size", rotated.IntegrateInto(table, boxsum.Image[uint8]{Pix: make([]uint8, 12), Width: 3, Height: 4}, nil), boxsum.ErrInvalid},
		{"no table", rotated.IntegrateInto[uint32](nil, good, nil), boxsum.ErrInvalid},
		{"zero table", rotated.IntegrateInto(new(rotated.Table[uint32]), good, nil), boxsum.ErrInvalid},
	} {
		if test.err == nil || test.is != nil && !errors.Is(test.err, test.is) || strings.HasPrefix(test.err.Error(), "boxsum: ") {
			t.Errorf("%s: %v", test.name, test.err)
		}
	}
}

func TestEmptyImages(t *testing.T) {
	for _, size := range [][2]int{{0, 0}, {5, 0}, {0, 5}} {
		table, err := rotated.Integrate[uint32](boxsum.Image[uint8]{Width: size[0], Height: size[1]}, rotated.Rotation{A: 1, B: 2}, nil)
		if err != nil {
			t.Fatal(err)
		}
		all := rotated.Box{C0: -9, R0: -9, C1: 9, R1: 9}
		if table.Bounds() != (rotated.Box{}) || table.Sum(all) != 0 || table.Area(all) != 0 || table.Mean(all, 0) != 0 {
			t.Errorf("%v is not empty", size)
		}
	}
}
