package cli

import (
	"context"
	"errors"
	"fmt"
	"image"
	"io"
	"io/fs"
	"math"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"time"

	"github.com/boxsum/boxsum"
	"github.com/boxsum/boxsum/histogram"
	"github.com/boxsum/boxsum/imgio"
	"github.com/boxsum/boxsum/store"
	"github.com/boxsum/boxsum/store/sources"
	"github.com/boxsum/boxsum/volume"
	"github.com/boxsum/boxsum/zarr"
	_ "github.com/boxsum/boxsum/zarr/web" // http:// and https://
)

// storeFlags say how a table in a store is made.
type storeFlags struct {
	Memory      string `default:"1GiB" placeholder:"SIZE" help:"For OUT.zarr: memory to use at most, such as 2GiB or 300MB."`
	Chunk       int    `placeholder:"N" help:"For OUT.zarr: blocks of N×N, each one object. About 1024 unless told, in whole chunks of the image."`
	Inner       int    `placeholder:"N" help:"For OUT.zarr: chunks of N×N in each block, of which a query reads four. One a block unless told."`
	Compression string `enum:"zstd,lz4,gzip,none" default:"zstd" help:"For OUT.zarr: zstd, lz4 (faster, larger), gzip or none."`
	Compact     bool   `help:"For OUT.zarr: keep sums of the blocks alone, in fewer bytes; queries answer the same."`
	Bins        int    `placeholder:"N" help:"For OUT.zarr: count 8- and 16-bit pixels in N bins instead of summing them; boxes then have histograms."`
	Restart     bool   `help:"For OUT.zarr: begin anew where a table of another image or other options was begun."`
	MaxChunks   int64  `placeholder:"N" help:"For OUT.zarr: Refuse images of more than N chunks, and results of more blocks (16777216): damaged metadata may declare arrays without end."`
}

// chunksHint names the flag in an error about too many chunks.
func chunksHint(err error) error {
	if errors.Is(err, store.ErrTooManyChunks) {
		return fmt.Errorf("%w (--max-chunks)", err)
	}
	return err
}

// isStore reports whether a path is one of a store: it has .zarr in it, or is a URL.
func isStore(path string) bool {
	return strings.Contains(path, "://") || strings.HasSuffix(path, ".zarr") || strings.HasSuffix(path, ".zarr.zip") ||
		strings.Contains(path, ".zarr/") || strings.Contains(path, ".zarr.zip/")
}

// isSource reports whether a path is that of an image in a store, or of a mosaic of many.
func isSource(path string) bool { return isStore(path) || sources.IsMosaic(path) }

// parseSize is a number of bytes, such as 2GiB.
func parseSize(text string) (int64, error) {
	digits := strings.TrimRight(text, "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ ")
	unit, ok := map[string]float64{"": 1, "b": 1, "kb": 1e3, "mb": 1e6, "gb": 1e9, "tb": 1e12, "kib": 1 << 10, "mib": 1 << 20, "gib": 1 << 30, "tib": 1 << 40,
		"k": 1 << 10, "m": 1 << 20, "g": 1 << 30}[strings.ToLower(strings.TrimSpace(text[len(digits):]))]
	n, err := strconv.ParseFloat(digits, 64)
	if err != nil || !ok || !(n > 0) || n*unit >= math.MaxInt64 {
		return 0, usage("%q is no size: 2GiB and 300MB are", text)
	}
	return int64(n * unit), nil
}

// readStore reads all of an array as an image.
func (sh *shell) readStore(path string, how *pictureFlags) (*imgio.Picture, error) {
	a, err := sources.Open(sh.ctx, path)
	if err == nil {
		a, err = how.weighed(sh, a)
	}
	if err != nil {
		return nil, err
	}
	defer a.Close()
	data, err := sources.ReadAll(sh.ctx, a)
	if err != nil {
		return nil, err
	}
	shape := a.Shape()
	for len(shape) > 2 && shape[0] == 1 {
		shape = shape[1:]
	}
	img, err := (&imgio.Array{Shape: shape, Data: data}).Image()
	return &imgio.Picture{Image: img, Element: a.Type().String(), Format: "zarr", Page: 1, Pages: 1}, err
}

