package tables

import (
	"context"
	"errors"
	"fmt"
	"image"
	"math"
	"runtime"
	"strings"
	"time"

	"github.com/boxsum/boxsum/histogram"
	"github.com/boxsum/boxsum/internal/cli/console"
	"github.com/boxsum/boxsum/internal/cli/imagefile"
	"github.com/boxsum/boxsum/internal/raster"
	fromsums "github.com/boxsum/boxsum/internal/stats"
	"github.com/boxsum/boxsum/store"
	"github.com/boxsum/boxsum/volume"
	"github.com/boxsum/boxsum/zarr"
)

// storeFlags are the flags for tables in stores.
type storeFlags struct {
	Memory      string `default:"1GiB" placeholder:"SIZE" help:"For OUT.zarr: maximum memory to use, such as 300MB (default ${default})."`
	Chunk       int    `placeholder:"N" help:"For OUT.zarr: blocks of N×N, each one object. Default: about 1024, a multiple of the chunks of the image."`
	Inner       int    `placeholder:"N" help:"For OUT.zarr: chunks of N×N in each block, of which a query reads four. Default: one per block."`
	Compression string `enum:"zstd,lz4,gzip,none" default:"zstd" help:"For OUT.zarr: zstd, lz4 (faster, larger), gzip or none."`
	Compact     bool   `help:"For OUT.zarr: store sums within blocks, which takes fewer bytes; queries give the same answers."`
	Bins        int    `placeholder:"N" help:"For OUT.zarr: count 8- and 16-bit pixels in N bins instead of summing them, for histograms of boxes."`
	Restart     bool   `help:"For OUT.zarr: replace an unfinished table of another image or with other options."`
	MaxChunks   int64  `placeholder:"N" help:"For OUT.zarr: refuse images of more than N chunks and results of more than N blocks (default 16777216): damaged metadata may declare huge arrays."`
}

// runStore makes a table in a store.
func (c *Integrate) runStore(sh *console.Shell) error {
	switch {
	case len(c.Ins) == 0:
		return console.Usage("no image: name a file (--demo cannot be written to a store)")
	case c.Tilted || c.Algorithm != "" || c.OnGPU() || c.pick():
		return console.Usage("a table in a store holds upright sums of all pixels, made on the CPU: leave out --tilted, --algorithm, --on, --nan and --mask, or write a .npy file")
	case c.Volume && !imagefile.IsStore(c.Ins[0]) && !strings.HasSuffix(c.Ins[0], ".npy"):
		return console.Usage("%s: to write the table of a volume to a store, IN must be an array of shape (D, H, W) in a store or a .npy file", c.Ins[0])
	case c.Volume && c.Bins > 0:
		return console.Usage("--bins is for images: leave it out with --volume")
	case c.Type != "auto":
		return console.Usage("tables in stores have sums of 64 bits: leave out --type")
	}
	memory, err := imagefile.ParseSize(c.Memory)
	if err != nil {
		return err
	}
	start := time.Now()
	src, err := imagefile.OpenArrays(sh, c.Ins, &c.Flags, c.Volume)
	if err != nil {
		return err
	}
	defer src.Close()
	if strings.Contains(c.Out, ".zip") { // an archive is replaced; in folders a table replaces nothing else
		if err := imagefile.CheckTiles(src, c.Ins[0], c.Out); err != nil {
			return err
		}
	}
	dst, err := zarr.OpenBucket(sh.Ctx, c.Out, true)
	if err != nil {
		return err
	}
	job, err := store.NewJob(sh.Ctx, src, dst, &store.Options{
		Workers: c.Workers, Memory: memory, Block: c.Chunk, Chunk: c.Inner, Compression: c.Compression, Squares: c.Squares, Compact: c.Compact, Restart: c.Restart, MaxChunks: c.MaxChunks, Volume: c.Volume, Bins: histogram.Bins{N: c.Bins},
		Progress: func(done, all int) { sh.Progress.Reach("summing", done, all) },
	})
	if err == nil {
		err = job.Run(sh.Ctx)
	}
	switch {
	case sh.Ctx.Err() != nil && !strings.Contains(c.Out, ".zip"):
		sh.Say("finished blocks are kept: run the same command again to resume")
	case errors.Is(err, store.ErrChanged):
		err = fmt.Errorf("%s: the destination holds a table of another image or with other options (remove it, or add --restart)", zarr.Redacted(c.Out))
	}
	if err = imagefile.CloseStore(dst, c.Out, err); err != nil {
		return err
	}
	r := report{In: "", Types: src.Type().String() + ":" + sumName(src.Type()), On: "cpu", Out: zarr.Redacted(c.Out), Workers: c.Workers}
	r.Width, r.Height, r.Channels = job.Size()
	r.Milliseconds = float64(time.Since(start)) / float64(time.Millisecond)
	n := int64(r.Width) * int64(r.Height) * int64(r.Channels)
	r.Bytes = n * int64(src.Type().Size()+8)
	if c.Squares {
		r.Types += "+squares"
		r.Bytes += n * 8
	}
	r.GBPerSecond = float64(r.Bytes) / float64(max(time.Since(start), 1))
	if r.Workers == 0 {
		r.Workers = runtime.GOMAXPROCS(0)
	}
	return c.print(sh, r)
}

