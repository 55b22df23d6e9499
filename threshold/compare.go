package threshold

import (
	"math"

	"github.com/boxsum/boxsum"
	"github.com/boxsum/boxsum/internal/grid"
)

// A Score says how near a black and white image is to the truth, as in the DIBCO contests.
// Black is what is looked for.
type Score struct {
	TruePositives, FalsePositives, FalseNegatives, TrueNegatives int64

	Precision float64 // of the black pixels, how many are right, in percent
	Recall    float64 // of the true black pixels, how many are there, in percent
	FMeasure  float64 // 2·Precision·Recall / (Precision + Recall)
	PSNR      float64 // 10·log10 of all pixels over the wrong ones, in decibels; infinite for equal images
	// DRD is the distance reciprocal distortion of Lu, Kot and Shi: wrong pixels, each
	// weighed by the pixels of the truth within 5×5 that are not as it is, over the whole
	// blocks of 8×8 pixels of the truth that are not of one colour. It is infinite where
	// pixels are wrong and there is no such block.
	DRD float64
}

// drdWeights are 1 over the distance, and add up to 1.
var drdWeights = func() (w [5][5]float64) {
	sum := 0.0
	for y := range 5 {
		for x := range 5 {
			if d := math.Hypot(float64(x-2), float64(y-2)); d > 0 {
				w[y][x] = 1 / d
				sum += w[y][x]
			}
		}
	}
	for y := range 5 {
		for x := range 5 {
			w[y][x] /= sum
		}
	}
	return w
}()

// Compare scores an image beside the truth, both of one channel and of the same size: what is
// below 128 is black. Images without a black pixel, and equal ones, have an F-measure of
// 100.
func Compare(truth, img boxsum.Image[uint8]) (s Score, err error) {
	for _, im := range []boxsum.Image[uint8]{truth, img} {
		e := grid.Plane(im.Width, im.Height, im.Channels, im.Stride)
		if err := e.Pixels(len(im.Pix)); err != nil {
			return s, err
		}
		if e.Channels != 1 {
			return s, grid.Invalid("an image with %d channels: black and white images have one, see boxsum.Gray", e.Channels)
		}
	}
	if truth.Width != img.Width || truth.Height != img.Height {
		return s, grid.Invalid("an image of %d×%d and its truth of %d×%d: they must be of the same size", img.Width, img.Height, truth.Width, truth.Height)
	}
	var rows [5][]uint8 // of the truth, with row y in the middle
	distortion := 0.0
	for y := range img.Height {
		for i := range rows {
			rows[i] = truth.Row(y + i - 2)
		}
		for x, v := range img.Row(y) {
			black, is := rows[2][x] < 128, v < 128
			switch {
			case black && is:
				s.TruePositives++
			case is:
				s.FalsePositives++
			case black:
				s.FalseNegatives++
			default:
				s.TrueNegatives++
			}
			if black != is {
				distortion += distortionAt(&rows, x, is)
			}
		}
	}
	s.rate(distortion, mixedBlocks(truth))
	return s, nil
}

// distortionAt is that of a wrong pixel.
func distortionAt(rows *[5][]uint8, x int, black bool) (sum float64) {
	for j, row := range rows {
		for i := max(0, 2-x); i < 5 && x+i-2 < len(row); i++ {
			if row[x+i-2] < 128 != black {
				sum += drdWeights[j][i]
			}
		}
	}
	return sum
}

// mixedBlocks is how many blocks of 8×8 pixels are not of one colour.
func mixedBlocks(img boxsum.Image[uint8]) (n int) {
	mixed := make([]uint8, img.Width/8) // 1 and 2 for black and white
	for y := range img.Height / 8 * 8 {
		row := img.Row(y)
		for x := range mixed {
			for _, v := range row[8*x:][:8] {
				mixed[x] |= 1 + v>>7
			}
		}
		if y%8 < 7 {
			continue
		}
		for x, m := range mixed {
			if m == 3 {
				n++
			}
			mixed[x] = 0
		}
	}
	return n
}

// rate makes rates of counts.
func (s *Score) rate(distortion float64, blocks int) {
	percent := func(n, of int64) float64 {
		if of == 0 {
			return 0
		}
		return 100 * float64(n) / float64(of)
	}
	wrong := s.FalsePositives + s.FalseNegatives
	s.Precision = percent(s.TruePositives, s.TruePositives+s.FalsePositives)
	s.Recall = percent(s.TruePositives, s.TruePositives+s.FalseNegatives)
	s.FMeasure = percent(2*s.TruePositives, 2*s.TruePositives+wrong)
	if wrong == 0 {
		s.Precision, s.Recall, s.FMeasure = 100, 100, 100
	}
	s.PSNR = 10 * math.Log10(float64(wrong+s.TruePositives+s.TrueNegatives)/float64(wrong))
	if wrong == 0 {
		s.PSNR = math.Inf(1)
	}
	switch {
	case wrong > 0 && blocks == 0:
		s.DRD = math.Inf(1)
	case wrong > 0:
		s.DRD = distortion / float64(blocks)
	}
}
