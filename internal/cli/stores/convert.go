package stores

import (
	"encoding/json"
	"fmt"
	"os"
	"strings"
	"time"

	"github.com/boxsum/boxsum/imgio"
	"github.com/boxsum/boxsum/internal/cli/console"
	"github.com/boxsum/boxsum/internal/cli/display"
	"github.com/boxsum/boxsum/internal/cli/flags"
	"github.com/boxsum/boxsum/internal/cli/imagefile"
	"github.com/boxsum/boxsum/internal/pixels"
	"github.com/boxsum/boxsum/internal/raster"
	"github.com/boxsum/boxsum/store"
	"github.com/boxsum/boxsum/store/sources"
	"github.com/boxsum/boxsum/threshold"
	"github.com/boxsum/boxsum/zarr"
)

// Convert implements the convert command.
type Convert struct {
	In              string `arg:"" name:"IN" help:"Image (PNG, JPEG, GIF, BMP, TIFF, WebP, PNM), .npy array, Zarr array, or mosaic: a list of tiles (.csv), GDAL's .vrt, or a pattern such as 'tiles/{row}_{column}.png'; - is standard input."`
	Out             string `arg:"" name:"OUT" help:"File to write: .png, .jpg, .tiff, .gif, .pgm, .ppm, .pam, .pbm or .npy; or a Zarr array, a path that ends in .zarr or .zarr.zip, or a URL; - is PNG on standard output."`
	Chunk           int    `default:"1024" placeholder:"N" help:"For OUT.zarr: chunks of N×N elements (default ${default})."`
	Shard           int    `placeholder:"N" help:"For OUT.zarr: shards of N×N elements, each one object with many chunks. N is a multiple of --chunk (default: no shards)."`
	Compression     string `enum:"zstd,lz4,gzip,none" default:"zstd" help:"For OUT.zarr: zstd, lz4, gzip or none."`
	MaxChunks       int64  `placeholder:"N" help:"Refuse images of more than N chunks and results of more than N blocks (default 16777216): damaged metadata may declare huge arrays."`
	imagefile.Flags `set:"color=keep"`
	JSON            bool `name:"json" help:"Print the report as JSON."`
}

// A convertReport describes a conversion.
type convertReport struct {
	*imagefile.Extent
	Shape        []int   `json:"shape,omitempty"` // of an array that is not two-dimensional, instead of an extent
	Pixels       string  `json:"pixels"`          // such as u8
	Pages        int     `json:"pages,omitempty"`
	Milliseconds float64 `json:"ms"`
	Out          string  `json:"out"`
}

// String returns the report as one line.
func (r *convertReport) String() string {
	size, pages := strings.Trim(strings.ReplaceAll(fmt.Sprint(r.Shape), " ", "×"), "[]"), ""
	if r.Extent != nil {
		size = r.Extent.String()
	}
	if r.Pages > 1 {
		pages = ", " + display.Count(r.Pages, "page")
	}
	return fmt.Sprintf("%s %s%s, %s → %s", size, r.Pixels, pages, display.Duration(r.Milliseconds), imagefile.NameOf(r.Out))
}

// describe records the size and the pixels of an image.
func (r *convertReport) describe(img raster.Array) {
	e := imagefile.ExtentOf(img)
	r.Extent, r.Pixels = &e, img.Type.Short()
}

// describeArray records the shape and the elements of an array.
func (r *convertReport) describeArray(a *zarr.Array) {
	r.Shape, r.Pixels = a.Shape(), a.Type().String()
	if t, ok := raster.ParseType(r.Pixels); ok {
		r.Pixels = t.Short()
	}
	if len(r.Shape) == 2 {
		r.Extent, r.Shape = &imagefile.Extent{Width: r.Shape[1], Height: r.Shape[0], Channels: 1}, nil
	}
}

// Run converts the input to the format of the output.
func (c *Convert) Run(sh *console.Shell) error {
	r, start := &convertReport{Out: zarr.Redacted(c.Out)}, time.Now()
	if err := c.convert(sh, r); err != nil {
		return err
	}
	r.Milliseconds = float64(time.Since(start)) / float64(time.Millisecond)
	w := sh.Reports(c.Out)
	if c.JSON {
		return display.JSON(w, r)
	}
	_, err := fmt.Fprintln(w, r)
	return err
}

func (c *Convert) convert(sh *console.Shell, r *convertReport) error {
	if !imagefile.IsStore(c.Out) {
		return c.writeFile(sh, r)
	}
	switch {
	case c.Chunk < 1:
		return console.Usage("--chunk %d: want 1 or more", c.Chunk)
	case c.Shard < 0 || c.Shard%c.Chunk != 0:
		return console.Usage("--shard %d: want a multiple of --chunk %d", c.Shard, c.Chunk)
	}
	b, err := zarr.OpenBucket(sh.Ctx, c.Out, true)
	if err != nil {
		return err
	}
	return imagefile.CloseStore(b, c.Out, c.write(sh, b, r))
}

