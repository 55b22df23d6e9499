package quality_test

import (
	"context"
	"errors"
	"fmt"
	"math"
	"math/rand/v2"
	"testing"

	"github.com/boxsum/boxsum"
	"github.com/boxsum/boxsum/internal/raster"
	"github.com/boxsum/boxsum/internal/ref"
	"github.com/boxsum/boxsum/internal/window"
	"github.com/boxsum/boxsum/quality"
	"github.com/boxsum/boxsum/volume"
)

// definition holds what the scores of a window are computed from, pixel by pixel.
type definition struct {
	x, y, weights []float64
}

// windowAt returns the pixels that count in the window around a voxel.
func windowAt[P quality.Pixel](a, b volume.Volume[P], opt *quality.Options, radius int, border window.Border, x, y, z, ch int) (d definition) {
	deep := 0
	if a.Depth > 1 {
		deep = radius
	}
	for dz := -deep; dz <= deep; dz++ {
		for dy := -radius; dy <= radius; dy++ {
			for dx := -radius; dx <= radius; dx++ {
				k, j, i := border.Index(z+dz, a.Depth), border.Index(y+dy, a.Height), border.Index(x+dx, a.Width)
				p, q := 0.0, 0.0
				if i >= 0 && j >= 0 && k >= 0 {
					at := k*a.SliceStride + j*a.Stride + i*a.Channels + ch
					p, q = float64(a.Pix[at]), float64(b.Pix[at])
					if !counts(opt, p, q, i, j) {
						continue
					}
				}
				weight := 1.0
				if s := opt.Sigma; s > 0 {
					weight = math.Exp(-0.5 * float64(dx*dx+dy*dy+dz*dz) / (s * s))
				}
				d.x, d.y, d.weights = append(d.x, p), append(d.y, q), append(d.weights, weight)
			}
		}
	}
	return d
}

func counts(opt *quality.Options, p, q float64, x, y int) bool {
	m := &opt.Valid.Mask
	return (m.Pix == nil || m.Row(y)[x] != 0) && (!opt.Valid.SkipNaN || p == p && q == q)
}

// moments returns the weighted means, variances and the covariance.
func (d *definition) moments() (x, y, xx, yy, xy float64) {
	sum := 0.0
	for i, w := range d.weights {
		x, y, sum = x+w*d.x[i], y+w*d.y[i], sum+w
	}
	x, y = x/sum, y/sum
	for i, w := range d.weights {
		p, q := d.x[i]-x, d.y[i]-y
		xx, yy, xy = xx+w*p*p/sum, yy+w*q*q/sum, xy+w*p*q/sum
	}
	return x, y, xx, yy, xy
}

func (d *definition) ssim(opt *quality.Options, span float64, nominal int) float64 {
	x, y, xx, yy, xy := d.moments()
	n := float64(len(d.x))
	if opt.Sigma > 0 {
		n = float64(nominal)
	}
	c1, c2 := math.Pow(0.01*span, 2), math.Pow(0.03*span, 2)
	if !opt.Population {
		f := n / (n - 1)
		xx, yy, xy = xx*f, yy*f, xy*f
	}
	return (2*x*y + c1) * (2*xy + c2) / ((x*x + y*y + c1) * (xx + yy + c2))
}

func (d *definition) lncc(signed bool) float64 {
	_, _, xx, yy, xy := d.moments()
	n := float64(len(d.x))
	a, b, c := max(xx*n, 1e-5), max(yy*n, 1e-5), xy*n
	if signed {
		return c / math.Sqrt(a*b)
	}
	c = max(c, 1e-5)
	return c / a * (c / b)
}

// TestDefinition compares maps and means of images and volumes with the definition, also where only some pixels count.
func TestDefinition(t *testing.T) {
	ref.SkipRace(t)
	t.Run("uint8", testDefinition[uint8])
	t.Run("uint16", testDefinition[uint16])
	t.Run("float32", testDefinition[float32])
	t.Run("float64", testDefinition[float64])
}

