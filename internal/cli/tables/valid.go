package tables

import (
	"github.com/boxsum/boxsum"
	"github.com/boxsum/boxsum/internal/cli/console"
	"github.com/boxsum/boxsum/internal/cli/display"
	"github.com/boxsum/boxsum/internal/cli/imagefile"
)

// validFlags select the valid pixels.
type validFlags struct {
	NaN  string `name:"nan" enum:"keep,skip" default:"keep" help:"How to treat NaN: keep treats it as a value, which makes the boxes below it and to the right NaN; skip leaves such pixels out."`
	Mask string `placeholder:"FILE" help:"Leave out pixels where this image or .npy array of the same size is zero; one channel applies to all."`
}

// pick reports whether some pixels may be invalid.
func (f *validFlags) pick() bool { return f.NaN == "skip" || f.Mask != "" }

// check returns an error if an incompatible flag was given. The keys of others are flags.
func (f *validFlags) check(others map[string]bool) error {
	if !f.pick() {
		return nil
	}
	if f.Mask == console.Standard {
		return console.Usage("--mask cannot be standard input: name a file")
	}
	for _, other := range []string{"--volume", "--rotate and --rect", "--tilted", "--algorithm", "--table"} {
		if others[other] {
			return console.Usage("--nan skip and --mask are for upright tables of images: leave out %s", other)
		}
	}
	return nil
}

// valid reads the mask.
func (f *validFlags) valid(sh *console.Shell, how *imagefile.Flags) (*boxsum.Valid, error) {
	if !f.pick() {
		return nil, nil
	}
	valid := &boxsum.Valid{SkipNaN: f.NaN == "skip"}
	if f.Mask == "" {
		return valid, nil
	}
	var err error
	valid.Mask, err = imagefile.ReadMask(sh, f.Mask, how)
	return valid, err
}

// areaOf returns the area of a channel of the box, which is the number of valid pixels if some may
// be invalid.
func (a answer) areaOf(s stats) int64 {
	if s.area != nil {
		return *s.area
	}
	return a.area
}

// areaJSON returns the area for JSON: one number, or one per channel if they differ.
func (a answer) areaJSON() any {
	var areas []any
	for _, s := range a.channels {
		if s.area == nil {
			return a.area
		}
		areas = append(areas, *s.area)
	}
	return display.OneOrAll(areas)
}
