package method

import (
	"math"
	"runtime"
	"unsafe"

	"github.com/boxsum/boxsum/gpu/internal/devmem"
	"github.com/boxsum/boxsum/gpu/internal/driver"
	"github.com/boxsum/boxsum/gpu/internal/kernels"
)

// MatchPixels is the greatest number of pixels in a template: sums of squares of bytes must fit in
// 32 bits.
const MatchPixels = math.MaxUint32 / (255 * 255)

// A Match scores the positions of a template; see package match.
type Match struct {
	images
	Template      []uint8 // without gaps
	Width, Height int     // of the template
	Number        int     // of the method, as numbered by package match
	sum, squares  int64
	words         int
	packed        []uint32
	template      driver.Memory
	norm          float64 // factor of the square roots of sums
}

// Flat reports whether the template has no norm, because it is flat or zero.
func (m *Match) Flat() bool {
	m.prepare()
	return m.Number < 2 && m.norm == 0
}

// prepare packs the template and sums it.
func (m *Match) prepare() {
	m.words = devmem.CeilDiv(m.Width, 4)
	m.packed = make([]uint32, m.words*m.Height)
	m.sum, m.squares = 0, 0
	for y := range m.Height {
		for x, p := range m.Template[y*m.Width:][:m.Width] {
			m.packed[y*m.words+x/4] |= uint32(p) << (x % 4 * 8)
			m.sum += int64(p)
			m.squares += int64(p) * int64(p)
		}
	}
	m.norm = math.Sqrt(float64(m.squares))
	if m.Number == 0 {
		m.norm = math.Sqrt(float64(int64(m.Width)*int64(m.Height)*m.squares - m.sum*m.sum))
	}
}

// Send copies the template to the device and waits.
func (m *Match) Send(job Job) error {
	m.prepare()
	n := int64(4 * len(m.packed))
	d := job.Device
	at, _, err := d.Workspace(job.Stream, "template", n)
	if err != nil {
		return err
	}
	m.template = at
	var pin runtime.Pinner
	defer pin.Unpin()
	pin.Pin(&m.packed[0])
	err = d.Backend.CopyIn(job.Stream, driver.Plane{Memory: at, Stride: n}, unsafe.Pointer(&m.packed[0]), n, driver.Rows{Bytes: n, Count: 1})
	return driver.FirstError(err, d.Backend.Wait(job.Stream))
}

// OnePass calls Portable: there is only one kernel.
func (m *Match) OnePass(job Job) (Plan, error) { return m.Portable(job) }

// Portable plans the scores in one launch. The size of a job is that of the scores.
func (m *Match) Portable(job Job) (Plan, error) {
	group, err := job.group(kernels.MatchGroup, kernels.MatchKernel)
	if err != nil {
		return Plan{}, err
	}
	one := int64(job.Width) * int64(job.Height)
	launch := func(part Job) error {
		if err := m.Send(part); err != nil {
			return err
		}
		c := kernelMatch{
			InStart: part.In.Offset, InStride: part.In.Stride, InDistance: part.In.Distance,
			OutStart: part.Out.Offset, OutStride: part.Out.Stride, OutDistance: part.Out.Distance,
			SumT: m.sum, SquaresT: m.squares, Width: int32(job.Width), Height: int32(job.Height), Images: int32(part.Count),
			TemplateWidth: int32(m.Width), TemplateHeight: int32(m.Height), Words: int32(m.words), Method: int32(m.Number),
			Aligned: flag(aligned(part.In, 4, part.Count) && part.In.Offset%4 == 0),
		}
		groups := devmem.CeilDiv(one*int64(part.Count), int64(group))
		return job.launch(kernels.MatchKernel, groups, group, arg(&c), arg(&part.In.Memory), arg(&m.template), arg(&part.Out.Memory), arg(&m.norm))
	}
	return Plan{int(min(int64(job.Count), max(1, math.MaxInt32/2/one))), launch}, nil
}

// aligned reports whether all rows start at a multiple of unit bytes.
func aligned(b devmem.Batch, unit int64, count int) bool {
	return b.Address()%uint64(unit) == 0 && b.Stride%unit == 0 && (count == 1 || b.Distance%unit == 0)
}
