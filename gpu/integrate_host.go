package gpu

import (
	"github.com/boxsum/boxsum"
	"github.com/boxsum/boxsum/gpu/internal/devmem"
	"github.com/boxsum/boxsum/gpu/internal/driver"
	"github.com/boxsum/boxsum/gpu/internal/method"
	"github.com/boxsum/boxsum/gpu/internal/transfer"
	"github.com/boxsum/boxsum/internal/pairs"
)

// IntegrateHost makes the table of an image in host memory on a device. The image
// goes there in bands of rows, each carrying on from the last row of the one
// above, so that neither image nor table must fit the device; bands are copied
// in while others are summed and copied out. Pixels of a [NewHostImage] are read
// where they are, and sums go straight into a [NewHostTable].
//
// The pairs of types are those of [boxsum.Integrate].
func IntegrateHost[S boxsum.Sum, P boxsum.Pixel](d *Device, src boxsum.Image[P], opt *Options) (*boxsum.Table[S], error) {
	w, err := planeWork(&src, pairs.Of[S](), 0, opt)
	if err != nil {
		return nil, err
	}
	t, err := transfer.NewTable[S](src.Width, src.Height, src.Channels)
	if err != nil {
		return nil, err
	}
	if w.Fresh, err = true, planeHost(d, w, t, noSquares); err != nil {
		return nil, err
	}
	return t, nil
}

// IntegrateHostInto is [IntegrateHost] into a table that is already there, which
// must have the image's size and may not lie in its memory.
func IntegrateHostInto[S boxsum.Sum, P boxsum.Pixel](d *Device, dst *boxsum.Table[S], src boxsum.Image[P], opt *Options) error {
	w, err := planeWork(&src, pairs.Of[S](), 0, opt)
	if err != nil {
		return err
	}
	return planeHost(d, w, dst, noSquares)
}

// IntegrateSquaresHost is [IntegrateHost] for the table of an image and that of
// its squares. The types go together as in [boxsum.IntegrateSquares].
func IntegrateSquaresHost[S boxsum.Sum, Q boxsum.Square, P boxsum.Pixel](d *Device, src boxsum.Image[P], opt *Options) (*boxsum.SquaredTable[S, Q], error) {
	w, err := planeWork(&src, pairs.Of[S](), pairs.Of[Q](), opt)
	if err != nil {
		return nil, err
	}
	t, err := freshSquares[S, Q](w.Job)
	if err != nil {
		return nil, err
	}
	if w.Fresh, err = true, planeHost(d, w, t.Sum, t.Squares); err != nil {
		return nil, err
	}
	return t, nil
}

// IntegrateSquaresHostInto is [IntegrateSquaresHost] into tables that are already
// there, each in memory of its own.
func IntegrateSquaresHostInto[S boxsum.Sum, Q boxsum.Square, P boxsum.Pixel](d *Device, dst *boxsum.SquaredTable[S, Q], src boxsum.Image[P], opt *Options) error {
	w, err := planeWork(&src, pairs.Of[S](), pairs.Of[Q](), opt)
	if err != nil {
		return err
	}
	if dst == nil || dst.Squares == nil {
		return errNoHostTable
	}
	return planeHost(d, w, dst.Sum, dst.Squares)
}

// noSquares stands for the squares that most tables do not have.
var noSquares *boxsum.Table[uint64]

// planeHost runs work whose tables are there; squares may be nil.
func planeHost[S boxsum.Sum, Q boxsum.Square](d *Device, w *transfer.Work, sums *boxsum.Table[S], squares *boxsum.Table[Q]) error {
	if err := takeSides(w, sums, squares); err != nil {
		return err
	}
	return w.Run(d.mem())
}

// takeSides has work go into tables of the host; squares may be nil.
func takeSides[S boxsum.Sum, Q boxsum.Square](w *transfer.Work, sums *boxsum.Table[S], squares *boxsum.Table[Q]) error {
	job := &w.Job
	if err := accepts(sums, job.Width, job.Height, job.Channels); err != nil {
		return err
	}
	w.Sides[1] = transfer.Rows(devmem.HostRows(sums.Sums, sums.Stride))
	if job.Square != 0 {
		if err := accepts(squares, job.Width, job.Height, job.Channels); err != nil {
			return err
		}
		w.Sides[2] = transfer.Rows(devmem.HostRows(squares.Sums, squares.Stride))
	}
	if err := w.Check(); err != nil {
		return err
	}
	sums.Offset = float32(job.Offset)
	if squares != nil {
		squares.Offset = 0
	}
	return nil
}

// planeWork checks an image, types and options, and is what there is to do.
func planeWork[P boxsum.Pixel](src *boxsum.Image[P], sum, square pairs.Type, opt *Options) (*transfer.Work, error) {
	checked, err := checkedImage(*src)
	if err != nil {
		return nil, err
	}
	*src = checked
	if err := method.PairError(pairs.Of[P](), sum, square); err != nil {
		return nil, err
	}
	return imageWork(method.Plane{}, checked, sum, square, opt, "")
}

// imageWork checks the options for an image that was checked.
func imageWork[P boxsum.Pixel](m method.Method, src boxsum.Image[P], sum, square pairs.Type, opt *Options, noOffset string) (*transfer.Work, error) {
	o, err := opt.check(sum, noOffset)
	if err != nil {
		return nil, err
	}
	return &transfer.Work{
		Method: m, Way: o.Kernels.way(), Units: src.Height, Piece: o.BandRows, Context: o.Context, Progress: o.Progress,
		Job: method.Job{
			Pixel: pairs.Of[P](), Sum: sum, Square: square,
			Channels: src.Channels, Width: src.Width, Height: src.Height, Count: 1, Offset: float64(o.Offset),
		},
		Sides: [3]transfer.Side{transfer.Rows(devmem.HostRows(src.Pix, src.Stride))},
	}, nil
}

// hosted takes a table of the host on an open device and fills it, unless it is known
// before that it cannot be filled.
func hosted[T any](d *Device, wrong error, take func() (*T, error), fill func(*T) error) (*T, error) {
	if wrong != nil {
		return nil, wrong
	}
	if err := d.mem().Enter(); err != nil {
		return nil, err
	}
	defer d.mem().Leave()
	t, err := take()
	if err == nil {
		err = fill(t)
	}
	if err != nil {
		return nil, err
	}
	return t, nil
}

// whole takes an image to a device, has tables made of it there, and fetches them: image
// and tables must fit the device.
func whole[T interface{ Close() error }, P boxsum.Pixel](d *Device, src boxsum.Image[P], opt *Options, integrate func(*Image[P]) (T, error), fetch func(T) error) (err error) {
	im, err := Upload(d, src)
	if err != nil {
		return err
	}
	defer func() { err = driver.FirstError(err, im.Close()) }()
	t, err := integrate(im)
	if err != nil {
		return err
	}
	defer func() { err = driver.FirstError(err, t.Close()) }()
	if err := fetch(t); err != nil {
		return err
	}
	if opt != nil && opt.Progress != nil {
		opt.Progress(1)
	}
	return nil
}
