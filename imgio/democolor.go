package imgio

import "github.com/boxsum/boxsum"

// DemoColor draws the picture of [Demo] in color, with channels for red, green and blue.
// [boxsum.Gray] would convert its colors to exactly the pixels of Demo.
func DemoColor(width, height int) boxsum.Image[uint8] {
	gray := Demo(width, height)
	im := boxsum.Image[uint8]{Pix: make([]uint8, 3*len(gray.Pix)), Stride: 3 * gray.Width, Width: gray.Width, Height: gray.Height, Channels: 3}
	if width < 1 || height < 1 {
		return im
	}
	s := newScene(width, height)
	var paints [len(pigments)][256][3]uint8
	for part := range paints {
		for light := range paints[part] {
			paints[part][light] = pigments[part].at(light)
		}
	}
	for y := range height {
		row, light := im.Row(y), gray.Row(y)
		v := s.unitsOf(y)
		for x, l := range light {
			copy(row[3*x:], paints[s.part(x, v)][l][:])
		}
	}
	return im
}

// part returns the index of the pigment of column x at height v.
func (s *scene) part(x int, v int64) int {
	if v >= shore {
		return 4
	}
	for i := len(s.ranges) - 1; i >= 0; i-- {
		if s.ranges[i][x] >= shore-v {
			return 1 + i
		}
	}
	return 0
}

// A pigment gives a part of the scene its color: stops of brightness, red, green and blue.
type pigment [][4]int

var pigments = [...]pigment{
	{{0, 10, 12, 30}, {70, 58, 68, 122}, {105, 112, 92, 142}, {140, 196, 112, 116}, {175, 240, 150, 104}, {210, 255, 198, 118}, {250, 255, 250, 228}, {255, 255, 255, 255}}, // sky
	{{0, 0, 0, 0}, {60, 62, 54, 96}, {110, 128, 98, 132}, {255, 255, 255, 255}},                                                                                             // far hills
	{{0, 0, 0, 0}, {40, 34, 38, 74}, {90, 82, 84, 124}, {255, 255, 255, 255}},
	{{0, 0, 0, 0}, {25, 16, 26, 42}, {70, 52, 72, 96}, {255, 255, 255, 255}},                                                                        // near
	{{0, 4, 8, 28}, {60, 30, 60, 112}, {110, 92, 104, 156}, {150, 190, 130, 142}, {190, 246, 172, 128}, {230, 255, 224, 164}, {255, 255, 255, 255}}, // lake
}

// at returns the color whose gray is light.
func (p pigment) at(light int) [3]uint8 {
	i := 1
	for p[i][0] < light {
		i++
	}
	a, b := p[i-1], p[i]
	var c [3]int
	for k := range c {
		c[k] = a[k+1] + (b[k+1]-a[k+1])*(light-a[0])/(b[0]-a[0])
	}
	for _, k := range []int{1, 0, 2} { // green first: a step of it changes the gray by at most one
		for c[k] < 255 && grayOf(c) < light {
			c[k]++
		}
		for c[k] > 0 && grayOf(c) > light {
			c[k]--
		}
	}
	return [3]uint8{uint8(c[0]), uint8(c[1]), uint8(c[2])}
}

func grayOf(c [3]int) int { return (9798*c[0] + 19235*c[1] + 3735*c[2] + 16384) >> 15 }
