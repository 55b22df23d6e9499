package explore

import (
	"bytes"
	"context"
	"image"
	"runtime"
	"strings"
	"sync"

	"github.com/boxsum/boxsum"
	"github.com/boxsum/boxsum/filter"
	"github.com/boxsum/boxsum/haar"
	"github.com/boxsum/boxsum/imgio"
	"github.com/boxsum/boxsum/internal/pixels"
	"github.com/boxsum/boxsum/internal/raster"
	"github.com/boxsum/boxsum/rotated"
)

// A picture is an image in memory. Queries use its gray version, as on the command line; tiles are in color.
type picture struct {
	info  Info
	plane *plane
	file  *imgio.Picture // owner of plane's memory, or nil

	color  func() []boxsum.Image[uint8] // at 1:1, 1:2, 1:4 …, or nil
	paint  func() *plane                // the color image for filters, or nil if the picture is gray
	source string                       // file name in code
	kept   int64                        // size in bytes of the file that color holds
	direct bool                         // the file has exactly these pixels, without conversion
}

func newPicture(ctx context.Context, name string, img raster.Array) (*picture, error) {
	p, err := newPlane(ctx, img)
	if err != nil {
		return nil, err
	}
	d := &picture{plane: p, source: name, info: Info{Name: name, Kind: "image", Table: true, Millis: p.millis(), Workers: runtime.GOMAXPROCS(0), Level: best()}}
	d.info.Width, d.info.Height, d.info.Channels = p.size()
	d.info.Pixel, d.info.Sum = p.types()
	d.info.Low, d.info.High, d.info.Missing = p.bounds()
	if d.info.Width < 1 || d.info.Height < 1 {
		return nil, refuse("%s is %d×%d pixels, want at least 1×1", name, d.info.Width, d.info.Height)
	}
	return d, nil
}

func best() string {
	levels := boxsum.Levels()
	return levels[len(levels)-1].String()
}

// Demo returns the picture that boxsum draws itself as a document.
func Demo() Document {
	const width, height = 1920, 1080
	d, err := newPicture(context.Background(), "demo", pixels.Of(imgio.Demo(width, height)))
	if err != nil {
		panic(err) // the picture is always the same
	}
	d.info.Demo = true
	d.withColor(func() (*imgio.Picture, error) { return &imgio.Picture{Image: imgio.DemoColor(width, height)}, nil })
	return d
}

// withColor makes tiles show the colors of a file.
func (d *picture) withColor(open func() (*imgio.Picture, error)) {
	d.info.Color = true
	d.color = sync.OnceValue(func() (levels []boxsum.Image[uint8]) {
		p, err := open()
		if err != nil {
			return nil
		}
		src := pixels.Of(p.Image)
		if src.Type == raster.U16 {
			src = highBytes(src)
		}
		if src.Type != raster.U8 || src.Width != d.info.Width || src.Height != d.info.Height {
			return nil
		}
		m := boxsum.Image[uint8]{Pix: src.Data, Stride: src.Stride, Width: src.Width, Height: src.Height, Channels: src.Channels}
		for levels = append(levels, m); max(m.Width, m.Height) > 256; levels = append(levels, m) {
			if m, err = filter.Downsample(m, 2, 2, nil); err != nil {
				break
			}
		}
		return levels
	})
	d.paint = sync.OnceValue(func() *plane {
		if levels := d.color(); len(levels) > 0 && levels[0].Channels > 2 {
			return newColor(d, levels[0])
		}
		return nil
	})
}

// highBytes returns the upper halves of 16-bit pixels.
func highBytes(src raster.Array) raster.Array {
	deep := raster.Elems[uint16](src.Data)
	m := raster.Array{Data: make([]byte, len(deep)), Type: raster.U8, Extent: src.Extent}
	for i, v := range deep {
		m.Data[i] = uint8(v >> 8)
	}
	return m
}

// filter filters the picture in color, or one channel of an array.
func (d *picture) filter(ctx context.Context, r *request, s *screen) (*filtered, error) {
	colors := d.colors()
	if colors == nil {
		return d.plane.filter(ctx, r, s, []int{r.Channel})
	}
	f, err := colors.filter(ctx, r, s, []int{0, 1, 2})
	if err == nil {
		f.takeAlpha(colors.img, s)
	}
	return f, err
}

