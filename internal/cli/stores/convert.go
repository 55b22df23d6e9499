package stores

import (
	"errors"
	"os"
	"strings"

	"github.com/boxsum/boxsum/imgio"
	"github.com/boxsum/boxsum/internal/cli/console"
	"github.com/boxsum/boxsum/internal/cli/imagefile"
	"github.com/boxsum/boxsum/store"
	"github.com/boxsum/boxsum/store/sources"
	"github.com/boxsum/boxsum/zarr"
)

// Convert is the verb convert.
type Convert struct {
	In          string `arg:"" name:"IN" help:"Image, .npy array, Zarr array, or mosaic: a list of tiles (.csv), GDAL's .vrt, or a pattern such as 'tiles/{row}_{column}.png'."`
	Out         string `arg:"" name:"OUT" help:"Zarr array to write (a path that ends in .zarr or .zarr.zip, or a URL), or a file of another format for one that is: .npy, .tiff, .png."`
	Chunk       int    `default:"1024" placeholder:"N" help:"Size of the chunks, N×N."`
	Shard       int    `placeholder:"N" help:"Size of the shards, N×N; each is one object with many chunks."`
	Compression string `enum:"zstd,lz4,gzip,none" default:"zstd" help:"zstd, lz4, gzip or none."`
	MaxChunks   int64  `placeholder:"N" help:"Refuse images of more than N chunks and results of more than N blocks (16777216): damaged metadata may declare huge arrays."`
	imagefile.Flags
}

// Run writes an image as another.
func (c *Convert) Run(sh *console.Shell) error {
	if !imagefile.IsStore(c.Out) {
		if !imagefile.IsSource(c.In) {
			return console.Usage("neither %s nor %s is a store: one of them ends in .zarr, or is a URL", c.In, c.Out)
		}
		if err := errors.Join(c.CheckStored(c.In), imagefile.CheckApart(c.In, c.Out, false)); err != nil {
			return err
		}
		if strings.HasSuffix(c.Out, ".npy") {
			return c.writeNPY(sh)
		}
		p, err := console.Await(sh.Ctx, func() (*imgio.Picture, error) { return imagefile.ReadStore(sh, c.In, &c.Flags) })
		if err != nil {
			return err
		}
		return imgio.Save(c.Out, p.Image)
	}
	if c.Chunk < 1 || c.Shard < 0 || c.Shard%c.Chunk != 0 {
		return console.Usage("shards of %d are not whole chunks of %d", c.Shard, c.Chunk)
	}
	b, err := zarr.OpenBucket(sh.Ctx, c.Out, true)
	if err != nil {
		return err
	}
	return imagefile.CloseStore(b, c.Out, c.write(sh, b))
}

// writeNPY writes an array of any size as .npy, rows of chunks at a time.
func (c *Convert) writeNPY(sh *console.Shell) error {
	src, err := sources.Open(sh.Ctx, c.In)
	if err != nil {
		return err
	}
	defer src.Close()
	if err := store.CheckChunks(c.MaxChunks, src); err != nil {
		return imagefile.ChunksHint(err)
	}
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

func (c *Convert) write(sh *console.Shell, b zarr.Bucket) error {
	spec := &zarr.Spec{Chunk: []int{c.Chunk, c.Chunk}, Compression: c.Compression, Checksum: true}
	if !imagefile.IsSource(c.In) && imagefile.LargeFile(c.In) == "" {
		src, err := imagefile.Open(sh, c.In, &c.Flags, false)
		if err != nil {
			return err
		}
		defer src.File.Close()
		if c.Shard > 0 {
			return console.Usage("shards are for arrays that come from a store")
		}
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
	_, err = zarr.CreateFilled(sh.Ctx, b, "", spec, func(dst *zarr.Array) error {
		return zarr.Copy(sh.Ctx, dst, src, func(done, all int) { sh.Progress.Reach("writing", done, all) })
	})
	return err
}
