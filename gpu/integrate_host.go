package gpu

import (
	"io"

	"github.com/boxsum/boxsum"
	"github.com/boxsum/boxsum/gpu/internal/devmem"
	"github.com/boxsum/boxsum/gpu/internal/driver"
	"github.com/boxsum/boxsum/gpu/internal/method"
	"github.com/boxsum/boxsum/gpu/internal/transfer"
	"github.com/boxsum/boxsum/internal/engine"
	"github.com/boxsum/boxsum/internal/grid"
	"github.com/boxsum/boxsum/internal/pairs"
)

// noPlaneSquares stands for the squares that most tables do not have.
var noPlaneSquares *boxsum.Table[uint64]

// runPlane runs work into tables of the host; squares may be nil.
func runPlane[S boxsum.Sum, Q boxsum.Square](d *Device, w *transfer.Work, sums *boxsum.Table[S], squares *boxsum.Table[Q]) error {
	if err := takePlanes(w, sums, squares); err != nil {
		return err
	}
	return d.shared().Run(w)
}

// takePlanes has work go into tables of the host; squares may be nil.
func takePlanes[S boxsum.Sum, Q boxsum.Square](w *transfer.Work, sums *boxsum.Table[S], squares *boxsum.Table[Q]) error {
	if err := takeSides(w, planeSide(sums), planeSide(squares)); err != nil {
		return err
	}
	tellPlanes(w, sums, squares)
	return nil
}

// tellPlanes tells tables of the host what they will be of; squares may be nil.
func tellPlanes[S boxsum.Sum, Q boxsum.Square](w *transfer.Work, sums *boxsum.Table[S], squares *boxsum.Table[Q]) {
	sums.Offset = float32(w.Job.Offset)
	sums.Know(w.Pixels[0])
	if squares != nil {
		squares.Offset = squaresOffset(&w.Job)
		squares.Know(w.Pixels[1])
		(&boxsum.SquaredTable[S, Q]{Sum: sums, Squares: squares}).Tie()
	}
}

// workPlane checks an image, types and options, and is what there is to do.
func workPlane[P boxsum.Pixel](src *boxsum.Image[P], sum, square pairs.Type, opt *Options) (*transfer.Work, error) {
	return imageWork(method.Plane{}, src, sum, square, opt, "")
}

// imageWork checks an image, types and options, and fills in what zeros stand for.
func imageWork[P boxsum.Pixel](m method.Method, src *boxsum.Image[P], sum, square pairs.Type, opt *Options, noOffset string) (*transfer.Work, error) {
	if err := method.PairError(pairs.Of[P](), sum, square); err != nil {
		return nil, err
	}
	checked, err := checkedImage(*src)
	if err != nil {
		return nil, err
	}
	*src = checked
	w, err := workOf(m, checked, sum, square, opt, noOffset)
	if err == nil {
		e := grid.Plane(src.Width, src.Height, src.Channels, src.Stride)
		_, tilted := m.(method.Tilted)
		prepare(w, &engine.Source[P]{Pix: src.Pix, Extent: e}, opt, noOffset, tilted)
	}
	return w, err
}

// workOf checks the options for an image that was checked.
func workOf[P boxsum.Pixel](m method.Method, src boxsum.Image[P], sum, square pairs.Type, opt *Options, noOffset string) (*transfer.Work, error) {
	o, err := opt.check(pairs.Of[P](), sum, noOffset)
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
	leave, err := d.enter()
	if err != nil {
		return nil, err
	}
	defer leave()
	return onHost(nil, take, fill)
}

// whole takes an image to a device, has tables made of it there, and fetches them: image
// and tables must fit the device. Of several devices it takes the first that can.
func whole[T io.Closer, P boxsum.Pixel](d *Device, src boxsum.Image[P], opt *Options, integrate func(*Image[P]) (T, error), fetch func(T) error) error {
	return d.onOne(func(d *Device) error { return wholeOn(d, src, opt, integrate, fetch) })
}

func wholeOn[T io.Closer, P boxsum.Pixel](d *Device, src boxsum.Image[P], opt *Options, integrate func(*Image[P]) (T, error), fetch func(T) error) (err error) {
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