// colors returns the picture in color, or nil if it is gray.
func (d *picture) colors() *plane {
	if d.paint == nil {
		return nil
	}
	return d.paint()
}

func (d *picture) Info() *Info { return &d.info }

func (d *picture) bytes() int64 {
	n := d.plane.bytes() + d.kept
	if d.color != nil {
		n += 4 * int64(d.info.Width) * int64(d.info.Height) * 4 / 3
	}
	return n
}

func (d *picture) Close() error {
	forgetColor(d)
	if d.file != nil {
		return d.file.Close()
	}
	return nil
}

func (d *picture) channel(r *request) (int, error) {
	if r.Channel < 0 || r.Channel >= d.info.Channels {
		return 0, refuse("channel is %d, want 0 to %d", r.Channel, d.info.Channels-1)
	}
	return r.Channel, nil
}

func (d *picture) answer(ctx context.Context, r *request) (any, []byte, error) {
	c, err := d.channel(r)
	if err != nil {
		return nil, nil, err
	}
	switch r.Do {
	case "tile":
		return d.tile(ctx, r, c)
	case "boxes":
		return answerBoxes(r, 4, func(b []int) (answer, error) { return d.plane.box(image.Rect(b[0], b[1], b[2], b[3]), c), nil })
	case "histogram":
		b, err := oneBox(r, 4)
		if err != nil {
			return nil, nil, err
		}
		return d.plane.histogram(image.Rect(b[0], b[1], b[2], b[3]), c), nil, nil
	case "rotated":
		rot, err := rotationOf(r)
		if err != nil {
			return nil, nil, err
		}
		a, err := d.plane.rotated(ctx, rot, r, c)
		return a, nil, err
	case "feature":
		f, at, rot, err := featureOf(r)
		if err != nil {
			return nil, nil, err
		}
		a, err := d.plane.feature(ctx, f, at, rot, c)
		return a, nil, err
	case "moments":
		b, err := oneBox(r, 4)
		if err != nil {
			return nil, nil, err
		}
		m, err := d.plane.moments(ctx, image.Rect(b[0], b[1], b[2], b[3]), c)
		if err != nil {
			return nil, nil, err
		}
		return momentsReply(b, m), nil, nil
	case "gradients":
		b, err := oneBox(r, 4)
		if err != nil {
			return nil, nil, err
		}
		a, err := d.plane.gradients(image.Rect(b[0], b[1], b[2], b[3]), c)
		return a, nil, err
	case "filter", "threshold":
		return d.process(ctx, r, c)
	case "save":
		return d.save(r)
	case "match":
		a, err := d.plane.match(ctx, r)
		return a, nil, err
	}
	return nil, nil, refuse("unknown request %q for an image", r.Do)
}

// tile draws a tile of the picture in color, of its gray version or of a table.
func (d *picture) tile(ctx context.Context, r *request, channel int) (any, []byte, error) {
	t, err := tileOf(&d.info, r)
	if err != nil {
		return nil, nil, err
	}
	if d.color != nil && r.Kind == "image" {
		if levels := d.color(); t.level < len(levels) {
			m := levels[t.level]
			t.w, t.h = min(t.w, m.Width-t.x), min(t.h, m.Height-t.y)
			if t.w > 0 && t.h > 0 {
				return t.reply("rgba"), rgba(m, t), nil
			}
		}
	}
	dst := make([]uint8, t.w*t.h)
	switch {
	case r.Kind == "heat" && r.Ratio != "":
		rot, err := rotated.Parse(r.Ratio)
		if err == nil {
			rot, err = rot.Reduce()
		}
		if err == nil {
			err = d.plane.turnedHeat(ctx, dst, t, rot, channel)
		}
		if err != nil {
			return nil, nil, err
		}
	case r.Kind == "heat":
		d.plane.heat(dst, t, channel)
	default:
		d.plane.tile(dst, t, channel)
	}
	return t.reply("gray"), dst, nil
}

// process filters or thresholds the part of the picture that a screen shows, or all of it.
func (d *picture) process(ctx context.Context, r *request, channel int) (any, []byte, error) {
	s, err := screenOf(r, d.info.Width, d.info.Height)
	if err != nil {
		return nil, nil, err
	}
	var f *filtered
	if r.Do == "filter" {
		f, err = d.filter(ctx, r, s)
	} else {
		f, err = d.plane.threshold(ctx, r, s, channel)
	}
	if err != nil {
		return nil, nil, err
	}
	return f.reply(r.Save)
}

