package detect

import (
	"image"
	"math"
	"math/bits"
	"slices"

	"github.com/boxsum/boxsum"
	"github.com/boxsum/boxsum/internal/engine"
	"github.com/boxsum/boxsum/internal/raster"
)

// A rotated object is found by a rotated cascade in the original image. Quarter turns are
// exact, because boxes of features remain boxes. Turns by 45° are exact too: boxes then
// lie along the diagonals, where tilted tables provide their sums, and all boxes have
// twice as many pixels. Together these give eight directions. For other angles the image
// is rotated by less than 45°, once for each set of eight angles that are 45° apart.
// Tilted features do not rotate exactly, because a quarter turn moves them by half a
// pixel. For cascades with tilted features, the image is rotated for every angle.

// AllAngles returns 16 angles in degrees, 22.5° apart, for [Options.Angles]. An upright
// cascade finds most objects that are rotated by up to 11.25°, so a search at these
// angles covers every rotation.
func AllAngles() []float64 {
	all := make([]float64, 16)
	for i := range all {
		all[i] = 22.5*float64(i) - 157.5
	}
	return all
}

// A direction describes how a cascade is turned: mirrored if flipped, then by quarter
// turns, and then by 45° if diagonal.
type direction struct {
	quarters int
	diagonal bool
	flipped  bool
}

// directions is the number of directions.
const directions = 16

func (d direction) index() int {
	i := d.quarters
	if d.diagonal {
		i += 4
	}
	if d.flipped {
		i += 8
	}
	return i
}

func directionAt(i int) direction { return direction{i % 4, i/4%2 != 0, i >= 8} }

// split splits an angle into a rotation of the image, in [0°, 45°), and a direction of
// the cascade.
func split(angle float64) (image float64, d direction) {
	angle = math.Mod(angle, 360)
	if angle < 0 {
		angle += 360
	}
	eighths := math.Floor(angle / 45)
	image = angle - 45*eighths
	n := int(eighths) % 8
	return image, direction{quarters: n / 2, diagonal: n%2 != 0}
}

// A pose describes how to search for objects at an angle: how to rotate or mirror the
// image, and the direction or ratio along which to lay out the cascade.
type pose struct {
	turn     float64 // rotation of the image, in degrees
	mirrored bool    // mirrors the image after its rotation, and the cascade on digital lines
	ratio    ratio   // of rotated tables; zero if unused
	direction
}

// image returns the pose without its direction. Poses with equal images share tables.
func (p pose) image() pose {
	p.direction = direction{}
	return p
}

// angle returns the rotation of the objects, in (-180°, 180°].
func (p pose) angle() float64 {
	angle := p.turn + 90*float64(p.quarters)
	switch {
	case p.diagonal:
		angle += 45
	case p.mirrored && p.ratio.b > 0:
		angle = p.ratio.degrees() - angle
	case p.ratio.b > 0:
		angle -= p.ratio.degrees()
	}
	if angle > 180 {
		angle -= 360
	} else if angle <= -180 {
		angle += 360
	}
	return angle
}

// finds reports whether the objects are mirrored.
func (p pose) finds() (mirrored bool) { return p.flipped || p.mirrored && p.ratio.b == 0 }

// pose returns the pose for an angle. If the cascade has tilted features, the image is
// rotated by any angle, and mirrored.
func (c *Cascade) pose(angle float64, how Turn, mirrored bool) (p pose) {
	if c.tilted {
		p.mirrored = mirrored
		if p.turn = math.Mod(angle, 360); p.turn < 0 {
			p.turn += 360
		}
		return p
	}
	p.turn, p.direction = split(angle)
	p.flipped = mirrored
	if how != TurnTables || p.turn == 0 {
		if p.diagonal && 2*c.size.X*c.size.Y > maxPixels { // sums of squares on tilted tables would exceed 32 bits
			p.turn, p.diagonal = p.turn+45, false
		}
		return p
	}
	// Rows of a ratio a/b rise to the right, which is a counterclockwise rotation.
	// Clockwise rotations use a mirrored image.
	if p.diagonal {
		p.ratio, p.quarters = ratioOf(45-p.turn), (p.quarters+1)%4
	} else {
		p.ratio, p.mirrored, p.quarters = ratioOf(p.turn), true, (4-p.quarters)%4
	}
	p.turn, p.diagonal = 0, false
	if r := p.ratio; r.a == 0 || r.a == r.b {
		angle := p.angle()
		p = pose{}
		p.turn, p.direction = split(math.Round(angle))
		p.flipped = mirrored
	}
	return p
}

