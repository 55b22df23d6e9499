package devmem

import (
	"errors"
	"fmt"
	"math"

	"github.com/boxsum/boxsum"
	"github.com/boxsum/boxsum/gpu/internal/driver"
	"github.com/boxsum/boxsum/internal/raster"
)

// An Array is the common part of images, volumes and their tables: a batch of grids of values on a
// device. The grid of a table has one row and one column more than its image, and that of a volume
// also one slice more.
type Array struct {
	Device   *Device
	Element  raster.Type
	Width    int // of the image
	Height   int
	Channels int
	Count    int   // number of images, or of slices of a volume
	Border   int   // 1 for tables, 0 for images
	Volume   bool  // Count is a number of slices
	Depth    int   // of the volume
	At       Batch // memory is 0 after Close
	Owned    bool  // Close frees the memory
	Gaps     bool  // the gaps between rows belong to the array: kernels may write there
	Origin         // contents of a table
}

// Origin describes what a table was last computed from. Access requires the device's queue.
type Origin struct {
	Pixel    raster.Type // 0 if the table has not been computed
	Squared  bool        // the sums are of squares
	Offset   float32     // subtracted from every pixel before it was summed or squared
	Offsets  []float32   // offsets of the images, if they differ
	Beside   *Array      // for squares with an offset: the table of sums
	BesideOf uint64      // the number of the call that computed Beside together with these squares
	number   uint64      // the number of the call that computed the table
}

// OffsetOf returns the offset of table i.
func (m *Origin) OffsetOf(i int) float32 {
	if m.Offsets != nil {
		return m.Offsets[i]
	}
	return m.Offset
}

// SetOrigin records what tables, and their squares if not nil, were computed from. The offset applies to
// the squares only if pixels are floats.
func (a *Array) SetOrigin(squares *Array, pixel raster.Type, offsets []float32) {
	n := a.number + 1
	a.Origin = Origin{Pixel: pixel, Offset: offsets[0], number: n}
	for _, o := range offsets {
		if o != offsets[0] {
			a.Offsets = offsets
		}
	}
	if squares == nil {
		return
	}
	number := squares.number + 1
	squares.Origin = Origin{Pixel: pixel, Squared: true, number: number}
	if pixel.Float() {
		squares.Offset, squares.Offsets, squares.Beside, squares.BesideOf = a.Offset, a.Offsets, a, n
	}
}

// OffsetSums returns the sums that are needed to add the offset back to the squares of table i, or nil
// if there is no offset.
func (a *Array) OffsetSums(i int) (*Array, error) {
	if a.Beside == nil || a.OffsetOf(i) == 0 {
		return nil, nil
	}
	if a.Beside.number != a.BesideOf {
		return nil, raster.Invalid("the squares of the %s and its sums have different offsets (compute both in one call)", a)
	}
	return a.Beside, a.Beside.CheckOpen()
}

// A Batch locates the images or tables of a job: image i starts at byte Offset + i*Distance of the
// plane's memory. Tables start at entry (0, 0).
type Batch struct {
	driver.Plane
	Distance int64
}

// Image returns the location of image i.
func (b Batch) Image(i int) driver.Plane {
	p := b.Plane
	p.Offset += int64(i) * b.Distance
	return p
}

// Aligned reports whether every row, skipping its first after bytes, starts at a multiple of 16
// bytes.
func (b Batch) Aligned(after, count int) bool {
	return (b.Address()+uint64(after))%16 == 0 && b.Stride%16 == 0 && (count == 1 || b.Distance%16 == 0)
}

// Make allocates memory for an array whose sizes are set.
func (d *Device) Make(a Array) (Array, error) {
	if err := d.Enter(); err != nil {
		return Array{}, err
	}
	defer d.Leave()
	a.Device, a.Owned, a.Gaps = d, true, true
	if err := a.slices(); err != nil {
		return Array{}, err
	}
	bytes, err := a.Layout()
	if err != nil {
		return Array{}, err
	}
	if a.At.Memory, err = d.NewBuffer(bytes); err != nil {
		return Array{}, fmt.Errorf("%w (for %s)", err, &a)
	}
	return a, nil
}

// slices sets Count from the depth of a volume.
func (a *Array) slices() error {
	if !a.Volume {
		return nil
	}
	if a.Depth < 0 || a.Depth > math.MaxInt32-2 {
		return raster.Invalid("volume is %d×%d×%d, want sides from 0 to below 2^31", a.Width, a.Height, a.Depth)
	}
	a.Count = max(a.Depth+a.Border, 1) // even an empty volume needs an address
	return nil
}

// Close frees the memory on the device, after the work that uses it.
func (a *Array) Close() error {
	if a.Device == nil {
		return nil
	}
	return IgnoreClosed(a.Device.Use(a.Free))
}

// IgnoreClosed returns err, or nil if err says that the device was closed.
func IgnoreClosed(err error) error {
	if errors.Is(err, boxsum.ErrClosed) {
		return nil
	}
	return err
}

