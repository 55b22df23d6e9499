// Package volume computes summed-volume tables, also called integral volumes,
// at the speed of memory. From a table, the sum of any box of a 3-D array takes
// eight reads, however large the box is.
//
//	vol := volume.Volume[uint8]{Pix: voxels, Width: 512, Height: 512, Depth: 300}
//	table, err := volume.Integrate[uint32](vol, nil)            // one pass, all cores
//	sum := table.Sum(volume.NewBox(10, 20, 30, 110, 220, 130))  // x0, y0, z0, x1, y1, z1
//
// # Definition
//
// The table of a W×H×D volume has (W+1)×(H+1)×(D+1) entries. Entry (x, y, z) is
// the sum of the voxels in [0,x)×[0,y)×[0,z), so all entries where x, y or z is
// zero are zero. With T for the table, a [Box] sums to
//
//	T(x1,y1,z1) − T(x0,y1,z1) − T(x1,y0,z1) − T(x1,y1,z0)
//	            + T(x0,y0,z1) + T(x0,y1,z0) + T(x1,y0,z0) − T(x0,y0,z0)
//
// This is the formula in the notes on volumetric computation of the intimg
// project. Their table is inclusive, V(x,y,z) = T(x+1,y+1,z+1), so their box
// with the corners (1,1,1) and (2,2,2) is the voxel (2,2,2). [Table.Inclusive]
// returns this view of the same memory. Boxes are clipped to the volume; the
// sum of an empty box is 0.
//
// # Exactness
//
// Types and guarantees are those of package boxsum. Integer sums wrap, and a
// box whose own sum fits the type is exact even where the table has wrapped:
// with 8-bit voxels in uint32, every box of up to 16,843,009 voxels. Larger
// boxes need uint64. Squares of 8- and 16-bit voxels are exact in uint64, and
// the variance of a [SquaredTable] is computed from exact integers.
//
// Floats round. A volume has far more voxels than an image, and an entry is the
// sum of all voxels before it, so small voxels are lost sooner. In float32 a
// voxel of 2 is lost entirely after a sum of 2^25, because
//
//	2^25 + 2 = 2^25    in float32
//
// Sum float32 voxels in float64 or, if memory does not allow that, subtract
// their mean first with [boxsum.Options.Offset]. Slice z of a table is the sum
// of slice z−1 of the table and the plane table of slice z−1 of the volume,
// added in this order at every level, with any number of workers and in a
// [Stream]: the results are bit-identical. The error of an entry is at most
// about
//
//	(W·channels/8 + H + D + 4) · 2^-24 · Σ|p|    in float32, and
//	(W·channels/4 + H + D + 4) · 2^-53 · Σ|p|    in float64,
//
// where Σ|p| is the sum of the magnitudes of the voxels before it. With more
// than four channels, W replaces W·channels/8 or W·channels/4.
//
// # Memory
//
// A uint32 table of 512×512×512 voxels takes 540 MB. For volumes that do not
// fit, a [Stream] accepts slices one by one and returns the slices of the
// table, in memory proportional to one slice.
//
// # Speed
//
// Every voxel is read once and every sum is written once. Tables that are
// larger than the caches bypass them. A worker processes a band of rows through
// all slices, so the entries that it needs from the previous slice are still in
// a cache. See docs/guides/volumes.md for figures.
package volume
