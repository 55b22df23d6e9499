package main

import (
	"image"
	"math/rand/v2"

	"github.com/boxsum/boxsum"
	"github.com/boxsum/boxsum/boxlets"
	"github.com/boxsum/boxsum/denoise"
	"github.com/boxsum/boxsum/enhance"
	"github.com/boxsum/boxsum/filter"
	"github.com/boxsum/boxsum/match"
	"github.com/boxsum/boxsum/quality"
	"github.com/boxsum/boxsum/rank"
	"github.com/boxsum/boxsum/threshold"
)

// rows is the table. To add a row, write what this library does and what the peer does.
var rows = []row{
	{name: "box mean u8, k = 3", floor: 1.5, ours: box(3), peer: "cv2.blur", does: "cv2.blur(a, (3, 3), dst=out)"},
	{name: "box mean u8, k = 9", floor: 1.8, ours: box(9), peer: "cv2.blur", does: "cv2.blur(a, (9, 9), dst=out)"},
	{name: "box mean u8, k = 15", floor: 1.8, ours: box(15), peer: "cv2.blur", does: "cv2.blur(a, (15, 15), dst=out)"},
	{name: "box mean u8, k = 31", floor: 1.8, ours: box(31), peer: "cv2.blur", does: "cv2.blur(a, (31, 31), dst=out)"},
	{name: "box mean u8, k = 63", floor: 1.8, ours: box(63), peer: "cv2.blur", does: "cv2.blur(a, (63, 63), dst=out)"},
	{name: "box mean u8, k = 127", floor: 1.8, ours: box(127), peer: "cv2.blur", does: "cv2.blur(a, (127, 127), dst=out)"},
	{name: "box mean u8, k = 255", floor: 1.8, ours: box(255), peer: "cv2.blur", does: "cv2.blur(a, (255, 255), dst=out)"},
	{name: "box mean u8×3, k = 15", ours: func(im *images, o how) error {
		return filter.BoxInto(im.outRGB, im.rgb, filter.Square(15), o.filter())
	}, peer: "cv2.blur", does: "cv2.blur(rgb, (15, 15), dst=out_rgb)"},
	{name: "Sauvola", floor: 5, ours: binarize(threshold.Sauvola), peer: "doxapy", at: inDoxa, does: `doxa("SAUVOLA", window=25)`},
	{name: "Niblack", floor: 5, ours: binarize(threshold.Niblack), peer: "doxapy", at: inDoxa, does: `doxa("NIBLACK", window=25)`},
	{name: "Wolf", floor: 5, ours: binarize(threshold.Wolf), peer: "doxapy", at: inDoxa, does: `doxa("WOLF", window=25)`},
	{name: "NICK", floor: 5, ours: binarize(threshold.NICK), peer: "doxapy", at: inDoxa, does: `doxa("NICK", window=25)`},
	{name: "TRSingh", floor: 5, ours: binarize(threshold.TRSingh), peer: "doxapy", at: inDoxa, does: `doxa("TRSINGH", window=25)`},
	{name: "Phansalkar", floor: 5, ours: binarize(threshold.Phansalkar), peer: "doxapy", at: inDoxa, does: `doxa("PHANSALKAR", window=25)`},
	{name: "Bradley", floor: 3, ours: binarize(threshold.Bradley), peer: "doxapy", at: inDoxa, does: `doxa("BRADLEY", window=25)`},
	{name: "mean-C, k = 31", floor: 3, ours: func(im *images, o how) error {
		return threshold.BinarizeInto(im.out, im.page, threshold.New(threshold.MeanC, 31), o.threshold())
	}, peer: "cv2.adaptiveThreshold", does: "cv2.adaptiveThreshold(page, 255, cv2.ADAPTIVE_THRESH_MEAN_C, cv2.THRESH_BINARY, 31, 10, dst=out)"},
	{name: "ISauvola", floor: 3, ours: binarize(threshold.ISauvola), peer: "doxapy", at: inDoxa, does: `doxa("ISAUVOLA", window=25)`},
	{name: "Su", floor: 3, ours: binarize(threshold.Su), peer: "doxapy", at: inDoxa, does: `doxa("SU", window=25)`},
	{name: "Otsu", ours: binarize(threshold.Otsu), peer: "doxapy", at: inDoxa, does: `doxa("OTSU")`},
	{name: "Sauvola's map, f64", floor: 20, ours: func(im *images, o how) error {
		r := threshold.New(threshold.Sauvola, 25)
		r.Border, r.R = filter.Reflect101, 127.5
		return threshold.MapInto(im.thresholds(), im.page, r, o.threshold())
	}, peer: "skimage", does: "filters.threshold_sauvola(page, 25)"},
	{name: "local mean + std to f32, k = 15", floor: 3, ours: func(im *images, o how) error {
		return filter.MeanStdDevInto(im.out32, im.other32, im.a, filter.Square(15), o.filter())
	}, peer: "cv2 boxFilter + sqrBoxFilter", does: "stats(15)"},
	{name: "box f32, k = 15", floor: 1.5, ours: func(im *images, o how) error {
		return filter.BoxInto(im.out32, im.a32, filter.Square(15), o.filter())
	}, peer: "cv2.blur", does: "cv2.blur(a32, (15, 15), dst=out32)"},
	{name: "box u16, k = 15", floor: 8, ours: func(im *images, o how) error {
		return filter.BoxInto(im.out16, im.a16, filter.Square(15), o.filter())
	}, peer: "scipy uniform_filter", does: "ndimage.uniform_filter(a16, 15, output=out16)"},
	{name: "Gaussian σ 20", floor: 2, ours: gaussian(3), peer: "cv2.stackBlur", does: "cv2.stackBlur(a, (63, 63), dst=out)"},
	{name: "Gaussian σ 20", floor: 3, ours: gaussian(3), peer: "libvips", does: "vips.gaussblur(20).write_to_memory()", again: true},
	{name: "Gaussian σ 20", floor: 10, ours: gaussian(3), peer: "Pillow", does: "pil.filter(ImageFilter.GaussianBlur(20))", again: true},
	{name: "Gaussian σ 20, 4 boxes", ours: gaussian(4), peer: "cv2.GaussianBlur", does: "cv2.GaussianBlur(a, (0, 0), 20, dst=out)"},
	{name: "Gaussian u8, σ 0.5", floor: 1, ours: narrow(0.5), peer: "cv2.GaussianBlur", does: "cv2.GaussianBlur(a, (0, 0), 0.5, dst=out)"},
	{name: "Gaussian u8, σ 1", floor: 1, ours: narrow(1), peer: "cv2.GaussianBlur", does: "cv2.GaussianBlur(a, (0, 0), 1, dst=out)"},
	{name: "Gaussian u8, σ 1.5", floor: 1, ours: narrow(1.5), peer: "cv2.GaussianBlur", does: "cv2.GaussianBlur(a, (0, 0), 1.5, dst=out)"},
	{name: "Gaussian u8, σ 2", floor: 1, ours: narrow(2), peer: "cv2.GaussianBlur", does: "cv2.GaussianBlur(a, (0, 0), 2, dst=out)"},
	{name: "Gaussian u8, σ 5", floor: 1, ours: narrow(5), peer: "cv2.GaussianBlur", does: "cv2.GaussianBlur(a, (0, 0), 5, dst=out)"},
	{name: "Gaussian u16, σ 1", floor: 1, ours: func(im *images, o how) error {
		return filter.GaussianInto(im.out16, im.a16, filter.Sigma{X: 1, Y: 1}, o.filter())
	}, peer: "cv2.GaussianBlur", does: "cv2.GaussianBlur(a16, (0, 0), 1, dst=out16)"},
	{name: "Gaussian u16, σ 5", floor: 1, ours: func(im *images, o how) error {
		return filter.GaussianInto(im.out16, im.a16, filter.Sigma{X: 5, Y: 5}, o.filter())
	}, peer: "cv2.GaussianBlur", does: "cv2.GaussianBlur(a16, (0, 0), 5, dst=out16)"},
	{name: "Gaussian f32, σ 1", floor: 1, ours: func(im *images, o how) error {
		return filter.GaussianInto(im.out32, im.a32, filter.Sigma{X: 1, Y: 1}, o.filter())
	}, peer: "cv2.GaussianBlur", does: "cv2.GaussianBlur(a32, (0, 0), 1, dst=out32)"},
	{name: "Gaussian f32, σ 5", floor: 1, ours: func(im *images, o how) error {
		return filter.GaussianInto(im.out32, im.a32, filter.Sigma{X: 5, Y: 5}, o.filter())
	}, peer: "cv2.GaussianBlur", does: "cv2.GaussianBlur(a32, (0, 0), 5, dst=out32)"},
	{name: "guided, gray, r 16", floor: 4, ours: func(im *images, o how) error {
		return filter.GuidedInto(im.out, im.b, im.a, filter.Radius(16), 100, o.filter())
	}, peer: "cv2.ximgproc", does: "cv2.ximgproc.guidedFilter(a, b, 16, 100, out)"},
	{name: "guided by itself, r 16", floor: 4, ours: func(im *images, o how) error {
		return filter.GuidedInto(im.out, im.a, im.a, filter.Radius(16), 100, o.filter())
	}, peer: "cv2.ximgproc", does: "cv2.ximgproc.guidedFilter(a, a, 16, 100, out)"},
	{name: "median u8, 3×3", floor: 1, ours: median(3), peer: "cv2.medianBlur", does: "cv2.medianBlur(a, 3, dst=out)"},
	{name: "median u8, 5×5", floor: 1, ours: median(5), peer: "cv2.medianBlur", does: "cv2.medianBlur(a, 5, dst=out)"},
	{name: "median u8, 7×7", floor: 1, ours: median(7), peer: "cv2.medianBlur", does: "cv2.medianBlur(a, 7, dst=out)"},
	{name: "median u8, 15×15", floor: 1, ours: median(15), peer: "cv2.medianBlur", does: "cv2.medianBlur(a, 15, dst=out)"},
	{name: "median u8, 31×31", floor: 1, ours: median(31), peer: "cv2.medianBlur", does: "cv2.medianBlur(a, 31, dst=out)"},
	{name: "median u8, 51×51", floor: 1, ours: median(51), peer: "cv2.medianBlur", does: "cv2.medianBlur(a, 51, dst=out)"},
	{name: "median u16, 3×3", floor: 1, ours: median16(3), peer: "cv2.medianBlur", does: "cv2.medianBlur(a16, 3, dst=out16)"},
	{name: "median u16, 5×5", floor: 1, ours: median16(5), peer: "cv2.medianBlur", does: "cv2.medianBlur(a16, 5, dst=out16)"},
	{name: "median u16, 9×9", floor: 1, ours: median16(9), peer: "scipy median_filter", does: "ndimage.median_filter(a16, 9, output=out16)", small: true},
	{name: "median f32, 3×3", floor: 1, ours: median32(3), peer: "cv2.medianBlur", does: "cv2.medianBlur(a32, 3, dst=out32)"},
	{name: "median f32, 5×5", floor: 1, ours: median32(5), peer: "cv2.medianBlur", does: "cv2.medianBlur(a32, 5, dst=out32)"},
	{name: "median f32, 7×7", floor: 1, ours: median32(7), peer: "scipy median_filter", does: "ndimage.median_filter(a32, 7, output=out32)", small: true},
	{name: "median f32, 31×31", floor: 1, ours: median32(31), peer: "scipy median_filter", does: "ndimage.median_filter(a32, 31, output=out32)", small: true},
	{name: "median f64, 3×3", floor: 1, ours: func(im *images, o how) error {
		return filter.MedianInto(im.thresholds(), im.doubles(), filter.Square(3), o.filter())
	}, peer: "scipy median_filter", does: "ndimage.median_filter(a64, 3, output=out64)", small: true},
	{name: "downsample u8, 2×2", ours: func(im *images, o how) error {
		return filter.DownsampleInto(im.half, im.a, 2, 2, o.filter())
	}, peer: "cv2.resize", does: "cv2.resize(a, (w // 2, h // 2), interpolation=cv2.INTER_AREA)"},
	{name: "ZNCC, template 32×32", floor: 2, least: 128, ours: zncc(32), peer: "cv2.matchTemplate", does: "cv2.matchTemplate(a, template32, cv2.TM_CCOEFF_NORMED)"},
	{name: "ZNCC, template 128×128", floor: 1, least: 256, ours: zncc(128), peer: "cv2.matchTemplate", does: "cv2.matchTemplate(a, template128, cv2.TM_CCOEFF_NORMED)"},
	{name: "rank mean, 15×15", floor: 100, ours: ranked(rank.Mean, 15), peer: "skimage", does: "rank.mean(page, square(15))", small: true},
	{name: "rank sum, 15×15", floor: 100, ours: ranked(rank.Sum, 15), peer: "skimage", does: "rank.sum(page, square(15))", small: true},
	{name: "rank threshold, 15×15", floor: 100, ours: ranked(rank.Threshold, 15), peer: "skimage", does: "rank.threshold(page, square(15))", small: true},
	{name: "rank minimum, 15×15", floor: 100, ours: ranked(rank.Minimum, 15), peer: "skimage", does: "rank.minimum(page, square(15))", small: true},
	{name: "rank gradient, 15×15", floor: 100, ours: ranked(rank.Gradient, 15), peer: "skimage", does: "rank.gradient(page, square(15))", small: true},
	{name: "rank autolevel, 15×15", ours: ranked(rank.Autolevel, 15), peer: "skimage", does: "rank.autolevel(page, square(15))", small: true},
	{name: "rank equalize, 15×15", floor: 25, ours: ranked(rank.Equalize, 15), peer: "skimage", does: "rank.equalize(page, square(15))", small: true},
	{name: "rank equalize, 63×63", floor: 25, ours: ranked(rank.Equalize, 63), peer: "skimage", does: "rank.equalize(page, square(63))", small: true},
	{name: "rank majority, 15×15", floor: 15, ours: ranked(rank.Majority, 15), peer: "skimage", does: "rank.majority(page, square(15))", small: true},
	{name: "rank Otsu, 15×15", floor: 8, ours: ranked(rank.Otsu, 15), peer: "skimage", does: "rank.otsu(page, square(15))", small: true},
	{name: "rank percentile, 15×15", ours: ranked(rank.Percentile, 15), peer: "skimage", does: "rank.percentile(page, square(15), p0=0.3)", small: true},
	{name: "rank bilateral mean, 15×15", ours: ranked(rank.BilateralMean, 15), peer: "skimage", does: "rank.mean_bilateral(page, square(15), s0=10, s1=10)", small: true},
	{name: "non-local means u8, 7, 21", floor: 3, ours: func(im *images, o how) error {
		return denoise.NonLocalMeansInto(im.out, im.page, &denoise.Options{Strength: 10, Workers: o.workers, Level: o.level})
	}, peer: "cv2.fastNlMeansDenoising", does: "cv2.fastNlMeansDenoising(page, out, 10, 7, 21)", small: true},
	{name: "non-local means f64, 7, 23", floor: 5, ours: func(im *images, o how) error {
		return denoise.FloatNonLocalMeansInto(im.thresholds(), im.share(), &denoise.FloatOptions{Shifted: true, Workers: o.workers, Level: o.level})
	}, peer: "skimage", does: "restoration.denoise_nl_means(page / 255, h=0.1)", small: true},
	{name: "SSIM u8", floor: 30, ours: func(im *images, o how) error {
		_, err := quality.SSIM(im.a, im.b, o.quality())
		return err
	}, peer: "skimage", does: "metrics.structural_similarity(a, b)"},
	{name: "LNCC u8", ours: func(im *images, o how) error {
		_, err := quality.LNCC(im.a, im.b, o.quality())
		return err
	}, peer: "scipy uniform_filter", does: "lncc(a, b, 9)"},
	{name: "CLAHE u8", floor: 1.5, ours: func(im *images, o how) error {
		return enhance.CLAHEInto(im.out, im.page, &enhance.Options{Clip: 2, Workers: o.workers, Level: o.level})
	}, peer: "cv2.createCLAHE", does: "cv2.createCLAHE(2.0, (8, 8)).apply(page, out)"},
	{name: "determinant of Hessian, σ 3", floor: 6, ours: func(im *images, o how) error {
		return boxlets.HessianInto(im.out32, im.page, 3, &boxlets.Options{Workers: o.workers, Level: o.level})
	}, peer: "skimage", does: "feature.hessian_matrix_det(page, 3)"},

	// For Go libraries, both sides convert an *image.Gray or *image.RGBA to a new one.
	{name: "BoxImage gray, k = 15", floor: 300, ours: boxImage(gray), peer: "bild.Box", at: inGo, does: "gray bild.Box 7", small: true},
	{name: "BoxImage gray, k = 15", floor: 300, ours: boxImage(gray), peer: "gift.Mean", at: inGo, does: "gray gift.Mean 15", small: true},
	{name: "GaussianImage gray, σ 20", floor: 300, ours: gaussianImage(gray), peer: "bild.Gaussian", at: inGo, does: "gray bild.Gaussian 20", small: true},
	{name: "GaussianImage gray, σ 20", floor: 300, ours: gaussianImage(gray), peer: "gift.GaussianBlur", at: inGo, does: "gray gift.Gaussian 20", small: true},
	{name: "GaussianImage gray, σ 20", floor: 300, ours: gaussianImage(gray), peer: "imaging.Blur", at: inGo, does: "gray imaging.Blur 20", small: true},
	{name: "BoxImage RGBA, k = 15", floor: 300, ours: boxImage(rgba), peer: "bild.Box", at: inGo, does: "bild.Box 7", small: true},
	{name: "BoxImage RGBA, k = 15", floor: 300, ours: boxImage(rgba), peer: "gift.Mean", at: inGo, does: "gift.Mean 15", small: true},
	{name: "GaussianImage RGBA, σ 20", floor: 300, ours: gaussianImage(rgba), peer: "bild.Gaussian", at: inGo, does: "bild.Gaussian 20", small: true},
	{name: "GaussianImage RGBA, σ 20", floor: 300, ours: gaussianImage(rgba), peer: "gift.GaussianBlur", at: inGo, does: "gift.Gaussian 20", small: true},
	{name: "GaussianImage RGBA, σ 20", floor: 300, ours: gaussianImage(rgba), peer: "imaging.Blur", at: inGo, does: "imaging.Blur 20", small: true},
}

