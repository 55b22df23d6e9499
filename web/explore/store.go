package explore

import (
	"archive/zip"
	"bytes"
	"context"
	"crypto/rand"
	"errors"
	"fmt"
	"image"
	"io"
	"math"
	"net/url"
	"path"
	"slices"
	"sort"
	"strings"
	"sync"

	"github.com/boxsum/boxsum/imgio"
	"github.com/boxsum/boxsum/internal/pixels"
	"github.com/boxsum/boxsum/internal/raster"
	"github.com/boxsum/boxsum/store"
	"github.com/boxsum/boxsum/store/sources"
	"github.com/boxsum/boxsum/zarr"
)

const (
	// smallStore is the maximum number of elements that are read into memory at once, and then treated like an image.
	smallStore = 16 << 20
	// maxRegion is the maximum number of pixels of a store that are read for one answer.
	maxRegion = 16 << 20
	// maxOverview is the maximum number of pixels in the overview of a store.
	maxOverview = 16 << 20
	// maxOverviews is the maximum number of overviews of a store.
	maxOverviews = 4
	// maxPlane is the maximum number of pixels of an image in a store.
	maxPlane int64 = 1 << 44
)

// stored is an image in a store, with its table if there is one.
type stored struct {
	info   Info
	levels []level // the finest first; empty if there is only a table
	table  *store.Table
	source string // location in code
	sums   string // location of its table

	closers []io.Closer
	size    int64 // maximum memory

	looks  sync.Mutex
	wide   []*overview // the most recently used one last
	closed bool

	mu     sync.Mutex
	region *picture // the part requested last
	box    image.Rectangle
}

// A level is one resolution of a stored image.
type level struct {
	array *zarr.Array
	scale int // side of its pixels in pixels of the finest level
}

// given maps names in URLs for [sources.Open] to the buckets of stores that were sent, or to functions that open one, while they are being opened.
var given sync.Map

func init() {
	zarr.Register("given", func(_ context.Context, u *url.URL, _ bool) (zarr.Bucket, error) {
		b, ok := given.Load(u.Host)
		if !ok {
			return nil, refuse("the store was not found")
		}
		at := strings.TrimPrefix(u.Path, "/")
		if open, ok := b.(func() (zarr.Bucket, error)); ok {
			b, err := open()
			if err != nil {
				return nil, err
			}
			return zarr.Sub(b, at), nil
		}
		return zarr.Sub(b.(zarr.Bucket), at), nil
	})
}

// OpenStore opens a Zarr array, an OME-Zarr image, a table or a mosaic.
func OpenStore(ctx context.Context, name, location string) (doc Document, err error) {
	d := &stored{source: name, info: Info{Name: name, Kind: "store", Format: "zarr"}}
	if sources.IsMosaic(location) {
		d.info.Format = "mosaic"
	}
	defer func() {
		if doc != Document(d) {
			d.Close()
		}
	}()
	if t, err := store.Open(ctx, location, nil); err == nil {
		d.table, d.closers = t, []io.Closer{t}
		d.info.Table, d.info.Channels, d.info.Width, d.info.Height = true, t.Channels(), t.Bounds().Dx(), t.Bounds().Dy()
		pixel, sum, _ := t.Types()
		d.info.Pixel, d.info.Sum = pixel.String(), sum.String()
		return d.begin(ctx)
	}
	if err := d.openLevels(ctx, location); err != nil {
		return nil, err
	}
	if len(d.levels) == 0 {
		a, err := sources.Open(ctx, location)
		if err != nil {
			return nil, err
		}
		d.levels, d.closers = []level{{array: a}}, append(d.closers, a)
	}
	shape := d.levels[0].array.Shape()
	if len(shape) < 2 {
		return nil, refuse("array of shape %v is not an image, want (H, W) or (H, W, C)", shape)
	}
	elements := 1
	for _, n := range shape {
		if n < 1 || elements > math.MaxInt/n {
			return nil, refuse("array of shape %v is not an image, want (H, W) or (H, W, C)", shape)
		}
		elements *= n
	}
	if elements <= smallStore {
		return inMemory(ctx, name, d.info.Format, d.levels[0].array)
	}
	d.info.Pixel = d.levels[0].array.Type().String()
	d.info.Height, d.info.Width, d.info.Channels = planeOf(shape)
	if d.info.Depth = leading(shape); d.info.Depth == 1 {
		d.info.Depth = 0
	}
	// A level with other axes or channels than the finest shows something else.
	d.levels = slices.DeleteFunc(d.levels, func(l level) bool {
		other := l.array.Shape()
		if len(other) != len(shape) || slices.Min(other) < 1 {
			return true
		}
		_, _, channels := planeOf(other)
		return channels != d.info.Channels
	})
	for i := range d.levels {
		_, w, _ := planeOf(d.levels[i].array.Shape())
		d.levels[i].scale = max(1, int(math.Round(float64(d.info.Width)/float64(w))))
	}
	return d.begin(ctx)
}