// open is the image to sum: an array in a store, or another that is put into one in memory.
func (sh *shell) open(path string, how *pictureFlags) (*zarr.Array, error) {
	large := largeFile(path)
	if isSource(path) || large != "" {
		if err := how.checkStored(path); err != nil {
			return nil, err
		}
		open := sources.Open
		switch large {
		case "tiff":
			open = sources.OpenTIFF
		case "npy":
			open = sources.OpenNPY
		}
		a, err := open(sh.ctx, path)
		if err != nil {
			return nil, err
		}
		return how.weighed(sh, a)
	}
	src, err := sh.openSource(path, how, false)
	if err != nil {
		return nil, err
	}
	defer src.file.Close()
	return writeImage(sh, zarr.Memory(), src.image, &zarr.Spec{Chunk: []int{1024, 1024}})
}

// openAll is the image to sum, of many where files say where they lie.
func (sh *shell) openAll(paths []string, how *pictureFlags, volume bool) (*zarr.Array, error) {
	switch {
	case len(paths) > 1:
		tiles, err := sources.PlaceTIFFs(sh.ctx, paths)
		if err != nil {
			return nil, err
		}
		if err := how.checkStored(paths[0]); err != nil {
			return nil, err
		}
		a, err := sources.OpenMosaic(sh.ctx, tiles)
		if err != nil {
			return nil, err
		}
		return how.weighed(sh, a)
	case volume:
		if err := how.check(true); err != nil {
			return nil, err
		}
		return sources.Open(sh.ctx, paths[0])
	}
	return sh.open(paths[0], how)
}

// largeFile is tiff or npy for files that are read in parts, with the samples as they are stored: BigTIFF, and TIFF and .npy files of 256 MiB or more.
func largeFile(path string) string {
	info, err := os.Stat(path)
	if err != nil || !info.Mode().IsRegular() { // a pipe is read once, and may let whoever opens it wait
		return ""
	}
	file, err := os.Open(path)
	if err != nil {
		return ""
	}
	defer file.Close()
	var magic [4]byte
	if _, err := io.ReadFull(file, magic[:]); err != nil {
		return ""
	}
	large := info.Size() >= 256<<20
	switch string(magic[:]) {
	case "II+\x00", "MM\x00+":
		return "tiff"
	case "II*\x00", "MM\x00*":
		if large {
			return "tiff"
		}
	case "\x93NUM":
		if large {
			return "npy"
		}
	}
	return ""
}

// writeImage writes an image as an array. The chunk has its height and width.
func writeImage(sh *shell, b zarr.Bucket, img any, spec *zarr.Spec) (*zarr.Array, error) {
	switch img := img.(type) {
	case boxsum.Image[uint8]:
		return writeArray(sh, b, img, spec)
	case boxsum.Image[uint16]:
		return writeArray(sh, b, img, spec)
	case boxsum.Image[uint32]:
		return writeArray(sh, b, img, spec)
	case boxsum.Image[int16]:
		return writeArray(sh, b, img, spec)
	case boxsum.Image[int32]:
		return writeArray(sh, b, img, spec)
	case boxsum.Image[float32]:
		return writeArray(sh, b, img, spec)
	case boxsum.Image[float64]:
		return writeArray(sh, b, img, spec)
	}
	return nil, fmt.Errorf("pixels of %T cannot be stored", img)
}