func (o how) filter() *filter.Options {
	return &filter.Options{Workers: o.workers, Level: o.level}
}

func (o how) threshold() *threshold.Options {
	return &threshold.Options{Workers: o.workers, Level: o.level}
}

func (o how) quality() *quality.Options {
	return &quality.Options{Workers: o.workers, Level: o.level}
}

func ranked(s rank.Statistic, k int) func(*images, how) error {
	return func(im *images, o how) error {
		return rank.FilterInto(im.out, im.page, s, filter.Square(k), &rank.Options{Fraction: 0.3, Below: 10, Above: 10, Workers: o.workers, Level: o.level})
	}
}

func box(k int) func(*images, how) error {
	return func(im *images, o how) error {
		return filter.BoxInto(im.out, im.a, filter.Square(k), o.filter())
	}
}

func gaussian(passes int) func(*images, how) error {
	return func(im *images, o how) error {
		return filter.GaussianInto(im.out, im.a, filter.Sigma{X: 20, Y: 20, Passes: passes}, o.filter())
	}
}

// narrow computes Gaussians with the default method.
func narrow(sigma float64) func(*images, how) error {
	return func(im *images, o how) error {
		return filter.GaussianInto(im.out, im.a, filter.Sigma{X: sigma, Y: sigma}, o.filter())
	}
}

