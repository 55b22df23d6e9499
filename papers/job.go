package papers

import (
	"cmp"
	"errors"
	"fmt"
	"runtime"
	"slices"
	"strings"

	"github.com/boxsum/boxsum"
	"github.com/boxsum/boxsum/rotated"
)

// A Job is an algorithm that was prepared for an image, or for several. It is for
// one goroutine at a time.
type Job struct {
	algorithm *Algorithm
	opt       Options // with its zeros filled in
	width     int
	height    int
	typed     typedJob
}

// typedJob is a job[E] for some E.
type typedJob interface {
	run() error
	runHost() error
	verify() error
	steps() []Step
	close() error
	count() int
}

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
		j.typed, err = newJob(j, images, a.cpu.f32)
	case "f64":
		j.typed, err = newJob(j, images, a.cpu.f64)
	default:
		j.typed, err = newJob(j, images, a.cpu.u32)
	}
	if err != nil {
		return nil, err
	}
	return j, nil
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

// Algorithm is what was prepared.
func (j *Job) Algorithm() *Algorithm { return j.algorithm }

// Precision is the one that it was prepared in.
func (j *Job) Precision() Precision { return j.opt.Precision }

// Size is that of the image, and how many images there are.
func (j *Job) Size() (width, height, count int) { return j.width, j.height, j.typed.count() }

// Run makes the table once. On a GPU it returns when the kernels are queued on the
// device, whose Wait and Time go with it; the images are there already. Only what
// takes [Algorithm.Many] also queues the copies of its images and tables, which are
// part of its idea.
func (j *Job) Run() error { return j.typed.run() }

// RunHost makes the table from an image in host memory in host memory: on a GPU
// with the copies there and back. It returns when the table is there.
func (j *Job) RunHost() error { return j.typed.runHost() }

// Verify compares every entry of the tables that the last run made with a reference:
// to the bit where the sums are whole numbers that fit, and elsewhere to within
// rounding. The error says where the first difference is.
func (j *Job) Verify() error { return j.typed.verify() }

// A Step is one kernel of an algorithm on a GPU.
type Step struct {
	Name  string       // of the kernel
	Run   func() error // queues it alone
	Bytes int64        // that it reads and writes
}

// Steps lists the kernels that a run launches, in order, to be timed one by one. It
// is nil on the CPU and for many images.
func (j *Job) Steps() []Step { return j.typed.steps() }

// Close frees the memory on the device; the job of one cannot be used afterwards.
// Closing again does nothing.
func (j *Job) Close() error { return j.typed.close() }

// Table is the table of image i that the last run of a job made. Its entries have
// the type of the job's precision: float32, float64 or uint32.
func Table[S boxsum.Sum](j *Job, i int) (*boxsum.Table[S], error) {
	if i < 0 || i >= j.typed.count() {
		return nil, fmt.Errorf("papers: %w: no table %d among %d", boxsum.ErrInvalid, i, j.typed.count())
	}
	t, ok := j.typed.(interface {
		table(i int) (*boxsum.Table[S], error)
	})
	if !ok {
		return nil, fmt.Errorf("papers: %w: the sums of this job are %s, not %T", boxsum.ErrTypes, j.opt.Precision.Type, *new(S))
	}
	return t.table(i)
}

// A job is a Job of one type.
type job[E element] struct {
	*Job
	images []boxsum.Image[E] // without gaps
	tables []*boxsum.Table[E]
	host   func(in, out grid[E], o Options) // nil on a GPU
	device *deviceRun                       // nil on the CPU
	rig    *rig
}

func newJob[E element, P boxsum.Pixel](j *Job, images []boxsum.Image[P], host func(in, out grid[E], o Options)) (typedJob, error) {
	t := &job[E]{Job: j, host: host}
	for _, img := range images {
		same, err := convert[E](img)
		if err != nil {
			return nil, fmt.Errorf("papers: %s in %s: %w", j.algorithm.Name, j.opt.Precision, err)
		}
		table, err := boxsum.NewTable[E](img.Width, img.Height, img.Channels)
		if err != nil {
			return nil, err
		}
		t.images, t.tables = append(t.images, same), append(t.tables, table)
	}
	if j.algorithm.Place == CPU {
		return t, nil
	}
	if err := t.prepareDevice(); err != nil {
		return nil, errors.Join(err, t.close())
	}
	return t, nil
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

func (t *job[E]) count() int { return len(t.images) }

func (t *job[E]) run() error {
	if t.device != nil {
		return t.device.run()
	}
	in := gridOf(t.images[0])
	t.host(in, t.out(), t.opt)
	return nil
}

// out is where the algorithm writes: the whole table, or the view of it that
// belongs to pixels.
func (t *job[E]) out() grid[E] {
	table := t.tables[0]
	if t.algorithm.cpu.whole {
		return grid[E]{table.Sums, table.Stride, table.Width + 1, table.Height + 1}
	}
	return grid[E]{table.Sums[table.Stride+1:], table.Stride, table.Width, table.Height}
}

func (t *job[E]) runHost() error {
	if t.device == nil {
		return t.run()
	}
	return t.deviceRunHost()
}

func (t *job[E]) table(i int) (*boxsum.Table[E], error) {
	if t.device != nil {
		if err := t.fetch(i); err != nil {
			return nil, err
		}
	}
	if t.algorithm.Kind == Tilted {
		tiltedEdge(t.tables[i])
	}
	return t.tables[i], nil
}

// tiltedEdge fills in column 0 of a tilted table, which is that of the pixel right
// of it in the row above: what the triangles of tips left of the image hold.
func tiltedEdge[E element](t *boxsum.Table[E]) {
	for y := 1; y <= t.Height; y++ {
		t.Sums[y*t.Stride] = t.Sums[(y-1)*t.Stride+1]
	}
}

func (t *job[E]) close() error {
	if t.rig == nil {
		return nil
	}
	return t.rig.close()
}

// errClosed is for a job whose memory was given back.
var errClosed = errors.New("papers: the job was already closed: prepare it again")
