// Package imgio reads pictures and arrays, and writes tables.
//
// [Open] and [Decode] read PNG, JPEG, GIF, BMP, TIFF, WebP, PNM and NumPy's
// .npy into a boxsum.Image. They detect the format from the content. [OpenStack]
// reads the slices of a volume: a folder of pictures, the pages of a TIFF file,
// or an array of three dimensions. [WriteNPY] and [NPZ] write tables that NumPy
// can load, [HeatMap] draws them, and [WriteFile] makes output files appear whole
// or not at all.
//
// Damaged and hostile files give an error, never a panic. The memory that they
// take is bounded by the length of the file wherever the format allows this; see
// [MaxPixels] for the rest.
package imgio
