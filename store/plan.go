package store

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"runtime"
	"sort"
	"sync"

	"github.com/boxsum/boxsum/histogram"
	"github.com/boxsum/boxsum/internal/bins"
	"github.com/boxsum/boxsum/internal/raster"
	"github.com/boxsum/boxsum/zarr"
)

// Options configures how a table is computed. Nil and the zero value suit most uses.
type Options struct {
	// Workers is the maximum number of blocks in progress. Zero means GOMAXPROCS.
	Workers int
	// Memory is the maximum number of bytes to use. Zero means 1 GiB.
	Memory int64
	// Block is the height and width of a block, which is written as one object. Zero means
	// about 1024, in whole chunks of the image.
	Block int
	// Chunk is the height and width of the chunks in a block. One chunk is read for each
	// entry that a query needs. It must divide Block. Zero means one chunk per block.
	Chunk int
	// Compression is zstd, lz4, gzip or none. Empty means zstd. zstd and lz4 are used
	// through Blosc, which compresses the bytes of entries separately, because the low bytes
	// are noise. lz4 is faster and slightly less compact than zstd. Level is the compression
	// level; 0 means the default.
	Compression string
	Level       int
	// Squares also computes the table of squares, which variances and deviations need.
	Squares bool
	// Compact stores only the tables of the blocks, in the narrowest type, and the rows and
	// columns of sums that connect them. For 8-bit pixels in blocks of up to 4096², it
	// halves the size.
	Compact bool
	// Volume sums an array of shape (D, H, W) as a volume, whose boxes have eight corners.
	// The arrays of the table have the shape (H, W, D).
	Volume bool
	// Bins counts the pixels in bins instead of summing them, as in package histogram. If
	// its N is 0, the table holds sums.
	Bins histogram.Bins
	// MaxChunks limits the total number of chunks of the image and blocks of the table, so
	// that invalid metadata cannot cause endless work. Zero means 1<<24.
	MaxChunks int64
	// Restart starts over if an earlier run began a table with another source or other
	// options.
	Restart bool
	// Progress is called from time to time with the number of blocks done, by one goroutine
	// at a time.
	Progress func(done, all int)
}

// A Job computes a table from an image. [Job.Run] does so on this machine. To distribute
// the work, call Begin once, Edges for every block, Scan once, Integrate for every block,
// and Finish once. Each method may be called again and skips the work that is already
// done. Any machine can call it on a job that has the same source, destination and
// options and on which Join has been called.
type Job struct {
	src      *zarr.Array
	dst      zarr.Bucket
	opt      Options
	width    int
	height   int
	channels int
	depth    int       // of a volume; otherwise 0
	pixel    zarr.Type // element type that is summed
	lead     int       // number of source axes before those of the image
	block    int
	rows     int // number of block rows
	columns  int
	layers   []*layer
	summing  summing
	works    sync.Pool // of *blockMemory
	takes    int64     // approximate memory, in bytes

	fingerprint string
}

// A layer holds the arrays of the sums or of the squares.
type layer struct {
	index int       // 0 for the sums, 1 for the squares
	sum   zarr.Type // of the sums: Uint64, Int64 or Float64
	main  *zarr.Array
	kept  zarr.Type // type of the entries in main
	left  *zarr.Array
	top   *zarr.Array
	bytes int   // size of the sums of a pixel
	chunk []int // chunk shape of main
}

// NewJob plans the table of the image in src, to be written to dst. It checks the options
// and the shape and type of src, and writes nothing.
func NewJob(ctx context.Context, src *zarr.Array, dst zarr.Bucket, opt *Options) (*Job, error) {
	j, err := plan(ctx, src, dst, opt)
	if err != nil {
		return nil, err
	}
	keep, _, _ := readingMemory(src, j.opt.Memory, 0)
	src.SetCache(zarr.NewCache(keep))
	return j, nil
}

// plan is like [NewJob] but sets no cache for the source, which others may be reading.
func plan(ctx context.Context, src *zarr.Array, dst zarr.Bucket, opt *Options) (*Job, error) {
	j := &Job{src: src, dst: dst}
	if opt != nil {
		j.opt = *opt
	}
	for _, step := range []func() error{j.planOptions, j.planImage, j.planBlocks, j.checkWork, j.planSums, j.planLayers} {
		if err := step(); err != nil {
			return nil, err
		}
	}
	var err error
	j.fingerprint, err = j.print(ctx)
	return raster.OrNil(j, err)
}