func writeArray[P boxsum.Pixel](sh *shell, b zarr.Bucket, img boxsum.Image[P], spec *zarr.Spec) (*zarr.Array, error) {
	s := *spec
	s.Type, s.Shape, s.Names = zarr.TypeOf[P](), []int{img.Height, img.Width}, []string{"y", "x"}
	channels := max(img.Channels, 1)
	if channels > 1 {
		s.Shape, s.Names, s.Chunk = append(s.Shape, channels), append(s.Names, "c"), append(s.Chunk[:2:2], channels)
	}
	return zarr.CreateFilled(sh.ctx, b, "", &s, func(a *zarr.Array) error {
		rows := s.Chunk[0]
		for y := 0; y < img.Height; y += rows {
			n := min(rows, img.Height-y)
			band := make([]P, 0, n*img.Width*channels)
			for i := range n {
				band = append(band, img.Row(y+i)...)
			}
			at, box := []int{y, 0, 0}, []int{n, img.Width, channels}
			if err := zarr.Write(sh.ctx, a, band, at[:len(s.Shape)], box[:len(s.Shape)]); err != nil {
				return err
			}
			sh.progress.reach("writing", y+n, img.Height)
		}
		return nil
	})
}

// runStore makes a table in a store.
func (c *integrateCmd) runStore(sh *shell) error {
	switch {
	case len(c.Ins) == 0:
		return usage("a table in a store is that of an image: name it")
	case c.Tilted || c.Algorithm != "" || c.onGPU() || c.pick():
		return usage("tables in stores are upright ones of all pixels, made by the processor: leave out --tilted, --algorithm, --on, --nan and --mask, or write .npy")
	case c.Volume && !isStore(c.Ins[0]) && !strings.HasSuffix(c.Ins[0], ".npy"):
		return usage("a volume for a table in a store is an array of shape (D,H,W), in one or in an .npy file: %s is none", c.Ins[0])
	case c.Volume && c.Bins > 0:
		return usage("--bins is for images: leave it out with --volume")
	case c.Type != "auto":
		return usage("tables in stores have sums of 64 bits: leave out --type")
	}
	memory, err := parseSize(c.Memory)
	if err != nil {
		return err
	}
	start := time.Now()
	src, err := sh.openAll(c.Ins, &c.pictureFlags, c.Volume)
	if err != nil {
		return err
	}
	defer src.Close()
	if strings.Contains(c.Out, ".zip") { // which is replaced; in folders a table does not take the place of anything else
		if err := checkTiles(src, c.Ins[0], c.Out); err != nil {
			return err
		}
	}
	dst, err := zarr.OpenBucket(sh.ctx, c.Out, true)
	if err != nil {
		return err
	}
	job, err := store.NewJob(sh.ctx, src, dst, &store.Options{
		Workers: c.Workers, Memory: memory, Block: c.Chunk, Chunk: c.Inner, Compression: c.Compression, Squares: c.Squares, Compact: c.Compact, Restart: c.Restart, MaxChunks: c.MaxChunks, Volume: c.Volume, Bins: histogram.Bins{N: c.Bins},
		Progress: func(done, all int) { sh.progress.reach("summing", done, all) },
	})
	if err == nil {
		err = job.Run(sh.ctx)
	}
	switch {
	case sh.ctx.Err() != nil && !strings.Contains(c.Out, ".zip"):
		sh.say("what is done stays: run the same command again to resume")
	case errors.Is(err, store.ErrChanged):
		err = fmt.Errorf("%s: a table of another image or of other options is there: remove it, or give --restart", zarr.Redacted(c.Out))
	}
	if err = closed(dst, c.Out, err); err != nil {
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
		r.Workers = theCPU().Workers
	}
	return c.print(sh, r)
}