// openLevels opens the levels of an OME-Zarr image. There are none if the location is not a group.
func (d *stored) openLevels(ctx context.Context, location string) error {
	b, err := zarr.OpenBucket(ctx, location, false)
	if err != nil {
		return nil // it may be a file; opening that reports any error
	}
	d.closers = append(d.closers, b)
	g, err := zarr.OpenGroup(ctx, b, "")
	if err != nil {
		return nil
	}
	list, _, err := g.Levels()
	if err != nil {
		return err
	}
	for _, l := range list {
		a, err := g.Array(ctx, l.Path)
		if err != nil {
			return err
		}
		d.levels = append(d.levels, level{array: a})
	}
	return nil
}

// planeOf returns the size of the planes of an array: its last two axes, or three if the last one is the channels of an
// image.
func planeOf(shape []int) (height, width, channels int) {
	n := len(shape)
	if n == 3 && shape[2] <= 4 {
		return shape[0], shape[1], shape[2]
	}
	return shape[n-2], shape[n-1], 1
}

// leading returns the number of planes.
func leading(shape []int) int {
	if n := len(shape); n > 2 && !(n == 3 && shape[2] <= 4) {
		planes := 1
		for _, side := range shape[:n-2] {
			planes *= side
		}
		return planes
	}
	return 1
}

// inMemory reads a small array into memory, as an image or a volume.
func inMemory(ctx context.Context, name, format string, a *zarr.Array) (Document, error) {
	data, err := sources.ReadAll(ctx, a)
	if err != nil {
		return nil, err
	}
	shape := a.Shape()
	for len(shape) > 2 && shape[0] == 1 && !(len(shape) == 3 && shape[2] <= 4) {
		shape = shape[1:]
	}
	if len(shape) > 3 { // flatten several axes of planes
		shape = []int{leading(shape), shape[len(shape)-2], shape[len(shape)-1]}
	}
	solid := isVolume(shape)
	plane := shape
	if solid {
		plane = []int{shape[0] * shape[1], shape[2]}
	}
	whole, err := (&imgio.Array{Shape: plane, Data: data}).Image()
	if err != nil {
		return nil, err
	}
	img := pixels.Of(whole)
	if solid {
		if img, err = summable(img); err != nil {
			return nil, err
		}
		img.Extent = raster.VolumeExtent(shape[2], shape[1], shape[0], 1, shape[2], shape[1]*shape[2])
		return orNil(newBlock(ctx, name, format, img))
	}
	d, err := newPicture(ctx, name, img)
	if err != nil {
		return nil, err
	}
	d.info.Format = format
	return d, nil
}

func orNil(b *block, err error) (Document, error) {
	if err != nil {
		return nil, err
	}
	return b, nil
}

