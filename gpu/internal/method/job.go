package method

import (
	"context"

	"github.com/boxsum/boxsum/gpu/internal/devmem"
	"github.com/boxsum/boxsum/gpu/internal/driver"
	"github.com/boxsum/boxsum/internal/raster"
)

// A Job is a batch of images and the destinations of their tables. It has been checked: every size
// is positive and fits an int32, and every byte is in its memory. Running a job returns when its
// work is on the stream.
type Job struct {
	Device               *devmem.Device
	Stream               driver.Stream
	Pixel, Sum, Square   raster.Type // Square is 0 if no squares are wanted
	Channels             int
	Bins                 int // of a histogram: a table has that many values for each channel
	Width, Height, Count int // Count is the number of images, or of slices of a volume
	In, Out, Squares     devmem.Batch

	// Carry makes row 0 of every table, or slice 0 of a volume's, an input: the last row of the
	// band above. Otherwise the kernels write zeros there. Column 0 is always written.
	Carry bool

	// Gaps allows kernels to write between the rows of tables, and between tables.
	Gaps bool

	// Offset is subtracted from every float pixel before it is summed or squared. From integer
	// pixels it is subtracted only for float32 sums; their squares are of the original pixels.
	Offset float64

	// Context cancels a job between its launches; nil never does.
	Context context.Context

	// tiles lists the tileCount tiles that a one-pass kernel computes. Without a list it computes
	// all tiles.
	tiles     driver.Memory
	tileCount int
}

// Of returns the job of an image or a volume and its table. squares may be nil.
func Of(dst, squares, src *devmem.Array, offset float32) Job {
	job := Job{
		Device: src.Device, Stream: src.Device.Stream, Pixel: src.Element, Sum: dst.Element, Channels: src.Channels,
		Width: src.Width, Height: src.Height, Count: src.Count, In: src.At, Out: dst.At, Offset: float64(offset), Gaps: dst.Gaps,
	}
	if src.Volume {
		job.Count = src.Depth
	}
	if squares != nil {
		job.Square, job.Squares, job.Gaps = squares.Element, squares.At, job.Gaps && squares.Gaps
	}
	return job
}

// ended returns the error of a context that is done.
func (job *Job) ended() error {
	if job.Context == nil {
		return nil
	}
	return job.Context.Err()
}

// sumsOnly and squaresOnly return the job for one of its tables.
func (job Job) sumsOnly() Job {
	job.Square, job.Squares = 0, devmem.Batch{}
	return job
}

func (job Job) squaresOnly() Job {
	job.Sum, job.Out = job.Square, job.Squares
	if !job.Pixel.Float() {
		job.Offset = 0
	}
	return job.sumsOnly()
}

// Layer returns the layout of one image of a job (0), of its table of sums (1), or of its table of
// squares (2).
func (job *Job) Layer(i int) devmem.Array {
	a := devmem.Array{Element: job.Pixel, Width: job.Width, Height: job.Height, Channels: job.Channels, Count: 1}
	if i > 0 {
		a.Element, a.Border, a.Channels = [...]raster.Type{1: job.Sum, 2: job.Square}[i], 1, job.values()
	}
	return a
}

// values returns the number of values in an entry of a table.
func (job *Job) values() int { return job.Channels * max(job.Bins, 1) }

// launch queues a portable kernel.
func (job *Job) launch(kernel string, groups int64, group int, args ...driver.Arg) error {
	return job.Device.Backend.Launch(job.Stream, kernel, int(groups), group, args...)
}

// group returns the work-group size for some kernels.
func (job *Job) group(most int, names ...string) (int, error) {
	return job.Device.Backend.LargestGroup(names, most)
}

func arg[T any](v *T) driver.Arg { return driver.Value(v) }

func flag(set bool) int32 {
	if set {
		return 1
	}
	return 0
}

// clear runs the job of images without pixels, whose tables are a row or a column of zeros.
func (job Job) clear() error {
	for _, t := range []struct {
		raster.Type
		at devmem.Batch
	}{{job.Sum, job.Out}, {job.Square, job.Squares}} {
		if t.Type == 0 {
			continue
		}
		all := driver.Rows{Bytes: int64(job.Width+1) * int64(job.values()) * int64(t.Bytes()), Count: int64(job.Height + 1)}
		if job.Carry {
			t.at.Offset += t.at.Stride
			all.Count--
		}
		if err := job.clearRows(t.at, all); err != nil {
			return err
		}
	}
	return nil
}

// clearRows fills rows of every table with zeros. If no other memory lies between the rows, it
// fills all at once, because there may be millions.
func (job Job) clearRows(at devmem.Batch, all driver.Rows) error {
	images := job.Count
	if all.Count > 1 && (job.Gaps || at.Stride == all.Bytes) {
		all = driver.Rows{Bytes: (all.Count-1)*at.Stride + all.Bytes, Count: 1}
	}
	if all.Count == 1 && (job.Gaps && !job.Carry || at.Distance == all.Bytes) {
		all.Bytes += int64(images-1) * at.Distance
		images = 1
	}
	for i := range images {
		row := at.Image(i)
		for range all.Count {
			if err := job.Device.Backend.Fill(job.Stream, row, 0, all.Bytes); err != nil {
				return err
			}
			row.Offset += row.Stride
		}
	}
	return nil
}