func testDefinition[P quality.Pixel](t *testing.T) {
	rng := rand.New(rand.NewPCG(ref.Seed(t, 41), 2))
	kind := raster.TypeOf[P]()
	for i := range ref.Trials(t, 24) {
		opt := &quality.Options{Workers: 1 + rng.IntN(3), Population: rng.IntN(2) == 0, Signed: rng.IntN(2) == 0, DataRange: 255}
		correlates := i%2 == 1
		size, border := 7, window.Reflect
		if correlates {
			size, border = 9, window.Constant
			opt.Population = true
		}
		if rng.IntN(2) == 0 {
			opt.Window = 3 + 2*rng.IntN(5)
			size = opt.Window
		}
		radius := size / 2
		if !correlates && rng.IntN(3) == 0 {
			opt.Window, opt.Sigma = 0, 0.4+rng.Float64()
			radius = int(3.5*opt.Sigma + 0.5)
			size = 2*radius + 1
		}
		least := size
		if correlates {
			least = 1 // LNCC takes windows larger than images
		}
		depth := 1
		if i%4 >= 2 && kind.Float() || i%8 == 2 {
			depth = least + rng.IntN(4)
		}
		a, b := pair[P](rng, least+rng.IntN(12), least+rng.IntN(9), depth, 1+rng.IntN(2))
		if rng.IntN(3) == 0 && depth == 1 {
			opt.Valid.Mask, _ = boxsum.NewImage[uint8](a.Width, a.Height, 1)
			for k := range opt.Valid.Mask.Pix {
				opt.Valid.Mask.Pix[k] = uint8(rng.IntN(2))
			}
		}
		if kind.Float() && rng.IntN(2) == 0 {
			opt.Valid.SkipNaN = true
			for range len(a.Pix) / 20 {
				a.Pix[rng.IntN(len(a.Pix))], b.Pix[rng.IntN(len(b.Pix))] = P(math.NaN()), P(math.NaN())
			}
		}
		m, _ := volume.New[float64](a.Width, a.Height, a.Depth, a.Channels)
		var mean float64
		var err error
		switch {
		case depth > 1 && correlates:
			mean, err = quality.VolumeLNCCInto(m, a, b, opt)
		case depth > 1:
			mean, err = quality.VolumeSSIMInto(m, a, b, opt)
		case correlates:
			mean, err = quality.LNCCInto(plane(m), plane(a), plane(b), opt)
		default:
			mean, err = quality.SSIMInto(plane(m), plane(a), plane(b), opt)
		}
		name := fmt.Sprintf("%d: %d×%d×%d×%d, window %d, %+v", i, a.Width, a.Height, a.Depth, a.Channels, size, *opt)
		if err != nil {
			t.Fatal(name, err)
		}
		nominal := size * size
		if depth > 1 {
			nominal *= size
		}
		masked := opt.Valid.Mask.Pix != nil || opt.Valid.SkipNaN
		total := 0.0
		for ch := range a.Channels {
			sum, count := 0.0, 0.0
			for z := range a.Depth {
				for y := range a.Height {
					for x := range a.Width {
						d := windowAt(a, b, opt, radius, border, x, y, z, ch)
						want := d.lncc(opt.Signed)
						if !correlates {
							want = d.ssim(opt, opt.DataRange, nominal)
						}
						got := m.Pix[((z*a.Height+y)*a.Width+x)*a.Channels+ch]
						n := len(d.x)
						if n == 0 || n == 1 && !correlates && !opt.Population && opt.Sigma == 0 {
							if got == got {
								t.Fatalf("%s: %v at %d,%d,%d,%d, want NaN", name, got, x, y, z, ch)
							}
							continue
						}
						if !(math.Abs(got-want) <= 1e-9) && !(correlates && math.Abs(want) > 1 && math.Abs(got-want) <= 1e-9*want) {
							t.Fatalf("%s: %v at %d,%d,%d,%d, want %v", name, got, x, y, z, ch, want)
						}
						at := z*a.SliceStride + y*a.Stride + x*a.Channels + ch
						inside := true
						if !correlates {
							r := size / 2
							inside = x >= r && y >= r && x < a.Width-r && y < a.Height-r && (depth == 1 || z >= r && z < a.Depth-r)
						}
						if inside && (!masked || counts(opt, float64(a.Pix[at]), float64(b.Pix[at]), x, y)) {
							sum, count = sum+got, count+1
						}
					}
				}
			}
			total += sum / count / float64(a.Channels)
		}
		if !(math.Abs(mean-total) <= 1e-12*max(1, math.Abs(total))) && !(mean != mean && total != total) {
			t.Fatalf("%s: mean %v, want %v", name, mean, total)
		}
	}
}

