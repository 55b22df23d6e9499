package method

import (
	"encoding/binary"
	"math"

	"github.com/boxsum/boxsum"
	"github.com/boxsum/boxsum/gpu/internal/devmem"
	"github.com/boxsum/boxsum/gpu/internal/driver"
	"github.com/boxsum/boxsum/internal/raster"
)

// Limits holds the boundaries of bins on a device: for each bin the smallest value of the pixel
// type in it, and the smallest value beyond the last bin, if there are such values. The bin of a
// value, as [histogram.Bins.Index] defines it, is the number of limits that are at most the value,
// minus one.
type Limits struct {
	Element raster.Type
	At      driver.Memory
	count   int
}

// limitsTable is the offset of the lookup table of byte pixels: 256 bins of 16 bits, all ones for
// values that are in no bin.
const limitsTable = 512

// A Cut returns the edges of bins, and the bin that contains a value, or -1. It is a
// [histogram.Bins] or a [bins.Range].
type Cut interface {
	Edge(bin int) float64
	Index(value float64) int
}

// NewLimits copies the limits of n bins to the device. Callers must hold the device's queue.
func NewLimits(d *devmem.Device, pixel raster.Type, n int, clamp bool, cut Cut) (Limits, error) {
	if len(Sums.Of(pixel)) == 0 {
		return Limits{}, raster.Unsupported("pixels have type %v, want integers of at most 32 bits or floats for histograms on a device", pixel)
	}
	values, count := LimitsOf(pixel, n, clamp, cut)
	m, err := d.Upload(values)
	return Limits{pixel, m, count}, err
}

// LimitsOf returns the limits of n bins for a pixel type, and the lookup table of byte pixels.
func LimitsOf(pixel raster.Type, n int, clamp bool, cut Cut) (raw []byte, count int) {
	switch pixel {
	case raster.U8:
		raw = limitsOf[uint8](pixel, n, clamp, cut)
	case raster.U16:
		raw = limitsOf[uint16](pixel, n, clamp, cut)
	case raster.U32:
		raw = limitsOf[uint32](pixel, n, clamp, cut)
	case raster.I16:
		raw = limitsOf[int16](pixel, n, clamp, cut)
	case raster.I32:
		raw = limitsOf[int32](pixel, n, clamp, cut)
	case raster.F32:
		raw = limitsOf[float32](pixel, n, clamp, cut)
	case raster.F64:
		raw = limitsOf[float64](pixel, n, clamp, cut)
	}
	count = len(raw) / pixel.Bytes()
	if pixel == raster.U8 {
		raw = append(raw, make([]byte, limitsTable-len(raw))...)
		for v := range 256 {
			raw = binary.NativeEndian.AppendUint16(raw, uint16(cut.Index(float64(v)))) // -1 is all ones
		}
	}
	return raw, count
}

func limitsOf[P boxsum.Pixel](pixel raster.Type, n int, clamp bool, cut Cut) []byte {
	var values []P
	for i := range n + 1 {
		edge := cut.Edge(i)
		switch {
		case i == 0 && clamp:
			edge = math.Inf(-1)
		case i == n && clamp:
			edge = math.NaN() // no value is beyond the last bin
		case i == n:
			edge = math.Nextafter(edge, math.Inf(1)) // the edge itself belongs to the last bin
		}
		v, ok := smallest[P](pixel, edge)
		if !ok {
			break
		}
		values = append(values, v)
	}
	return raster.Bytes(values)
}

// smallest returns the smallest value of a pixel type P that is at least edge, and whether there is
// one.
func smallest[P boxsum.Pixel](pixel raster.Type, edge float64) (P, bool) {
	if math.IsNaN(edge) {
		return 0, false
	}
	var low, high float64
	switch pixel {
	case raster.F64:
		return P(edge), true
	case raster.F32:
		v := float32(edge)
		if float64(v) < edge {
			v = math.Nextafter32(v, float32(math.Inf(1)))
		}
		return P(v), true
	case raster.U8:
		high = math.MaxUint8
	case raster.U16:
		high = math.MaxUint16
	case raster.U32:
		high = math.MaxUint32
	case raster.I16:
		low, high = math.MinInt16, math.MaxInt16
	case raster.I32:
		low, high = math.MinInt32, math.MaxInt32
	}
	edge = max(math.Ceil(edge), low)
	return P(edge), edge <= high
}