// begin determines the properties that tiles need.
func (d *stored) begin(ctx context.Context) (Document, error) {
	width, height := int64(d.info.Width), int64(d.info.Height)
	if width < 1 || height < 1 || width > maxPlane/height {
		return nil, refuse("image is %d×%d, want 1 to %d pixels to show it", width, height, maxPlane)
	}
	d.info.Low, d.info.High = 0, 255
	if d.info.Pixel != "uint8" {
		middle := image.Rect(0, 0, min(512, d.info.Width), min(512, d.info.Height)).Add(image.Pt(max(0, d.info.Width/2-256), max(0, d.info.Height/2-256)))
		k := max(0, len(d.levels)-1)
		if k > 0 { // the coarsest level shows the whole image
			h, w, _ := planeOf(d.levels[k].array.Shape())
			middle = image.Rect(0, 0, min(w, 2048), min(h, 2048))
		}
		img, err := d.read(ctx, k, middle, 0)
		if err != nil {
			return nil, err
		}
		p, err := newPlane(ctx, img)
		if err != nil {
			return nil, err
		}
		d.info.Low, d.info.High, _ = p.bounds()
	}
	o, c := newOverview(d, 0, 0), int64(d.info.Channels)
	d.size = maxOverviews*int64(o.w*o.h+o.across*o.down) + 24*c*min(width*height, maxRegion) // including the part requested last
	if d.table != nil {
		d.size += 16 * c * min(width*height, maxRegion) // and parts of the table
	}
	if !d.info.Table {
		d.info.Note = "boxes of up to 16 megapixels are summed from their pixels; for larger ones, open the image together with its table (boxsum integrate " + d.info.Name + " -o table.zarr)"
	}
	return d, nil
}

// WithTables attaches tables to the images from which they were computed, if both are in docs, and
// returns the remaining documents. A table that may belong to several images, or to none, remains a
// document.
func WithTables(ctx context.Context, docs []Document) (rest []Document) {
	for _, doc := range docs {
		t, ok := doc.(*stored)
		if ok && t.table != nil && len(t.levels) == 0 {
			if im, note := imageOf(ctx, docs, t); im != nil {
				im.sums = t.source
				im.table, im.info.Table, im.info.Sum, im.info.Note = t.table, true, t.info.Sum, note
				im.closers, t.closers = append(im.closers, t.closers...), nil
				t.Close()
				continue
			}
		}
		rest = append(rest, doc)
	}
	return rest
}

// imageOf returns the image from which a table was made, by the fingerprint stored in the table. A copy of an image has
// another fingerprint: it is accepted if it is the only image whose pixels match the table in a sample, and note says so.
func imageOf(ctx context.Context, docs []Document, t *stored) (im *stored, note string) {
	var known, likely []*stored
	for _, o := range docs {
		d, ok := o.(*stored)
		if !ok || !d.alike(t) {
			continue
		}
		if of, err := t.table.Of(ctx, d.levels[0].array); err == nil && of {
			known = append(known, d)
		} else if d.fits(ctx, t) {
			likely = append(likely, d)
		}
	}
	switch {
	case len(known) == 1:
		return known[0], ""
	case len(known) == 0 && len(likely) == 1:
		return likely[0], "the table was made from other files, maybe copies of these: nine of its boxes agree with the pixels"
	}
	return nil, ""
}

// alike reports whether a table has the size and type of an image.
func (d *stored) alike(t *stored) bool {
	i, k := &d.info, &t.info
	return len(d.levels) > 0 && d.table == nil && i.Depth == 0 && i.Width == k.Width && i.Height == k.Height && i.Channels == k.Channels && i.Pixel == k.Pixel
}

// fits reports whether nine boxes of a table have the means of the image's pixels.
func (d *stored) fits(ctx context.Context, t *stored) bool {
	i := &d.info
	slack := 1e-9 * (i.High - i.Low)
	if strings.HasPrefix(i.Pixel, "float") {
		slack *= 1000
	}
	const side = 64
	for n := range 9 {
		b := image.Rect(0, 0, min(side, i.Width), min(side, i.Height))
		b = b.Add(image.Pt((i.Width-b.Dx())/2*(n%3), (i.Height-b.Dy())/2*(n/3)))
		img, err := d.read(ctx, 0, b, 0)
		if err != nil {
			return false
		}
		p, err := newPlane(ctx, img)
		if err != nil {
			return false
		}
		means := make([]float64, i.Channels)
		if err := t.table.MeanBoxes(ctx, means, []image.Rectangle{b}); err != nil {
			return false
		}
		for c, mean := range means {
			want, ok := p.box(b.Sub(b.Min), c).Mean.(float64)
			if ok && math.Abs(mean-want) > slack {
				return false
			}
		}
	}
	return true
}

// tableSource returns the location of the table in code.
func (d *stored) tableSource() string {
	if d.sums != "" {
		return d.sums
	}
	return d.source
}

func (d *stored) Info() *Info  { return &d.info }
func (d *stored) bytes() int64 { return d.size }

