package reproduce

import (
	"slices"

	"github.com/boxsum/boxsum/lab/measure"
)

// Methods of the setting for templates.

// Cores returns the number of cores of the processor.
func (s *setting) Cores() int { return s.cores }

// StandsIn reports whether the processor stands in for a GPU.
func (s *setting) StandsIn() bool { return s.device == standIn }

// Small reports whether the run should be short and there is no GPU to make it so.
func (s *setting) Small() bool { return s.quick && s.device != realGPU }

// Asked returns the sizes that were requested, or others if none were.
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

// Largest returns the last size that was requested, or the given one if none was.
func (s *setting) Largest(width, height int) Size {
	if s.sizes != nil {
		return s.sizes[len(s.sizes)-1]
	}
	return sized(width, height)
}

// Videos returns the sizes of video formats up to 2160p.
func (s *setting) Videos() []Size { return s.Asked("480p", "720p", "1080p", "1440p", "2160p") }

// MessomSizes returns those of tables 3 to 5. The last has 1024 rows and 2048 columns.
func (s *setting) MessomSizes() []Size {
	return s.Asked("64x64", "128x128", "256x256", "512x512", "1024x1024", "2048x1024")
}

// Squares returns squares up to 4096×4096, fewer in a quick run and on a processor that stands in
// for a GPU, where a pixel takes a hundred times as long.
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

// FourMegapixels returns that size, or the nearest one that is measured.
func (s *setting) FourMegapixels() Size {
	sizes := s.Squares()
	if four := sized(2048, 2048); slices.Contains(sizes, four) {
		return four
	}
	return sizes[len(sizes)-1]
}

// IntimgSizes returns the squares and the size of the table, which is measured anyway.
func (s *setting) IntimgSizes() []Size {
	sizes := s.Squares()
	if last := s.Largest(4096, 4096); s.sizes == nil && len(sizes) < 5 {
		sizes = append(sizes, last)
	}
	return sizes
}

// Threads and Blocks return the steps of sweeps over the number of threads, and of threads per block.
func (s *setting) Threads() []int {
	threads := []int{1, 2, 4, 8, 16, s.cores}
	slices.Sort(threads)
	threads = slices.Compact(threads)
	if s.quick { // more than twice as many threads as cores add nothing new
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
