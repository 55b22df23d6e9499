package detect

import (
	"image"
	"math"
	"math/bits"
	"slices"

	"github.com/boxsum/boxsum"
	"github.com/boxsum/boxsum/internal/engine"
	"github.com/boxsum/boxsum/internal/grid"
)

// A turned object is found by a turned cascade, in the same image. Quarter turns are exact:
// boxes of features stay boxes. So are turns by 45°: boxes lie along the diagonals, where
// sums come from tilted tables, and all of them have twice as many pixels. These are eight
// directions. For angles between them the image is turned once, by less than 45°, for each
// eight that are 45° apart. Tilted features do not turn exactly: a quarter turn moves them by
// half a pixel. For cascades that have some, the image is turned for every angle.

// AllAngles is angles that find objects turned by any: 22.5° apart. An upright cascade finds
// most objects that are turned by up to half of this.
func AllAngles() []float64 {
	all := make([]float64, 16)
	for i := range all {
		all[i] = 22.5*float64(i) - 157.5
	}
	return all
}

// A direction is how a cascade is turned: mirrored if it is flipped, then by quarters, and
// then by 45° if it is diagonal.
type direction struct {
	quarters int
	diagonal bool
	flipped  bool
}

// directions is how many of them there are.
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

// split is an angle as a turn of the image, from 0° to less than 45°, and a direction.
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

// A pose is how objects at an angle are searched: the image is turned or mirrored, and the
// cascade lies in a direction, or along a ratio.
type pose struct {
	turn     float64 // of the image, in degrees
	mirrored bool    // the image, after that, and the cascade on digital lines
	ratio    ratio   // of rotated tables, or zero
	direction
}

// image is the pose without the direction: poses that have it in common share tables.
func (p pose) image() pose {
	p.direction = direction{}
	return p
}

// angle is that of objects, more than -180° and 180° at most.
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

// finds reports whether objects are mirrored.
func (p pose) finds() (mirrored bool) { return p.flipped || p.mirrored && p.ratio.b == 0 }

// pose is that of an angle, of objects that may be mirrored. For a cascade with tilted
// features the image turns by any angle, and is mirrored.
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
		if p.diagonal && 2*c.size.X*c.size.Y > maxPixels { // sums of squares on tilted tables would have more than 32 bits
			p.turn, p.diagonal = p.turn+45, false
		}
		return p
	}
	// Rows of a/b climb to the right, which is a turn to the left: others are found in a mirror.
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

// in is the cascade in a pose.
func (c *Cascade) in(p pose) *Cascade {
	if p.ratio.b > 0 {
		return c.along(p)
	}
	return c.turn(p.direction)
}

// turn is the cascade for a direction, which is made once.
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
			if c.kind == LBP { // the box is the first of three by three
				down *= 3
			}
			*b = box{height - b.y - down, b.x, b.h, b.w}
		}
	}
	for i := range c.subsets {
		// What was at the top left is at the top right now, two bits further.
		from := c.subsets[i]
		var to [subsetWords]uint32
		for code := range 256 {
			was := bits.RotateLeft8(uint8(code), 2)
			to[code>>5] |= from[was>>5] >> (was & 31) & 1 << (code & 31)
		}
		c.subsets[i] = to
	}
}

// box is the size of the window's box on its tables.
func (c *Cascade) box() image.Point {
	if c.diagonal || c.lattice != nil {
		return c.upright
	}
	return c.size
}

// corner is where a point of the window is in the tables.
func (c *Cascade) corner(x, y int) (int, int) {
	if c.diagonal {
		return c.upright.Y + x - y, x + y
	}
	return x, y
}

// window is what a place of a layer stands for: a rectangle that is to be turned about its
// middle.
func (c *Cascade) window(l *layer, x, y int) image.Rectangle {
	if !c.diagonal && c.lattice == nil {
		return l.rect(x, y)
	}
	px, py := c.middle(l, x, y)
	if c.diagonal { // the pixels of a box on tilted tables lie half a pixel to the left of its corners
		px -= float64(l.scale) / 2
	}
	return aboutPoint(px, py, c.sizeAt(l.scale))
}

// sizeAt is the size of objects at a scale.
func (c *Cascade) sizeAt(scale float32) image.Point {
	if !c.diagonal && c.lattice == nil {
		return c.windowAt(scale)
	}
	s := c.grow() * float64(scale)
	return image.Pt(int(math.RoundToEven(float64(c.upright.X)*s)), int(math.RoundToEven(float64(c.upright.Y)*s)))
}

// aboutPoint is the rectangle of a size whose middle is the nearest to a point.
func aboutPoint(x, y float64, size image.Point) image.Rectangle {
	at := image.Pt(int(math.RoundToEven(x-float64(size.X)/2)), int(math.RoundToEven(y-float64(size.Y)/2)))
	return image.Rectangle{at, at.Add(size)}
}

// limits is the least and greatest size of objects that are turned: sides of quarter turns are
// exchanged.
func (o *Options) limits(quarters int) (least, greatest image.Point) {
	least, greatest = o.Min, o.Max
	if quarters%2 != 0 {
		least.X, least.Y = least.Y, least.X
		greatest.X, greatest.Y = greatest.Y, greatest.X
	}
	return least, greatest
}

