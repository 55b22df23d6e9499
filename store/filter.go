package store

import (
	"context"
	"runtime"
	"slices"
	"sync"
	"sync/atomic"

	"github.com/boxsum/boxsum"
	"github.com/boxsum/boxsum/filter"
	"github.com/boxsum/boxsum/internal/raster"
	"github.com/boxsum/boxsum/zarr"
)

// FilterOptions controls [BoxFilter]. Nil and the zero value suit most uses.
type FilterOptions struct {
	// Border defines the pixels outside the image, and Value their value if it is constant.
	// Wrap is not supported.
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
	// MaxChunks limits the number of chunks read and blocks written, see
	// [Options.MaxChunks].
	MaxChunks int64
	// Progress is called from time to time with the number of blocks done, by one goroutine
	// at a time.
	Progress func(done, all int)
}

// BoxFilter blurs the image at one path or URL and writes it to another, as [filter.Box]
// does in memory: each pixel becomes the mean of the window around it. Each block is read
// together with the part of its neighbors that its windows cover. Results for bytes and
// words are bit-identical to those in memory; floats differ in the last bits, depending on
// the block size but not on the number of workers. The image has the shape (H, W) or (H, W,
// C), after any axes of length 1. The result is complete when BoxFilter returns nil; an
// interrupted run starts over. If the destination already exists, the error is fs.ErrExist.
func BoxFilter(ctx context.Context, from, to string, w filter.Window, opt *FilterOptions) error {
	if settled(from) == settled(to) {
		return raster.Invalid("the result would overwrite the image (choose another place)")
	}
	src, dst, err := openBoth(ctx, from, to)
	if err != nil {
		return err
	}
	defer src.Close()
	return finish(dst, FilterArray(ctx, src, dst, w, opt))
}

// FilterArray is like [BoxFilter] for an array and a bucket, whose root becomes the result.
func FilterArray(ctx context.Context, src *zarr.Array, dst zarr.Bucket, w filter.Window, opt *FilterOptions) error {
	switch src.Type() {
	case zarr.Uint8:
		return boxFilter[uint8](ctx, src, dst, w, opt)
	case zarr.Uint16:
		return boxFilter[uint16](ctx, src, dst, w, opt)
	case zarr.Float32:
		return boxFilter[float32](ctx, src, dst, w, opt)
	case zarr.Float64:
		return boxFilter[float64](ctx, src, dst, w, opt)
	}
	return raster.Unsupported("filters need pixels of uint8, uint16, float32 or float64, not %v", src.Type())
}

func boxFilter[P filter.Pixel](ctx context.Context, src *zarr.Array, dst zarr.Bucket, w filter.Window, opt *FilterOptions) error {
	var o FilterOptions
	if opt != nil {
		o = *opt
	}
	lead := leading(src.Shape(), false)
	shape := src.Shape()[lead:]
	if len(shape) != 2 && !(len(shape) == 3 && shape[2] >= 1 && shape[2] <= 64) {
		return bad("array of shape %v is not an image, want (H, W) or (H, W, C) with at most 64 channels", src.Shape())
	}
	channels := raster.Product(shape[2:])
	if shape[0] < 1 || shape[1] < 1 {
		return bad("the image is empty (%d×%d pixels)", shape[1], shape[0])
	}
	if o.Border == filter.Wrap {
		return raster.Invalid("border wrap is not supported for stores (use another border)")
	}
	if o.Workers < 0 || o.Memory < 0 || o.Block < 0 || o.MaxChunks < 0 {
		return raster.Invalid("negative option: workers %d, memory %d, block %d, chunk limit %d", o.Workers, o.Memory, o.Block, o.MaxChunks)
	}
	if o.Workers == 0 {
		o.Workers = runtime.GOMAXPROCS(0)
	}
	if o.Memory == 0 {
		o.Memory = 1 << 30
	}
	if o.Block == 0 {
		o.Block = blockOf(src.Chunk()[lead], src.Chunk()[lead+1], max(shape[0], shape[1]))
	}
	if err := checkBlocks(o.MaxChunks, src, raster.CeilDiv(shape[0], o.Block), raster.CeilDiv(shape[1], o.Block), o.Block); err != nil {
		return err
	}
	if o.Compression == "" {
		o.Compression = "zstd"
	}
	// Windows reach at most this far. The filter reports invalid windows.
	reachX, reachY := min(max(w.Width, 0), shape[1]), min(max(w.Height, 0), shape[0])
	each := int64(min(o.Block+2*reachX, shape[1])) * int64(min(o.Block+2*reachY, shape[0])) * int64(channels*src.Type().Size()) * 4
	keep, beside, more := readingMemory(src, o.Memory, each/4)
	each += more
	workers := min(int64(o.Workers), (o.Memory-keep-beside)/each)
	if workers < 1 {
		return raster.OutOfMemory("blocks of %d×%d and windows of %d×%d need about %d MiB, more than the limit of %d (raise the limit, or use smaller blocks)", o.Block, o.Block, w.Width, w.Height, max((each+beside)*4/3, each+beside+keep)>>20+1, o.Memory>>20)
	}
	src.SetCache(zarr.NewCache(keep))
	chunk := append(slices.Repeat([]int{1}, lead), o.Block, o.Block)
	if len(shape) == 3 {
		chunk = append(chunk, channels)
	}
	_, err := zarr.CreateFilled(ctx, dst, "", &zarr.Spec{Type: src.Type(), Shape: src.Shape(), Chunk: chunk, Compression: o.Compression, Checksum: true, Names: src.Names()}, func(out *zarr.Array) error {
		return boxBlocks[P](ctx, src, out, w, &o, int(workers), lead, reachX, reachY)
	})
	return err
}

