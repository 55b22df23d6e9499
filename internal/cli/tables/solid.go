package tables

import (
	"cmp"
	"context"
	"image"
	"iter"
	"runtime"

	"github.com/boxsum/boxsum"
	"github.com/boxsum/boxsum/gpu"
	"github.com/boxsum/boxsum/imgio"
	"github.com/boxsum/boxsum/internal/cli/console"
	"github.com/boxsum/boxsum/internal/cli/imagefile"
	"github.com/boxsum/boxsum/internal/engine"
	"github.com/boxsum/boxsum/internal/pixels"
	"github.com/boxsum/boxsum/internal/raster"
	fromsums "github.com/boxsum/boxsum/internal/stats"
	"github.com/boxsum/boxsum/internal/typed"
)

// newSolid allocates the tables of a volume, or plans to stream them.
func newSolid(p pair, stack *imgio.Stack, want tableChoice) (*tableJob, error) {
	j := planSolid(p, stack, want)
	voxels := 0.0
	if stack.Whole == nil {
		voxels = j.Values() * float64(j.pixelBytes)
	}
	return j, j.take(voxels, want)
}

// planSolid returns the job of a volume without allocating its tables.
func planSolid(p pair, stack *imgio.Stack, want tableChoice) *tableJob {
	e := imagefile.ExtentOf(pixels.Of(stack.First))
	e.Depth = stack.Depth
	t := &solidTables{memory: memory{types: p}}
	j := &tableJob{tableSet: newTableSet(p, e, want), tables: t, ctx: context.Background()}
	v := &voxels{pixelRows: pixelRows{pixel: p.pixel, Extent: e}, job: j, stack: stack}
	j.all.pixelReader = v
	j.fill = func(d *gpu.Device, opt *boxsum.Options) error {
		all := v.src
		all.Extent = raster.VolumeExtent(e.Width, e.Height, e.Depth, e.Channels, all.Stride, e.Height*all.Stride)
		return t.fill(all, d, opt)
	}
	add := func(name string, sum raster.Type, table func() *engine.Table) {
		squares := raster.Type(0)
		if name == "squares" {
			squares = sum
		}
		j.layers = append(j.layers, outputTable{
			name: name, sum: sum, shape: j.Shape(),
			entries: func() iter.Seq[raster.Array] { return slicesOf(table()) },
			stream: func() (parts, error) {
				job := streamJob(engine.Volume, p.sum, squares, j.opt)
				job.Src = raster.Array{Type: p.pixel, Extent: raster.VolumeExtent(e.Width, e.Height, 0, e.Channels, 0, 0)}
				slices, err := engine.NewSlices(&job)
				return func(z int) (raster.Array, error) {
					img, err := v.slice(z)
					if err != nil {
						return raster.Array{}, err
					}
					sums, others, err := slices.Push(img)
					if squares != 0 {
						sums = others
					}
					sums.SetPlane(sums.Width+1, sums.Height+1, sums.Channels, sums.Stride) // the extent of the entries
					return sums, err
				}, err
			},
		})
	}
	add("sum", p.sum, func() *engine.Table { return t.sums })
	if want.squares {
		add("squares", p.square, func() *engine.Table { return t.squares })
	}
	return j
}

// voxels reads the pixels of a volume slice by slice. If they are streamed, the volume is never in
// memory as a whole.
type voxels struct {
	pixelRows
	job   *tableJob
	stack *imgio.Stack
}

func (v *voxels) load(report func(bytes int64)) error {
	if v.stack.Whole == nil {
		return v.fill(report)
	}
	v.src = pixels.Of(v.stack.Whole)
	var read byte
	for y := range v.Height * v.Depth {
		read += readPages(v.src.Row(y))
	}
	runtime.KeepAlive(read)
	report(v.job.read())
	return nil
}

// fill copies the slices one after another.
func (v *voxels) fill(report func(bytes int64)) error {
	all, err := raster.NewPixelArray(v.pixel, raster.PlaneExtent(v.Width, v.Height*v.Depth, v.Channels, 0))
	if err != nil {
		return err
	}
	for z := range v.Depth {
		slice, err := v.slice(z)
		if err != nil {
			return err
		}
		for y := range v.Height {
			copy(all.Row(z*v.Height+y), slice.Row(y))
		}
		report(v.job.read() / int64(v.Depth))
	}
	v.src = all
	return nil
}

// slice reads one slice. It returns at once on Ctrl-C, because reading a remote file may take long.
func (v *voxels) slice(z int) (raster.Array, error) {
	img, err := console.Await(v.job.ctx, func() (any, error) { return v.stack.Slice(z) })
	return pixels.Of(img), cmp.Or(err, v.job.ctx.Err())
}

// solidTables holds the tables of a volume.
type solidTables struct {
	memory
	boxes typed.Volume // answers queries once the tables are made
}

// fill makes the tables of a volume.
func (t *solidTables) fill(src raster.Array, d *gpu.Device, opt *boxsum.Options) error {
	if err := t.memory.fill(engine.Volume, src, onDevice(d, opt)); err != nil {
		return err
	}
	return t.combine()
}

func (t *solidTables) allocate(e imagefile.Extent, want tableChoice) error {
	return t.memory.allocate(raster.VolumeExtent(e.Width, e.Height, e.Depth, e.Channels, 0, 0), want.squares)
}

// combine joins the tables for queries.
func (t *solidTables) combine() (err error) {
	t.boxes, err = typed.NewVolume(t.sums, t.squares)
	return err
}

// slicesOf yields the entries of each slice of a table.
func slicesOf(t *engine.Table) iter.Seq[raster.Array] {
	return func(yield func(raster.Array) bool) {
		for z := range t.Depth + 1 {
			slice := raster.Array{Data: t.From(z * t.SliceStride), Type: t.Type, Extent: raster.PlaneExtent(t.Width+1, t.Height+1, t.Channels, t.Stride)}
			if !yield(slice) {
				return
			}
		}
	}
}

func (t *solidTables) clear() {
	for _, table := range []*engine.Table{t.sums, t.squares} {
		if table != nil {
			clearPages(table.Data)
		}
	}
}

func (t *solidTables) sum(b box, channel int) fromsums.Sum { return t.boxes.Sum(b.block(), channel) }

func (t *solidTables) mean(b box, channel int) float64 { return t.boxes.Mean(b.block(), channel) }

func (t *solidTables) std(b box, channel int) float64 { return t.boxes.StdDev(b.block(), channel) }

func (t *solidTables) square(b box, channel int) float64 {
	return t.squareAt(b[5], b[4], b[3], channel)
}

func (t *solidTables) picture() image.Image { return nil } // heat maps are of images only