// upright reports whether all angles are.
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

// checkAngles reports what is wrong with them.
func (o *Options) checkAngles() error {
	for _, a := range o.Angles {
		if !(a >= -360 && a <= 360) {
			return grid.Invalid("an angle of %v: use degrees from -360 to 360", a)
		}
	}
	switch {
	case o.Compat && !o.isUpright():
		return grid.Invalid("turned objects with Compat: OpenCV finds upright ones only")
	case o.Compat && o.Mirror:
		return grid.Invalid("mirrored objects with Compat: OpenCV does not find them")
	}
	return nil
}

// appendTurned finds objects at several angles.
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
			continue // this turn of the image is done
		}
		*t = turning{search: s, image: *img, turn: p.turn, mirrored: p.mirrored, ratio: p.ratio, bounds: image.Rect(0, 0, img.Width, img.Height)}
		if p.turn != 0 {
			if err := t.rotate(c, &given); err != nil {
				return to, err
			}
		}
		pass := given
		pass.Angles = nil
		pass.BGR = pass.BGR && p.turn == 0 // a turned image is gray
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

// share is told how much of a pass is done, and reports how much of all, before the end: a pass is for n angles, after done of them.
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

// pose lists how all angles are searched, each once. Multiples of 45° come first: others may
// be left to their first stages.
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
	return grid.Invalid("more than %d windows pass: there is too much to find, see Options.Limit", limit)
}

// A turning is an image turned by an angle, so that objects turned by it are upright.
type turning struct {
	search        *search
	image         boxsum.Image[uint8] // that is searched
	bounds        image.Rectangle     // of the image that was given
	turn          float64             // degrees
	mirrored      bool                // with left and right exchanged
	ratio         ratio               // of rotated tables, or zero
	sin, cos      float64
	x, y          float64 // the middle of the image, and of the turned one
	middleX, midY float64
}

// rotate makes the turned image, by bilinear interpolation. Beyond the image its edges go on.
func (t *turning) rotate(c *Cascade, o *Options) error {
	s, src := t.search, t.image
	s.src.Image(src.Pix, src.Width, src.Height, src.Channels, src.Stride)
	if err := s.src.Pixels(len(src.Pix)); err != nil { // zeros stand for what is usual
		return err
	}
	if n := s.src.Channels; n != 1 && n != 3 && n != 4 {
		return grid.Invalid("an image with %d channels: use 1, or 3 or 4 that start with red, green and blue", n)
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
	if err := grid.Check(float64(width) * float64(height)); err != nil {
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

// back is the point of the image that a point of the turned one is from.
func (t *turning) back(x, y float64) (float64, float64) {
	if t.mirrored {
		x = float64(t.image.Width) - x
	}
	return t.turnBack(x, y)
}

// turnBack is that before the image is mirrored.
func (t *turning) turnBack(x, y float64) (float64, float64) {
	if t.turn == 0 {
		return x, y
	}
	x, y = x-t.middleX, y-t.midY
	return t.x + float64(x*t.cos) - float64(y*t.sin), t.y + float64(x*t.sin) + float64(y*t.cos)
}

// passes searches in the directions that are wanted: together in those that have windows of
// one size on the same tables.
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
			turned := c.in(p)
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
				v.between = between(v.angle, list)
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

// slack is how far a window may lie beyond the edges of the image, in pixels.
const slack = 1

// slanted reports whether the turned image has corners that the image does not.
func (t *turning) slanted() bool { return math.Mod(t.turn, 90) != 0 }

// middle is that of a window of a layer, in pixels of the image that is searched.
func (c *Cascade) middle(l *layer, x, y int) (float64, float64) {
	s := float64(l.scale)
	return (float64(x) + float64(c.size.X)/2) * s, (float64(y) + float64(c.size.Y)/2) * s
}

// mark leaves marks at the middle of a window.
func (t *turning) mark(c *Cascade, l *layer, x, y int, bits uint8) {
	px, py := t.back(c.middle(l, x, y))
	t.search.marks.set(l.level, px, py, bits)
}

// place is where a window of the turned image lies in the image, if it does.
func (t *turning) place(f *candidate, l *layer) bool {
	v := &t.search.views[f.view]
	r := v.cascade.window(l, int(f.x), int(f.y))
	x, y := t.back(float64(r.Min.X+r.Max.X)/2, float64(r.Min.Y+r.Max.Y)/2)
	size := r.Size()
	if v.quarters%2 != 0 { // the object's own sides
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

// span is the windows of a row of a layer that may lie in the image: from one column of
// windows to another.
func (t *turning) span(c *Cascade, l *layer, y int) [2]int {
	if !t.slanted() {
		return [2]int{0, l.columns}
	}
	const near = slack + 2 // which is rounded
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

// angleReach is how far the angles of windows of one object may be apart.
const angleReach = 46

func near(a, b float64) bool { return math.Abs(math.Remainder(a-b, 360)) <= angleReach }

// addAngle counts the angle of a window, before it is counted itself.
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

// meanAngle is the angle of the object: between those of its windows, to 0.01°.
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
