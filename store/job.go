package store

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"io/fs"
	"math"
	"path/filepath"
	"runtime"
	"runtime/metrics"
	"slices"
	"sort"
	"strings"
	"sync"
	"time"

	"github.com/boxsum/boxsum/histogram"
	"github.com/boxsum/boxsum/internal/grid"
)

// Options says how to make a table; nil and the zero value are good for most.
type Options struct {
	// Workers is how many blocks may be under way at once, at most. Zero stands for GOMAXPROCS.
	Workers int
	// Memory is how many bytes the work may take, at most. Zero stands for 1 GiB.
	Memory int64
	// Block is the height and width of a block, which becomes one object. Zero stands for about 1024, in whole chunks of
	// the image.
	Block int
	// Chunk is the height and width of the chunks in a block: what is read for one entry. Zero stands for one chunk
	// a block. It divides Block.
	Chunk int
	// Compression is zstd, lz4, gzip or none; empty stands for zstd. That and lz4 are of Blosc, which has the bytes of entries apart,
	// as the low ones are noise; lz4 takes less time and some more bytes. Level is its level, 0 the usual one.
	Compression string
	Level       int
	// Squares makes the table of squares as well, which deviations need.
	Squares bool
	// Compact keeps the tables of the blocks alone, in the narrowest type, beside lines from which boxes are
	// summed all the same: for 8-bit pixels in blocks of up to 4096² half the bytes.
	Compact bool
	// Volume sums an array of shape (D, H, W) as a volume: boxes have eight corners. The arrays of the table have the shape (H, W, D).
	Volume bool
	// Bins counts pixels in bins, see package histogram, instead of summing them: a table of histograms. N is 0 for one of sums.
	Bins histogram.Bins
	// Restart begins anew where a table of another source or other options was begun.
	Restart bool
	// Progress is called from time to time, by one goroutine at a time, with how many blocks are done.
	Progress func(done, all int)
}

// A Job makes a table from an image. [Job.Run] does it on this machine. Engines of many machines call Begin once,
// Edges for every block, Scan once, Integrate for every block and Finish once: each may be called again, on any
// machine that has made a job with the same source, destination and options and called Join, and does what is left to do.
type Job struct {
	src      *Array
	dst      Bucket
	opt      Options
	width    int
	height   int
	channels int
	depth    int  // of a volume, or 0
	pixel    Type // what is summed
	lead     int  // axes of the source before those of the image
	block    int
	rows     int // of blocks
	columns  int
	layers   []*layer
	summers  sync.Pool
	takes    int64 // bytes of memory, about

	fingerprint string
}

// A layer is the arrays of the sums, or of the squares.
type layer struct {
	sum   Type // of the entries
	main  *Array
	kept  Type // of the entries of main
	left  *Array
	top   *Array
	bytes int // of a sum
}

// about is what a table says of itself in its attribute "boxsum".
type about struct {
	Kind        string `json:"kind"`
	Version     int    `json:"version"`
	Complete    bool   `json:"complete"`
	Fingerprint string `json:"fingerprint"`
	Width       int    `json:"width"`
	Height      int    `json:"height"`
	Channels    int    `json:"channels"`
	Pixel       string `json:"pixel"`
	Block       int    `json:"block"`
	Squares     bool   `json:"squares"`
	Compact     bool   `json:"compact"`
	Chunk       int    `json:"chunk,omitempty"`
	Compression string `json:"compression"`
	Level       int    `json:"level,omitempty"`

	Depth int     `json:"depth,omitempty"` // of a volume, whose slices are the channels
	Bins  int     `json:"bins,omitempty"`  // of histograms, which are the channels
	Low   float64 `json:"low,omitempty"`
	High  float64 `json:"high,omitempty"`
	Clamp bool    `json:"clamp,omitempty"`
}

const (
	tableKind    = "summed-area table"
	tableVersion = 1
)