// posed returns the cascade in a pose.
func (c *Cascade) posed(p pose) *Cascade {
	if p.ratio.b > 0 {
		return c.onLines(p)
	}
	return c.turn(p.direction)
}

// turn returns the cascade for a direction. The result is cached.
func (c *Cascade) turn(d direction) *Cascade {
	if d == (direction{}) {
		return c
	}
	at := &c.turns[d.index()]
	if t := at.Load(); t != nil {
		return t
	}
	t := &Cascade{
		kind: c.kind, size: c.size, upright: c.size, stages: c.stages, trees: c.trees, nodes: c.nodes, leaves: c.leaves,
		subsets: append([][subsetWords]uint32(nil), c.subsets...), features: append([]feature(nil), c.features...),
	}
	if d.flipped {
		t.mirror()
	}
	for range d.quarters {
		t.quarter()
	}
	t.upright = t.size
	if t.diagonal = d.diagonal; d.diagonal {
		side := t.size.X + t.size.Y
		t.size = image.Pt(side, side)
	}
	at.CompareAndSwap(nil, t)
	return at.Load()
}

// quarter turns the features by 90° clockwise.
func (c *Cascade) quarter() {
	height := int16(c.size.Y)
	c.size.X, c.size.Y = c.size.Y, c.size.X
	for i := range c.features {
		for k := range c.features[i].boxes {
			b := &c.features[i].boxes[k]
			down := b.h
			if c.kind == LBP { // the box is the first of 3×3
				down *= 3
			}
			*b = box{height - b.y - down, b.x, b.h, b.w}
		}
	}
	for i := range c.subsets {
		// The top left moves to the top right, which is two bits further.
		from := c.subsets[i]
		var to [subsetWords]uint32
		for code := range 256 {
			was := bits.RotateLeft8(uint8(code), 2)
			to[code>>5] |= from[was>>5] >> (was & 31) & 1 << (code & 31)
		}
		c.subsets[i] = to
	}
}

// box returns the size of the window's box in its tables.
func (c *Cascade) box() image.Point {
	if c.diagonal || c.lattice != nil {
		return c.upright
	}
	return c.size
}

// corner returns the position in the tables of a point of the window.
func (c *Cascade) corner(x, y int) (int, int) {
	if c.diagonal {
		return c.upright.Y + x - y, x + y
	}
	return x, y
}

// window returns the rectangle of the window at (x, y) of a layer, before its rotation
// about its center.
func (c *Cascade) window(l *layer, x, y int) image.Rectangle {
	if !c.diagonal && c.lattice == nil {
		return l.rect(x, y)
	}
	px, py := c.middle(l, x, y)
	if c.diagonal { // the pixels of boxes on tilted tables lie half a pixel to the left of their corners
		px -= float64(l.scale) / 2
	}
	return aboutPoint(px, py, c.sizeAt(l.scale))
}

// sizeAt returns the size of objects at a scale.
func (c *Cascade) sizeAt(scale float32) image.Point {
	if !c.diagonal && c.lattice == nil {
		return c.windowAt(scale)
	}
	s := c.grow() * float64(scale)
	return image.Pt(int(math.RoundToEven(float64(c.upright.X)*s)), int(math.RoundToEven(float64(c.upright.Y)*s)))
}

// aboutPoint returns the rectangle of the given size whose center is nearest to a point.
func aboutPoint(x, y float64, size image.Point) image.Rectangle {
	at := image.Pt(int(math.RoundToEven(x-float64(size.X)/2)), int(math.RoundToEven(y-float64(size.Y)/2)))
	return image.Rectangle{at, at.Add(size)}
}

// limits returns the smallest and largest size of rotated objects. Odd quarter turns
// exchange width and height.
func (o *Options) limits(quarters int) (least, greatest image.Point) {
	least, greatest = o.Min, o.Max
	if quarters%2 != 0 {
		least.X, least.Y = least.Y, least.X
		greatest.X, greatest.Y = greatest.Y, greatest.X
	}
	return least, greatest
}

// isUpright reports whether all angles are zero.
func (o *Options) isUpright() bool {
	if o == nil {
		return true
	}
	for _, a := range o.Angles {
		if a != 0 {
			return false
		}
	}
	return true
}

