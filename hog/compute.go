package hog

import (
	"image"

	"github.com/boxsum/boxsum"
	"github.com/boxsum/boxsum/internal/engine"
	"github.com/boxsum/boxsum/internal/raster"
)

// Compute returns the descriptors of windows of img, one after the other. img must have one
// channel, or three or four that start with red, green and blue. By default, the windows come
// row by row, as [Descriptor.Windows] lists them; [WindowOptions.At] selects others. A
// descriptor contains the blocks of its window column by column, and a block contains its
// cells column by column.
func (d *Descriptor) Compute(img boxsum.Image[uint8], o *WindowOptions) ([]float32, error) {
	return d.AppendCompute(nil, img, o)
}

// AppendCompute is like [Descriptor.Compute] but appends the descriptors to the slice to, and
// returns the extended slice. If to has enough capacity, repeated calls with images of the
// same size do not allocate. On error, AppendCompute returns to unchanged.
func (d *Descriptor) AppendCompute(to []float32, img boxsum.Image[uint8], o *WindowOptions) ([]float32, error) {
	if err := d.valid(); err != nil {
		return to, err
	}
	s := takeSearch(d, computes)
	defer s.leave()
	n, err := s.prepareWindows(&img, o)
	if err != nil || n == 0 {
		return to, err
	}
	if most := int64(1) << 40; float64(n)*float64(d.Size()) > float64(most) {
		return to, raster.Invalid("%d windows of %d numbers each are too many, want at most %d numbers in total", n, d.Size(), most)
	}
	all, err := grown(to, n*d.Size())
	if err != nil {
		return to, err
	}
	s.numbers = all[len(to):]
	if err := s.run(); err != nil {
		return to, err
	}
	return all, nil
}

// Scores returns the score that the linear classifier gives to each window of img, in the
// order of [Descriptor.Compute]. It returns an error if the descriptor has no coefficients.
func (d *Descriptor) Scores(img boxsum.Image[uint8], o *WindowOptions) ([]float64, error) {
	return d.AppendScores(nil, img, o)
}

// AppendScores is like [Descriptor.Scores] but appends the scores to the slice to, and
// returns the extended slice. If to has enough capacity, repeated calls with images of the
// same size do not allocate. On error, AppendScores returns to unchanged.
func (d *Descriptor) AppendScores(to []float64, img boxsum.Image[uint8], o *WindowOptions) ([]float64, error) {
	if err := d.classifies(); err != nil {
		return to, err
	}
	s := takeSearch(d, scores)
	defer s.leave()
	n, err := s.prepareWindows(&img, o)
	if err != nil || n == 0 {
		return to, err
	}
	all, err := grown(to, n)
	if err != nil {
		return to, err
	}
	s.values = all[len(to):]
	if err := s.run(); err != nil {
		return to, err
	}
	return all, nil
}

// Gradients returns how each pixel of img votes in the histograms of [Descriptor.Compute],
// before any weights are applied. Each pixel has two votes, for the two bins next to the
// direction of its gradient. Channel 0 of votes holds the first vote of a pixel and channel 0
// of bins the bin that receives it; channel 1 holds the second.
func (d *Descriptor) Gradients(img boxsum.Image[uint8], o *GradientOptions) (votes boxsum.Image[float32], bins boxsum.Image[uint8], err error) {
	if err := d.valid(); err != nil {
		return votes, bins, err
	}
	if o == nil {
		o = new(GradientOptions)
	}
	for _, p := range []image.Point{o.Before, o.After} {
		if p.X < 0 || p.Y < 0 || p.X > maxPadding || p.Y > maxPadding {
			return votes, bins, raster.Invalid("padding is %d×%d, want 0 to %d pixels", p.X, p.Y, maxPadding)
		}
	}
	s := takeSearch(d, polars)
	defer s.leave()
	opt := engine.Options{Workers: o.Workers, Level: o.Level.String(), Context: o.Context, Progress: o.Progress}
	if s.set, err = opt.Check(); err != nil {
		return votes, bins, err
	}
	if err := s.look(&img, o.BGR); err != nil {
		return votes, bins, err
	}
	s.step = d.config.Stride
	l := level{scale: 1}
	l.set(d, s.step, o.Before, s.src.Width, s.src.Height)
	l.padded = o.Before.Add(o.After).Add(image.Pt(s.src.Width, s.src.Height))
	l.count = image.Pt(1, l.padded.Y) // rows of gradients
	s.levels = append(s.levels[:0], l)
	if votes, err = boxsum.NewImage[float32](l.padded.X, l.padded.Y, 2); err == nil {
		bins, err = boxsum.NewImage[uint8](l.padded.X, l.padded.Y, 2)
	}
	if err == nil {
		s.numbers, s.names = votes.Pix, bins.Pix
		err = s.run()
	}
	if err != nil {
		return boxsum.Image[float32]{}, boxsum.Image[uint8]{}, err
	}
	return votes, bins, nil
}

// grown returns a slice with n more elements, of any value.
func grown[T any](have []T, n int) ([]T, error) {
	if cap(have)-len(have) >= n {
		return have[:len(have)+n], nil
	}
	all, err := raster.Make[T](len(have) + n)
	copy(all, have)
	return all, err
}

// Windows returns the top left pixels of the windows that Compute and Scores describe in an
// image of the given size. It returns nil if the arguments are invalid.
func (d *Descriptor) Windows(width, height int, o *WindowOptions) []image.Point {
	if d.valid() != nil || width < 1 || height < 1 {
		return nil
	}
	var opt WindowOptions
	if o != nil {
		opt = *o
	}
	if opt.At != nil {
		return append([]image.Point(nil), opt.At...)
	}
	if d.checkWindows(&opt.Step, &opt.Padding) != nil {
		return nil
	}
	var l level
	l.set(d, opt.Step, opt.Padding, width, height)
	var all []image.Point
	for y := range l.count.Y {
		for x := range l.count.X {
			all = append(all, l.at(opt.Step, x, y))
		}
	}
	return all
}

// prepareWindows checks the arguments of Compute or Scores and returns the number of windows.
func (s *search) prepareWindows(img *boxsum.Image[uint8], o *WindowOptions) (n int, err error) {
	var opt WindowOptions
	if err := o.check(s.descriptor, &opt, &s.set); err != nil {
		return 0, err
	}
	if err := s.look(img, opt.BGR); err != nil {
		return 0, err
	}
	s.step, s.at = opt.Step, opt.At
	l := level{scale: 1}
	l.set(s.descriptor, opt.Step, opt.Padding, s.src.Width, s.src.Height)
	s.levels = append(s.levels[:0], l)
	if s.at != nil {
		return len(s.at), nil
	}
	return l.count.X * l.count.Y, nil
}
