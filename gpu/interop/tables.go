package interop

import (
	"github.com/boxsum/boxsum/gpu"
	"github.com/boxsum/boxsum/gpu/internal/devmem"
	"github.com/boxsum/boxsum/gpu/internal/inside"
	"github.com/boxsum/boxsum/internal/device"
	"github.com/boxsum/boxsum/internal/raster"
)

// A TableJob describes tables to compute in memory of other libraries, for callers that
// learn types at run time. Kind is "upright", "tilted" or "volume". Pixel, Sum and
// Square are the names of types, such as u8, u32 and f64. If Square is empty, there is
// no table of squares.
type TableJob struct {
	Kind                 string
	Pixel, Sum, Square   string
	Image, Sums, Squares Foreign // sizes are those of the images
}

var kinds = map[string]device.Kind{"upright": device.Upright, "tilted": device.Tilted, "volume": device.Volume}

// Tables queues a job on the device's stream, as [gpu.IntegrateInto] and its
// counterparts for other kinds of tables do.
func Tables(d *gpu.Device, j *TableJob) error {
	kind, ok := kinds[j.Kind]
	if !ok {
		return raster.Invalid("unknown kind of table %q, want upright, tilted or volume", j.Kind)
	}
	m, volume := inner(d), kind == device.Volume
	src, err := foreign(m, j.Pixel, &j.Image, 0, volume)
	if err != nil {
		return err
	}
	sums, err := foreign(m, j.Sum, &j.Sums, 1, volume)
	if err != nil {
		return err
	}
	if j.Square == "" {
		return inside.Integrate(kind, &src, &sums, nil)
	}
	squares, err := foreign(m, j.Square, &j.Squares, 1, volume)
	if err != nil {
		return err
	}
	return inside.Integrate(kind, &src, &sums, &squares)
}

// foreign returns memory of another library as an array of a named type.
func foreign(m *devmem.Device, name string, f *Foreign, border int, volume bool) (devmem.Array, error) {
	e, ok := raster.ParseType(name)
	if !ok {
		return devmem.Array{}, raster.Unsupported("unknown pixel or sum type %q", name)
	}
	return m.ForeignArray(e, devmem.Foreign(*f), border, volume)
}