func (d *stored) Close() (err error) {
	d.looks.Lock()
	d.closed = true
	for _, o := range d.wide {
		o.stop()
	}
	d.looks.Unlock()
	for _, c := range d.closers {
		err = errors.Join(err, c.Close())
	}
	return err
}

// overview returns the overview of a slice and a channel. The most recently used ones are kept.
func (d *stored) overview(z, channel int) *overview {
	d.looks.Lock()
	defer d.looks.Unlock()
	i := slices.IndexFunc(d.wide, func(o *overview) bool { return o.z == z && o.channel == channel })
	var o *overview
	if i >= 0 {
		o = d.wide[i]
		d.wide = slices.Delete(d.wide, i, i+1)
	} else {
		o = newOverview(d, z, channel)
		o.stopped = d.closed
		if len(d.wide) >= maxOverviews {
			d.wide[0].stop()
			d.wide = slices.Delete(d.wide, 0, 1)
		}
	}
	d.wide = append(d.wide, o)
	return o
}

// read returns pixels of one resolution.
func (d *stored) read(ctx context.Context, k int, b image.Rectangle, z int) (raster.Array, error) {
	if len(d.levels) == 0 {
		return d.fromTable(ctx, b)
	}
	a := d.levels[k].array
	shape := a.Shape()
	at, box := make([]int, len(shape)), make([]int, len(shape))
	if n := len(shape); n == 3 && shape[2] <= 4 {
		at, box = []int{b.Min.Y, b.Min.X, 0}, []int{b.Dy(), b.Dx(), shape[2]}
	} else {
		finest := d.levels[0].array.Shape()
		for i := n - 3; i >= 0; i-- { // a coarser level may have fewer slices
			at[i], box[i] = z%finest[i]*shape[i]/finest[i], 1
			z /= finest[i]
		}
		at[n-2], at[n-1], box[n-2], box[n-1] = b.Min.Y, b.Min.X, b.Dy(), b.Dx()
	}
	t, _ := raster.ParseType(a.Type().String())
	switch t {
	case 0, raster.I64, raster.U64:
		return raster.Array{}, refuse("large stores of %v are not supported, want uint8, uint16, float32 or float64 (convert the store)", a.Type())
	}
	img := d.blank(t, b)
	return img, a.ReadBytes(ctx, img.Data, at, box)
}

// blank returns memory for the pixels of a box.
func (d *stored) blank(t raster.Type, b image.Rectangle) raster.Array {
	e := raster.PlaneExtent(b.Dx(), b.Dy(), d.info.Channels, b.Dx()*d.info.Channels)
	return raster.Array{Data: raster.Aligned(e.Height * e.Stride * t.Bytes()), Type: t, Extent: e}
}

// fromTable returns pixels computed from a table, one box each.
func (d *stored) fromTable(ctx context.Context, b image.Rectangle) (raster.Array, error) {
	boxes := make([]image.Rectangle, 0, b.Dx()*b.Dy())
	for y := b.Min.Y; y < b.Max.Y; y++ {
		for x := b.Min.X; x < b.Max.X; x++ {
			boxes = append(boxes, image.Rect(x, y, x+1, y+1))
		}
	}
	img := d.blank(raster.F64, b)
	return img, d.table.MeanBoxes(ctx, raster.Elems[float64](img.Data), boxes)
}

func (d *stored) answer(ctx context.Context, r *request) (any, []byte, error) {
	if r.Channel < 0 || r.Channel >= d.info.Channels {
		return nil, nil, refuse("channel is %d, want 0 to %d", r.Channel, d.info.Channels-1)
	}
	if r.Z < 0 || r.Z >= max(d.info.Depth, 1) {
		return nil, nil, refuse("slice is %d, want 0 to %d", r.Z, max(d.info.Depth, 1)-1)
	}
	switch r.Do {
	case "tile":
		return d.tile(ctx, r)
	case "boxes":
		if d.table != nil && d.info.Depth == 0 {
			return d.fromSums(ctx, r)
		}
		return answerBoxes(r, 4, func(b []int) (answer, error) {
			p, box, err := d.part(ctx, b, r.Z)
			if err != nil {
				return answer{}, err
			}
			a := p.plane.box(box, r.Channel)
			a.Entries = nil
			return a, nil
		})
	case "histogram":
		return d.histogram(ctx, r)
	case "moments", "feature", "filter", "threshold", "save":
		return d.answerPart(ctx, r)
	}
	return nil, nil, refuse("request %q needs an image in memory (cut a part out of the store with boxsum convert)", r.Do)
}

