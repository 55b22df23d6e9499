package bench

import (
	"fmt"
	"io"
	"slices"
	"strings"

	"github.com/boxsum/boxsum/lab/measure"
	"github.com/boxsum/boxsum/papers"
	"github.com/boxsum/boxsum/rotated"
)

// An AlgorithmCase is a published algorithm in one precision.
type AlgorithmCase struct {
	*papers.Algorithm
	Precision papers.Precision
	Rotation  rotated.Rotation // of a rotated table
}

// String returns the case in the form that [ParseAlgorithms] parses.
func (a AlgorithmCase) String() string {
	name := a.Name
	if a.Kind == papers.Rotated {
		name += measure.RotatedMark + a.Rotation.String()
	}
	return name + ":" + a.Precision.String()
}

// table returns the kind of table that the algorithm makes.
func (a AlgorithmCase) table() Case {
	c := Case{Types: a.Precision.Type + ":" + a.Precision.Type, Channels: a.Precision.Channels}
	switch a.Kind {
	case papers.Tilted:
		c.Types += measure.TiltedSuffix
	case papers.Rotated:
		c.Types += measure.RotatedMark + a.Rotation.String()
	}
	return c
}

// ParseAlgorithms parses a comma-separated list of algorithms of package papers. Each is a name
// such as intimg/gpu-v2, optionally followed by a colon and a precision, as in
// bilgic/scan-transpose:f64, or by an at sign and a rotation, as in messom/rotated@2/3. The name of
// a work means all of its algorithms that run on a GPU, if device is set, or on the CPU; "all"
// means those of all works.
func ParseAlgorithms(list string, device bool) ([]AlgorithmCase, error) {
	place := papers.CPU
	if device {
		place = papers.GPU
	}
	var cases []AlgorithmCase
	for _, text := range strings.Split(list, ",") {
		text = strings.TrimSpace(text)
		some := slices.DeleteFunc(papers.All(), func(a *papers.Algorithm) bool {
			return a.Place != place || text != "all" && a.Work.Name != text
		})
		for _, a := range some {
			cases = append(cases, AlgorithmCase{a, a.Precisions[0], defaultRotation(a)})
		}
		if len(some) > 0 {
			continue
		}
		c, err := ParseAlgorithm(text)
		if err != nil {
			return nil, err
		}
		if c.Place == papers.GPU && !device {
			return nil, fmt.Errorf("%s runs on a GPU: add --on cuda or --on opencl", c.Name)
		}
		cases = append(cases, c)
	}
	return cases, nil
}

// ParseAlgorithm parses one algorithm, optionally with a precision and a rotation.
func ParseAlgorithm(text string) (AlgorithmCase, error) {
	rest, precision, hasPrecision := strings.Cut(text, ":")
	name, rotation, hasRotation := strings.Cut(rest, measure.RotatedMark)
	a, err := papers.Find(name)
	if err != nil {
		return AlgorithmCase{}, err
	}
	c := AlgorithmCase{a, a.Precisions[0], defaultRotation(a)}
	if hasPrecision {
		if c.Precision, err = papers.ParsePrecision(precision); err != nil {
			return c, err
		}
		if !slices.Contains(a.Precisions, c.Precision) {
			return c, fmt.Errorf("%s does not support %s, only %s", name, precision, join(a.Precisions))
		}
	}
	if hasRotation {
		if a.Kind != papers.Rotated {
			return c, fmt.Errorf("%s does not rotate: leave out %s%s", name, measure.RotatedMark, rotation)
		}
		if c.Rotation, err = rotated.Parse(rotation); err != nil {
			return c, err
		}
	}
	return c, nil
}

func defaultRotation(a *papers.Algorithm) rotated.Rotation {
	if a.Kind == papers.Rotated {
		return rotated.Rotation{A: 1, B: 2}
	}
	return rotated.Rotation{}
}

// WriteAlgorithms lists all algorithms with their names, places, precisions, and numbers of reads
// and writes per pixel.
func WriteAlgorithms(w io.Writer) error {
	r := report{w: w}
	r.text("list", nil)
	return r.err
}

func join(precisions []papers.Precision) string {
	var names []string
	for _, p := range precisions {
		names = append(names, p.String())
	}
	return strings.Join(names, ", ")
}