// Free is Close for callers that are inside Device.Use.
func (a *Array) Free() error {
	m := a.At.Memory
	a.At.Memory = 0
	if m == 0 || !a.Owned {
		return nil
	}
	return driver.FirstError(a.Device.Backend.Wait(a.Device.Stream), a.Device.FreeBuffer(m))
}

// The alignment of arrays.
const (
	ImageRow  = 256 // rows of images are a multiple of this many bytes
	TableLine = 256 // rows of tables are a multiple of this many bytes, and entry (1, y) is aligned to it: with 128 an H200 takes 4 to 7% longer
)

// Layout chooses the layout and returns its size in bytes.
func (a *Array) Layout() (int64, error) {
	if a.Channels == 0 {
		a.Channels = 1
	}
	if a.Width < 0 || a.Height < 0 || a.Channels < 0 || a.Count < 1 {
		return 0, raster.Invalid("%s, want at least one image and no negative size", a)
	}
	// Kernels count the values of a row, rows, and images in 32 bits. Within these limits, a row is
	// less than 2^35 bytes and an image less than 2^66.
	const most = math.MaxInt32 - 1
	if a.Width > most/a.Channels-1 || a.Height > most || a.Count > most {
		return 0, raster.Invalid("%s: rows, columns times channels, and images must each be below 2^31", a)
	}
	value := int64(a.Element.Bytes())
	pixel := int64(a.Channels) * value
	row := a.RowBytes()
	lead := int64(0)
	if a.Border == 0 {
		a.At.Stride = RoundUp(row, ImageRow)
	} else {
		a.At.Stride = RoundUp(row, TableLine)
		lead = RoundUp(pixel, TableLine) - pixel
	}
	a.At.Offset = lead
	bytes, ok := Product(a.At.Stride, int64(a.Height+a.Border))
	a.At.Distance = bytes
	if ok {
		bytes, ok = Product(bytes, int64(a.Count))
	}
	if !ok || bytes > math.MaxInt-lead {
		return 0, raster.Invalid("%s: the size in bytes exceeds the address space", a)
	}
	return bytes + lead, nil
}

// Product returns a*b, and whether it fits.
func Product(a, b int64) (int64, bool) {
	if a != 0 && b > math.MaxInt64/a {
		return 0, false
	}
	return a * b, true
}

// RoundUp rounds n up to a multiple of to.
func RoundUp(n, to int64) int64 { return (n + to - 1) / to * to }

// RowBytes returns the size of a row without the gap after it.
func (a *Array) RowBytes() int64 {
	return (int64(a.Width) + int64(a.Border)) * int64(a.Channels) * int64(a.Element.Bytes())
}

// Rows returns the rows of an image or table.
func (a *Array) Rows() driver.Rows {
	return driver.Rows{Bytes: a.RowBytes(), Count: int64(a.Height) + int64(a.Border)}
}

// String describes the array for error messages.
func (a *Array) String() string {
	what := [...]string{"image", "table"}[a.Border]
	size := fmt.Sprintf("%s of %d×%d pixels", Plural(a.Count, what), a.Width, a.Height)
	if a.Volume {
		what = [...]string{"volume", "table"}[a.Border]
		size = fmt.Sprintf("%s of %d×%d×%d voxels", what, a.Width, a.Height, a.Depth)
	}
	return fmt.Sprintf("%s with %s of %s", size, Plural(a.Channels, "channel"), a.Element.String())
}

// Plural returns a number with a noun in singular or plural.
func Plural(n int, what string) string {
	if n != 1 {
		what += "s"
	}
	return fmt.Sprintf("%d %s", n, what)
}

// CheckOpen returns an error if the array was closed.
func (a *Array) CheckOpen() error {
	if a.At.Memory == 0 {
		return fmt.Errorf("%s %w", a, boxsum.ErrClosed)
	}
	return nil
}

// CheckIndex returns an error unless there is an image or table i.
func (a *Array) CheckIndex(i int) error {
	if uint(i) >= uint(a.Count) {
		return raster.Invalid("index is %d, want 0 to %d for %s", i, a.Count-1, a)
	}
	return nil
}

// CheckSource returns an error if the table cannot hold the sums of src.
func (a *Array) CheckSource(src *Array) error {
	if a.Device != src.Device {
		return raster.Invalid("table is on %s and images on %s, want both on one open device", a.Device.Info().Name, src.Device.Info().Name)
	}
	if a.Width != src.Width || a.Height != src.Height || a.Channels != src.Channels || a.Volume != src.Volume || a.Depth != src.Depth || !a.Volume && a.Count != src.Count {
		return raster.Invalid("destination is a %s, want the number and size of the source, a %s", a, src)
	}
	return nil
}

// CeilDiv returns a/b rounded up.
func CeilDiv[T int | int64](a, b T) T { return (a + b - 1) / b }