// histogram counts the pixels of a box, or those of the overview if the box is too large.
func (d *stored) histogram(ctx context.Context, r *request) (any, []byte, error) {
	b, err := oneBox(r, 4)
	if err != nil {
		return nil, nil, err
	}
	box := image.Rect(b[0], b[1], b[2], b[3]).Intersect(image.Rect(0, 0, d.info.Width, d.info.Height))
	if int64(box.Dx())*int64(box.Dy()) > maxRegion/4 {
		h, err := d.overview(r.Z, r.Channel).histogram(box)
		return h, nil, err
	}
	return d.answerPart(ctx, r)
}

// answerPart answers from a box of the image, as if it were a picture of its own.
func (d *stored) answerPart(ctx context.Context, r *request) (any, []byte, error) {
	if r.Do == "feature" {
		if _, _, turned, err := featureOf(r); err != nil {
			return nil, nil, err
		} else if turned != nil {
			return nil, nil, refuse("turned features need an image in memory (cut a part out of the store with boxsum convert)")
		}
		if b := r.Box; b[0] < 0 || b[1] < 0 || b[2] > d.info.Width || b[3] > d.info.Height {
			return nil, nil, refuse("the box of the feature is %v, want one inside the image of %d×%d", b, d.info.Width, d.info.Height)
		}
	}
	p, box, err := d.part(ctx, r.Box, r.Z)
	if err != nil {
		return nil, nil, err
	}
	q := *r
	q.Box = []int{box.Min.X, box.Min.Y, box.Max.X, box.Max.Y}
	if v := r.View; len(v) == 4 {
		x, y := max(r.Box[0], 0), max(r.Box[1], 0)
		q.View = []int{v[0] - x, v[1] - y, v[2] - x, v[3] - y}
	}
	if r.Do == "moments" {
		m, err := p.plane.moments(ctx, box, r.Channel)
		if err != nil {
			return nil, nil, err
		}
		return momentsReply(r.Box, m), nil, nil
	}
	reply, pixels, err := p.answer(ctx, &q)
	if f, ok := reply.(*featured); ok && err == nil {
		f.move(r.Box[0], r.Box[1])
	}
	return reply, pixels, err
}

// part returns a box of the store as a picture, and the position of the box in it.
func (d *stored) part(ctx context.Context, b []int, z int) (*picture, image.Rectangle, error) {
	if len(b) != 4 {
		return nil, image.Rectangle{}, refuse("box has %d numbers, want 4", len(b))
	}
	if _, err := inRange(b); err != nil {
		return nil, image.Rectangle{}, err
	}
	box := image.Rect(b[0], b[1], b[2], b[3]).Intersect(image.Rect(0, 0, d.info.Width, d.info.Height))
	whole := image.Rect(0, 0, box.Dx(), box.Dy())
	if box.Empty() {
		return nil, whole, refuse("box %v is empty inside the image of %d×%d", b, d.info.Width, d.info.Height)
	}
	if int64(box.Dx())*int64(box.Dy()) > maxRegion {
		return nil, whole, refuse("box has %d×%d pixels of a store, want at most %d megapixels (draw a smaller box, or zoom in)", box.Dx(), box.Dy(), maxRegion>>20)
	}
	d.mu.Lock()
	defer d.mu.Unlock()
	if d.region != nil && d.box == box {
		return d.region, whole, nil
	}
	img, err := d.read(ctx, 0, box, z)
	if err != nil {
		return nil, whole, err
	}
	p, err := newPicture(ctx, d.info.Name, img)
	if err != nil {
		return nil, whole, err
	}
	if d.info.Depth == 0 {
		d.region, d.box = p, box
	}
	return p, whole, nil
}

