package store

import (
	"context"
	"image"
	"runtime"
	"slices"
	"sync"
	"sync/atomic"

	"github.com/boxsum/boxsum/filter"
	"github.com/boxsum/boxsum/internal/filters"
	"github.com/boxsum/boxsum/internal/raster"
	"github.com/boxsum/boxsum/internal/window"
	"github.com/boxsum/boxsum/zarr"
)

// FilterOptions configures [BoxFilter] and [FilterArray]. Nil and the zero value select the
// defaults.
type FilterOptions struct {
	// Border defines the pixels outside the image, and Value their value if Border is
	// [filter.Constant]. [filter.Wrap] is not supported.
	Border filter.Border
	Value  float64
	// Workers is the maximum number of blocks in progress. Zero means GOMAXPROCS.
	Workers int
	// Memory is the maximum number of bytes to use. Zero means 1 GiB.
	Memory int64
	// Block is the height and width of a block, which is written as one object. Zero means
	// about 1024.
	Block int
	// Compression is zstd, lz4, gzip or none. Empty means zstd.
	Compression string
	// MaxChunks limits the number of chunks read and blocks written; see [Options.MaxChunks].
	MaxChunks int64
	// Progress is called from time to time with the number of blocks done, by one goroutine
	// at a time.
	Progress func(done, all int)
}

// BoxFilter blurs the image at one path or URL and writes it to another, like [filter.Box]
// in memory: each pixel becomes the mean of the window around it. Each block is read
// together with the part of its neighbors that its windows cover. Results for 8- and 16-bit
// pixels are bit-identical to those in memory. Results for floats may differ from those in
// memory in the last bits, depending on the block size but not on the number of workers.
//
// The image must have the shape (H, W) or (H, W, C), optionally preceded by axes of length
// 1. The result is complete when BoxFilter returns nil; an interrupted run starts over. If
// the destination already exists, BoxFilter returns [fs.ErrExist].
func BoxFilter(ctx context.Context, from, to string, w filter.Window, opt *FilterOptions) error {
	if settled(from) == settled(to) {
		return raster.Invalid("the destination is the image itself, %s (choose another place)", zarr.Redacted(to))
	}
	src, dst, err := openBoth(ctx, from, to)
	if err != nil {
		return err
	}
	defer src.Close()
	return finish(dst, FilterArray(ctx, src, dst, w, opt))
}

// FilterArray is like [BoxFilter] but reads the image from an array and writes the result
// as an array at the root of the bucket dst.
func FilterArray(ctx context.Context, src *zarr.Array, dst zarr.Bucket, w filter.Window, opt *FilterOptions) error {
	j := &filterJob{src: src, window: w}
	if opt != nil {
		j.opt = *opt
	}
	for _, step := range []func() error{j.planImage, j.planOptions, j.planWork} {
		if err := step(); err != nil {
			return err
		}
	}
	src.SetCache(zarr.NewCache(j.keep))
	chunk := append(slices.Repeat([]int{1}, j.lead), j.opt.Block, j.opt.Block)
	if len(src.Shape()) == j.lead+3 {
		chunk = append(chunk, j.channels)
	}
	spec := &zarr.Spec{Type: src.Type(), Shape: src.Shape(), Chunk: chunk, Compression: j.opt.Compression, Checksum: true, Names: src.Names()}
	_, err := zarr.CreateFilled(ctx, dst, "", spec, func(out *zarr.Array) error {
		j.out = out
		return j.run(ctx)
	})
	return err
}

// A filterJob blurs an image block by block.
type filterJob struct {
	src, out *zarr.Array
	window   filter.Window
	opt      FilterOptions

	pixel                   raster.Type
	lead                    int // number of axes before those of the image
	width, height, channels int
	rows, columns           int   // of blocks
	reachX, reachY          int   // how far windows reach; the filter reports invalid ones
	workers                 int   // for which the memory suffices
	keep                    int64 // memory of the cache
}

// planImage determines the type and the size of the image.
func (j *filterJob) planImage() error {
	switch t := j.src.Type(); t {
	case zarr.Uint8, zarr.Uint16, zarr.Float32, zarr.Float64:
		j.pixel = rasterTypes[t]
	default:
		return raster.Unsupported("pixels are %v, want uint8, uint16, float32 or float64", t)
	}
	j.lead = leading(j.src.Shape(), false)
	shape := j.src.Shape()[j.lead:]
	if len(shape) != 2 && !(len(shape) == 3 && shape[2] >= 1 && shape[2] <= 64) {
		return bad("array of shape %v is not an image, want (H, W) or (H, W, C) with at most 64 channels", j.src.Shape())
	}
	j.height, j.width, j.channels = shape[0], shape[1], raster.Product(shape[2:])
	if j.height < 1 || j.width < 1 {
		return bad("image is %d×%d, want at least 1×1 pixels", j.width, j.height)
	}
	return nil
}

