package main

import (
	"errors"
	"fmt"
	"io"
	"math/rand/v2"
	"slices"
	"unsafe"

	"github.com/boxsum/boxsum"
	"github.com/boxsum/boxsum/filter"
	"github.com/boxsum/boxsum/gpu"
	"github.com/boxsum/boxsum/gpu/interop"
	"github.com/boxsum/boxsum/histogram"
	"github.com/boxsum/boxsum/hog"
	"github.com/boxsum/boxsum/internal/device"
	"github.com/boxsum/boxsum/internal/launch"
	"github.com/boxsum/boxsum/internal/raster"
	"github.com/boxsum/boxsum/rank"
	"github.com/boxsum/boxsum/rotated"
	"github.com/boxsum/boxsum/threshold"
)

// A row is one line of the table: work, and the ratio to its limit that it should not exceed.
type row struct {
	name    string
	goal    float64
	prepare func(b *bench) (prepared, error)
}

// A prepared row has its images and tables on the device.
type prepared struct {
	work, limit func() error // queue the work; on the clock, they also wait
	limitName   string
	onClock     bool
}

// A bench holds the device, and the memory of the row that is being measured.
type bench struct {
	device        *gpu.Device
	launch        launch.Device
	scale, rounds int
	owned         []io.Closer // by the row
}

func (b *bench) own(c io.Closer) { b.owned = append(b.owned, c) }

// free frees the memory of a row.
func (b *bench) free() (err error) {
	for _, c := range b.owned {
		err = errors.Join(err, c.Close())
	}
	b.owned = nil
	return err
}

// beside returns work that is limited by a copy of as many bytes as it reads and writes.
func (b *bench) beside(bytes int64, work func() error) (prepared, error) {
	c, err := b.launch.NewCopy(bytes / 2)
	if err != nil {
		return prepared{}, err
	}
	b.own(c)
	return prepared{work: work, limit: c.Run, limitName: "copy"}, nil
}

// size returns the bytes of n values of type T.
func size[T any](n int) int64 { return int64(n) * int64(unsafe.Sizeof(*new(T))) }

// noise returns an image of random values from 0 to 255, for which all sums of integers are exact.
func noise[P boxsum.Pixel](width, height int) boxsum.Image[P] {
	img, _ := boxsum.NewImage[P](width, height, 1)
	fill(img.Pix)
	return img
}

func fill[P boxsum.Pixel](pix []P) {
	state := uint64(88172645463325252)
	for i := range pix {
		state ^= state << 13
		state ^= state >> 7
		state ^= state << 17
		pix[i] = P(uint8(state >> 32))
	}
}

// noiseOf is like noise for an image or a volume with pixels of bytes, uint32 or float32.
func noiseOf(pixel raster.Type, e raster.Extent) (raster.Array, error) {
	a, err := raster.NewPixelArray(pixel, e)
	switch pixel {
	case raster.U8:
		fill(a.Data)
	case raster.U32:
		fill(raster.Elems[uint32](a.Data))
	case raster.F32:
		fill(raster.Elems[float32](a.Data))
	}
	return a, err
}

// upload copies a random image to the device.
func upload(b *bench, width, height int) (*gpu.Image[uint8], error) {
	src, err := gpu.Upload(b.device, noise[uint8](width, height))
	if err == nil {
		b.own(src)
	}
	return src, err
}

// tables measures tables of sums, and of squares if they have a type.
func tables(kind device.Kind, side int, pixel, sum, square raster.Type) func(*bench) (prepared, error) {
	return func(b *bench) (prepared, error) {
		n := side / b.scale
		e, values := raster.PlaneExtent(n, n, 1, 0), n*n
		if kind == device.Volume {
			e, values = raster.VolumeExtent(n, n, n, 1, 0, 0), n*n*n
		}
		src, err := noiseOf(pixel, e)
		if err != nil {
			return prepared{}, err
		}
		on, err := device.Open(b.device)
		if err != nil {
			return prepared{}, err
		}
		job := device.StageJob{Kind: kind, Images: []raster.Array{src}}
		job.Sums.Type, job.Squares.Type = sum, square
		stage, err := on.Stager().Stage(&job)
		if err != nil {
			return prepared{}, err
		}
		b.own(stage)
		bytes := pixel.Bytes() + sum.Bytes()
		if square != 0 {
			bytes += square.Bytes()
		}
		return b.beside(int64(values)*int64(bytes), stage.Queue)
	}
}

// table measures an upright table of sums.
func table(side int, pixel, sum raster.Type) func(*bench) (prepared, error) {
	return tables(device.Upright, side, pixel, sum, 0)
}