// fromSums answers boxes of any size from the table.
func (d *stored) fromSums(ctx context.Context, r *request) (any, []byte, error) {
	_, _, square := d.table.Types()
	return answerBoxes(r, 4, func(b []int) (a answer, err error) {
		box := image.Rect(b[0], b[1], b[2], b[3]).Intersect(d.table.Bounds())
		a.Area = int64(box.Dx()) * int64(box.Dy())
		corners := []image.Rectangle{box, image.Rect(0, 0, box.Max.X, box.Max.Y), image.Rect(0, 0, box.Min.X, box.Max.Y), image.Rect(0, 0, box.Max.X, box.Min.Y), image.Rect(0, 0, box.Min.X, box.Min.Y)}
		// Each corner may be in a chunk that is not in memory, so all of them are read concurrently.
		texts, means, deviations := make([]string, len(corners)), make([]float64, d.info.Channels), make([]float64, d.info.Channels)
		failed := make([]error, len(corners)+2)
		var group sync.WaitGroup
		for i := range corners {
			group.Go(func() { texts[i], failed[i] = d.sumText(ctx, corners[i], r.Channel) })
		}
		group.Go(func() { failed[len(corners)] = d.table.MeanBoxes(ctx, means, corners[:1]) })
		if square != 0 {
			group.Go(func() { failed[len(corners)+1] = d.table.StdDevBoxes(ctx, deviations, corners[:1]) })
		}
		group.Wait()
		if err := errors.Join(failed...); err != nil {
			return a, err
		}
		a.Sum, a.Mean = texts[0], finite(means[r.Channel])
		for i, sign := range []int{1, -1, -1, 1} {
			a.Entries = append(a.Entries, entry{[]int{corners[i+1].Max.X, corners[i+1].Max.Y}, texts[i+1], sign})
		}
		if square != 0 {
			a.Std = finite(deviations[r.Channel])
		}
		return a, nil
	})
}

// sumText returns the sum of a channel of a box as text.
func (d *stored) sumText(ctx context.Context, box image.Rectangle, channel int) (string, error) {
	sums, boxes := make([]uint64, d.info.Channels), []image.Rectangle{box}
	err := d.table.SumBoxesBytes(ctx, raster.Bytes(sums), boxes)
	switch _, sum, _ := d.table.Types(); sum {
	case zarr.Int64:
		return fmt.Sprint(int64(sums[channel])), err
	case zarr.Float64:
		return fmt.Sprint(math.Float64frombits(sums[channel])), err
	}
	return fmt.Sprint(sums[channel]), err
}

// coarsest returns the coarsest level whose scale is a power of 2 and at most most. Without levels it returns the image
// itself.
func (d *stored) coarsest(most int) (k, scale int) {
	scale = 1
	for i, l := range d.levels {
		if l.scale <= most && l.scale&(l.scale-1) == 0 && l.scale >= scale {
			k, scale = i, l.scale
		}
	}
	return k, scale
}

// tile returns a tile from the coarsest suitable level, or from the overview if that has too many pixels.
func (d *stored) tile(ctx context.Context, r *request) (any, []byte, error) {
	if r.Kind == "heat" {
		return d.heatTile(ctx, r)
	}
	t, err := tileOf(&d.info, r)
	if err != nil {
		return nil, nil, err
	}
	k, scale := d.coarsest(1 << t.level)
	f := (1 << t.level) / scale
	limit := maxRegion
	if len(d.levels) == 0 {
		limit = 1 << 18 // reading pixels from a table is slow
	}
	if f > 1<<13 || int64(t.w)*int64(t.h)*int64(f)*int64(f) > int64(limit) {
		dst, missing, err := d.overview(r.Z, r.Channel).tile(t)
		if err != nil {
			return nil, nil, err
		}
		return map[string]any{"width": t.w, "height": t.h, "format": "gray", "missing": missing}, dst, nil
	}
	h, w := (d.info.Height+scale-1)/scale, (d.info.Width+scale-1)/scale
	if len(d.levels) > 0 {
		h, w, _ = planeOf(d.levels[k].array.Shape())
	}
	from := image.Rect(t.x*f, t.y*f, (t.x+t.w)*f, (t.y+t.h)*f).Intersect(image.Rect(0, 0, w, h))
	dst := make([]uint8, t.w*t.h)
	if from.Empty() {
		return t.reply("gray"), dst, nil
	}
	img, err := d.read(ctx, k, from, r.Z)
	if err != nil {
		return nil, nil, err
	}
	shrink(dst, t, img, f, r.Channel)
	return t.reply("gray"), dst, nil
}

