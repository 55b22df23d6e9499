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
	"github.com/boxsum/boxsum/rotated"
)

// element is what pixels and sums are: every one is both.
type element interface{ uint32 | float32 | float64 }

// Prepare takes the memory for an algorithm and an image, or, for one that takes
// [Algorithm.Many], images of one size. Images of other types than the algorithm's
// are converted, where every pixel has a place in it: one that is not finite has none
// anywhere, and floats and numbers below zero have none among whole sums. Colour becomes grey where the work does that first: an 8-bit image
// of three or four channels, R, G and B first, for those of bertazzini.
func Prepare[P boxsum.Pixel](a *Algorithm, opt *Options, images ...boxsum.Image[P]) (*Job, error) {
	if a == nil {
		return nil, errors.New("papers: no algorithm: find one first")
	}
	if len(images) == 0 || len(images) > 1 && !a.Many {
		return nil, fmt.Errorf("papers: %w: %s takes one image at a time, not %d", boxsum.ErrInvalid, a.Name, len(images))
	}
	images = slices.Clone(images)
	for i := range images {
		var err error
		if images[i], err = checked(a, images[i]); err != nil {
			return nil, err
		}
		if images[i].Width != images[0].Width || images[i].Height != images[0].Height || images[i].Channels != images[0].Channels {
			return nil, fmt.Errorf("papers: %w: image %d is of %d×%d pixels and the first of %d×%d: %s takes images of one size",
				boxsum.ErrInvalid, i, images[i].Width, images[i].Height, images[0].Width, images[0].Height, a.Name)
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

// take converts the images to the type of a job, and prepares it.
func take[E element, P boxsum.Pixel](j *Job, images []boxsum.Image[P], host func(in, out grid[E], o Options)) error {
	same := make([]boxsum.Image[E], len(images))
	for i, img := range images {
		var err error
		if same[i], err = convert[E](img); err != nil {
			return fmt.Errorf("papers: %s in %s: %w", j.algorithm.Name, j.opt.Precision, err)
		}
	}
	return prepareAs(j, same, host)
}

// prepareAs takes memory for the tables of images, and prepares the code for it.
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
	// Out is the whole table, or the view of it that belongs to pixels.
	out := grid[E]{first.Sums, first.Stride, first.Width + 1, first.Height + 1}
	if !j.algorithm.cpu.whole {
		out = grid[E]{first.Sums[first.Stride+1:], first.Stride, first.Width, first.Height}
	}
	j.host = func() { host(gridOf(images[0]), out, j.opt) }
	return nil
}

// checked is an image with what zeros stand for filled in, and grey where the
// algorithm wants that.
func checked[P boxsum.Pixel](a *Algorithm, img boxsum.Image[P]) (boxsum.Image[P], error) {
	if img.Channels == 0 {
		img.Channels = 1
	}
	if img.Width <= 0 || img.Height <= 0 || img.Channels < 0 {
		return img, fmt.Errorf("papers: %w: %d×%d pixels with %d channels: the works have nothing for empty images", boxsum.ErrInvalid, img.Width, img.Height, img.Channels)
	}
	// Kernels count rows and columns in 32 bits, with room to double an offset.
	const most = 1 << 30
	if img.Width > most/img.Channels || img.Height > most || img.Width > most/img.Height {
		return img, fmt.Errorf("papers: %w: %d×%d pixels are too many: the works have images of up to 2^30 pixels", boxsum.ErrInvalid, img.Width, img.Height)
	}
	row := img.Width * img.Channels
	if img.Stride == 0 {
		img.Stride = row
	}
	if img.Stride < row || len(img.Pix) < row || img.Height > 1 && (len(img.Pix)-row)/(img.Height-1) < img.Stride {
		return img, fmt.Errorf("papers: %w: %d×%d pixels with %d channels, rows %d apart, do not fit a buffer of %d",
			boxsum.ErrInvalid, img.Width, img.Height, img.Channels, img.Stride, len(img.Pix))
	}
	if colour, ok := any(img).(boxsum.Image[uint8]); ok && a.Work.Name == "bertazzini" && (img.Channels == 3 || img.Channels == 4) {
		return any(grey(colour)).(boxsum.Image[P]), nil
	}
	return img, nil
}

// options fills in what zeros stand for, and says what the algorithm cannot do.
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
			return o, fmt.Errorf("papers: %w: %s is for images of %s, and this one has %d",
				boxsum.ErrTypes, o.Precision, channelCount(o.Precision.Channels), channels)
		}
		wanted := "nothing for " + channelCount(channels)
		if o.Precision != (Precision{}) {
			wanted = "no " + o.Precision.String()
		}
		var have []string
		for _, p := range a.Precisions {
			have = append(have, p.String())
		}
		return o, fmt.Errorf("papers: %w: %s is in %s (x4 is four channels, others one): there is %s",
			boxsum.ErrTypes, a.Name, strings.Join(have, ", "), wanted)
	}
	o.Precision = a.Precisions[i]
	for _, n := range []struct {
		value, most int
		of          string
	}{{o.Threads, 1 << 16, "threads"}, {o.Streams, 1 << 16, "streams"}, {o.Group, 1024, "threads in a block"}} {
		if n.value < 0 || n.value > n.most {
			return o, fmt.Errorf("papers: %w: %d %s: there are 1 to %d", boxsum.ErrInvalid, n.value, n.of, n.most)
		}
	}
	o.Threads = cmp.Or(o.Threads, runtime.GOMAXPROCS(0))
	o.Streams, o.Group = cmp.Or(o.Streams, 4), cmp.Or(o.Group, 256)
	if a.Kind == Rotated {
		var err error
		o.Rotation = cmp.Or(o.Rotation, rotated.Rotation{A: 1, B: 2})
		if o.Rotation, err = o.Rotation.Reduce(); err != nil {
			return o, fmt.Errorf("papers: %w", err)
		}
	}
	if a.Place == GPU && o.Device == nil {
		return o, fmt.Errorf("papers: %s runs on a GPU: open a device for it", a.Name)
	}
	return o, nil
}

func channelCount(n int) string {
	if n == 1 {
		return "1 channel"
	}
	return fmt.Sprintf("%d channels", n)
}

// convert is the pixels as values of another type, without gaps between rows.
func convert[E element, P boxsum.Pixel](img boxsum.Image[P]) (boxsum.Image[E], error) {
	if isWhole[E]() && P(3)/2 != 1 {
		return boxsum.Image[E]{}, fmt.Errorf("%w: pixels of floats cannot be summed as whole numbers: choose an algorithm in f32 or f64", boxsum.ErrTypes)
	}
	out, err := boxsum.NewImage[E](img.Width, img.Height, img.Channels)
	if err != nil {
		return out, err
	}
	for y := range img.Height {
		to := out.Row(y)
		for i, p := range img.Row(y) {
			to[i] = E(p)
			switch {
			case isWhole[E]() && p < 0:
				return out, fmt.Errorf("the pixel at (%d,%d) is %v, and these sums have no sign: choose an algorithm in f32 or f64", i/img.Channels, y, p)
			case to[i]-to[i] != 0: // only what is finite is zero less itself
				return out, fmt.Errorf("the pixel at (%d,%d) is %v, which is not finite in this type", i/img.Channels, y, p)
			}
		}
	}
	return out, nil
}

func bytesOf[E element](values []E) []byte {
	return unsafe.Slice((*byte)(unsafe.Pointer(unsafe.SliceData(values))), len(values)*int(unsafe.Sizeof(*new(E))))
}
