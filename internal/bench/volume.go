package bench

import (
	"fmt"
	"io"
	"slices"
	"strings"

	"github.com/boxsum/boxsum"
	"github.com/boxsum/boxsum/volume"
)

const (
	// volumeSuffix follows the types of the table of a volume, and volumeTypes
	// is what the word "volume" stands for in a list of types.
	volumeSuffix = "-volume"
	volumeTypes  = "u8:u32" + volumeSuffix

	// VolumeSizes is what tables of volumes are measured at by default.
	VolumeSizes = "128x128x128,256x256x256,512x512x512"
)

// volume says whether the table of a case is that of a volume.
func (c Case) volume() bool { return strings.HasSuffix(c.Types, volumeSuffix) }

// volumeOf is the table of a volume of a pair of types.
func volumeOf[P boxsum.Pixel, S boxsum.Sum, A accumulator](types string) kind {
	return kind{types: types + volumeSuffix, make: newVolume[P, S, A], device: newDeviceVolume[P, S, A]}
}

// matchSizes gives volumes sizes of their own where there are none, and says so
// where sizes and cases do not go together.
func (cfg *Config) matchSizes() (err error) {
	volumes := slices.ContainsFunc(cfg.Cases, Case.volume)
	if cfg.Sizes == nil && volumes {
		if cfg.Sizes, err = ParseSizes(VolumeSizes); err != nil {
			return err
		}
	}
	for _, c := range cfg.Cases {
		for _, size := range cfg.Sizes {
			if c.volume() && size.Depth == 0 {
				return fmt.Errorf("bench: %v takes sizes such as 256x256x256, and %v is of an image", c, size)
			}
			if !c.volume() && size.Depth != 0 {
				return fmt.Errorf("bench: %v is a table of an image, and %v is the size of a volume: measure types such as volume there", c, size)
			}
		}
	}
	return nil
}

func newVolume[P boxsum.Pixel, S boxsum.Sum, A accumulator](size Size, channels int) (*work, error) {
	img, err := randomImage[P, S](Size{Name: size.Name, Width: size.Width, Height: size.Height * size.Depth}, channels)
	if err != nil {
		return nil, err
	}
	src := volume.Volume[P]{Pix: img.Pix, Stride: img.Stride, Width: size.Width, Height: size.Height, Depth: size.Depth, Channels: channels}
	sums, err := volume.NewTable[S](size.Width, size.Height, size.Depth, channels)
	if err != nil {
		return nil, err
	}
	// All slices one under another.
	entries := boxsum.View[S]{Sums: sums.Sums, Stride: sums.Stride, Width: size.Width + 1, Height: (size.Height + 1) * (size.Depth + 1), Channels: channels}
	return &work{
		pixels: bytesOf(img.Pix),
		tables: []table{newTable(entries, func() error { return verifyVolume[A](sums, src) },
			func(r io.Reader, inclusive bool) error { return equalVolume(r, sums, inclusive) })},
		run: func(opt *boxsum.Options) error { return volume.IntegrateInto(sums, src, opt) },
	}, nil
}

// verifyVolume compares every entry with a reference that shares nothing with
// the library: a running sum along the row, added to what the plane held above,
// and that to what the entry held in the slice before.
func verifyVolume[A accumulator, S boxsum.Sum, P boxsum.Pixel](t *volume.Table[S], src volume.Volume[P]) error {
	c, n := t.Channels, t.Width*t.Channels
	before, plane, row := make([]A, t.Height*n), make([]A, n), make([]A, c)
	zeros := func(z, y int, entries []S) error {
		for i, got := range entries {
			if got != 0 {
				return fmt.Errorf("slice %d: %w", z, differs("the reference", i, y, c, got, S(0)))
			}
		}
		return nil
	}
	for y := range t.Height + 1 {
		if err := zeros(0, y, t.Slice(0).Row(y)); err != nil {
			return err
		}
	}
	for z := range t.Depth {
		entries, pixels := t.Slice(z+1), src.Slice(z)
		if err := zeros(z+1, 0, entries.Row(0)); err != nil {
			return err
		}
		clear(plane)
		for y := range t.Height {
			sums := entries.Row(y + 1)
			if err := zeros(z+1, y+1, sums[:c]); err != nil {
				return err
			}
			clear(row)
			for i, p := range pixels.Row(y) {
				row[i%c] += A(p)
				plane[i] += row[i%c]
				before[y*n+i] += plane[i]
				if got, want := sums[c+i], S(before[y*n+i]); got != want {
					return fmt.Errorf("slice %d: %w", z+1, differs("the reference", c+i, y+1, c, got, want))
				}
			}
		}
	}
	return nil
}

// equalVolume compares every entry with those that r yields slice by slice.
func equalVolume[S boxsum.Sum](r io.Reader, t *volume.Table[S], inclusive bool) error {
	view, depth := t.Slice, t.Depth+1
	if inclusive {
		view, depth = t.Inclusive, t.Depth
	}
	var first error
	for z := range depth {
		if err := equal[S](r, view(z)); err != nil && first == nil {
			first = fmt.Errorf("slice %d: %w", z, err)
		}
	}
	return first
}
