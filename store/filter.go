package store

import (
	"context"
	"fmt"
	"runtime"
	"slices"
	"sync"
	"sync/atomic"

	"github.com/boxsum/boxsum"
	"github.com/boxsum/boxsum/filter"
	"github.com/boxsum/boxsum/internal/grid"
)

// FilterOptions says how [BoxFilter] works; nil and the zero value are good for most.
type FilterOptions struct {
	// Border is what lies outside of the image, and Value its value if that is constant. Wrap is not for stores.
	Border filter.Border
	Value  float64
	// Workers is how many blocks may be under way at once, at most. Zero stands for GOMAXPROCS.
	Workers int
	// Memory is how many bytes the work may take, at most. Zero stands for 1 GiB.
	Memory int64
	// Block is the height and width of a block, which becomes one object. Zero stands for about 1024.
	Block int
	// Compression is zstd, lz4, gzip or none; empty stands for zstd.
	Compression string
	// Progress is called from time to time, by one goroutine at a time, with how many blocks are done.
	Progress func(done, all int)
}

// BoxFilter blurs the image at a path or URL to another, as [filter.Box] does in memory: each pixel becomes the mean of the window round it.
// A block is read with what its windows reach of its neighbours. Bytes and words have the same bits as in memory; floats differ in the
// last ones, by the size of blocks, and not by the number of workers. The image has the shape (H, W) or (H, W, C), after axes of length 1. The array is complete
// when the call returns without an error: a run that was stopped begins anew. One that is there already is not replaced: the error is fs.ErrExist.
func BoxFilter(ctx context.Context, from, to string, w filter.Window, opt *FilterOptions) error {
	if settled(from) == settled(to) {
		return grid.Invalid("the image is where the result would be written: choose another place")
	}
	src, err := OpenArray(ctx, from)
	if err != nil {
		return err
	}
	defer src.Close()
	dst, err := OpenBucket(ctx, to, true)
	if err != nil {
		return err
	}
	return finish(dst, FilterArray(ctx, src, dst, w, opt))
}

// FilterArray is [BoxFilter] for an array, and a bucket whose root the result becomes.
func FilterArray(ctx context.Context, src *Array, dst Bucket, w filter.Window, opt *FilterOptions) error {
	switch src.m.typ {
	case Uint8:
		return boxFilter[uint8](ctx, src, dst, w, opt)
	case Uint16:
		return boxFilter[uint16](ctx, src, dst, w, opt)
	case Float32:
		return boxFilter[float32](ctx, src, dst, w, opt)
	case Float64:
		return boxFilter[float64](ctx, src, dst, w, opt)
	}
	return grid.Types("filters take pixels of uint8, uint16, float32 and float64, and not of %v", src.m.typ)
}

func boxFilter[P filter.Pixel](ctx context.Context, src *Array, dst Bucket, w filter.Window, opt *FilterOptions) error {
	var o FilterOptions
	if opt != nil {
		o = *opt
	}
	lead := leading(src.m.shape, false)
	shape := src.m.shape[lead:]
	if len(shape) != 2 && !(len(shape) == 3 && shape[2] >= 1 && shape[2] <= 64) {
		return bad("an array of shape %v is no image: that has (H, W) or (H, W, C) with up to 64 channels", src.m.shape)
	}
	channels := product(shape[2:])
	if shape[0] < 1 || shape[1] < 1 {
		return bad("an image of %d×%d pixels has nothing to blur", shape[1], shape[0])
	}
	if o.Border == filter.Wrap {
		return grid.Invalid("a border that wraps needs the other side of the image: stores have the others")
	}
	if o.Workers < 0 || o.Memory < 0 || o.Block < 0 {
		return grid.Invalid("options below zero: workers %d, memory %d, block %d", o.Workers, o.Memory, o.Block)
	}
	if o.Workers == 0 {
		o.Workers = runtime.GOMAXPROCS(0)
	}
	if o.Memory == 0 {
		o.Memory = 1 << 30
	}
	if o.Block == 0 {
		o.Block = blockOf(src.unit[lead], src.unit[lead+1], max(shape[0], shape[1]))
	}
	if o.Compression == "" {
		o.Compression = "zstd"
	}
	// How far windows reach, at most; a bad window is an error of the filter.
	reachX, reachY := min(max(w.Width, 0), shape[1]), min(max(w.Height, 0), shape[0])
	each := int64(min(o.Block+2*reachX, shape[1])) * int64(min(o.Block+2*reachY, shape[0])) * int64(channels*src.m.typ.Size()) * 4
	keep, beside, more := src.share(o.Memory, each/4)
	each += more
	workers := min(int64(o.Workers), (o.Memory-keep-beside)/each)
	if workers < 1 {
		return fmt.Errorf("store: %w: blocks of %d×%d and windows of %d×%d need about %d MiB, and %d are allowed: allow more, or smaller blocks", grid.ErrMemory, o.Block, o.Block, w.Width, w.Height, max((each+beside)*4/3, each+beside+keep)>>20+1, o.Memory>>20)
	}
	src.keepUpTo(keep)
	chunk := append(slices.Repeat([]int{1}, lead), o.Block, o.Block)
	if len(shape) == 3 {
		chunk = append(chunk, channels)
	}
	_, err := WriteArray(ctx, dst, "", &Spec{Type: src.m.typ, Shape: src.m.shape, Chunk: chunk, Compression: o.Compression, Checksum: true, Names: src.Names()}, func(out *Array) error {
		return boxBlocks[P](ctx, src, out, w, &o, int(workers), lead, reachX, reachY)
	})
	return err
}

// boxBlocks blurs all blocks.
func boxBlocks[P filter.Pixel](ctx context.Context, src, out *Array, w filter.Window, o *FilterOptions, workers, lead, reachX, reachY int) error {
	shape := src.m.shape[lead:]
	channels := product(shape[2:])
	whole := func(first int, image ...int) []int { // with the axes before those of the image
		return append(slices.Repeat([]int{first}, lead), image[:len(shape)]...)
	}
	rows, columns := ceil(shape[0], o.Block), ceil(shape[1], o.Block)
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
				if err := src.readBytes(ctx, bytesOf(in), whole(0, top, left, 0), whole(1, height, width, channels), true); err != nil {
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
				return out.writeBytes(ctx, bytesOf(part), whole(0, y0, x0, 0), whole(1, y1-y0, x1-x0, channels))
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
