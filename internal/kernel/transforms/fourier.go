// Package transforms holds the inner loops of Fourier transforms and of template matching. The
// portable Go loop is the specification; the assembly returns the same bits.
package transforms

import (
	"unsafe"

	"github.com/boxsum/boxsum/internal/kernel/processor"
	"github.com/boxsum/boxsum/internal/raster"
)

// Several Fourier transforms are computed at a time, one in each SIMD lane. A point is a cache line
// of real parts followed by one of imaginary parts, and the points of a call are contiguous. So
// every step operates on whole vectors, and rounds in the same way at every level.

// Lanes returns the number of transforms of type T that are computed together.
func Lanes[T Real]() int { return raster.LineBytes / sizeOf[T]() }

// Real lists the types that transforms are computed in.
type Real interface{ float32 | float64 }

func sizeOf[T any]() int { return int(unsafe.Sizeof(*new(T))) }

// FourierTwiddles returns the number of values in the twiddle factors of n points: for each radix-4
// step, three complex factors per point of its quarter.
func FourierTwiddles(n int) (count int) {
	for ; n > 4; n /= 4 {
		count += n / 4 * 6
	}
	return count
}

// FourierForward transforms n points, a power of two, in place. buf holds the points, and twiddles
// the factors e^(-2πijk/m) for k from 1 to 3 and j < m/4, for m = n, n/4, … > 4. The result is in
// the order that [FourierInverse] expects.
func FourierForward[T Real](level processor.Level, buf []T, n int, twiddles []T) {
	r := fourierOf[T](level)
	line := 2 * Lanes[T]()
	buf = buf[:n*line]
	m := n
	for ; m > 4; m /= 4 {
		q := m / 4
		if r.down4 != nil {
			r.down4(raster.First(buf), n/m, q, raster.First(twiddles[:6*q]))
		} else {
			for at := 0; at < len(buf); at += m * line {
				for j := range q {
					down4(buf[at+j*line:], q*line, (*[6]T)(twiddles[6*j:]))
				}
			}
		}
		twiddles = twiddles[6*q:]
	}
	switch {
	case m == 4 && r.last4 != nil:
		r.last4(raster.First(buf), n/4)
	case m == 4:
		for at := 0; at < len(buf); at += 4 * line {
			down4(buf[at:], line, nil)
		}
	case m == 2 && r.step2 != nil:
		r.step2(raster.First(buf), n/2)
	case m == 2:
		for at := 0; at < len(buf); at += 2 * line {
			step2(buf[at:], line)
		}
	}
}

// FourierInverse computes the inverse of [FourierForward], multiplied by n.
func FourierInverse[T Real](level processor.Level, buf []T, n int, twiddles []T) {
	r := fourierOf[T](level)
	line := 2 * Lanes[T]()
	buf = buf[:n*line]
	m := 4
	for m < n {
		m *= 4
	}
	switch {
	case m == n || n == 1: // a power of four
		m = 4
		if n == 1 {
			return
		}
		if r.first4 != nil {
			r.first4(raster.First(buf), n/4)
			break
		}
		for at := 0; at < len(buf); at += 4 * line {
			up4(buf[at:], line, nil)
		}
	default:
		m = 2
		if r.step2 != nil {
			r.step2(raster.First(buf), n/2)
			break
		}
		for at := 0; at < len(buf); at += 2 * line {
			step2(buf[at:], line)
		}
	}
	end := FourierTwiddles(n)
	for m *= 4; m <= n; m *= 4 {
		q := m / 4
		end -= 6 * q
		factors := twiddles[end:][:6*q]
		if r.up4 != nil {
			r.up4(raster.First(buf), n/m, q, raster.First(factors))
			continue
		}
		for at := 0; at < len(buf); at += m * line {
			for j := range q {
				up4(buf[at+j*line:], q*line, (*[6]T)(factors[6*j:]))
			}
		}
	}
}

// down4 computes a butterfly of four points, which are step elements apart, and multiplies the
// results by the factors.
func down4[T Real](p []T, step int, w *[6]T) {
	l := Lanes[T]()
	a, b, c, d := p[:2*l], p[step:][:2*l], p[2*step:][:2*l], p[3*step:][:2*l]
	for i := range l {
		ar, ai, br, bi := a[i], a[l+i], b[i], b[l+i]
		cr, ci, dr, di := c[i], c[l+i], d[i], d[l+i]
		s0r, s0i, s1r, s1i := ar+cr, ai+ci, ar-cr, ai-ci
		s2r, s2i, s3r, s3i := br+dr, bi+di, bi-di, dr-br // s3 is -i(b-d)
		a[i], a[l+i] = s0r+s2r, s0i+s2i
		br, bi = s1r+s3r, s1i+s3i
		cr, ci = s0r-s2r, s0i-s2i
		dr, di = s1r-s3r, s1i-s3i
		if w != nil {
			br, bi = T(br*w[0])-T(bi*w[1]), T(br*w[1])+T(bi*w[0])
			cr, ci = T(cr*w[2])-T(ci*w[3]), T(cr*w[3])+T(ci*w[2])
			dr, di = T(dr*w[4])-T(di*w[5]), T(dr*w[5])+T(di*w[4])
		}
		b[i], b[l+i] = br, bi
		c[i], c[l+i] = cr, ci
		d[i], d[l+i] = dr, di
	}
}

