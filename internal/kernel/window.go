package kernel

// Number is what the running sums of windows are made of.
type Number interface {
	uint16 | uint32 | uint64 | float64
}

// AddColumns is the specification of
//
//	cols[i] += times * (row[i] - offset)
//
// where only floats have an offset.
func AddColumns[P Pixel, A Number](cols []A, row []P, offset, times A) {
	cols = cols[:len(row)]
	if times == 1 {
		for i, p := range row {
			cols[i] += A(p) - offset
		}
		return
	}
	for i, p := range row {
		cols[i] += A((A(p) - offset) * times) // the conversion keeps the compiler from fusing
	}
}

// AddSquares is the same for squares.
func AddSquares[P Pixel, Q Number](cols []Q, row []P, offset, times Q) {
	cols = cols[:len(row)]
	for i, p := range row {
		d := Q(p) - offset
		cols[i] += Q(Q(d*d) * times)
	}
}

// SlideColumns moves the sums of columns a row down:
//
//	cols[i] += add[i] - sub[i]
func SlideColumns[P Pixel, A Number](level Level, cols []A, add, sub []P) {
	cols, sub = cols[:len(add)], sub[:len(add)]
	for i, p := range add {
		cols[i] += A(p) - A(sub[i])
	}
}

// SlideSquares is the same for squares.
func SlideSquares[P Pixel, Q Number](level Level, cols []Q, add, sub []P, offset Q) {
	cols, sub = cols[:len(add)], sub[:len(add)]
	for i, p := range add {
		a, b := Q(p)-offset, Q(sub[i])-offset
		cols[i] += Q(a*a) - Q(b*b)
	}
}

// RoundedMeans is
//
//	dst[i] = round((hi[i] - lo[i]) / n)
//
// to nearest, ties up.
func RoundedMeans[D Pixel, A Number](level Level, dst []D, hi, lo []A, n uint64) {
	hi, lo = hi[:len(dst)], lo[:len(dst)]
	half := n / 2
	for i := range dst {
		dst[i] = D((uint64(hi[i]-lo[i]) + half) / n)
	}
}

// ScaledMeans is
//
//	dst[i] = round(scale * (hi[i] - lo[i]) / n)
//
// to nearest, ties up.
func ScaledMeans[D Pixel, A Number](level Level, dst []D, hi, lo []A, scale, n uint64) {
	hi, lo = hi[:len(dst)], lo[:len(dst)]
	half := n / 2
	for i := range dst {
		dst[i] = D((uint64(hi[i]-lo[i])*scale + half) / n)
	}
}