func sumName(pixel zarr.Type) string {
	switch name := pixel.String(); name[0] {
	case 'f':
		return "float64"
	case 'i':
		return "int64"
	}
	return "uint64"
}

// askStore answers from a table in a store. It returns false if the input is an image.
func (c *Query) askStore(sh *console.Shell, boxes []box) (bool, error) {
	cache, err := imagefile.ParseSize(c.Cache)
	if err != nil {
		return true, err
	}
	t, err := store.Open(sh.Ctx, c.In, &store.OpenOptions{Cache: cache})
	if err != nil {
		if errors.Is(err, zarr.ErrFormat) && !c.Table {
			return false, nil // an image, or a file whose reader will report the error
		}
		return true, err
	}
	defer t.Close()
	switch {
	case c.rotates() || c.pick() || c.OnGPU():
		return true, console.Usage("a table in a store has upright sums of all pixels: leave out --rotate, --rect, --nan, --mask and --on")
	case c.Volume && t.Depth() == 0:
		return true, console.Usage("%s is the table of an image: leave out --volume", zarr.Redacted(c.In))
	case t.Depth() > 0 && !c.Volume:
		return true, console.Usage("%s is the table of a volume: add --volume", zarr.Redacted(c.In))
	}
	if c.whole() {
		size := t.Bounds().Size()
		boxes = []box{wholeBox(imagefile.Extent{Width: size.X, Height: size.Y, Depth: t.Depth()})}
	}
	sh.Progress.Begin("summing", 0)
	var found []stats
	areas := make([]int64, len(boxes))
	if c.Volume {
		solids := make([]volume.Box, len(boxes))
		for i, b := range boxes {
			solids[i] = b.block()
			areas[i] = int64(solids[i].Intersect(t.VolumeBounds()).Voxels())
		}
		found, err = askStored(sh, t, 1, solids, t.SumVolumeBoxesBytes, t.MeanVolumeBoxes, t.StdDevVolumeBoxes)
	} else {
		rects := make([]image.Rectangle, len(boxes))
		for i, b := range boxes {
			rects[i] = b.rectangle()
			clipped := rects[i].Intersect(t.Bounds())
			areas[i] = int64(clipped.Dx()) * int64(clipped.Dy())
		}
		found, err = askStored(sh, t, t.Channels(), rects, t.SumBoxesBytes, t.MeanBoxes, t.StdDevBoxes)
	}
	if err != nil {
		return true, err
	}
	answers := make([]answer, len(boxes))
	_, _, squares := t.Types()
	for i, b := range boxes {
		n := len(found) / len(boxes)
		answers[i] = answer{box: b, area: areas[i], noStd: squares == 0, channels: found[i*n : (i+1)*n]}
	}
	return true, c.print(sh, answers)
}

// askStored returns the sums, means and standard deviations of all channels of every box.
func askStored[B any](sh *console.Shell, t *store.Table, channels int, boxes []B, totals func(context.Context, []byte, []B) error, means, deviations func(context.Context, []float64, []B) error) ([]stats, error) {
	found, sums := make([]stats, len(boxes)*channels), make([]uint64, len(boxes)*channels)
	err := totals(sh.Ctx, raster.Bytes(sums), boxes)
	_, kind, squares := t.Types()
	for i, s := range sums {
		switch kind {
		case zarr.Int64:
			found[i].sum = fromsums.SumOf(int64(s))
		case zarr.Float64:
			found[i].sum = fromsums.SumOf(math.Float64frombits(s))
		default:
			found[i].sum = fromsums.SumOf(s)
		}
	}
	numbers := make([]float64, len(found))
	if err == nil {
		err = means(sh.Ctx, numbers, boxes)
	}
	for i, v := range numbers {
		found[i].mean = v
	}
	if err == nil && squares != 0 {
		err = deviations(sh.Ctx, numbers, boxes)
		for i, v := range numbers {
			found[i].std = v
		}
	}
	return found, err
}