// checkAngles validates the angles.
func (o *Options) checkAngles() error {
	for _, a := range o.Angles {
		if !(a >= -360 && a <= 360) {
			return raster.Invalid("angle is %v, want degrees from -360 to 360", a)
		}
	}
	switch {
	case o.Compat && !o.isUpright():
		return raster.Invalid("compat cannot be combined with angles: OpenCV finds upright objects only")
	case o.Compat && o.Mirror:
		return raster.Invalid("compat cannot be combined with mirror: OpenCV has no mirrored search")
	}
	return nil
}

// appendTurned appends the objects found at several angles.
func (s *search) appendTurned(to []Result, c *Cascade, img *boxsum.Image[uint8], o *Options) ([]Result, error) {
	var given Options
	if err := o.check(&given, &s.set); err != nil {
		return to, err
	}
	s.src.Image(img.Pix, img.Width, img.Height, img.Channels, img.Stride)
	if err := s.src.Pixels(len(img.Pix)); err != nil {
		return to, err
	}
	s.turned, s.turnedMisses = s.turned[:0], s.turnedMisses[:0]
	s.found.Store(0)
	t := &s.turn
	s.pose(c, &given)
	done := 0
	if given.Turn == TurnTables {
		if err := c.checkLattice(); err != nil {
			return to, err
		}
	}
	if _, marks := given.sharing(); marks != 0 {
		w, h := float64(c.size.X), float64(c.size.Y)
		side := math.Sqrt(w * h)
		s.marks.plan(s.src.Width, s.src.Height, side, side*max(1, math.Sqrt2*min(float64(s.src.Width)/w, float64(s.src.Height)/h)))
	}
	for i, p := range s.poses {
		p = p.image()
		same := func(q pose) bool { return q.image() == p }
		if slices.ContainsFunc(s.poses[:i], same) {
			continue // already searched together with another angle of this image
		}
		*t = turning{search: s, image: *img, turn: p.turn, mirrored: p.mirrored, ratio: p.ratio, bounds: image.Rect(0, 0, img.Width, img.Height)}
		if p.turn != 0 {
			if err := t.rotate(c, &given); err != nil {
				return to, err
			}
		}
		pass := given
		pass.Angles = nil
		pass.BGR = pass.BGR && p.turn == 0 // rotated images are gray
		var wanted [directions]bool
		for _, q := range s.poses[i:] {
			if same(q) {
				wanted[q.index()] = true
			}
		}
		if err := t.passes(c, wanted, &pass, &given, &done); err != nil {
			return to, err
		}
	}
	if given.Progress != nil {
		given.Progress(1)
	}
	for _, all := range [][]candidate{s.turned, s.turnedMisses} {
		if given.Ungrouped {
			to = each(to, all, t.bounds)
		} else {
			to = s.grouper.group(to, all, given.Neighbors, t.bounds)
		}
	}
	return to, nil
}

// share returns a progress function for a pass over n of all angles, after done of them
// are complete. It does not report the end of the work.
func share(report func(done float64), done, n, all int) func(float64) {
	if report == nil {
		return nil
	}
	return func(part float64) {
		if v := (float64(done) + part*float64(n)) / float64(all); v < 1 {
			report(v)
		}
	}
}

// pose lists the poses for all angles, each once. Multiples of 45° come first, because
// other angles may depend on their marks.
func (s *search) pose(c *Cascade, o *Options) {
	s.poses = s.poses[:0]
	for _, later := range [2]bool{false, true} {
		for _, mirrored := range [2]bool{false, true} {
			for i := range max(1, len(o.Angles)) {
				angle := 0.0
				if len(o.Angles) > 0 {
					angle = o.Angles[i]
				}
				p := c.pose(angle, o.Turn, mirrored)
				if mirrored && !o.Mirror || (markBit(p.image().angle()) == 0) != later || slices.Contains(s.poses, p) {
					continue
				}
				s.poses = append(s.poses, p)
			}
		}
	}
}

func tooMany(limit int) error {
	return raster.Invalid("more than %d windows pass, too many to group (search for larger objects, or raise the limit)", limit)
}

// A turning is an image rotated by an angle, in which objects rotated by that angle are
// upright.
type turning struct {
	search        *search
	image         boxsum.Image[uint8] // the rotated image
	bounds        image.Rectangle     // of the original image
	turn          float64             // degrees
	mirrored      bool                // left and right are exchanged
	ratio         ratio               // of rotated tables; zero if unused
	sin, cos      float64
	x, y          float64 // centers of the original image and of the rotated one
	middleX, midY float64
}

