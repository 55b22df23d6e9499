package store

import (
	"errors"
	"fmt"
	"math"
	"math/bits"

	"github.com/boxsum/boxsum/internal/raster"
	"github.com/boxsum/boxsum/zarr"
)

// defaultMaxChunks allows 10^12 pixels in chunks of 256² and their blocks. More probably
// means invalid metadata.
const defaultMaxChunks = 1 << 24

// chunksOf returns the number of chunks of an array, at most math.MaxInt64.
func chunksOf(shape, chunk []int) int64 {
	n := uint64(1)
	for d, size := range shape {
		high, low := bits.Mul64(n, uint64(raster.CeilDiv(size, chunk[d])))
		if n = low; high != 0 || low > math.MaxInt64 {
			return math.MaxInt64
		}
	}
	return int64(n)
}

// ErrTooManyChunks is wrapped by the error of a call that would exceed its limit of
// chunks.
var ErrTooManyChunks = errors.New("too many chunks")

// CheckChunks returns an error that wraps [ErrTooManyChunks] if the arrays together have
// more chunks than limit; 0 means the default of [Options.MaxChunks]. The limit protects
// against metadata of a few bytes that declares an array too large to read.
func CheckChunks(limit int64, arrays ...*zarr.Array) error {
	if limit == 0 {
		limit = defaultMaxChunks
	}
	left := limit
	for _, a := range arrays {
		n := chunksOf(a.Shape(), a.Chunk())
		if n > left {
			return tooMany(limit, n, "an array of shape %v in chunks of %v has", a.Shape(), a.Chunk())
		}
		left -= n
	}
	return nil
}

// checkBlocks is like [CheckChunks] for an image and the blocks computed from it.
func checkBlocks(limit int64, src *zarr.Array, rows, columns, block int) error {
	if limit == 0 {
		limit = defaultMaxChunks
	}
	blocks := chunksOf([]int{rows, columns}, []int{1, 1})
	if blocks >= limit {
		return tooMany(limit, blocks, "%d×%d blocks of %d are", rows, columns, block)
	}
	if chunks := chunksOf(src.Shape(), src.Chunk()); chunks > limit-blocks {
		return tooMany(limit, chunks, "an array of shape %v in chunks of %v, with %d blocks to write, has", src.Shape(), src.Chunk(), blocks)
	}
	return nil
}

func tooMany(limit, n int64, what string, args ...any) error {
	return fmt.Errorf("%w: %s %d chunks, more than the limit of %d (raise the limit if this is intended)", ErrTooManyChunks, fmt.Sprintf(what, args...), n, limit)
}