// TestMultiScale compares MS-SSIM with its definition.
func TestMultiScale(t *testing.T) {
	ref.SkipRace(t)
	rng := rand.New(rand.NewPCG(41, 3))
	for i, size := range [][2]int{{161, 170}, {176, 176}, {203, 161}} {
		v, w := pair[uint8](rng, size[0], size[1], 1, 1+i%2)
		a, b := plane(v), plane(w)
		got, err := quality.MSSSIM(a, b, nil)
		if err != nil {
			t.Fatal(err)
		}
		want := 0.0
		for ch := range a.Channels {
			x, y := channelOf(a, ch), channelOf(b, ch)
			product := 1.0
			for level, weight := range []float64{0.0448, 0.2856, 0.3001, 0.2363, 0.1333} {
				scores, contrasts := similarity(x, y)
				if level == 4 {
					contrasts = scores
				}
				product *= math.Pow(max(contrasts, 0), weight)
				x, y = half(x), half(y)
			}
			want += product / float64(a.Channels)
		}
		if !(math.Abs(got-want) <= 1e-12) {
			t.Errorf("%v: %v, want %v", size, got, want)
		}
	}
}

func channelOf(img boxsum.Image[uint8], ch int) (rows [][]float64) {
	for y := range img.Height {
		row := make([]float64, img.Width)
		for x := range row {
			row[x] = float64(img.Row(y)[x*img.Channels+ch])
		}
		rows = append(rows, row)
	}
	return rows
}

// similarity returns the mean of SSIM and of its second factor, with Gaussian windows inside the image.
func similarity(a, b [][]float64) (scores, contrasts float64) {
	var w [11]float64
	sum := 0.0
	for k := range w {
		w[k] = math.Exp(-float64((k-5)*(k-5)) / (2 * 1.5 * 1.5))
		sum += w[k]
	}
	n := 0.0
	c1, c2 := 2.55*2.55, 7.65*7.65
	for y := range len(a) - 10 {
		for x := range len(a[0]) - 10 {
			var d definition
			for j := range w {
				for i := range w {
					d.x, d.y, d.weights = append(d.x, a[y+j][x+i]), append(d.y, b[y+j][x+i]), append(d.weights, w[i]*w[j]/sum/sum)
				}
			}
			u, v, uu, vv, uv := d.moments()
			contrast := (2*uv + c2) / (uu + vv + c2)
			scores += (2*u*v + c1) / (u*u + v*v + c1) * contrast
			contrasts += contrast
			n++
		}
	}
	return scores / n, contrasts / n
}

func half(a [][]float64) (rows [][]float64) {
	for y := 0; y < len(a); y += 2 {
		row, next := a[y], a[min(y+1, len(a)-1)]
		var to []float64
		for x := 0; x < len(row); x += 2 {
			right := min(x+1, len(row)-1)
			to = append(to, (row[x]+row[right]+next[x]+next[right])/4)
		}
		rows = append(rows, to)
	}
	return rows
}

