// Package papers implements the algorithms of four publications on summed-area tables as they were
// published, each under its own name. They can be run, verified and timed next to those of packages
// boxsum and gpu, which are faster:
//
//   - bilgic: B. Bilgic, B. K. P. Horn, I. Masaki, "Efficient Integral Image Computation on the GPU", 2010.
//   - intimg: "Integral image computation", notes with four implementations.
//   - messom: C. Messom, A. Barczak, "Stream processing for fast and efficient rotated Haar-like features using rotated integral images".
//   - bertazzini: G. Bertazzini, N. Guiducci, "Integral Images with Java Threads and CUDA".
//
// [All] lists the algorithms and [Find] returns one by its name. [Prepare] prepares an algorithm
// for an image. The resulting [Job] can be run any number of times:
//
//	a, err := papers.Find("intimg/parallel")
//	job, err := papers.Prepare(a, &papers.Options{Threads: 8}, img)
//	...
//	defer job.Close()
//	err = job.Run()
//	err = job.Verify()
//	table, err := papers.Table[float32](job, 0)
//
// # Tables
//
// All algorithms fill a whole [boxsum.Table]. [boxsum.Table.Inclusive] returns what the
// publications call an inclusive table, and [boxsum.Table.SameSize] Bilgic's exclusive table of the
// image's size. In every publication, sums have the type of the pixels. An image of another type is
// converted when an algorithm is prepared, which the publications do not time either.
//
// # Devices
//
// The GPU algorithms run on CUDA and OpenCL, from one source (papers.cl in package kernels). Run
// only queues their kernels, for [gpu.Device.Time]. [Job.RunHost] includes copying from and to host
// memory.
package papers

import (
	"fmt"
	"slices"
	"strings"

	"github.com/boxsum/boxsum/gpu"
	"github.com/boxsum/boxsum/internal/launch"
	"github.com/boxsum/boxsum/internal/raster"
	"github.com/boxsum/boxsum/rotated"
)

// A Work is a publication whose algorithms this package implements.
type Work struct {
	Name    string // short; the first part of its algorithms' names
	Authors string
	Title   string
	Where   string // place and year of publication
}

// An Algorithm is one algorithm of a publication.
type Algorithm struct {
	Name    string // such as "bilgic/scan-transpose"
	Work    *Work
	Title   string // one-line description
	Section string // section of the work
	Place   Place
	Kind    Kind

	// Precisions lists the supported precisions, the publication's first choice first.
	Precisions []Precision

	// Threads reports whether the algorithm uses [Options.Threads].
	Threads bool
	// Group reports whether the algorithm uses [Options.Group].
	Group bool
	// Many reports whether the algorithm accepts any number of images of one size.
	Many bool

	// CostText describes the number of reads and writes per pixel.
	CostText string

	recurrence bool // each entry is computed from three others, so rounding errors accumulate
	cost       func(width, height int) Cost
	cpu        hostCode
	gpu        func(*rig) *deviceRun
}

// String returns the algorithm's name.
func (a *Algorithm) String() string { return a.Name }

// Cost returns the number of reads and writes per pixel for an image of the given size.
func (a *Algorithm) Cost(width, height int) Cost { return a.cost(width, height) }

// A Cost is the number of values read from and written to memory for each value of the image, as if
// there were no caches. Registers and a GPU block's shared memory do not count.
type Cost struct{ Reads, Writes float64 }

// A Place is where an algorithm runs: on the processor or on a GPU.
type Place int

// Places where algorithms run.
const (
	CPU Place = iota
	GPU
)

// String returns "CPU" or "GPU".
func (p Place) String() string {
	if p == GPU {
		return "GPU"
	}
	return "CPU"
}

// A Kind determines which pixels are summed in an entry of an algorithm's table. Entry (x+1, y+1)
// belongs to the pixel at (x, y).
type Kind int

const (
	// Upright entries are sums of [0,x]×[0,y]; row 0 and column 0 are zero.
	Upright Kind = iota
	// Tilted entries are those of package tilted: sums of the triangle above the pixel, whose sides
	// are at 45°.
	Tilted
	// Rotated entries are sums of the quadrant above the pixel between the lines of a rotation a/b, as
	// in package rotated: the cells with r ≤ r(x,y) and c ≥ c(x,y) up to 45°, and the cells with r ≤
	// r(x,y) and c ≤ c(x,y) above 45°. Row 0 and column 0 are zero.
	Rotated
)

// String returns "upright", "tilted" or "rotated".
func (k Kind) String() string {
	switch k {
	case Tilted:
		return "tilted"
	case Rotated:
		return "rotated"
	}
	return "upright"
}

// A Precision is the type of pixels and sums, and the number of channels.
type Precision struct {
	Type     string // f32, f64 or u32
	Channels int
}

// String returns the type, followed by an x and the number of channels if there are several, as in
// f32x4.
func (p Precision) String() string {
	if p.Channels == 1 {
		return p.Type
	}
	return fmt.Sprintf("%sx%d", p.Type, p.Channels)
}

// Bytes returns the size in bytes of the value of one channel.
func (p Precision) Bytes() int {
	if p.Type == "f64" {
		return 8
	}
	return 4
}

// Precisions of the algorithms.
var (
	Float  = Precision{"f32", 1}
	Float4 = Precision{"f32", 4}
	Double = Precision{"f64", 1}
	Int    = Precision{"u32", 1}
)

// ParsePrecision returns the precision with the given name: f32, f32x4, f64 or u32. It returns an
// error that wraps [boxsum.ErrTypes] for any other name.
func ParsePrecision(text string) (Precision, error) {
	for _, p := range []Precision{Float, Float4, Double, Int} {
		if p.String() == text {
			return p, nil
		}
	}
	return Precision{}, raster.Unsupported("unknown precision %q, want f32, f32x4, f64 or u32", text)
}

// Options specifies how to run an algorithm. Nil and the zero value run it as published, on the CPU.
type Options struct {
	// Precision is one of the algorithm's precisions. Zero selects the first one that suits the
	// channels of the image.
	Precision Precision

	// Threads is the number of threads on the CPU, at most 65536; zero means GOMAXPROCS.
	Threads int

	// Device is the device for a GPU algorithm.
	Device *gpu.Device

	open func(launch.Opener) (launch.Device, error) // replaces opening the device in tests

	// Group is the number of threads per block on a GPU if the work does not specify it, 1 to 1024;
	// zero means 256.
	Group int

	// Streams is the number of streams for many images; zero means 4.
	Streams int

	// Rotation is the rotation of a rotated table; zero means 1/2.
	Rotation rotated.Rotation
}

// All returns every algorithm, publication by publication.
func All() []*Algorithm { return slices.Clone(all) }

// Find returns the algorithm with the given name, such as "bilgic/scan-transpose". It returns an
// error for any other name. If the name is that of a publication with several algorithms, the error
// lists them.
func Find(name string) (*Algorithm, error) {
	var near []string
	for _, a := range all {
		if a.Name == name {
			return a, nil
		}
		if a.Work.Name == name {
			near = append(near, a.Name)
		}
	}
	if near != nil {
		return nil, fmt.Errorf("%q is a publication with several algorithms, want one of %s", name, strings.Join(near, ", "))
	}
	return nil, fmt.Errorf("unknown algorithm %q (boxsum bench --algorithms help lists them)", name)
}