// heatTile samples the table.
func (d *stored) heatTile(ctx context.Context, r *request) (any, []byte, error) {
	if d.table == nil || d.info.Depth > 0 {
		return nil, nil, refuse("this store has no table")
	}
	t, err := tileOf(&d.info, r)
	if err != nil {
		return nil, nil, err
	}
	// Entries vary smoothly, so a few of them suffice. Entries between blocks are read without reading the blocks, and in a
	// large table the contribution of a single block is not visible.
	block, step := d.table.Options().Block, 32<<t.level
	if step >= block {
		step -= step % block
	} else if 1024*int64(block)*int64(block) <= int64(d.info.Width)*int64(d.info.Height) {
		step = block
	}
	xs, ys := marks(t.x<<t.level, (t.x+t.w)<<t.level, step, d.info.Width), marks(t.y<<t.level, (t.y+t.h)<<t.level, step, d.info.Height)
	boxes := []image.Rectangle{d.table.Bounds()}
	for _, y := range ys {
		for _, x := range xs {
			boxes = append(boxes, image.Rect(0, 0, x, y))
		}
	}
	values := make([]float64, len(boxes)*d.info.Channels)
	if err := d.table.MeanBoxes(ctx, values, boxes); err != nil {
		return nil, nil, err
	}
	at := make([]float64, len(boxes))
	for i, b := range boxes {
		at[i] = values[i*d.info.Channels+r.Channel] * float64(b.Dx()) * float64(b.Dy())
	}
	dst := make([]uint8, t.w*t.h)
	for y := range t.h {
		j, fy := markBefore(ys, (t.y+y)<<t.level)
		for x := range t.w {
			i, fx := markBefore(xs, (t.x+x)<<t.level)
			p, w := 1+j*len(xs)+i, len(xs)
			v := (at[p]*(1-fx)+at[p+1]*fx)*(1-fy) + (at[p+w]*(1-fx)+at[p+w+1]*fx)*fy
			dst[y*t.w+x] = uint8(min(max(255*v/at[0], 0), 255))
		}
	}
	return t.reply("gray"), dst, nil
}

// marks returns at least two multiples of step around [from, to), limited to end.
func marks(from, to, step, end int) (list []int) {
	for at := from / step * step; ; at += step {
		if list = append(list, min(at, end)); at >= to && len(list) > 1 {
			return list
		}
	}
}

// markBefore returns the index of the mark before a position, and the fraction of the distance to the next one.
func markBefore(marks []int, at int) (i int, f float64) {
	i = min(max(sort.SearchInts(marks, at+1)-1, 0), len(marks)-2)
	if n := marks[i+1] - marks[i]; n > 0 {
		f = min(max(float64(at-marks[i])/float64(n), 0), 1)
	}
	return i, f
}

// A bundle holds the files of a folder that is being sent.
type bundle struct {
	files map[string][]byte
	size  int64
}

// put receives one file of a folder.
func (s *Session) put(r *request, body []byte) (any, []byte, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	b := s.bundles[r.Name]
	if b == nil {
		if len(s.bundles) >= 4 {
			for name := range s.bundles {
				s.drop(name)
			}
		}
		b = &bundle{files: map[string][]byte{}}
		s.bundles[r.Name] = b
	}
	if len(b.files) >= 1<<16 || b.size+int64(len(body)) > s.limits.Body || s.used+int64(len(body)) > s.limits.Bytes {
		s.drop(r.Name)
		return nil, nil, refuse("folder %s has more than %s or 65536 files (name it on the command line)", cleanName(r.Name), size(s.limits.Body))
	}
	key := path.Clean("/" + r.Key)[1:]
	if key == "" || len(key) > 1000 {
		return nil, nil, refuse("the name of a file in folder %s has %d bytes, want 1 to 1000", cleanName(r.Name), len(key))
	}
	more := int64(len(body) - len(b.files[key]))
	b.files[key] = bytes.Clone(body)
	b.size += more
	s.used += more
	return map[string]int{"files": len(b.files)}, nil, nil
}

