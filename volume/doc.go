// Package volume makes tables of volumes (integral volumes), at the speed of
// memory. From a table, the sum of any box of a 3-D array takes eight reads,
// however large the box is.
//
//	vol := volume.Volume[uint8]{Pix: voxels, Width: 512, Height: 512, Depth: 300}
//	table, err := volume.Integrate[uint32](vol, nil)            // one pass, all cores
//	sum := table.Sum(volume.NewBox(10, 20, 30, 110, 220, 130))  // x0, y0, z0, x1, y1, z1
//
// # Definition
//
// The table of a W×H×D volume has (W+1)×(H+1)×(D+1) entries. Entry (x, y, z) is
// the sum of the voxels in [0,x)×[0,y)×[0,z). All entries with a zero among x, y
// and z are zero. With T for the table, a [Box] sums to
//
//	T(x1,y1,z1) − T(x0,y1,z1) − T(x1,y0,z1) − T(x1,y1,z0)
//	            + T(x0,y0,z1) + T(x0,y1,z0) + T(x1,y0,z0) − T(x0,y0,z0)
//
// This is the formula of the notes on volumetric computation in the intimg
// project. Their table is inclusive, V(x,y,z) = T(x+1,y+1,z+1), so their box with
// the corners (1,1,1) and (2,2,2) is the voxel (2,2,2). [Table.Inclusive] is this
// view of the same memory. Boxes are clipped to the volume; an empty box sums to
// 0.
//
// # Exactness
//
// Types and promises are those of package boxsum. Integer sums wrap, and a box
// whose own sum fits the type is exact even where the table has wrapped: with
// 8-bit voxels in uint32, every box of up to 16,843,009 voxels. Larger boxes need
// uint64. Squares of 8- and 16-bit voxels are exact in uint64, and the variance
// of a [SquaredTable] is computed from exact integers.
//
// Floats round. A volume has far more voxels than an image, and an entry is the
// sum of all voxels before it, so small voxels are lost sooner. In float32 a voxel
// of 2 is lost entirely behind a sum of 2^25, because
//
//	2^25 + 2 = 2^25    in float32
//
// Sum float32 voxels in float64, or, where memory forbids, take their mean away
// first, with the Offset of [Options]. Slice z of a table is slice z−1
// plus the plane table of the voxels of slice z−1, in this order, at every level
// and number of workers and in a [Stream]: all have the same bits. An entry is
// off by at most about
//
//	(W·channels/8 + H + D + 4) · 2^-24 · Σ|p|    in float32, and
//	(W·channels/4 + H + D + 4) · 2^-53 · Σ|p|    in float64,
//
// where Σ|p| is the sum of the magnitudes of the voxels before it. With more than
// four channels W takes the place of its fraction.
//
// # Memory
//
// A table of 512×512×512 in uint32 takes 540 MB. For volumes that do not fit, a
// [Stream] takes slices one by one and returns the slices of the table, in memory
// proportional to one slice.
//
// # Speed
//
// Every voxel is read once and every sum written once, past the caches where the
// table is larger than they are. A worker takes a band of rows through all slices,
// so that what a slice needs of the slice before is in a cache. See
// docs/volume.md for figures.
package volume
