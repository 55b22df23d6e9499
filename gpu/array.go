package gpu

import (
	"errors"
	"fmt"
	"math"
	"runtime"
	"unsafe"

	"github.com/boxsum/boxsum"
)

// An array is what an image and a table have in common: a batch of grids of
// values on a device. A table's grid has a row and a column more than its image.
type array struct {
	device   *Device
	element  element
	width    int // of the image
	height   int
	channels int
	count    int
	border   int   // 1 for tables, 0 for images
	at       batch // memory is 0 once closed
	owned    bool  // Close frees the memory
}

// close frees the memory on the device, after the work that uses it.
func (a *array) close() error {
	if a.device == nil {
		return nil
	}
	err := a.device.use(a.free)
	if errors.Is(err, ErrClosed) {
		return nil
	}
	return err
}

// free is close for calls that use the device.
func (a *array) free() error {
	m := a.at.memory
	a.at.memory = 0
	if m == 0 || !a.owned {
		return nil
	}
	return firstError(a.device.backend.wait(a.device.stream), a.device.give(m))
}

const (
	imageRow  = 256 // bytes that rows of images are a multiple of
	tableLine = 256 // bytes that rows of tables are a multiple of, and on which entry (1, y) lies: with 128 an H200 takes 4 to 7% longer
)

// newArray takes memory for a batch, laid out for speed. It is for calls that
// have entered the device.
func (d *Device) newArray(e element, width, height, channels, count, border int) (array, error) {
	a := array{device: d, element: e, width: width, height: height, channels: channels, count: count, border: border, owned: true}
	bytes, err := a.lay()
	if err != nil {
		return array{}, err
	}
	if a.at.memory, err = d.take(bytes); err != nil {
		return array{}, fmt.Errorf("%w (for %s)", err, &a)
	}
	return a, nil
}

// lay chooses the layout and says how many bytes it takes.
func (a *array) lay() (int64, error) {
	if a.channels == 0 {
		a.channels = 1
	}
	if a.width < 0 || a.height < 0 || a.channels < 0 || a.count < 1 {
		return 0, fmt.Errorf("gpu: %w: %s: sizes must not be negative and there must be an image", boxsum.ErrInvalid, a)
	}
	// Kernels count values of a row, rows and images in 32 bits. Below that,
	// a row is less than 2^35 bytes, and an image less than 2^66.
	const most = math.MaxInt32 - 1
	if a.width > most/a.channels-1 || a.height > most || a.count > most {
		return 0, fmt.Errorf("gpu: %w: %s: rows, columns times channels and images must each be below 2^31", boxsum.ErrInvalid, a)
	}
	value := int64(a.element.bytes())
	pixel := int64(a.channels) * value
	row := a.rowBytes()
	lead := int64(0)
	if a.border == 0 {
		a.at.stride = roundUp(row, imageRow)
	} else {
		a.at.stride = roundUp(row, tableLine)
		lead = roundUp(pixel, tableLine) - pixel
	}
	a.at.offset = lead
	bytes, ok := product(a.at.stride, int64(a.height+a.border))
	a.at.distance = bytes
	if ok {
		bytes, ok = product(bytes, int64(a.count))
	}
	if !ok || bytes > math.MaxInt-lead {
		return 0, fmt.Errorf("gpu: %w: %s is more than memory can hold", boxsum.ErrInvalid, a)
	}
	return bytes + lead, nil
}

// product is a*b, and whether it fits.
func product(a, b int64) (int64, bool) {
	if a != 0 && b > math.MaxInt64/a {
		return 0, false
	}
	return a * b, true
}

func roundUp(n, to int64) int64 { return (n + to - 1) / to * to }

// rowBytes is what a row holds, without the gap after it.
func (a *array) rowBytes() int64 {
	return (int64(a.width) + int64(a.border)) * int64(a.channels) * int64(a.element.bytes())
}

// rows is what image or table i holds.
func (a *array) rows() rows { return rows{a.rowBytes(), int64(a.height) + int64(a.border)} }

// String says what it is, for errors.
func (a *array) String() string {
	what := "image"
	if a.border != 0 {
		what = "table"
	}
	return fmt.Sprintf("%s of %d×%d pixels with %s of %s", several(a.count, what), a.width, a.height, several(a.channels, "channel"), elements[a.element].long)
}

func several(n int, what string) string {
	if n != 1 {
		what += "s"
	}
	return fmt.Sprintf("%d %s", n, what)
}

// open says whether the array can be used.
func (a *array) open() error {
	if a.at.memory == 0 {
		return fmt.Errorf("gpu: %s %w", a, ErrClosed)
	}
	return nil
}

// index says whether there is an image or table i.
func (a *array) index(i int) error {
	if uint(i) >= uint(a.count) {
		return fmt.Errorf("gpu: %w: no number %d among %s", boxsum.ErrInvalid, i, a)
	}
	return nil
}

// A host is rows of values in memory of the host.
type host struct {
	at     unsafe.Pointer
	stride int64 // bytes
}

// hostRows is the host's view of a slice, whose size was checked.
func hostRows[T any](values []T, stride int) host {
	return host{unsafe.Pointer(unsafe.SliceData(values)), int64(stride) * int64(unsafe.Sizeof(*new(T)))}
}

// row is where row y begins.
func (h host) row(y int64) unsafe.Pointer { return unsafe.Add(h.at, y*h.stride) }

// from is the rows from y on.
func (h host) from(y int) host { return host{h.row(int64(y)), h.stride} }

// copyIn copies image i from the host and waits for it: the caller may then do
// with its memory what it likes.
func (a *array) copyIn(i int, src host) error {
	if a.width == 0 || a.height == 0 {
		return nil
	}
	var pin runtime.Pinner
	defer pin.Unpin()
	pin.Pin(src.at)
	b, s := a.device.backend, a.device.stream
	if err := b.copyIn(s, a.at.image(i), src.at, src.stride, a.rows()); err != nil {
		return err
	}
	return b.wait(s)
}

// copyOut copies table i to the host.
func (a *array) copyOut(i int, dst host) error {
	var pin runtime.Pinner
	defer pin.Unpin()
	pin.Pin(dst.at)
	b, s := a.device.backend, a.device.stream
	if err := b.copyOut(s, dst.at, dst.stride, a.at.image(i), a.rows()); err != nil {
		return err
	}
	return b.wait(s)
}
