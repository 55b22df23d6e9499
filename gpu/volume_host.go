package gpu

import (
	"github.com/boxsum/boxsum"
	"github.com/boxsum/boxsum/volume"
)

// IntegrateVolumeHost makes the table of a volume in host memory on a device. The
// volume goes there in slabs of slices, each carrying on from the last slice of the
// one before, so that neither volume nor table must fit the device: two slices of the
// table and one of the volume are enough. A slab is copied in while another is summed
// and a third copied out. [Options.BandRows] counts slices here.
//
// The pairs of types are those of [volume.Integrate].
func IntegrateVolumeHost[S boxsum.Sum, P boxsum.Pixel](d *Device, src volume.Volume[P], opt *Options) (*volume.Table[S], error) {
	return newVolumeHost[S](d, src, opt, false)
}

// IntegrateVolumeHostInto is [IntegrateVolumeHost] into a table that is already there,
// which must have the volume's size and may not lie in its memory.
func IntegrateVolumeHostInto[S boxsum.Sum, P boxsum.Pixel](d *Device, dst *volume.Table[S], src volume.Volume[P], opt *Options) error {
	return volumeHostInto(d, dst, src, opt, false)
}

// IntegrateVolumeSquaresHost is [IntegrateVolumeHost] for the squares of the voxels.
func IntegrateVolumeSquaresHost[Q boxsum.Square, P boxsum.Pixel](d *Device, src volume.Volume[P], opt *Options) (*volume.Table[Q], error) {
	return newVolumeHost[Q](d, src, opt, true)
}

// IntegrateVolumeSquaresHostInto is [IntegrateVolumeSquaresHost] into a table that is
// already there.
func IntegrateVolumeSquaresHostInto[Q boxsum.Square, P boxsum.Pixel](d *Device, dst *volume.Table[Q], src volume.Volume[P], opt *Options) error {
	return volumeHostInto(d, dst, src, opt, true)
}

// newVolumeHost takes a table only for what can be done.
func newVolumeHost[S boxsum.Sum, P boxsum.Pixel](d *Device, src volume.Volume[P], opt *Options, squares bool) (*volume.Table[S], error) {
	if err := tiltedPairError(elementOf[P](), elementOf[S](), squares); err != nil {
		return nil, err
	}
	if _, err := volumeOptions(opt, elementOf[S](), squares); err != nil {
		return nil, err
	}
	src, err := checkedVolume(src)
	if err != nil {
		return nil, err
	}
	if err := d.enter(); err != nil {
		return nil, err
	}
	defer d.leave()
	dst, err := volume.NewTable[S](src.Width, src.Height, src.Depth, src.Channels)
	if err != nil {
		return nil, err
	}
	if err := volumeHostInto(d, dst, src, opt, squares); err != nil {
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
	voxels := stretchOfSlices(src.Pix, src.Width*src.Channels, src.Height, src.Stride, src.Depth, src.SliceStride)
	sums := stretchOfSlices(dst.Sums, (src.Width+1)*src.Channels, src.Height+1, dst.Stride, src.Depth+1, dst.SliceStride)
	if !voxels.apart(sums) {
		return errOverlap
	}
	if err := d.enter(); err != nil { // also where there is nothing to do for it
		return err
	}
	defer d.leave()
	dst.Offset = o.Offset
	if src.Width == 0 || src.Height == 0 || src.Depth == 0 {
		for z := range dst.Depth + 1 {
			for y := range dst.Height + 1 {
				clear(dst.Slice(z).Sums[y*dst.Stride:][:(dst.Width+1)*dst.Channels])
			}
		}
		return nil
	}
	w := &slabWork{
		device: d,
		job: volumeJob{
			integrateJob: integrateJob{
				pixel: elementOf[P](), sum: elementOf[S](), channels: src.Channels,
				width: src.Width, height: src.Height, offset: float64(o.Offset),
			},
			squared: squares,
		},
		kernels: o.Kernels,
		depth:   src.Depth,
		slices:  o.BandRows,
		voxels:  func(z int) host { return hostRows(src.Pix[z*src.SliceStride:], src.Stride) },
		sums:    func(z int) host { return hostRows(dst.Sums[z*dst.SliceStride:], dst.Stride) },
	}
	return w.run()
}
