package hog

import "github.com/boxsum/boxsum/internal/kernel/gradients"

const (
	// OpenCV computes rows in chunks of this many pixels. In chunks shorter than atanShort, it
	// rounds angles above 45° differently.
	atanChunk = 1024
	atanShort = 16
	// colorLanes is the number of pixels whose strongest channel OpenCV selects together. Those
	// left over prefer another channel if two are equal.
	colorLanes = 4
)

// differences computes the gradients of pixels in columns x0 and further of an image of the given
// width, with its border. Rows are those of brightRow.
func (s *search) differences(dx, dy, up, middle, down []float32, x0, width int) {
	if s.colors == 1 {
		gradients.Differences(s.set.Level, dx, dy, up, middle, down)
		return
	}
	pitch := len(dx) + 2
	n := min(max(0, width&^(colorLanes-1)-x0), len(dx))
	gradients.Strongest(s.set.Level, dx[:n], dy[:n], up, middle, down, pitch)
	for i := n; i < len(dx); i++ {
		dx[i], dy[i] = lastStrongest(up[i:], middle[i:], down[i:], pitch)
	}
}

// atanFrom returns the first column of a row that is in a short chunk.
func atanFrom(width int) int {
	if rest := width % atanChunk; rest < atanShort {
		return width - rest
	}
	return width
}

// lastStrongest returns the largest gradient of a pixel in three channels, the last of equal ones.
func lastStrongest(up, middle, down []float32, pitch int) (dx, dy float32) {
	best := float32(-1)
	for c := 0; c < 3*pitch; c += pitch {
		x, y := middle[c+2]-middle[c], down[c+1]-up[c+1]
		if size := float32(x*x) + float32(y*y); size >= best {
			best, dx, dy = size, x, y
		}
	}
	return dx, dy
}