// tensor measures what PyTorch's users get: the kernels for planes in memory without gaps between pixels, or for
// large planes those of images.
func tensor(count, side int, planes bool) func(*bench) (prepared, error) {
	return func(b *bench) (prepared, error) {
		if b.device.Info().Kind != gpu.CUDA {
			return prepared{}, fmt.Errorf("%w except on CUDA", errors.ErrUnsupported)
		}
		n := max(side/b.scale, 1)
		width, line := n, 256/4
		if planes {
			line = 32 / 4
		}
		stride := int64((width+1+line-1)/line*line) * 4
		distance := stride * int64(n+1)
		memory, err := interop.Take(b.device, distance*int64(count)+256)
		if err != nil {
			return prepared{}, err
		}
		b.own(taken{b.device, memory})
		pixels, err := interop.Take(b.device, size[float32](count*n*n)+16)
		if err != nil {
			return prepared{}, err
		}
		b.own(taken{b.device, pixels})
		in := interop.Foreign{Handle: pixels, Width: n, Height: n, Count: count, Stride: int64(4 * n), Distance: int64(4 * n * n)}
		out := interop.Foreign{Handle: memory, Width: n, Height: n, Count: count, Stride: stride, Distance: distance}
		if !planes {
			out.Offset = 256 - 4 // the first sums of the rows are aligned
		}
		src, err := interop.ImageOver[float32](b.device, in)
		if err != nil {
			return prepared{}, err
		}
		b.own(src)
		host := noise[float32](n, n)
		for i := range count {
			if err := src.Set(i, host); err != nil {
				return prepared{}, err
			}
		}
		bytes := 2 * size[float32](count*n*n)
		if planes {
			job := &interop.TensorJob{Op: "table", Pixel: "f32", Sum: "f32", In: in, Out: out, Gap: true}
			return b.beside(bytes, func() error { return interop.Tensor(b.device, job) })
		}
		dst, err := interop.TableOver[float32](b.device, out)
		if err != nil {
			return prepared{}, err
		}
		b.own(dst)
		return b.beside(bytes, func() error { return gpu.IntegrateInto(dst, src, nil) })
	}
}

// taken is memory that interop has taken.
type taken struct {
	device *gpu.Device
	handle uintptr
}

func (t taken) Close() error { return interop.Give(t.device, t.handle) }

func counts(bins, width, height int) func(*bench) (prepared, error) {
	return func(b *bench) (prepared, error) {
		w, h := width/b.scale, height/b.scale
		src, err := upload(b, w, h)
		if err != nil {
			return prepared{}, err
		}
		dst, err := gpu.NewHistogram[uint8](b.device, w, h, 1, 1, histogram.Bins{N: bins})
		if err != nil {
			return prepared{}, err
		}
		b.own(dst)
		f, err := b.launch.NewFill(size[uint32]((w + 1) * (h + 1) * bins))
		if err != nil {
			return prepared{}, err
		}
		b.own(f)
		return prepared{work: func() error { return gpu.IntegrateHistogramInto(dst, src, nil) }, limit: f.Run, limitName: "fill"}, nil
	}
}

// uprightOf returns the upright table of images, to which tilted and rotated ones are compared.
func uprightOf(b *bench, src *gpu.Image[uint8]) (func() error, error) {
	dst, err := gpu.NewTable[uint32](b.device, src.Width(), src.Height(), 1, 1)
	if err != nil {
		return nil, err
	}
	b.own(dst)
	return func() error { return gpu.IntegrateInto(dst, src, nil) }, nil
}

func turned(side int, rot *rotated.Rotation) func(*bench) (prepared, error) {
	return func(b *bench) (prepared, error) {
		n := side / b.scale
		src, err := upload(b, n, n)
		if err != nil {
			return prepared{}, err
		}
		limit, err := uprightOf(b, src)
		if err != nil {
			return prepared{}, err
		}
		p := prepared{limit: limit, limitName: "upright"}
		if rot == nil {
			dst, err := gpu.NewTiltedTable[uint32](b.device, n, n, 1, 1)
			if err != nil {
				return p, err
			}
			b.own(dst)
			p.work = func() error { return gpu.IntegrateTiltedInto(dst, src, nil) }
			return p, nil
		}
		dst, err := gpu.NewRotatedTable[uint32](b.device, n, n, 1, 1, *rot)
		if err != nil {
			return p, err
		}
		b.own(dst)
		p.work = func() error { return gpu.IntegrateRotatedInto(dst, src, nil) }
		return p, nil
	}
}