func median(k int) func(*images, how) error {
	return func(im *images, o how) error {
		return filter.MedianInto(im.out, im.a, filter.Square(k), o.filter())
	}
}

func median16(k int) func(*images, how) error {
	return func(im *images, o how) error {
		return filter.MedianInto(im.out16, im.a16, filter.Square(k), o.filter())
	}
}

func median32(k int) func(*images, how) error {
	return func(im *images, o how) error {
		return filter.MedianInto(im.out32, im.a32, filter.Square(k), o.filter())
	}
}

func binarize(m threshold.Method) func(*images, how) error {
	return func(im *images, o how) error {
		return threshold.BinarizeInto(im.out, im.page, threshold.New(m, 25), o.threshold())
	}
}

// zncc matches a template, the part of the image at (40, 40).
func zncc(size int) func(*images, how) error {
	return func(im *images, o how) error {
		template, scores := im.a, im.out32
		template.Pix = im.a.Pix[40*im.a.Width+40:]
		template.Stride, template.Width, template.Height = im.a.Width, size, size
		scores.Stride, scores.Width, scores.Height = im.a.Width, im.a.Width-size+1, im.a.Height-size+1
		return match.MatchInto(scores, im.a, template, match.ZNCC, &match.Options{Workers: o.workers, Level: o.level})
	}
}

