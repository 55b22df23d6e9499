// Package store makes, keeps and asks tables that are larger than memory. Images and
// tables are Zarr arrays: chunks in a folder, a zip file, memory, behind a web server or in a [Bucket]
// of another kind.
//
//	err := store.Integrate(ctx, "image.zarr", "table.zarr", nil)
//	table, err := store.Open(ctx, "table.zarr", nil)
//	err = table.MeanBoxes(ctx, means, boxes)
//
// # Arrays
//
// [OpenArray] reads Zarr of version 3 and 2: chunks of any shape, stored as they are or by
// zstd, gzip, zlib, lz4 or blosc, with crc32c, in shards of which parts are read, transposed, in
// either byte order; chunks that are absent hold the fill value. [CreateArray] writes
// version 3. A chunk that is damaged is an error, and never numbers.
//
// # Tables
//
// A table is a group of arrays, see [Integrate]. Its array sum has the shape of the image: entry
// (y, x) is the sum of all pixels up to row y and column x, these included, as a
// cumulative sum along both axes is. For a block (i, k) of the image
//
//	sum(y, x) = (local(y, x) + left(k, y)) + top(i, x)
//
// where local is the table of the block alone, left the sum of the pixels left of the block in
// its rows up to y, and top the entry right above the block, both kept as arrays beside it.
// Integers have the bits of [boxsum.Integrate]. Floats are added in the order of this
// formula, left being summed from block to block, whatever the number of workers: they depend on the size of blocks
// alone.
package store
