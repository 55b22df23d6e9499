package bench

import (
	"errors"
	"fmt"
	"io"
	"strconv"
	"strings"

	"github.com/boxsum/boxsum"
	"github.com/boxsum/boxsum/gpu"
	"github.com/boxsum/boxsum/histogram"
)

const (
	// histogramMark stands between the types and the bins of an integral
	// histogram, and histogramWord for both in a list of types: histogram is
	// u8:u32-histogram:32, and histogram:64 has 64 bins.
	histogramMark  = "-histogram:"
	histogramWord  = "histogram"
	histogramTypes = "u8:u32" + histogramMark
	histogramBins  = 32
)

// histogramCase is the types that a word of a list stands for, if it is one of an
// integral histogram.
func histogramCase(word string) (string, bool) {
	bins, ok := strings.CutPrefix(word, histogramWord)
	switch {
	case ok && bins == "":
		return histogramTypes + strconv.Itoa(histogramBins), true
	case ok && bins[0] == ':':
		return histogramTypes + bins[1:], true
	}
	return word, false
}

// bins is how many the case has, if it is an integral histogram.
func (c Case) bins() (bins int, ok bool) {
	text, ok := strings.CutPrefix(c.Types, histogramTypes)
	if !ok {
		return 0, false
	}
	bins, err := strconv.Atoi(text)
	return bins, err == nil
}

// histogramKind is the kind of an integral histogram, and nil for others.
func (c Case) histogramKind() (*kind, error) {
	if !strings.Contains(c.Types, histogramMark) {
		return nil, nil
	}
	bins, ok := c.bins()
	if !ok || bins < histogram.MinBins || bins > histogram.MaxBins {
		return nil, fmt.Errorf("types %q: integral histograms are %s with a number of bins from %d to %d", c.Types, histogramTypes+"32, or histogram:32,", histogram.MinBins, histogram.MaxBins)
	}
	of := histogram.Bins{N: bins}
	return &kind{
		types:  c.Types,
		make:   func(size Size, channels int) (*work, error) { return newHistogram(size, channels, of) },
		device: func(job deviceJob) (*deviceWork, error) { return newDeviceHistogram(job, of) },
	}, nil
}

func newHistogram(size Size, channels int, bins histogram.Bins) (*work, error) {
	img, err := randomImage[uint8, uint32](size, channels)
	if err != nil {
		return nil, err
	}
	t, err := histogram.NewTable[uint32](size.Width, size.Height, channels, bins)
	if err != nil {
		return nil, err
	}
	entries := boxsum.View[uint32]{Sums: t.Counts, Stride: (size.Width + 1) * channels * bins.N, Width: size.Width + 1, Height: size.Height + 1, Channels: channels * bins.N}
	return &work{
		pixels: bytesOf(img.Pix),
		tables: []table{newTable(entries, func() error { return verifyHistogram(t, img) },
			func(r io.Reader, _ bool) error { return equal[uint32](r, entries) })},
		run: func(opt *boxsum.Options) error { return histogram.IntegrateInto(t, img, &histogram.Options{Workers: opt.Workers, Level: opt.Level}) },
	}, nil
}

func newDeviceHistogram(job deviceJob, bins histogram.Bins) (*deviceWork, error) {
	images, src, err := upload[uint8, uint32](job)
	if err != nil {
		return nil, err
	}
	d, size := job.device, job.size
	dst, err := gpu.NewHistogram[uint8](d, size.Width, size.Height, job.channels, job.batch, bins)
	if err != nil {
		return nil, errors.Join(err, src.Close())
	}
	host, err := histogram.NewTable[uint32](size.Width, size.Height, job.channels, dst.Bins())
	if err != nil {
		return nil, errors.Join(err, src.Close(), dst.Close())
	}
	return &deviceWork{
		deviceJob: job,
		pixels:    bytesOf(images[0].Pix),
		integrate: func() error { return gpu.IntegrateHistogramInto(dst, src, job.opt) },
		roundTrip: func() error { return gpu.IntegrateHistogramHostInto(d, host, images[0], job.opt) },
		download:  func(i int) error { return dst.DownloadInto(i, host) },
		compare:   func(i int) error { return verifyHistogram(host, images[i]) },
		spoil:     func() { clear(host.Counts) },
		close:     func() error { return errors.Join(src.Close(), dst.Close()) },
	}, nil
}

// verifyHistogram compares every count with a reference that shares nothing with the
// library: the counts of a row so far, added to what the entry above holds.
func verifyHistogram(t *histogram.Table[uint32], img boxsum.Image[uint8]) error {
	n := t.Bins.N
	entry := t.Channels * n
	above, row := make([]uint32, (t.Width+1)*entry), make([]uint32, entry)
	for y := range t.Height + 1 {
		clear(row)
		for x := range t.Width + 1 {
			if x > 0 && y > 0 {
				for c, p := range img.Row(y - 1)[(x-1)*t.Channels:][:t.Channels] {
					row[c*n+int(p)*n/256]++
				}
			}
			got := t.Counts[(y*(t.Width+1)+x)*entry:][:entry]
			for i, want := range above[x*entry:][:entry] {
				want += row[i]
				if got[i] != want {
					return fmt.Errorf("count %d of entry (%d, %d) is %d, and %d in the reference", i, x, y, got[i], want)
				}
				above[x*entry+i] = want
			}
		}
	}
	return nil
}
