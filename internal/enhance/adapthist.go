package enhance

import (
	"math"

	"github.com/boxsum/boxsum/internal/engine"
	"github.com/boxsum/boxsum/internal/raster"
	"github.com/boxsum/boxsum/internal/window"
)

// grays is the number of gray levels of scikit-image's equalize_adapthist.
const grays = 1 << 14

// An AdaptiveJob is CLAHE as in scikit-image's equalize_adapthist, whose tiles begin at the image's origin and overlap
// its far edges, for an image whose pixels have been scaled to 0 to 16383.
type AdaptiveJob struct {
	Src, Dst      raster.Array // uint16, one channel
	Width, Height int          // of a tile
	Clip          float64      // limit of a bin as a share of a tile's pixels; 0 or less for none
	Bins          int
	Options       engine.Options
}

// check validates the images and the numbers.
func (j *AdaptiveJob) check() error {
	if j.Src.Type != raster.U16 {
		return raster.Unsupported("pixels of %v, want uint16", j.Src.Type)
	}
	if err := j.Src.Check(); err != nil {
		return err
	}
	if err := checkResult(&j.Dst, &j.Src); err != nil {
		return err
	}
	const most = 1 << 20
	switch {
	case j.Src.Channels != 1:
		return raster.Invalid("image has %d channels, want 1", j.Src.Channels)
	case j.Width < 1 || j.Height < 1 || j.Width > most || j.Height > most:
		return raster.Invalid("tiles are %d×%d, want sides of 1 to %d", j.Width, j.Height, most)
	case j.Bins < 1 || j.Bins > most:
		return raster.Invalid("number of bins is %d, want 1 to %d", j.Bins, most)
	case math.IsNaN(j.Clip):
		return raster.Invalid("clip limit is %v, want a number", j.Clip)
	}
	return nil
}

// Run checks the job and equalizes the image.
func (j *AdaptiveJob) Run() error {
	set, err := j.Options.Check()
	if err != nil {
		return err
	}
	if err := set.ProcessorOnly("overlapping tiles as in scikit-image"); err != nil {
		return err
	}
	if err := j.check(); err != nil || j.Src.Width == 0 || j.Src.Height == 0 {
		return err
	}
	across, down := engine.DivUp(j.Src.Width, j.Width), engine.DivUp(j.Src.Height, j.Height)
	if float64(across)*float64(down)*float64(j.Bins) > 1<<32 {
		return raster.Invalid("%d×%d tiles of %d bins do not fit in memory (use fewer tiles or bins)", across, down, j.Bins)
	}
	maps, err := raster.Make[uint16](across * down * j.Bins)
	if err != nil {
		return err
	}
	workers := min(set.Workers(), 1+j.Src.Width*j.Src.Height/workerPixels)
	histograms := make([][]int, workers)
	for i := range histograms {
		histograms[i] = make([]int, j.Bins)
	}
	err = set.Quiet().Each(across*down, workers, func(worker, tile int) {
		h := histograms[worker]
		j.count(h, tile%across*j.Width, tile/across*j.Height)
		area := j.Width * j.Height
		most := area
		if j.Clip > 0 {
			most = int(min(max(float64(j.Clip*float64(area)), 1), float64(area)))
		}
		clip(h, most)
		scale, sum := float64(grays-1)/float64(area), 0
		for i, n := range h {
			sum += n
			maps[tile*j.Bins+i] = uint16(min(float64(float64(sum)*scale), grays-1))
		}
	})
	if err != nil {
		return err
	}
	return set.Each(engine.DivUp(j.Src.Height, bandRows), workers, func(_, band int) {
		for y := band * bandRows; y < min(j.Src.Height, (band+1)*bandRows); y++ {
			j.mapRow(maps, across, down, y)
		}
	})
}

// binSize returns the number of gray levels in a bin.
func (j *AdaptiveJob) binSize() uint16 { return uint16(1 + grays/j.Bins) }

// count counts the pixels of a tile, which is mirrored beyond the image.
func (j *AdaptiveJob) count(h []int, x0, y0 int) {
	clear(h)
	size := j.binSize()
	for y := y0; y < y0+j.Height; y++ {
		row := raster.Elems[uint16](j.Src.Span(0, window.Reflect101.Index(y, j.Src.Height), j.Src.Width))
		for x := x0; x < x0+j.Width; x++ {
			h[min(row[window.Reflect101.Index(x, j.Src.Width)], grays-1)/size]++
		}
	}
}

// clip cuts bins above a limit and distributes what they lose over those below it.
func clip(h []int, most int) {
	excess := 0
	for i, n := range h {
		if n > most {
			excess += n - most
			h[i] = most
		}
	}
	each := excess / len(h)
	for i := range h {
		if h[i] < most-each {
			h[i] += each
			excess -= each
		}
		if n := h[i]; n >= most-each && n < most { // also if it has just got there
			h[i] = most
			excess -= most - n
		}
	}
	for before := 0; excess > 0 && excess != before; {
		before = excess
		for first := 0; first < len(h) && excess > 0; first++ {
			below := 0
			for _, n := range h {
				if n < most {
					below++
				}
			}
			given := 0
			for i, step := first, max(1, below/excess); i < len(h); i += step {
				if h[i] < most {
					h[i]++
					given++
				}
			}
			excess -= given
		}
	}
}

// mapRow computes a row from the maps of the four tiles around each pixel.
func (j *AdaptiveJob) mapRow(maps []uint16, across, down, y int) {
	size := j.binSize()
	dst, src := raster.Elems[uint16](j.Dst.Span(0, y, j.Dst.Width)), raster.Elems[uint16](j.Src.Span(0, y, j.Src.Width))
	// Block b begins half a tile above tile b, and lies between tiles b-1 and b.
	row, far := (y+j.Height/2)/j.Height, (y+j.Height/2)%j.Height
	above, below := max(row-1, 0), min(row, down-1)
	v := float64(far) / float64(j.Height)
	for x, p := range src {
		column, beside := (x+j.Width/2)/j.Width, (x+j.Width/2)%j.Width
		left, right := max(column-1, 0), min(column, across-1)
		u := float64(beside) / float64(j.Width)
		bin := int(min(p, grays-1) / size)
		at := func(tileRow, tileColumn int) float64 {
			return float64(maps[(tileRow*across+tileColumn)*j.Bins+bin])
		}
		sum := float32(at(above, left) * float64((1-u)*(1-v)))
		sum += float32(at(above, right) * float64(u*(1-v)))
		sum += float32(at(below, left) * float64((1-u)*v))
		sum += float32(at(below, right) * float64(u*v))
		dst[x] = uint16(sum)
	}
}
