package gpu

import (
	"github.com/boxsum/boxsum"
	"github.com/boxsum/boxsum/gpu/internal/method"
	"github.com/boxsum/boxsum/gpu/internal/transfer"
	"github.com/boxsum/boxsum/internal/device"
	"github.com/boxsum/boxsum/internal/raster"
)

// noPlaneSquares is used by tables without squares.
var noPlaneSquares *boxsum.Table[uint64]

// takePlanes makes work write to tables on the host. squares may be nil.
func takePlanes[S boxsum.Sum, Q boxsum.Square](w *transfer.Work, sums *boxsum.Table[S], squares *boxsum.Table[Q]) error {
	if err := takeSides(w, planeSide(sums), planeSide(squares)); err != nil {
		return err
	}
	describePlanes(w, sums, squares)
	return nil
}

// describePlanes sets the properties of the pixels of tables on the host. squares may be nil.
func describePlanes[S boxsum.Sum, Q boxsum.Square](w *transfer.Work, sums *boxsum.Table[S], squares *boxsum.Table[Q]) {
	describePlane(sums, float32(w.Job.Offset), w.Pixels[0].Bound)
	if squares != nil {
		describePlane(squares, squaresOffset(&w.Job), w.Pixels[1].Bound)
		_, _ = boxsum.SquaredTableOf(sums, squares) // their sizes are those of the work
	}
}

// workPlane validates an image, types and options of a pipeline, and returns the
// work to do.
func workPlane(im *raster.Array, sum, square raster.Type, opt *PipelineOptions) (*transfer.Work, error) {
	if err := method.PairError(im.Type, sum, square); err != nil {
		return nil, err
	}
	if err := im.Check(); err != nil {
		return nil, err
	}
	if err := countable(im); err != nil {
		return nil, err
	}
	o, err := opt.onDevice().check(im.Type, sum, "")
	if err != nil {
		return nil, err
	}
	w := work(method.Plane{}, &device.Tables{
		Src: *im, Sums: raster.Array{Type: sum}, Squares: raster.Array{Type: square}, Offset: o.Offset,
	})
	w.Way, w.Piece = o.Kernels.way(), opt.BandRows
	prepare(w, im, &o)
	return w, nil
}
