package imgio

import "github.com/boxsum/boxsum"

// Demo draws a picture: a low sun with its glow in an evening sky, hills, and
// the sun's reflection on a rippled lake. It uses only integer arithmetic, so
// every machine draws the same pixels. A width or height below 1 gives an empty
// image.
func Demo(width, height int) boxsum.Image[uint8] {
	if width < 1 || height < 1 {
		return boxsum.Image[uint8]{Channels: 1}
	}
	im := boxsum.Image[uint8]{Pix: make([]uint8, width*height), Stride: width, Width: width, Height: height, Channels: 1}
	s := newScene(width, height)
	for y := range height {
		row := im.Row(y)
		for x := range row {
			row[x] = uint8(min(max(s.at(x, s.unitsOf(y)), 0), 255))
		}
	}
	return im
}

// unit is the height of the scene. Its width follows from the picture's aspect
// ratio.
const unit = 1 << 12

const (
	shore     = unit * 64 / 100 // where the lake begins
	sunHeight = unit * 40 / 100
	sunRadius = unit * 11 / 100
)

// A scene holds what is computed before the first pixel.
type scene struct {
	height int64 // of the picture, in pixels
	sunX   int64
	ranges [3][]int64 // the height of each range of hills, by column
}

func newScene(width, height int) *scene {
	s := &scene{height: int64(height)}
	s.sunX = s.unitsOf(width) * 62 / 100
	for i := range s.ranges {
		s.ranges[i] = make([]int64, width)
		for x := range width {
			s.ranges[i][x] = hill(s.unitsOf(x), i)
		}
	}
	return s
}

// hill returns how far range i rises above the shore at u.
func hill(u int64, i int) int64 {
	switch i {
	case 0: // far
		return unit*13/100 + wave(u+500, 2900)*unit/9000 + wave(u, 1130)*unit/26000 + wave(u, 410)*unit/90000
	case 1:
		return unit*7/100 + wave(u+1900, 3700)*unit/11000 + wave(u+300, 870)*unit/34000 + wave(u, 230)*unit/200000
	}
	return unit*2/100 + wave(u+3300, 4500)*unit/16000 + wave(u+90, 640)*unit/40000 + wave(u, 120)*unit/260000
}

// wave returns a smooth wave of the given period between -1000 and 1000, made
// of two parabolas.
func wave(u, period int64) int64 {
	p := (u%period + period) % period * 4000 / period // 0…3999
	if p < 2000 {
		return p * (2000 - p) / 1000
	}
	p -= 2000
	return -p * (2000 - p) / 1000
}

// unitsOf converts pixels to units.
func (s *scene) unitsOf(pixels int) int64 { return int64(pixels) * unit / s.height }

// at returns the brightness of column x at height v.
func (s *scene) at(x int, v int64) int64 {
	u := s.unitsOf(x)
	if v >= shore {
		return s.lake(x, u, v)
	}
	return s.land(x, u, v)
}

func (s *scene) land(x int, u, v int64) int64 {
	for i := len(s.ranges) - 1; i >= 0; i-- {
		above := s.ranges[i][x] - (shore - v)
		if above < 0 {
			continue
		}
		// Mist lies in the valleys: hills get lighter towards their foot, and
		// distant hills are lighter overall.
		mist := (shore - v) * 4000 / unit
		near := int64(i)
		return 96 - 30*near - mist/(20+14*near) + min(above*1000/unit, 100)/8
	}
	return s.sky(u, v)
}

func (s *scene) sky(u, v int64) int64 {
	// In very wide pictures, distances beyond this no longer matter.
	dx, dy := min(max(u-s.sunX, -16*unit), 16*unit), v-sunHeight
	d2 := dx*dx + dy*dy
	light := 70 + 95*v/shore
	// The glow falls off with the square of the distance.
	light += 90 * (unit * unit / 20) / (d2 + unit*unit/20)
	light += cloud(u, v)
	return light + cover(d2, sunRadius)*(250-light)/1000
}

// cloud returns the brightness of bands of thin cloud along the horizon.
func cloud(u, v int64) int64 {
	drift := wave(u+2*v, 2600)*90/1000 + wave(u-v, 940)*35/1000
	band := wave(v*3+drift, 1500) + wave(v*7+drift*2+u/5, 1900)/2 - 500
	return max(band, 0) * 24 / 1000
}

// cover returns how much of a disc with a soft edge covers a point at a squared
// distance from its center, from 0 to 1000.
func cover(d2, radius int64) int64 {
	const soft = unit / 200
	inner, outer := (radius-soft)*(radius-soft), (radius+soft)*(radius+soft)
	return min(max((outer-d2)*1000/(outer-inner), 0), 1000)
}

// lake reflects the sky in stripes that grow towards the viewer.
func (s *scene) lake(x int, u, v int64) int64 {
	depth := v - shore // 0 at the far shore
	// The phase is depth over distance, which packs distant waves closer.
	phase := depth * 60000 / (depth + unit/6)
	ripple := wave(phase+wave(u+phase/3, 700+depth/2)*260/1000, 1700)
	light := 150 - 90*depth/(unit-shore) + ripple*(8+16*depth/(unit-shore))/1000

	mirror := shore - depth*8/5
	near := s.ranges[0][x] - (shore - mirror) + ripple*(depth+unit/40)/9000
	if near > 0 {
		light -= min(near*1500/unit, 46)
	}
	// The sun's reflection widens towards the viewer and breaks up on the
	// ripples.
	half := sunRadius*3/4 + depth/3 + ripple*(depth+unit/16)/5000
	if off := u - s.sunX; -half < off && off < half {
		light += (1000 - off*off*1000/(half*half)) * (550 + ripple*45/100) / 1000 * 130 / 1000
	}
	return light
}