// Integrate makes the table of the image at one path or URL at another, see [OpenBucket]. The image is an array
// of shape (H, W) or (H, W, C); leading axes of length 1 do not count. If a run was stopped, the next one goes on.
func Integrate(ctx context.Context, from, to string, opt *Options) error {
	for _, part := range tableParts {
		if at := settled(from) + "/"; strings.HasPrefix(filepath.ToSlash(at), filepath.ToSlash(settled(to))+"/"+part) {
			return grid.Invalid("the image is where the table would be written: choose another place")
		}
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
	job, err := NewJob(ctx, src, dst, opt)
	if err == nil {
		err = job.Run(ctx)
	}
	return finish(dst, err)
}

// NewJob plans the table of an image. It writes nothing.
func NewJob(ctx context.Context, src *Array, dst Bucket, opt *Options) (*Job, error) {
	j, err := planJob(ctx, src, dst, opt)
	if err != nil {
		return nil, err
	}
	keep, _, _ := src.share(j.opt.Memory, 0)
	src.keepUpTo(keep)
	return j, nil
}

// planJob is [NewJob] of a source that stays as it is, which others may be reading.
func planJob(ctx context.Context, src *Array, dst Bucket, opt *Options) (*Job, error) {
	j := &Job{src: src, dst: dst}
	if opt != nil {
		j.opt = *opt
	}
	o := &j.opt
	if o.Workers < 0 || o.Memory < 0 || o.Block < 0 || o.Chunk < 0 {
		return nil, grid.Invalid("options below zero: workers %d, memory %d, block %d, chunk %d", o.Workers, o.Memory, o.Block, o.Chunk)
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
	shape := src.m.shape[leading(src.m.shape, o.Volume):]
	j.channels, j.lead = 1, len(src.m.shape)-len(shape)
	switch {
	case o.Volume && o.Bins.N != 0:
		return nil, grid.Invalid("a table is that of a volume or of histograms, and not of both")
	case o.Volume && len(shape) == 3:
		if j.depth = shape[0]; j.depth < 1 {
			return nil, bad("a volume of %d slices has nothing to sum", j.depth)
		}
		j.channels, j.lead, shape = j.depth, j.lead+1, shape[1:]
	case o.Volume:
		return nil, bad("an array of shape %v is no volume: that has (D, H, W)", src.m.shape)
	case o.Bins.N != 0 && (len(shape) == 2 || len(shape) == 3 && shape[2] == 1):
		j.channels, shape = o.Bins.N, shape[:2]
	case o.Bins.N != 0:
		return nil, bad("an array of shape %v is no image of one channel, which histograms take", src.m.shape)
	case len(shape) == 3:
		if j.channels = shape[2]; j.channels < 1 || j.channels > 64 {
			return nil, bad("an array of shape %v is no image: that has (H, W) or (H, W, C) with up to 64 channels", src.m.shape)
		}
	case len(shape) != 2:
		return nil, bad("an array of shape %v is no image: that has (H, W) or (H, W, C)", src.m.shape)
	}
	if j.height, j.width = shape[0], shape[1]; j.height < 1 || j.width < 1 {
		return nil, bad("an image of %d×%d pixels has nothing to sum", j.width, j.height)
	}
	if j.block = o.Block; j.block == 0 {
		j.block = blockOf(src.unit[j.lead], src.unit[j.lead+1], max(j.height, j.width))
		for spread := o.Volume || o.Bins.N != 0; spread && j.block > 8 && j.block*j.block*j.channels > spreads; {
			j.block /= 2
		}
	}
	if j.block > (1<<31-1)/8/j.channels/j.block {
		return nil, grid.Invalid("blocks of %d×%d with %d channels are too large for one object", j.block, j.block, j.channels)
	}
	if o.Chunk > 0 && j.block%o.Chunk != 0 {
		return nil, grid.Invalid("chunks of %d do not divide blocks of %d", o.Chunk, j.block)
	}
	j.rows, j.columns = ceil(j.height, j.block), ceil(j.width, j.block)
	if j.pixel = src.m.typ; o.Bins.N != 0 {
		j.pixel = Bool // what is counted
	}
	sum, square := sumsOf(j.pixel)
	if o.Squares && square == 0 {
		return nil, grid.Types("pixels of %v have no table of squares", src.m.typ)
	}
	if o.Bins.N != 0 && o.Squares {
		return nil, grid.Invalid("histograms have no squares")
	}
	_, err := j.newSummer(&o.Bins)
	if err != nil {
		return nil, err
	}
	j.summers.New = func() any {
		bins := j.opt.Bins // many do this at once
		s, _ := j.newSummer(&bins)
		return &work{summer: s}
	}
	for k, t := range []Type{sum, square} {
		if k == 1 && !o.Squares {
			break
		}
		l, err := j.newLayer([]string{"sum", "squares"}[k], t, k == 1)
		if err != nil {
			return nil, err
		}
		j.layers = append(j.layers, l)
	}
	if j.fingerprint, err = j.print(ctx); err != nil {
		return nil, err
	}
	return j, nil
}

// leading is how many axes of length 1 come before those of an image, or of a volume.
func leading(shape []int, volume bool) (n int) {
	for len(shape) > n+2 && shape[n] == 1 && !(len(shape) == n+3 && (shape[n+2] <= 4 || volume)) {
		n++
	}
	return n
}

// newSummer is one for blocks of this job. It fills in what the pixels decide of the bins.
func (j *Job) newSummer(bins *histogram.Bins) (summer, error) {
	switch {
	case j.depth > 0:
		return newColumnSummer(j.src.m.typ, j.depth, j.opt.Squares)
	case bins.N != 0:
		return newBinSummer(j.src.m.typ, bins)
	}
	return newSummer(j.src.m.typ, j.channels, j.block*j.block, j.opt.Squares)
}

// blockOf is the size of blocks of an image whose chunks have this size: about 1024, and whole chunks if that is
// possible.
func blockOf(height, width, most int) int {
	most = (most + 63) &^ 63
	if height == width && height >= 256 && height <= 4096 {
		return height
	}
	n := max(height, width)
	if n <= 1024 && n%height == 0 && n%width == 0 {
		return min(max(1024/n, 1)*n, ceil(most, n)*n)
	}
	return min(1024, most)
}

func (j *Job) newLayer(name string, sum Type, squares bool) (*layer, error) {
	l := &layer{sum: sum, kept: sum, bytes: sum.Size() * j.channels}
	axes := func(list ...int) []int { // with the channels if the image has them
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
	spec := &Spec{Type: l.kept, Shape: axes(j.height, j.width), Chunk: axes(j.block, j.block), Compression: j.opt.Compression, Level: j.opt.Level, Checksum: true, Names: names("y", "x")}
	if spec.Compression == "zstd" && spec.Level >= 0 && spec.Level <= 9 { // Blosc has no others
		spec.Compression = "blosc"
	}
	if c := j.opt.Chunk; c > 0 && c < j.block {
		spec.Chunk, spec.Shard = axes(c, c), axes(j.block, j.block)
	}
	line := func(main string, spec *Spec) (*Array, error) {
		m, err := spec.metadata()
		if err != nil {
			return nil, err
		}
		return newArray(j.dst, main, m), nil
	}
	var err error
	if l.main, err = line(main, spec); err != nil {
		return nil, err
	}
	if l.left, err = line(name+"_left", &Spec{Type: sum, Shape: axes(j.columns, j.height), Chunk: axes(1, j.block), Shard: axes(j.columns, j.block), Checksum: true, Names: names("column", "y")}); err != nil {
		return nil, err
	}
	l.top, err = line(name+"_top", &Spec{Type: sum, Shape: axes(j.rows, j.width), Chunk: axes(1, j.block), Shard: axes(1, j.block*j.columns), Checksum: true, Names: names("row", "x")})
	return l, err
}

// print is the fingerprint of the source and what of the options changes bytes.
func (j *Job) print(ctx context.Context) (string, error) {
	h := sha256.New()
	b := j.opt.Bins
	fmt.Fprintf(h, "%d %d %d %s %d %v %v %s %d %d %v %v %v\n", tableVersion, j.block, j.opt.Chunk, j.opt.Compression, j.opt.Level, j.opt.Squares, j.opt.Compact, j.src.m.typ, j.depth, b.N, b.Low, b.High, b.Clamp)
	var lines []string
	err := j.src.bucket.List(ctx, j.src.path, func(o Object) error {
		lines = append(lines, o.Key+" "+fmt.Sprint(o.Size)+" "+o.Version)
		return nil
	})
	if err != nil && !errors.Is(err, errors.ErrUnsupported) { // a web server tells nothing
		return "", err
	}
	sort.Strings(lines)
	h.Write(j.src.m.json())
	for _, line := range lines {
		h.Write([]byte(line))
		h.Write([]byte{'\n'})
	}
	return hex.EncodeToString(h.Sum(nil)[:16]), nil
}

// Blocks is how many blocks there are down and across the image.
func (j *Job) Blocks() (rows, columns int) { return j.rows, j.columns }

// Size is that of the image.
func (j *Job) Size() (width, height, channels int) { return j.width, j.height, j.channels }

// Begin starts the table, or goes on with one of the same source and options. It reports whether
// the table is finished already.
func (j *Job) Begin(ctx context.Context) (finished bool, err error) {
	_, g, err := node(ctx, j.dst, "")
	switch {
	case errors.Is(err, fs.ErrNotExist):
		// A restart that was stopped may have left blocks of another table.
		if err := j.remove(ctx, tableParts...); err != nil {
			return false, err
		}
		return false, j.write(ctx, false)
	case err != nil && !j.opt.Restart:
		return false, err
	case err != nil || g == nil:
		return false, bad("the destination holds something else than a table: choose another, or remove it")
	}
	var a about
	if ok, err := g.Attribute("boxsum", &a); err != nil || !ok || a.Kind != tableKind {
		return false, bad("the destination holds something else than a table: choose another, or remove it")
	}
	if a.Fingerprint == j.fingerprint {
		if err := j.followAll(ctx, g); err != nil && !a.Complete {
			return false, err
		}
		return a.Complete, nil
	}
	if !j.opt.Restart {
		return false, fmt.Errorf("store: a table of another image or of other options is there: remove it, or ask for a restart: %w", ErrChanged)
	}
	// The metadata goes first: whatever is left of the old table is then part of none.
	if err := j.dst.Delete(ctx, "zarr.json"); err != nil {
		return false, err
	}
	if err := j.remove(ctx, tableParts...); err != nil {
		return false, err
	}
	return false, j.write(ctx, false)
}

// Join takes part in a table that another process has begun with the same source and options, and writes its blocks as that one does.
func (j *Job) Join(ctx context.Context) error {
	_, g, err := node(ctx, j.dst, "")
	if err != nil {
		return err
	}
	var a about
	if g == nil {
		return bad("the destination holds something else than a table")
	}
	if ok, err := g.Attribute("boxsum", &a); err != nil || !ok || a.Kind != tableKind {
		return bad("the destination holds something else than a table")
	}
	if a.Fingerprint != j.fingerprint {
		return fmt.Errorf("store: the table that was begun is that of another image or of other options: %w", ErrChanged)
	}
	return j.followAll(ctx, g)
}

func (j *Job) followAll(ctx context.Context, g *Group) error {
	for n := range j.layers {
		main, err := g.Array(ctx, j.layers[n].name())
		if err == nil {
			err = j.follow(n, main)
		}
		if err != nil {
			return err
		}
	}
	return nil
}

func (l *layer) name() string { return strings.TrimSuffix(l.main.path, "/") }

// follow has blocks packed as those of the table that is there: one from before may have another codec than is usual now.
func (j *Job) follow(n int, main *Array) error {
	l := j.layers[n]
	if main.m.typ != l.kept || !slices.Equal(main.m.shape, l.main.m.shape) || !slices.Equal(main.m.object, l.main.m.object) {
		return bad("array %s is not that of the table", l.main.path)
	}
	l.main = newArray(j.dst, l.name(), main.m)
	return nil
}

// tableParts begin the keys of all that tables have but their own metadata.
var tableParts = []string{
	"sum/", "sum_local/", "sum_left/", "sum_top/",
	"squares/", "squares_local/", "squares_left/", "squares_top/", hidden,
}

// remove deletes the objects whose keys begin with a prefix.
func (j *Job) remove(ctx context.Context, prefixes ...string) error {
	var keys []string
	for _, prefix := range prefixes {
		if err := j.dst.List(ctx, prefix, func(o Object) error {
			keys = append(keys, o.Key)
			return nil
		}); err != nil {
			return err
		}
	}
	for _, key := range keys {
		if err := j.dst.Delete(ctx, key); err != nil {
			return err
		}
	}
	return nil
}

// write writes all metadata.
func (j *Job) write(ctx context.Context, complete bool) error {
	arrays := map[string]*Array{}
	for _, l := range j.layers {
		for _, a := range []*Array{l.main, l.left, l.top} {
			arrays[a.path[:len(a.path)-1]] = a
			if err := j.dst.Put(ctx, a.path+"zarr.json", a.m.json()); err != nil {
				return err
			}
		}
	}
	// It comes last: a table that was begun has the metadata of its arrays.
	return WriteGroup(ctx, j.dst, "", map[string]any{"boxsum": about{
		tableKind, tableVersion, complete, j.fingerprint, j.width, j.height, j.channels, j.pixel.String(), j.block, j.opt.Squares, j.opt.Compact, j.opt.Chunk, j.opt.Compression, j.opt.Level,
		j.depth, j.opt.Bins.N, j.opt.Bins.Low, j.opt.Bins.High, j.opt.Bins.Clamp,
	}}, arrays)
}

// Finish marks the table as finished, if the source is still the same.
func (j *Job) Finish(ctx context.Context) error {
	now, err := j.print(ctx)
	if err != nil {
		return err
	}
	if now != j.fingerprint {
		return fmt.Errorf("store: the image was written to while its table was made: %w", ErrChanged)
	}
	if err := j.write(ctx, true); err != nil {
		return err
	}
	if err := j.remove(ctx, hidden); err != nil {
		return err
	}
	if f, ok := j.dst.(*folder); ok {
		f.sweep("")
	}
	return nil
}

// work is what one goroutine needs for a block.
type work struct {
	summer summer
	pix    []byte
	out    []byte
	packed []byte
	edges  [][2][]byte // of each layer, the sums of rows and of columns
}

// extent is the size of a block, which is less at the right and at the bottom.
func (j *Job) extent(i, k int) (height, width int) {
	return min(j.block, j.height-i*j.block), min(j.block, j.width-k*j.block)
}

// tables reads a block and makes its tables.
func (j *Job) tables(ctx context.Context, w *work, i, k int) error {
	h, wd := j.extent(i, k)
	at, box := make([]int, len(j.src.m.shape)), make([]int, len(j.src.m.shape))
	for d := range box {
		box[d] = 1
	}
	at[j.lead], at[j.lead+1], box[j.lead], box[j.lead+1] = i*j.block, k*j.block, h, wd
	if j.depth > 0 {
		box[j.lead-1] = j.depth
	} else if len(box) > j.lead+2 && j.opt.Bins.N == 0 {
		box[j.lead+2] = j.channels
	}
	n := product(box) * j.src.m.typ.Size()
	w.pix = room(w.pix, n)
	if err := j.src.readBytes(ctx, w.pix, at, box, true); err != nil {
		return err
	}
	return w.summer.make(w.pix, wd, h)
}

// put writes a block of a layer.
func (j *Job) put(ctx context.Context, w *work, n, i, k int, left, top []byte) error {
	return j.layers[n].main.putPacked(ctx, &w.packed, j.place(i, k), j.entries(w, n, i, k, left, top))
}

// entries is what a block of a layer holds, until those of another are made.
func (j *Job) entries(w *work, n, i, k int, left, top []byte) []byte {
	l := j.layers[n]
	h, wd := j.extent(i, k)
	size := j.block * j.block * j.channels * l.kept.Size()
	if cap(w.out) < size+8 { // with room for a checksum
		w.out = aligned(size + 8)
	}
	out := w.out[:size]
	if h < j.block || wd < j.block {
		clear(out)
	}
	if j.opt.Compact {
		w.summer.layers()[n].keep(out, j.block, l.kept)
	} else {
		w.summer.layers()[n].finish(out, j.block, left, top)
	}
	return out
}

func (j *Job) place(i, k int) []int {
	if j.channels > 1 {
		return []int{i, k, 0}
	}
	return []int{i, k}
}

// most is how many workers the memory is enough for.
func (j *Job) most() (int, error) {
	area := int64(j.block) * int64(j.block) * int64(j.channels)
	each := area * int64(j.src.m.typ.Size()) * 2
	if pixelsOf(j.src.m.typ) != j.src.m.typ {
		each += area * int64(pixelsOf(j.src.m.typ).Size())
	}
	var lines int64
	for _, l := range j.layers {
		each += area * int64(l.sum.Size()) // the table
		lines += 4 * (int64(j.width) + int64(j.columns)*int64(j.block)) * int64(l.bytes)
	}
	each += 2 * area * 8 // what is written, and packed
	if j.depth > 0 {
		each += area * 8 * int64(len(j.layers)) // the sums of columns
	}
	keep, beside, more := j.src.share(j.opt.Memory, area*int64(j.src.m.typ.Size()))
	each += more
	free := j.opt.Memory - keep - beside - lines - 32<<20
	n := free * 2 / 3 / each // the rest is for the collector of garbage
	if n < 1 && j.opt.Memory < math.MaxInt64/2 {
		return 0, fmt.Errorf("store: %w: blocks of %d×%d, of an image whose chunks take up to %d MiB, need about %d MiB, and %d are allowed: allow more, or smaller blocks", grid.ErrMemory, j.block, j.block,
			j.src.largest()>>20, max((each*3/2+beside+lines+32<<20)*4/3, each*3/2+beside+lines+32<<20+keep)>>20+1, j.opt.Memory>>20)
	}
	n = min(n, int64(j.opt.Workers))
	j.takes = n*each + keep + beside + lines
	return int(n), nil
}

// tidy has garbage collected when it is a sixteenth of what lives. Blocks leave little of it behind, and the collector alone
// waits until it is as much as what lives: large images would take more memory than small ones. Where most of the
// heap is another's it is left alone.
func (j *Job) tidy() {
	sizes := []metrics.Sample{{Name: "/memory/classes/heap/objects:bytes"}, {Name: "/gc/heap/live:bytes"}}
	metrics.Read(sizes)
	if all, live := int64(sizes[0].Value.Uint64()), int64(sizes[1].Value.Uint64()); all > live+live/16 && live < 2*j.takes {
		runtime.GC()
	}
}

// Run makes the table on this machine: every pixel is read once and every entry written once.
func (j *Job) Run(ctx context.Context) error {
	workers, err := j.most()
	if err != nil {
		return err
	}
	finished, err := j.Begin(ctx)
	if err != nil || finished {
		if finished && j.opt.Progress != nil {
			j.opt.Progress(j.rows*j.columns, j.rows*j.columns)
		}
		return err
	}
	r := j.newRun(workers)
	if err := r.resume(ctx); err != nil {
		return err
	}
	if err := r.all(ctx, workers); err != nil {
		return err
	}
	return j.Finish(ctx)
}

func (j *Job) newRun(workers int) *run {
	return &run{Job: j, cond: sync.NewCond(new(sync.Mutex)), rowsDone: make([]int, j.rows), lines: map[int]*rowLines{}, written: map[int]bool{}, ahead: 2 * max(j.columns, workers), progress: j.opt.Progress}
}

// all does all blocks that are left.
func (r *run) all(ctx context.Context, workers int) error {
	j := r.Job
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	stop := context.AfterFunc(ctx, func() { r.cond.L.Lock(); r.cond.Broadcast(); r.cond.L.Unlock() })
	defer stop()
	var group sync.WaitGroup
	for range max(1, min(workers, j.rows*j.columns)) {
		group.Go(func() {
			w := j.summers.Get().(*work)
			defer j.summers.Put(w)
			for ctx.Err() == nil {
				n, ok := r.claim(ctx)
				if !ok {
					return
				}
				if err := r.do(ctx, w, n/j.columns, n%j.columns); err != nil {
					r.fail(err)
					cancel()
					return
				}
			}
		})
	}
	group.Wait()
	if r.err != nil {
		return r.err
	}
	if err := ctx.Err(); err != nil {
		return fmt.Errorf("store: stopped with %d of %d blocks done; the next run goes on: %w", r.done, j.rows*j.columns, err)
	}
	return nil
}

// A run is the state of [Job.Run].
type run struct {
	*Job
	cond     *sync.Cond
	next     int // block to claim
	ahead    int // how far that may be from the first row that is not complete, in blocks
	done     int // blocks
	rowsDone []int
	complete int               // rows before which all have their lines written
	written  map[int]bool      // rows after that which have, too
	lines    map[int]*rowLines // of rows of blocks under way
	spare    []*rowLines       // of rows before complete
	exist    map[string]bool   // blocks of a run before
	err      error
	told     time.Time
	progress func(done, all int)
	damaged  func(Damage) // of a table that is there, see [run.hold]
}

// rowLines is what is known of a row of blocks: what lies above it and left of its blocks.
type rowLines struct {
	top       [][]byte // of each layer, a line as wide as the image
	topReady  []bool   // of each column
	left      [][]byte // of each layer, a column for each block
	leftReady int      // columns
}

func (l *rowLines) reset() {
	for n := range l.top {
		clear(l.top[n])
		clear(l.left[n])
	}
	clear(l.topReady)
}

func (r *run) fail(err error) {
	r.cond.L.Lock()
	if r.err == nil {
		r.err = err
	}
	r.cond.L.Unlock()
}

// claim is the next block to do. It is not far from those that others are at: after a stop, rows that are not complete are read again.
func (r *run) claim(ctx context.Context) (int, bool) {
	r.cond.L.Lock()
	defer r.cond.L.Unlock()
	for r.next >= r.complete*r.columns+r.ahead && r.err == nil && ctx.Err() == nil {
		r.cond.Wait()
	}
	n := r.next
	r.next++
	return n, n < r.rows*r.columns && r.err == nil && ctx.Err() == nil
}

// row is the lines of a row of blocks; with the lock held.
func (r *run) row(i int) *rowLines {
	l := r.lines[i]
	if l == nil {
		if n := len(r.spare); n > 0 {
			l, r.spare = r.spare[n-1], r.spare[:n-1]
			l.reset()
		} else {
			l = &rowLines{topReady: make([]bool, r.columns)}
			for _, layer := range r.layers {
				l.top = append(l.top, aligned(r.columns*r.block*layer.bytes))
				l.left = append(l.left, aligned(r.columns*r.block*layer.bytes))
			}
		}
		l.leftReady = 1 // nothing is left of the first
		if i == 0 {
			for k := range l.topReady {
				l.topReady[k] = true
			}
		}
		r.lines[i] = l
	}
	return l
}

// resume finds where a run before has stopped: after the rows of blocks whose lines were written.
func (r *run) resume(ctx context.Context) error {
	r.exist = map[string]bool{}
	for _, l := range r.layers {
		for _, a := range []*Array{l.main, l.left, l.top} {
			if err := r.dst.List(ctx, a.path, func(o Object) error {
				r.exist[o.Key] = true
				return nil
			}); err != nil {
				return err
			}
		}
	}
	start := 0
	for ; start < r.rows; start++ {
		for _, l := range r.layers {
			if !r.exist[l.left.path+l.left.m.key(r.place(0, start))] || start+1 < r.rows && !r.exist[l.top.path+l.top.m.key(r.place(start+1, 0))] {
				goto found
			}
		}
	}
found:
	r.next, r.done, r.complete = start*r.columns, start*r.columns, start
	if start == 0 {
		return r.firstLine(ctx)
	}
	if start == r.rows {
		return nil
	}
	lines := r.row(start)
	for n, l := range r.layers {
		if err := l.top.readObject(ctx, lines.top[n], r.place(start, 0)); err != nil {
			return err
		}
	}
	for k := range lines.topReady {
		lines.topReady[k] = true
	}
	return nil
}

// firstLine writes the line above the first row, which has zeros.
func (r *run) firstLine(ctx context.Context) error {
	for n, l := range r.layers {
		if err := r.putLine(ctx, l.top, r.place(0, 0), r.row(0).top[n]); err != nil {
			return err
		}
	}
	return nil
}

func (r *run) putLine(ctx context.Context, a *Array, place []int, line []byte) error {
	if r.damaged != nil {
		return r.hold(ctx, a, place, -1, -1, line)
	}
	return a.putObject(ctx, place, line)
}

// readObject reads all elements of an object, which has to be there.
func (a *Array) readObject(ctx context.Context, dst []byte, place []int) error {
	key := a.m.key(place)
	data, err := a.bucket.Get(ctx, a.path+key, 0, -1, nil)
	if err != nil {
		return err
	}
	return a.about(key, a.m.codecs.decode(dst, data, a.m.object))
}

// do makes one block.
func (r *run) do(ctx context.Context, w *work, i, k int) error {
	if err := r.tables(ctx, w, i, k); err != nil {
		return err
	}
	h, wd := r.extent(i, k)
	// Wait for the block on the left, and hand on to the one on the right.
	r.cond.L.Lock()
	lines := r.row(i)
	var below *rowLines
	if i+1 < r.rows {
		below = r.row(i + 1)
	}
	for lines.leftReady <= k && r.err == nil && ctx.Err() == nil {
		r.cond.Wait()
	}
	r.cond.L.Unlock()
	if err := ctx.Err(); err != nil {
		return err
	}
	if r.failed() {
		return nil
	}
	if w.edges == nil {
		w.edges = make([][2][]byte, len(r.layers))
	}
	for n, l := range r.layers {
		t, e := w.summer.layers()[n], &w.edges[n]
		e[0], e[1] = room(e[0], h*l.bytes), room(e[1], wd*l.bytes)
		t.edges(e[0], e[1])
		if k+1 < r.columns {
			t.carry(lines.leftOf(n, k+1, r.block*l.bytes), lines.leftOf(n, k, r.block*l.bytes), e[0])
		}
	}
	r.cond.L.Lock()
	lines.leftReady = max(lines.leftReady, k+2)
	r.cond.Broadcast()
	for !lines.topReady[k] && r.err == nil && ctx.Err() == nil {
		r.cond.Wait()
	}
	r.cond.L.Unlock()
	if err := ctx.Err(); err != nil {
		return err
	}
	if r.failed() {
		return nil
	}
	if below != nil {
		for n, l := range r.layers {
			w.summer.layers()[n].drop(below.topOf(n, k, r.block*l.bytes), w.edges[n][1], lines.leftOf(n, k, r.block*l.bytes), lines.topOf(n, k, r.block*l.bytes))
		}
		r.cond.L.Lock()
		below.topReady[k] = true
		r.cond.Broadcast()
		r.cond.L.Unlock()
	}
	for n, l := range r.layers {
		if r.damaged != nil {
			if err := r.hold(ctx, l.main, r.place(i, k), i, k, r.entries(w, n, i, k, lines.leftOf(n, k, r.block*l.bytes), lines.topOf(n, k, r.block*l.bytes))); err != nil {
				return err
			}
			continue
		}
		if r.exist[l.main.path+l.main.m.key(r.place(i, k))] {
			continue
		}
		if err := r.put(ctx, w, n, i, k, lines.leftOf(n, k, r.block*l.bytes), lines.topOf(n, k, r.block*l.bytes)); err != nil {
			return err
		}
	}
	r.cond.L.Lock()
	r.rowsDone[i]++
	whole := r.rowsDone[i] == r.columns
	r.done++
	if p := r.progress; p != nil && (r.done == r.rows*r.columns || time.Since(r.told) > 50*time.Millisecond) {
		r.told = time.Now()
		p(r.done, r.rows*r.columns)
	}
	r.cond.L.Unlock()
	if !whole {
		return nil
	}
	defer r.tidy()
	for n, l := range r.layers {
		if below != nil {
			if err := r.putLine(ctx, l.top, r.place(i+1, 0), below.top[n]); err != nil {
				return err
			}
		}
		if err := r.putLine(ctx, l.left, r.place(0, i), lines.left[n]); err != nil {
			return err
		}
	}
	r.cond.L.Lock()
	defer r.cond.L.Unlock()
	// Lines are free for another row when the row above is written, too: its last block stores what lies below it.
	for r.written[i] = true; r.written[r.complete]; r.complete++ {
		r.spare = append(r.spare, r.lines[r.complete])
		delete(r.lines, r.complete)
		delete(r.written, r.complete)
	}
	r.cond.Broadcast()
	return nil
}

func (r *run) failed() bool {
	r.cond.L.Lock()
	defer r.cond.L.Unlock()
	return r.err != nil
}

func (l *rowLines) leftOf(layer, k, size int) []byte { return l.left[layer][k*size : (k+1)*size] }
func (l *rowLines) topOf(layer, k, size int) []byte  { return l.top[layer][k*size : (k+1)*size] }
