package gpu

import (
	"context"
	"iter"
	"unsafe"

	"github.com/boxsum/boxsum/gpu/internal/devmem"
	"github.com/boxsum/boxsum/gpu/internal/driver"
	"github.com/boxsum/boxsum/gpu/internal/transfer"
	"github.com/boxsum/boxsum/internal/device"
	"github.com/boxsum/boxsum/internal/raster"
)

// Stager implements [device.Runner].
func (r runner) Stager() device.Stager { return stager(r) }

// A stager holds images and tables on a device for measurements.
type stager struct{ device *Device }

// A stage implements [device.Stage].
type stage struct {
	queue    func() error
	download func(i int) error
	owned    []func() error
}

func (s *stage) Queue() error         { return s.queue() }
func (s *stage) Download(i int) error { return s.download(i) }

// Close frees the memory on the device.
func (s *stage) Close() (err error) {
	for _, free := range s.owned {
		err = driver.FirstError(err, free())
	}
	return err
}

// Stage copies images to the device and allocates their tables.
func (r stager) Stage(job *device.StageJob) (device.Stage, error) {
	m := r.device.mem()
	s := new(stage)
	t := tablesOfKind(job.Kind)
	src, err := s.upload(m, job)
	if err == nil {
		t.sums, err = s.table(src, job.Sums.Type)
	}
	if err == nil && job.Squares.Type != 0 {
		t.squares, err = s.table(src, job.Squares.Type)
	}
	if err != nil {
		return nil, driver.FirstError(err, s.Close())
	}
	opt := &Options{Offset: job.Offset, Plain: job.Plain, Kernels: Kernels(job.Kernels)}
	s.queue = func() error { return t.integrate(src, opt) }
	s.download = func(i int) error {
		return using(src, func() error {
			for k, a := range t.all() {
				if err := copyOut(a, i, sideOf([]*raster.Array{&job.Sums, &job.Squares}[k])); err != nil {
					return err
				}
			}
			return nil
		})
	}
	return s, nil
}

// sideOf returns the location of an array on the host.
func sideOf(a *raster.Array) transfer.Side {
	return transfer.Side{At: rowsOf(a), Unit: int64(a.SliceStride) * int64(a.Type.Bytes())}
}

// upload copies the images of a job, or its volume, to the device.
func (s *stage) upload(m *devmem.Device, job *device.StageJob) (*devmem.Array, error) {
	if job.Kind != device.Volume {
		return s.own(uploadImages(m, job.Images))
	}
	voxels := &job.Images[0]
	a := arrayOf(voxels)
	a.Volume, a.Depth = true, voxels.Depth
	a, err := m.Make(a)
	if err != nil {
		return nil, err
	}
	return s.own(&a, using(&a, func() error {
		for z := range a.Depth {
			if err := a.CopyIn(z, sideOf(voxels).From(z)); err != nil {
				return err
			}
		}
		return nil
	}))
}

// table allocates the tables of images.
func (s *stage) table(src *devmem.Array, sum raster.Type) (*devmem.Array, error) {
	a, err := src.Device.Make(devmem.Array{
		Element: sum, Width: src.Width, Height: src.Height, Channels: src.Channels, Count: src.Count,
		Border: 1, Volume: src.Volume, Depth: src.Depth,
	})
	return s.own(&a, err)
}

// own makes Close free an array.
func (s *stage) own(a *devmem.Array, err error) (*devmem.Array, error) {
	if a != nil {
		s.owned = append(s.owned, a.Close)
	}
	return a, err
}

// StageRotated copies images to the device and allocates their rotated tables.
func (r stager) StageRotated(job *device.Rotated, images []raster.Array, kernels int) (device.Stage, error) {
	s := new(stage)
	src, err := s.own(uploadImages(r.device.mem(), images))
	if err != nil {
		return nil, err
	}
	t, err := rotatedTablesOf(src, job)
	if err != nil {
		return nil, driver.FirstError(err, s.Close())
	}
	s.owned = append(s.owned, t.free)
	s.queue = func() error { return t.tables().integrate(src, &Options{Kernels: Kernels(kernels)}) }
	s.download = func(i int) error { return t.download(i, &job.Dst) }
	return s, nil
}

// Pipeline computes the tables of images one after the other, as [Pipeline]
// and its variants do.
func (r stager) Pipeline(ctx context.Context, job *device.PipelineJob) iter.Seq2[raster.Array, error] {
	opt := &PipelineOptions{Offset: job.Offset, Kernels: Kernels(job.Kernels), InFlight: job.InFlight, Reuse: job.Reuse}
	return pipeline(ctx, r.device, job.Pixel, job.Images, opt, sumArrays(job.Sum, job.Given))
}

// sumArrays is like [sumTables] for a type known at run time.
func sumArrays(sum raster.Type, given bool) kindOf[raster.Array] {
	return kindOf[raster.Array]{
		sum: sum,
		take: func(w *transfer.Work, t raster.Array) error {
			return takeSides(w, func(src raster.Extent) (transfer.Side, error) {
				err := t.Accept(&src, t.Len())
				return transfer.Rows(rowsOf(&t)), err
			})
		},
		Tables: transfer.Tables[raster.Array]{
			Given: given,
			Fresh: func(w *transfer.Work) (raster.Array, error) {
				return raster.NewTable(sum, raster.PlaneExtent(w.Job.Width, w.Job.Height, w.Job.Channels, 0))
			},
			Over: func(w *transfer.Work, sums, _ devmem.Host) raster.Array {
				e := raster.PlaneExtent(w.Job.Width, w.Job.Height, w.Job.Channels, int(sums.Stride)/sum.Bytes())
				elements := e.Height*e.Stride + (e.Width+1)*e.Channels
				return raster.Array{Data: unsafe.Slice((*byte)(sums.At), elements*sum.Bytes()), Type: sum, Extent: e}
			},
			Rows:  func(t raster.Array) (sums, squares devmem.Host) { return rowsOf(&t), devmem.Host{} },
			Empty: func(raster.Array) {},
		},
	}
}

// LockedArray allocates zeros in page-locked host memory: an image, as
// [NewHostImage] does, or a table, as [NewHostTable] does.
func (r stager) LockedArray(t raster.Type, image raster.Extent, table bool) (raster.Array, func() error, error) {
	a := devmem.Array{Element: t, Width: image.Width, Height: image.Height, Channels: image.Channels, Count: 1}
	if table {
		a.Border = 1
	}
	data, free, err := devmem.HostArray(r.device.mem(), &a, r.device.memories()...)
	if err != nil {
		return raster.Array{}, nil, err
	}
	e := raster.PlaneExtent(a.Width, a.Height, a.Channels, int(a.At.Stride)/t.Bytes())
	return raster.Array{Data: data, Type: t, Extent: e}, free, nil
}
