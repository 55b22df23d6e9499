package method

import (
	"encoding/binary"
	"math"
	"unsafe"

	"github.com/boxsum/boxsum"
	"github.com/boxsum/boxsum/gpu/internal/devmem"
	"github.com/boxsum/boxsum/gpu/internal/driver"
	"github.com/boxsum/boxsum/histogram"
	"github.com/boxsum/boxsum/internal/pairs"
)

// Limits are where bins begin, on a device: the smallest value of a type of pixels in
// each of them, and the smallest beyond the last one, as far as there are such values.
// They say of every value what [histogram.Bins.Index] does: a bin's number is how
// many limits are at most the value, less one.
type Limits struct {
	Element pairs.Type
	At      driver.Memory
	count   int
}

// limitsTable is where the table of bytes lies behind their limits: 256 bins of 16 bits,
// all ones for values that are in none.
const limitsTable = 512

// NewLimits copies the limits of bins to the device. It is for calls that have the
// device's queue.
func NewLimits[P boxsum.Pixel](d *devmem.Device, bins histogram.Bins) (Limits, error) {
	values, count := LimitsOf[P](bins)
	m, err := d.Upload(values)
	return Limits{pairs.Of[P](), m, count}, err
}

// LimitsOf is the limits of bins for pixels of type P, and the table of bytes.
func LimitsOf[P boxsum.Pixel](bins histogram.Bins) (raw []byte, count int) {
	var values []P
	for i := range bins.N + 1 {
		edge := bins.Edge(i)
		switch {
		case i == 0 && bins.Clamp:
			edge = math.Inf(-1)
		case i == bins.N && bins.Clamp:
			edge = math.NaN() // nothing is beyond
		case i == bins.N:
			edge = math.Nextafter(edge, math.Inf(1)) // which is in the last bin
		}
		v, ok := smallest[P](edge)
		if !ok {
			break
		}
		values = append(values, v)
	}
	if len(values) > 0 {
		raw = append(raw, unsafe.Slice((*byte)(unsafe.Pointer(&values[0])), len(values)*int(unsafe.Sizeof(values[0])))...)
	}
	if pairs.Of[P]() == pairs.U8 {
		raw = append(raw, make([]byte, limitsTable-len(raw))...)
		for v := range 256 {
			raw = binary.NativeEndian.AppendUint16(raw, uint16(bins.Index(float64(v)))) // -1 is all ones
		}
	}
	return raw, len(values)
}

// smallest is the smallest value of a type that is at least edge, and whether there
// is one.
func smallest[P boxsum.Pixel](edge float64) (P, bool) {
	if math.IsNaN(edge) {
		return 0, false
	}
	var low, high float64
	switch any(*new(P)).(type) {
	case float64:
		return P(edge), true
	case float32:
		v := float32(edge)
		if float64(v) < edge {
			v = math.Nextafter32(v, float32(math.Inf(1)))
		}
		return P(v), true
	case uint8:
		high = math.MaxUint8
	case uint16:
		high = math.MaxUint16
	case uint32:
		high = math.MaxUint32
	case int16:
		low, high = math.MinInt16, math.MaxInt16
	case int32:
		low, high = math.MinInt32, math.MaxInt32
	}
	edge = max(math.Ceil(edge), low)
	return P(edge), edge <= high
}
