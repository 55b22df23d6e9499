package papers

import (
	"cmp"
	"errors"
	"fmt"
	"runtime"
	"slices"
	"strings"
	"unsafe"

	"github.com/boxsum/boxsum"
	"github.com/boxsum/boxsum/internal/pixels"
	"github.com/boxsum/boxsum/internal/raster"
	"github.com/boxsum/boxsum/rotated"
)

// element is the constraint for pixels and sums.
type element interface{ uint32 | float32 | float64 }

// Prepare allocates memory to run an algorithm on an image or, if [Algorithm.Many] is set, on
// several images of the same size. It converts pixels to the type that the algorithm uses. Pixels
// that are not finite are an error; for integer sums, so are floats and negative pixels. For the
// algorithms of bertazzini, which begin by converting color to gray, Prepare converts 8-bit
// images of three or four channels whose first three are R, G and B.
func Prepare[P boxsum.Pixel](a *Algorithm, opt *Options, images ...boxsum.Image[P]) (*Job, error) {
	pictures := make([]picture, len(images))
	for i, img := range images {
		pictures[i] = pictureOf(img)
	}
	return prepare(a, opt, pictures)
}

// A picture is an image of any type.
type picture struct {
	img                                  any
	width, height, channels, stride, pix int
}

func pictureOf[P boxsum.Pixel](img boxsum.Image[P]) picture {
	return picture{img, img.Width, img.Height, img.Channels, img.Stride, len(img.Pix)}
}

func prepare(a *Algorithm, opt *Options, images []picture) (*Job, error) {
	if a == nil {
		return nil, errors.New("zero Algorithm (use Find)")
	}
	if len(images) == 0 || len(images) > 1 && !a.Many {
		return nil, raster.Invalid("%s processes one image at a time, got %d", a.Name, len(images))
	}
	for i := range images {
		if err := images[i].check(a); err != nil {
			return nil, err
		}
		if images[i].width != images[0].width || images[i].height != images[0].height || images[i].channels != images[0].channels {
			return nil, raster.Invalid("image %d is %d×%d with %d channels, want %d×%d with %d like the first", i, images[i].width, images[i].height, images[i].channels, images[0].width, images[0].height, images[0].channels)
		}
	}
	first := images[0]
	j := &Job{algorithm: a, width: first.width, height: first.height}
	var err error
	if j.opt, err = a.options(opt, first.channels); err != nil {
		return nil, err
	}
	switch j.opt.Precision.Type {
	case "f32":
		err = take(j, images, a.cpu.f32)
	case "f64":
		err = take(j, images, a.cpu.f64)
	default:
		err = take(j, images, a.cpu.u32)
	}
	if err != nil {
		return nil, errors.Join(err, j.Close())
	}
	return j, nil
}

// take converts the images to the type of a job and prepares it.
func take[E element](j *Job, images []picture, host func(in, out grid[E], o Options)) error {
	same := make([]boxsum.Image[E], len(images))
	for i, img := range images {
		var err error
		if same[i], err = convert[E](img); err != nil {
			return fmt.Errorf("%s in %s: %w", j.algorithm.Name, j.opt.Precision, err)
		}
	}
	return prepareAs(j, same, host)
}

// prepareAs allocates the tables of the images and prepares the code to fill them.
func prepareAs[E element](j *Job, images []boxsum.Image[E], host func(in, out grid[E], o Options)) error {
	var tables []*boxsum.Table[E]
	for _, img := range images {
		table, err := boxsum.NewTable[E](img.Width, img.Height, img.Channels)
		if err != nil {
			return err
		}
		tables = append(tables, table)
		j.images, j.tables = append(j.images, bytesOf(img.Pix)), append(j.tables, bytesOf(table.Sums))
	}
	first := tables[0]
	j.stride = first.Stride * (len(j.tables[0]) / len(first.Sums))
	j.sums, j.verify = tables, func() error { return verify(j, images, tables) }
	if j.algorithm.Place == GPU {
		return j.prepareDevice()
	}
	// out is the whole table, or its part with an entry for each pixel.
	out := grid[E]{first.Sums, first.Stride, first.Width + 1, first.Height + 1}
	if !j.algorithm.cpu.whole {
		out = grid[E]{first.Sums[first.Stride+1:], first.Stride, first.Width, first.Height}
	}
	j.host = func() { host(gridOf(images[0]), out, j.opt) }
	return nil
}

