// Package imgio brings pictures and arrays in and tables out.
//
// [Open] and [Decode] read PNG, JPEG, GIF, BMP, TIFF, WebP, PNM and NumPy's
// .npy, told apart by their content, into a boxsum.Image. [OpenStack] reads the
// slices of a volume: a folder of pictures, the pages of a TIFF file, or an array
// of three dimensions. [WriteNPY] and [NPZ]
// write tables as NumPy loads them, [HeatMap] draws them, and [WriteFile] makes
// output files appear whole or not at all.
//
// Damaged and hostile files give an error. They never panic, and the memory
// that they take is bounded by their own length wherever the format allows to
// tell; see [MaxPixels] for the rest.
package imgio
