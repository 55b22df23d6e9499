package reproduce

import (
	"slices"

	"github.com/boxsum/boxsum/lab/measure"
)

// What templates know of the setting.

// Cores is how many the processor has.
func (s *setting) Cores() int { return s.cores }

// StandsIn reports whether the processor stands in for a GPU.
func (s *setting) StandsIn() bool { return s.device == standIn }

// Small reports whether a run is to be short, and no GPU makes it so.
func (s *setting) Small() bool { return s.quick && s.device != realGPU }

// Asked is the sizes that were asked for, or else others.
func (s *setting) Asked(others ...string) []Size {
	if s.sizes != nil {
		return s.sizes
	}
	var sizes []Size
	for _, name := range others {
		size, _ := measure.ParseSizes(name)
		sizes = append(sizes, sized(size[0].Width, size[0].Height))
	}
	return sizes
}

// Largest is the last size that was asked for, or else another.
func (s *setting) Largest(width, height int) Size {
	if s.sizes != nil {
		return s.sizes[len(s.sizes)-1]
	}
	return sized(width, height)
}

// Videos is the sizes of video formats up to 2160p.
func (s *setting) Videos() []Size { return s.Asked("480p", "720p", "1080p", "1440p", "2160p") }

// MessomSizes is those of tables 3 to 5. The last is of 1024 rows and 2048 columns.
func (s *setting) MessomSizes() []Size {
	return s.Asked("64x64", "128x128", "256x256", "512x512", "1024x1024", "2048x1024")
}

// Squares is squares up to 4096×4096, as far as a quick run or a processor that stands in
// for a GPU can take them: there a pixel takes a hundred times as long.
func (s *setting) Squares() []Size {
	sizes := s.Asked("256x256", "512x512", "1024x1024", "2048x2048", "4096x4096")
	switch {
	case s.sizes != nil:
	case s.Small():
		return sizes[:3]
	case s.device == standIn:
		return sizes[:4]
	}
	return sizes
}

// FourMegapixels is that size, or the one nearest to it that is measured.
func (s *setting) FourMegapixels() Size {
	sizes := s.Squares()
	if four := sized(2048, 2048); slices.Contains(sizes, four) {
		return four
	}
	return sizes[len(sizes)-1]
}

// IntimgSizes is squares with the size of the table, which is measured anyway.
func (s *setting) IntimgSizes() []Size {
	sizes := s.Squares()
	if last := s.Largest(4096, 4096); s.sizes == nil && len(sizes) < 5 {
		sizes = append(sizes, last)
	}
	return sizes
}

// Threads and Blocks are sweeps: of threads, and of threads a block.
func (s *setting) Threads() []int {
	threads := []int{1, 2, 4, 8, 16, s.cores}
	slices.Sort(threads)
	threads = slices.Compact(threads)
	if s.quick { // more threads than twice the cores say nothing new
		threads = slices.DeleteFunc(threads, func(n int) bool { return n > max(8, s.cores) })
	}
	return threads
}

func (s *setting) Blocks() []int {
	if s.Small() {
		return []int{64, 256}
	}
	return []int{32, 64, 128, 256, 512, 1024}
}