// runStore blurs an image to an array in a store.
func (c *blurCmd) runStore(sh *shell, work *filterWork) error {
	switch {
	case len(c.Ins) != 1:
		return usage("an array in a store is one blurred image: name it")
	case work.name != "box":
		return usage("arrays in stores are blurred by boxes: leave out --gaussian and --sigma")
	}
	memory, err := parseSize(c.Memory)
	if err != nil {
		return err
	}
	start := time.Now()
	src, err := sh.open(c.Ins[0], &c.pictureFlags)
	if err != nil {
		return err
	}
	defer src.Close()
	if err := checkTiles(src, c.Ins[0], c.Out); err != nil {
		return err
	}
	dst, err := zarr.OpenBucket(sh.ctx, c.Out, true)
	if err != nil {
		return err
	}
	err = store.FilterArray(sh.ctx, src, dst, work.window, &store.FilterOptions{
		Border: work.opt.Border, Value: work.opt.Value, Workers: work.opt.Workers, Memory: memory, MaxChunks: c.MaxChunks, Progress: func(done, all int) { sh.progress.reach("filtering", done, all) },
	})
	if err = closed(dst, c.Out, err); err != nil {
		return err
	}
	shape := append(src.Shape(), 1)
	r := filterReport{extent: extent{Width: shape[1], Height: shape[0], Channels: shape[2]}, Pixels: src.Type().String(), Filters: []string{work.name},
		Window: []int{work.window.Width, work.window.Height}, Border: work.opt.Border.String(), Workers: work.opt.Workers, Out: zarr.Redacted(c.Out)}
	r.took(start)
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

// askStore answers from a table in a store. It reports whether there is one: an image is asked in another way.
func (c *queryCmd) askStore(sh *shell, boxes []box) (bool, error) {
	cache, err := parseSize(c.Cache)
	if err != nil {
		return true, err
	}
	t, err := store.Open(sh.ctx, c.In, &store.OpenOptions{Cache: cache})
	if err != nil {
		if errors.Is(err, zarr.ErrFormat) && !c.Table {
			return false, nil // an image, or what will say what is wrong with it
		}
		return true, err
	}
	defer t.Close()
	switch {
	case c.rotates() || c.pick() || c.onGPU():
		return true, usage("a table in a store has upright boxes of all pixels: leave out --rotate, --rect, --nan, --mask and --on")
	case c.Volume && t.Depth() == 0:
		return true, usage("%s is the table of an image: leave out --volume", zarr.Redacted(c.In))
	case t.Depth() > 0 && !c.Volume:
		return true, usage("%s is the table of a volume: its boxes take --volume", zarr.Redacted(c.In))
	}
	sh.progress.begin("summing", 0)
	var found []stats
	areas := make([]int64, len(boxes))
	if c.Volume {
		solids := make([]volume.Box, len(boxes))
		for i, b := range boxes {
			solids[i] = b.block()
			areas[i] = int64(solids[i].Intersect(t.VolumeBounds()).Voxels())
		}
		found, err = askStored(sh, t, 1, solids, store.SumVolumeBoxes[uint64], store.SumVolumeBoxes[int64], store.SumVolumeBoxes[float64], t.MeanVolumeBoxes, t.StdDevVolumeBoxes)
	} else {
		rects := make([]image.Rectangle, len(boxes))
		for i, b := range boxes {
			rects[i] = b.rectangle()
			clipped := rects[i].Intersect(t.Bounds())
			areas[i] = int64(clipped.Dx()) * int64(clipped.Dy())
		}
		found, err = askStored(sh, t, t.Channels(), rects, store.SumBoxes[uint64], store.SumBoxes[int64], store.SumBoxes[float64], t.MeanBoxes, t.StdDevBoxes)
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

// asks is how a table in a store is asked for sums of boxes of a kind.
type asks[S, B any] = func(context.Context, *store.Table, []S, []B) error

// askStored is the sums, means and deviations of all channels of every box.
func askStored[B any](sh *shell, t *store.Table, channels int, boxes []B, unsigned asks[uint64, B], signed asks[int64, B], floats asks[float64, B], means, deviations func(context.Context, []float64, []B) error) ([]stats, error) {
	found := make([]stats, len(boxes)*channels)
	var err error
	_, kind, squares := t.Types()
	switch kind {
	case zarr.Uint64:
		err = storedSums(sh, t, found, boxes, unsigned)
	case zarr.Int64:
		err = storedSums(sh, t, found, boxes, signed)
	default:
		err = storedSums(sh, t, found, boxes, floats)
	}
	numbers := make([]float64, len(found))
	if err == nil {
		err = means(sh.ctx, numbers, boxes)
	}
	for i, v := range numbers {
		found[i].mean = v
	}
	if err == nil && squares != 0 {
		err = deviations(sh.ctx, numbers, boxes)
		for i, v := range numbers {
			found[i].std = v
		}
	}
	return found, err
}

func storedSums[S, B any](sh *shell, t *store.Table, to []stats, boxes []B, ask asks[S, B]) error {
	sums := make([]S, len(to))
	err := ask(sh.ctx, t, sums, boxes)
	for i, s := range sums {
		to[i].sum = s
	}
	return err
}

type infoCmd struct {
	In   string `arg:"" name:"STORE" help:"Zarr array, group or table: a folder, a zip file or a URL; an image or a mosaic."`
	JSON bool   `name:"json" help:"Print JSON."`
}

// An arrayInfo is what info says of an array.
type arrayInfo struct {
	Path   string    `json:"path"`
	Type   string    `json:"type"`
	Shape  []int     `json:"shape"`
	Chunk  []int     `json:"chunk"`
	Object []int     `json:"object"`
	Codecs []string  `json:"codecs"`
	Zarr   int       `json:"zarr"`
	Scale  []float64 `json:"scale,omitempty"` // of a level of an OME-Zarr image
}

type storeInfo struct {
	Kind   string      `json:"kind"`
	Arrays []arrayInfo `json:"arrays"`
}

// Run says what a store holds.
func (c *infoCmd) Run(sh *shell) error {
	info, err := await(sh.ctx, func() (storeInfo, error) { return c.info(sh) })
	if err != nil {
		return err
	}
	w := sh.results()
	if c.JSON {
		return printJSON(w, info)
	}
	if _, err := fmt.Fprintln(w, info.Kind); err != nil {
		return err
	}
	rows := [][]string{{"array", "type", "shape", "chunk", "object", "codecs"}}
	list := func(n []int) string { return strings.Trim(strings.ReplaceAll(fmt.Sprint(n), " ", "×"), "[]") }
	for _, a := range info.Arrays {
		rows = append(rows, []string{a.Path, a.Type, list(a.Shape), list(a.Chunk), list(a.Object), strings.Join(a.Codecs, "+")})
	}
	return printColumns(w, rows)
}

func (c *infoCmd) info(sh *shell) (storeInfo, error) {
	describe := func(path string, a *zarr.Array) arrayInfo {
		return arrayInfo{path, a.Type().String(), a.Shape(), a.Chunk(), a.Object(), a.Codecs(), a.Version(), nil}
	}
	if info, err := os.Stat(c.In); sources.IsMosaic(c.In) || err == nil && info.Mode().IsRegular() && !strings.HasSuffix(c.In, ".zip") {
		a, err := sh.open(c.In, &pictureFlags{})
		if err != nil {
			return storeInfo{}, err
		}
		defer a.Close()
		kind := "image"
		if sources.IsMosaic(c.In) {
			kind = "mosaic"
		}
		one := describe(".", a)
		one.Codecs, one.Zarr = []string{}, 0
		return storeInfo{kind, []arrayInfo{one}}, nil
	}
	b, err := zarr.OpenBucket(sh.ctx, c.In, false)
	if err != nil {
		return storeInfo{}, err
	}
	defer b.Close()
	if a, err := zarr.OpenArray(sh.ctx, b, ""); err == nil {
		return storeInfo{"Zarr array", []arrayInfo{describe(".", a)}}, nil
	} else if errors.Is(err, fs.ErrNotExist) {
		return storeInfo{}, err
	}
	g, err := zarr.OpenGroup(sh.ctx, b, "")
	if err != nil {
		return storeInfo{}, err
	}
	names, err := g.Arrays(sh.ctx)
	if err != nil {
		return storeInfo{}, err
	}
	info := storeInfo{Kind: "Zarr group"}
	levels, _, err := g.Levels()
	if err != nil {
		return storeInfo{}, err
	}
	if len(levels) > 0 {
		info.Kind = "OME-Zarr image"
	}
	var table struct {
		Kind     string
		Complete bool
		Width    int
		Height   int
		Channels int
		Pixel    string
		Compact  bool
	}
	if ok, err := g.Attribute("boxsum", &table); err != nil {
		return storeInfo{}, err
	} else if ok {
		info.Kind = fmt.Sprintf("%s of %d×%d×%d %s", table.Kind, table.Width, table.Height, table.Channels, table.Pixel)
		if table.Compact {
			info.Kind += ", compact"
		}
		if !table.Complete {
			info.Kind += ", not finished"
		}
	}
	for _, name := range names {
		a, err := g.Array(sh.ctx, name)
		if err != nil {
			return storeInfo{}, err
		}
		one := describe(name, a)
		for _, l := range levels {
			if l.Path == name {
				one.Scale = l.Scale
			}
		}
		info.Arrays = append(info.Arrays, one)
	}
	return info, nil
}

type convertCmd struct {
	In          string `arg:"" name:"IN" help:"Image, .npy array, Zarr array, or mosaic: a list of tiles (.csv), GDAL's .vrt, or a pattern such as 'tiles/{row}_{column}.png'."`
	Out         string `arg:"" name:"OUT" help:"Zarr array to write (a path that ends in .zarr or .zarr.zip, or a URL), or a file of another format for one that is: .npy, .tiff, .png."`
	Chunk       int    `default:"1024" placeholder:"N" help:"Chunks of N×N."`
	Shard       int    `placeholder:"N" help:"Shards of N×N, each one object of many chunks."`
	Compression string `enum:"zstd,lz4,gzip,none" default:"zstd" help:"zstd, lz4, gzip or none."`
	MaxChunks   int64  `placeholder:"N" help:"Refuse images of more than N chunks, and results of more blocks (16777216): damaged metadata may declare arrays without end."`
	pictureFlags
}

// Run writes an image as another.
func (c *convertCmd) Run(sh *shell) error {
	if !isStore(c.Out) {
		if !isSource(c.In) {
			return usage("neither %s nor %s is a store: one of them ends in .zarr, or is a URL", c.In, c.Out)
		}
		if err := errors.Join(c.checkStored(c.In), checkApart(c.In, c.Out, false)); err != nil {
			return err
		}
		if strings.HasSuffix(c.Out, ".npy") {
			return c.writeNPY(sh)
		}
		p, err := await(sh.ctx, func() (*imgio.Picture, error) { return sh.readStore(c.In, &c.pictureFlags) })
		if err != nil {
			return err
		}
		return imgio.Save(c.Out, p.Image)
	}
	if c.Chunk < 1 || c.Shard < 0 || c.Shard%c.Chunk != 0 {
		return usage("shards of %d are not whole chunks of %d", c.Shard, c.Chunk)
	}
	b, err := zarr.OpenBucket(sh.ctx, c.Out, true)
	if err != nil {
		return err
	}
	return closed(b, c.Out, c.write(sh, b))
}

// closed closes the bucket of an output: what failed takes no place.
func closed(b zarr.Bucket, out string, err error) error {
	if err != nil {
		zarr.Discard(b)
		if errors.Is(err, fs.ErrExist) {
			err = fmt.Errorf("%s is there already: remove it, or choose another", zarr.Redacted(out))
		}
		return chunksHint(err)
	}
	return b.Close()
}

// writeNPY writes an array of any size as .npy, rows of chunks at a time.
func (c *convertCmd) writeNPY(sh *shell) error {
	src, err := sources.Open(sh.ctx, c.In)
	if err != nil {
		return err
	}
	defer src.Close()
	if err := store.CheckChunks(c.MaxChunks, src); err != nil {
		return chunksHint(err)
	}
	temporary := c.Out + ".partial"
	file, err := os.Create(temporary)
	if err != nil {
		return err
	}
	err = sources.WriteNPY(sh.ctx, file, src, func(done, all int) { sh.progress.reach("writing", done, all) })
	if failed := file.Close(); err == nil {
		err = failed
	}
	if err == nil {
		err = os.Rename(temporary, c.Out)
	}
	if err != nil {
		os.Remove(temporary)
	}
	return err
}

func (c *convertCmd) write(sh *shell, b zarr.Bucket) error {
	spec := &zarr.Spec{Chunk: []int{c.Chunk, c.Chunk}, Compression: c.Compression, Checksum: true}
	if !isSource(c.In) && largeFile(c.In) == "" {
		src, err := sh.openSource(c.In, &c.pictureFlags, false)
		if err != nil {
			return err
		}
		defer src.file.Close()
		if c.Shard > 0 {
			return usage("shards are for arrays that come from a store")
		}
		_, err = writeImage(sh, b, src.image, spec)
		return err
	}
	src, err := sh.open(c.In, &c.pictureFlags)
	if err != nil {
		return err
	}
	defer src.Close()
	if err := checkTiles(src, c.In, c.Out); err != nil {
		return err
	}
	spec.Type, spec.Shape, spec.Names = src.Type(), src.Shape(), src.Names()
	spread := func(n int) []int { // along the last axes that are not few
		chunk := src.Chunk()
		axes := len(chunk)
		if axes > 2 && spec.Shape[axes-1] <= 4 {
			axes--
		}
		for d := max(0, axes-2); d < axes; d++ {
			chunk[d] = n
		}
		return chunk
	}
	spec.Chunk = spread(c.Chunk)
	if c.Shard > 0 {
		spec.Shard = spread(c.Shard)
	}
	planned, err := zarr.New(b, "", spec)
	if err == nil {
		err = store.CheckChunks(c.MaxChunks, src, planned)
	}
	if err != nil {
		return err
	}
	_, err = zarr.CreateFilled(sh.ctx, b, "", spec, func(dst *zarr.Array) error {
		return zarr.Copy(sh.ctx, dst, src, func(done, all int) { sh.progress.reach("writing", done, all) })
	})
	return err
}

type verifyCmd struct {
	In     string `arg:"" name:"TABLE" help:"Table in a store that integrate wrote."`
	Source string `placeholder:"IMAGE" help:"The image of the table: the table is made once more from it, and what differs is written anew."`
	JSON   bool   `name:"json" help:"Print JSON."`
}

// A verdict is what verify says.
type verdict struct {
	Table   string       `json:"table"`
	Damaged []damagedKey `json:"damaged"`
}

type damagedKey struct {
	Key      string `json:"key"`
	Why      string `json:"why"`
	Repaired bool   `json:"repaired"`
}

// Run checks a table. What is damaged and stays so is an error.
func (c *verifyCmd) Run(sh *shell) error {
	b, err := zarr.OpenBucket(sh.ctx, c.In, c.Source != "" && !strings.HasSuffix(filepath.Clean(c.In), ".zip"))
	if err != nil {
		return err
	}
	defer b.Close()
	t, err := store.OpenTable(sh.ctx, b, nil)
	if err != nil {
		return err
	}
	var repair *store.Job
	if c.Source != "" {
		src, err := sh.openAll([]string{c.Source}, &pictureFlags{}, t.Depth() > 0)
		if err != nil {
			return err
		}
		defer src.Close()
		if repair, err = store.NewJob(sh.ctx, src, b, t.Options()); err != nil {
			return err
		}
	}
	found, err := t.Verify(sh.ctx, repair, func(done, all int) { sh.progress.reach("verifying", done, all) })
	if err != nil {
		return err
	}
	v := verdict{Table: zarr.Redacted(c.In), Damaged: []damagedKey{}}
	left := 0
	for _, d := range found {
		v.Damaged = append(v.Damaged, damagedKey{d.Key, oneLine(d.Why), d.Repaired})
		if !d.Repaired {
			left++
		}
	}
	w := sh.results()
	if c.JSON {
		err = printJSON(w, v)
	} else {
		for _, d := range v.Damaged {
			state := "damaged"
			if d.Repaired {
				state = "made anew"
			}
			fmt.Fprintf(w, "%s: %s: %s\n", escape(d.Key), state, d.Why)
		}
		if len(v.Damaged) == 0 {
			_, err = fmt.Fprintln(w, "all is as it should be")
		}
	}
	if err == nil && left > 0 {
		hint := "--source IMAGE makes such anew"
		if c.Source != "" {
			hint = "what is in a zip file is not replaced, make the table again"
		}
		err = fmt.Errorf("%s of the table damaged: %s", count(left, "object"), hint)
	}
	return err
}