// drop removes a folder that is being sent.
func (s *Session) drop(name string) *bundle {
	b := s.bundles[name]
	if b != nil {
		s.used -= b.size
		delete(s.bundles, name)
	}
	return b
}

func (s *Session) openBundle(ctx context.Context, r *request) (any, []byte, error) {
	s.mu.Lock()
	b := s.drop(r.Name)
	s.mu.Unlock()
	if b == nil {
		return nil, nil, refuse("folder %s has no files, want a Zarr store, a report or pictures", cleanName(r.Name))
	}
	return s.addDocument(b.open(ctx, cleanName(r.Name)))
}

// open opens the files as a report, a store, or the slices of a volume.
func (b *bundle) open(ctx context.Context, name string) (Document, error) {
	if data := b.files["results.json"]; data != nil {
		return newReport(name, data, nil)
	}
	for _, meta := range []string{"zarr.json", ".zarray", ".zgroup"} {
		if b.files[meta] != nil {
			bucket := zarr.Memory()
			for key, data := range b.files {
				if err := bucket.Put(ctx, key, data); err != nil {
					return nil, err
				}
			}
			id := strings.ToLower(rand.Text())
			given.Store(id, bucket)
			defer given.Delete(id)
			doc, err := OpenStore(ctx, name, "given://"+id)
			if d, ok := doc.(*stored); ok {
				d.size += b.size
			}
			return doc, err
		}
	}
	var names []string
	for key := range b.files {
		if _, ok := imgio.FormatOf(key); ok || slices.Contains([]string{".jpg", ".jpeg", ".gif", ".bmp", ".webp"}, strings.ToLower(path.Ext(key))) {
			names = append(names, key)
		}
	}
	if len(names) == 0 {
		return nil, refuse("folder %s is not a Zarr store or a report and has no pictures", name)
	}
	slices.SortFunc(names, naturally)
	var slicesOf []raster.Array
	for _, key := range names {
		p, err := imgio.Decode(bytes.NewReader(b.files[key]), imgio.ToGray)
		if err != nil {
			return nil, err
		}
		slicesOf = append(slicesOf, pixels.Of(p.Image))
	}
	if len(names) == 1 {
		return decode(ctx, name, b.files[names[0]])
	}
	if t := slicesOf[0].Type; t != raster.U8 && t != raster.U16 {
		return nil, refuse("slices have pixels of %v, want pictures of uint8 or uint16", t)
	}
	vol, err := pile(slicesOf)
	if err != nil {
		return nil, err
	}
	return orNil(newBlock(ctx, name, "folder", vol))
}

// openZip opens a zip file of a store or a folder. limit bounds its decompressed size.
func openZip(ctx context.Context, name string, data []byte, limit int64) (Document, error) {
	z, err := zip.NewReader(bytes.NewReader(data), int64(len(data)))
	if err != nil {
		return nil, refuse("%s is a damaged zip file: %v", name, err)
	}
	b := &bundle{files: map[string][]byte{}}
	for _, member := range z.File {
		if strings.HasSuffix(member.Name, "/") {
			continue
		}
		if len(b.files) >= 1<<16 {
			return nil, refuse("%s has more than 65536 files", name)
		}
		r, err := member.Open()
		if err != nil {
			return nil, refuse("%s in %s is damaged: %v", member.Name, name, err)
		}
		content, err := io.ReadAll(io.LimitReader(r, limit-b.size+1))
		r.Close()
		if err != nil {
			return nil, refuse("%s in %s is damaged: %v", member.Name, name, err)
		}
		if b.size += int64(len(content)); b.size > limit {
			return nil, refuse("%s is too large, want at most %s after decompression", name, size(limit))
		}
		b.files[path.Clean("/" + member.Name)[1:]] = content
	}
	for key := range b.files { // all files in one folder
		if top, rest, ok := strings.Cut(key, "/"); ok && slices.Contains([]string{"zarr.json", ".zarray", ".zgroup", "results.json"}, rest) {
			all := map[string][]byte{}
			for key, data := range b.files {
				if inner, ok := strings.CutPrefix(key, top+"/"); ok {
					all[inner] = data
				}
			}
			if b.files["zarr.json"] == nil && b.files[".zgroup"] == nil && b.files[".zarray"] == nil {
				b.files = all
			}
			break
		}
	}
	return b.open(ctx, name)
}
