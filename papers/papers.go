// Package papers has the algorithms of four published works on summed-area
// tables as they were published, each under its own name. They can be run,
// checked and timed beside those of packages boxsum and gpu, which are faster:
//
//   - bilgic: B. Bilgic, B. K. P. Horn, I. Masaki, "Efficient Integral Image
//     Computation on the GPU", 2010.
//   - intimg: "Integral image computation", notes with four implementations.
//   - messom: C. Messom, A. Barczak, "Stream processing for fast and efficient
//     rotated Haar-like features using rotated integral images".
//   - bertazzini: G. Bertazzini, N. Guiducci, "Integral Images with Java Threads
//     and CUDA".
//
// [All] lists them and [Find] finds one by its name. [Prepare] prepares an
// algorithm for an image. The [Job] that it returns can run any number of times:
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
// All algorithms fill a whole [boxsum.Table]. What the works call an inclusive
// table is its view [boxsum.Table.Inclusive]. Bilgic's exclusive table of the
// image's size is [boxsum.Table.SameSize]. In every work sums have the type of the
// pixels. An image of another type is converted when an algorithm is prepared, as
// the works do before they start their clocks.
//
// # Devices
//
// The algorithms for a GPU run on CUDA and OpenCL, from one source
// (papers.cl in package kernels). Run only queues their kernels, for
// [gpu.Device.Time]. [Job.RunHost] goes from host memory to host memory.
package papers

import (
	"fmt"
	"slices"
	"strings"

	"github.com/boxsum/boxsum"
	"github.com/boxsum/boxsum/gpu"
	"github.com/boxsum/boxsum/internal/launch"
	"github.com/boxsum/boxsum/rotated"
)

// A Work is a publication.
type Work struct {
	Name    string // short, the first part of its algorithms' names
	Authors string
	Title   string
	Where   string // and when it was published
}

// An Algorithm is one algorithm of a work.
type Algorithm struct {
	Name    string // as in "bilgic/scan-transpose"
	Work    *Work
	Title   string // what it does, in a line
	Section string // where in the work it is
	Place   Place
	Kind    Kind

	// Precisions are what it can be run in, the work's first choice first.
	Precisions []Precision

	// Threads says that it makes use of [Options.Threads].
	Threads bool
	// Group says that it makes use of [Options.Group].
	Group bool
	// Many says that it takes any number of images, of one size.
	Many bool

	// CostText is the reads and writes of a pixel in words.
	CostText string

	recurrence bool // over three entries, whose rounding errors all add up
	cost       func(width, height int) Cost
	cpu        hostCode
	gpu        func(*rig) *deviceRun
}

// String is the algorithm's name.
func (a *Algorithm) String() string { return a.Name }

// Cost is what the algorithm reads and writes for each pixel of an image of this
// size.
func (a *Algorithm) Cost(width, height int) Cost { return a.cost(width, height) }

// A Cost is how many values are read from memory and written to it for each value
// of the image, as if there were no caches; what goes through registers and the
// shared memory of a GPU's block does not count.
type Cost struct{ Reads, Writes float64 }

// A Place is where an algorithm runs.
type Place int

// The places.
const (
	CPU Place = iota
	GPU
)

// String is CPU or GPU.
func (p Place) String() string {
	if p == GPU {
		return "GPU"
	}
	return "CPU"
}

// A Kind is what the entries of an algorithm's table are the sums of. Entry
// (x+1, y+1) belongs to the pixel at (x, y).
type Kind int

const (
	// Upright entries are sums of [0,x]×[0,y]; row 0 and column 0 are zero.
	Upright Kind = iota
	// Tilted entries are those of package tilted: sums of the triangle that
	// opens upwards from the pixel at 45°.
	Tilted
	// Rotated entries are sums of the quadrant above the pixel between the
	// lines of a rotation a/b, see package rotated: the cells with
	// r ≤ r(x,y) and c ≥ c(x,y) up to 45°, and those with r ≤ r(x,y) and
	// c ≤ c(x,y) above. Row 0 and column 0 are zero.
	Rotated
)

// String is upright, tilted or rotated.
func (k Kind) String() string {
	switch k {
	case Tilted:
		return "tilted"
	case Rotated:
		return "rotated"
	}
	return "upright"
}

// A Precision is a type of pixels and sums, and the channels of a pixel.
type Precision struct {
	Type     string // f32, f64 or u32
	Channels int
}

// String is the type, with the channels after an x where there are several:
// f32x4.
func (p Precision) String() string {
	if p.Channels == 1 {
		return p.Type
	}
	return fmt.Sprintf("%sx%d", p.Type, p.Channels)
}

// Bytes is the size of a value.
func (p Precision) Bytes() int {
	if p.Type == "f64" {
		return 8
	}
	return 4
}

// The precisions of the works.
var (
	Float  = Precision{"f32", 1}
	Float4 = Precision{"f32", 4}
	Double = Precision{"f64", 1}
	Int    = Precision{"u32", 1}
)

// ParsePrecision is the precision that is written like this.
func ParsePrecision(text string) (Precision, error) {
	for _, p := range []Precision{Float, Float4, Double, Int} {
		if p.String() == text {
			return p, nil
		}
	}
	return Precision{}, fmt.Errorf("papers: %w: no precision is called %q: there are f32, f32x4, f64 and u32", boxsum.ErrTypes, text)
}

// Options says how to run an algorithm; nil and the zero value run it as
// published, on the CPU.
type Options struct {
	// Precision is one of the algorithm's; zero stands for the first that
	// suits the channels of the image.
	Precision Precision

	// Threads is how many there are on the CPU, at most 65536; zero stands for
	// GOMAXPROCS.
	Threads int

	// Device is what a GPU's algorithm runs on.
	Device *gpu.Device

	open func(launch.Opener) (launch.Device, error) // how tests open it

	// Group is how many threads a block has on a GPU where the work leaves
	// it open, 1 to 1024; zero stands for 256.
	Group int

	// Streams is over how many streams many images are spread; zero stands
	// for 4.
	Streams int

	// Rotation is that of a rotated table; zero stands for 1/2.
	Rotation rotated.Rotation
}

// All lists every algorithm, work by work.
func All() []*Algorithm { return slices.Clone(all) }

// Find is the algorithm of that name.
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
		return nil, fmt.Errorf("papers: %q is a work with several algorithms: %s", name, strings.Join(near, ", "))
	}
	return nil, fmt.Errorf("papers: no algorithm is called %q: `boxsum bench --algorithms help` lists them", name)
}