// planOptions validates the options and fills in defaults.
func (j *filterJob) planOptions() error {
	o := &j.opt
	if o.Border == filter.Wrap {
		return raster.Invalid("border is wrap, want reflect101, reflect, replicate, constant or clip for stores")
	}
	if o.Workers < 0 || o.Memory < 0 || o.Block < 0 || o.MaxChunks < 0 {
		return raster.Invalid("workers is %d, memory %d, block %d and chunk limit %d, want 0 or more", o.Workers, o.Memory, o.Block, o.MaxChunks)
	}
	if o.Workers == 0 {
		o.Workers = runtime.GOMAXPROCS(0)
	}
	if o.Memory == 0 {
		o.Memory = 1 << 30
	}
	if o.Block == 0 {
		chunk := j.src.Chunk()[j.lead:]
		o.Block = blockOf(chunk[0], chunk[1], max(j.height, j.width))
	}
	if o.Compression == "" {
		o.Compression = "zstd"
	}
	return nil
}

// planWork divides the image into blocks, and the memory among workers.
func (j *filterJob) planWork() error {
	o, w := &j.opt, j.window
	j.rows, j.columns = raster.CeilDiv(j.height, o.Block), raster.CeilDiv(j.width, o.Block)
	if err := checkBlocks(o.MaxChunks, j.src, j.rows, j.columns, o.Block); err != nil {
		return err
	}
	j.reachX, j.reachY = min(max(w.Width, 0), j.width), min(max(w.Height, 0), j.height)
	each := int64(min(o.Block+2*j.reachX, j.width)) * int64(min(o.Block+2*j.reachY, j.height)) * int64(j.channels*j.src.Type().Size()) * 4
	keep, beside, more := readingMemory(j.src, o.Memory, each/4)
	each += more
	workers := min(int64(o.Workers), (o.Memory-keep-beside)/each)
	if workers < 1 {
		return raster.OutOfMemory("blocks of %d×%d and windows of %d×%d need about %d MiB, more than the limit of %d MiB (raise the limit, or use smaller blocks)", o.Block, o.Block, w.Width, w.Height, max((each+beside)*4/3, each+beside+keep)>>20+1, o.Memory>>20)
	}
	j.workers, j.keep = int(workers), keep
	return nil
}

// run blurs all blocks.
func (j *filterJob) run(ctx context.Context) error {
	ctx, cancel := context.WithCancelCause(ctx)
	defer cancel(nil)
	var next atomic.Int64
	var lock sync.Mutex
	done := 0
	var group sync.WaitGroup
	for range min(j.workers, j.rows*j.columns) {
		group.Go(func() {
			var memory filterMemory
			for ctx.Err() == nil {
				n := int(next.Add(1)) - 1
				if n >= j.rows*j.columns {
					return
				}
				if err := j.block(ctx, &memory, n/j.columns, n%j.columns); err != nil {
					cancel(err)
					return
				}
				lock.Lock()
				if done++; j.opt.Progress != nil {
					j.opt.Progress(done, j.rows*j.columns)
				}
				lock.Unlock()
			}
		})
	}
	group.Wait()
	return context.Cause(ctx)
}

// filterMemory holds the memory that a goroutine needs for a block: its pixels and those
// around it, and the results for all of them.
type filterMemory struct{ pixels, results []byte }

// block blurs block (i, k) together with the pixels around it.
func (j *filterJob) block(ctx context.Context, m *filterMemory, i, k int) error {
	inner := image.Rect(k*j.opt.Block, i*j.opt.Block, min((k+1)*j.opt.Block, j.width), min((i+1)*j.opt.Block, j.height))
	outer := image.Rect(max(inner.Min.X-j.reachX, 0), max(inner.Min.Y-j.reachY, 0), min(inner.Max.X+j.reachX, j.width), min(inner.Max.Y+j.reachY, j.height))
	e := raster.PlaneExtent(outer.Dx(), outer.Dy(), j.channels, 0)
	bytes := outer.Dx() * outer.Dy() * j.channels * j.pixel.Bytes()
	m.pixels, m.results = raster.Reuse(m.pixels, bytes), raster.Reuse(m.results, bytes)
	at, box := j.place(outer)
	if err := j.src.ReadBytes(ctx, m.pixels, at, box); err != nil {
		return err
	}
	blur := filters.Job{
		Kind:   filters.Mean,
		Src:    raster.Array{Data: m.pixels, Type: j.pixel, Extent: e},
		Dst:    raster.Array{Data: m.results, Type: j.pixel, Extent: e},
		Window: filters.Window(j.window),
	}
	blur.Options.Border, blur.Options.Value = window.Border(j.opt.Border), j.opt.Value
	blur.Options.Workers, blur.Options.Context = 1, ctx
	if err := blur.Check(); err != nil {
		return err
	}
	if err := blur.Run(); err != nil {
		return err
	}
	part := m.pixels[:0]
	for y := inner.Min.Y; y < inner.Max.Y; y++ {
		part = append(part, blur.Dst.Span(inner.Min.X-outer.Min.X, y-outer.Min.Y, inner.Dx())...)
	}
	at, box = j.place(inner)
	return j.out.WriteBytes(ctx, part, at, box)
}

// place returns the position and the size of a part of the image in its array.
func (j *filterJob) place(r image.Rectangle) (at, box []int) {
	at = append(slices.Repeat([]int{0}, j.lead), r.Min.Y, r.Min.X, 0)
	box = append(slices.Repeat([]int{1}, j.lead), r.Dy(), r.Dx(), j.channels)
	axes := len(j.src.Shape())
	return at[:axes], box[:axes]
}
