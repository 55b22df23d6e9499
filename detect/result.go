package detect

import (
	"image"
	"math"
)

// A Result is something that was found.
type Result struct {
	// Rect is where it is. A turned one is Rect turned about its middle, by Angle.
	Rect image.Rectangle
	// Angle is how far it is turned, in degrees clockwise, more than -180 and 180 at most.
	Angle float64
	// Neighbors is how many windows it stands for.
	Neighbors int
	// Score is the sum of the last stage in the best of these windows: the higher, the surer.
	Score float64
	// Stage is how many stages the best of these windows passes: all of the cascade's, and
	// less for near misses.
	Stage int
	// Mirrored says that it is as in a mirror, see [Options.Mirror].
	Mirrored bool
}

// Corners is the corners of a result, clockwise from the one at the top left of the upright
// object.
func (r Result) Corners() [4][2]float64 {
	sin, cos := sincos(r.Angle)
	w, h := float64(r.Rect.Dx())/2, float64(r.Rect.Dy())/2
	x, y := float64(r.Rect.Min.X)+w, float64(r.Rect.Min.Y)+h
	var all [4][2]float64
	for i, c := range [4][2]float64{{-w, -h}, {w, -h}, {w, h}, {-w, h}} {
		all[i] = [2]float64{x + c[0]*cos - c[1]*sin, y + c[0]*sin + c[1]*cos}
	}
	return all
}

// sincos is those of degrees, exactly for quarter turns.
func sincos(degrees float64) (sin, cos float64) {
	switch math.Mod(degrees, 360) {
	case 0:
		return 0, 1
	case 90, -270:
		return 1, 0
	case -90, 270:
		return -1, 0
	case 180, -180:
		return 0, -1
	}
	return math.Sincos(degrees * math.Pi / 180)
}

// Bounds is the least rectangle that holds all corners.
func (r Result) Bounds() image.Rectangle {
	if r.Angle == 0 {
		return r.Rect
	}
	left, top, right, bottom := math.Inf(1), math.Inf(1), math.Inf(-1), math.Inf(-1)
	for _, c := range r.Corners() {
		left, right = min(left, c[0]), max(right, c[0])
		top, bottom = min(top, c[1]), max(bottom, c[1])
	}
	const close = 1e-9 // rounding is no pixel
	return image.Rect(int(math.Floor(left+close)), int(math.Floor(top+close)), int(math.Ceil(right-close)), int(math.Ceil(bottom-close)))
}
