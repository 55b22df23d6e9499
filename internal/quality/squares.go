package quality

import (
	"math"

	"github.com/boxsum/boxsum/internal/engine"
	"github.com/boxsum/boxsum/internal/raster"
)

// bandRows is the number of rows of images that a worker compares at a time.
const bandRows = 32

// SquaredError returns the mean of the squared differences of the images of a job. Sums of integers are exact.
func SquaredError(j Job) (mse float64, err error) {
	if j.set, err = j.Options.Check(); err != nil {
		return 0, err
	}
	if err = j.set.ProcessorOnly("squared errors"); err != nil {
		return 0, err
	}
	if err = checkImages(&j.A, &j.B); err != nil {
		return 0, err
	}
	if j.masked, err = checkMask(&j.Mask, &j.A); err != nil {
		return 0, err
	}
	j.SkipNaN = j.SkipNaN && j.A.Type.Float()
	j.counting = j.masked || j.SkipNaN
	h, d := j.A.Height, j.A.Depth
	bands := engine.DivUp(h*d, bandRows)
	sums, counts := make([]total, bands), make([]int, bands)
	workers := min(j.set.Workers(), 1+j.A.Width*j.A.Channels*h*d*j.A.Type.Bytes()/(1<<19))
	rows := make([]fieldsWorker, workers)
	for i := range rows {
		n := j.A.Width * j.A.Channels
		rows[i] = fieldsWorker{layer: &fields{job: &j}, a: make([]float64, n), b: make([]float64, n), marks: make([]byte, n)}
	}
	err = j.set.Each(bands, workers, func(worker, band int) {
		for i := band * bandRows; i < min(h*d, (band+1)*bandRows); i++ {
			counts[band] += rows[worker].addSquares(&sums[band], i%h, i/h)
		}
	})
	if err != nil {
		return 0, err
	}
	var all total
	count := 0
	for i, s := range sums {
		all.whole += s.whole
		all.real += s.real
		count += counts[i]
	}
	if count == 0 {
		return math.NaN(), nil
	}
	return (float64(all.whole) + all.real) / float64(count), nil
}

// total is a sum of squares: of integers, or of floats.
type total struct {
	whole uint64
	real  float64
}

// addSquares adds the squared differences of row y of slice z, and returns the number of values that count.
func (w *fieldsWorker) addSquares(t *total, y, z int) int {
	j := w.layer.job
	a, b := slice(&j.A, z), slice(&j.B, z)
	if !j.counting && !a.Type.Float() {
		pixels, others := a.Span(0, y, a.Width), b.Span(0, y, b.Width)
		if a.Type == raster.U8 {
			t.whole += squares[uint8](pixels, others)
		} else {
			t.whole += squares[uint16](pixels, others)
		}
		return a.Width * a.Channels
	}
	w.load(y, z)
	n, sum := 0, 0.0
	for i, v := range w.a {
		if j.counting && w.marks[i] == 0 {
			continue
		}
		d := v - w.b[i]
		sum += float64(d * d)
		n++
	}
	if !a.Type.Float() {
		t.whole += uint64(sum)
	} else {
		t.real += sum
	}
	return n
}

func squares[P uint8 | uint16](a, b []byte) (sum uint64) {
	x := raster.Elems[P](a)
	y := raster.Elems[P](b)[:len(x)]
	for i, v := range x {
		d := int64(v) - int64(y[i])
		sum += uint64(d * d)
	}
	return sum
}

// PSNR returns the peak signal-to-noise ratio of the images of a job in decibels.
func PSNR(j Job) (float64, error) {
	span, err := rangeOf(j.Range, j.A.Type)
	if err != nil {
		return 0, err
	}
	mse, err := SquaredError(j)
	return 10 * math.Log10(span*span/mse), err
}
