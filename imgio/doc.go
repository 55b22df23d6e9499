// Package imgio reads and writes images, arrays and tables in files.
//
// [Open] and [Decode] read PNG, JPEG, GIF, BMP, TIFF, WebP, PNM and NumPy's
// .npy files into a boxsum.Image. They detect the format from the content.
// [OpenImage] does so for a given pixel type, and [ToImage] converts the result
// to an image.Image. [OpenStack] reads the slices of a volume: a folder of
// pictures, the pages of a TIFF file, or an array of three dimensions.
//
// [Save] and [Encode] write images. [SaveTable] and [OpenTable] store tables in
// files, [WriteNPY] and [NPZ] write arrays that NumPy can load, [HeatMap] draws
// tables, and [WriteFile] writes files atomically.
//
// Damaged and hostile files result in an error, never a panic. Memory use is
// bounded by the length of the file wherever the format allows this; see
// [MaxPixels] for other formats.
package imgio