// rotatedOnHost measures a rotated table beside an upright one, both from host memory to host memory.
func rotatedOnHost(side int, rot rotated.Rotation) func(*bench) (prepared, error) {
	return func(b *bench) (prepared, error) {
		n := side / b.scale
		img := noise[uint8](n, n)
		upright, err := boxsum.NewTable[uint32](n, n, 1)
		if err != nil {
			return prepared{}, err
		}
		dst, err := rotated.NewTable[uint32](n, n, 1, rot)
		if err != nil {
			return prepared{}, err
		}
		return prepared{
			work:      func() error { return rotated.IntegrateInto(dst, img, &rotated.Options{On: b.device}) },
			limit:     func() error { return boxsum.IntegrateInto(upright, img, &boxsum.Options{On: b.device}) },
			limitName: "upright", onClock: true,
		}, nil
	}
}

// people measures the detection of people in frames that are on the device or, if host is set, in host memory, beside all
// cores of the CPU, whose results must be the same.
func people(width, height, frames int, host bool) func(*bench) (prepared, error) {
	return func(b *bench) (prepared, error) {
		all := make([]boxsum.Image[uint8], frames)
		for i := range all {
			all[i] = noise[uint8](width/b.scale, height/b.scale)
		}
		rng := rand.New(rand.NewPCG(4, 0))
		coefficients := make([]float32, 3781)
		for i := range coefficients {
			coefficients[i] = float32(rng.NormFloat64()) / 32
		}
		coefficients[3780] = -0.2 // some windows pass
		d, err := hog.New(hog.Config{Coefficients: coefficients})
		if err != nil {
			return prepared{}, err
		}
		detect := func() ([][]hog.Result, error) { return d.DetectBatch(all, &hog.Options{On: b.device}) }
		if !host {
			src, err := gpu.Upload(b.device, all...)
			if err != nil {
				return prepared{}, err
			}
			b.own(src)
			detect = func() ([][]hog.Result, error) { return gpu.DetectHOG(src, d, nil) }
		}
		want, err := d.DetectBatch(all, nil)
		if err != nil {
			return prepared{}, err
		}
		if got, err := detect(); err != nil || !slices.EqualFunc(got, want, slices.Equal) {
			return prepared{}, fmt.Errorf("the device finds %v (%v), and the CPU %v", got, err, want)
		}
		return prepared{
			work:      func() error { _, err := detect(); return err },
			limit:     func() error { _, err := d.DetectBatch(all, nil); return err },
			limitName: "CPU", onClock: true,
		}, nil
	}
}

// page returns an image like a scanned page: noise on paper, and lines of dark words.
func page(width, height int) boxsum.Image[uint8] {
	img := noise[uint8](width, height)
	for i, v := range img.Pix {
		x, y := i%width, i/width
		if y%48 < 20 && x/9%5 != 0 && v%3 > 0 {
			img.Pix[i] = 40 + v%60
			continue
		}
		img.Pix[i] = 200 + v%24
	}
	return img
}

func windows(side int, run func(dst, src *gpu.Image[uint8]) error) func(*bench) (prepared, error) {
	return func(b *bench) (prepared, error) {
		n := side / b.scale
		src, err := gpu.Upload(b.device, page(n, n))
		if err != nil {
			return prepared{}, err
		}
		b.own(src)
		dst, err := gpu.NewImage[uint8](b.device, n, n, 1, 1)
		if err != nil {
			return prepared{}, err
		}
		b.own(dst)
		return b.beside(2*size[uint8](n*n), func() error { return run(dst, src) })
	}
}

func box(k int) func(dst, src *gpu.Image[uint8]) error {
	return func(dst, src *gpu.Image[uint8]) error { return gpu.BoxInto(dst, src, filter.Square(k), nil) }
}

func clahe(dst, src *gpu.Image[uint8]) error { return gpu.CLAHEInto(dst, src, nil) }

// denoised measures non-local means with OpenCV's defaults, which compare each pixel's surroundings with 441 others.
func denoised(dst, src *gpu.Image[uint8]) error { return gpu.NonLocalMeansInto(dst, src, nil) }

// ranked measures a rank filter. No limit is close to the time of percentiles, which grows with the width of windows.
func ranked(s rank.Statistic, k int) func(dst, src *gpu.Image[uint8]) error {
	return func(dst, src *gpu.Image[uint8]) error {
		return gpu.RankInto(dst, src, s, filter.Square(k), &rank.Options{Fraction: 0.5})
	}
}

func sauvola(k int) func(dst, src *gpu.Image[uint8]) error {
	rule := threshold.New(threshold.Sauvola, k)
	return func(dst, src *gpu.Image[uint8]) error { return gpu.BinarizeInto(dst, src, rule, nil) }
}

