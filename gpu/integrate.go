package gpu

import (
	"fmt"
	"slices"

	"github.com/boxsum/boxsum"
)

// sumsOf is the tables that each type of pixel can have, and squaresOf the
// tables of squares beside them.
var (
	sumsOf = map[element][]element{
		u8:  {u32, u64, f32, f64},
		u16: {u64, f64},
		u32: {u32, u64},
		i16: {i64},
		i32: {i64},
		f32: {f32, f64},
		f64: {f64},
	}
	squaresOf = map[element][]element{
		u8:  {u64},
		u16: {u64},
		u32: {u64, f64},
		i16: {u64},
		i32: {u64, f64},
		f32: {f64},
		f64: {f64},
	}
)

// pairError says that there is no such table.
func pairError(pixel, sum, square element) error {
	if !slices.Contains(sumsOf[pixel], sum) {
		return fmt.Errorf("gpu: %w: no table of %s from pixels of %s", boxsum.ErrTypes, elements[sum].long, elements[pixel].long)
	}
	if square != none && !slices.Contains(squaresOf[pixel], square) {
		return fmt.Errorf("gpu: %w: no squares of %s in %s: integer pixels take uint64, float pixels and 32-bit integers float64",
			boxsum.ErrTypes, elements[pixel].long, elements[square].long)
	}
	return nil
}

// check says what is wrong with the options for tables of these types.
func (o *Options) check(sum element) (Options, error) {
	if o == nil {
		return Options{}, nil
	}
	if offset := float64(o.Offset); offset-offset != 0 {
		return Options{}, fmt.Errorf("gpu: %w: an offset of %v", boxsum.ErrInvalid, offset)
	}
	if o.Offset != 0 && sum != f32 {
		return Options{}, fmt.Errorf("gpu: %w: an offset is for tables of float32, not of %s", boxsum.ErrTypes, elements[sum].long)
	}
	if o.BandRows < 0 {
		return Options{}, fmt.Errorf("gpu: %w: bands of %d rows", boxsum.ErrInvalid, o.BandRows)
	}
	if o.Kernels < AutoKernels || o.Kernels > Fast {
		return Options{}, fmt.Errorf("gpu: %w: no kernels are number %d", boxsum.ErrTypes, o.Kernels)
	}
	return *o, nil
}

// Integrate makes the tables of images, on their device:
//
//	tables, err := gpu.Integrate[uint32](images, nil)
//
// The pairs of pixel and sum types are those of [boxsum.Integrate].
func Integrate[S boxsum.Sum, P boxsum.Pixel](src *Image[P], opt *Options) (*Table[S], error) {
	if src == nil || src.device == nil {
		return nil, errNoImage
	}
	if err := pairError(elementOf[P](), elementOf[S](), none); err != nil {
		return nil, err
	}
	t, err := NewTable[S](src.device, src.width, src.height, src.channels, src.count)
	if err != nil {
		return nil, err
	}
	if err := IntegrateInto(t, src, opt); err != nil {
		return nil, firstError(err, t.Close())
	}
	return t, nil
}

// IntegrateInto makes the tables of images in dst, which must be on the same
// device, for as many images of the same size, and in other memory. It returns when
// the work is queued: later calls see its result, and [Device.Wait] waits for it.
func IntegrateInto[S boxsum.Sum, P boxsum.Pixel](dst *Table[S], src *Image[P], opt *Options) error {
	if src == nil || src.device == nil {
		return errNoImage
	}
	if dst == nil || dst.device == nil {
		return errNoTable
	}
	return integrate(&dst.array, nil, &src.array, opt, func(offset float32) { dst.offset = offset })
}