// TestOffset tests floats whose values differ by little from a large constant.
func TestOffset(t *testing.T) {
	rng := rand.New(rand.NewPCG(41, 4))
	a, _ := boxsum.NewImage[float64](80, 60, 1)
	b, _ := boxsum.NewImage[float64](80, 60, 1)
	for i := range a.Pix {
		a.Pix[i] = float64(rng.IntN(256)) / 256
		b.Pix[i] = a.Pix[i] + float64(rng.IntN(64))/256
	}
	for _, offset := range []float64{0, 10, 1e6} {
		p, _ := boxsum.NewImage[float64](80, 60, 1)
		q, _ := boxsum.NewImage[float64](80, 60, 1)
		for i := range a.Pix {
			p.Pix[i], q.Pix[i] = a.Pix[i]+offset, b.Pix[i]+offset
		}
		for _, sigma := range []float64{0, 1.5} {
			opt := &quality.Options{Sigma: sigma, DataRange: 1, K1: 1e-9}
			m, _, err := quality.SSIMMap[float64](p, q, opt)
			if err != nil {
				t.Fatal(err)
			}
			radius := 3
			if sigma > 0 {
				radius = 5
			}
			for i := 0; i < len(m.Pix); i += 7 {
				d := windowAt(volumeOf(p), volumeOf(q), opt, radius, window.Reflect, i%80, i/80, 0, 0)
				x, y, xx, yy, xy := d.moments()
				n := float64((2*radius + 1) * (2*radius + 1))
				f := n / (n - 1)
				want := (2*x*y + 1e-18) * (2*xy*f + 9e-4) / ((x*x + y*y + 1e-18) * (xx*f + yy*f + 9e-4))
				if !(math.Abs(m.Pix[i]-want) <= 1e-9) {
					t.Fatalf("offset %v, sigma %v: %v at %d, want %v", offset, sigma, m.Pix[i], i, want)
				}
			}
		}
		for _, signed := range []bool{false, true} {
			s, err := quality.LNCC(part(p), part(q), &quality.Options{Window: 5, Signed: signed})
			if err != nil {
				t.Fatal(err)
			}
			if s < 0 || s > 1.0000001 {
				t.Errorf("offset %v: LNCC %v", offset, s)
			}
		}
	}
}

func volumeOf[P quality.Pixel](img boxsum.Image[P]) volume.Volume[P] {
	return volume.Volume[P]{Pix: img.Pix, Width: img.Width, Height: img.Height, Depth: 1, Channels: img.Channels, Stride: img.Stride, SliceStride: len(img.Pix)}
}

// part returns an image without its edge, in the same memory.
func part[P quality.Pixel](img boxsum.Image[P]) boxsum.Image[P] {
	img.Pix, img.Width, img.Height = img.Pix[img.Stride+img.Channels:], img.Width-2, img.Height-2
	return img
}

// TestSame tests that results have the same bits at every level and with any number of workers, and that nothing is
// written between the rows of a map.
func TestSame(t *testing.T) {
	t.Run("uint8", testSame[uint8])
	t.Run("uint16", testSame[uint16])
	t.Run("float32", testSame[float32])
}

func testSame[P quality.Pixel](t *testing.T) {
	rng := rand.New(rand.NewPCG(41, 5))
	v, w := pair[P](rng, 207, 391, 1, 2)
	a, b := plane(v), plane(w)
	for _, opt := range []quality.Options{{DataRange: 255}, {Sigma: 1.5, DataRange: 255}, {Window: 21, DataRange: 255}} {
		for _, correlates := range []bool{false, true} {
			var want []float32
			var wantMean float64
			for _, level := range boxsum.Levels() {
				for _, workers := range []int{1, 2, 5} {
					opt.Level, opt.Workers = level, workers
					m := boxsum.Image[float32]{Pix: make([]float32, 417*391), Width: 207, Height: 391, Channels: 2, Stride: 417}
					for i := range m.Pix {
						m.Pix[i] = 77
					}
					var mean float64
					var err error
					if correlates {
						if opt.Sigma > 0 {
							continue
						}
						mean, err = quality.LNCCInto(m, a, b, &opt)
					} else {
						mean, err = quality.SSIMInto(m, a, b, &opt)
					}
					if err != nil {
						t.Fatal(err)
					}
					if want == nil {
						want, wantMean = m.Pix, mean
					}
					if mean != wantMean {
						t.Fatalf("level %v with %d workers: %v, want %v", level, workers, mean, wantMean)
					}
					for i, got := range m.Pix {
						if i%417 >= 414 && got != 77 {
							t.Fatal("wrote between rows")
						}
						if got != want[i] {
							t.Fatalf("level %v with %d workers: %v at %d, want %v", level, workers, got, i, want[i])
						}
					}
				}
			}
		}
	}
}

