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
	"github.com/boxsum/boxsum/internal/raster"
	"github.com/boxsum/boxsum/rotated"
)

// element is the constraint for pixels and sums.
type element interface{ uint32 | float32 | float64 }

// Prepare allocates memory to run an algorithm on an image or, if [Algorithm.Many] is set, on
// several images of the same size. It converts pixels to the type that the algorithm uses. Pixels
// must be finite; for integer sums, they must also be integers and not negative. The algorithms
// of bertazzini begin by converting color to gray: for them, Prepare accepts 8-bit images of
// three or four channels that start with R, G and B.
func Prepare[P boxsum.Pixel](a *Algorithm, opt *Options, images ...boxsum.Image[P]) (*Job, error) {
	arrays := make([]raster.Array, len(images))
	for i, img := range images {
		arrays[i] = arrayOf(img)
	}
	return prepare(a, opt, arrays)
}

func arrayOf[P boxsum.Pixel](img boxsum.Image[P]) raster.Array {
	return raster.ArrayOf(img.Pix, raster.PlaneExtent(img.Width, img.Height, img.Channels, img.Stride))
}

func prepare(a *Algorithm, opt *Options, images []raster.Array) (*Job, error) {
	if a == nil {
		return nil, errors.New("zero Algorithm (use Find)")
	}
	if len(images) == 0 || len(images) > 1 && !a.Many {
		return nil, raster.Invalid("%s processes one image at a time, not %d", a.Name, len(images))
	}
	for i := range images {
		img, first := &images[i], &images[0]
		if err := a.check(img); err != nil {
			return nil, err
		}
		if img.Width != first.Width || img.Height != first.Height || img.Channels != first.Channels {
			return nil, raster.Invalid("image %d is %d×%d with %d channels, want %d×%d with %d like the first", i, img.Width, img.Height, img.Channels, first.Width, first.Height, first.Channels)
		}
	}
	first := images[0]
	j := &Job{algorithm: a, width: first.Width, height: first.Height}
	var err error
	if j.opt, err = a.options(opt, first.Channels); err != nil {
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
func take[E element](j *Job, images []raster.Array, host func(in, out grid[E], o Options)) error {
	same := make([]boxsum.Image[E], len(images))
	for i := range images {
		var err error
		if same[i], err = convert[E](&images[i]); err != nil {
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
func (a *Algorithm) check(p *raster.Array) error {
	if p.Channels == 0 {
		p.Channels = 1
	}
	if p.Width <= 0 || p.Height <= 0 || p.Channels < 0 {
		return raster.Invalid("image is %d×%d with %d channels, want at least one pixel", p.Width, p.Height, p.Channels)
	}
	// Kernels count rows and columns in 32 bits, with room to double an offset.
	const most = 1 << 30
	if p.Width > most/p.Channels || p.Height > most || p.Width > most/p.Height {
		return raster.Invalid("image is %d×%d, want at most 2^30 pixels", p.Width, p.Height)
	}
	row, pix := p.Width*p.Channels, p.Len()
	if p.Stride == 0 {
		p.Stride = row
	}
	if p.Stride < row || pix < row || p.Height > 1 && (pix-row)/(p.Height-1) < p.Stride {
		return raster.Invalid("buffer has %d elements, too few for %d×%d pixels with %d channels and stride %d", pix, p.Width, p.Height, p.Channels, p.Stride)
	}
	if p.Type == raster.U8 && a.Work.Name == "bertazzini" && (p.Channels == 3 || p.Channels == 4) {
		grays := gray(boxsum.Image[uint8]{Pix: p.Data, Stride: p.Stride, Width: p.Width, Height: p.Height, Channels: p.Channels})
		*p = arrayOf(grays)
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
			return o, raster.Unsupported("image has %s, want %s for %s", channelCount(channels), channelCount(o.Precision.Channels), o.Precision)
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
			return o, raster.Invalid("number of %[2]s is %[1]d, want 1 to %[3]d, or 0 for the default", n.value, n.of, n.most)
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
		return o, fmt.Errorf("nil Device, want a GPU to run %s", a.Name)
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
func convert[E element](src *raster.Array) (boxsum.Image[E], error) {
	floats := src.Type.Float()
	if isWhole[E]() && floats {
		return boxsum.Image[E]{}, raster.Unsupported("pixels have type %v, want integers for sums of %s (use precision f32 or f64)", src.Type, raster.TypeOf[E]())
	}
	out, err := boxsum.NewImage[E](src.Width, src.Height, src.Channels)
	if err != nil {
		return out, err
	}
	var row []float64
	for y := range src.Height {
		to := out.Row(y)
		row = src.Floats(row[:0], y, 0, len(to), 1) // float64 holds every pixel exactly
		for i, p := range row {
			to[i] = E(p)
			switch {
			case isWhole[E]() && p < 0:
				return out, fmt.Errorf("the pixel at (%d,%d) is %.0f, want 0 or more for unsigned sums (use precision f32 or f64)", i/src.Channels, y, p)
			case to[i]-to[i] != 0: // true for values that are not finite
				return out, fmt.Errorf("the pixel at (%d,%d) is %v, want a finite number that fits in the type of the sums", i/src.Channels, y, p)
			}
		}
	}
	return out, nil
}

func bytesOf[E element](values []E) []byte {
	return unsafe.Slice((*byte)(unsafe.Pointer(unsafe.SliceData(values))), len(values)*int(unsafe.Sizeof(*new(E))))
}