func boxImage(of func(*images) image.Image) func(*images, how) error {
	return func(im *images, o how) error {
		_, err := filter.BoxImage(of(im), filter.Radius(7), o.filter())
		return err
	}
}

func gaussianImage(of func(*images) image.Image) func(*images, how) error {
	return func(im *images, o how) error {
		_, err := filter.GaussianImage(of(im), filter.Sigma{X: 20, Y: 20}, o.filter())
		return err
	}
}

func gray(im *images) image.Image {
	return &image.Gray{Pix: im.a.Pix, Stride: im.a.Stride, Rect: image.Rect(0, 0, im.a.Width, im.a.Height)}
}

// images holds the inputs and outputs of rows.
type images struct {
	a, b, page, out, half boxsum.Image[uint8]
	rgb, outRGB           boxsum.Image[uint8]
	a16, out16            boxsum.Image[uint16]
	a32, out32, other32   boxsum.Image[float32]

	// Allocated when needed.
	color      *image.RGBA
	a64, out64 boxsum.Image[float64]
	page64     boxsum.Image[float64]
}

func newImages(w, h int) *images {
	im := &images{
		a: pixels[uint8](w, h, 1), b: pixels[uint8](w, h, 1), out: pixels[uint8](w, h, 1), half: pixels[uint8](w/2, h/2, 1),
		rgb: pixels[uint8](w, h, 3), outRGB: pixels[uint8](w, h, 3), a16: pixels[uint16](w, h, 1), out16: pixels[uint16](w, h, 1),
		a32: pixels[float32](w, h, 1), out32: pixels[float32](w, h, 1), other32: pixels[float32](w, h, 1),
		page: drawPage(w, h),
	}
	for y := range h { // waves with noise
		for x := range w {
			v := uint8(uint32(x)*5/8 + uint32(y)*3/8 + (uint32(x)*2654435761+uint32(y)*40503)>>27)
			i := y*w + x
			im.a.Pix[i], im.b.Pix[(h-1-y)*w+x] = v, v
			im.rgb.Pix[3*i], im.rgb.Pix[3*i+1], im.rgb.Pix[3*i+2] = v, v, v
			im.a16.Pix[i], im.a32.Pix[i] = uint16(v)*257, float32(v)+float32(uint32(i)*2654435761)/(1<<32) // hardly any two floats are equal
		}
	}
	return im
}