// check fills in defaults, and converts an image to gray if the algorithm requires it.
func (p *picture) check(a *Algorithm) error {
	if p.channels == 0 {
		p.channels = 1
	}
	if p.width <= 0 || p.height <= 0 || p.channels < 0 {
		return raster.Invalid("image is %d×%d with %d channels, want at least one pixel", p.width, p.height, p.channels)
	}
	// Kernels count rows and columns in 32 bits, with room to double an offset.
	const most = 1 << 30
	if p.width > most/p.channels || p.height > most || p.width > most/p.height {
		return raster.Invalid("image is %d×%d, want at most 2^30 pixels", p.width, p.height)
	}
	row := p.width * p.channels
	if p.stride == 0 {
		p.stride = row
	}
	if p.stride < row || p.pix < row || p.height > 1 && (p.pix-row)/(p.height-1) < p.stride {
		return raster.Invalid("%d×%d pixels with %d channels, rows %d apart, do not fit a buffer of %d", p.width, p.height, p.channels, p.stride, p.pix)
	}
	if color, ok := p.img.(boxsum.Image[uint8]); ok && a.Work.Name == "bertazzini" && (p.channels == 3 || p.channels == 4) {
		color.Channels, color.Stride = p.channels, p.stride
		p.img, p.channels = gray(color), 1
	}
	return nil
}

// options fills in defaults, and returns an error for options that the algorithm does not support.
func (a *Algorithm) options(opt *Options, channels int) (Options, error) {
	var o Options
	if opt != nil {
		o = *opt
	}
	fits := func(p Precision) bool {
		return p.Channels == channels && (o.Precision == Precision{} || o.Precision == p)
	}
	i := slices.IndexFunc(a.Precisions, fits)
	if i < 0 {
		if slices.Contains(a.Precisions, o.Precision) {
			return o, raster.Unsupported("%s needs images with %s, got %d", o.Precision, channelCount(o.Precision.Channels), channels)
		}
		wanted := channelCount(channels)
		if o.Precision != (Precision{}) {
			wanted = o.Precision.String()
		}
		var have []string
		for _, p := range a.Precisions {
			have = append(have, p.String())
		}
		return o, raster.Unsupported("%s does not support %s, want %s (x4 means four channels, others one)", a.Name, wanted, strings.Join(have, ", "))
	}
	o.Precision = a.Precisions[i]
	for _, n := range []struct {
		value, most int
		of          string
	}{{o.Threads, 1 << 16, "threads"}, {o.Streams, 1 << 16, "streams"}, {o.Group, 1024, "threads in a block"}} {
		if n.value < 0 || n.value > n.most {
			return o, raster.Invalid("%d %s, want 1 to %d, or 0 for the default", n.value, n.of, n.most)
		}
	}
	o.Threads = cmp.Or(o.Threads, runtime.GOMAXPROCS(0))
	o.Streams, o.Group = cmp.Or(o.Streams, 4), cmp.Or(o.Group, 256)
	if a.Kind == Rotated {
		var err error
		o.Rotation = cmp.Or(o.Rotation, rotated.Rotation{A: 1, B: 2})
		if o.Rotation, err = o.Rotation.Reduce(); err != nil {
			return o, err
		}
	}
	if a.Place == GPU && o.Device == nil {
		return o, fmt.Errorf("%s runs on a GPU: open a device for it", a.Name)
	}
	return o, nil
}

func channelCount(n int) string {
	if n == 1 {
		return "1 channel"
	}
	return fmt.Sprintf("%d channels", n)
}

// convert returns the pixels converted to another type, without gaps between rows.
func convert[E element](img picture) (boxsum.Image[E], error) {
	src := pixels.Of(img.img)
	floats := src.Type.Float()
	if isWhole[E]() && floats {
		return boxsum.Image[E]{}, raster.Unsupported("pixels of floats cannot be summed as integers: choose an algorithm in f32 or f64")
	}
	out, err := boxsum.NewImage[E](img.width, img.height, img.channels)
	if err != nil {
		return out, err
	}
	var row []float64
	for y := range img.height {
		to := out.Row(y)
		row = src.Floats(row[:0], y, 0, len(to), 1) // float64 holds every pixel exactly
		for i, p := range row {
			to[i] = E(p)
			switch {
			case isWhole[E]() && p < 0:
				return out, fmt.Errorf("the pixel at (%d,%d) is %.0f, but the sums are unsigned (use an algorithm in f32 or f64)", i/img.channels, y, p)
			case to[i]-to[i] != 0: // true for values that are not finite
				return out, fmt.Errorf("the pixel at (%d,%d) is %v, which is not finite in this type", i/img.channels, y, p)
			}
		}
	}
	return out, nil
}

func bytesOf[E element](values []E) []byte {
	return unsafe.Slice((*byte)(unsafe.Pointer(unsafe.SliceData(values))), len(values)*int(unsafe.Sizeof(*new(E))))
}
