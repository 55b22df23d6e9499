package kernel

import "math"

// A FormulaKind is how a threshold is made from the statistics of a window.
type FormulaKind uint8

const (
	SauvolaFormula FormulaKind = iota
	NiblackFormula
	WolfFormula
	NICKFormula
	PhansalkarFormula
	TRSinghFormula // from here on without squares
	BradleyFormula
	MeanCFormula
	SuFormula
)

// Squares reports whether a formula needs the sums of squares.
func (k FormulaKind) Squares() bool { return k < TRSinghFormula }

// A Formula is a kind with its numbers.
type Formula struct {
	Kind     FormulaKind
	Whole    bool    // pixels are integers
	Bytes    bool    // pixels are bytes: the decision is Doxa's, also where rounding makes it
	K        float64 // how much the deviation counts
	P        float64 // of Phansalkar, with the negative of Q for values up to White
	NegQ     float64
	White    float64
	InverseR float64 // 1 over the deviation that leaves the mean as it is
	Most     float64 // how far from the mean a pixel may be, of TRSingh
	Factor   float64 // of Bradley
	C        float64 // of MeanC

	Darkest, Spread float64 // of Wolf: the least pixel and the greatest deviation of the image
}

// At is the threshold of a pixel whose window has this mean and variance. The order is
// Doxa's: products that are added are rounded first.
func (f *Formula) At(pixel, mean, variance float64) float64 {
	switch f.Kind {
	case SauvolaFormula:
		return mean * (1 + float64(f.K*(math.Sqrt(variance)*f.InverseR-1)))
	case NiblackFormula:
		return mean + float64(f.K*math.Sqrt(variance))
	case WolfFormula:
		return mean - float64(f.K*(1-math.Sqrt(variance)/f.Spread)*(mean-f.Darkest))
	case NICKFormula:
		return mean + float64(f.K*math.Sqrt(variance+float64(mean*mean)))
	case PhansalkarFormula:
		return mean * (1 + float64(f.P*math.Exp(f.NegQ*mean)) + float64(f.K*(math.Sqrt(variance)*f.InverseR-1)))
	case TRSinghFormula:
		d := min(math.Abs(pixel-mean), f.Most)
		return mean * (1 + float64(f.K*(d/(f.White-d)-1)))
	case BradleyFormula:
		return mean * f.Factor
	case SuFormula:
		return mean + math.Sqrt(variance)/2
	}
	if f.Whole {
		mean = math.Floor(mean + 0.5)
	}
	return mean - f.C
}

// SuThreshold is that of n pixels with these sums, as Doxa makes it.
func SuThreshold(sum, squares, n float64) float64 {
	if n == 0 {
		return 0
	}
	mean := sum / n
	variance := squares/n - float64(mean*mean)
	if variance > 0 {
		return mean + math.Sqrt(variance)/2
	}
	return mean
}
