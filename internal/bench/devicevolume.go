package bench

import (
	"errors"

	"github.com/boxsum/boxsum"
	"github.com/boxsum/boxsum/gpu"
	"github.com/boxsum/boxsum/volume"
)

func newDeviceVolume[P boxsum.Pixel, S boxsum.Sum, A accumulator](job deviceJob) (*deviceWork, error) {
	if job.batch > 1 {
		return nil, errors.New("volumes go one at a time: leave out --batch")
	}
	d, size := job.device, job.size
	img, err := randomImage[P, S](Size{Name: size.Name, Width: size.Width, Height: size.Height * size.Depth}, job.channels)
	if err != nil {
		return nil, err
	}
	src := volume.Volume[P]{Pix: img.Pix, Stride: img.Stride, Width: size.Width, Height: size.Height, Depth: size.Depth, Channels: job.channels}
	vol, err := gpu.UploadVolume(d, src)
	if err != nil {
		return nil, err
	}
	dst, err := gpu.NewVolumeTable[S](d, size.Width, size.Height, size.Depth, job.channels)
	if err != nil {
		return nil, errors.Join(err, vol.Close())
	}
	host, err := volume.NewTable[S](size.Width, size.Height, size.Depth, job.channels)
	if err != nil {
		return nil, errors.Join(err, vol.Close(), dst.Close())
	}
	return &deviceWork{
		deviceJob: job,
		pixels:    bytesOf(img.Pix),
		integrate: func() error { return gpu.IntegrateVolumeInto(dst, vol, job.opt) },
		roundTrip: func() error { return gpu.IntegrateVolumeHostInto(d, host, src, job.opt) },
		download:  func(int) error { return dst.DownloadInto(host) },
		compare:   func(int) error { return verifyVolume[A](host, src) },
		spoil:     func() { clear(host.Sums) },
		close:     func() error { return errors.Join(vol.Close(), dst.Close()) },
	}, nil
}
