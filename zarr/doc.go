// Package zarr reads and writes Zarr arrays, versions 2 and 3. A Zarr array is an
// n-dimensional array of numbers that is divided into chunks, each of which is a file in a
// folder or an object in a store, so that parts of arrays larger than memory can be read.
//
//	a, err := zarr.Open(ctx, "image.zarr")
//	region := make([]uint8, 256*256)
//	err = zarr.Read(ctx, a, region, []int{1024, 2048}, []int{256, 256}) // rows from 1024, columns from 2048
//
// # Buckets
//
// Arrays are stored in a [Bucket]: a [Folder], a zip file, [Memory], any [fs.FS] through
// [FS], or any other object store that implements its five methods. [OpenBucket] opens one
// by its path or URL. Other packages register further schemes: zarr/web for web servers,
// and the module github.com/boxsum/boxsum/cloud for S3, Google Cloud Storage and Azure.
//
// # Chunks
//
// A chunk is stored raw or compressed with zstd, gzip, zlib, LZ4 or Blosc, optionally with
// a CRC-32C, transposed or not, in either byte order, and may be one of many in a shard.
// Missing chunks contain the fill value. Reading a damaged chunk always returns an error,
// which wraps [ErrFormat]. New arrays have version 3; see [Spec] for their options.
//
// Chunks are decoded when they are read. To read many small parts of the same chunks, keep
// decoded chunks with [Array.SetCache], or read single elements with [At].
//
// # Groups
//
// A [Group] contains arrays and other groups, each with a path, and attributes.
// [Group.Levels] returns the resolutions of an image in OME-Zarr format.
package zarr