// integrate checks a job and queues it. It says which offset the sums have from
// now on.
func integrate(dst, squares, src *array, opt *Options, offset func(float32)) error {
	job := integrateJob{
		pixel: src.element, sum: dst.element,
		channels: src.channels, width: src.width, height: src.height, count: src.count,
	}
	tables := []*array{dst}
	if squares != nil {
		job.square = squares.element
		tables = append(tables, squares)
	}
	if err := pairError(job.pixel, job.sum, job.square); err != nil {
		return err
	}
	o, err := opt.check(job.sum)
	if err != nil {
		return err
	}
	for _, t := range tables {
		if t.device != src.device {
			return fmt.Errorf("gpu: %w: a table on %s cannot take images on %s: both must be on one open device",
				boxsum.ErrInvalid, t.device.Info().Name, src.device.Info().Name)
		}
		if t.width != src.width || t.height != src.height || t.channels != src.channels || t.count != src.count {
			return fmt.Errorf("gpu: %w: %s cannot take the sums of %s", boxsum.ErrInvalid, t, src)
		}
	}
	d := src.device
	return d.use(func() error {
		for _, a := range append(tables, src) {
			if err := a.open(); err != nil {
				return err
			}
		}
		for _, t := range tables {
			if !t.apart(src) {
				return errOverlap
			}
		}
		job.stream, job.in, job.out, job.offset = d.stream, src.at, dst.at, float64(o.Offset)
		if squares != nil {
			if !squares.apart(dst) {
				return errOverlap
			}
			job.squares = squares.at
		}
		job.gaps = !slices.ContainsFunc(tables, func(t *array) bool { return !t.ownGaps() })
		offset(o.Offset)
		return d.run(job, o.Kernels)
	})
}

// run queues a job by the kernels that suit it.
func (d *Device) run(job integrateJob, kernels Kernels) error {
	if job.width == 0 || job.height == 0 {
		return d.clear(job)
	}
	if kernels == Portable {
		return d.portableIntegrate(job)
	}
	if obstacle := d.notFast(job); obstacle != "" {
		if kernels == Fast {
			return fmt.Errorf("gpu: %w: one-pass kernels %s: let the package choose", boxsum.ErrTypes, obstacle)
		}
		return d.portableIntegrate(job)
	}
	return orPortable(kernels, d.fastIntegrate(job), func() error { return d.portableIntegrate(job) })
}

// orPortable is what came of kernels that not every driver takes, or of the portable
// ones where this driver does not and the caller left the choice.
func orPortable(asked Kernels, err error, portable func() error) error {
	if asked == AutoKernels && isRefused(err) {
		return portable()
	}
	return err
}

// clear is the job of images without pixels: their tables are a row or a column
// of zeros.
func (d *Device) clear(job integrateJob) error {
	for _, t := range []struct {
		element
		at batch
	}{{job.sum, job.out}, {job.square, job.squares}} {
		if t.element == none {
			continue
		}
		all := rows{int64(job.width+1) * int64(job.channels) * int64(t.bytes()), int64(job.height + 1)}
		if job.carry {
			t.at.offset += t.at.stride
			all.count--
		}
		if err := d.clearRows(job, t.at, all); err != nil {
			return err
		}
	}
	return nil
}

// clearRows fills rows of every table with zeros, and those with nothing of anybody
// else's between them at once: there may be millions.
func (d *Device) clearRows(job integrateJob, at batch, all rows) error {
	images := job.count
	if all.count > 1 && (job.gaps || at.stride == all.bytes) {
		all = rows{(all.count-1)*at.stride + all.bytes, 1}
	}
	if all.count == 1 && (job.gaps && !job.carry || at.distance == all.bytes) {
		all.bytes += int64(images-1) * at.distance
		images = 1
	}
	for i := range images {
		row := at.image(i)
		for range all.count {
			if err := d.backend.fill(job.stream, row, 0, all.bytes); err != nil {
				return err
			}
			row.offset += row.stride
		}
	}
	return nil
}

// ownGaps says whether what lies between the rows of an array is its own too: it is in
// memory that was taken for it.
func (a *array) ownGaps() bool {
	laid := *a
	_, err := laid.lay()
	return err == nil && a.owned && a.at == laid.at
}
