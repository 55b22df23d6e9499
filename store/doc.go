// Package store computes, stores and queries tables that are larger than memory. Images and
// tables are Zarr arrays, whose chunks are stored in a folder, a zip file, memory, on a web
// server or in another kind of [zarr.Bucket].
//
//	err := store.Integrate(ctx, "image.zarr", "table.zarr", nil)
//	table, err := store.Open(ctx, "table.zarr", nil)
//	err = table.MeanBoxes(ctx, means, boxes)
//
// # Arrays
//
// [zarr.OpenArray] reads Zarr versions 3 and 2: chunks of any shape, raw or compressed with
// zstd, gzip, zlib, lz4 or blosc, with crc32c, in shards that can be read in part,
// transposed, in either byte order. Missing chunks contain the fill value. [zarr.Create]
// writes version 3. Reading a damaged chunk always returns an error.
//
// # Tables
//
// [Integrate] stores a table as a group of arrays. The array sum has the shape of the
// image: entry (y, x) is the sum of all pixels up to and including row y and column x, like
// a cumulative sum along both axes. For block (i, k) of the image
//
//	sum(y, x) = (local(y, x) + left(k, y)) + top(i, x)
//
// where local is the table of the block alone, left is the sum of the pixels left of the
// block in its rows up to y, and top is the entry directly above the block. The latter two
// are stored as separate arrays. Integer tables are bit-identical to those of
// [boxsum.Integrate]. Floats are added in the order of this formula, with left summed block
// by block, so they depend only on the block size and not on the number of workers.
package store