// save returns the pixels as a .npy file, in color if requested.
func (d *picture) save(r *request) (any, []byte, error) {
	img := d.plane.img
	if colors := d.colors(); r.Kind == "color" && colors != nil {
		img = colors.of(0, 1, 2)
	}
	data, err := npy(img)
	return map[string]int{"size": len(data)}, data, err
}

// maxCoordinate limits the coordinates of boxes, so that no computation overflows.
const maxCoordinate int64 = 1 << 40

// oneBox returns the box of a request, which must have n numbers.
func oneBox(r *request, n int) ([]int, error) {
	if len(r.Box) != n {
		return nil, refuse("box has %[2]d numbers, want %[1]d", n, len(r.Box))
	}
	return inRange(r.Box)
}

func inRange(b []int) ([]int, error) {
	for _, v := range b {
		if int64(v) < -maxCoordinate || int64(v) > maxCoordinate {
			return nil, refuse("box has coordinate %d, want at most %d in magnitude", v, maxCoordinate)
		}
	}
	return b, nil
}

func answerBoxes(r *request, n int, of func(b []int) (answer, error)) (any, []byte, error) {
	all := make([]answer, len(r.Boxes))
	for i, b := range r.Boxes {
		if len(b) != n {
			return nil, nil, refuse("box %[2]d has %[3]d numbers, want %[1]d", n, i+1, len(b))
		}
		b, err := inRange(b)
		if err != nil {
			return nil, nil, err
		}
		if all[i], err = of(b); err != nil {
			return nil, nil, err
		}
	}
	return map[string]any{"boxes": all}, nil, nil
}

// maxTile is the longest side of a tile.
const maxTile = 1024

// tileOf returns the tile of a request, whose position counts in tiles of its size.
func tileOf(i *Info, r *request) (tile, error) {
	if r.Size < 1 || r.Size > maxTile {
		return tile{}, refuse("tile size is %d, want 1 to %d", r.Size, maxTile)
	}
	if r.Level < 0 || r.Level > 40 {
		return tile{}, refuse("tile level is %d, want 0 to 40", r.Level)
	}
	n := 1 << r.Level
	w, h := (i.Width+n-1)>>r.Level, (i.Height+n-1)>>r.Level
	if r.Kind == "heat" { // the table has one more row and column
		w, h = i.Width>>r.Level+1, i.Height>>r.Level+1
	}
	if across, down := (w+r.Size-1)/r.Size, (h+r.Size-1)/r.Size; r.X < 0 || r.Y < 0 || r.X >= across || r.Y >= down {
		return tile{}, refuse("tile is %d,%d at level %d, which has %d×%d tiles, want 0,0 to %d,%d", r.X, r.Y, r.Level, across, down, across-1, down-1)
	}
	t := tile{x: r.X * r.Size, y: r.Y * r.Size, level: r.Level, low: i.Low, scale: 255 / (i.High - i.Low)}
	t.w, t.h = min(r.Size, w-t.x), min(r.Size, h-t.y)
	return t, nil
}

func (t tile) reply(format string) any {
	return map[string]any{"width": t.w, "height": t.h, "format": format}
}

// rgba returns a part of a color image in the format of a canvas.
func rgba(m boxsum.Image[uint8], t tile) []byte {
	dst := make([]byte, 0, 4*t.w*t.h)
	for y := range t.h {
		row := m.Row(t.y + y)[t.x*m.Channels:]
		for x := range t.w {
			p := row[x*m.Channels:][:m.Channels]
			switch m.Channels {
			case 1:
				dst = append(dst, p[0], p[0], p[0], 255)
			case 2:
				dst = append(dst, p[0], p[0], p[0], p[1])
			case 3:
				dst = append(dst, p[0], p[1], p[2], 255)
			default:
				dst = append(dst, p[0], p[1], p[2], p[3])
			}
		}
	}
	return dst
}

// maxTerm is the largest term of a rotation's ratio: pages snap to a small number of angles.
const maxTerm = 64

