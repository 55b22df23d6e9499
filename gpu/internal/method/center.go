package method

import (
	"github.com/boxsum/boxsum/gpu/internal/devmem"
	"github.com/boxsum/boxsum/gpu/internal/driver"
	"github.com/boxsum/boxsum/gpu/internal/kernels"
	"github.com/boxsum/boxsum/internal/engine"
	"github.com/boxsum/boxsum/internal/raster"
)

// Centers returns the offset to subtract from the float pixels of each image, or of a volume,
// before they are squared: that of [engine.Center]. Neighboring images share an offset if it suits
// both, so that they can be summed in one launch. Centers fetches a few pixels of each image and
// waits for them. Callers must hold the device's queue.
func Centers(src *devmem.Array) ([]float32, error) {
	if src.Element == raster.F32 {
		return centers[float32](src)
	}
	return centers[float64](src)
}

func centers[P float32 | float64](src *devmem.Array) ([]float32, error) {
	bytes := int64(src.Element.Bytes())
	one, images := raster.PlaneExtent(src.Width, src.Height, src.Channels, int(src.At.Stride/bytes)), src.Count
	if src.Volume {
		one, images = raster.VolumeExtent(src.Width, src.Height, src.Depth, src.Channels, int(src.At.Stride/bytes), int(src.At.Distance/bytes)), 1
	}
	var at []int64 // byte offsets of the samples in an image
	for i := range engine.Samples(&one) {
		at = append(at, int64(i)*bytes)
	}
	offsets := make([]float32, images)
	if len(at) == 0 {
		return offsets, nil
	}
	pixels := make([]P, images*len(at))
	err := QueryAll(src.Device, pixels, 1, len(pixels), func(n int) int64 { return int64(n/len(at))*src.At.Distance + at[n%len(at)] }, values(src))
	if err != nil {
		return nil, err
	}
	for i := range offsets {
		some := engine.NoValues()
		for _, p := range pixels[i*len(at):][:len(at)] {
			some.Add(float64(p))
		}
		offsets[i] = some.Center()
		if i > 0 && offsets[i] != 0 && offsets[i-1] != 0 && some.Near(offsets[i-1]) {
			offsets[i] = offsets[i-1]
		}
	}
	return offsets, nil
}

// values returns an Answer that fetches values by their byte offsets in the array.
func values(a *devmem.Array) Answer {
	return func(places, out driver.Memory, count int) error {
		job := portableBoxes{Start: a.At.Offset, Channels: 1, Count: int64(count)}
		one := *a
		one.Channels = 1
		return answer(&one, kernels.SumKernel("values", accumulator(a.Element)), count, arg(&job), arg(&a.At.Memory), arg(&places), arg(&out))
	}
}
