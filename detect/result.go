package detect

import (
	"image"
	"math"
)

// A Result is an object that was found, with its position, its rotation and its score.
type Result struct {
	// Rect is the object's position. Rotated objects cover Rect rotated by Angle about its
	// center.
	Rect image.Rectangle
	// Angle is the object's rotation in degrees clockwise, in (-180, 180].
	Angle float64
	// Neighbors is the number of windows grouped into the result.
	Neighbors int
	// Score is the sum that the last stage computed for the best of these windows. A
	// higher score means that the cascade is more certain.
	Score float64
	// Stage is the number of stages that the best of these windows passes: all stages of
	// the cascade, or fewer for near misses.
	Stage int
	// Mirrored reports whether the object is mirrored; see [Options.Mirror].
	Mirrored bool
}

// Corners returns the x and y coordinates of the object's corners in the image. They are
// listed clockwise, starting with the corner that is at the top left when the object is
// upright.
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

// sincos returns the sine and cosine of an angle in degrees. It is exact for quarter turns.
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

// Bounds returns the smallest upright rectangle that contains all corners of the object.
func (r Result) Bounds() image.Rectangle {
	if r.Angle == 0 {
		return r.Rect
	}
	left, top, right, bottom := math.Inf(1), math.Inf(1), math.Inf(-1), math.Inf(-1)
	for _, c := range r.Corners() {
		left, right = min(left, c[0]), max(right, c[0])
		top, bottom = min(top, c[1]), max(bottom, c[1])
	}
	const close = 1e-9 // tolerance for rounding errors
	return image.Rect(int(math.Floor(left+close)), int(math.Floor(top+close)), int(math.Ceil(right-close)), int(math.Ceil(bottom-close)))
}
