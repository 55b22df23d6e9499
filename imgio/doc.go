// Package imgio reads and writes pictures and arrays, and writes tables.
//
// [Open] and [Decode] read PNG, JPEG, GIF, BMP, TIFF, WebP, PNM and NumPy's
// .npy into a boxsum.Image. They detect the format from the content. [OpenImage] does
// so for one type of pixels, and [ToImage] makes an image.Image of the result. [OpenStack]
// reads the slices of a volume: a folder of pictures, the pages of a TIFF file,
// or an array of three dimensions. [Save] and [Encode] write images. [SaveTable] and [OpenTable] keep tables in files,
// [WriteNPY] and [NPZ] write any arrays that NumPy can load, [HeatMap] draws them, and [WriteFile] makes output files appear whole
// or not at all.
//
// Damaged and hostile files give an error, never a panic. The memory that they
// take is bounded by the length of the file wherever the format allows this; see
// [MaxPixels] for the rest.
package imgio