// rotate computes the rotated image with bilinear interpolation. Pixels outside the image
// repeat its edges.
func (t *turning) rotate(c *Cascade, o *Options) error {
	s, src := t.search, t.image
	s.src.Image(src.Pix, src.Width, src.Height, src.Channels, src.Stride)
	if err := s.src.Pixels(len(src.Pix)); err != nil { // fills in defaults for zeros
		return err
	}
	if err := checkChannels(s.src.Channels); err != nil {
		return err
	}
	if s.src.Channels > 1 {
		s.opt.BGR = o.BGR
		s.toGray()
	}
	pix, stride, w, h := s.src.Pix, s.src.Stride, s.src.Width, s.src.Height
	t.sin, t.cos = sincos(t.turn)
	width := int(math.Ceil(float64(float64(w)*math.Abs(t.cos)) + float64(float64(h)*math.Abs(t.sin))))
	height := int(math.Ceil(float64(float64(w)*math.Abs(t.sin)) + float64(float64(h)*math.Abs(t.cos))))
	t.image = boxsum.Image[uint8]{Width: width, Height: height, Channels: 1, Stride: width}
	if w == 0 || h == 0 {
		return nil
	}
	if err := raster.Check(float64(width) * float64(height)); err != nil {
		return err
	}
	s.rotated = engine.AtLeast(s.rotated, width*height)
	t.image.Pix = s.rotated[:width*height]
	t.x, t.y, t.middleX, t.midY = float64(w)/2, float64(h)/2, float64(width)/2, float64(height)/2
	const one = 1 << 16
	clamp := func(v float64, n int) (at, next, part int) {
		v = min(max(v, 0), float64(n-1))
		at = int(v)
		return at, min(at+1, n-1), int((v - float64(at)) * 256)
	}
	for j := range height {
		row := t.image.Pix[j*width:][:width]
		for i := range row {
			x, y := t.turnBack(float64(i)+0.5, float64(j)+0.5)
			x0, x1, px := clamp(x-0.5, w)
			y0, y1, py := clamp(y-0.5, h)
			a := int(pix[y0*stride+x0])*(256-px) + int(pix[y0*stride+x1])*px
			b := int(pix[y1*stride+x0])*(256-px) + int(pix[y1*stride+x1])*px
			row[i] = uint8((a*(256-py) + b*py + one/2) / one)
		}
	}
	return nil
}

// back maps a point of the rotated image to the original.
func (t *turning) back(x, y float64) (float64, float64) {
	if t.mirrored {
		x = float64(t.image.Width) - x
	}
	return t.turnBack(x, y)
}

// turnBack is like back, but does not undo mirroring.
func (t *turning) turnBack(x, y float64) (float64, float64) {
	if t.turn == 0 {
		return x, y
	}
	x, y = x-t.middleX, y-t.midY
	return t.x + float64(x*t.cos) - float64(y*t.sin), t.y + float64(x*t.sin) + float64(y*t.cos)
}

// passes searches the wanted directions. Directions with the same window size share a pass
// and its tables.
func (t *turning) passes(c *Cascade, wanted [directions]bool, o, given *Options, done *int) error {
	s := t.search
	list, marks := given.sharing()
	for i := range wanted {
		s.views = s.views[:0]
		for k := i; k < len(wanted); k++ {
			d := directionAt(k)
			if !wanted[k] {
				continue
			}
			p := pose{t.turn, t.mirrored, t.ratio, d}
			turned := c.posed(p)
			least, greatest := given.limits(d.quarters)
			if len(s.views) == 0 {
				o.Min, o.Max = least, greatest
			} else if f := s.views[0].cascade; f.diagonal != d.diagonal || f.size != turned.size || o.Min != least || o.Max != greatest {
				continue
			}
			wanted[k] = false
			v := s.view(turned)
			v.direction, v.angle, v.mirrored = d, p.angle(), p.finds()
			v.marks, v.between = markBit(v.angle)&marks, 0
			if marks != 0 {
				v.between = adjacentMarks(v.angle, list)
			}
		}
		if len(s.views) == 0 {
			continue
		}
		s.turning, s.coarse = t, !given.isUpright()
		o.Progress = share(given.Progress, *done, len(s.views), len(s.poses))
		*done += len(s.views)
		if err := s.prepare(&t.image, o); err != nil {
			return err
		}
		if err := s.run(); err != nil {
			return err
		}
		s.turned, s.turnedMisses = append(s.turned, s.candidates...), append(s.turnedMisses, s.misses...)
		if len(s.turned)+len(s.turnedMisses) > given.Limit {
			return tooMany(given.Limit)
		}
	}
	return nil
}