// similarity measures the SSIM of two images, which are read once, with or without its map.
func similarity(side int, withMap bool) func(*bench) (prepared, error) {
	return func(b *bench) (prepared, error) {
		n := side / b.scale
		first, err := upload(b, n, n)
		if err != nil {
			return prepared{}, err
		}
		second, err := gpu.Upload(b.device, page(n, n))
		if err != nil {
			return prepared{}, err
		}
		b.own(second)
		bytes := 2 * size[uint8](n*n)
		if !withMap {
			return b.beside(bytes, func() error {
				_, err := gpu.SSIM(first, second, nil)
				return err
			})
		}
		dst, err := gpu.NewImage[float32](b.device, n, n, 1, 1)
		if err != nil {
			return prepared{}, err
		}
		b.own(dst)
		return b.beside(bytes+size[float32](n*n), func() error { return gpu.SSIMMapInto(dst, first, second, nil) })
	}
}

// rows returns the table. The goals are for an H200.
func rows() []row {
	half := rotated.Rotation{A: 1, B: 2}
	all := []row{
		{"u8 to u32, 4096²", 1.15, table(4096, raster.U8, raster.U32)},
		{"u8 to u32, 8192²", 1.12, table(8192, raster.U8, raster.U32)},
		{"f32 to f32, 4096²", 1.12, table(4096, raster.F32, raster.F32)},
		{"u32 to u32, 4096²", 1.12, table(4096, raster.U32, raster.U32)},
		{"f32 to f64, 4096²", 1.12, table(4096, raster.F32, raster.F64)},
		{"f32 to f64, 8192²", 1.12, table(8192, raster.F32, raster.F64)},
		{"u8 to f64, 8192²", 1.12, table(8192, raster.U8, raster.F64)},
		{"u8 to f64, 16384²", 1.12, table(16384, raster.U8, raster.F64)},
		{"f32 to f32, 8192²", 1.08, table(8192, raster.F32, raster.F32)},
		{"u32 to u32, 8192²", 1.08, table(8192, raster.U32, raster.U32)},
		{"f32 to f32, 16384²", 1.06, table(16384, raster.F32, raster.F32)},
		{"u32 to u32, 16384²", 1.06, table(16384, raster.U32, raster.U32)},
		{"u8 to u32 and squares in u64, 4096²", 1.15, tables(device.Upright, 4096, raster.U8, raster.U32, raster.U64)},
		{"tensors f32 (256, 1, 100, 100)", 1.5, tensor(256, 100, true)},
		{"tensors f32 (32, 3, 512, 512)", 1.13, tensor(96, 512, true)},
		{"tensors f32 (4, 3, 1024, 1024)", 1.2, tensor(12, 1024, false)},
		{"tensors f32 (2, 1, 4096, 4096)", 1.12, tensor(2, 4096, false)},
		{"volume u8 to u32, 1024³", 1.2, tables(device.Volume, 1024, raster.U8, raster.U32, 0)},
		{"volume f32 to f32, 1024³", 1.12, tables(device.Volume, 1024, raster.F32, raster.F32, 0)},
		{"histogram of 32 bins, 1080p", 1.25, counts(32, 1920, 1080)},
		{"histogram of 32 bins, 4096²", 1.25, counts(32, 4096, 4096)},
		{"tilted, 4096²", 1.4, turned(4096, nil)},
		{"rotated by 1/2, 4096²", 1.6, turned(4096, &half)},
		{"rotated by 1/2, 4096², host to host", 1, rotatedOnHost(4096, half)},
		{"people 640×480", 1, people(640, 480, 1, false)},
		{"people 640×480, 16 frames", 1, people(640, 480, 16, false)},
		{"people 1080p", 1, people(1920, 1080, 1, false)},
		{"people 1080p, 16 frames", 1, people(1920, 1080, 16, false)},
		{"people 1080p, 16 frames, host to host", 1, people(1920, 1080, 16, true)},
	}
	for _, k := range []int{9, 15, 21, 25, 31} {
		all = append(all, row{fmt.Sprintf("box %d×%d, 8192²", k, k), 1.25, windows(8192, box(k))})
	}
	for _, k := range []int{9, 15, 21, 25, 31} {
		all = append(all, row{fmt.Sprintf("Sauvola %d×%d, 8192²", k, k), 2, windows(8192, sauvola(k))})
	}
	return append(all,
		row{"SSIM and its map, 8192²", 3, similarity(8192, true)},
		row{"SSIM alone, 8192²", 3, similarity(8192, false)},
		row{"CLAHE, 8192²", 3, windows(8192, clahe)},
		row{"non-local means, 4096²", 2000, windows(4096, denoised)},
		row{"rank mean 15×15, 8192²", 3, windows(8192, ranked(rank.Mean, 15))},
		row{"rank median 15×15, 8192²", 30, windows(8192, ranked(rank.Percentile, 15))},
		row{"rank equalize 31×31, 8192²", 60, windows(8192, ranked(rank.Equalize, 31))},
	)
}