// planOptions validates the options and fills in defaults.
func (j *Job) planOptions() error {
	o := &j.opt
	if o.Workers < 0 || o.Memory < 0 || o.Block < 0 || o.Chunk < 0 || o.MaxChunks < 0 {
		return raster.Invalid("workers is %d, memory %d, block %d, chunk %d and chunk limit %d, want 0 or more", o.Workers, o.Memory, o.Block, o.Chunk, o.MaxChunks)
	}
	if o.Volume && o.Bins.N != 0 {
		return raster.Invalid("number of bins is %d, want 0 for a volume, which has no histograms", o.Bins.N)
	}
	if o.Bins.N != 0 && o.Squares {
		return raster.Invalid("squares is true, want false for histograms, which have no table of squares")
	}
	if o.Workers == 0 {
		o.Workers = runtime.GOMAXPROCS(0)
	}
	if o.Memory == 0 {
		o.Memory = 1 << 30
	}
	if o.Compression == "" {
		o.Compression = "zstd"
	}
	return nil
}

// planImage determines the image's size, channels and leading axes from the shape of the
// source.
func (j *Job) planImage() error {
	whole := j.src.Shape()
	shape := whole[leading(whole, j.opt.Volume):]
	j.channels, j.lead = 1, len(whole)-len(shape)
	switch {
	case j.opt.Volume && len(shape) == 3:
		if j.depth = shape[0]; j.depth < 1 {
			return bad("volume has %d slices, want 1 or more", j.depth)
		}
		j.channels, j.lead, shape = j.depth, j.lead+1, shape[1:]
	case j.opt.Volume:
		return bad("array of shape %v is not a volume, want (D, H, W)", whole)
	case j.opt.Bins.N != 0 && (len(shape) == 2 || len(shape) == 3 && shape[2] == 1):
		j.channels, shape = j.opt.Bins.N, shape[:2]
	case j.opt.Bins.N != 0:
		return bad("array of shape %v is not an image of one channel, as histograms need", whole)
	case len(shape) == 3:
		if j.channels = shape[2]; j.channels < 1 || j.channels > 64 {
			return bad("array of shape %v is not an image, want (H, W) or (H, W, C) with at most 64 channels", whole)
		}
	case len(shape) != 2:
		return bad("array of shape %v is not an image, want (H, W) or (H, W, C)", whole)
	}
	if j.height, j.width = shape[0], shape[1]; j.height < 1 || j.width < 1 {
		return bad("image is %d×%d, want at least 1×1 pixels", j.width, j.height)
	}
	return nil
}

// spreads is the approximate number of entries in a block of a volume or of histograms.
const spreads = 4 << 20

// planBlocks divides the image into blocks.
func (j *Job) planBlocks() error {
	if j.block = j.opt.Block; j.block == 0 {
		chunk := j.src.Chunk()[j.lead:]
		j.block = blockOf(chunk[0], chunk[1], max(j.height, j.width))
		for spread := j.depth > 0 || j.opt.Bins.N != 0; spread && j.block > 8 && j.block*j.block*j.channels > spreads; {
			j.block /= 2
		}
	}
	if j.block > (1<<31-1)/8/j.channels/j.block {
		return raster.Invalid("block is %d×%d with %d channels, want at most 2 GiB of sums (use smaller blocks)", j.block, j.block, j.channels)
	}
	if j.opt.Chunk > 0 && j.block%j.opt.Chunk != 0 {
		return raster.Invalid("chunk is %d, want a divisor of the block, %d", j.opt.Chunk, j.block)
	}
	j.rows, j.columns = raster.CeilDiv(j.height, j.block), raster.CeilDiv(j.width, j.block)
	return nil
}

// checkWork returns an error if the image has too many chunks or the table too many blocks.
func (j *Job) checkWork() error {
	return checkBlocks(j.opt.MaxChunks, j.src, j.rows, j.columns, j.block)
}

// planSums determines the types of the tables of blocks.
func (j *Job) planSums() error {
	element := j.src.Type()
	if j.pixel = element; j.opt.Bins.N != 0 {
		j.pixel = zarr.Bool // pixels are counted
	}
	sum, square := sumsOf(j.pixel)
	if j.opt.Squares && square == 0 {
		return raster.Unsupported("pixels have type %v, want integers of at most 32 bits or floats for a table of squares", element)
	}
	j.summing = summing{element: element, pixel: rasterTypes[pixelsOf(element)], channels: j.channels, depth: j.depth, sum: rasterTypes[sum]}
	s := &j.summing
	if j.opt.Squares {
		s.squares = rasterTypes[square]
	}
	switch s.entry = s.sum; {
	case j.opt.Bins.N != 0:
		s.entry = raster.U32
		if err := j.planBins(); err != nil {
			return err
		}
	case s.pixel == raster.U8 && j.depth == 0 && !j.opt.Squares && j.block*j.block <= (1<<32-1)/255:
		s.entry = raster.U32
	}
	j.works.New = func() any { return &blockMemory{summer: newSummer(s)} }
	return nil
}