// writeFile writes a picture or a .npy array. A TIFF file keeps all pages if the output is a TIFF
// file too.
func (c *Convert) writeFile(sh *console.Shell, r *convertReport) error {
	if err := imagefile.CheckApart(c.In, c.Out, false); err != nil {
		return err
	}
	format, err := imagefile.FormatOf(c.Out, "png", ".jpg")
	if err != nil {
		return err
	}
	if format == "npy" && (imagefile.IsSource(c.In) || imagefile.LargeFile(c.In) != "") {
		return c.writeNPY(sh, r)
	}
	src, err := c.open(sh)
	if err != nil {
		return err
	}
	defer src.Close()
	r.describe(src.Image)
	r.Pages = src.PagesIn(format)
	return imagefile.SavePages(sh, c.Out, format, src, func() (any, error) { return c.shown(format, src) })
}

func (c *Convert) open(sh *console.Shell) (*imagefile.Source, error) {
	how := c.Flags
	how.AllPages = true
	return imagefile.OpenOn(sh, &flags.Place{On: "cpu"}, func() (*imagefile.Source, error) { return imagefile.OpenOrDemo(sh, c.In, c.Out, &how, false) })
}

// shown returns an image that a format can store. JPEG and GIF get the upper 8 bits of 16-bit
// pixels, and no alpha channel if all pixels are opaque.
func (c *Convert) shown(format string, src *imagefile.Source) (any, error) {
	img := src.Image
	if src.Bits == 1 && (format == "png" || format == "tiff" || format == "pbm" || format == "gif") {
		if b, ok := bitmapOf(img); ok {
			return b, nil
		}
	}
	picture, err := pixels.Image(img)
	if err != nil {
		return nil, err
	}
	switch pixel := img.Type; {
	case format == "npy":
		return picture, nil
	case img.Channels > imagefile.MostChannels:
		return nil, fmt.Errorf("%s has %d channels, want 1 to %d in a picture (write it as .npy)", imagefile.InputName(c.In), img.Channels, imagefile.MostChannels)
	case format == "tiff":
		return picture, nil
	case pixel != raster.U8 && pixel != raster.U16:
		return nil, fmt.Errorf("%s has pixels of %v, but pictures other than TIFF have 8 or 16 bits: write it as .tiff or .npy", imagefile.InputName(c.In), pixel)
	case format == "jpeg" || format == "gif":
		return imgio.ToImage(picture)
	}
	return picture, nil
}

// bitmapOf returns an image as a bitmap. ok is false if the image has colors other than black and
// white.
func bitmapOf(src raster.Array) (b threshold.Bitmap, ok bool) {
	if src.Type != raster.U8 || src.Channels != 1 && src.Channels != 3 { // others have alpha
		return b, false
	}
	b, err := threshold.NewBitmap(src.Width, src.Height)
	if err != nil {
		return b, false
	}
	const white = 255
	for y := range src.Height {
		row := src.Row(y)
		for i, v := range row {
			if v != 0 && v != white || v != row[i-i%src.Channels] {
				return b, false
			}
			if v == 0 {
				x := i / src.Channels
				b.Bits[y*b.Stride+x/8] |= 0x80 >> (x % 8)
			}
		}
	}
	return b, true
}

// writeNPY writes an array of any size as .npy, one row of chunks at a time.
func (c *Convert) writeNPY(sh *console.Shell, r *convertReport) error {
	src, err := imagefile.OpenArray(sh, c.In, &c.Flags)
	if err != nil {
		return err
	}
	defer src.Close()
	if err := store.CheckChunks(c.MaxChunks, src); err != nil {
		return imagefile.ChunksHint(err)
	}
	r.describeArray(src)
	temporary := c.Out + ".partial"
	file, err := os.Create(temporary)
	if err != nil {
		return err
	}
	err = sources.WriteNPY(sh.Ctx, file, src, func(done, all int) { sh.Progress.Reach("writing", done, all) })
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

func (c *Convert) write(sh *console.Shell, b zarr.Bucket, r *convertReport) error {
	spec := &zarr.Spec{Chunk: []int{c.Chunk, c.Chunk}, Compression: c.Compression, Checksum: true}
	if !imagefile.IsSource(c.In) && imagefile.LargeFile(c.In) == "" {
		src, err := c.open(sh)
		if err != nil {
			return err
		}
		defer src.Close()
		src.TellFirst(sh)
		if c.Shard > 0 {
			return console.Usage("--shard is for arrays that come from a store: leave it out")
		}
		r.describe(src.Image)
		_, err = imagefile.WriteImage(sh, b, src.Image, spec)
		return err
	}
	src, err := imagefile.OpenArray(sh, c.In, &c.Flags)
	if err != nil {
		return err
	}
	defer src.Close()
	if err := imagefile.CheckTiles(src, c.In, c.Out); err != nil {
		return err
	}
	r.describeArray(src)
	spec.Type, spec.Shape, spec.Names = src.Type(), src.Shape(), src.Names()
	var metadata struct {
		Fill json.RawMessage `json:"fill_value"`
	}
	if err := json.Unmarshal(src.Metadata(), &metadata); err != nil {
		return err
	}
	spec.Fill = metadata.Fill     // so that absent chunks stay absent
	spread := func(n int) []int { // distributes n over the last axes that are longer than 1
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
	_, err = zarr.CreateFilled(sh.Ctx, b, "", spec, func(dst *zarr.Array) error {
		return zarr.Copy(sh.Ctx, dst, src, func(done, all int) { sh.Progress.Reach("writing", done, all) })
	})
	return err
}