// up4 is the inverse of down4, multiplied by four.
func up4[T Real](p []T, step int, w *[6]T) {
	l := Lanes[T]()
	a, b, c, d := p[:2*l], p[step:][:2*l], p[2*step:][:2*l], p[3*step:][:2*l]
	for i := range l {
		ar, ai, br, bi := a[i], a[l+i], b[i], b[l+i]
		cr, ci, dr, di := c[i], c[l+i], d[i], d[l+i]
		if w != nil { // multiply by the conjugates
			br, bi = T(br*w[0])+T(bi*w[1]), T(bi*w[0])-T(br*w[1])
			cr, ci = T(cr*w[2])+T(ci*w[3]), T(ci*w[2])-T(cr*w[3])
			dr, di = T(dr*w[4])+T(di*w[5]), T(di*w[4])-T(dr*w[5])
		}
		s0r, s0i, s1r, s1i := ar+cr, ai+ci, ar-cr, ai-ci
		s2r, s2i, s3r, s3i := br+dr, bi+di, di-bi, br-dr // s3 is i(b-d)
		a[i], a[l+i] = s0r+s2r, s0i+s2i
		b[i], b[l+i] = s1r+s3r, s1i+s3i
		c[i], c[l+i] = s0r-s2r, s0i-s2i
		d[i], d[l+i] = s1r-s3r, s1i-s3i
	}
}

// step2 is a butterfly of two points, which is its own inverse except for the scale.
func step2[T Real](p []T, line int) {
	a, b := p[:line], p[line:][:line]
	for i, v := range a {
		a[i], b[i] = v+b[i], v-b[i]
	}
}

// FourierMultiply multiplies points and stores the products in dst, or adds them to it. dst may be
// the same slice as a.
func FourierMultiply[T Real](level processor.Level, dst, a, b []T, add bool) {
	a, b = a[:len(dst)], b[:len(dst)]
	l := Lanes[T]()
	if r := fourierOf[T](level); r.multiply != nil && !add {
		r.multiply(raster.First(dst), raster.First(a), raster.First(b), len(dst)/(2*l))
		return
	} else if r.multiplyAdd != nil {
		r.multiplyAdd(raster.First(dst), raster.First(a), raster.First(b), len(dst)/(2*l))
		return
	}
	for at := 0; at < len(dst); at += 2 * l {
		d, p, q := dst[at:][:2*l], a[at:][:2*l], b[at:][:2*l]
		for i := range l {
			re := T(p[i]*q[i]) - T(p[l+i]*q[l+i])
			im := T(p[i]*q[l+i]) + T(p[l+i]*q[i])
			if add {
				re, im = d[i]+re, d[l+i]+im
			}
			d[i], d[l+i] = re, im
		}
	}
}

// FourierTranspose exchanges lanes and points in count squares, each with as many points as there
// are lanes. The squares are dstStep and srcStep elements apart.
func FourierTranspose[T Real](level processor.Level, dst, src []T, dstStep, srcStep, count int) {
	l := Lanes[T]()
	square := 2 * l * l
	if count <= 0 {
		return
	}
	_, _ = dst[(count-1)*dstStep+square-1], src[(count-1)*srcStep+square-1]
	if r := fourierOf[T](level); r.transpose != nil {
		r.transpose(raster.First(dst), raster.First(src), dstStep*sizeOf[T](), srcStep*sizeOf[T](), count)
		return
	}
	for k := range count {
		d, s := dst[k*dstStep:][:square], src[k*srcStep:][:square]
		for i := range l {
			for j := range l {
				d[i*2*l+j] = s[j*2*l+i]
				d[i*2*l+l+j] = s[j*2*l+l+i]
			}
		}
	}
}

// fourierRoutines holds the kernels of one float type at a level.
type fourierRoutines struct {
	down4, up4            func(buf *byte, blocks, quarter int, twiddles *byte)
	last4, first4, step2  func(buf *byte, blocks int)
	multiply, multiplyAdd func(dst, a, b *byte, points int)
	transpose             func(dst, src *byte, dstStep, srcStep, count int)
}

func fourierOf[T Real](level processor.Level) *fourierRoutines {
	if sizeOf[T]() == 4 {
		return &fourierTable[level].single
	}
	return &fourierTable[level].double
}

type fourierLevel struct{ single, double fourierRoutines }
