package devmem

import (
	"math"

	"github.com/boxsum/boxsum/gpu/internal/driver"
	"github.com/boxsum/boxsum/internal/raster"
)

// A Foreign is device memory that belongs to another library. Sizes are those of the images.
type Foreign struct {
	Handle           uintptr // a device pointer or a cl_mem
	Offset           int64   // bytes from there to the first value
	Width, Height    int
	Channels         int   // zero means one
	Count            int   // number of images or tables, or the depth of a volume; zero images mean one
	Stride, Distance int64 // bytes between rows, and between images or slices
}

// ForeignArray returns an array in foreign memory, after checking it as far as possible.
func (d *Device) ForeignArray(e raster.Type, f Foreign, border int, volume bool) (Array, error) {
	if err := d.Enter(); err != nil {
		return Array{}, err
	}
	defer d.Leave()
	a := Array{Device: d, Element: e, Width: f.Width, Height: f.Height, Channels: f.Channels, Count: f.Count, Border: border, Volume: volume}
	if volume {
		a.Depth = f.Count
	}
	if err := a.slices(); err != nil {
		return Array{}, err
	}
	if a.Count == 0 {
		a.Count = 1
	}
	if _, err := a.Layout(); err != nil {
		return Array{}, err
	}
	row, rows, value := a.RowBytes(), int64(a.Height+border), int64(e.Bytes())
	if rows < 2 && f.Stride == 0 {
		f.Stride = row
	}
	image, ok := run(f.Stride, max(rows-1, 0), row)
	all := image
	if ok && a.Count > 1 {
		all, ok = run(f.Distance, int64(a.Count-1), image)
	}
	switch {
	case f.Handle == 0 && row*rows > 0 || f.Offset < 0:
		return Array{}, raster.Invalid("%s has a nil address", &a)
	case f.Stride%value != 0 || f.Distance%value != 0 || (int64(f.Handle)+f.Offset)%value != 0:
		return Array{}, raster.Invalid("%s starts at %#x with rows %d bytes apart and images %d apart, want multiples of %d bytes", &a, int64(f.Handle)+f.Offset, f.Stride, f.Distance, value)
	case f.Stride < row || a.Count > 1 && f.Distance < image:
		return Array{}, raster.Invalid("%s has rows %d bytes apart and images %d apart, want at least %d and %d", &a, f.Stride, f.Distance, row, image)
	case !ok || all > math.MaxInt64-f.Offset || uint64(f.Handle) > uint64(math.MaxInt64-f.Offset-all):
		return Array{}, raster.Invalid("%s with rows %d bytes apart and images %d apart extends beyond the address space", &a, f.Stride, f.Distance)
	}
	a.At = Batch{driver.Plane{Memory: driver.Memory(f.Handle), Offset: f.Offset, Stride: f.Stride}, f.Distance}
	if d.About.Kind == driver.CUDA {
		// Kernels assume that memory itself starts at such a multiple.
		address := int64(f.Handle) + f.Offset
		a.At.Memory, a.At.Offset = driver.Memory(address&^(TableLine-1)), address&(TableLine-1)
	}
	if f.Handle == 0 { // an empty array, which must not look closed
		a.At.Memory = 1
	}
	return a, nil
}

// run returns the number of bytes from the beginning of the first of several items to the end
// of the last one, which begins last distances later. ok is false if it overflows.
func run(distance, last, bytes int64) (int64, bool) {
	before, ok := Product(distance, last)
	if !ok || before > math.MaxInt64-bytes {
		return 0, false
	}
	return before + bytes, true
}
