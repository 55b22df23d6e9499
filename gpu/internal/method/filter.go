package method

import (
	"math"

	"github.com/boxsum/boxsum/gpu/internal/devmem"
	"github.com/boxsum/boxsum/gpu/internal/driver"
	"github.com/boxsum/boxsum/gpu/internal/kernels"
	"github.com/boxsum/boxsum/internal/raster"
	"github.com/boxsum/boxsum/internal/window"
)

// A FilterKind is a result computed from the sums of windows, named like its kernels.
type FilterKind string

// The kinds: rounded means, means and deviations, and thresholded pixels.
const (
	BoxFilter     FilterKind = "box"
	StatsFilter   FilterKind = "stats"
	SauvolaFilter FilterKind = "sauvola"
)

// A Filter computes images from the windows around pixels. Deviations go to the squares of a job.
type Filter struct {
	images
	Kind        FilterKind
	Shape       window.Shape
	NoMean      bool    // compute deviations only
	K, InverseR float64 // of Sauvola
}

// filterSide limits the sides of a window in pixels.
const filterSide = math.MaxUint16

// Fits returns an error if the filter does not support images of a size, because sums would
// overflow their types.
func (f *Filter) Fits(pixel raster.Type, width, height int) error {
	s := f.reach(width, height)
	w, h := s.Width(), s.Height()
	most := uint64(math.MaxUint32 / 255) // sums of bytes fit in 32 bits, and then n²·variance in 64
	if pixel == raster.U16 && f.Kind != BoxFilter {
		most = math.MaxUint16
	}
	if w > filterSide || h > filterSide || uint64(w)*uint64(h) > most {
		return raster.Invalid("window is %d×%d, too large for a device: want sides of at most %d and an area of at most %d pixels", w, h, filterSide, most)
	}
	return nil
}

// reach returns the window without the parts that lie outside the image for every pixel, if windows
// are clipped.
func (f *Filter) reach(width, height int) window.Shape {
	s := f.Shape
	if s.Border == window.Clip {
		s.Left, s.Right = min(s.Left, width-1), min(s.Right, width-1)
		s.Up, s.Down = min(s.Up, height-1), min(s.Down, height-1)
	}
	return s
}

// squares reports whether sums of squares are needed.
func (f *Filter) squares(job Job) bool { return f.Kind == SauvolaFilter || job.Square != 0 }

const (
	filterBytes   = 256 << 20 // approximate memory for the column sums of a launch
	filterBand    = 64        // rows, and at least twice the height of a window
	filterSegment = 32        // pixels, and at least half the width of a window
)

// Portable plans a filter in two launches: column sums, and the results.
func (f *Filter) Portable(job Job) (Plan, error) {
	pixel, squares := job.Pixel.Short(), f.squares(job)
	columns, rows := kernels.FilterKernel("columns", pixel), kernels.FilterKernel(string(f.Kind), pixel)
	group, err := job.group(kernels.FilterGroup, columns, rows)
	if err != nil {
		return Plan{}, err
	}
	s := f.reach(job.Width, job.Height)
	values := int64(job.Width) * int64(job.Channels)
	value, square := int64(4), int64(0)
	if squares {
		square = 4
		if job.Pixel != raster.U8 {
			square = 8
		}
	}
	c := kernelFilter{
		InStride: job.In.Stride, InDistance: job.In.Distance, OutStride: job.Out.Stride, OutDistance: job.Out.Distance,
		DevStride: job.Squares.Stride, DevDistance: job.Squares.Distance,
		Width: int32(job.Width), Height: int32(job.Height), Channels: int32(job.Channels),
		Left: int32(s.Left), Right: int32(s.Right), Up: int32(s.Up), Down: int32(s.Down), Border: int32(s.Border), Value: int32(s.Value),
		BandRows: int32(max(filterBand, 2*s.Height())), SegmentPixels: int32(max(filterSegment, s.Width()/2)),
		WantSquares: flag(squares), WantMean: flag(!f.NoMean),
	}
	c.Segments = int32(devmem.CeilDiv(job.Width, int(c.SegmentPixels)))
	launch := func(part Job) error {
		row := values * (value + square) * int64(part.Count)
		c := c
		c.InStart, c.OutStart, c.DevStart, c.Images = part.In.Offset, part.Out.Offset, part.Squares.Offset, int32(part.Count)
		most := int(min(int64(job.Height), max(1, filterBytes/row)))
		for first := 0; first < job.Height; first += most {
			if err := job.ended(); err != nil {
				return err
			}
			n := min(most, job.Height-first)
			c.FirstRow, c.Rows, c.Bands = int32(first), int32(n), int32(devmem.CeilDiv(n, int(c.BandRows)))
			c.SquaresStart = devmem.RoundUp(values*value*int64(n)*int64(part.Count), 256)
			space, _, err := job.Device.Workspace(job.Stream, "columns", c.SquaresStart+values*square*int64(n)*int64(part.Count))
			if err != nil {
				return err
			}
			items := values * int64(c.Bands) * int64(part.Count)
			if err := job.launch(columns, devmem.CeilDiv(items, int64(group)), group, arg(&c), arg(&part.In.Memory), arg(&space)); err != nil {
				return err
			}
			args := []driver.Arg{arg(&c), arg(&part.In.Memory), arg(&space), arg(&part.Out.Memory)}
			switch f.Kind {
			case StatsFilter:
				args = append(args, arg(&part.Squares.Memory))
			case SauvolaFilter:
				args = append(args, arg(&f.K), arg(&f.InverseR))
			}
			items = int64(job.Channels) * int64(c.Segments) * int64(n) * int64(part.Count)
			if err := job.launch(rows, devmem.CeilDiv(items, int64(group)), group, args...); err != nil {
				return err
			}
		}
		return nil
	}
	return Plan{int(min(int64(job.Count), max(1, filterBytes/(values*(value+square)*int64(job.Height))))), launch}, nil
}
