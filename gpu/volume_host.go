package gpu

import (
	"errors"

	"github.com/boxsum/boxsum"
	"github.com/boxsum/boxsum/volume"
)

// IntegrateVolumeHost makes the table of a volume in host memory on a device. The
// volume goes there in slabs of slices, each carrying on from the last slice of the
// one before, so that neither volume nor table must fit the device: two slices of the
// table and one of the volume are enough. [Options.BandRows] counts slices here.
//
// The pairs of types are those of [volume.Integrate].
func IntegrateVolumeHost[S boxsum.Sum, P boxsum.Pixel](d *Device, src volume.Volume[P], opt *Options) (*volume.Table[S], error) {
	return newVolumeHost(d, src, opt, IntegrateVolumeHostInto[S, P])
}

// IntegrateVolumeHostInto is [IntegrateVolumeHost] into a table that is already there,
// which must have the volume's size.
func IntegrateVolumeHostInto[S boxsum.Sum, P boxsum.Pixel](d *Device, dst *volume.Table[S], src volume.Volume[P], opt *Options) error {
	return volumeHostInto(d, dst, src, opt, false)
}

// IntegrateVolumeSquaresHost is [IntegrateVolumeHost] for the squares of the voxels.
func IntegrateVolumeSquaresHost[Q boxsum.Square, P boxsum.Pixel](d *Device, src volume.Volume[P], opt *Options) (*volume.Table[Q], error) {
	return newVolumeHost(d, src, opt, IntegrateVolumeSquaresHostInto[Q, P])
}

// IntegrateVolumeSquaresHostInto is [IntegrateVolumeSquaresHost] into a table that is
// already there.
func IntegrateVolumeSquaresHostInto[Q boxsum.Square, P boxsum.Pixel](d *Device, dst *volume.Table[Q], src volume.Volume[P], opt *Options) error {
	return volumeHostInto(d, dst, src, opt, true)
}

func newVolumeHost[S boxsum.Sum, P boxsum.Pixel](d *Device, src volume.Volume[P], opt *Options, into func(*Device, *volume.Table[S], volume.Volume[P], *Options) error) (*volume.Table[S], error) {
	src, err := checkedVolume(src)
	if err != nil {
		return nil, err
	}
	if _, err := opt.check(elementOf[S]()); err != nil {
		return nil, err
	}
	dst, err := volume.NewTable[S](src.Width, src.Height, src.Depth, src.Channels)
	if err != nil {
		return nil, err
	}
	if err := into(d, dst, src, opt); err != nil {
		return nil, err
	}
	return dst, nil
}

func volumeHostInto[S boxsum.Sum, P boxsum.Pixel](d *Device, dst *volume.Table[S], src volume.Volume[P], opt *Options, squares bool) error {
	if err := tiltedPairError(elementOf[P](), elementOf[S](), squares); err != nil {
		return err
	}
	o, err := volumeOptions(opt, elementOf[S](), squares)
	if err != nil {
		return err
	}
	if src, err = checkedVolume(src); err != nil {
		return err
	}
	if err := acceptsVolume(dst, src.Width, src.Height, src.Depth, src.Channels); err != nil {
		return err
	}
	dst.Offset = o.Offset
	slices := max(src.Depth, 1)
	if o.BandRows > 0 {
		slices = min(slices, o.BandRows)
	}
	for {
		err := volumeInSlabs(d, dst, src, o, squares, slices)
		if !errors.Is(err, ErrMemory) || slices == 1 {
			return err
		}
		slices = (slices + 1) / 2
	}
}

// volumeInSlabs makes the table in slabs of so many slices.
func volumeInSlabs[S boxsum.Sum, P boxsum.Pixel](d *Device, dst *volume.Table[S], src volume.Volume[P], o Options, squares bool, slices int) (err error) {
	vol, err := NewVolume[P](d, src.Width, src.Height, slices, src.Channels)
	if err != nil {
		return err
	}
	defer func() { err = firstError(err, vol.Close()) }()
	table, err := NewVolumeTable[S](d, src.Width, src.Height, slices, src.Channels)
	if err != nil {
		return err
	}
	defer func() { err = firstError(err, table.Close()) }()
	slab := func(first, count int) error {
		for z := range count {
			slice := src.Slice(first + z)
			if err := vol.slices.copyIn(z, hostRows(slice.Pix, slice.Stride)); err != nil {
				return err
			}
		}
		from := 0
		if first > 0 { // where the slab before ended, which it has delivered
			from = 1
			all := table.slices.rows()
			whole := (all.count-1)*table.slices.at.stride + all.bytes // drivers take rows of one buffer to overlap
			if err := d.backend.copyWithin(d.stream, table.slices.at.image(0), table.slices.at.image(slices), rows{whole, 1}); err != nil {
				return err
			}
		}
		err := d.volumeIntegrate(volumeJob{
			integrateJob: integrateJob{
				stream: d.stream, pixel: vol.slices.element, sum: table.slices.element, channels: src.Channels,
				width: src.Width, height: src.Height, count: count,
				in: vol.slices.at, out: table.slices.at, offset: float64(o.Offset), carry: first > 0,
			},
			squared: squares,
		}, o.Kernels)
		for z := from; z <= count && err == nil; z++ {
			err = table.slices.copyOut(z, hostRows(dst.Slice(first+z).Sums, dst.Stride))
		}
		return err
	}
	for first := 0; first == 0 || first < src.Depth; first += slices {
		count := min(slices, src.Depth-first)
		if err := d.use(func() error { return slab(first, count) }); err != nil {
			return err
		}
	}
	return nil
}