// slack is the number of pixels by which a window may extend beyond the edges of the
// image.
const slack = 1

// slanted reports whether corners of the rotated image lie outside the original.
func (t *turning) slanted() bool { return math.Mod(t.turn, 90) != 0 }

// middle returns the center of a window of a layer, in pixels of the searched image.
func (c *Cascade) middle(l *layer, x, y int) (float64, float64) {
	s := float64(l.scale)
	return (float64(x) + float64(c.size.X)/2) * s, (float64(y) + float64(c.size.Y)/2) * s
}

// mark leaves marks at the center of a window.
func (t *turning) mark(c *Cascade, l *layer, x, y int, bits uint8) {
	px, py := t.back(c.middle(l, x, y))
	t.search.marks.set(l.level, px, py, bits)
}

// place maps a window of the rotated image to the original, and reports whether it lies
// within the original.
func (t *turning) place(f *candidate, l *layer) bool {
	v := &t.search.views[f.view]
	r := v.cascade.window(l, int(f.x), int(f.y))
	x, y := t.back(float64(r.Min.X+r.Max.X)/2, float64(r.Min.Y+r.Max.Y)/2)
	size := r.Size()
	if v.quarters%2 != 0 { // the sides of the upright object
		size.X, size.Y = size.Y, size.X
	}
	f.rect, f.angle, f.mirrored = aboutPoint(x, y, size), v.angle, v.mirrored
	if t.slanted() {
		for _, p := range (Result{Rect: f.rect, Angle: v.angle}).Corners() {
			if p[0] < -slack || p[1] < -slack || p[0] > float64(t.bounds.Max.X)+slack || p[1] > float64(t.bounds.Max.Y)+slack {
				return false
			}
		}
	}
	return true
}

// span returns the range of window columns, in a row of a layer, that may lie within the
// image.
func (t *turning) span(c *Cascade, l *layer, y int) [2]int {
	if !t.slanted() {
		return [2]int{0, l.columns}
	}
	const near = slack + 2 // allows for rounding errors
	scale := float64(l.scale)
	w, h := float64(c.upright.X), float64(c.upright.Y)
	if !c.diagonal {
		w, h = float64(c.size.X), float64(c.size.Y)
	}
	from, to := 0.0, float64(l.columns-1)
	for _, corner := range [4][2]float64{{0, 0}, {w, 0}, {0, h}, {w, h}} {
		cx, cy := corner[0], corner[1]
		if c.diagonal {
			cx, cy = h+cx-cy, cx+cy
		}
		px, py := t.back(cx*scale, (float64(y)+cy)*scale)
		for _, side := range [2][3]float64{{px, t.cos, float64(t.bounds.Max.X)}, {py, t.sin, float64(t.bounds.Max.Y)}} {
			at, pace, end := side[0], side[1]*scale*float64(l.step), side[2]
			if t.mirrored {
				pace = -pace
			}
			a, b := (-near-at)/pace, (end+near-at)/pace
			from, to = max(from, min(a, b)), min(to, max(a, b))
		}
	}
	if !(from <= to) {
		return [2]int{}
	}
	return [2]int{int(math.Ceil(from)), int(to) + 1}
}

// angleReach is the largest difference between the angles of one object's windows.
const angleReach = 46

func near(a, b float64) bool { return math.Abs(math.Remainder(a-b, 360)) <= angleReach }

// addAngle adds the angle of a window to the sums of a class. It must be called before
// the window is counted.
func (c *class) addAngle(angle float64) {
	if c.n == 0 {
		c.angle = angle
	}
	c.several = c.several || c.angle != angle
	if angle != 0 {
		sin, cos := math.Sincos(angle * math.Pi / 180)
		c.sin, c.cos = c.sin+sin, c.cos+cos
	} else {
		c.cos++
	}
}

// meanAngle returns the mean angle of the windows, rounded to 0.01°.
func (c *class) meanAngle() float64 {
	if !c.several {
		return c.angle
	}
	angle := math.Round(math.Atan2(c.sin, c.cos)*18000/math.Pi) / 100
	if angle <= -180 {
		angle += 360
	}
	return angle
}
