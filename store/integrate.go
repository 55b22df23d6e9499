package store

import (
	"context"
	"path/filepath"
	"strings"

	"github.com/boxsum/boxsum/internal/raster"
)

// Integrate computes the table of the image at one path or URL and stores it at
// another; see [sources.Open] and [zarr.OpenBucket]. The image is an array of
// shape (H, W) or (H, W, C), ignoring leading axes of length 1. An interrupted
// run is continued by the next one.
func Integrate(ctx context.Context, from, to string, opt *Options) error {
	for _, part := range tableParts {
		if at := settled(from) + "/"; strings.HasPrefix(filepath.ToSlash(at), filepath.ToSlash(settled(to))+"/"+part) {
			return raster.Invalid("the table would overwrite the image (choose another place)")
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
