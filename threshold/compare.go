package threshold

import (
	"math"

	"github.com/boxsum/boxsum"
	"github.com/boxsum/boxsum/internal/raster"
)

// A Score measures how close a binarized image is to ground truth, as in the DIBCO
// contests. Foreground pixels are black.
type Score struct {
	TruePositives, FalsePositives, FalseNegatives, TrueNegatives int64

	Precision float64 // percentage of the image's black pixels that are black in the truth
	Recall    float64 // percentage of the truth's black pixels that are black in the image
	FMeasure  float64 // 2·Precision·Recall / (Precision + Recall)
	PSNR      float64 // 10·log10(pixels / wrong pixels), in decibels; +Inf for identical images
	// DRD is the distance reciprocal distortion of Lu, Kot and Shi. Each wrong pixel is
	// weighted by the pixels of the truth within 5×5 that differ from it. The sum of the
	// weights is divided by the number of whole 8×8 blocks of the truth that contain both
	// colors. DRD is +Inf if there are wrong pixels but no such blocks.
	DRD float64
}

// drdWeights holds the reciprocal distances from the center of a 5×5 block, scaled to add
// up to 1.
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

// Compare measures how close img, a binarized image, is to truth. Both must have one
// channel and the same size; values below 128 are black. Identical images have a
// precision, recall and F-measure of 100, even if they have no black pixels.
func Compare(truth, img boxsum.Image[uint8]) (s Score, err error) {
	for _, im := range []boxsum.Image[uint8]{truth, img} {
		e := raster.PlaneExtent(im.Width, im.Height, im.Channels, im.Stride)
		if err := e.Pixels(len(im.Pix)); err != nil {
			return s, err
		}
		if e.Channels != 1 {
			return s, raster.Invalid("image has %d channels, want 1 (see boxsum.Gray)", e.Channels)
		}
	}
	if truth.Width != img.Width || truth.Height != img.Height {
		return s, raster.Invalid("image is %d×%d and truth is %d×%d, want the same size", img.Width, img.Height, truth.Width, truth.Height)
	}
	var rows [5][]uint8 // of truth, with row y in the middle
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

// distortionAt returns the distortion of a wrong pixel at x, which is black in the image if
// black is set.
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

// mixedBlocks returns the number of whole 8×8 blocks that are not of a single color.
func mixedBlocks(img boxsum.Image[uint8]) (n int) {
	mixed := make([]uint8, img.Width/8) // bit 0: has black, bit 1: has white
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

// rate computes the rates from the counts.
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
