package store

import (
	"context"
	"path/filepath"
	"strings"

	"github.com/boxsum/boxsum/internal/raster"
	"github.com/boxsum/boxsum/zarr"
)

// Integrate computes the table of the image at one path or URL and stores it at
// another. See [sources.Open] and [zarr.OpenBucket] for the supported
// locations. The image must be an array of shape (H, W) or (H, W, C),
// optionally preceded by axes of length 1. If a run is interrupted, the next
// one continues it.
func Integrate(ctx context.Context, from, to string, opt *Options) error {
	for _, part := range tableParts {
		if at := settled(from) + "/"; strings.HasPrefix(filepath.ToSlash(at), filepath.ToSlash(settled(to))+"/"+part) {
			return raster.Invalid("a table at %s would overwrite the image (choose another place)", zarr.Redacted(to))
		}
	}
	src, dst, err := openBoth(ctx, from, to)
	if err != nil {
		return err
	}
	defer src.Close()
	job, err := NewJob(ctx, src, dst, opt)
	if err == nil {
		err = job.Run(ctx)
	}
	return finish(dst, err)
}