// rotationOf returns the rotation that a request names, or the one nearest to the angle of its rectangle.
func rotationOf(r *request) (rotated.Rotation, error) {
	if len(r.Rect) != 5 {
		return rotated.Rotation{}, refuse("rotated box has %d numbers, want 5 (center x and y, width, height, degrees)", len(r.Rect))
	}
	if r.Ratio != "" {
		rot, err := rotated.Parse(r.Ratio)
		if err != nil {
			return rot, err
		}
		return rot.Reduce()
	}
	limit := r.Limit
	if limit == 0 {
		limit = 8
	}
	if limit < 1 || limit > maxTerm {
		return rotated.Rotation{}, refuse("limit of ratios is %d, want 1 to %d", r.Limit, maxTerm)
	}
	return rotated.Nearest(r.Rect[4], limit)
}

// featureOf returns the feature of a request, from its kind and the box that it fills.
func featureOf(r *request) (f haar.Feature, at image.Point, rot *rotated.Rotation, err error) {
	b, err := oneBox(r, 4)
	if err != nil {
		return f, at, nil, err
	}
	kind, err := haar.ParseKind(r.Kind)
	if err != nil {
		return f, at, nil, err
	}
	if r.Ratio != "" && !strings.HasPrefix(r.Ratio, "0/") {
		one, err := rotated.Parse(r.Ratio)
		if err == nil {
			one, err = one.Reduce()
		}
		if err != nil {
			return f, at, nil, err
		}
		rot = &one
	}
	f, err = haar.New(kind, image.Rect(0, 0, b[2]-b[0], b[3]-b[1]))
	return f, image.Pt(b[0], b[1]), rot, err
}

func featureKinds() (list []map[string]any) {
	for _, k := range haar.Kinds() {
		across, down := k.Cells()
		list = append(list, map[string]any{"name": k.String(), "across": across, "down": down})
	}
	return list
}

// open opens a file that the page sent.
func (s *Session) open(ctx context.Context, r *request, body []byte) (any, []byte, error) {
	name := cleanName(r.Name)
	if looksLikeCascade(body) {
		return s.addCascade(name, body)
	}
	if looksLikeReport(body) {
		return s.addDocument(newReport(name, body, nil))
	}
	if bytes.HasPrefix(body, []byte("PK\x03\x04")) {
		return s.addDocument(openZip(ctx, name, body, s.limits.Body))
	}
	return s.addDocument(decode(ctx, name, body))
}

func (s *Session) addDocument(d Document, err error) (any, []byte, error) {
	if err != nil {
		return nil, nil, err
	}
	return s.add(d)
}

// decode decodes a file in memory as a picture, or as a volume if it has slices.
func decode(ctx context.Context, name string, data []byte) (Document, error) {
	if d, err := decodeVolume(ctx, name, data); d != nil || err != nil {
		return d, err
	}
	p, err := imgio.Decode(bytes.NewReader(data), imgio.ToGray)
	if err != nil {
		return nil, err
	}
	doc, err := pictureOf(ctx, name, p, func() (*imgio.Picture, error) { return imgio.Decode(bytes.NewReader(data), imgio.Keep) })
	if d, ok := doc.(*picture); ok && d.color != nil {
		d.kept = int64(len(data))
	}
	return doc, err
}

// pictureOf returns the document of a decoded file. keep decodes it again, in color.
func pictureOf(ctx context.Context, name string, p *imgio.Picture, keep func() (*imgio.Picture, error)) (Document, error) {
	img := pixels.Of(p.Image)
	d, err := newPicture(ctx, name, img)
	if err != nil {
		p.Close()
		return nil, err
	}
	d.file, d.info.Format = p, p.Format
	d.direct = img.Type == d.plane.img.Type && (p.Element == "" || p.Element == d.info.Pixel)
	if p.Format != "npy" {
		d.withColor(keep)
	}
	return d, nil
}

// cleanName returns a name given by the page in a form that is safe to display.
func cleanName(name string) string {
	name = strings.Map(func(r rune) rune {
		if r < ' ' || r == 0x7f {
			return -1
		}
		return r
	}, name)
	if i := strings.LastIndexAny(name, `/\`); i >= 0 {
		name = name[i+1:]
	}
	if len(name) > 200 {
		name = strings.ToValidUTF8(name[:200], "")
	}
	if name == "" {
		name = "untitled"
	}
	return name
}
