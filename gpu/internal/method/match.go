package method

import (
	"math"

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
	width, height int // of the template
	number        int // of the method, as numbered by package match
	sum, squares  int64
	words         int      // of a row
	packed        []uint32 // the template, four pixels a word
	norm          float64  // factor of the square roots of sums
}

// NewMatch returns the method for a template without gaps.
func NewMatch(template []uint8, width, height, number int) *Match {
	m := &Match{width: width, height: height, number: number, words: devmem.CeilDiv(width, 4)}
	m.packed = make([]uint32, m.words*height)
	for y := range height {
		for x, p := range template[y*width:][:width] {
			m.packed[y*m.words+x/4] |= uint32(p) << (x % 4 * 8)
			m.sum += int64(p)
			m.squares += int64(p) * int64(p)
		}
	}
	m.norm = math.Sqrt(float64(m.squares))
	if m.number == 0 {
		m.norm = math.Sqrt(float64(int64(width)*int64(height)*m.squares - m.sum*m.sum))
	}
	return m
}

// Flat reports whether the template has no norm, because it is flat or zero.
func (m *Match) Flat() bool { return m.number < 2 && m.norm == 0 }

// OnePass calls Portable, because there is only one kernel.
func (m *Match) OnePass(job Job) (Plan, error) { return m.Portable(job) }

// Portable plans the scores in one launch. The size of a job is that of the scores.
func (m *Match) Portable(job Job) (Plan, error) {
	group, err := job.group(kernels.MatchGroup, kernels.MatchKernel)
	if err != nil {
		return Plan{}, err
	}
	one := int64(job.Width) * int64(job.Height)
	launch := func(part Job) error {
		var template driver.Memory
		if err := part.send(upload{&template, "template", raw(m.packed)}); err != nil {
			return err
		}
		norm, c := m.norm, kernelMatch{
			InStart: part.In.Offset, InStride: part.In.Stride, InDistance: part.In.Distance,
			OutStart: part.Out.Offset, OutStride: part.Out.Stride, OutDistance: part.Out.Distance,
			SumT: m.sum, SquaresT: m.squares, Width: int32(job.Width), Height: int32(job.Height), Images: int32(part.Count),
			TemplateWidth: int32(m.width), TemplateHeight: int32(m.height), Words: int32(m.words), Method: int32(m.number),
			Aligned: flag(aligned(part.In, 4, part.Count) && part.In.Offset%4 == 0),
		}
		groups := devmem.CeilDiv(one*int64(part.Count), int64(group))
		return job.launch(kernels.MatchKernel, groups, group, arg(&c), arg(&part.In.Memory), arg(&template), arg(&part.Out.Memory), arg(&norm))
	}
	return Plan{int(min(int64(job.Count), max(1, math.MaxInt32/2/one))), launch}, nil
}

// aligned reports whether all rows start at a multiple of unit bytes.
func aligned(b devmem.Batch, unit int64, count int) bool {
	return b.Address()%uint64(unit) == 0 && b.Stride%unit == 0 && (count == 1 || b.Distance%unit == 0)
}