// TestMasked tests that MSE counts valid pixels only.
func TestMasked(t *testing.T) {
	a := boxsum.Image[uint8]{Pix: []uint8{0, 10, 20, 30}, Width: 2, Height: 2}
	b := boxsum.Image[uint8]{Pix: []uint8{0, 13, 24, 0}, Width: 2, Height: 2}
	mask := boxsum.Image[uint8]{Pix: []uint8{0, 1, 1, 0}, Width: 2, Height: 2}
	got, err := quality.MSE(a, b, &quality.Options{Valid: boxsum.Valid{Mask: mask}})
	if err != nil || got != 12.5 {
		t.Errorf("%v, %v, want 12.5", got, err)
	}
	clear(mask.Pix)
	if got, err = quality.MSE(a, b, &quality.Options{Valid: boxsum.Valid{Mask: mask}}); err != nil || got == got {
		t.Errorf("%v, %v, want NaN", got, err)
	}
	nan := float32(math.NaN())
	p := boxsum.Image[float32]{Pix: []float32{nan, 1, 2, 3}, Width: 4, Height: 1}
	q := boxsum.Image[float32]{Pix: []float32{0, 1, 4, nan}, Width: 4, Height: 1}
	if got, err = quality.MSE(p, q, &quality.Options{Valid: boxsum.Valid{SkipNaN: true}}); err != nil || got != 2 {
		t.Errorf("%v, %v, want 2", got, err)
	}
	if got, err = quality.PSNR(a, a, nil); err != nil || !math.IsInf(got, 1) {
		t.Errorf("%v, %v, want +Inf", got, err)
	}
}

// TestErrors tests damaged and absurd arguments.
func TestErrors(t *testing.T) {
	img, _ := boxsum.NewImage[uint8](20, 10, 1)
	float, _ := boxsum.NewImage[float32](20, 10, 1)
	same, _ := boxsum.NewImage[float32](20, 10, 1)
	ssim := func(a, b boxsum.Image[uint8], opt *quality.Options) error {
		_, err := quality.SSIM(a, b, opt)
		return err
	}
	ctx, cancel := context.WithCancel(context.Background())
	cancel()
	small := part(img)
	_, noRange := quality.SSIM(float, float, nil)
	_, noRangePSNR := quality.PSNR(float, float, nil)
	_, overlap := quality.SSIMInto(float, float, same, &quality.Options{DataRange: 1})
	_, size := quality.SSIMInto(part(float), img, img, nil)
	_, scales := quality.MSSSIM(img, img, nil)
	_, scaled := quality.MSSSIM(img, img, &quality.Options{Sigma: 2})
	_, mse := quality.MSE(img, small, nil)
	_, stopped := quality.MSE(img, img, &quality.Options{Context: ctx})
	solid := volume.Volume[uint8]{Pix: img.Pix, Width: 5, Height: 5, Depth: 8}
	_, flat := quality.VolumeSSIM(solid, solid, nil)
	_, mask := quality.VolumeSSIM(solid, solid, &quality.Options{Valid: boxsum.Valid{Mask: img}})
	for name, c := range map[string]struct{ err, want error }{
		"sizes":         {ssim(img, small, nil), boxsum.ErrInvalid},
		"large window":  {ssim(img, img, &quality.Options{Window: 11}), boxsum.ErrInvalid},
		"even window":   {ssim(img, img, &quality.Options{Window: 4}), boxsum.ErrInvalid},
		"single pixel":  {ssim(img, img, &quality.Options{Window: 1}), boxsum.ErrInvalid},
		"negative":      {ssim(img, img, &quality.Options{Window: -3}), boxsum.ErrInvalid},
		"huge":          {ssim(img, img, &quality.Options{Window: math.MaxInt}), boxsum.ErrInvalid},
		"sigma":         {ssim(img, img, &quality.Options{Sigma: math.NaN()}), boxsum.ErrInvalid},
		"large sigma":   {ssim(img, img, &quality.Options{Sigma: 3}), boxsum.ErrInvalid},
		"both":          {ssim(img, img, &quality.Options{Sigma: 1, Window: 3}), boxsum.ErrInvalid},
		"range":         {ssim(img, img, &quality.Options{DataRange: -1}), boxsum.ErrInvalid},
		"infinite":      {ssim(img, img, &quality.Options{DataRange: math.Inf(1)}), boxsum.ErrInvalid},
		"K1":            {ssim(img, img, &quality.Options{K1: -1}), boxsum.ErrInvalid},
		"workers":       {ssim(img, img, &quality.Options{Workers: -1}), boxsum.ErrInvalid},
		"empty":         {ssim(boxsum.Image[uint8]{}, boxsum.Image[uint8]{}, nil), boxsum.ErrInvalid},
		"short":         {ssim(boxsum.Image[uint8]{Width: 9, Height: 9}, img, nil), boxsum.ErrInvalid},
		"mask":          {ssim(img, img, &quality.Options{Valid: boxsum.Valid{Mask: small}}), boxsum.ErrInvalid},
		"no range":      {noRange, boxsum.ErrInvalid},
		"no range PSNR": {noRangePSNR, boxsum.ErrInvalid},
		"overlap":       {overlap, boxsum.ErrOverlap},
		"map":           {size, boxsum.ErrInvalid},
		"scales":        {scales, boxsum.ErrInvalid},
		"scaled":        {scaled, boxsum.ErrInvalid},
		"MSE":           {mse, boxsum.ErrInvalid},
		"context":       {ssim(img, img, &quality.Options{Context: ctx}), context.Canceled},
		"MSE context":   {stopped, context.Canceled},
		"volume":        {flat, boxsum.ErrInvalid},
		"volume mask":   {mask, boxsum.ErrInvalid},
	} {
		if !errors.Is(c.err, c.want) {
			t.Errorf("%s: %v, want %v", name, c.err, c.want)
		}
	}
}