// planBins completes the bins according to the pixel type.
func (j *Job) planBins() (err error) {
	element, b := j.src.Type(), &j.opt.Bins
	if element == zarr.Int64 || element == zarr.Uint64 {
		return raster.Unsupported("pixels have type %v, want integers of at most 32 bits or floats for histograms", element)
	}
	j.summing.bins, err = bins.Range{N: b.N, Low: b.Low, High: b.High, Clamp: b.Clamp}.Over(j.summing.pixel)
	b.Low, b.High = j.summing.bins.Low, j.summing.bins.High
	return err
}

// planLayers plans the arrays of the table: those of the sums and, if requested, those of
// the squares.
func (j *Job) planLayers() error {
	sum, square := sumsOf(j.pixel)
	l, err := j.newLayer("sum", sum, false)
	if err != nil {
		return err
	}
	j.layers = append(j.layers, l)
	if !j.opt.Squares {
		return nil
	}
	if l, err = j.newLayer("squares", square, true); err != nil {
		return err
	}
	l.index = 1
	j.layers = append(j.layers, l)
	return nil
}

// leading returns the number of axes of length 1 before those of an image or a volume.
func leading(shape []int, volume bool) (n int) {
	for len(shape) > n+2 && shape[n] == 1 && !(len(shape) == n+3 && (shape[n+2] <= 4 || volume)) {
		n++
	}
	return n
}

// blockOf returns the block size for an image with chunks of the given size: about 1024,
// and whole chunks if possible.
func blockOf(height, width, most int) int {
	most = (most + 63) &^ 63
	if height == width && height >= 256 && height <= 4096 {
		return height
	}
	n := max(height, width)
	if n <= 1024 && n%height == 0 && n%width == 0 {
		return min(max(1024/n, 1)*n, raster.CeilDiv(most, n)*n)
	}
	return min(1024, most)
}

func (j *Job) newLayer(name string, sum zarr.Type, squares bool) (*layer, error) {
	l := &layer{sum: sum, kept: sum, bytes: sum.Size() * j.channels}
	axes := func(list ...int) []int { // adds the channels if the image has them
		if j.channels > 1 {
			return append(list, j.channels)
		}
		return list
	}
	names := func(list ...string) []string {
		if j.channels > 1 {
			return append(list, "c")
		}
		return list
	}
	main := name
	if j.opt.Compact {
		main += "_local"
		l.kept = localType(j.pixel, sum, j.block*j.block*max(j.depth, 1), squares)
	}
	spec := &zarr.Spec{Type: l.kept, Shape: axes(j.height, j.width), Chunk: axes(j.block, j.block), Compression: j.opt.Compression, Level: j.opt.Level, Checksum: true, Names: names("y", "x")}
	if spec.Compression == "zstd" && spec.Level >= 0 && spec.Level <= 9 { // Blosc has no other levels
		spec.Compression = "blosc"
	}
	if c := j.opt.Chunk; c > 0 && c < j.block {
		spec.Chunk, spec.Shard = axes(c, c), axes(j.block, j.block)
	}
	var err error
	if l.main, err = zarr.New(j.dst, main, spec); err != nil {
		return nil, err
	}
	if l.left, err = zarr.New(j.dst, name+"_left", &zarr.Spec{Type: sum, Shape: axes(j.columns, j.height), Chunk: axes(1, j.block), Shard: axes(j.columns, j.block), Checksum: true, Names: names("column", "y")}); err != nil {
		return nil, err
	}
	l.top, err = zarr.New(j.dst, name+"_top", &zarr.Spec{Type: sum, Shape: axes(j.rows, j.width), Chunk: axes(1, j.block), Shard: axes(1, j.block*j.columns), Checksum: true, Names: names("row", "x")})
	return l, err
}

// print returns a fingerprint of the source and of the options that affect the output.
func (j *Job) print(ctx context.Context) (string, error) {
	h := sha256.New()
	b := j.opt.Bins
	fmt.Fprintf(h, "%d %d %d %s %d %v %v %s %d %d %v %v %v\n", tableVersion, j.block, j.opt.Chunk, j.opt.Compression, j.opt.Level, j.opt.Squares, j.opt.Compact, j.src.Type(), j.depth, b.N, b.Low, b.High, b.Clamp)
	var lines []string
	err := j.src.List(ctx, func(o zarr.Object) error {
		lines = append(lines, o.Key+" "+fmt.Sprint(o.Size)+" "+o.Version)
		return nil
	})
	if err != nil && !errors.Is(err, errors.ErrUnsupported) { // web servers do not list objects
		return "", err
	}
	sort.Strings(lines)
	h.Write(j.src.Metadata())
	for _, line := range lines {
		h.Write([]byte(line))
		h.Write([]byte{'\n'})
	}
	return hex.EncodeToString(h.Sum(nil)[:16]), nil
}

// Blocks returns the number of rows and columns of blocks.
func (j *Job) Blocks() (rows, columns int) { return j.rows, j.columns }

// Size returns the width, the height and the number of channels of the image.
func (j *Job) Size() (width, height, channels int) { return j.width, j.height, j.channels }