// boxBlocks blurs all blocks.
func boxBlocks[P filter.Pixel](ctx context.Context, src, out *zarr.Array, w filter.Window, o *FilterOptions, workers, lead, reachX, reachY int) error {
	shape := src.Shape()[lead:]
	channels := raster.Product(shape[2:])
	whole := func(first int, image ...int) []int { // adds the axes before those of the image
		return append(slices.Repeat([]int{first}, lead), image[:len(shape)]...)
	}
	rows, columns := raster.CeilDiv(shape[0], o.Block), raster.CeilDiv(shape[1], o.Block)
	ctx, cancel := context.WithCancelCause(ctx)
	defer cancel(nil)
	var next atomic.Int64
	var lock sync.Mutex
	done := 0
	var group sync.WaitGroup
	for range min(workers, rows*columns) {
		group.Go(func() {
			var in, result []P
			block := func(n int) error {
				y0, x0 := n/columns*o.Block, n%columns*o.Block
				y1, x1 := min(y0+o.Block, shape[0]), min(x0+o.Block, shape[1])
				top, left := max(y0-reachY, 0), max(x0-reachX, 0)
				height, width := min(y1+reachY, shape[0])-top, min(x1+reachX, shape[1])-left
				in, result = sized(in, height*width*channels), sized(result, height*width*channels)
				if err := src.ReadBytes(ctx, raster.Bytes(in), whole(0, top, left, 0), whole(1, height, width, channels)); err != nil {
					return err
				}
				image := boxsum.Image[P]{Pix: in, Width: width, Height: height, Channels: channels}
				blurred := boxsum.Image[P]{Pix: result, Width: width, Height: height, Channels: channels}
				if err := filter.BoxInto(blurred, image, w, &filter.Options{Border: o.Border, Value: o.Value, Workers: 1, Context: ctx}); err != nil {
					return err
				}
				part := in[:0]
				for y := y0; y < y1; y++ {
					part = append(part, blurred.Row(y - top)[(x0-left)*channels:(x1-left)*channels]...)
				}
				return out.WriteBytes(ctx, raster.Bytes(part), whole(0, y0, x0, 0), whole(1, y1-y0, x1-x0, channels))
			}
			for ctx.Err() == nil {
				n := int(next.Add(1)) - 1
				if n >= rows*columns {
					return
				}
				if err := block(n); err != nil {
					cancel(err)
					return
				}
				lock.Lock()
				if done++; o.Progress != nil {
					o.Progress(done, rows*columns)
				}
				lock.Unlock()
			}
		})
	}
	group.Wait()
	return context.Cause(ctx)
}