func BenchmarkSSIM(b *testing.B) {
	rng := rand.New(rand.NewPCG(1, 1))
	v, w := pair[uint8](rng, 1920, 1080, 1, 1)
	for name, opt := range map[string]quality.Options{"7": {}, "gaussian": {Sigma: 1.5}} {
		b.Run(name, func(b *testing.B) {
			opt.Workers = 1
			b.SetBytes(1920 * 1080)
			for b.Loop() {
				if _, err := quality.SSIM(plane(v), plane(w), &opt); err != nil {
					b.Fatal(err)
				}
			}
		})
	}
}

// TestPixelWindows tests windows of one pixel, in which the largest squares fit in 32 bits, but their sums and products don't.
func TestPixelWindows(t *testing.T) {
	rng := rand.New(rand.NewPCG(7, 4))
	const w, h = 70, 9
	a := boxsum.Image[uint16]{Pix: make([]uint16, w*h), Width: w, Height: h}
	b := boxsum.Image[uint16]{Pix: make([]uint16, w*h), Width: w, Height: h}
	for i := range a.Pix {
		a.Pix[i] = uint16(rng.Uint32())
		b.Pix[i] = a.Pix[i] ^ uint16(rng.UintN(8))
	}
	a.Pix[1], b.Pix[1] = math.MaxUint16, math.MaxUint16-1
	for _, level := range boxsum.Levels() {
		scores, _, err := quality.SSIMMap[float64](a, b, &quality.Options{Window: 1, Population: true, Level: level})
		if err != nil {
			t.Fatal(err)
		}
		for y := range h {
			p, q := a.Row(y), b.Row(y)
			for x, got := range scores.Row(y) {
				d := float64(p[x]) - float64(q[x])
				want := 1 - d*d/(float64(p[x])*float64(p[x])+float64(q[x])*float64(q[x])+655.35*655.35)
				if math.Abs(got-want) > 1e-12 {
					t.Fatalf("%v: %d and %d have the score %v, want %v", level, p[x], q[x], got, want)
				}
			}
		}
	}
}