// rgba returns the image a in the format of Go's libraries.
func rgba(im *images) image.Image {
	if im.color == nil {
		im.color = image.NewRGBA(image.Rect(0, 0, im.a.Width, im.a.Height))
		for i, v := range im.a.Pix {
			copy(im.color.Pix[4*i:], []uint8{v, v, v, 255})
		}
	}
	return im.color
}

func (im *images) thresholds() boxsum.Image[float64] {
	if im.out64.Pix == nil {
		im.out64 = pixels[float64](im.a.Width, im.a.Height, 1)
	}
	return im.out64
}

// doubles is a32 as float64.
func (im *images) doubles() boxsum.Image[float64] {
	if im.a64.Pix == nil {
		im.a64 = pixels[float64](im.a.Width, im.a.Height, 1)
		for i, v := range im.a32.Pix {
			im.a64.Pix[i] = float64(v)
		}
	}
	return im.a64
}

// share is the page from 0 to 1.
func (im *images) share() boxsum.Image[float64] {
	if im.page64.Pix == nil {
		im.page64 = pixels[float64](im.page.Width, im.page.Height, 1)
		for i, v := range im.page.Pix {
			im.page64.Pix[i] = float64(v) / 255
		}
	}
	return im.page64
}

// drawPage draws dark strokes on paper that is lit from one side, with noise.
func drawPage(w, h int) boxsum.Image[uint8] {
	img := pixels[uint8](w, h, 1)
	rng := rand.New(rand.NewPCG(1, 18))
	var noise [1 << 12]float32
	for i := range noise {
		noise[i] = float32(4 * rng.NormFloat64())
	}
	for y := range h {
		row, at := img.Row(y), rng.IntN(len(noise))
		down := 250 * (0.8 + 0.2*float32(y)/float32(h))
		for x := range row {
			v := down * (0.4 + 0.6*float32(x)/float32(w))
			if y%34 > 10 && y%34 < 26 && (x*7+y/34*131)%97 < 60 && (x/5+y/5*3)%3 == 0 {
				v *= 0.2
			}
			row[x] = uint8(max(0, min(255, v+noise[(x+at)%len(noise)])))
		}
	}
	return img
}

func pixels[P boxsum.Pixel](w, h, channels int) boxsum.Image[P] {
	return boxsum.Image[P]{Pix: make([]P, w*h*channels), Stride: w * channels, Width: w, Height: h, Channels: channels}
}
